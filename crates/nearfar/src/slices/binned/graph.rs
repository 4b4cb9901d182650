//! A symmetric graph of many points: sparse, plus a low rank where it is Z.
//!
//! Z = Σ scale · VVᵀ + a sparse correction where S or D is not 0. Neither part is ever made dense: products cost
//! time in the entries and in the nonzeros of V.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::ROWS;
use super::block::half_of_row;
use super::rows::{FEW_COLUMNS, ShortRows, transposed_times};
use crate::math::factor::{Factor, RowFactor};
use crate::math::kernel::{Entry, add_scaled, vectorized};
use crate::processes::{Share, unit};
use crate::slices::Graph;
use crate::spectral::eigen::Operator;

/// Numbers in a line of cache.
const LINE: usize = 8;

/// A block of rows of a sparse matrix, columns ascending.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct SparseBlock<E> {
    /// Ends of the rows.
    ends: Vec<u32>,
    columns: Vec<u32>,
    values: Vec<E>,
}

impl<E: Entry> SparseBlock<E> {
    pub(super) fn clear(&mut self) {
        self.ends.clear();
        self.columns.clear();
        self.values.clear();
    }

    pub(super) fn push(&mut self, column: u32, value: E) {
        self.columns.push(column);
        self.values.push(value);
    }

    pub(super) fn end_row(&mut self) {
        self.ends.push(self.columns.len() as u32);
    }

    /// The half of row a that counts for it (`half_of_row`) times d, the diagonal by half; i is its number among
    /// all rows.
    #[inline(always)]
    fn half_row_times(&self, a: usize, i: usize, d: &[f64]) -> f64 {
        let (columns, values) = self.row_or_nothing(a);
        let mut sum = 0.0;
        for range in half_of_row(columns, i, d.len()) {
            for (j, t) in columns[range.clone()].iter().zip(&values[range]) {
                let j = *j as usize;
                sum += t.wide() * if j == i { 0.5 * d[j] } else { d[j] };
            }
        }
        sum
    }

    /// Columns and values of a row; nothing where the block is empty.
    pub(super) fn row_or_nothing(&self, a: usize) -> (&[u32], &[E]) {
        let Some(&end) = self.ends.get(a) else { return (&[], &[]) };
        let start = if a == 0 { 0 } else { self.ends[a - 1] };
        let at = start as usize..end as usize;
        (&self.columns[at.clone()], &self.values[at])
    }
}

/// A symmetric graph: sparse, plus scaled VVᵀ of any number of factors.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BinnedGraph<E> {
    n: usize,
    /// Whose rows are whose.
    share: Share,
    /// Blocks of the own rows.
    blocks: Vec<SparseBlock<E>>,
    low: Vec<(f64, Arc<RowFactor>)>,
}

impl<E: Entry> BinnedGraph<E> {
    pub(super) fn empty(share: Share) -> Self {
        let blocks = (0..share.n_blocks()).map(|_| SparseBlock::default()).collect();
        Self { n: share.n_rows(), share, blocks, low: Vec::new() }
    }

    /// Work on all blocks here, counted from the first one here.
    pub(super) fn fill(&mut self, work: impl Fn(usize, &mut SparseBlock<E>) + Sync) {
        self.blocks.par_iter_mut().enumerate().for_each(|(at, block)| work(at, block));
    }

    pub(super) fn add_low(&mut self, scale: f64, factor: Arc<RowFactor>) {
        self.low.push((scale, factor));
    }

    fn row(&self, i: usize) -> (&[u32], &[E]) {
        let here = self.share.rows().contains(&i);
        if here {
            self.blocks[i / ROWS - self.share.first_block()].row_or_nothing(i % ROWS)
        } else {
            (&[], &[])
        }
    }

    /// Own rows of a product of r columns, each from the columns and values of a row of the sparse part.
    fn row_by_row(&self, r: usize, multiply: impl Fn(&[u32], &[E], &mut [f64]) + Sync) -> Vec<f64> {
        let mut rows = vec![0.0; self.share.rows().len() * r];
        rows.par_chunks_mut(ROWS * r).zip(&self.blocks).for_each(|(rows, block)| {
            vectorized(
                #[inline(always)]
                || {
                    for (a, y) in rows.chunks_exact_mut(r).enumerate() {
                        let (columns, values) = block.row_or_nothing(a);
                        multiply(columns, values, y);
                    }
                },
            );
        });
        rows
    }

    /// Own rows of T V, row-major.
    fn own_rows_times(&self, factor: &Factor) -> Vec<f64> {
        let (n, r) = (self.n, factor.n_columns());
        if !self.low.is_empty() || 2 * factor.n_nonzero() > n * r {
            return self.own_times(&to_rows(factor.values(), n, r), r);
        }
        let v = factor.by_rows();
        match ShortRows::<E>::new(v) {
            Some(short) => self.row_by_row(
                r,
                #[inline(always)]
                |columns, values, y| {
                    let mut sum = [0.0; FEW_COLUMNS];
                    short.add_to(columns, values, &mut sum);
                    y.copy_from_slice(&sum[..r]);
                },
            ),
            None => self.row_by_row(r, |columns, values, y| {
                for (j, t) in columns.iter().zip(values) {
                    let t = t.wide();
                    v.row(*j as usize).for_each(|(c, v)| y[c] += t * v);
                }
            }),
        }
    }

