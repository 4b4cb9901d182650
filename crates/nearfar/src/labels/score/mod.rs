//! How well labels agree with a known truth: five scores of one contingency table.
//!
//! Labels may be any ordered values (`usize`, `i64`, strings); only equality matters, names never do. There may be
//! more clusters than classes or fewer. Every score is 1 for equal partitions, trivial ones included, and the
//! cases that would be 0/0 are said at each function.

#[cfg(test)]
mod tests;

use crate::error::{DataError, Result};
use std::collections::BTreeMap;

/// How often cluster i and class j meet. Only pairs that meet are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contingency {
    /// (cluster, class, count), ordered, each count above 0.
    cells: Vec<(usize, usize, u64)>,
    clusters: Vec<u64>,
    classes: Vec<u64>,
    total: u64,
}

/// What the mutual information is divided by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Normalizer {
    /// (H(labels) + H(truth)) / 2, as in most papers and in scikit-learn.
    #[default]
    Arithmetic,
    /// √(H(labels) H(truth)).
    Geometric,
    /// The smaller entropy.
    Min,
    /// The larger entropy.
    Max,
    /// The entropy of both together.
    Joint,
}

/// Precision, recall and F of the statement "these two points belong together".
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct PairScore {
    /// Of the pairs put together, the part that belongs together; 1 when none were put together.
    pub precision: f64,
    /// Of the pairs that belong together, the part put together; 1 when none belong together.
    pub recall: f64,
    /// Harmonic mean of the two, as 2TP / (2TP + FP + FN); 1 when no pair is in either partition.
    pub f1: f64,
}

/// All scores; each is at most 1, and 1 for equal partitions.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Scores {
    /// Part of the samples on the best one-to-one matching of clusters and classes.
    pub accuracy: f64,
    /// Normalised mutual information, arithmetic mean.
    pub nmi: f64,
    /// Adjusted Rand index; may be below 0.
    pub ari: f64,
    /// Part of the samples in the commonest class of their cluster.
    pub purity: f64,
    /// F of pairs.
    pub pair_f1: f64,
}

/// All scores of `labels` against `truth`.
///
/// ```
/// use nearfar::labels::score::score;
/// let scores = score(&[1, 1, 0, 0], &["a", "a", "b", "b"])?;
/// assert_eq!((scores.accuracy, scores.ari), (1.0, 1.0));
/// # Ok::<(), nearfar::Error>(())
/// ```
///
/// # Errors
/// When the two differ in length or are empty.
pub fn score<A: Ord, B: Ord>(labels: &[A], truth: &[B]) -> Result<Scores> {
    let table = Contingency::new(labels, truth)?;
    Ok(Scores {
        accuracy: table.accuracy(),
        nmi: table.nmi(Normalizer::Arithmetic),
        ari: table.adjusted_rand(),
        purity: table.purity(),
        pair_f1: table.pairs().f1,
    })
}

/// Part of the samples on the best one-to-one matching of clusters and classes.
///
/// # Errors
/// When the two differ in length or are empty.
pub fn accuracy<A: Ord, B: Ord>(labels: &[A], truth: &[B]) -> Result<f64> {
    Ok(Contingency::new(labels, truth)?.accuracy())
}

/// Normalised mutual information; see [`Contingency::nmi`].
///
/// # Errors
/// When the two differ in length or are empty.
pub fn nmi<A: Ord, B: Ord>(labels: &[A], truth: &[B], normalizer: Normalizer) -> Result<f64> {
    Ok(Contingency::new(labels, truth)?.nmi(normalizer))
}

/// Adjusted Rand index; see [`Contingency::adjusted_rand`].
///
/// # Errors
/// When the two differ in length or are empty.
pub fn adjusted_rand<A: Ord, B: Ord>(labels: &[A], truth: &[B]) -> Result<f64> {
    Ok(Contingency::new(labels, truth)?.adjusted_rand())
}

/// Part of the samples in the commonest class of their cluster.
///
/// # Errors
/// When the two differ in length or are empty.
pub fn purity<A: Ord, B: Ord>(labels: &[A], truth: &[B]) -> Result<f64> {
    Ok(Contingency::new(labels, truth)?.purity())
}

