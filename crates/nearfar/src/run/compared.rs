//! The path of the methods that need no slices: neighbours → graph → starts → labels.
//!
//! Every method has the same starts for the same seed; the start with the smallest objective of its own gives the
//! labels.

use std::sync::Arc;

use rayon::prelude::*;

use crate::error::{DataError, ParamError, Result};
use crate::graph::SparseGraph;
use crate::input::Input;
use crate::labels::canonical::renumber;
use crate::labels::kmeans::KMeansParams;
use crate::learn;
use crate::learn::family::{Fitted, Labeling, Rows, Task};
use crate::learn::lsdg::objective::{Coefficients, Objective};
use crate::learn::member::{MEMBER_STREAM, row_argmax, while_learning};
use crate::learn::{Member, MethodKind, Needs, StopReason, start};
use crate::math::factor::Factor;
use crate::math::rng::Stream;
use crate::model::{Findings, Model, Source, Warning};
use crate::neighbors::SearchReport;
use crate::observe::{Event, Observer, Stage, go_on};
use crate::params::{Params, Settled};
use crate::run::{in_pool, plan_of, timed};
use crate::spectral::eigen::Operator;

/// Streams that start the further random numbers of a member, past those of its V.
const EXTRA_STREAM: u64 = 3 << 32;

/// What the compared methods work on: searched and built once, for any number of fits. Why it is not one type with
/// [`PreparedSlices`](crate::PreparedSlices) is said at the head of `learn/lsdg/prepared.rs`.
#[derive(Clone, Debug)]
pub struct PreparedGraph {
    graph: Option<Arc<SparseGraph>>,
    rows: Option<Rows>,
    sigma: Option<Vec<f64>>,
    search: Option<SearchReport>,
    warnings: Vec<Warning>,
    n_samples: usize,
    n_features: usize,
    seconds: f64,
    /// What RBSMF learnt, kept from fit to fit where that is wanted.
    known: Option<Arc<learn::rbsmf::LearntGraphs>>,
}

/// Graphs of RBSMF that are kept from fit to fit: those of a small grid.
const KEPT_GRAPHS: usize = 8;

impl PreparedGraph {
    /// Make what this method needs of the input: a graph, the samples, or both.
    ///
    /// # Errors
    /// When the data breaks a rule, the method needs samples and the input is pairwise, or memory does not suffice.
    pub fn new(input: &Input<'_>, params: &Params, observer: &dyn Observer) -> Result<Self> {
        Self::made(input, &params.settle(input.n_samples(), input.n_features())?, observer)
    }

    /// The same, of settings that were judged.
    pub(crate) fn made(input: &Input<'_>, params: &Settled, observer: &dyn Observer) -> Result<Self> {
        let (n_samples, n_features) = (input.n_samples(), input.n_features());
        plan_of(input, params)?;
        let needs = params.method.kind().needs();
        if input.share().is_some() && params.method.kind() == MethodKind::S3Nmf {
            // Its factorisations run side by side, which processes in step cannot do.
            return Err(DataError::NeedsAllRows { what: params.method.kind().name() }.into());
        }
        let mut this = Self {
            graph: None,
            rows: None,
            sigma: None,
            search: None,
            warnings: Vec::new(),
            n_samples,
            n_features,
            seconds: 0.0,
            known: None,
        };
        if matches!(needs, Needs::Samples | Needs::Both) {
            this.rows = Some(rows(input, params)?);
        }
        if matches!(needs, Needs::Graph | Needs::Both) {
            let (built, seconds) =
                timed(Stage::Neighbors, observer, || in_pool(params, || params.graph.of(input, observer)));
            let (graph, near) = built?;
            (this.graph, this.sigma) = (Some(Arc::new(graph)), near.sigma);
            (this.warnings, this.seconds) = (near.warnings, seconds);
            this.search = Some(near.search);
        }
        Ok(this)
    }

    /// Keep the graphs that RBSMF learns (n²/2 numbers each, eight at most), which depend on its settings and on no
    /// seed. The results are the same.
    #[must_use]
    pub fn remember_graphs(self) -> Self {
        Self { known: Some(Arc::new(learn::rbsmf::LearntGraphs::up_to(KEPT_GRAPHS))), ..self }
    }

    /// The graph, where the method has one.
    pub fn graph(&self) -> Option<&SparseGraph> {
        self.graph.as_deref()
    }