    /// Own rows of the product with a row-major matrix of `b` columns, row-major as well.
    fn own_times(&self, x: &[f64], b: usize) -> Vec<f64> {
        let of = |(_, v): &(f64, Arc<RowFactor>)| transposed_times(v, x, b, &self.share);
        let inner: Vec<Vec<f64>> = self.low.iter().map(of).collect();
        let rows = self.share.rows();
        let mut y = vec![0.0; rows.len() * b];
        y.par_chunks_mut((ROWS * b).max(1)).enumerate().for_each(|(block, y)| {
            vectorized(
                #[inline(always)]
                || {
                    for (a, y) in y.chunks_exact_mut(b).enumerate() {
                        let i = rows.start + block * ROWS + a;
                        let entries = self.blocks[block].row_or_nothing(a);
                        match b {
                            LINE => add_rows::<E, LINE>(entries, x, y),
                            4 => add_rows::<E, 4>(entries, x, y),
                            _ => add_any_rows(entries, x, y),
                        }
                        for ((scale, v), inner) in self.low.iter().zip(&inner) {
                            for (c, v) in v.row(i) {
                                add_scaled(y, scale * v, &inner[c * b..][..b]);
                            }
                        }
                    }
                },
            );
        });
        y
    }

    /// The same, all rows.
    fn times_rows(&self, x: &[f64], b: usize) -> Vec<f64> {
        self.all_rows("rows of products", self.own_times(x, b), b)
    }

    /// All rows of a matrix of which everybody has its own.
    fn all_rows(&self, what: &'static str, own: Vec<f64>, b: usize) -> Vec<f64> {
        if self.share.is_split() { self.share.gather_rows(what, &own, b) } else { own }
    }

    /// Entry (i, j) of the low rank part.
    fn low_entry(&self, i: usize, j: usize) -> f64 {
        let of = |(scale, v): &(f64, Arc<RowFactor>)| {
            let mut own = vec![0.0; v.n_columns()];
            v.scatter(i, &mut own);
            scale * v.dot(j, &own)
        };
        self.low.iter().map(of).sum()
    }
}

/// `y` ← `y` + Σ t · row j of `x`, for the columns j and values t of a row.
#[inline(always)]
fn add_any_rows<E: Entry>((columns, values): (&[u32], &[E]), x: &[f64], y: &mut [f64]) {
    let b = y.len();
    for (j, t) in columns.iter().zip(values) {
        add_scaled(y, t.wide(), &x[*j as usize * b..][..b]);
    }
}

/// The same with B columns, which stay in registers.
#[inline(always)]
fn add_rows<E: Entry, const B: usize>((columns, values): (&[u32], &[E]), x: &[f64], y: &mut [f64]) {
    let x = x.as_chunks::<B>().0;
    let mut sum = [0.0; B];
    sum.copy_from_slice(y);
    for (j, t) in columns.iter().zip(values) {
        add_scaled(&mut sum, t.wide(), &x[*j as usize]);
    }
    y.copy_from_slice(&sum);
}

/// Columns one after the other become rows of b numbers one after the other; what the columns do not fill is 0.
fn to_rows(x: &[f64], n: usize, b: usize) -> Vec<f64> {
    let mut rows = vec![0.0; n * b];
    rows.par_chunks_mut((ROWS * b).max(1)).enumerate().for_each(|(block, rows)| {
        for (c, column) in x.chunks_exact(n).enumerate() {
            rows.chunks_exact_mut(b).zip(&column[block * ROWS..]).for_each(|(row, x)| row[c] = *x);
        }
    });
    rows
}

/// The columns of a product that are made together, and the numbers in a row of them.
///
/// All of them where one process has the rows. Where several have, each needs a copy of the columns, and few of
/// these copies stay in the cache that they share; then as many columns as a line of cache has are made at a time.
fn strips(columns: usize, share: &Share) -> impl Iterator<Item = (Range<usize>, usize)> {
    let most = if share.is_split() { LINE } else { columns.max(1) };
    (0..columns).step_by(most).map(move |first| {
        let strip = first..columns.min(first + most);
        (strip.clone(), if strip.len() < most { strip.len().next_power_of_two() } else { most })
    })
}

/// The other way.
fn to_columns(rows: &[f64], n: usize, b: usize, out: &mut [f64]) {
    out.par_chunks_mut(n.max(1)).enumerate().for_each(|(c, column)| {
        column.iter_mut().zip(rows.chunks_exact(b)).for_each(|(out, row)| *out = row[c]);
    });
}

impl<E: Entry> Operator for BinnedGraph<E> {
    fn size(&self) -> usize {
        self.n
    }

