//! The nonnegative factor V, column by column, with an index of its nonzero entries.
//!
//! V soon has one or two nonzeros per row, so products that look only at nonzeros cost a fraction of
//! the dense ones. Whoever writes to a column makes its index anew, by `Factor::index_column`.

mod by_rows;
mod nonzeros;
#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

use super::kernel;
pub(crate) use by_rows::RowFactor;
pub(crate) use nonzeros::{ColumnPart, Nonzeros};

/// Rows of one part of a sum over rows; as many as exact mode has at most.
pub(crate) const LONG: usize = 65_536;
/// A long column with fewer nonzeros than this share of its rows is multiplied by these alone.
const SPARSE: usize = 3;

/// V, n × r, column-major, every entry at least 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Factor {
    n: usize,
    r: usize,
    values: Vec<f64>,
    nonzeros: Vec<Nonzeros>, // r
    by_rows: Cached,
}

/// What follows from the values, once somebody has asked for it.
#[derive(Clone, Debug, Default)]
struct Cached(OnceLock<Arc<RowFactor>>);

impl PartialEq for Cached {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Factor {
    /// From column-major values.
    ///
    /// # Panics
    /// When `values` does not hold n × r numbers.
    #[must_use]
    pub fn new(values: Vec<f64>, n: usize, r: usize) -> Self {
        assert_eq!(values.len(), n * r, "a factor of {n} x {r} needs {} values", n * r);
        let mut factor = Self { n, r, values, nonzeros: Vec::new(), by_rows: Cached::default() };
        factor.index();
        factor
    }

    /// Number of samples, n.
    pub fn n_samples(&self) -> usize {
        self.n
    }

    /// Number of columns, r.
    pub fn n_columns(&self) -> usize {
        self.r
    }

    /// All values, column-major.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Column j.
    pub fn column(&self, j: usize) -> &[f64] {
        &self.values[j * self.n..(j + 1) * self.n]
    }

    /// V by rows; made once for this V.
    pub(crate) fn by_rows(&self) -> &Arc<RowFactor> {
        self.by_rows.0.get_or_init(|| Arc::new(RowFactor::new(self)))
    }

    pub(crate) fn column_mut(&mut self, j: usize) -> &mut [f64] {
        self.by_rows = Cached::default();
        &mut self.values[j * self.n..(j + 1) * self.n]
    }

    pub(crate) fn scale(&mut self, by: f64) {
        self.by_rows = Cached::default();
        for v in &mut self.values {
            *v *= by;
        }
        self.index();
    }

    /// Entry (i, j).
    pub fn get(&self, i: usize, j: usize) -> f64 {
        self.values[j * self.n + i]
    }

    /// Rebuild the index of nonzeros.
    fn index(&mut self) {
        self.nonzeros.resize_with(self.r, Nonzeros::default);
        let columns = self.values.par_chunks_exact(self.n.max(1));
        self.nonzeros.par_iter_mut().zip(columns).for_each(|(nonzeros, column)| nonzeros.find(column));
    }

    /// Rebuild the index of column j; call it after writing to it.
    pub(crate) fn index_column(&mut self, j: usize) {
        self.by_rows = Cached::default();
        self.nonzeros[j].find(&self.values[j * self.n..(j + 1) * self.n]);
    }

    /// Nonzeros of column j: ascending rows and their values.
    pub(crate) fn nonzeros(&self, j: usize) -> (&[u32], &[f64]) {
        let Nonzeros { rows, values } = &self.nonzeros[j];
        (rows, values)
    }

    /// Number of nonzeros in all columns.
    pub(crate) fn n_nonzero(&self) -> usize {
        self.nonzeros.iter().map(|nonzeros| nonzeros.rows.len()).sum()
    }

    /// The nonzeros of column j where it is long and has few.
    fn sparse(&self, j: usize) -> Option<&Nonzeros> {
        let nonzeros = &self.nonzeros[j];
        (self.n > LONG && SPARSE * nonzeros.rows.len() < self.n).then_some(nonzeros)
    }

