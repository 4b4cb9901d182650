//! How far a view is to be trusted, without labels: the modularity of its clusters beside that of the same values
//! with every column shuffled by itself.

use rayon::prelude::*;

use crate::error::Result;
use crate::input::{Input, Metric, Samples};
use crate::math::rng::Stream;
use crate::neighbors::nearest::{Listed, listed};
use crate::observe::Observer;
use crate::partition::{Network, fine};
use crate::slices::ranked::Ranked;
use crate::tree::{MergeTree, Nothing};
use crate::views::{Shown, Standard, View};

/// Neighbours that are looked up where only modularity is asked for.
pub(crate) const JUDGING_LISTS: usize = 30;
/// Edges between two clusters that mean nothing.
const CHANCE_EDGES: f64 = 2.0;
/// Stream of the shuffled columns.
const SHUFFLE_STREAM: u64 = 6 << 32;

/// Modularity with 1, 2, … clusters: of the data, and of shuffled columns.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Curve {
    /// Of the data.
    pub quality: Vec<f64>,
    /// Of the same values without groups.
    pub null: Vec<f64>,
    /// The resolution at which 2, 3, … clusters of the data become one fewer.
    #[serde(default)]
    pub joins: Vec<f64>,
    /// The resolution that one edge makes between two clusters that hold all points: between two of k it makes k²/4
    /// times as much.
    #[serde(default)]
    pub edge: f64,
}

impl Curve {
    /// Both with k clusters, where both have so many.
    pub(crate) fn at(&self, k: usize) -> Option<(f64, f64)> {
        Some((*self.quality.get(k.checked_sub(1)?)?, *self.null.get(k - 1)?))
    }

    /// The null gap with k clusters.
    pub(crate) fn gap(&self, k: usize) -> Option<f64> {
        self.at(k).map(|(quality, null)| quality - null)
    }

    /// The largest gap with 2 clusters or more.
    pub(crate) fn largest_gap(&self) -> f64 {
        (2..=self.quality.len()).filter_map(|k| self.gap(k)).fold(f64::NEG_INFINITY, f64::max)
    }

    /// How far the resolution falls at k clusters: the logarithm of the one at which k + 1 become k over that at
    /// which k become k − 1.
    ///
    /// Clusters cut in two have many edges across, true ones have few: at their number the resolution falls most.
    /// Both resolutions are taken as if a few edges more ran across, so that none is 0 and a handful of edges
    /// decides nothing.
    pub(crate) fn fall(&self, k: usize) -> Option<f64> {
        let (low, high) = (self.joins.get(k.checked_sub(2)?)?, self.joins.get(k - 1)?);
        let chance = CHANCE_EDGES * self.edge * (k * k) as f64 / 4.0;
        let fall = (high + chance).ln() - (low + chance).ln();
        fall.is_finite().then_some(fall)
    }

    /// What a view is weighed by with k clusters: its quality, of what the null leaves open.
    pub(crate) fn mark(&self, k: usize) -> f64 {
        self.at(k).map_or(-1.0, |(quality, null)| (quality - null / 2.0) / (1.0 - null / 2.0))
    }
}

/// Modularity with 1 to `most` clusters of a graph, and at which resolutions they are joined.
#[derive(Default)]
struct Along {
    quality: Vec<f64>,
    joins: Vec<f64>,
    edge: f64,
}

impl Along {
    fn new(network: &Network, most: usize, seed: u64) -> Self {
        let most = most.min(network.n_nodes());
        let tree = MergeTree::new(network, &fine(network, most, seed), &Nothing);
        let mut quality = tree.modularities(network);
        quality.truncate(most);
        let joins = tree.merges().iter().rev().take(most).map(|merge| merge.resolution).collect();
        // Weight 1 of 2E in all (both ends counted), between two halves: 1/2E over (1/2)².
        Self { quality, joins, edge: 2.0 / network.n_edges().max(1) as f64 }
    }

    /// The mean modularity of several at every number of clusters: where one has joined badly the others have not.
    fn mean_of(all: Vec<Self>) -> Self {
        let share = 1.0 / all.len().max(1) as f64;
        let added = |mut sum: Self, other: Self| {
            sum.quality.truncate(other.quality.len());
            sum.quality.iter_mut().zip(&other.quality).for_each(|(sum, q)| *sum += q);
            sum
        };
        let mut mean = all.into_iter().reduce(added).unwrap_or_default();
        mean.quality.iter_mut().for_each(|q| *q *= share);
        mean
    }

    fn with(self, null: Self) -> Curve {
        Curve { quality: self.quality, null: null.quality, joins: self.joins, edge: self.edge }
    }
}

/// The curve of some rows of a view, and the lists of so many neighbours that it was found by; the null is the mean
/// of so many shuffles.
pub(crate) fn curve(
    samples: &Samples<'_>,
    which: &[u32],
    (view, standard): (View, &Standard),
    (lists, most, seed, shuffles): (usize, usize, u64, u64),
    observer: &dyn Observer,
) -> Result<(Curve, Listed)> {
    let (n, m) = (which.len(), samples.n_features());
    let of = |shown: &Shown, lists: usize| -> Result<(Along, Listed)> {
        let input = Input::Samples(shown.samples(n, m)?, Metric::Euclidean);
        let listed = listed(&input, lists, observer)?;
        let graph = Ranked::new(&listed, lists).start_graph();
        Ok((Along::new(&Network::new(&graph), most, seed), listed))
    };
    let shown = Shown::rows(samples, which, view, standard);
    let null_of = |shuffle: u64| -> Result<Along> {
        let mut shuffled = shown.clone();
        shuffled.shuffle_columns(m, &mut Stream::new(seed, SHUFFLE_STREAM + shuffle));
        Ok(of(&shuffled, JUDGING_LISTS)?.0)
    };
    let nulls = || (0..shuffles).into_par_iter().map(null_of).collect::<Result<Vec<Along>>>();
    let (found, nulls) = rayon::join(|| of(&shown, lists), nulls);
    let (quality, listed) = found?;
    Ok((quality.with(Along::mean_of(nulls?)), listed))
}

/// The curve of pairs, of which there are no columns to shuffle: the ends of the edges are dealt out anew instead.
pub(crate) fn curve_of_pairs(ranked: &Ranked, most: usize, seed: u64) -> Curve {
    let network = Network::new(&ranked.start_graph());
    let null = Network::new(&network.rewired(&mut Stream::new(seed, SHUFFLE_STREAM)));
    let (quality, null) = rayon::join(|| Along::new(&network, most, seed), || Along::new(&null, most, seed));
    quality.with(null)
}

/// The starting graph of some rows.
pub(crate) fn start_network(rows: &[f64], n: usize, m: usize, observer: &dyn Observer) -> Result<Network> {
    let input = Input::Samples(Samples::from_rows(rows, n, m)?, Metric::Euclidean);
    let ranked = Ranked::new(&listed(&input, JUDGING_LISTS, observer)?, JUDGING_LISTS);
    Ok(Network::new(&ranked.start_graph()))
}

/// Modularity of the partition into k of the starting graph of some rows.
pub(crate) fn sharpness(
    rows: &[f64],
    n: usize,
    m: usize,
    k: usize,
    seed: u64,
    observer: &dyn Observer,
) -> Result<f64> {
    let network = start_network(rows, n, m, observer)?;
    Ok(network.modularity(&crate::partition::into_exactly(&network, k, seed, &Nothing), 1.0))
}
