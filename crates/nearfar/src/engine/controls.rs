//! What parts of the default find by themselves: the controls that stand beside it in every study.

use super::consensus::Consensus;
use super::members::Learner;
use super::ranked::Ranked;
use super::{Across, Engine, LEAST_WEIGHT, LISTS, NearFarParams};
use crate::error::Result;
use crate::graph::SparseGraph;
use crate::labels::kmeans::QUICK_RESTARTS;
use crate::neighbors::nearest::listed;
use crate::neighbors::{Input, Metric};
use crate::observe::Observer;
use crate::params::{MethodParams, Params};
use crate::partition::{Network, into_exactly};
use crate::spectral;
use crate::views::{Shown, Standard, View, worth_a_look};

/// One control.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Control {
    /// What it is called in tables.
    pub name: String,
    /// Labels, numbered by first appearance.
    pub labels: Vec<usize>,
}

impl Control {
    fn new(name: impl Into<String>, labels: &[u32]) -> Self {
        Self { name: name.into(), labels: labels.iter().map(|label| *label as usize).collect() }
    }
}

/// All controls for this input, into as many clusters as `params` says:
///
/// - `start VIEW`: exactly k clusters of the starting graph of one view, without learning and without consensus;
/// - `graph engine`: the default without its mixture step;
/// - `best view alone`: members and consensus of the view with the largest mark;
/// - `equal weights`: members and consensus of all views, each counted the same;
/// - `mean graph`: members of the trusted views, their graphs averaged, but no edge weighed by the members' agreement;
/// - `spectral`: spectral clustering of the consensus graph in place of its partition.
///
/// # Errors
/// As [`crate::fit`].
pub fn controls(input: &Input<'_>, params: &Params, observer: &dyn Observer) -> Result<Vec<Control>> {
    let mut params = params.clone();
    let own = NearFarParams { engine: Engine::Graph, ..params.nearfar() };
    params.method = MethodParams::NearFar(own);
    let (n, k, seed) = (input.n_samples(), params.n_clusters, params.seed);
    let model = super::fit(input, &params, observer)?;
    let trust = model.account.as_ref().map(|account| account.views.clone()).unwrap_or_default();
    let weight = |view: View| trust.iter().find(|trust| trust.view == view).map_or(1.0, |trust| trust.weight);
    let mut standard = Standard::default();
    let mut seen: Vec<(View, Ranked)> = Vec::new();
    if let Input::Samples(samples, metric) = input {
        let spreads = samples.spreads();
        standard = Standard::new(&spreads);
        let views = match metric {
            Metric::Cosine => vec![View::Unit],
            Metric::Euclidean => worth_a_look(samples, &spreads, own.views),
        };
        let everybody: Vec<u32> = (0..n as u32).collect();
        for view in views {
            let shown = Shown::rows(samples, &everybody, view, &standard);
            let rows = Input::Samples(shown.samples(n, samples.n_features())?, Metric::Euclidean);
            seen.push((view, Ranked::new(&listed(&rows, LISTS, observer)?, LISTS)));
        }
    } else {
        seen.push((View::Raw, Ranked::new(&listed(input, LISTS, observer)?, LISTS)));
    }
    let across = |view: View| Across { input, view, standard: &standard };
    let mut found = Vec::new();
    for (view, ranked) in &seen {
        let network = Network::new(&ranked.start_graph());
        let labels = into_exactly(&network, k, seed.wrapping_mul(100), &across(*view));
        found.push(Control::new(format!("start {view}"), &labels));
    }
    found.push(Control { name: "graph engine".into(), labels: model.labels.clone() });
    let best = seen.iter().fold(seen[0].0, |best, (view, _)| if weight(*view) > weight(best) { *view } else { best });
    let together = |weight: &dyn Fn(View) -> f64| -> Result<Consensus> {
        let least = LEAST_WEIGHT[0];
        let trusted = seen.iter().filter(|(view, _)| weight(*view) >= least);
        let views: Vec<(View, f64, &Ranked)> = trusted.map(|(view, ranked)| (*view, weight(*view), ranked)).collect();
        let members = Learner { views: &views, k, seed, observer }.learn(&across)?;
        Ok(Consensus::new(&views, &members))
    };
    let labelled = |graph| into_exactly(&Network::new(graph), k, seed, &across(best));
    let alone = together(&|view| f64::from(u8::from(view == best)))?;
    found.push(Control::new("best view alone", &labelled(&alone.graph)));
    let equal = together(&|_| 1.0)?;
    found.push(Control::new("equal weights", &labelled(&equal.graph)));
    let whole = together(&weight)?;
    found.push(Control::new("mean graph", &labelled(&whole.mean)));
    let graph = SparseGraph::of_rows(whole.graph);
    let labels = spectral::cluster(&graph, k, QUICK_RESTARTS, seed, observer)?.labels;
    found.push(Control { name: "spectral".into(), labels });
    Ok(found)
}
