//! The default: views → neighbours → slices → partition and weights in turn → consensus → tree → labels.
//!
//! The paper's model with a hard factor (see [`crate::partition`]), learnt on several views of the data that are weighed without labels, by members that
//! trust different numbers of ranks. Each member takes turns: weights from labels (the paper's simplex projection), a graph from weights,
//! exactly k clusters from the graph. The graphs of all members are averaged, every edge times the share of members that put its ends together, and the
//! consensus is partitioned once more. Before all that a plain mixture is tried, which no graph beats where it explains the rows.

mod consensus;
mod count;
mod judge;
mod members;
mod mixture;
mod ranked;
#[cfg(test)]
mod tests;

use std::time::Instant;

use rayon::prelude::*;

pub use count::Counted;
pub use judge::Curve;
pub use mixture::{Covariance, MixtureReport};

use crate::error::{DataError, ParamError, Result};
use crate::math::rng::Stream;
use crate::model::{Model, Source};
use crate::neighbors::nearest::listed;
use crate::neighbors::{Input, Metric, SearchReport, Warning};
use crate::observe::{Observer, Stage, go_on};
use crate::params::Params;
use crate::partition::{Evidence, Network};
use crate::prepared::timed;
use crate::samples::Samples;
use crate::views::{Shown, Standard, View, Views, worth_a_look};
use consensus::Consensus;
use members::Learner;
use ranked::Ranked;

/// Neighbours per point and view.
pub const LISTS: usize = 40;
/// Ranks that the members of a view trust.
pub const TRUSTED: [usize; 4] = [6, 10, 15, 25];
/// Up to so many points views are judged on all of them, else on a sample of [`JUDGED`].
const JUDGED_ALL: usize = 12_000;
/// Points of the sample that views of more points are judged on.
const JUDGED: usize = 4_000;
/// How quickly trust in a view falls with its mark.
const TAU: f64 = 0.05;
/// Views with less weight are not learnt: of few points, and of many, where a search takes long.
const LEAST_WEIGHT: [f64; 2] = [0.01, 0.2];
/// Levels that a tree has at least, where there are points enough.
const LEVELS: usize = 60;
/// Stream of samples.
const SAMPLE_STREAM: u64 = 7 << 32;

/// Which of the two ways to an answer is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// The mixture where it explains the rows, else the graph.
    #[default]
    Auto,
    /// Neighbour graphs and their partition.
    Graph,
    /// Gaussian or heavy-tailed groups, whether or not they explain the rows.
    Mixture,
}

/// Settings of the default method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct NearFarParams {
    /// Which way is taken.
    pub engine: Engine,
    /// Which scalings are looked at.
    pub views: Views,
}

/// How far a view was trusted.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Trust {
    /// Which one.
    pub view: View,
    /// Its weight, 1 for the best.
    pub weight: f64,
    /// Modularity of its clusters.
    pub quality: f64,
    /// Modularity of the same values with every column shuffled.
    pub null: f64,
}

/// How the default method came to its answer.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct Account {
    /// The way that was taken; never `Auto`.
    pub engine: Engine,
    /// The views, as far as they were trusted; empty where the mixture answered, or the input was pairwise.
    pub views: Vec<Trust>,
    /// Rows that the views were judged on.
    pub judged_on: usize,
    /// How the number of clusters was found, where it was not given.
    pub count: Option<Counted>,
    /// Pieces of the consensus graph; where there are more than clusters, some were joined by distance alone.
    pub pieces: usize,
    /// What came of trying a mixture; `None` where none was tried (pairs, or `Engine::Graph`).
    pub mixture: Option<MixtureReport>,
}

/// What is known of the points beside the graph: how far apart they are in one view.
struct Across<'a> {
    input: &'a Input<'a>,
    view: View,
    standard: &'a Standard,
}

impl Evidence for Across<'_> {
    fn distance(&self, a: &[u32], b: &[u32]) -> f64 {
        let least = |distance: &dyn Fn(u32, u32) -> f64| {
            let pairs = a.iter().flat_map(|i| b.iter().map(move |j| (*i, *j)));
            pairs.map(|(i, j)| distance(i, j)).fold(f64::INFINITY, f64::min)
        };
        match self.input {
            Input::Samples(samples, metric) => {
                let view = if *metric == Metric::Cosine { View::Unit } else { self.view };
                let rows = |which: &[u32]| -> Vec<Vec<f64>> {
                    let row = |i: &u32| {
                        let mut row = vec![0.0; samples.n_features()];
                        samples.copy_row(*i as usize, &mut row);
                        self.standard.show(view, &mut row);
                        row
                    };
                    which.iter().map(row).collect()
                };
                let (a, b) = (rows(a), rows(b));
                let squared = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| (x - y).powi(2)).sum::<f64>();
                let pairs = a.iter().flat_map(|x| b.iter().map(move |y| squared(x, y)));
                pairs.fold(f64::INFINITY, f64::min)
            }
            Input::Distances(x) => least(&|i, j| x.get(i as usize, j as usize)),
            Input::Affinities(x) => least(&|i, j| -x.get(i as usize, j as usize)),
            Input::Neighbors(_) | Input::Part(..) => f64::INFINITY,
        }
    }
}

