//! The nonnegative factor V, column by column, with an index of its nonzero entries.
//!
//! V soon has one or two nonzeros per row, so products that look only at nonzeros cost a fraction of
//! the dense ones. The index is rebuilt once per sweep, by `Factor::index`.

use rayon::prelude::*;

use super::kernel;

/// Rows of one part of a sum over rows; as many as exact mode has at most.
const LONG: usize = 65_536;

/// V, n × r, column-major, every entry at least 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Factor {
    n: usize,
    r: usize,
    values: Vec<f64>,
    nonzeros: Nonzeros,
}

/// Rows and values of the nonzeros, column after column, rows ascending.
#[derive(Clone, Debug, Default, PartialEq)]
struct Nonzeros {
    starts: Vec<usize>, // r + 1
    rows: Vec<u32>,
    values: Vec<f64>,
}

impl Factor {
    /// From column-major values.
    ///
    /// # Panics
    /// When `values` does not hold n × r numbers.
    #[must_use]
    pub fn new(values: Vec<f64>, n: usize, r: usize) -> Self {
        assert_eq!(values.len(), n * r, "a factor of {n} x {r} needs {} values", n * r);
        let mut factor = Self { n, r, values, nonzeros: Nonzeros::default() };
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

    pub(crate) fn column_mut(&mut self, j: usize) -> &mut [f64] {
        &mut self.values[j * self.n..(j + 1) * self.n]
    }

    pub(crate) fn scale(&mut self, by: f64) {
        for v in &mut self.values {
            *v *= by;
        }
        self.index();
    }

    /// Entry (i, j).
    pub fn get(&self, i: usize, j: usize) -> f64 {
        self.values[j * self.n + i]
    }

    /// Rebuild the index of nonzeros; call it after writing to columns.
    pub(crate) fn index(&mut self) {
        let of_column = |column: &[f64]| -> (Vec<u32>, Vec<f64>) {
            column.iter().enumerate().filter(|(_, v)| **v != 0.0).map(|(i, v)| (i as u32, *v)).unzip()
        };
        let columns: Vec<_> = self.values.par_chunks_exact(self.n.max(1)).map(of_column).collect();
        let Nonzeros { starts, rows, values } = &mut self.nonzeros;
        starts.clear();
        rows.clear();
        values.clear();
        starts.push(0);
        for (column_rows, column_values) in columns {
            rows.extend_from_slice(&column_rows);
            values.extend_from_slice(&column_values);
            starts.push(rows.len());
        }
    }

    /// Nonzeros of column j: ascending rows and their values.
    pub(crate) fn nonzeros(&self, j: usize) -> (&[u32], &[f64]) {
        let at = self.nonzeros.starts[j]..self.nonzeros.starts[j + 1];
        (&self.nonzeros.rows[at.clone()], &self.nonzeros.values[at])
    }

    /// Number of nonzeros in all columns.
    pub(crate) fn n_nonzero(&self) -> usize {
        self.nonzeros.rows.len()
    }

    /// VᵀV, r × r, both triangles.
    pub(crate) fn gram(&self) -> Vec<f64> {
        let r = self.r;
        let mut gram = vec![0.0; r * r];
        gram.par_chunks_mut(r.max(1)).enumerate().for_each(|(i, row)| {
            (i..r).for_each(|j| row[j] = kernel::dot(self.column(i), self.column(j)));
        });
        for i in 0..r {
            (0..i).for_each(|j| gram[i * r + j] = gram[j * r + i]);
        }
        gram
    }

    /// Vᵀd, in parts of [`LONG`] rows that are added up in their order.
    pub(crate) fn transposed_times(&self, d: &[f64]) -> Vec<f64> {
        let part = |(part, d): (usize, &[f64])| -> Vec<f64> {
            let rows = part * LONG..part * LONG + d.len();
            (0..self.r).map(|a| kernel::dot(&self.column(a)[rows.clone()], d)).collect()
        };
        let parts: Vec<Vec<f64>> = d.par_chunks(LONG).enumerate().map(part).collect();
        let mut sum = vec![0.0; self.r];
        for part in parts {
            sum.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
        }
        sum
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
