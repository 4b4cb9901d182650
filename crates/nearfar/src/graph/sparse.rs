//! A symmetric sparse matrix, both triangles kept, row after row.

use std::ops::Range;

use rayon::prelude::*;

use crate::error::{DataError, Result};
use crate::math::factor::Factor;
use crate::processes::Share;
use crate::slices::{Graph, SparseRows};
use crate::spectral::eigen::Operator;

/// Rows that one task works on; fixed, so that sums do not depend on the number of threads.
const ROWS: usize = 256;

/// A symmetric sparse matrix. Every pass costs time in its entries alone.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SparseGraph {
    rows: SparseRows,
    /// Where several processes have the graph: everybody multiplies its own rows.
    share: Option<Share>,
}

impl SparseGraph {
    /// From (row, column, value), in any order; entries at one place are merged. Give both triangles.
    pub(crate) fn from_entries(
        n: usize,
        mut entries: Vec<(u32, u32, f64)>,
        merge: impl Fn(f64, f64) -> f64,
    ) -> Self {
        // Stable, so that merging a sum always happens in the same order.
        entries.par_sort_by_key(|(i, j, _)| (*i, *j));
        let mut rows = SparseRows { starts: vec![0; n + 1], ..SparseRows::default() };
        let mut last = None;
        for (i, j, value) in entries {
            if last == Some((i, j)) {
                let end = rows.values.len() - 1;
                rows.values[end] = merge(rows.values[end], value);
                continue;
            }
            last = Some((i, j));
            rows.columns.push(j);
            rows.values.push(value);
            rows.starts[i as usize + 1] += 1;
        }
        for i in 0..n {
            rows.starts[i + 1] += rows.starts[i];
        }
        Self { rows, share: None }
    }

    /// From (row, column, value) of a symmetric matrix, both triangles, in any order; what shares a place is added up.
    ///
    /// ```
    /// use nearfar::learn::SparseGraph;
    /// let path = [(0, 1, 0.5), (1, 0, 0.5), (1, 2, 2.0), (2, 1, 2.0)];
    /// assert_eq!(SparseGraph::from_edges(3, path)?.n_entries(), 4);
    /// assert!(SparseGraph::from_edges(3, [(0, 1, 0.5)]).is_err());
    /// # Ok::<(), nearfar::Error>(())
    /// ```
    ///
    /// # Errors
    /// Names the first entry that lies outside, is negative or not finite, or has no equal in the other triangle.
    pub fn from_edges(n: usize, edges: impl IntoIterator<Item = (usize, usize, f64)>) -> Result<Self> {
        let wrong = |row, column, value, rule: &str| DataError::Precomputed {
            what: "graph",
            row,
            column,
            value,
            rule: rule.into(),
        };
        let mut entries = Vec::new();
        for (i, j, value) in edges {
            if i >= n || j >= n || u32::try_from(n).is_err() {
                return Err(wrong(i, j, value, "rows and columns must be below the number of samples").into());
            }
            if !(value >= 0.0 && value.is_finite()) {
                return Err(wrong(i, j, value, "weights must be finite and 0 or more").into());
            }
            if value > 0.0 {
                entries.push((i as u32, j as u32, value));
            }
        }
        let graph = Self::from_entries(n, entries, |a, b| a + b);
        for i in 0..n {
            let (places, values) = graph.row(i);
            for (j, value) in places.iter().zip(values) {
                let j = *j as usize;
                if graph.get(j, i) != *value {
                    return Err(wrong(i, j, *value, "both triangles must hold the same weight").into());
                }
            }
        }
        Ok(graph)
    }

    /// Of rows that are a symmetric matrix.
    pub(crate) fn of_rows(rows: SparseRows) -> Self {
        Self { rows, share: None }
    }

    /// The same graph, of which several processes multiply their own rows; all have all of it.
    #[must_use]
    pub(crate) fn shared(self, share: Option<&Share>) -> Self {
        Self { share: share.filter(|share| share.is_split()).cloned(), ..self }
    }

    /// Rows, columns and values.
    pub fn rows(&self) -> &SparseRows {
        &self.rows
    }

    /// Number of stored entries.
    pub fn n_entries(&self) -> usize {
        self.rows.values.len()
    }

    /// Columns and values of row i.
    pub fn row(&self, i: usize) -> (&[u32], &[f64]) {
        let at = self.rows.starts[i]..self.rows.starts[i + 1];
        (&self.rows.columns[at.clone()], &self.rows.values[at])
    }

    /// Sum of every row.
    pub(crate) fn row_sums(&self) -> Vec<f64> {
        (0..self.size()).map(|i| self.row(i).1.iter().sum()).collect()
    }

