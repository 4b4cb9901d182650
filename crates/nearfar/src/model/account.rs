//! How the default method came to its answer, and what labels new points.

use crate::learn::nearfar::Engine;
use crate::mixture::MixtureReport;
use crate::views::{Counted, View};

/// What labels a new point as one view sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Lens {
    /// Which view.
    pub view: View,
    /// How far it is trusted, 1 for the best.
    pub weight: f64,
    /// Trust in the nearest others, nearest first.
    pub near_weights: Vec<f64>,
    /// Local scales of the points in this view; `None` where affinities were given.
    pub sigma: Option<Vec<f64>>,
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
