//! The graph that a round hands to the next, never formed: S = Σ α_i Z_iZ_iᵀ by labels, or Σ α_i V_iV_iᵀ by factors.

use std::collections::HashMap;

use crate::graph::{to_columns, to_rows};
use crate::math::dense::{cross, times};
use crate::math::factor::Factor;
use crate::math::kernel::{norm2, vectorized};
use crate::slices::Graph;
use crate::spectral::eigen::Operator;

/// A residual below this share of ‖S‖² counts as this: at full agreement it goes to 0, and its inverse to infinity.
const LEAST_RESIDUAL: f64 = 1e-12;

/// α_i ∝ h_i^(−1/(τ − 1)), summing to 1, and the h they were made of. Found from logarithms, so that no τ above 1
/// overflows.
pub(super) fn weigh(h: &[f64], graph_norm2: f64, tau: f64) -> (Vec<f64>, Vec<f64>) {
    let least = (LEAST_RESIDUAL * graph_norm2).max(f64::MIN_POSITIVE);
    let h: Vec<f64> = h.iter().map(|h| h.max(least)).collect();
    let logarithm = |h: f64| -h.ln() / (tau - 1.0);
    let top = h.iter().map(|h| logarithm(*h)).fold(f64::NEG_INFINITY, f64::max);
    let mut weights: Vec<f64> = h.iter().map(|h| (logarithm(*h) - top).exp()).collect();
    let sum: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight /= sum);
    (weights, h)
}

/// The weighted sum of what the members say.
#[derive(Clone, Debug)]
pub(super) enum Votes {
    /// 1 where a member gives both ends the same label. Points on which no member differs are one group: members
    /// agree more with every round, and there are far fewer groups than points soon.
    Labels {
        /// The group of every point.
        group_of: Vec<usize>,
        /// Points of every group.
        sizes: Vec<f64>,
        /// The label of every group, per member.
        labels: Vec<Vec<usize>>,
        weights: Vec<f64>,
    },
    /// G Gᵀ, G = [√a₁V₁, √a₂V₂, …], n × `columns`, row-major.
    Factors { n: usize, columns: usize, values: Vec<f64> },
}

impl Votes {
    /// Σ α_i Z_iZ_iᵀ over its largest entry, which is any of the diagonal.
    pub(super) fn of_labels(labels: &[Vec<usize>], mut weights: Vec<f64>) -> Self {
        let sum: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= sum);
        let n = labels.first().map_or(0, Vec::len);
        let mut known: HashMap<Vec<usize>, usize> = HashMap::new();
        let (mut group_of, mut sizes) = (Vec::with_capacity(n), Vec::new());
        let mut of_groups = vec![Vec::new(); labels.len()];
        for i in 0..n {
            let pattern: Vec<usize> = labels.iter().map(|labels| labels[i]).collect();
            let group = *known.entry(pattern).or_insert_with(|| {
                of_groups.iter_mut().zip(labels).for_each(|(of_groups, labels)| of_groups.push(labels[i]));
                sizes.push(0.0);
                sizes.len() - 1
            });
            sizes[group] += 1.0;
            group_of.push(group);
        }
        Self::Labels { group_of, sizes, labels: of_groups, weights }
    }

    /// Σ α_i^τ V_iV_iᵀ / Σ α_i^τ, the exact minimum over S.
    pub(super) fn of_factors(factors: &[&Factor], weights: &[f64], tau: f64) -> Self {
        let n = factors.first().map_or(0, |factor| factor.n_samples());
        let powers: Vec<f64> = weights.iter().map(|weight| weight.powf(tau)).collect();
        let sum: f64 = powers.iter().sum();
        let mut side: Vec<f64> = Vec::new();
        for (factor, power) in factors.iter().zip(&powers) {
            let scale = (power / sum).sqrt();
            side.extend(factor.values().iter().map(|v| scale * v));
        }
        let columns = side.len() / n.max(1);
        Self::Factors { n, columns, values: to_rows(&side, n, columns) }
    }

    /// Product with a row-major n × r matrix.
    fn times_rows(&self, x: &[f64], r: usize) -> Vec<f64> {
        match self {
            Self::Factors { columns, values, .. } => {
                times(values, &cross(values, x, *columns, r), *columns, r)
            }
            Self::Labels { group_of, sizes, labels, weights } => vectorized(
                #[inline(always)]
                || {
                    let grouped = sum_by(group_of, sizes.len(), x, r);
                    let mut voted = vec![0.0; grouped.len()];
                    for (labels, weight) in labels.iter().zip(weights) {
                        add_vote(labels, *weight, &grouped, r, &mut voted);
                    }
                    group_of.iter().flat_map(|group| &voted[group * r..][..r]).copied().collect()
                },
            ),
        }
    }
}

