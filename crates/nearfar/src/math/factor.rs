//! The nonnegative factor V, column by column, with an index of its nonzero entries.
//!
//! V soon has one or two nonzeros per row, so products that look only at nonzeros cost a fraction of
//! the dense ones. Whoever writes to a column makes its index anew, by `Factor::index_column`.

use rayon::prelude::*;

use super::kernel;

/// Rows of one part of a sum over rows; as many as exact mode has at most.
const LONG: usize = 65_536;
/// A long column with fewer nonzeros than this share of its rows is multiplied by these alone.
const SPARSE: usize = 3;

/// V, n × r, column-major, every entry at least 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Factor {
    n: usize,
    r: usize,
    values: Vec<f64>,
    nonzeros: Vec<Nonzeros>, // r
}

/// Rows and values of the nonzeros of a column, rows ascending.
#[derive(Clone, Debug, Default, PartialEq)]
struct Nonzeros {
    rows: Vec<u32>,
    values: Vec<f64>,
}

impl Nonzeros {
    fn find(&mut self, column: &[f64]) {
        self.rows.clear();
        self.values.clear();
        for (i, v) in column.iter().enumerate().filter(|(_, v)| **v != 0.0) {
            self.rows.push(i as u32);
            self.values.push(*v);
        }
    }

    /// The sum of their products with the same rows of `x`.
    fn dot(&self, x: &[f64]) -> f64 {
        self.rows.iter().zip(&self.values).map(|(i, v)| v * x[*i as usize]).sum()
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
        let mut factor = Self { n, r, values, nonzeros: Vec::new() };
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

    /// Rebuild the index of nonzeros.
    fn index(&mut self) {
        self.nonzeros.resize_with(self.r, Nonzeros::default);
        let columns = self.values.par_chunks_exact(self.n.max(1));
        self.nonzeros.par_iter_mut().zip(columns).for_each(|(nonzeros, column)| nonzeros.find(column));
    }

    /// Rebuild the index of column j; call it after writing to it.
    pub(crate) fn index_column(&mut self, j: usize) {
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

    /// `out` ← `out` + scale · column j, of the rows from `first` on.
    #[inline(always)]
    pub(crate) fn add_column(&self, j: usize, scale: f64, first: usize, out: &mut [f64]) {
        let Some(Nonzeros { rows, values }) = self.sparse(j) else {
            kernel::add_scaled(out, scale, &self.column(j)[first..first + out.len()]);
            return;
        };
        let end = first + out.len();
        let at = |row: usize| rows.partition_point(|i| (*i as usize) < row);
        let (from, to) = (at(first), at(end));
        for (i, v) in rows[from..to].iter().zip(&values[from..to]) {
            out[*i as usize - first] += scale * v;
        }
    }

    /// VᵀV, r × r, both triangles.
    pub(crate) fn gram(&self) -> Vec<f64> {
        let r = self.r;
        let mut gram = vec![0.0; r * r];
        gram.par_chunks_mut(r.max(1)).enumerate().for_each(|(i, row)| {
            (i..r).for_each(|j| {
                row[j] = match (self.sparse(i), self.sparse(j)) {
                    (Some(few), _) => few.dot(self.column(j)),
                    (None, Some(few)) => few.dot(self.column(i)),
                    (None, None) => kernel::dot(self.column(i), self.column(j)),
                }
            });
        });
        for i in 0..r {
            (0..i).for_each(|j| gram[i * r + j] = gram[j * r + i]);
        }
        gram
    }

    /// Vᵀd; dense columns in parts of [`LONG`] rows that are added up in their order.
    pub(crate) fn transposed_times(&self, d: &[f64]) -> Vec<f64> {
        let of_column = |a: usize| match self.sparse(a) {
            Some(few) => few.dot(d),
            None => {
                let parts = self.column(a).chunks(LONG).zip(d.chunks(LONG));
                parts.map(|(v, d)| kernel::dot(v, d)).sum()
            }
        };
        if self.n > LONG {
            return (0..self.r).into_par_iter().map(of_column).collect();
        }
        (0..self.r).map(of_column).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::rng::Stream;

    #[test]
    fn long_columns_of_few_nonzeros_give_what_all_rows_give() {
        let (n, r) = (LONG + 1000, 3);
        let mut random = Stream::new(5, 0);
        // One column is full, one has a tenth of its rows, one has none.
        let share = [1.0, 0.1, 0.0];
        let mut entry = |j: usize| if random.uniform() < share[j] { random.uniform() } else { 0.0 };
        let values: Vec<f64> = (0..n * r).map(|at| entry(at / n)).collect();
        let d: Vec<f64> = (0..n).map(|_| random.uniform() - 0.5).collect();
        let factor = Factor::new(values, n, r);
        assert_eq!([0, 1, 2].map(|j| factor.sparse(j).is_some()), [false, true, true]);
        let close = |ours: f64, sum: f64| assert!((ours - sum).abs() <= 1e-9 * n as f64, "{ours} and {sum}");
        let (gram, products) = (factor.gram(), factor.transposed_times(&d));
        for i in 0..r {
            let sum = |x: &[f64]| factor.column(i).iter().zip(x).map(|(a, b)| a * b).sum::<f64>();
            (0..r).for_each(|j| close(gram[i * r + j], sum(factor.column(j))));
            close(products[i], sum(&d));
            let first = 700;
            let mut out = d[first..first + 2000].to_vec();
            factor.add_column(i, 2.0, first, &mut out);
            for (at, out) in out.iter().enumerate() {
                assert_eq!(*out, d[first + at] + 2.0 * factor.get(first + at, i));
            }
        }
    }
}