/// Cluster by the default method.
///
/// # Errors
/// When data or settings break a rule, memory does not suffice, or the observer asks to stop.
pub(crate) fn fit(input: &Input<'_>, params: &Params, observer: &dyn Observer) -> Result<Model> {
    let own = params.nearfar();
    let (n, n_features) = (input.n_samples(), input.n_features());
    if n == 0 {
        return Err(DataError::Empty { n_samples: n, n_features }.into());
    }
    check_input(input, own)?;
    let mut model = Model::empty(params, Source::Nothing);
    model.n_features = n_features;
    let mut run = Run { input, seed: params.seed, observer, account: Account::default(), views: Vec::new() };
    let (ready, seconds) = timed(Stage::Neighbors, observer, || run.look(own, params));
    let standard = ready?;
    model.timings.push((Stage::Neighbors, seconds));
    let (found, seconds) = timed(Stage::Slices, observer, || run.count(params));
    model.params.n_clusters = found?;
    model.timings.push((Stage::Slices, seconds));
    let k = model.params.n_clusters;
    if k == n {
        run.account.engine = Engine::Graph;
        model.account = Some(run.account);
        model = model.every_point_alone();
        model.confidence = vec![1.0; n];
        return Ok(model);
    }
    let (done, seconds) = timed(Stage::Learn, observer, || run.by_graph(&mut model, &standard));
    done?;
    model.timings.push((Stage::Learn, seconds));
    model.account = Some(run.account);
    model.look_back();
    Ok(model)
}

/// What the settings ask for must be there.
fn check_input(input: &Input<'_>, own: NearFarParams) -> Result<()> {
    match input {
        Input::Samples(samples, _) => samples.check(),
        Input::Part(..) => Err(DataError::NeedsAllRows { what: "nearfar" }.into()),
        _ => {
            let allowed = "auto or graph where pairs are given; a mixture needs samples";
            ParamError::unless(own.engine != Engine::Mixture, "engine", "mixture", allowed)?;
            let allowed = "auto where pairs are given; views need samples";
            Ok(ParamError::unless(own.views.is_auto(), "views", own.views, allowed)?)
        }
    }
}

/// A view with its neighbours.
struct Seen {
    view: View,
    ranked: Option<Ranked>,
    curve: Option<Curve>,
    weight: f64,
}

struct Run<'a> {
    input: &'a Input<'a>,
    seed: u64,
    observer: &'a dyn Observer,
    account: Account,
    views: Vec<Seen>,
}

impl<'a> Run<'a> {
    /// Find the views and judge them.
    fn look(&mut self, own: NearFarParams, params: &Params) -> Result<Standard> {
        let n = self.input.n_samples();
        let most = self.most(params);
        let Input::Samples(samples, metric) = self.input else {
            let listed = listed(self.input, LISTS, self.observer)?;
            let ranked = Ranked::new(&listed, LISTS);
            let curve = Some(judge::curve_of_pairs(&ranked, most, self.seed));
            self.views.push(Seen { view: View::Raw, ranked: Some(ranked), curve, weight: 1.0 });
            return Ok(Standard::default());
        };
        let spreads = samples.spreads();
        let standard = Standard::new(&spreads);
        let views = match metric {
            Metric::Cosine => vec![View::Unit],
            Metric::Euclidean => worth_a_look(samples, &spreads, own.views),
        };
        let which = self.judged(n);
        self.account.judged_on = which.len();
        // One view that nobody has to count by needs no judge.
        let needed = views.len() > 1 || params.find_clusters;
        let curves: Result<Vec<Option<Curve>>> = views
            .par_iter()
            .map(|view| {
                go_on(self.observer, Stage::Neighbors)?;
                let job = (most, self.seed);
                needed.then(|| judge::curve(samples, &which, (*view, &standard), job, self.observer)).transpose()
            })
            .collect();
        for (view, curve) in views.into_iter().zip(curves?) {
            self.views.push(Seen { view, ranked: None, curve, weight: 1.0 });
        }
        Ok(standard)
    }

    /// Clusters up to which views are judged.
    fn most(&self, params: &Params) -> usize {
        let n = self.input.n_samples();
        let usual = (n / 8).clamp(10, 60).min(n.saturating_sub(1));
        if params.find_clusters { usual } else { usual.max(params.n_clusters) }
    }

