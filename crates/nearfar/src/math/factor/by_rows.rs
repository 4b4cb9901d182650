//! V by rows.

use std::ops::Range;

use rayon::prelude::*;

use super::{Factor, Nonzeros};

/// Rows of V that are laid out by rows together.
const BLOCK: usize = 1024;

/// V by rows, nonzeros only.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RowFactor {
    r: usize,
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

/// The nonzeros of these rows, at most [`BLOCK`], one row after the other; `ends` counts from `first` on.
fn lay_out(
    of_columns: &[Nonzeros],
    rows: Range<usize>,
    first: usize,
    ends: &mut [usize],
    (columns, values): (&mut [u32], &mut [f64]),
) {
    let nonzeros = || of_columns.iter().zip(0_u32..).map(|(of, c)| (c, of, of.within(&rows)));
    let mut next = [0_u32; BLOCK + 1]; // where row a begins, counted from the block
    for (_, of, at) in nonzeros() {
        of.rows[at].iter().for_each(|i| next[*i as usize - rows.start + 1] += 1);
    }
    for (a, end) in ends.iter_mut().enumerate() {
        next[a + 1] += next[a];
        *end = first + next[a + 1] as usize;
    }
    for (c, of, at) in nonzeros() {
        for (i, v) in of.rows[at.clone()].iter().zip(&of.values[at]) {
            let at = &mut next[*i as usize - rows.start];
            (columns[*at as usize], values[*at as usize]) = (c, *v);
            *at += 1;
        }
    }
}

impl RowFactor {
    /// Block by block of rows, so that what is written stays in cache while one column after the other adds to it.
    pub(super) fn new(factor: &Factor) -> Self {
        let (n, r) = (factor.n_samples(), factor.n_columns());
        let blocks: Vec<Range<usize>> = (0..n).step_by(BLOCK).map(|i| i..n.min(i + BLOCK)).collect();
        let in_block = |rows: &Range<usize>| (0..r).map(|c| factor.nonzeros[c].within(rows).len()).sum();
        let lengths: Vec<usize> = blocks.par_iter().map(in_block).collect();
        let total = lengths.iter().sum();
        let (mut starts, mut columns, mut values) = (vec![0; n + 1], vec![0; total], vec![0.0; total]);
        let mut work = Vec::with_capacity(blocks.len());
        let (mut free, mut first) = ((&mut starts[1..], &mut columns[..], &mut values[..]), 0);
        for (rows, length) in blocks.into_iter().zip(lengths) {
            let (ends, free_ends) = free.0.split_at_mut(rows.len());
            let (columns, free_columns) = free.1.split_at_mut(length);
            let (values, free_values) = free.2.split_at_mut(length);
            free = (free_ends, free_columns, free_values);
            work.push((rows, first, ends, columns, values));
            first += length;
        }
        work.into_par_iter().for_each(|(rows, first, ends, columns, values)| {
            lay_out(&factor.nonzeros, rows, first, ends, (columns, values));
        });
        Self { r, starts, columns, values }
    }

    /// Number of rows, n.
    pub(crate) fn n_rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of columns, r.
    pub(crate) fn n_columns(&self) -> usize {
        self.r
    }

    /// Number of nonzeros of row i.
    #[inline(always)]
    pub(crate) fn n_nonzero(&self, i: usize) -> usize {
        self.starts[i + 1] - self.starts[i]
    }

    /// Columns and values of the nonzeros of row i.
    #[inline(always)]
    pub(crate) fn row(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let at = self.starts[i]..self.starts[i + 1];
        self.columns[at.clone()].iter().map(|c| *c as usize).zip(self.values[at].iter().copied())
    }

    /// `out` ← row i; `out` was 0.
    pub(crate) fn scatter(&self, i: usize, out: &mut [f64]) {
        self.row(i).for_each(|(c, v)| out[c] = v);
    }

    /// Where row i is not 0, `out` ← 0.
    pub(crate) fn clear(&self, i: usize, out: &mut [f64]) {
        self.row(i).for_each(|(c, _)| out[c] = 0.0);
    }

    /// Row j times a full row.
    #[inline(always)]
    pub(crate) fn dot(&self, j: usize, own: &[f64]) -> f64 {
        self.row(j).map(|(c, v)| v * own[c]).sum()
    }
}