/// Zᵀx: the sum over the rows of x (of length r) of each label.
#[inline(always)]
fn sum_by(labels: &[usize], clusters: usize, x: &[f64], r: usize) -> Vec<f64> {
    let mut sums = vec![0.0; clusters * r];
    for (label, x) in labels.iter().zip(x.chunks_exact(r)) {
        sums[label * r..][..r].iter_mut().zip(x).for_each(|(sum, x)| *sum += x);
    }
    sums
}

/// out += weight · ZZᵀx.
#[inline(always)]
fn add_vote(labels: &[usize], weight: f64, x: &[f64], r: usize, out: &mut [f64]) {
    let clusters = labels.iter().max().map_or(0, |most| most + 1);
    let mut sums = sum_by(labels, clusters, x, r);
    sums.iter_mut().for_each(|sum| *sum *= weight);
    for (label, out) in labels.iter().zip(out.chunks_exact_mut(r)) {
        out.iter_mut().zip(&sums[label * r..][..r]).for_each(|(out, sum)| *out += sum);
    }
}

/// ‖ZᵀZ'‖²: the squared sizes of all intersections, of groups of these sizes.
fn shared(a: &[usize], b: &[usize], sizes: &[f64]) -> f64 {
    let width = b.iter().max().map_or(0, |most| most + 1);
    let height = a.iter().max().map_or(0, |most| most + 1);
    let mut counts = vec![0.0; height * width];
    for ((a, b), size) in a.iter().zip(b).zip(sizes) {
        counts[a * width + b] += size;
    }
    norm2(&counts)
}

impl Operator for Votes {
    fn size(&self) -> usize {
        match self {
            Self::Labels { group_of, .. } => group_of.len(),
            Self::Factors { n, .. } => *n,
        }
    }

    fn apply(&self, x: &[f64], columns: usize, y: &mut [f64]) {
        let n = self.size();
        to_columns(&self.times_rows(&to_rows(x, n, columns), columns), n, columns, y);
    }
}

impl Graph for Votes {
    fn times(&self, factor: &Factor, out: &mut [f64]) {
        self.apply(factor.values(), factor.n_columns(), out);
    }

    fn quadratic(&self, d: &[f64]) -> f64 {
        let product = self.times_rows(d, 1);
        crate::math::kernel::dot(d, &product)
    }

    fn norm2(&self) -> f64 {
        match self {
            Self::Factors { columns, values, .. } => norm2(&cross(values, values, *columns, *columns)),
            Self::Labels { sizes, labels, weights, .. } => {
                let mut sum = 0.0;
                for (i, (a, wa)) in labels.iter().zip(weights).enumerate() {
                    sum += wa * wa * shared(a, a, sizes);
                    for (b, wb) in labels[..i].iter().zip(weights) {
                        sum += 2.0 * wa * wb * shared(a, b, sizes);
                    }
                }
                sum
            }
        }
    }

    fn degrees(&self) -> Vec<f64> {
        self.times_rows(&vec![1.0; self.size()], 1)
    }

    fn get(&self, i: usize, j: usize) -> f64 {
        match self {
            Self::Factors { columns, values, .. } => crate::math::kernel::dot(
                &values[i * columns..][..*columns],
                &values[j * columns..][..*columns],
            ),
            Self::Labels { group_of, labels, weights, .. } => {
                let (i, j) = (group_of[i], group_of[j]);
                labels.iter().zip(weights).filter(|(labels, _)| labels[i] == labels[j]).map(|(_, w)| w).sum()
            }
        }
    }

    fn clear(&mut self) {
        match self {
            Self::Labels { weights, .. } => weights.fill(0.0),
            Self::Factors { values, .. } => values.fill(0.0),
        }
    }
}
