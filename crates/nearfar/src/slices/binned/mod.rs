//! Binned mode: near ranks one by one, far ranks in bins that share a weight and are known by a sample of pairs.
//!
//! Ranks 0 … K−1 are slices as in exact mode. Ranks K … n−1 form B bins of $m_b = (n-K)/B$ ranks each. For a bin
//! let $\bar A^{(b)}$ be the sum of its normalised slices; with w_b the total weight of the bin, $S = \sum_b
//! (w_b/m_b) \bar A^{(b)}$ and $c_b = \langle \bar A^{(b)}, VV^\top \rangle / m_b$.
//!
//! Of the far pairs a sample is kept (`sample.rs`): all pairs (x_i, x_{i+s}) of a random order of the points for T
//! random shifts s, seen from both ends. Every point has the same number of sampled partners; the bin of a partner
//! is the quantile of its distance among them. A bin is normalised by $\theta_b^2 = n \cdot \text{mean}(\kappa^2)$,
//! and a sample stands for $n m_b/\text{count}_b$ pairs. So one directed pair has
//! $$ a_{ij} = \frac{\kappa_{ij}}{\theta_b} \cdot \frac{n}{\text{count}_b}, \quad S_{ij} = w_b a_{ij}, \quad c_b = \sum a_{ij} (VV^\top)_{ij}, $$
//! near ranks included, whose count is n. With K = n, or with all shifts and a bin for every rank, this is the
//! exact mode.
//!
//! Departs from the design: shifts of one random order instead of independent draws for every point. Pairs are as
//! likely, and T shifts of n points are nT distinct pairs. Affinities are made from logarithms as in exact mode, so
//! that a slice that underflows keeps its shape.

mod block;
mod build;
mod graph;
mod rows;
mod sample;
#[cfg(test)]
mod tests;

pub(crate) use graph::BinnedGraph;

use rayon::prelude::*;

use super::{Slices, SparseRows};
use crate::learn::lsdg::augment;
use crate::math::factor::Factor;
use crate::math::kernel::{Entry, added_up, vectorized};
use crate::processes::{BLOCK as ROWS, Share, unit};
use block::PairBlock;
use graph::SparseBlock;
use rows::{FEW_COLUMNS, FullRows, ShortRows};

/// How many ranks are kept one by one, how many partners are drawn, how many bins share the far ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct BinnedShape {
    /// K: near ranks, the point itself among them.
    pub near: usize,
    /// T: partners drawn for every point; as many again draw it.
    pub far: usize,
    /// B: bins of far ranks.
    pub bins: usize,
}

/// Slices of n samples, the far ones in bins.
#[derive(Clone, Debug)]
pub(crate) struct BinnedSlices<E> {
    n: usize,
    shape: BinnedShape,
    /// Ranks per weight: 1 for near ranks, m_b for bins.
    multiplicity: Vec<f64>,
    /// Share of a bin's pairs that are known.
    known: Vec<f64>,
    /// Whose rows are whose.
    share: Share,
    /// Blocks of the own rows.
    blocks: Vec<PairBlock<E>>,
}

/// A row of blocks with the number of its first row; `first` is that of the first block.
fn numbered<B>(blocks: &[B], first: usize) -> impl Iterator<Item = (usize, &B)> {
    blocks.iter().enumerate().map(move |(at, block)| (first + at * ROWS, block))
}

impl<E: Entry> BinnedSlices<E> {
    /// Numbers of near ranks, drawn partners and bins in force.
    pub(crate) fn shape(&self) -> BinnedShape {
        self.shape
    }

    /// Whose rows are whose.
    pub(crate) fn share(&self) -> &Share {
        &self.share
    }

    /// The rank of j as seen from i: exact for near ranks, the middle of its bin for sampled pairs, the middle of
    /// all far ranks for others and where another process holds row i.
    pub(crate) fn rank(&self, i: usize, j: usize) -> usize {
        let far = self.n - self.shape.near;
        let unknown = self.shape.near + far / 2;
        if !self.share.rows().contains(&i) {
            return unknown;
        }
        let block = &self.blocks[i / ROWS - self.share.first_block()];
        let row = block.row(i % ROWS);
        let Ok(at) = block.columns[row.clone()].binary_search(&(j as u32)) else { return unknown };
        match block.own_bin[row.start + at] as usize {
            bin if bin < self.shape.near => bin,
            bin if bin == self.multiplicity.len() => unknown,
            bin => {
                let middle = (bin - self.shape.near) as f64 + 0.5;
                self.shape.near + (middle * far as f64 / self.shape.bins as f64) as usize
            }
        }
    }

    /// Points among the first `ranks` of point i (K of them at most), itself included; i is one of the own rows.
    pub(crate) fn linked(&self, i: usize, ranks: usize) -> Vec<usize> {
        let block = &self.blocks[i / ROWS - self.share.first_block()];
        let most = ranks.min(self.shape.near);
        let row = block.row(i % ROWS);
        let near = row.filter(|at| (block.own_bin[*at] as usize) < most);
        near.map(|at| block.columns[at] as usize).collect()
    }