    /// These rows of column j.
    #[inline(always)]
    pub(crate) fn part(&self, j: usize, range: Range<usize>) -> ColumnPart<'_> {
        let Some(nonzeros) = self.sparse(j) else {
            return ColumnPart::All(&self.column(j)[range]);
        };
        let found = nonzeros.within(&range);
        ColumnPart::Few(&nonzeros.rows[found.clone()], &nonzeros.values[found])
    }

    /// Column j ← column j + scale · d where that is not below 0; entries below `dust` of the largest one become 0.
    /// Answers the squared length. Looks at nonzeros alone.
    pub(crate) fn move_column(&mut self, j: usize, scale: f64, d: &Nonzeros, dust: f64) -> f64 {
        self.by_rows = Cached::default();
        let before = std::mem::take(&mut self.nonzeros[j]);
        let column = &mut self.values[j * self.n..(j + 1) * self.n];
        let mut after = Nonzeros::with_room(before.rows.len() + d.rows.len());
        let mut kept = 0;
        for (i, d) in d.iter() {
            while kept < before.rows.len() && before.rows[kept] < i {
                after.push(before.rows[kept], before.values[kept]);
                kept += 1;
            }
            let known = before.rows.get(kept) == Some(&i);
            let v = if known { before.values[kept] } else { 0.0 };
            kept += usize::from(known);
            let v = (v + scale * d).max(0.0);
            column[i as usize] = v;
            if v > 0.0 {
                after.push(i, v);
            }
        }
        after.rows.extend_from_slice(&before.rows[kept..]);
        after.values.extend_from_slice(&before.values[kept..]);
        let least = dust * after.values.iter().copied().fold(0.0, f64::max);
        if after.values.iter().any(|v| *v < least) {
            let all = std::mem::take(&mut after);
            for (i, v) in all.rows.into_iter().zip(all.values) {
                if v < least {
                    column[i as usize] = 0.0;
                } else {
                    after.push(i, v);
                }
            }
        }
        let length2 = kernel::norm2(&after.values);
        self.nonzeros[j] = after;
        length2
    }

    /// Column j ← 0.
    pub(crate) fn clear_column(&mut self, j: usize) {
        self.column_mut(j).fill(0.0);
        self.index_column(j);
    }

    /// Row i of VᵀV from its diagonal on; 0 before.
    pub(crate) fn gram_row(&self, i: usize) -> Vec<f64> {
        let entry = |j: usize| match (self.sparse(i), self.sparse(j)) {
            (Some(few), _) => few.dot(self.column(j)),
            (None, Some(few)) => few.dot(self.column(i)),
            (None, None) => kernel::dot(self.column(i), self.column(j)),
        };
        (0..self.r).map(|j| if j < i { 0.0 } else { entry(j) }).collect()
    }

    /// VᵀV, r × r, both triangles.
    pub(crate) fn gram(&self) -> Vec<f64> {
        let rows: Vec<Vec<f64>> = (0..self.r).into_par_iter().map(|i| self.gram_row(i)).collect();
        mirrored(rows.concat(), self.r)
    }

    /// Squared length of every row; the largest one is the largest entry of VVᵀ.
    pub(crate) fn row_norms2(&self) -> Vec<f64> {
        let mut norms = vec![0.0; self.n];
        for column in self.values.chunks_exact(self.n.max(1)) {
            for (norm, v) in norms.iter_mut().zip(column) {
                *norm += v * v;
            }
        }
        norms
    }

    /// ‖V‖².
    pub(crate) fn norm2(&self) -> f64 {
        kernel::norm2(&self.values)
    }

    /// ‖V − other‖ / ‖other‖.
    pub(crate) fn relative_change(&self, other: &Self) -> f64 {
        let difference: Vec<f64> = self.values.iter().zip(&other.values).map(|(a, b)| a - b).collect();
        (kernel::norm2(&difference) / other.norm2()).sqrt()
    }
}

/// A square matrix whose upper triangle is `upper`'s, both triangles.
pub(crate) fn mirrored(mut upper: Vec<f64>, r: usize) -> Vec<f64> {
    for i in 0..r {
        (0..i).for_each(|j| upper[i * r + j] = upper[j * r + i]);
    }
    upper
}
