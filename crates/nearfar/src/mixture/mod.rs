//! Is it a plain mixture? Where k groups of Gaussian or heavy-tailed shape explain the rows no graph is needed, and
//! none is as good.
//!
//! A mixture of k parts is fitted (`fit.rs`): numbers with full, tied, diagonal or spherical covariance, normal or
//! Student's t, times categories, one table a part; BIC chooses the kind. Then rows are drawn from it and two
//! questions are asked (`drawn.rs`): can nearest neighbours tell drawn rows from the data, and does the graph of
//! the data fall into k parts more sharply than that of drawn rows? If neither, the mixture explains the rows: its
//! labels are the answer and its posteriors the confidence.
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
use crate::input::Samples;
use crate::math::rng::Stream;
use crate::observe::{Observer, Stage, go_on};
use columns::{Columns, Table};
use drawn::Better;
use fit::{First, GraphStarts, TAILS, continued, covariances, posteriors, quick, starts};
use parts::{Block, Parts};

/// Rows that are worked on together; fixed, so that sums do not depend on the number of threads.
const BLOCK: usize = 256;
/// Rows that a mixture is fitted to, at most.
const MOST_ROWS: usize = 10_000;
/// Rows that the kind of the parts and their start are chosen on, at least; so many for each number of a part where
/// that is more.
const CHOOSING_ROWS: usize = 3_000;
const CHOOSING_ROWS_PER_NUMBER: usize = 3;
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
    /// T: the share of nearest neighbours of the same origin when the data and rows drawn from the mixture lie
    /// together; ½ where they cannot be told apart.
    pub told: f64,
    /// Modularity of the graph of the data, partitioned into as many clusters as there are parts; 0 where T alone
    /// decided.
    pub sharpness: f64,
    /// The same of drawn rows, the largest of the draws that were compared.
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
    /// The parts with what there is to say of them.
    fn reported(
        samples: &Samples<'_>,
        columns: Columns,
        table: &Table,
        parts: Parts,
        mut report: MixtureReport,
    ) -> (Self, MixtureReport) {
        let (used, certainty) = drawn::certainty(table, &parts);
        // A part that no row belongs to is no cluster.
        report.explains &= used == parts.k;
        (report.parts, report.covariance, report.tail) = (parts.k, parts.covariance, parts.tail);
        report.certainty = certainty;
        (Self { n_features: samples.n_features(), columns, parts }, report)
    }

    /// Posteriors of all parts for every row, n × k.
    ///
    /// # Errors
    /// When the rows do not have as many columns as those the mixture was fitted to, or the observer asks to stop.
    pub(crate) fn posteriors(&self, samples: &Samples<'_>, observer: &dyn Observer) -> Result<Vec<f64>> {
        Ok(self.posteriors_and_logs(samples, observer)?.0)
    }

    /// The same with the log of the density of every row.
    fn posteriors_and_logs(
        &self,
        samples: &Samples<'_>,
        observer: &dyn Observer,
    ) -> Result<(Vec<f64>, Vec<f64>)> {
        let (n, m) = (samples.n_samples(), samples.n_features());
        if m != self.n_features {
            let (expected, hint) = (self.n_features, "one for every feature it was fitted on");
            return Err(DataError::WrongWidth { found: m, expected, unit: "features", hint }.into());
        }
        let found: Result<Vec<(Vec<f64>, Vec<f64>)>> = (0..n.div_ceil(BLOCK))
            .into_par_iter()
            .map_init(Block::default, |block, b| {
                go_on(observer, Stage::Mixture)?;
                let rows = b * BLOCK..((b + 1) * BLOCK).min(n);
                let count = rows.len();
                let (numbers, codes) = self.columns.show_block(samples, rows);
                let posteriors = posteriors(&self.parts, &numbers, &codes, count, block);
                Ok((posteriors, block.log[..count].to_vec()))
            })
            .collect();
        let (posteriors, logs): (Vec<_>, Vec<_>) = found?.into_iter().unzip();
        Ok((posteriors.concat(), logs.concat()))
    }

    /// The likeliest part of every row, 0 to k − 1, and its posterior.
    ///
    /// # Errors
    /// As [`posteriors`](Self::posteriors).
    #[cfg(test)]
    pub(crate) fn label(
        &self,
        samples: &Samples<'_>,
        observer: &dyn Observer,
    ) -> Result<(Vec<u32>, Vec<f64>)> {
        let all = self.posteriors(samples, observer)?;
        Ok(all.chunks_exact(self.parts.k).map(largest).unzip())
    }
}

/// What labels rows by a mixture: the parts, and the cluster that each is.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub(crate) struct ByMixture {
    fit: Fit,
    label_of: Vec<u32>,
}

impl ByMixture {
    /// Posteriors of all clusters for every row, n × `n_clusters`, and the log of the density of every row.
    ///
    /// # Errors
    /// As [`Fit::posteriors`].
    pub(crate) fn shares(
        &self,
        rows: &Samples<'_>,
        n_clusters: usize,
        observer: &dyn Observer,
    ) -> Result<(Vec<f64>, Vec<f64>)> {
        let (posteriors, logs) = self.fit.posteriors_and_logs(rows, observer)?;
        let mut shares = vec![0.0; rows.n_samples() * n_clusters];
        let parts = posteriors.chunks_exact(self.fit.parts.k);
        for (shares, posteriors) in shares.chunks_exact_mut(n_clusters).zip(parts) {
            // Several parts may have been joined to one cluster.
            self.label_of.iter().zip(posteriors).for_each(|(label, r)| shares[*label as usize] += r);
        }
        Ok((shares, logs))
    }

