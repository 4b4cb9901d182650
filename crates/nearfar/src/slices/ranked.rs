//! Slices of nearest neighbours, the graphs made of them, and the weights learnt from labels: the (w, p) step of
//! the paper with a hard factor.

use rayon::prelude::*;

use crate::math::simplex;
use crate::neighbors::nearest::Listed;
use crate::partition::grouped;
use crate::slices::{RowBlock, SparseRows};

/// Rows that one task works on; fixed, so that sums do not depend on the number of threads.
const ROWS: usize = 1024;

/// For every point its K nearest others, with normalised slices: a_ik = κ(x_i, its k-th neighbour) / ‖slice k‖.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranked {
    pub(crate) n: usize,
    pub(crate) k: usize,
    /// n × k: who they are, nearest first.
    pub(crate) indices: Vec<u32>,
    /// n × k: normalised affinities.
    pub(crate) slices: Vec<f64>,
    /// What a slice was divided by: κ = slice × norm.
    pub(crate) norms: Vec<f64>,
}

/// Points in parts that are taken as they are.
#[derive(Clone, Debug)]
pub(crate) struct Parts {
    /// The part of every point.
    pub(crate) of: Vec<u32>,
    starts: Vec<usize>,
    members: Vec<u32>,
}

impl Parts {
    /// By the part of every point, of so many.
    pub(crate) fn new(of: Vec<u32>, count: usize) -> Self {
        let (starts, members) = grouped(&of, count);
        Self { of, starts, members }
    }

    pub(crate) fn count(&self) -> usize {
        self.starts.len() - 1
    }

    fn members(&self, part: usize) -> &[u32] {
        &self.members[self.starts[part]..self.starts[part + 1]]
    }
}

impl Ranked {
    /// Of lists with squared distances and local scales (or with exponents).
    pub(crate) fn new(listed: &Listed, k: usize) -> Self {
        let (lists, k) = (&listed.lists, k.min(listed.lists.k));
        let n = lists.indices.len().checked_div(lists.k).unwrap_or(0);
        let mut indices = Vec::with_capacity(n * k);
        let mut slices = Vec::with_capacity(n * k);
        for i in 0..n {
            let (others, values) = lists.row(i);
            indices.extend_from_slice(&others[..k]);
            slices.extend(others[..k].iter().zip(values).map(|(j, value)| match &listed.sigma {
                // In this order no factor over- or underflows before the other can make up for it.
                Some(sigma) => -(value / sigma[i]) / sigma[*j as usize],
                None => -value,
            }));
        }
        // Relative to the largest of a slice, so that none is ever zero throughout.
        let largest = by_rank(&slices, k, f64::NEG_INFINITY, f64::max);
        slices.par_chunks_mut(k.max(1)).for_each(|row| {
            row.iter_mut().zip(&largest).for_each(|(x, most)| *x = (*x - most).exp());
        });
        let squares = sums(&slices, k, |x, _| x * x);
        let norms: Vec<f64> = squares.iter().map(|s| s.sqrt()).collect();
        slices.par_chunks_mut(k.max(1)).for_each(|row| {
            row.iter_mut().zip(&norms).for_each(|(x, norm)| *x /= norm);
        });
        let norms = norms.iter().zip(&largest).map(|(norm, most)| norm * most.exp()).collect();
        Self { n, k, indices, slices, norms }
    }

    /// Ranks that everybody starts with: ⌊log₂ n⌋ + 1.
    pub(crate) fn start_ranks(&self) -> usize {
        (self.n.max(1).ilog2() as usize + 1).min(self.k)
    }

    /// sym Σ_k t_k A⁽ᵏ⁾ over the ranks with weight.
    pub(crate) fn graph(&self, weights: &[f64]) -> SparseRows {
        let on: Vec<usize> = (0..self.k.min(weights.len())).filter(|k| weights[*k] > 0.0).collect();
        let value = |i: usize, rank: usize| weights[rank] * self.slices[i * self.k + rank];
        // Who names a point, in their order.
        let mut starts = vec![0_usize; self.n + 1];
        for i in 0..self.n {
            on.iter().for_each(|rank| starts[self.indices[i * self.k + rank] as usize + 1] += 1);
        }
        for j in 0..self.n {
            starts[j + 1] += starts[j];
        }
        let mut next = starts.clone();
        let mut named_by = vec![(0_u32, 0_u16); starts[self.n]];
        for i in 0..self.n {
            for &rank in &on {
                let place = &mut next[self.indices[i * self.k + rank] as usize];
                named_by[*place] = (i as u32, rank as u16);
                *place += 1;
            }
        }
        let blocks: Vec<RowBlock> = (0..self.n.div_ceil(ROWS))
            .into_par_iter()
            .map(|block| {
                let (mut lengths, mut columns, mut values) = (Vec::new(), Vec::new(), Vec::new());
                let mut own: Vec<(u32, f64)> = Vec::new();
                for i in block * ROWS..((block + 1) * ROWS).min(self.n) {
                    own.clear();
                    own.extend(on.iter().map(|rank| (self.indices[i * self.k + rank], value(i, *rank))));
                    own.sort_unstable_by_key(|(j, _)| *j);
                    let others = &named_by[starts[i]..starts[i + 1]];
                    let before = columns.len();
                    let (mut a, mut b) = (0, 0);
                    while a < own.len() || b < others.len() {
                        let (ours, theirs) = (own.get(a).map(|e| e.0), others.get(b).map(|e| e.0));
                        let j = ours.unwrap_or(u32::MAX).min(theirs.unwrap_or(u32::MAX));
                        let (mut out, mut back) = (0.0, 0.0);
                        if ours == Some(j) {
                            out = own[a].1;
                            a += 1;
                        }
                        if theirs == Some(j) {
                            back = value(j as usize, others[b].1 as usize);
                            b += 1;
                        }
                        columns.push(j);
                        values.push(0.5 * (out + back));
                    }
                    lengths.push(columns.len() - before);
                }
                (lengths, columns, values)
            })
            .collect();
        SparseRows::of_blocks(blocks)
    }