    fn apply(&self, x: &[f64], columns: usize, y: &mut [f64]) {
        for (strip, b) in strips(columns, &self.share) {
            let at = strip.start * self.n..strip.end * self.n;
            let rows = self.times_rows(&to_rows(&x[at.clone()], self.n, b), b);
            to_columns(&rows, self.n, b, &mut y[at]);
        }
    }

    fn share(&self) -> Option<&Share> {
        Some(&self.share)
    }

    fn apply_own(&self, x: &[f64], columns: usize, y: &mut [f64]) {
        let n = self.share.rows().len();
        self.share.team().agree();
        for (strip, b) in strips(columns, &self.share) {
            let at = strip.start * n..strip.end * n;
            let all = self.all_rows("vectors", to_rows(&x[at.clone()], n, b), b);
            to_columns(&self.own_times(&all, b), n, b, &mut y[at]);
        }
    }

    /// Where Z is VVᵀ for the most part, its eigenvectors are near the span of V.
    fn guess(&self) -> (Vec<f64>, usize) {
        let Some((_, v)) = self.low.first() else { return (Vec::new(), 0) };
        let (here, r) = (self.share.rows(), v.n_columns());
        let mut columns = vec![0.0; here.len() * r];
        for (a, i) in here.clone().enumerate() {
            v.row(i).for_each(|(c, v)| columns[c * here.len() + a] = v);
        }
        (columns, r)
    }
}

impl<E: Entry> Graph for BinnedGraph<E> {
    fn times(&self, factor: &Factor, out: &mut [f64]) {
        let (rows, r) = (self.own_rows_times(factor), factor.n_columns());
        to_columns(&self.all_rows("T V", rows, r), self.n, r, out);
    }

    fn quadratic(&self, d: &[f64]) -> f64 {
        self.share.gather_blocks("step lengths", &self.quadratic_sums(d), unit(self.n), 1).iter().sum()
    }

    fn split(&self) -> Option<&Share> {
        Some(&self.share)
    }

    fn times_own(&self, factor: &Factor) -> Vec<f64> {
        let (rows, r) = (self.own_rows_times(factor), factor.n_columns());
        let mut out = vec![0.0; rows.len()];
        to_columns(&rows, self.share.rows().len(), r, &mut out);
        out
    }

    fn quadratic_sums(&self, d: &[f64]) -> Vec<f64> {
        let (here, unit) = (self.share.rows(), unit(self.n));
        let part = |(at, own): (usize, &[f64])| {
            let first = at * unit;
            let rows = own.iter().enumerate().filter(|(_, di)| **di != 0.0);
            rows.map(|(a, di)| {
                let (block, i) = (&self.blocks[(first + a) / ROWS], here.start + first + a);
                2.0 * di * block.half_row_times((first + a) % ROWS, i, d)
            })
            .sum()
        };
        let mut parts: Vec<f64> = d[here.clone()].par_chunks(unit).enumerate().map(part).collect();
        for (scale, v) in &self.low {
            let inner = transposed_times(v, d, 1, &self.share);
            if let (0, Some(first)) = (here.start, parts.first_mut()) {
                *first += scale * inner.iter().map(|x| x * x).sum::<f64>();
            }
        }
        parts
    }

    fn norm2(&self) -> f64 {
        // ‖sparse‖² + 2⟨sparse, low⟩ + ‖low‖²
        let part = |(block, rows): (usize, &SparseBlock<E>)| {
            let mut sum = 0.0;
            for a in 0..rows.ends.len() {
                let (columns, values) = rows.row_or_nothing(a);
                for (j, t) in columns.iter().zip(values) {
                    let i = self.share.rows().start + block * ROWS + a;
                    let low = if self.low.is_empty() { 0.0 } else { self.low_entry(i, *j as usize) };
                    sum += t.wide() * (t.wide() + 2.0 * low);
                }
            }
            sum
        };
        let parts: Vec<f64> = self.blocks.par_iter().enumerate().map(part).collect();
        let parts = self.share.gather_blocks("norms", &parts, ROWS, 1);
        let mut sum: f64 = parts.iter().sum();
        for (scale, v) in &self.low {
            for (other_scale, other) in &self.low {
                let r = other.n_columns();
                let mut full = vec![0.0; self.n * r];
                full.chunks_exact_mut(r).enumerate().for_each(|(i, row)| other.scatter(i, row));
                let cross = transposed_times(v, &full, r, &self.share);
                sum += scale * other_scale * cross.iter().map(|x| x * x).sum::<f64>();
            }
        }
        sum
    }

    fn degrees(&self) -> Vec<f64> {
        self.times_rows(&vec![1.0; self.n], 1)
    }

    fn get(&self, i: usize, j: usize) -> f64 {
        let (columns, values) = self.row(i);
        let sparse = columns.binary_search(&(j as u32)).map_or(0.0, |at| values[at].wide());
        sparse + self.low_entry(i, j)
    }

    fn clear(&mut self) {
        self.blocks.iter_mut().for_each(SparseBlock::clear);
        self.low.clear();
    }
}