    /// Share of pairs at each rank for which `same` holds; within a bin the share among its samples.
    pub(crate) fn share_of(&self, same: &dyn Fn(usize, usize) -> bool) -> Vec<f64> {
        let (mut right, mut count) = (vec![0.0; self.nothing() + 1], vec![0.0_f64; self.nothing() + 1]);
        for (first, block) in numbered(&self.blocks, self.share.rows().start) {
            for a in 0..block.starts.len() - 1 {
                for at in block.row(a) {
                    let bin = block.own_bin[at] as usize;
                    count[bin] += 1.0;
                    right[bin] += if same(first + a, block.columns[at] as usize) { 1.0 } else { 0.0 };
                }
            }
        }
        // Whole numbers: the order of additions does not matter.
        let everywhere = |mine: &[f64]| {
            let all = self.share.team().gather_even("shares of pairs", mine);
            (0..mine.len()).map(|bin| all.iter().skip(bin).step_by(mine.len()).sum()).collect::<Vec<f64>>()
        };
        let (right, count) = (everywhere(&right), everywhere(&count));
        (0..self.n).map(|rank| right[self.bin_of(rank)] / count[self.bin_of(rank)].max(1.0)).collect()
    }

    /// The weight that a rank has.
    fn bin_of(&self, rank: usize) -> usize {
        let BinnedShape { near, bins, .. } = self.shape;
        if rank < near {
            return rank;
        }
        let place = (rank - near) as f64 + 0.5;
        near + ((place * bins as f64 / (self.n - near) as f64) as usize).min(bins - 1)
    }

    /// Number of weights; as a bin, "not known".
    fn nothing(&self) -> usize {
        self.multiplicity.len()
    }

    /// Half of scale · weights as storage, and 0 for what is not known.
    fn halved(weights: impl Iterator<Item = f64>, scale: f64) -> Vec<E> {
        weights.map(|w| E::narrow(0.5 * w * scale)).chain([E::default()]).collect()
    }

    /// Weights for single entries, of which samples do not stand for others.
    fn of_entries<'a>(&'a self, weights: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        weights.iter().zip(&self.known).map(|(w, known)| w * known)
    }

    /// Largest entry of sym(Σ_k weights_k A⁽ᵏ⁾) among the known ones.
    fn largest(&self, weights: &[f64]) -> f64 {
        let half = Self::halved(self.of_entries(weights), 1.0);
        let of_block = |block: &PairBlock<E>| {
            (0..block.columns.len()).map(|at| block.entry(at, &half).wide()).fold(0.0, f64::max)
        };
        let here = self.blocks.par_iter().map(of_block).reduce(|| 0.0, f64::max);
        self.share.team().gather_even("largest entries", &[here]).into_iter().fold(0.0, f64::max)
    }
}

impl<E: Entry> BinnedSlices<E> {
    /// c, from inner products of row i of V with the rows of others.
    fn agreements(&self, multiply: impl Fn(usize, &[u32], &mut [f64]) + Sync) -> Vec<f64> {
        let width = self.nothing();
        let part = |(part, blocks): (usize, &[PairBlock<E>])| {
            let (mut table, mut products) = (vec![0.0; width + 1], Vec::new());
            let first = self.share.rows().start + part * unit(self.n);
            vectorized(
                #[inline(always)]
                || {
                    for (row, block) in numbered(blocks, first) {
                        for a in 0..block.starts.len() - 1 {
                            let i = row + a;
                            block.agree(
                                a,
                                (i, self.n),
                                #[inline(always)]
                                |columns, products| multiply(i, columns, products),
                                &mut products,
                                &mut table,
                            );
                        }
                    }
                },
            );
            table.truncate(width);
            table
        };
        let together = unit(self.n) / ROWS;
        let parts: Vec<Vec<f64>> = self.blocks.par_chunks(together).enumerate().map(part).collect();
        added_up(&self.share.gather_blocks("agreements c", &parts.concat(), unit(self.n), width), width)
    }
}

impl<E: Entry> Slices for BinnedSlices<E> {
    type Graph = BinnedGraph<E>;

    fn n_samples(&self) -> usize {
        self.n
    }

    fn multiplicity(&self) -> &[f64] {
        &self.multiplicity
    }

    fn new_graph(&self) -> Self::Graph {
        BinnedGraph::empty(self.share.clone())
    }

    fn combine(&self, weights: &[f64], graph: &mut Self::Graph) {
        debug_assert_eq!(weights.len(), self.nothing(), "weights by rank: `per_weight` first");
        let half = Self::halved(weights.iter().copied(), 1.0);
        let weighs: Vec<bool> = half.iter().map(|half| *half != E::default()).collect();
        graph.fill(|block, out| {
            let pairs = &self.blocks[block];
            out.clear();
            vectorized(
                #[inline(always)]
                || {
                    for a in 0..pairs.starts.len() - 1 {
                        pairs.push_row(a, &half, &weighs, out);
                    }
                },
            );
        });
    }

