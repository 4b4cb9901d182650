//! Is it a plain mixture? Where k groups of Gaussian or heavy-tailed shape explain the rows no graph is needed, and none is as good.
//!
//! A mixture of k parts is fitted (`fit.rs`): numbers with full, tied, diagonal or spherical covariance, normal or Student's t, times categories,
//! one table a part; BIC chooses the kind. Then rows are drawn from it and two questions are asked (`drawn.rs`): can nearest neighbours tell
//! drawn rows from the data, and does the graph of the data fall into k parts more sharply than that of drawn rows? If neither, the
//! mixture explains the rows: its labels are the answer and its posteriors the confidence.
//!
//! All this on at most [`MOST_ROWS`] rows; the fitted parts label all rows, and new ones.

mod columns;
mod count;
mod drawn;
mod fit;
mod parts;
#[cfg(test)]
mod tests;

use rayon::prelude::*;

pub(crate) use count::count_by_mixture;

use crate::error::{DataError, Result};
use crate::math::rng::Stream;
use crate::observe::{Observer, Stage, go_on};
use crate::samples::Samples;
use columns::Columns;
use fit::{First, TAILS, covariances, likeliest};
use parts::{Block, Parts};

/// Rows that are worked on together; fixed, so that sums do not depend on the number of threads.
const BLOCK: usize = 256;
/// Rows that a mixture is fitted to, at most.
const MOST_ROWS: usize = 10_000;
/// Rows for each part, at least.
const ROWS_PER_PART: usize = 15;
/// Runs of k-means that EM begins at.
const STARTS: usize = 5;
/// Stream of the rows that are looked at.
const SAMPLE_STREAM: u64 = 8 << 32;

/// What the parts of a mixture look like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Covariance {
    /// Every part has a shape of its own.
    #[default]
    Full,
    /// All parts have the same shape.
    Tied,
    /// Columns do not depend on each other within a part.
    Diag,
    /// The same spread in all directions.
    Spherical,
}

/// What was found when a mixture was tried.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct MixtureReport {
    /// Whether it explains the rows: both tests passed.
    pub explains: bool,
    /// Parts.
    pub parts: usize,
    /// Shape of the parts.
    pub covariance: Covariance,
    /// Degrees of freedom of Student's t; `None`: normal tails.
    pub tail: Option<f64>,
    /// T: the share of nearest neighbours of the same origin when the data and rows drawn from the mixture lie together; ½ where they cannot be told apart.
    pub told: f64,
    /// Modularity of the graph of the data, partitioned into as many clusters as there are parts; 0 where T alone decided.
    pub sharpness: f64,
    /// The same of drawn rows, the largest of up to three draws.
    pub drawn_sharpness: f64,
    /// Mean posterior of the likeliest part of a row, over the rows that the mixture was fitted to.
    pub certainty: f64,
}

/// How much is made of a mixture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    /// Only one that explains the rows is wanted: what cannot is given up early.
    Test,
    /// The best one is wanted, whether or not it explains the rows.
    Fit,
}

/// A fitted mixture, with all that new rows need.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Fit {
    /// Columns of the data.
    n_features: usize,
    /// How rows are prepared.
    columns: Columns,
    /// The parts.
    pub(crate) parts: Parts,
}

impl Fit {
    /// The likeliest part of every row, 0 to k − 1, and its posterior.
    ///
    /// # Errors
    /// When the rows do not have as many columns as those the mixture was fitted to, or the observer asks to stop.
    pub(crate) fn label(&self, samples: &Samples<'_>, observer: &dyn Observer) -> Result<(Vec<u32>, Vec<f64>)> {
        let (n, m) = (samples.n_samples(), samples.n_features());
        if m != self.n_features {
            let (expected, hint) = (self.n_features, "one for every feature it was fitted on");
            return Err(DataError::WrongWidth { found: m, expected, unit: "features", hint }.into());
        }
        let found: Result<Vec<Vec<(u32, f64)>>> = (0..n.div_ceil(BLOCK))
            .into_par_iter()
            .map_init(Block::default, |block, b| {
                go_on(observer, Stage::Learn)?;
                let rows = b * BLOCK..((b + 1) * BLOCK).min(n);
                let count = rows.len();
                let (numbers, codes) = self.columns.show_block(samples, rows);
                Ok(likeliest(&self.parts, &numbers, &codes, count, block))
            })
            .collect();
        Ok(found?.into_iter().flatten().unzip())
    }
}

/// At most `most` rows, in their order.
fn some_rows(n: usize, most: usize, seed: u64) -> Vec<u32> {
    let mut which: Vec<u32> = (0..n as u32).collect();
    if n > most {
        Stream::new(seed, SAMPLE_STREAM).shuffle(&mut which);
        which.truncate(most);
        which.sort_unstable();
    }
    which
}

/// Fit a mixture of k parts and test whether it explains the rows.
///
/// Nothing comes back where a mixture is out of the question: no column has a spread, there are fewer rows than parts, or, for [`Effort::Test`],
/// fewer than 15 rows for each part or more than 40 categories.
///
/// # Errors
/// When the observer asks to stop, or a value is not finite.
pub(crate) fn try_mixture(
    samples: &Samples<'_>,
    k: usize,
    seed: u64,
    effort: Effort,
    observer: &dyn Observer,
) -> Result<Option<(Fit, MixtureReport)>> {
    let n = samples.n_samples();
    let rows_per_part = if effort == Effort::Test { ROWS_PER_PART } else { 1 };
    if k == 0 || n < rows_per_part * k {
        return Ok(None);
    }
    let which = some_rows(n, MOST_ROWS.max(k), seed);
    let Some(columns) = Columns::of(samples, &which, effort == Effort::Test, observer)? else {
        return Ok(None);
    };
    let table = columns.show(samples, &which);
    let first = First::new(&table, k, &covariances(&table, k), &TAILS, (STARTS, seed), observer)?;
    let Some(mut fitted) = first.best() else { return Ok(None) };
    let mut report = MixtureReport::default();
    let mut hopeless = false;
    if effort == Effort::Test {
        (hopeless, report.told) = drawn::out_of_reach(&table, &fitted.parts, seed, observer)?;
    }
    if !hopeless {
        if let Some(best) = first.best_of_all(&table, observer)? {
            fitted = best;
        }
        report = drawn::test(&table, &fitted.parts, seed, observer)?;
    }
    let fit = Fit { n_features: samples.n_features(), columns, parts: fitted.parts };
    let (used, certainty) = drawn::certainty(&table, &fit.parts);
    report.explains &= used == k;
    let report = MixtureReport {
        parts: k,
        covariance: fit.parts.covariance,
        tail: fit.parts.tail,
        certainty,
        ..report
    };
    Ok(Some((fit, report)))
}