    /// Replace every value by a symmetric function of its place and itself.
    pub(crate) fn scale_entries(&mut self, scale: impl Fn(usize, usize, f64) -> f64) {
        for i in 0..self.size() {
            for at in self.rows.starts[i]..self.rows.starts[i + 1] {
                self.rows.values[at] = scale(i, self.rows.columns[at] as usize, self.rows.values[at]);
            }
        }
    }

    /// Product with a row-major matrix of `columns` columns; the answer is row-major too.
    pub(crate) fn times_rows(&self, x: &[f64], columns: usize) -> Vec<f64> {
        let own = self.own_times(x, columns);
        match &self.share {
            Some(share) => share.gather_rows("rows of products", &own, columns),
            None => own,
        }
    }

    /// Rows that this process multiplies.
    fn here(&self) -> Range<usize> {
        self.share.as_ref().map_or(0..self.size(), Share::rows)
    }

    /// Own rows of that product.
    fn own_times(&self, x: &[f64], columns: usize) -> Vec<f64> {
        let here = self.here();
        let mut y = vec![0.0; here.len() * columns];
        y.par_chunks_mut(ROWS * columns.max(1)).enumerate().for_each(|(block, y)| {
            for (a, y) in y.chunks_exact_mut(columns).enumerate() {
                let (places, values) = self.row(here.start + block * ROWS + a);
                for (j, value) in places.iter().zip(values) {
                    let x = &x[*j as usize * columns..][..columns];
                    y.iter_mut().zip(x).for_each(|(y, x)| *y += value * x);
                }
            }
        });
        y
    }
}

/// Columns one after the other become rows one after the other.
pub(crate) fn to_rows(x: &[f64], n: usize, columns: usize) -> Vec<f64> {
    let mut rows = vec![0.0; x.len()];
    for (c, column) in x.chunks_exact(n.max(1)).enumerate() {
        for (i, value) in column.iter().enumerate() {
            rows[i * columns + c] = *value;
        }
    }
    rows
}

/// The other way.
pub(crate) fn to_columns(x: &[f64], n: usize, columns: usize, out: &mut [f64]) {
    for (i, row) in x.chunks_exact(columns.max(1)).enumerate() {
        for (c, value) in row.iter().enumerate() {
            out[c * n + i] = *value;
        }
    }
}

impl Operator for SparseGraph {
    fn size(&self) -> usize {
        self.rows.starts.len().saturating_sub(1)
    }

    fn apply(&self, x: &[f64], columns: usize, y: &mut [f64]) {
        let n = self.size();
        let rows = self.times_rows(&to_rows(x, n, columns), columns);
        to_columns(&rows, n, columns, y);
    }

    fn share(&self) -> Option<&Share> {
        self.share.as_ref()
    }

    fn apply_own(&self, x: &[f64], columns: usize, y: &mut [f64]) {
        let Some(share) = &self.share else { return self.apply(x, columns, y) };
        let n = share.rows().len();
        share.team().agree();
        let all = share.gather_rows("vectors", &to_rows(x, n, columns), columns);
        to_columns(&self.own_times(&all, columns), n, columns, y);
    }
}

impl Graph for SparseGraph {
    fn times(&self, factor: &Factor, out: &mut [f64]) {
        self.apply(factor.values(), factor.n_columns(), out);
    }

    fn quadratic(&self, d: &[f64]) -> f64 {
        let here = self.here();
        let parts: Vec<f64> = d[here.clone()]
            .par_chunks(ROWS)
            .enumerate()
            .map(|(block, own)| {
                let mut sum = 0.0;
                for (a, di) in own.iter().enumerate().filter(|(_, di)| **di != 0.0) {
                    let (places, values) = self.row(here.start + block * ROWS + a);
                    sum += di * places.iter().zip(values).map(|(j, t)| t * d[*j as usize]).sum::<f64>();
                }
                sum
            })
            .collect();
        match &self.share {
            Some(share) => share.gather_blocks("step lengths", &parts, ROWS, 1).iter().sum(),
            None => parts.iter().sum(),
        }
    }

    fn norm2(&self) -> f64 {
        self.rows.values.iter().map(|v| v * v).sum()
    }

    fn degrees(&self) -> Vec<f64> {
        self.row_sums()
    }

    fn get(&self, i: usize, j: usize) -> f64 {
        let (places, values) = self.row(i);
        places.binary_search(&(j as u32)).map_or(0.0, |at| values[at])
    }

    fn clear(&mut self) {
        let n = self.size();
        self.rows = SparseRows { starts: vec![0; n + 1], ..SparseRows::default() };
    }
}