    fn agreement(&self, factor: &Factor) -> Vec<f64> {
        let rows = factor.by_rows();
        if let Some(short) = ShortRows::<E>::new(rows) {
            return self.agreements(
                #[inline(always)]
                |i, columns, products| {
                    let mut own = [0.0; FEW_COLUMNS];
                    rows.scatter(i, &mut own);
                    short.dots(columns, &own, products);
                },
            );
        }
        let full = FullRows::<E>::new(factor);
        // Column by column of V over all entries of the row: one load each, so that many are under way while memory
        // answers.
        self.agreements(
            #[inline(always)]
            |i, columns, products| {
                for (c, v) in rows.row(i) {
                    products.iter_mut().zip(columns).for_each(|(g, j)| *g += v * full.get(*j as usize, c));
                }
            },
        )
    }

    fn augment(&self, near: &[f64], far: &[f64], factor: &Factor, share: f64, z: &mut Self::Graph) {
        let inverse = |largest: f64| if largest > 0.0 { 1.0 / largest } else { 0.0 };
        let half = |weights: &[f64]| Self::halved(self.of_entries(weights), inverse(self.largest(weights)));
        let (near, far) = (half(near), half(far));
        // The largest entry of VVᵀ lies on its diagonal (Cauchy–Schwarz).
        let y_scale = inverse(factor.row_norms2().into_iter().fold(0.0, f64::max));
        let rows = factor.by_rows();
        let first = self.share.rows().start;
        z.fill(|at, out| {
            let pairs = &self.blocks[at];
            let before = std::mem::take(out);
            let mut own = vec![0.0; factor.n_columns()];
            let mut corrections: Vec<(u32, E)> = Vec::new();
            for a in 0..pairs.starts.len() - 1 {
                let i = first + at * ROWS + a;
                rows.scatter(i, &mut own);
                corrections.clear();
                for at in pairs.row(a) {
                    let (s, d) = (pairs.entry(at, &near).wide(), pairs.entry(at, &far).wide());
                    if s != 0.0 || d != 0.0 {
                        let j = pairs.columns[at];
                        let y = rows.dot(j as usize, &own) * y_scale;
                        // Elsewhere Z is y.
                        corrections.push((j, E::narrow(share * (augment::merge(s, d, y) - y))));
                    }
                }
                rows.clear(i, &mut own);
                out.merge_row(&before, a, &corrections);
            }
        });
        z.add_low(share * y_scale, rows.clone());
    }

    fn edges(&self, weights: &[f64]) -> SparseRows {
        let half = Self::halved(self.of_entries(weights), 1.0);
        let mut lengths: Vec<u32> = Vec::with_capacity(self.share.rows().len());
        let (mut columns, mut values) = (Vec::new(), Vec::new());
        for block in &self.blocks {
            for a in 0..block.starts.len() - 1 {
                let before = columns.len();
                for at in block.row(a) {
                    let value = block.entry(at, &half).wide();
                    if value != 0.0 {
                        columns.push(block.columns[at]);
                        values.push(value);
                    }
                }
                lengths.push((columns.len() - before) as u32);
            }
        }
        // Whoever asks wants all rows.
        let lengths = self.share.gather_rows("edges", &lengths, 1);
        let starts = std::iter::once(0).chain(lengths.iter().scan(0, |end, length| {
            *end += *length as usize;
            Some(*end)
        }));
        let team = self.share.team();
        let (columns, values) = (team.gather("edges", &columns).0, team.gather("edges", &values).0);
        SparseRows { starts: starts.collect(), columns, values }
    }

    fn per_rank(&self, weights: &[f64]) -> Vec<f64> {
        // Bins need not hold a whole number of ranks: shared evenly among those that lie in them.
        let mut ranks = vec![0.0; self.nothing()];
        (0..self.n).for_each(|rank| ranks[self.bin_of(rank)] += 1.0);
        (0..self.n)
            .map(|rank| {
                let bin = self.bin_of(rank);
                weights[bin] / ranks[bin]
            })
            .collect()
    }

    fn per_weight(&self, ranks: &[f64]) -> Vec<f64> {
        let mut weights = vec![0.0; self.nothing()];
        ranks.iter().enumerate().for_each(|(rank, w)| weights[self.bin_of(rank)] += w);
        weights
    }

    fn near_end(&self) -> Option<usize> {
        (self.shape.near < self.n).then_some(self.shape.near - 1)
    }
}

impl<E: Entry> SparseBlock<E> {
    /// Row `a` of `before` with these entries added, columns ascending.
    fn merge_row(&mut self, before: &Self, a: usize, added: &[(u32, E)]) {
        let (columns, values) = before.row_or_nothing(a);
        let mut old = columns.iter().copied().zip(values.iter().copied()).peekable();
        for (j, value) in added {
            while let Some((column, known)) = old.next_if(|(column, _)| column < j) {
                self.push(column, known);
            }
            let known = old.next_if(|(column, _)| column == j).map_or_else(E::default, |(_, known)| known);
            self.push(*j, known + *value);
        }
        old.for_each(|(column, known)| self.push(column, known));
        self.end_row();
    }
}
