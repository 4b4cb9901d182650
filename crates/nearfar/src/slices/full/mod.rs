//! Exact mode: the normalised affinity and the rank of every pair, n² of each.
//!
//! `normalized[i, j]` is $\kappa_{ij}$ divided by the norm of the slice that j lies in as seen from i. It is made from
//! logarithms (the largest of a slice is taken out before exponentials), so that a slice whose affinities all underflow
//! keeps its shape (hazard H6). $T_{ij} = \tfrac12 (t[\text{rank}_{ij}]\,a_{ij} + t[\text{rank}_{ji}]\,a_{ji})$:
//! one pass, and S and D never exist apart.

mod affinities;

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

use affinities::{exponentials, least_exponents};

use super::tiles::{SymmetricTiles, TILE};
use super::{Graph, Slices, SparseRows};
use crate::error::Result;
use crate::learn::lsdg::augment;
use crate::math::factor::Factor;
use crate::math::kernel::{Entry, vectorized};
use crate::neighbors::Neighborhoods;
use crate::observe::{Observer, Stage, go_on};
use crate::spectral::eigen::Operator;

/// Sums over ranks are made in at most this many parts, whatever the number of threads.
const PARTS: usize = 16;

/// Row stride of a transposed tile: off the powers of two, so that columns do not share cache sets.
const PADDED: usize = TILE + 8;

/// All slices of n samples.
#[derive(Clone, Debug)]
pub struct FullSlices<E> {
    n: usize,
    normalized: Vec<E>, // n × n
    rank: Vec<u16>,     // n × n
    ones: Vec<f64>,     // n
}

impl<E: Entry> FullSlices<E> {
    /// Turn ranked neighbourhoods into normalised slices, in place.
    ///
    /// # Errors
    /// [`Error::Cancelled`](crate::Error::Cancelled) when the observer asks to stop.
    pub fn new(neighborhoods: Neighborhoods<E>, observer: &dyn Observer) -> Result<Self> {
        let Neighborhoods { n, mut values, rank, sigma, .. } = neighborhoods;
        let sigma = sigma.as_deref();
        let least = least_exponents(n, &values, &rank, sigma, observer)?;
        let squares = exponentials(n, &mut values, &rank, sigma, &least, observer)?;
        let scale: Vec<f64> = squares.into_iter().map(|s| 1.0 / s.sqrt()).collect();
        // Entries that would only make subnormal products are 0.
        let smallest = if E::BYTES == 4 { 1e-30 } else { 1e-200 };
        values.par_chunks_mut(n).zip(rank.par_chunks(n)).try_for_each(|(values, rank)| {
            go_on(observer, Stage::Slices)?;
            for (value, k) in values.iter_mut().zip(rank) {
                let a = value.wide() * scale[*k as usize];
                *value = if a < smallest { E::default() } else { E::narrow(a) };
            }
            Ok::<(), crate::Error>(())
        })?;
        Ok(Self { n, normalized: values, rank, ones: vec![1.0; n] })
    }

    /// The rank of j as seen from i.
    pub fn rank(&self, i: usize, j: usize) -> usize {
        self.rank[i * self.n + j] as usize
    }

    /// Entry (i, j) of the slice that j lies in as seen from i.
    pub fn normalized(&self, i: usize, j: usize) -> f64 {
        self.normalized[i * self.n + j].wide()
    }

    /// Points among the first `ranks` of point i, itself included.
    pub(crate) fn linked(&self, i: usize, ranks: usize) -> Vec<usize> {
        (0..self.n).filter(|j| self.rank(i, *j) < ranks).collect()
    }

    /// Share of pairs at each rank for which `same` holds.
    pub(crate) fn share_of(&self, same: &dyn Fn(usize, usize) -> bool) -> Vec<f64> {
        let mut right = vec![0.0; self.n];
        for i in 0..self.n {
            for j in 0..self.n {
                right[self.rank(i, j)] += if same(i, j) { 1.0 } else { 0.0 };
            }
        }
        right.iter_mut().for_each(|x| *x /= self.n as f64);
        right
    }

    /// `out[a, b]` ← weights[rank] · normalized over rows × columns, with the given row stride.
    #[inline(always)]
    fn weigh_block(
        &self,
        weights: &[E],
        rows: Range<usize>,
        columns: Range<usize>,
        out: &mut [E],
        stride: usize,
    ) {
        for (i, out) in rows.zip(out.chunks_mut(stride)) {
            let (from, to) = (i * self.n + columns.start, i * self.n + columns.end);
            let line = self.normalized[from..to].iter().zip(&self.rank[from..to]);
            for (out, (a, k)) in out.iter_mut().zip(line) {
                *out = *a * weights[*k as usize];
            }
        }
    }

    /// Both halves of sym(Σ weights A) over rows × columns: `direct[a, b]` and `mirror[b, a]`; their mean is the entry.
    #[inline(always)]
    fn weigh_pair(
        &self,
        weights: &[E],
        rows: Range<usize>,
        columns: Range<usize>,
        direct: &mut [E],
        mirror: &mut [E],
    ) {
        self.weigh_block(weights, rows.clone(), columns.clone(), direct, TILE);
        self.weigh_block(weights, columns, rows, mirror, PADDED);
    }