    /// Learn from every start and label by the best.
    ///
    /// # Errors
    /// When settings are out of range, the method cannot work on this data, or the observer asks to stop.
    pub fn fit(&self, params: &Params, observer: &dyn Observer) -> Result<Model> {
        self.learn(&params.settle(self.n_samples, self.n_features)?, observer)
    }

    /// The same, of settings that were judged.
    pub(crate) fn learn(&self, params: &Settled, observer: &dyn Observer) -> Result<Model> {
        self.check_needs(params)?;
        let (n, r) = (self.n_samples, params.n_clusters);
        go_on(observer, Stage::Learn)?;
        let mut findings = self.findings(params);
        if r == n {
            return Ok(findings.every_point_alone().into_model());
        }
        let (members, seconds) =
            timed(Stage::Learn, observer, || in_pool(params, || self.members(params, observer)));
        findings.timings.push((Stage::Learn, seconds));
        findings.members = members?;
        let objective = |m: usize| findings.members[m].objective.total();
        findings.best = (0..findings.members.len())
            .fold(0, |best, m| if objective(m) < objective(best) { m } else { best });
        findings.members[findings.best].kept = true;
        findings.label_by_member();
        Ok(findings.into_model())
    }

    /// The preparation was made for one method; another may need what it does not hold.
    fn check_needs(&self, params: &Settled) -> Result<(), ParamError> {
        let kind = params.method.kind();
        let (graph, rows) = (self.graph.is_some(), self.rows.is_some());
        let (holds, allowed) = match kind.needs() {
            Needs::Slices | Needs::Lists => {
                (false, "a method other than lsdg and nearfar here; these are fitted by nearfar::fit")
            }
            Needs::Graph => (graph, "a method of the samples, or prepare with a method of a graph"),
            Needs::Samples => (rows, "a method of a graph, or prepare with a method of the samples"),
            Needs::Both => (graph && rows, "prepared with a method of graph and samples, such as gnmf"),
        };
        ParamError::unless(holds, "method", kind, allowed)
    }

    fn members(&self, params: &Settled, observer: &dyn Observer) -> Result<Vec<Member>> {
        let total = params.starts as u64;
        // Whoever has enough still gets one start.
        let wanted = |member: &usize| *member == 0 || !observer.enough();
        let fresh = learn::rbsmf::LearntGraphs::up_to(1);
        let known = self.known.as_deref().unwrap_or(&fresh);
        let learn = |member: usize| {
            let fitted = params.method.learn(self.task(params, member, known, observer))?;
            let state = self.finish(params, fitted, observer)?;
            observer.notice(&Event::Member { member, state: &state });
            Task::unless_cancelled(&state.started)?;
            observer.notice(&Event::Progress { stage: Stage::Learn, done: 1, total });
            Ok(state)
        };
        // Processes in step take one start after the other; so do starts that share what the first one learns.
        let shared = self.graph.as_ref().is_some_and(|graph| graph.share().is_some());
        if shared || params.method.kind() == MethodKind::RbsMf {
            return (0..params.starts).filter(wanted).map(learn).collect();
        }
        (0..params.starts).into_par_iter().filter(wanted).map(learn).collect()
    }