    /// The rows that views are judged on: all, or a sample.
    fn judged(&self, n: usize) -> Vec<u32> {
        let mut which: Vec<u32> = (0..n as u32).collect();
        if n > JUDGED_ALL {
            Stream::new(self.seed, SAMPLE_STREAM).shuffle(&mut which);
            which.truncate(JUDGED);
            which.sort_unstable();
        }
        which
    }

    /// The number of clusters, given or found, and with it the weights of the views.
    fn count(&mut self, params: &Params) -> Result<usize> {
        go_on(self.observer, Stage::Slices)?;
        let k = if params.find_clusters {
            let curves: Vec<&Curve> = self.views.iter().filter_map(|seen| seen.curve.as_ref()).collect();
            let counted = Counted::by_gap(&curves, self.input.n_samples());
            let k = counted.found;
            self.account.count = Some(counted);
            k
        } else {
            params.n_clusters
        };
        let mark = |seen: &Seen| seen.curve.as_ref().map_or(0.0, |curve| curve.mark(k));
        let best = self.views.iter().map(mark).fold(f64::NEG_INFINITY, f64::max);
        for seen in &mut self.views {
            seen.weight = ((mark(seen) - best) / TAU).exp();
            if let Some((quality, null)) = seen.curve.as_ref().and_then(|curve| curve.at(k)) {
                self.account.views.push(Trust { view: seen.view, weight: seen.weight, quality, null });
            }
        }
        Ok(k)
    }

    /// Neighbours of the trusted views, members, consensus.
    fn by_graph(&mut self, model: &mut Model, standard: &Standard) -> Result<()> {
        let (n, k) = (self.input.n_samples(), model.params.n_clusters);
        self.account.engine = Engine::Graph;
        let least = LEAST_WEIGHT[usize::from(n > JUDGED_ALL)];
        self.views.retain(|seen| seen.weight >= least);
        self.search(model, standard)?;
        if k == 1 {
            model.all_in_one(n);
            return Ok(());
        }
        let clock = Instant::now();
        let ready: Vec<(View, f64, &Ranked)> = self
            .views
            .iter()
            .filter_map(|seen| seen.ranked.as_ref().map(|ranked| (seen.view, seen.weight, ranked)))
            .collect();
        let learner = Learner { views: &ready, k, seed: self.seed, observer: self.observer };
        let across = |view: View| Across { input: self.input, view, standard };
        let members = learner.learn(&across)?;
        let best = ready.iter().fold(ready[0], |best, seen| if seen.1 > best.1 { *seen } else { best });
        let evidence = across(best.0);
        let consensus = Consensus::new(&ready, &members);
        let network = Network::new(&consensus.graph);
        let tree = crate::partition::tree_for(&network, k, self.seed, &evidence);
        let labels = tree.labels_at(k);
        self.account.pieces = tree.pieces();
        if tree.pieces() > k {
            model.warnings.push(Warning::JoinedPieces { pieces: tree.pieces(), n_clusters: k });
        }
        consensus.tell(model, &labels, &members, &ready);
        model.tree = Some(tree.deepened(&network, LEVELS.max(2 * k).min(n), self.seed));
        model.take_graph(consensus.graph);
        let _ = clock;
        Ok(())
    }

    /// The neighbours of every view that is still there.
    fn search(&mut self, model: &mut Model, standard: &Standard) -> Result<()> {
        let Input::Samples(samples, _) = self.input else { return Ok(()) };
        let (n, m) = (samples.n_samples(), samples.n_features());
        let everybody: Vec<u32> = (0..n as u32).collect();
        let mut first = true;
        for seen in &mut self.views {
            go_on(self.observer, Stage::Neighbors)?;
            let shown;
            let rows: Samples<'_> = if seen.view == View::Raw {
                *samples
            } else {
                shown = Shown::rows(samples, &everybody, seen.view, standard);
                shown.samples(n, m)?
            };
            let listed = listed(&Input::Samples(rows, Metric::Euclidean), LISTS, self.observer)?;
            if first {
                model.warnings.extend(listed.warnings.iter().cloned());
                first = false;
            }
            let report = model.search.unwrap_or(SearchReport { approximate: false, recall: 1.0 });
            model.search = Some(SearchReport {
                approximate: report.approximate || listed.search.approximate,
                recall: report.recall.min(listed.search.recall),
            });
            if seen.view == View::Raw || self.account.views.len() < 2 {
                model.sigma = listed.sigma.as_ref().map(|s| s.iter().map(|s| s * listed.unit).collect());
            }
            seen.ranked = Some(Ranked::new(&listed, LISTS));
        }
        Ok(())
    }
}

impl Model {
    /// One cluster.
    fn all_in_one(&mut self, n: usize) {
        (self.labels, self.membership, self.confidence) = (vec![0; n], vec![1.0; n], vec![1.0; n]);
    }

    fn take_graph(&mut self, graph: crate::slices::SparseRows) {
        self.source = Source::Graph(std::sync::Arc::new(crate::graph::SparseGraph::of_rows(graph)));
    }
}