    /// Half of scale · weights, as storage: what either half of a pair is multiplied with.
    fn halved(weights: &[f64], scale: f64) -> Vec<E> {
        weights.iter().map(|w| E::narrow(0.5 * w * scale)).collect()
    }

    /// Largest entry of sym(Σ_k weights_k A⁽ᵏ⁾).
    fn largest(&self, weights: &[f64]) -> f64 {
        let half = Self::halved(weights, 1.0);
        let starts: Vec<usize> = (0..self.n).step_by(TILE).collect();
        let span = |start: usize| start..(start + TILE).min(self.n);
        starts
            .par_iter()
            .map_init(
                || (vec![E::default(); TILE * TILE], vec![E::default(); PADDED * TILE]),
                |(direct, mirror), &row| {
                    let mut largest = E::default();
                    for &column in starts.iter().filter(|c| **c >= row) {
                        let (rows, columns) = (span(row), span(column));
                        vectorized(
                            #[inline(always)]
                            || {
                                self.weigh_pair(&half, rows.clone(), columns.clone(), direct, mirror);
                                for a in 0..rows.len() {
                                    for b in 0..columns.len() {
                                        let entry = direct[a * TILE + b] + mirror[b * PADDED + a];
                                        largest = if entry > largest { entry } else { largest };
                                    }
                                }
                            },
                        );
                    }
                    largest.wide()
                },
            )
            .reduce(|| 0.0, f64::max)
    }

    /// Agreement by the nonzeros of V: Σ_c |nonzeros of column c|² entries are touched.
    fn agreement_sparse(&self, factor: &Factor) -> Vec<f64> {
        let (n, rows) = (self.n, part_rows(self.n));
        let part = |part: usize| {
            let mut table = vec![0.0; n];
            let (first, last) = (part * rows, ((part + 1) * rows).min(n));
            for c in 0..factor.n_columns() {
                let (at, values) = factor.nonzeros(c);
                let from = at.partition_point(|i| (*i as usize) < first);
                let to = at.partition_point(|i| (*i as usize) < last);
                for (i, v) in at[from..to].iter().zip(&values[from..to]) {
                    let line = *i as usize * n;
                    let (a, rank) = (&self.normalized[line..line + n], &self.rank[line..line + n]);
                    for (j, u) in at.iter().zip(values) {
                        let j = *j as usize;
                        table[rank[j] as usize] += a[j].wide() * (v * u);
                    }
                }
            }
            table
        };
        let parts: Vec<Vec<f64>> = (0..n.div_ceil(rows)).into_par_iter().map(part).collect();
        sum_parts(n, &parts)
    }

    /// Agreement by rows of VVᵀ, made block by block.
    fn agreement_dense(&self, factor: &Factor) -> Vec<f64> {
        const BLOCK: usize = 32;
        let (n, r, rows) = (self.n, factor.n_columns(), part_rows(self.n));
        let v = MatRef::from_column_major_slice(factor.values(), n, r);
        let part = |part: usize| {
            let mut table = vec![0.0; n];
            let mut gram = vec![0.0; BLOCK * n];
            let last = ((part + 1) * rows).min(n);
            for first in (part * rows..last).step_by(BLOCK) {
                let height = BLOCK.min(last - first);
                let out = MatMut::from_row_major_slice_mut(&mut gram[..height * n], height, n);
                matmul(out, Accum::Replace, v.subrows(first, height), v.transpose(), 1.0, Par::Seq);
                for (a, gram) in gram[..height * n].chunks_exact(n).enumerate() {
                    let line = (first + a) * n..(first + a + 1) * n;
                    let pairs = self.normalized[line.clone()].iter().zip(&self.rank[line]);
                    for (g, (a, k)) in gram.iter().zip(pairs) {
                        table[*k as usize] += a.wide() * g;
                    }
                }
            }
            table
        };
        let parts: Vec<Vec<f64>> = (0..n.div_ceil(rows)).into_par_iter().map(part).collect();
        sum_parts(n, &parts)
    }
}

impl<E: Entry> Slices for FullSlices<E> {
    type Graph = SymmetricTiles<E>;

    fn n_samples(&self) -> usize {
        self.n
    }

    fn multiplicity(&self) -> &[f64] {
        &self.ones
    }

    fn new_graph(&self) -> Self::Graph {
        SymmetricTiles::zeros(self.n)
    }

    fn combine(&self, weights: &[f64], graph: &mut Self::Graph) {
        let half = Self::halved(weights, 1.0);
        graph.fill(
            #[inline(always)]
            |rows, columns, tile| {
                let mut direct = [E::default(); TILE];
                let mut mirror = vec![E::default(); PADDED * TILE];
                self.weigh_block(&half, columns.clone(), rows.clone(), &mut mirror, PADDED);
                for (a, (i, tile)) in rows.zip(tile.chunks_exact_mut(TILE)).enumerate() {
                    self.weigh_block(&half, i..i + 1, columns.clone(), &mut direct, TILE);
                    for (b, (out, direct)) in tile.iter_mut().zip(&direct[..columns.len()]).enumerate() {
                        *out = *direct + mirror[b * PADDED + a];
                    }
                }
            },
        );
    }

