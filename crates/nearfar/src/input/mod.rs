//! What a run works on: samples with a metric, distances, affinities or neighbour lists.

mod samples;

pub use samples::{Samples, Spread, Values};

use crate::neighbors::NeighborLists;
use crate::plan::Held;
use crate::processes::Share;

/// How far apart two samples are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Metric {
    /// ‖x − y‖.
    #[default]
    Euclidean,
    /// ‖x/‖x‖ − y/‖y‖‖ = √(2 − 2 cos): the chord between directions, in the order of the cosine.
    Cosine,
}

/// What the ranking starts from.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Input<'a> {
    /// Samples and a metric.
    Samples(Samples<'a>, Metric),
    /// A symmetric n × n matrix of distances with zero diagonal.
    Distances(Samples<'a>),
    /// A symmetric n × n matrix of affinities, 0 or more; its diagonal is not looked at.
    Affinities(Samples<'a>),
    /// For every point its K nearest others with distances.
    Neighbors(NeighborLists<'a>),
    /// The rows of this process, of samples that a team of processes holds together, and whose rows are whose.
    Part(Samples<'a>, Metric, &'a Share),
}

impl<'a> From<Samples<'a>> for Input<'a> {
    fn from(samples: Samples<'a>) -> Self {
        Self::Samples(samples, Metric::Euclidean)
    }
}

impl<'a> From<&Input<'a>> for Input<'a> {
    fn from(input: &Input<'a>) -> Self {
        *input
    }
}

impl Input<'_> {
    /// Number of samples, n.
    pub fn n_samples(&self) -> usize {
        match self {
            Self::Samples(x, _) | Self::Distances(x) | Self::Affinities(x) => x.n_samples(),
            Self::Neighbors(lists) => lists.n_samples(),
            Self::Part(_, _, share) => share.n_rows(),
        }
    }

    /// Whose rows are whose, where processes hold a part each.
    pub fn share(&self) -> Option<&Share> {
        if let Self::Part(_, _, share) = self { Some(share) } else { None }
    }

    /// How the samples are held; pairs count as doubles.
    pub fn held(&self) -> Held {
        match self {
            Self::Samples(x, metric) | Self::Part(x, metric, _) => x.held(*metric),
            _ => Held::Double,
        }
    }

    /// Number of features, or 0 where the input is pairwise.
    pub fn n_features(&self) -> usize {
        match self {
            Self::Samples(x, _) | Self::Part(x, _, _) => x.n_features(),
            _ => 0,
        }
    }
}
