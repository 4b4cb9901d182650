//! What parts of the default find by themselves: the controls that stand beside it in every study.

use crate::consensus::Consensus;
use crate::error::Result;
use crate::graph::SparseGraph;
use crate::input::Input;
use crate::learn::MethodParams;
use crate::learn::nearfar::members::Learner;
use crate::learn::nearfar::{Engine, LISTS, NearFarParams};
use crate::neighbors::nearest::listed;
use crate::observe::Observer;
use crate::params::Params;
use crate::partition::{Network, into_exactly};
use crate::slices::ranked::Ranked;
use crate::spectral;
use crate::tree::bridges::Bridges;
use crate::views::data::Data;
use crate::views::{LEAST_WEIGHT, View};

/// k-means starts of spectral clustering.
const RESTARTS: usize = 10;

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
    let (k, seed) = (params.n_clusters, params.seed);
    let model = crate::run::default::fit(
        input,
        &params.settle(input.n_samples(), input.n_features())?,
        None,
        observer,
    )?;
    let trust = model.account.as_ref().map(|account| account.views.clone()).unwrap_or_default();
    let weight = |view: View| trust.iter().find(|trust| trust.view == view).map_or(1.0, |trust| trust.weight);
    let data = Data::of(input, own.views, seed)?;
    let mut seen: Vec<(View, Ranked)> = Vec::new();
    if let Some(data) = &data {
        for &view in &data.views {
            let shown = data.shown(view);
            let rows = match &shown {
                Some(shown) => shown.samples(data.rows.n_samples(), data.rows.n_features())?,
                None => data.rows,
            };
            let listed = listed(&Input::Samples(rows, data.metric), LISTS, observer)?;
            seen.push((view, Ranked::new(&listed, LISTS)));
        }
    } else {
        seen.push((View::Raw, Ranked::new(&listed(input, LISTS, observer)?, LISTS)));
    }
    let bridges = |ranked, view| Bridges::new(ranked, view, input, data.as_ref());
    let mut found = Vec::new();
    for (view, ranked) in &seen {
        let network = Network::new(&ranked.start_graph());
        let labels = into_exactly(&network, k, seed.wrapping_mul(100), &bridges(ranked, *view));
        found.push(Control::new(format!("start {view}"), &labels));
    }
    found.push(Control { name: "graph engine".into(), labels: model.labels.clone() });
    let best =
        (0..seen.len()).fold(0, |best, at| if weight(seen[at].0) > weight(seen[best].0) { at } else { best });
    let together = |weight: &dyn Fn(View) -> f64| -> Result<Consensus> {
        let least = LEAST_WEIGHT[0];
        let trusted = seen.iter().filter(|(view, _)| weight(*view) >= least);
        let views: Vec<(View, f64, &Ranked)> =
            trusted.map(|(view, ranked)| (*view, weight(*view), ranked)).collect();
        let bridges: Vec<Bridges<'_>> =
            views.iter().map(|(view, _, ranked)| bridges(ranked, *view)).collect();
        let learner =
            Learner { views: &views, bridges: &bridges, k, seed, share: None, checkpoint: None, observer };
        Ok(Consensus::new(&views, &learner.learn()?))
    };
    let of_best = bridges(&seen[best].1, seen[best].0);
    let labelled = |graph| into_exactly(&Network::new(graph), k, seed, &of_best);
    let alone = together(&|view| f64::from(u8::from(view == seen[best].0)))?;
    found.push(Control::new("best view alone", &labelled(&alone.graph)));
    let equal = together(&|_| 1.0)?;
    found.push(Control::new("equal weights", &labelled(&equal.graph)));
    let whole = together(&weight)?;
    found.push(Control::new("mean graph", &labelled(&whole.mean)));
    let graph = SparseGraph::of_rows(whole.graph);
    let labels = spectral::cluster(&graph, k, RESTARTS, seed, observer)?.labels;
    found.push(Control { name: "spectral".into(), labels });
    Ok(found)
}