    fn agreement(&self, factor: &Factor) -> Vec<f64> {
        let touched: usize = (0..factor.n_columns()).map(|c| factor.nonzeros(c).0.len().pow(2)).sum();
        if touched < self.n * self.n { self.agreement_sparse(factor) } else { self.agreement_dense(factor) }
    }

    fn augment(&self, near: &[f64], far: &[f64], factor: &Factor, share: f64, z: &mut Self::Graph) {
        let (n, r) = (self.n, factor.n_columns());
        let inverse = |largest: f64| if largest > 0.0 { 1.0 / largest } else { 0.0 };
        let (s_scale, d_scale) = (inverse(self.largest(near)), inverse(self.largest(far)));
        // The largest entry of VVᵀ lies on its diagonal (Cauchy–Schwarz).
        let y_scale = inverse(factor.row_norms2().into_iter().fold(0.0, f64::max));
        let (near, far) = (Self::halved(near, s_scale), Self::halved(far, d_scale));
        let v = MatRef::from_column_major_slice(factor.values(), n, r);
        z.fill(
            #[inline(always)]
            |rows, columns, tile| {
                let mut gram = vec![0.0; TILE * TILE];
                // Row-major by way of the transpose: faer 0.24's own row-major strided view swaps the strides.
                let out = MatMut::from_column_major_slice_with_stride_mut(
                    &mut gram,
                    columns.len(),
                    rows.len(),
                    TILE,
                )
                .transpose_mut();
                let (ours, theirs) =
                    (v.subrows(rows.start, rows.len()), v.subrows(columns.start, columns.len()).transpose());
                matmul(out, Accum::Replace, ours, theirs, y_scale, Par::Seq);
                let buffers = || (vec![E::default(); TILE * TILE], vec![E::default(); PADDED * TILE]);
                let ((mut s, mut s_mirror), (mut d, mut d_mirror)) = (buffers(), buffers());
                self.weigh_pair(&near, rows.clone(), columns.clone(), &mut s, &mut s_mirror);
                self.weigh_pair(&far, rows.clone(), columns.clone(), &mut d, &mut d_mirror);
                for a in 0..rows.len() {
                    for b in 0..columns.len() {
                        let at = a * TILE + b;
                        let (s, d) = (s[at] + s_mirror[b * PADDED + a], d[at] + d_mirror[b * PADDED + a]);
                        let added = augment::merge(s.wide(), d.wide(), gram[at]);
                        tile[at] = E::narrow(tile[at].wide() + share * added);
                    }
                }
            },
        );
    }

    fn edges(&self, weights: &[f64]) -> SparseRows {
        let n = self.n;
        let rows: Vec<(Vec<u32>, Vec<f64>)> = (0..n)
            .into_par_iter()
            .map(|i| {
                let entry = |j: usize| {
                    0.5 * (self.normalized(i, j) * weights[self.rank(i, j)]
                        + self.normalized(j, i) * weights[self.rank(j, i)])
                };
                (0..n).map(|j| (j as u32, entry(j))).filter(|(_, value)| *value != 0.0).unzip()
            })
            .collect();
        let mut sparse = SparseRows { starts: vec![0], ..SparseRows::default() };
        for (columns, values) in rows {
            sparse.columns.extend(columns);
            sparse.values.extend(values);
            sparse.starts.push(sparse.columns.len());
        }
        sparse
    }
}

impl<E: Entry> Operator for SymmetricTiles<E> {
    fn size(&self) -> usize {
        SymmetricTiles::size(self)
    }

    fn apply(&self, x: &[f64], columns: usize, y: &mut [f64]) {
        self.times_dense(x, columns, y);
    }

    fn matrix(&self, a: &mut [f64]) {
        self.copy_full(a);
    }
}

impl<E: Entry> Graph for SymmetricTiles<E> {
    fn times(&self, factor: &Factor, out: &mut [f64]) {
        SymmetricTiles::times(self, factor, out);
    }

    fn quadratic(&self, d: &[f64]) -> f64 {
        SymmetricTiles::quadratic(self, d)
    }

    fn norm2(&self) -> f64 {
        SymmetricTiles::norm2(self)
    }

    fn degrees(&self) -> Vec<f64> {
        self.row_sums()
    }

    fn get(&self, i: usize, j: usize) -> f64 {
        SymmetricTiles::get(self, i, j)
    }

    fn clear(&mut self) {
        self.fill(|_, _, tile| tile.fill(E::default()));
    }
}

/// Rows per part of a sum over ranks; depends on n alone.
fn part_rows(n: usize) -> usize {
    n.div_ceil(PARTS).max(1)
}

fn sum_parts(n: usize, parts: &[Vec<f64>]) -> Vec<f64> {
    let mut sum = vec![0.0; n];
    for part in parts {
        for (sum, part) in sum.iter_mut().zip(part) {
            *sum += part;
        }
    }
    sum
}
