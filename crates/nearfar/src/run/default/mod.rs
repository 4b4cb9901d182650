//! The default: views → neighbours → slices → partition and weights in turn → consensus → tree → labels.
//!
//! The paper's model with a hard factor (see [`crate::partition`]), learnt on several views of the data that are
//! weighed without labels, by members that trust different numbers of ranks. Each member takes turns: weights from
//! labels (the paper's simplex projection), a graph from weights, exactly k clusters from the graph. The graphs of
//! all members are averaged, every edge times the share of members that put its ends together, and the consensus is
//! partitioned once more. Before all that a plain mixture is tried, which no graph beats where it explains the
//! rows.

pub(crate) mod controls;
mod saved;
#[cfg(test)]
mod tests;

use rayon::prelude::*;

use crate::checkpoint::Checkpoint;
use crate::consensus::Consensus;
use crate::error::{ParamError, Result};
use crate::input::{Input, Metric};
use crate::learn::nearfar::far;
use crate::learn::nearfar::members::Learner;
use crate::learn::nearfar::{Engine, LISTS, NearFarParams, TRUSTED};
use crate::mixture::{self, Effort, Fit, Labelled, MixtureReport};
use crate::model::{Account, Findings, Lens, Model, Source, Trust, Warning};
use crate::neighbors::descent::Guess;
use crate::neighbors::nearest::{Listed, found, listed, points_of};
use crate::neighbors::search::SearchBy;
use crate::neighbors::{SIGMA_NEIGHBOR, SearchReport};
use crate::observe::{Event, Observer, Repeated, Stage, Unheard, go_on};
use crate::params::Settled;
use crate::partition::{Network, fine_for};
use crate::run::timed;
use crate::slices::ranked::{self, Ranked, of_all_ranks};
use crate::tree::MergeTree;
use crate::tree::bridges::Bridges;
use crate::views::data::Data;
use crate::views::judge;
use crate::views::{Counted, Curve, LEAST_WEIGHT, MANY, MOST_VIEWS, TAU, View};

/// Shuffles behind the null where clusters are counted.
const COUNTING_SHUFFLES: u64 = 2;
/// Levels that a tree has at least, where there are points enough.
const LEVELS: usize = 60;

/// Cluster by the default method.
///
/// # Errors
/// When data or settings break a rule, memory does not suffice, or the observer asks to stop.
pub(crate) fn fit(
    input: &Input<'_>,
    params: &Settled,
    checkpoint: Option<&Checkpoint>,
    observer: &dyn Observer,
) -> Result<Model> {
    let own = params.nearfar();
    check_input(input, own)?;
    let mut findings = Findings::of(params.clone(), Source::Nothing);
    findings.n_features = input.n_features();
    let (data, seconds) = timed(Stage::Views, observer, || Data::of(input, own.views, params.seed));
    let data = data?;
    findings.timings.push((Stage::Views, seconds));
    let account =
        Account { judged_on: data.as_ref().map_or(0, |data| data.judged().len()), ..Account::default() };
    let mut stages = Stages {
        input,
        data: data.as_ref(),
        params,
        observer,
        checkpoint,
        account,
        views: Vec::new(),
        fitted: None,
    };
    stages.all(&mut findings)?;
    findings.account = Some(stages.account);
    if let Some(data) = &data {
        findings.standard = data.standard.clone();
    }
    Ok(findings.into_model())
}

/// What the settings ask for must be there.
fn check_input(input: &Input<'_>, own: NearFarParams) -> Result<()> {
    if !matches!(input, Input::Samples(..) | Input::Part(..)) {
        let allowed = "auto or graph where pairs are given; a mixture needs samples";
        ParamError::unless(own.engine != Engine::Mixture, "engine", "mixture", allowed)?;
        let allowed = "auto where pairs are given; views need samples";
        ParamError::unless(own.views.is_auto(), "views", own.views, allowed)?;
    }
    if let Input::Samples(_, metric) | Input::Part(_, metric, _) = input {
        let allowed = "auto or graph with the cosine metric; a mixture is one of Euclidean shapes";
        let sound = own.engine != Engine::Mixture || *metric == Metric::Euclidean;
        ParamError::unless(sound, "engine", "mixture", allowed)?;
        let allowed = "auto, raw or unit with the cosine metric, which sees rows by their direction alone";
        let of_rows =
            own.views.is_auto() || own.views.asked().all(|view| matches!(view, View::Raw | View::Unit));
        ParamError::unless(of_rows || *metric == Metric::Euclidean, "views", own.views, allowed)?;
    }
    Ok(())
}