    /// Every cluster becomes another one; several may become the same.
    pub(crate) fn relabel(&mut self, to: &[usize]) {
        self.label_of.iter_mut().for_each(|label| *label = to[*label as usize] as u32);
    }

    /// Numbers that a density is over.
    pub(crate) fn dimensions(&self) -> usize {
        self.fit.parts.m.max(1)
    }

    /// Whether every label is below this many clusters.
    pub(crate) fn fits(&self, n_clusters: usize, n_features: usize) -> bool {
        self.label_of.len() == self.fit.parts.k
            && self.fit.n_features == n_features
            && self.label_of.iter().all(|label| (*label as usize) < n_clusters)
    }
}

/// Rows labelled by a mixture, clusters numbered by first appearance.
pub(crate) struct Labelled {
    pub(crate) labels: Vec<usize>,
    /// n × k.
    pub(crate) membership: Vec<f64>,
    pub(crate) confidence: Vec<f64>,
    pub(crate) by: ByMixture,
}

impl Labelled {
    /// By these posteriors, n × k.
    pub(crate) fn of(posteriors: &[f64], fit: Fit) -> Self {
        let k = fit.parts.k;
        let mut label_of = vec![u32::MAX; k];
        let mut known = 0;
        let (mut labels, mut confidence) = (Vec::new(), Vec::new());
        for row in posteriors.chunks_exact(k) {
            let (part, sure) = largest(row);
            let label = &mut label_of[part as usize];
            if *label == u32::MAX {
                *label = known;
                known += 1;
            }
            labels.push(*label as usize);
            confidence.push(sure.clamp(0.0, 1.0));
        }
        // Parts that win no row follow in their order.
        for label in label_of.iter_mut().filter(|label| **label == u32::MAX) {
            *label = known;
            known += 1;
        }
        let mut membership = vec![0.0; posteriors.len()];
        for (row, posteriors) in membership.chunks_exact_mut(k).zip(posteriors.chunks_exact(k)) {
            label_of.iter().zip(posteriors).for_each(|(label, r)| row[*label as usize] = *r);
        }
        Self { labels, membership, confidence, by: ByMixture { fit, label_of } }
    }
}

/// The place of the largest posterior of a row, the first among equals, and its value.
fn largest(row: &[f64]) -> (u32, f64) {
    let first = (0, row.first().copied().unwrap_or(0.0));
    (1..).zip(&row[1..]).fold(first, |best, (at, r)| if *r > best.1 { (at, *r) } else { best })
}

/// At most `most` of n rows, in their order.
fn some_rows(n: usize, most: usize, seed: u64) -> Vec<u32> {
    chosen(&(0..n as u32).collect::<Vec<_>>(), most, seed)
}

/// At most `most` of these rows, in their order.
fn chosen(which: &[u32], most: usize, seed: u64) -> Vec<u32> {
    let mut which = which.to_vec();
    if which.len() > most {
        Stream::new(seed, SAMPLE_STREAM).shuffle(&mut which);
        which.truncate(most);
        which.sort_unstable();
    }
    which
}

/// Fit a mixture of k parts and test whether it explains the rows.
///
/// Nothing comes back where a mixture is out of the question: no column has a spread, there are fewer rows than
/// parts, or, for [`Effort::Test`], fewer than 15 rows for each part or more than 40 categories.
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
    let few = chosen(&which, CHOOSING_ROWS.max(CHOOSING_ROWS_PER_NUMBER * k * table.m), seed);
    let smaller = (few.len() < which.len()).then(|| columns.show(samples, &few));
    let chooser = smaller.as_ref().unwrap_or(&table);
    let (mut covariances, mut tails) = (covariances(chooser, k), TAILS.to_vec());
    let mut starts = starts(chooser, k, (STARTS, seed), observer)?;
    if k > 1
        && let Some(by_graph) = GraphStarts::new(chooser, k, seed, observer)?.at(k)
    {
        starts.insert(0, by_graph);
    }
    let given_up = |parts: Parts, told: f64, columns: Columns| {
        let report = MixtureReport { told, ..MixtureReport::default() };
        Ok(Some(Fit::reported(samples, columns, &table, parts, report)))
    };
    if effort == Effort::Test {
        let Some(quick) = quick(chooser, k, &covariances, &starts[..starts.len().min(2)], observer)? else {
            return Ok(None);
        };
        starts.swap(0, quick.start);
        if let Some(told) = drawn::out_of_reach(&table, &quick.best.parts, Better::Rounds, seed, observer)? {
            return given_up(quick.best.parts, told, columns);
        }
        (covariances, tails) = (quick.covariances, quick.tails);
    }
    let first = First::new(chooser, k, (&covariances, &tails), starts, observer)?;
    if effort == Effort::Test
        && let Some(best) = first.best()
        && let Some(told) = drawn::out_of_reach(&table, &best.parts, Better::Starts, seed, observer)?
    {
        return given_up(best.parts, told, columns);
    }
    let Some(mut fitted) = first.best_of_all(chooser, observer)? else { return Ok(None) };
    if smaller.is_some() {
        fitted = continued(&table, &fitted.parts, observer)?;
    }
    let report = drawn::test(&table, &fitted.parts, seed, observer)?;
    Ok(Some(Fit::reported(samples, columns, &table, fitted.parts, report)))
}