/// Precision, recall and F of pairs.
///
/// # Errors
/// When the two differ in length or are empty.
pub fn pair_f1<A: Ord, B: Ord>(labels: &[A], truth: &[B]) -> Result<PairScore> {
    Ok(Contingency::new(labels, truth)?.pairs())
}

/// Each value's number among the distinct values, in their order, and how many there are.
fn number<T: Ord>(values: &[T]) -> (Vec<usize>, usize) {
    let mut distinct: Vec<&T> = values.iter().collect();
    distinct.sort_unstable();
    distinct.dedup();
    // Every value is among the distinct ones: its place is the number of those below it.
    let numbers = values.iter().map(|v| distinct.partition_point(|d| *d < v)).collect();
    (numbers, distinct.len())
}

/// Top of the tree that `i` stands in; halves the path on the way.
fn root(parent: &mut [usize], mut i: usize) -> usize {
    while parent[i] != i {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    i
}

fn pairs_of(count: u64) -> u128 {
    let count = u128::from(count);
    count * count.saturating_sub(1) / 2
}

fn entropy(counts: impl Iterator<Item = u64>, total: u64) -> f64 {
    let total = total as f64;
    let terms = counts.map(|c| c as f64 / total).map(|p| -p * p.ln());
    // Positive zero for a single part.
    terms.sum::<f64>().max(0.0)
}

impl Contingency {
    /// Count the pairs of values.
    ///
    /// # Errors
    /// When the two differ in length or are empty.
    pub fn new<A: Ord, B: Ord>(labels: &[A], truth: &[B]) -> Result<Self> {
        if labels.len() != truth.len() {
            return Err(DataError::LabelLengths { labels: labels.len(), truth: truth.len() }.into());
        }
        if labels.is_empty() {
            return Err(DataError::NoLabels.into());
        }
        let ((labels, n_clusters), (truth, n_classes)) = (number(labels), number(truth));
        let mut counts = BTreeMap::new();
        let (mut clusters, mut classes) = (vec![0; n_clusters], vec![0; n_classes]);
        for (i, j) in labels.iter().zip(&truth) {
            *counts.entry((*i, *j)).or_insert(0) += 1;
            clusters[*i] += 1;
            classes[*j] += 1;
        }
        let cells = counts.into_iter().map(|((i, j), count)| (i, j, count)).collect();
        Ok(Self { cells, clusters, classes, total: labels.len() as u64 })
    }

    /// The pairs that meet, as (cluster, class, count), numbered in the order of the values.
    #[must_use]
    pub fn cells(&self) -> &[(usize, usize, u64)] {
        &self.cells
    }

    /// Size of every cluster.
    #[must_use]
    pub fn clusters(&self) -> &[u64] {
        &self.clusters
    }

    /// Size of every class.
    #[must_use]
    pub fn classes(&self) -> &[u64] {
        &self.classes
    }

    /// Part of the samples on the best one-to-one matching of clusters and classes; clusters or classes left over
    /// count as wrong.
    #[must_use]
    pub fn accuracy(&self) -> f64 {
        self.components().iter().map(|cells| matched(cells)).sum::<u64>() as f64 / self.total as f64
    }

    /// Clusters and classes that never meet cannot help each other: split the table into connected parts, so that
    /// the matching stays small even when every sample has a label of its own.
    fn components(&self) -> Vec<Vec<(usize, usize, u64)>> {
        let n_clusters = self.clusters.len();
        let mut parent: Vec<usize> = (0..n_clusters + self.classes.len()).collect();
        for (i, j, _) in &self.cells {
            let (a, b) = (root(&mut parent, *i), root(&mut parent, n_clusters + j));
            parent[a.max(b)] = a.min(b);
        }
        let mut parts: BTreeMap<usize, Vec<_>> = BTreeMap::new();
        for cell in &self.cells {
            parts.entry(root(&mut parent, cell.0)).or_default().push(*cell);
        }
        parts.into_values().collect()
    }

    /// Mutual information over the chosen mean of the entropies.
    ///
    /// One part on both sides: 1, the partitions are equal. One part on one side only: 0, nothing is known. (Some
    /// normalisers would be 0/0 there.)
    #[must_use]
    pub fn nmi(&self, normalizer: Normalizer) -> f64 {
        match (self.clusters.len(), self.classes.len()) {
            (1, 1) => return 1.0,
            (1, _) | (_, 1) => return 0.0,
            _ => {}
        }
        let total = self.total as f64;
        let information: f64 = self
            .cells
            .iter()
            .map(|(i, j, count)| {
                let (count, a, b) = (*count as f64, self.clusters[*i] as f64, self.classes[*j] as f64);
                count / total * ((count / a) * (total / b)).ln()
            })
            .sum();
        let a = entropy(self.clusters.iter().copied(), self.total);
        let b = entropy(self.classes.iter().copied(), self.total);
        let mean = match normalizer {
            Normalizer::Arithmetic => 0.5 * (a + b),
            Normalizer::Geometric => (a * b).sqrt(),
            Normalizer::Min => a.min(b),
            Normalizer::Max => a.max(b),
            Normalizer::Joint => entropy(self.cells.iter().map(|cell| cell.2), self.total),
        };
        // Rounding must not carry it outside.
        (information / mean).clamp(0.0, 1.0)
    }

    /// Rand index, corrected so that chance gives 0.
    ///
    /// 1 when there is nothing to correct: one part on both sides, or only single samples on both.
    #[must_use]
    pub fn adjusted_rand(&self) -> f64 {
        let (together, labels, truth) = self.pair_counts();
        if together == labels && together == truth {
            return 1.0;
        }
        let all = pairs_of(self.total) as f64;
        let (together, labels, truth) = (together as f64, labels as f64, truth as f64);
        let expected = labels / all * truth;
        (together - expected) / (0.5 * (labels + truth) - expected)
    }

    /// Part of the samples in the commonest class of their cluster.
    #[must_use]
    pub fn purity(&self) -> f64 {
        let mut most = vec![0; self.clusters.len()];
        for (i, _, count) in &self.cells {
            most[*i] = *count.max(&most[*i]);
        }
        most.iter().sum::<u64>() as f64 / self.total as f64
    }

    /// Precision, recall and F of pairs.
    #[must_use]
    pub fn pairs(&self) -> PairScore {
        let (together, labels, truth) = self.pair_counts();
        let part = |of: u128| if of == 0 { 1.0 } else { together as f64 / of as f64 };
        let f1 = if labels + truth == 0 { 1.0 } else { 2.0 * together as f64 / (labels + truth) as f64 };
        PairScore { precision: part(labels), recall: part(truth), f1 }
    }

    /// Pairs together in both, in the labels, in the truth.
    fn pair_counts(&self) -> (u128, u128, u128) {
        let sum = |counts: &[u64]| counts.iter().map(|c| pairs_of(*c)).sum();
        let both = self.cells.iter().map(|cell| pairs_of(cell.2)).sum();
        (both, sum(&self.clusters), sum(&self.classes))
    }
}

/// Samples on the best matching within one connected part of the table.
fn matched(cells: &[(usize, usize, u64)]) -> u64 {
    let (rows, n_rows) = number(&cells.iter().map(|cell| cell.0).collect::<Vec<_>>());
    let (columns, n_columns) = number(&cells.iter().map(|cell| cell.1).collect::<Vec<_>>());
    if n_rows == 1 || n_columns == 1 {
        return cells.iter().map(|cell| cell.2).max().unwrap_or(0);
    }
    let mut counts = vec![0.0; n_rows * n_columns];
    for ((i, j), cell) in rows.iter().zip(&columns).zip(cells) {
        counts[i * n_columns + j] = cell.2 as f64;
    }
    // Counts are finite, so there is always a matching.
    lsap::get_assigned_cost(n_rows, n_columns, &counts, true).map_or(0, |best| best as u64)
}
