//! V row by row in storage precision: all of it, or the first few nonzeros in one place.

use rayon::prelude::*;

use super::ROWS;
use crate::math::factor::{Factor, RowFactor};
use crate::math::kernel::{Entry, added_up};
use crate::processes::{Share, unit};

/// VᵀX, r × b, of a row-major X of which the own rows are looked at; units of rows are added up in their order.
pub(super) fn transposed_times(v: &RowFactor, x: &[f64], b: usize, share: &Share) -> Vec<f64> {
    let (rows, width) = (share.rows(), v.n_columns() * b);
    let unit = unit(share.n_rows());
    let part = |(at, x): (usize, &[f64])| {
        let mut part = vec![0.0; width];
        for (a, x) in x.chunks_exact(b).enumerate() {
            for (c, v) in v.row(rows.start + at * unit + a) {
                part[c * b..(c + 1) * b].iter_mut().zip(x).for_each(|(sum, x)| *sum += v * x);
            }
        }
        part
    };
    let own = &x[rows.start * b..rows.end * b];
    let parts: Vec<Vec<f64>> = own.par_chunks(unit * b).enumerate().map(part).collect();
    added_up(&share.gather_blocks("V against vectors", &parts.concat(), unit, width), width)
}

/// Columns that a byte can number.
pub(super) const FEW_COLUMNS: usize = 256;
/// Nonzeros of a short row.
const SHORT: usize = 6;
/// One row in so many may be longer; where more are, all of V is the better form.
const LONG_SHARE: usize = 4;

/// A row of at most six nonzeros: half a line of cache in single precision.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct ShortRow<E> {
    /// 0 behind the last one.
    values: [E; SHORT],
    columns: [u8; SHORT],
    /// There are more nonzeros: they stand in [`RowFactor`] alone.
    long: bool,
}

/// V by rows in storage precision, where most rows have six nonzeros at most, as they soon do: whoever asks for the
/// rows of many points in no order waits once for each, and the whole is small enough for a large cache.
pub(super) struct ShortRows<'a, E> {
    rows: Vec<ShortRow<E>>,
    all: &'a RowFactor,
}

impl<'a, E: Entry> ShortRows<'a, E> {
    /// `None` where too many rows are longer, or there are more columns than a byte can number.
    pub(super) fn new(all: &'a RowFactor) -> Option<Self> {
        let n = all.n_rows();
        let long = (0..n).filter(|i| all.n_nonzero(*i) > SHORT).count();
        if all.n_columns() > FEW_COLUMNS || long > n / LONG_SHARE {
            return None;
        }
        let mut rows = vec![ShortRow::default(); n];
        rows.par_chunks_mut(ROWS).enumerate().for_each(|(block, rows)| {
            for (a, row) in rows.iter_mut().enumerate() {
                let i = block * ROWS + a;
                row.long = all.n_nonzero(i) > SHORT;
                for (at, (c, v)) in all.row(i).take(SHORT).enumerate() {
                    (row.columns[at], row.values[at]) = (c as u8, E::narrow(v));
                }
            }
        });
        Some(Self { rows, all })
    }

    /// Whether any of these rows is long. It asks for all of them at once, in a loop so short that many are under
    /// way while memory answers; whoever works on them afterwards finds them in cache.
    #[inline(always)]
    fn any_long(&self, rows: &[u32]) -> bool {
        rows.iter().fold(false, |any, j| any | self.rows[*j as usize].long)
    }

    /// `out` ← these rows times a full row.
    #[inline(always)]
    pub(super) fn dots(&self, rows: &[u32], own: &[f64; FEW_COLUMNS], out: &mut [f64]) {
        let long = self.any_long(rows);
        for (out, j) in out.iter_mut().zip(rows) {
            *out = if long { self.dot_of_any(*j as usize, own) } else { self.dot(*j as usize, own) };
        }
    }

    #[inline(always)]
    fn dot_of_any(&self, j: usize, own: &[f64; FEW_COLUMNS]) -> f64 {
        if self.rows[j].long {
            self.all.row(j).map(|(c, v)| E::narrow(v).wide() * own[c]).sum()
        } else {
            self.dot(j, own)
        }
    }

    /// Short row j times a full row.
    #[inline(always)]
    fn dot(&self, j: usize, own: &[f64; FEW_COLUMNS]) -> f64 {
        let ShortRow { values, columns, .. } = &self.rows[j];
        // All terms always: which rows have fewer cannot be foreseen.
        let mut sum = 0.0;
        for (c, v) in columns.iter().zip(values) {
            sum += v.wide() * own[*c as usize];
        }
        sum
    }

    /// `out` ← `out` + these rows with their weights.
    #[inline(always)]
    pub(super) fn add_to(&self, rows: &[u32], weights: &[E], out: &mut [f64; FEW_COLUMNS]) {
        let any_long = self.any_long(rows);
        for (j, t) in rows.iter().zip(weights) {
            let (row, t) = (&self.rows[*j as usize], t.wide());
            if any_long && row.long {
                self.all.row(*j as usize).for_each(|(c, v)| out[c] += t * E::narrow(v).wide());
                continue;
            }
            for (c, v) in row.columns.iter().zip(&row.values) {
                out[*c as usize] += t * v.wide();
            }
        }
    }
}

/// V by rows in storage precision, zeros included.
pub(super) struct FullRows<E> {
    r: usize,
    values: Vec<E>,
}

impl<E: Entry> FullRows<E> {
    pub(super) fn new(factor: &Factor) -> Self {
        let (n, r) = (factor.n_samples(), factor.n_columns());
        let mut values = vec![E::default(); n * r];
        values.par_chunks_mut((ROWS * r).max(1)).enumerate().for_each(|(block, rows)| {
            for c in 0..r {
                let column = &factor.column(c)[block * ROWS..];
                rows.chunks_exact_mut(r).zip(column).for_each(|(row, v)| row[c] = E::narrow(*v));
            }
        });
        Self { r, values }
    }

    #[inline(always)]
    pub(super) fn get(&self, i: usize, c: usize) -> f64 {
        self.values[i * self.r + c].wide()
    }
}
