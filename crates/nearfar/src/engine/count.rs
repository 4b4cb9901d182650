//! How many clusters: the number at which the clusters of the data stand out most against those of shuffled columns.

use super::TAU;
use super::judge::Curve;

/// A gap that shuffled data reaches by chance.
const BY_CHANCE: f64 = 0.02;

/// How the number of clusters was found.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct Counted {
    /// The number; 1 where nothing stands out.
    pub found: usize,
    /// The next best numbers.
    pub others: Vec<usize>,
    /// Mean null gap over the views, of 2, 3, … clusters.
    pub gaps: Vec<f64>,
    /// Whether there are groups at all: the largest gap exceeds what chance gives.
    pub groups: bool,
    /// Whether a mixture that explains the rows has so many parts; else the null gap decided.
    #[serde(default)]
    pub by_mixture: bool,
}

impl Counted {
    /// By the null gap of the views, each counted by its own largest one.
    pub(super) fn by_gap(curves: &[&Curve], n: usize) -> Self {
        let top: Vec<f64> = curves.iter().map(|curve| curve.largest_gap()).collect();
        let best = top.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let shares: Vec<f64> = top.iter().map(|top| ((top - best) / TAU).exp()).collect();
        let most = curves.iter().map(|curve| curve.quality.len().min(curve.null.len())).min().unwrap_or(0);
        let total: f64 = shares.iter().sum();
        let gap = |k: usize| -> f64 {
            let each = curves.iter().zip(&shares).map(|(curve, share)| share * curve.gap(k).unwrap_or(0.0));
            each.sum::<f64>() / total
        };
        let gaps: Vec<f64> = (2..=most.min(n.saturating_sub(1))).map(gap).collect();
        let mut order: Vec<usize> = (0..gaps.len()).collect();
        order.sort_by(|a, b| gaps[*b].total_cmp(&gaps[*a]).then(a.cmp(b)));
        let groups = order.first().is_some_and(|first| gaps[*first] > BY_CHANCE);
        let mut numbers = order.iter().map(|at| at + 2);
        let found = if groups { numbers.next().unwrap_or(1) } else { 1 };
        let others = numbers.take(2).collect();
        Self { found, others, gaps, groups, by_mixture: false }
    }

    /// The same where a mixture of so many parts explains the rows: what the gap had found is the next best.
    pub(super) fn by_mixture(self, parts: usize) -> Self {
        let first = self.groups.then_some(self.found);
        let others = first.into_iter().chain(self.others).filter(|k| *k != parts).take(2).collect();
        Self { found: parts, others, gaps: self.gaps, groups: true, by_mixture: true }
    }
}
