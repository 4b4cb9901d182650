//! A member: one start, and what came of it.

use super::lsdg::objective::{Coefficients, Objective};
use super::{Learned, StopReason};
use crate::error::Error;
use crate::math::factor::Factor;
use crate::observe::Stage;

/// Streams of the seed, so that members and stages draw independent numbers.
pub(crate) const MEMBER_STREAM: u64 = 1 << 32;

/// One start and what came of it.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Member {
    /// Whether it started from spectral clustering.
    pub spectral_start: bool,
    /// The view it was learnt on, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub view: Option<crate::views::View>,
    /// Ranks it was to trust, where that was set.
    pub neighbors: Option<usize>,
    /// α, β, μ and η in force at the end.
    pub coefficients: Coefficients,
    /// V.
    #[serde(skip)]
    pub factor: Factor,
    /// w.
    #[serde(skip)]
    pub near_weights: Vec<f64>,
    /// p.
    #[serde(skip)]
    pub far_weights: Vec<f64>,
    /// The loop that made the starting V; the only loop of methods other than LSDG.
    pub started: Learned,
    /// The main loop; `None` for methods of one loop.
    pub learned: Option<Learned>,
    /// The true objective of the state that is returned.
    pub objective: Objective,
    /// Labels of this member alone, where it was judged.
    #[serde(skip)]
    pub labels: Option<Vec<usize>>,
    /// Labels of each of the last round's factors, where the method has several that count the same (S³NMF); else
    /// empty.
    #[serde(skip)]
    pub votes: Vec<Vec<usize>>,
    /// Normalised cut of these labels on the starting graph; smaller is better.
    pub cut: Option<f64>,
    /// Whether it is part of the result.
    pub kept: bool,
    /// Columns of V that are zero.
    pub dead_columns: usize,
}

impl Member {
    /// The loop whose end is the member's end.
    pub fn last_loop(&self) -> &Learned {
        self.learned.as_ref().unwrap_or(&self.started)
    }

    /// Whether the observer ended it early.
    pub(crate) fn stopped(&self) -> bool {
        [Some(&self.started), self.learned.as_ref()]
            .into_iter()
            .flatten()
            .any(|learned| learned.reason == StopReason::Stopped)
    }

    pub(crate) fn collapsed(&self) -> bool {
        self.factor.norm2() == 0.0 || self.last_loop().reason == StopReason::Collapsed
    }
}

/// The column of the largest entry in every row of V.
pub(crate) fn row_argmax(factor: &Factor) -> Vec<usize> {
    let r = factor.n_columns();
    (0..factor.n_samples())
        .map(|i| (1..r).fold(0, |best, j| if factor.get(i, j) > factor.get(i, best) { j } else { best }))
        .collect()
}

/// Spectral clustering of a member's graph is part of learning.
pub(crate) fn while_learning(error: Error) -> Error {
    match error {
        Error::Cancelled { .. } => Error::Cancelled { stage: Stage::Learn.name() },
        other => other,
    }
}