/// A view with its neighbours.
struct Seen {
    view: View,
    weight: f64,
    curve: Option<Curve>,
    /// Neighbours that were found while the view was judged.
    listed: Option<Listed>,
    ranked: Option<Ranked>,
    sigma: Option<Vec<f64>>,
}

impl Seen {
    fn of(view: View, curve: Option<Curve>) -> Self {
        Self { view, weight: 1.0, curve, listed: None, ranked: None, sigma: None }
    }
}

struct Stages<'a> {
    input: &'a Input<'a>,
    /// The samples; `None` where pairs were given.
    data: Option<&'a Data<'a>>,
    params: &'a Settled,
    observer: &'a dyn Observer,
    checkpoint: Option<&'a Checkpoint>,
    account: Account,
    views: Vec<Seen>,
    /// A mixture that was fitted while clusters were counted.
    fitted: Option<(Fit, MixtureReport)>,
}

impl Stages<'_> {
    fn all(&mut self, findings: &mut Findings) -> Result<()> {
        let (n, observer) = (self.input.n_samples(), self.observer);
        let alone = n == 1 || (!self.params.find_clusters && self.params.n_clusters == n);
        if alone {
            self.account.engine = Engine::Graph;
            findings.params.found_clusters(n);
            findings.every_point_by_itself();
            return Ok(());
        }
        let stage = |stage: Stage,
                     findings: &mut Findings,
                     run: &mut Self,
                     work: &dyn Fn(&mut Self, &mut Findings) -> Result<()>| {
            run.agree();
            go_on(observer, stage)?;
            let (done, seconds) = timed(stage, observer, || work(run, findings));
            match findings.timings.iter_mut().find(|(known, _)| *known == stage) {
                Some((_, before)) => *before += seconds,
                None => findings.timings.push((stage, seconds)),
            }
            done
        };
        if self.params.find_clusters {
            stage(Stage::Views, findings, self, &|run, findings| {
                run.judge(findings)?;
                run.count(findings)
            })?;
            stage(Stage::Mixture, findings, self, &Self::try_mixture)?;
        } else {
            stage(Stage::Mixture, findings, self, &Self::try_mixture)?;
            stage(Stage::Views, findings, self, &Self::judge)?;
        }
        self.trust();
        stage(Stage::Neighbors, findings, self, &Self::search)?;
        if self.account.engine == Engine::Mixture || findings.params.n_clusters == 1 {
            return stage(Stage::Consensus, findings, self, &|run, findings| {
                run.tree_of_labels(findings);
                Ok(())
            });
        }
        stage(Stage::Learn, findings, self, &Self::by_graph)
    }

    /// Hand wishes to stop round, where processes share the rows.
    fn agree(&self) {
        if let Some(share) = self.input.share() {
            share.team().agree();
        }
    }

    /// The most clusters that curves must know.
    fn most(&self) -> usize {
        let n = self.input.n_samples();
        let wanted = if self.params.find_clusters {
            (n / 8).clamp(10, 60)
        } else {
            fine_for(self.params.n_clusters, n)
        };
        wanted.min(n.saturating_sub(1)).max(1)
    }

    /// Find the views and judge them.
    fn judge(&mut self, findings: &mut Findings) -> Result<()> {
        let (most, seed) = (self.most(), self.params.seed);
        let Some(data) = self.data else {
            let listed = listed(self.input, LISTS, self.observer)?;
            findings.warnings.extend(listed.warnings.iter().cloned());
            let ranked = Ranked::new(&listed, LISTS);
            let mut seen = Seen::of(View::Raw, Some(judge::curve_of_pairs(&ranked, most, seed)));
            Self::keep(&listed, ranked, &mut seen, findings);
            self.views.push(seen);
            return Ok(());
        };
        if self.account.engine == Engine::Mixture && !self.params.find_clusters {
            // The mixture saw standardised columns, and the tree around its labels does, too.
            let shown = data.views.iter().copied().find(|view| *view == View::Standard);
            self.views =
                shown.or(data.views.first().copied()).map(|view| Seen::of(view, None)).into_iter().collect();
            return Ok(());
        }
        // One view that nobody has to count by needs no judge.
        let needed = data.views.len() > 1 || self.params.find_clusters;
        if !needed {
            self.views = data.views.iter().map(|view| Seen::of(*view, None)).collect();
            return Ok(());
        }
        if let Some(curves) = self.saved_curves(&data.views) {
            self.views = curves.into_iter().map(|(view, curve)| Seen::of(view, Some(curve))).collect();
            return Ok(());
        }
        let (sample, which) = (data.sample()?, data.judged());
        // What only weighs the views may be rougher than what says how many clusters there are.
        let shuffles = if self.params.find_clusters { COUNTING_SHUFFLES } else { 1 };
        // Where all rows are judged, their neighbours are those that the members learn from.
        let whole = !data.share.is_split()
            && which.len() == data.rows.n_samples()
            && data.metric == Metric::Euclidean
            && self.checkpoint.is_none();
        let lists = if whole { LISTS.max(SIGMA_NEIGHBOR) } else { judge::JUDGING_LISTS };
        let seen: Result<Vec<Seen>> = data
            .views
            .par_iter()
            .map(|view| {
                go_on(self.observer, Stage::Views)?;
                let (curve, listed) = judge::curve(
                    &sample,
                    which,
                    (*view, &data.standard),
                    (lists, most, seed, shuffles),
                    &Unheard(self.observer),
                )?;
                let (done, total) = (1, data.views.len() as u64);
                self.observer.notice(&Event::Progress { stage: Stage::Views, done, total });
                // Those that are not exact may be found better by a guess.
                let listed = Some(listed).filter(|listed| whole && !listed.search.approximate);
                Ok(Seen { listed, ..Seen::of(*view, Some(curve)) })
            })
            .collect();
        self.views = seen?;
        self.save_curves();
        Ok(())
    }

    /// The number of clusters, given or found: by a mixture that explains the rows, else by the null gap.
    fn count(&mut self, findings: &mut Findings) -> Result<()> {
        if !self.params.find_clusters {
            return Ok(());
        }
        let curves: Vec<&Curve> = self.views.iter().filter_map(|seen| seen.curve.as_ref()).collect();
        let mut counted = Counted::by_gap(&curves, self.input.n_samples());
        if let Some(data) = self.of_mixture() {
            let fitted =
                mixture::count_by_mixture(&data.sample()?, self.params.seed, &Unheard(self.observer))?;
            self.fitted = fitted.filter(|(_, report)| !counted.pieces(report.parts));
            if let Some((_, report)) = &self.fitted {
                counted = counted.by_mixture(report.parts);
            }
        }
        findings.params.found_clusters(counted.found);
        self.account.count = Some(counted);
        Ok(())
    }

    /// The samples, where a mixture may be the answer.
    fn of_mixture(&self) -> Option<&Data<'_>> {
        let allowed = self.params.nearfar().engine != Engine::Graph;
        self.data.filter(|data| allowed && data.metric == Metric::Euclidean)
    }

    /// Whether a plain mixture explains the rows; then its labels are the answer.
    fn try_mixture(&mut self, findings: &mut Findings) -> Result<()> {
        self.account.engine = Engine::Graph;
        let (k, seed) = (findings.params.n_clusters, self.params.seed);
        let forced = self.params.nearfar().engine == Engine::Mixture;
        let fitted = self.fitted.take();
        let Some(data) = self.of_mixture().filter(|_| k > 1 || forced) else { return Ok(()) };
        let effort = if forced { Effort::Fit } else { Effort::Test };
        let tried = match fitted {
            Some(fitted) => Some(fitted),
            None => mixture::try_mixture(&data.sample()?, k, seed, effort, &Unheard(self.observer))?,
        };
        let Some((fit, report)) = tried else {
            let allowed = "auto or graph here: no column has a spread, or there are fewer rows than clusters";
            ParamError::unless(!forced, "engine", "mixture", allowed)?;
            return Ok(());
        };
        if forced || report.explains {
            self.observer.notice(&Event::Progress { stage: Stage::Mixture, done: 1, total: 1 });
            let own = fit.posteriors(&data.rows, self.observer)?;
            let labelled = Labelled::of(&data.share.gather_rows("posteriors", &own, k), fit);
            (findings.labels, findings.membership, findings.confidence) =
                (labelled.labels, labelled.membership, labelled.confidence);
            findings.mixture = Some(labelled.by);
            self.account.engine = Engine::Mixture;
        }
        self.account.mixture = Some(report);
        Ok(())
    }

    /// Weights of the views, now that the number of clusters is known; those that are not worth a search go.
    fn trust(&mut self) {
        let n = self.input.n_samples();
        let k = self.account.count.as_ref().map_or(self.params.n_clusters, |counted| counted.found);
        let mark = |seen: &Seen| seen.curve.as_ref().map_or(0.0, |curve| curve.mark(k));
        let best = self.views.iter().map(mark).fold(f64::NEG_INFINITY, f64::max);
        for seen in &mut self.views {
            seen.weight = ((mark(seen) - best) / TAU).exp();
            if let Some(curve) = &seen.curve {
                let (quality, null) = curve.at(k).unwrap_or_default();
                self.account.views.push(Trust { view: seen.view, weight: seen.weight, quality, null });
            }
        }
        let many = usize::from(n > MANY);
        let mut weights: Vec<f64> = self.views.iter().map(|seen| seen.weight).collect();
        weights.sort_by(|a, b| b.total_cmp(a));
        let least = weights.get(MOST_VIEWS[many] - 1).copied().unwrap_or(0.0).max(LEAST_WEIGHT[many]);
        self.views.retain(|seen| seen.weight >= least);
        if self.account.engine == Engine::Mixture {
            // Only the tree is still to be made: one view is enough.
            let best = self.views.iter().position(|seen| seen.weight >= 1.0).unwrap_or(0);
            self.views.swap(0, best);
            self.views.truncate(1);
        }
    }

    /// The neighbours of every view that is trusted.
    fn search(&mut self, findings: &mut Findings) -> Result<()> {
        let Some(data) = self.data else { return Ok(()) };
        let mut views = std::mem::take(&mut self.views);
        let observer = &Repeated { inner: self.observer, times: views.len() as u64 };
        for at in 0..views.len() {
            go_on(self.observer, Stage::Neighbors)?;
            // Neighbours in one view are a first guess for the next.
            let (before, rest) = views.split_at_mut(at);
            let known = before.last().and_then(|seen| seen.ranked.as_ref());
            let seen = &mut rest[0];
            let listed = match seen.listed.take() {
                Some(listed) => listed,
                None => self.listed(data, seen.view, known, observer)?,
            };
            if at == 0 {
                findings.warnings.extend(listed.warnings.iter().cloned());
            }
            let before = findings.search.unwrap_or(SearchReport::EXACT);
            findings.search = Some(SearchReport {
                approximate: before.approximate || listed.search.approximate,
                recall: before.recall.min(listed.search.recall),
            });
            let ranked = Ranked::new(&listed, LISTS);
            Self::keep(&listed, ranked, seen, findings);
            self.agree();
        }
        self.views = views;
        Ok(())
    }

    /// The neighbours of one view: those of a checkpoint, or found now.
    fn listed(
        &self,
        data: &Data<'_>,
        view: View,
        known: Option<&Ranked>,
        observer: &dyn Observer,
    ) -> Result<Listed> {
        let shown = data.shown(view);
        let own = data.share.rows().len();
        let rows = match &shown {
            Some(shown) => shown.samples(own, data.rows.n_features())?,
            None => data.rows,
        };
        let input = if data.share.is_split() {
            Input::Part(rows, data.metric, &data.share)
        } else {
            Input::Samples(rows, data.metric)
        };
        let (points, k) = (points_of(&input)?, LISTS.max(SIGMA_NEIGHBOR));
        let guess = known.map(|known| Guess { k: known.k, indices: &known.indices });
        let name = format!("{view}-{k}");
        let found = found(&points, (&name, k), (SearchBy::Quick, guess), self.checkpoint, observer)?;
        Ok(Listed::of_all(found, &data.share))
    }

    fn keep(listed: &Listed, ranked: Ranked, seen: &mut Seen, findings: &mut Findings) {
        seen.sigma = listed.sigma.as_ref().map(|s| s.iter().map(|s| s * listed.unit).collect());
        if findings.sigma.is_none() || seen.view == View::Raw {
            findings.sigma.clone_from(&seen.sigma);
        }
        seen.ranked = Some(ranked);
    }

    /// Members of every view, and their consensus.
    fn by_graph(&mut self, findings: &mut Findings) -> Result<()> {
        let (n, k) = (self.input.n_samples(), findings.params.n_clusters);
        let ready: Vec<(View, f64, &Ranked)> = self
            .views
            .iter()
            .filter_map(|seen| seen.ranked.as_ref().map(|ranked| (seen.view, seen.weight, ranked)))
            .collect();
        let bridges: Vec<Bridges<'_>> = ready
            .iter()
            .map(|(view, _, ranked)| Bridges::new(ranked, *view, self.input, self.data))
            .collect();
        let learner = Learner {
            views: &ready,
            bridges: &bridges,
            k,
            seed: self.params.seed,
            share: self.input.share(),
            checkpoint: self.checkpoint,
            observer: self.observer,
        };
        let members = learner.learn()?;
        self.agree();
        go_on(self.observer, Stage::Consensus)?;
        let best = (0..ready.len()).fold(0, |best, at| if ready[at].1 > ready[best].1 { at } else { best });
        let consensus = Consensus::new(&ready, &members);
        let network = Network::new(&consensus.graph);
        let (tree, parts) = crate::partition::tree_and_parts(&network, k, self.params.seed, &bridges[best]);
        let labels = tree.labels_at(k);
        self.account.pieces = tree.pieces();
        if tree.pieces() > k {
            findings.warnings.push(Warning::JoinedPieces { pieces: tree.pieces(), n_clusters: k });
        }
        consensus.tell(findings, &labels, &members, &ready);
        findings.lenses = self.lenses(|at| consensus.weights_of(at, &members));
        findings.tree = Some(tree.deepened(&network, levels(k, n), self.params.seed, parts.as_deref()));
        findings.take_graph(consensus.graph.without_zeros());
        self.far_weights(findings, best, &labels);
        Ok(())
    }

    /// Labels are known without a graph; the tree around them is made of that of the best view.
    fn tree_of_labels(&mut self, findings: &mut Findings) {
        let (n, k) = (self.input.n_samples(), findings.params.n_clusters);
        if k == 1 {
            (findings.labels, findings.membership, findings.confidence) =
                (vec![0; n], vec![1.0; n], vec![1.0; n]);
        }
        let Some(Seen { view, ranked: Some(ranked), .. }) = self.views.first() else { return };
        let bridges = Bridges::new(ranked, *view, self.input, self.data);
        let graph = ranked.start_graph();
        let network = Network::new(&graph);
        let labels: Vec<u32> = findings.labels.iter().map(|label| *label as u32).collect();
        let tree = MergeTree::new(&network, &labels, &bridges);
        self.account.pieces = tree.pieces();
        findings.tree = Some(tree.deepened(&network, levels(k, n), self.params.seed, None));
        let near = ranked::weights(&ranked.agreement(&labels), TRUSTED[1]);
        findings.near_weights = of_all_ranks(&near, n);
        findings.lenses = self.lenses(|_| near.clone());
        findings.take_graph(graph.without_zeros());
        self.far_weights(findings, 0, &labels);
    }

    /// What labels new points, by every view that was searched.
    fn lenses(&self, weights: impl Fn(usize) -> Vec<f64>) -> Vec<Lens> {
        let lens = |(at, seen): (usize, &Seen)| Lens {
            view: seen.view,
            weight: seen.weight,
            near_weights: weights(at),
            sigma: seen.sigma.clone(),
        };
        self.views.iter().enumerate().map(lens).collect()
    }

    /// p: how far ranks beyond the lists are trusted as strangers.
    fn far_weights(&self, findings: &mut Findings, best: usize, labels: &[u32]) {
        let Some(Seen { view, ranked: Some(ranked), .. }) = self.views.get(best) else { return };
        findings.far_weights = far::weights(ranked, *view, self.input, self.data, labels, self.params.seed);
    }
}

/// Levels that a tree is to have.
fn levels(k: usize, n: usize) -> usize {
    LEVELS.max(2 * k).min(n)
}

impl Findings {
    /// As many clusters as points.
    fn every_point_by_itself(&mut self) {
        let n = self.params.n_clusters;
        self.labels = (0..n).collect();
        self.membership = vec![0.0; n * n];
        (0..n).for_each(|i| self.membership[i * n + i] = 1.0);
        self.confidence = vec![1.0; n];
        self.tree = MergeTree::alone(n);
    }

    fn take_graph(&mut self, graph: crate::slices::SparseRows) {
        self.source = Source::Graph(std::sync::Arc::new(crate::graph::SparseGraph::of_rows(graph)));
    }
}