    /// The graph of parts of the points that `graph(weights)` gives when the points of a part are one node; loops
    /// count both of their ends.
    pub(crate) fn graph_of_parts(&self, weights: &[f64], parts: &Parts) -> SparseRows {
        let on: Vec<usize> = (0..self.k.min(weights.len())).filter(|k| weights[*k] > 0.0).collect();
        let n_parts = parts.count();
        let blocks: Vec<RowBlock> = (0..n_parts.div_ceil(ROWS))
            .into_par_iter()
            .map_init(
                || vec![0.0; n_parts],
                |sums, block| {
                    let (mut lengths, mut columns, mut values) = (Vec::new(), Vec::new(), Vec::new());
                    for part in block * ROWS..((block + 1) * ROWS).min(n_parts) {
                        let before = columns.len();
                        for &i in parts.members(part) {
                            let row = i as usize * self.k;
                            for rank in &on {
                                let value = weights[*rank] * self.slices[row + rank];
                                let to = parts.of[self.indices[row + rank] as usize];
                                let sum = &mut sums[to as usize];
                                if *sum == 0.0 && value > 0.0 {
                                    columns.push(to);
                                }
                                *sum += value;
                            }
                        }
                        columns[before..].sort_unstable();
                        values.extend(
                            columns[before..].iter().map(|to| 0.5 * std::mem::take(&mut sums[*to as usize])),
                        );
                        lengths.push(columns.len() - before);
                    }
                    (lengths, columns, values)
                },
            )
            .collect();
        let out = SparseRows::of_blocks(blocks);
        out.plus(&out.transposed())
    }

    /// The graph every member starts from: the self-tuned affinities themselves, over the first ranks.
    pub(crate) fn start_graph(&self) -> SparseRows {
        self.graph(&self.norms[..self.start_ranks()])
    }

    /// c_k = ⟨A⁽ᵏ⁾, VVᵀ⟩ with V the indicator of the labels over √size.
    pub(crate) fn agreement(&self, labels: &[u32]) -> Vec<f64> {
        let n_clusters = labels.iter().max().map_or(0, |label| *label as usize + 1);
        let mut sizes = vec![0.0; n_clusters];
        labels.iter().for_each(|label| sizes[*label as usize] += 1.0);
        sums(&self.slices, self.k, |x, at| {
            let (own, other) = (labels[at / self.k], labels[self.indices[at] as usize]);
            if own == other { x / sizes[own as usize] } else { 0.0 }
        })
    }

    /// The sum of all entries of S(w).
    pub(crate) fn total(&self, weights: &[f64]) -> f64 {
        sums(&self.slices, self.k, |x, _| x).iter().zip(weights).map(|(sum, w)| sum * w).sum()
    }
}

/// μ for which so many ranks stay: the sum of what their agreement exceeds that of the next one by.
pub(crate) fn density(agreement: &[f64], trusted: usize) -> f64 {
    let mut sorted = agreement.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let last = trusted.min(sorted.len().saturating_sub(1));
    let mu: f64 = sorted.iter().take(last).map(|c| c - sorted[last]).sum();
    mu.max(1e-12)
}

/// The near weights that labels ask for: c/μ projected onto the simplex, μ such that `trusted` ranks stay.
pub(crate) fn weights(agreement: &[f64], trusted: usize) -> Vec<f64> {
    let mu = density(agreement, trusted);
    let x: Vec<f64> = agreement.iter().map(|c| c / mu).collect();
    simplex::project(&x, &vec![1.0; x.len()])
}

/// A value for every rank out of all rows, in any order.
fn by_rank(values: &[f64], k: usize, start: f64, join: impl Fn(f64, f64) -> f64) -> Vec<f64> {
    let mut out = vec![start; k];
    for row in values.chunks_exact(k.max(1)) {
        out.iter_mut().zip(row).for_each(|(out, x)| *out = join(*out, *x));
    }
    out
}

/// Σ over rows of what an entry gives, for every rank; rows are added up in blocks of fixed size.
fn sums(values: &[f64], k: usize, of: impl Fn(f64, usize) -> f64 + Sync) -> Vec<f64> {
    let block = ROWS * k.max(1);
    let parts: Vec<Vec<f64>> = values
        .par_chunks(block)
        .enumerate()
        .map(|(b, part)| {
            let mut sum = vec![0.0; k];
            for (r, row) in part.chunks_exact(k).enumerate() {
                let at = b * block + r * k;
                sum.iter_mut().zip(row).enumerate().for_each(|(j, (sum, x))| *sum += of(*x, at + j));
            }
            sum
        })
        .collect();
    let mut total = vec![0.0; k];
    for part in parts {
        total.iter_mut().zip(part).for_each(|(total, x)| *total += x);
    }
    total
}

/// Weights of the nearest others as weights of all ranks, of which the first is the point itself.
pub(crate) fn of_all_ranks(near: &[f64], n: usize) -> Vec<f64> {
    let mut all = vec![0.0; n];
    all.iter_mut().skip(1).zip(near).for_each(|(all, near)| *all = *near);
    all
}