    fn task<'a>(
        &'a self,
        params: &'a Settled,
        member: usize,
        known: &'a learn::rbsmf::LearntGraphs,
        observer: &'a dyn Observer,
    ) -> Task<'a> {
        let (n, r) = (self.n_samples, params.n_clusters);
        let mut stream = Stream::new(params.seed, MEMBER_STREAM + member as u64);
        Task {
            graph: self.graph.as_deref(),
            rows: self.rows.as_ref(),
            n_clusters: r,
            start: start::random(n, r, &mut stream),
            stream: Stream::new(params.seed, EXTRA_STREAM + member as u64),
            stop: &params.stop,
            kmeans_restarts: params.kmeans_restarts,
            precision: params.method.precision(params.precision),
            seed: params.seed,
            member,
            known,
            observer,
        }
    }

    fn finish(&self, params: &Settled, fitted: Fitted, observer: &dyn Observer) -> Result<Member> {
        let Fitted { learned, factor, objective, labeling } = fitted;
        let mut votes = Vec::new();
        let labels = match labeling {
            // Nobody waits for k-means once the run is cancelled.
            Labeling::KMeans if learned.reason == StopReason::Cancelled => row_argmax(&factor),
            Labeling::Largest => row_argmax(&factor),
            Labeling::Voted(all) => {
                votes = all;
                row_argmax(&factor)
            }
            Labeling::Given(labels) => labels,
            Labeling::KMeans => {
                let (n, r) = (factor.n_samples(), factor.n_columns());
                let rows = crate::graph::to_rows(factor.values(), n, r);
                KMeansParams::new(params.n_clusters)
                    .restarts(params.kmeans_restarts)
                    .fit_observed(&rows, n, r, params.seed, observer)
                    .map_err(while_learning)?
                    .labels
            }
        };
        let dead =
            |factor: &Factor| (0..factor.n_columns()).filter(|j| factor.nonzeros(*j).0.is_empty()).count();
        Ok(Member {
            spectral_start: false,
            view: None,
            neighbors: self.graph.as_ref().map(|_| params.graph.resolved_neighbors(self.n_samples)),
            coefficients: Coefficients { alpha: 0.0, beta: None, mu: 0.0, eta: 0.0 },
            near_weights: Vec::new(),
            far_weights: Vec::new(),
            started: learned,
            learned: None,
            objective: Objective { fit: objective, ..Objective::default() },
            labels: Some(labels),
            votes,
            cut: None,
            kept: false,
            dead_columns: dead(&factor),
            factor,
        })
    }

    fn findings(&self, params: &Settled) -> Findings {
        let source = self.graph.clone().map_or(Source::Nothing, Source::Graph);
        Findings {
            sigma: self.sigma.clone(),
            timings: vec![(Stage::Neighbors, self.seconds)],
            warnings: self.warnings.clone(),
            precision: params.method.precision(params.precision),
            n_features: self.n_features,
            search: self.search,
            ..Findings::of(params.clone(), source)
        }
    }
}

impl Findings {
    /// Labels of the best start; a row's membership is its share in every column of V that stands for a cluster.
    pub(crate) fn label_by_member(&mut self) {
        let member = &self.members[self.best];
        let raw = member.labels.as_deref().unwrap_or_default();
        let r = self.params.n_clusters;
        self.labels = renumber(raw);
        self.membership = if raw == row_argmax(&member.factor) {
            shares(&member.factor, raw, &self.labels, r)
        } else {
            self.labels
                .iter()
                .flat_map(|label| (0..r).map(move |c| f64::from(u8::from(c == *label))))
                .collect()
        };
    }
}

/// Every row of V divided by its sum, its columns in the order of the labels.
fn shares(factor: &Factor, raw: &[usize], labels: &[usize], r: usize) -> Vec<f64> {
    let n = factor.n_samples();
    let mut column_of = vec![0; r];
    let mut used = vec![false; r];
    for (label, raw) in labels.iter().zip(raw) {
        (column_of[*label], used[*raw]) = (*raw, true);
    }
    // Columns that win no row follow in their order.
    let n_found = labels.iter().max().map_or(0, |l| l + 1);
    for (slot, column) in (n_found..r).zip((0..r).filter(|c| !used[*c])) {
        column_of[slot] = column;
    }
    let mut membership = vec![0.0; n * r];
    for i in 0..n {
        // V of RBSMF has entries below 0.
        let sum: f64 = (0..r).map(|c| factor.get(i, c).max(0.0)).sum();
        for c in 0..r {
            membership[i * r + c] =
                if sum > 0.0 { factor.get(i, column_of[c]).max(0.0) / sum } else { 1.0 / r as f64 };
        }
    }
    membership
}

/// The samples, n × m; with the cosine as metric every row has length 1.
fn rows(input: &Input<'_>, params: &Settled) -> Result<Rows> {
    if input.share().is_some() {
        return Err(DataError::NeedsAllRows { what: params.method.kind().name() }.into());
    }
    let Input::Samples(samples, metric) = input else {
        return Err(DataError::NeedsSamples { method: params.method.kind().name() }.into());
    };
    samples.check()?;
    let (n, m) = (samples.n_samples(), samples.n_features());
    let mut values = vec![0.0; n * m];
    for (i, row) in values.chunks_exact_mut(m).enumerate() {
        samples.copy_row(i, row);
        if *metric == crate::Metric::Cosine && !crate::math::kernel::normalize(row) {
            return Err(DataError::ZeroRow { row: i }.into());
        }
    }
    Ok(Rows { values, n, m })
}
