//! The nonnegative factor V, column by column, with an index of its nonzero entries.
//!
//! V soon has one or two nonzeros per row, so products that look only at nonzeros cost a fraction of
//! the dense ones. Whoever writes to a column makes its index anew, by `Factor::index_column`.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

use super::kernel;

/// Rows of one part of a sum over rows; as many as exact mode has at most.
pub(crate) const LONG: usize = 65_536;
/// Rows of V that are laid out by rows together.
const BLOCK: usize = 1024;
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
    fn new(factor: &Factor) -> Self {
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

/// Rows and values of the nonzeros of a column, rows ascending.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Nonzeros {
    pub(crate) rows: Vec<u32>,
    pub(crate) values: Vec<f64>,
}

impl Nonzeros {
    fn find(&mut self, column: &[f64]) {
        self.rows.clear();
        self.values.clear();
        self.append(0, column);
    }

    /// Those of these rows, of which the first has this number, behind what is there.
    pub(crate) fn append(&mut self, first: usize, column: &[f64]) {
        for (group, values) in column.chunks(8).enumerate() {
            if values.iter().fold(0, |any, v| any | v.to_bits()) == 0 {
                continue; // most of a column is 0, in long runs
            }
            for (i, v) in values.iter().enumerate().filter(|(_, v)| **v != 0.0) {
                self.rows.push((first + 8 * group + i) as u32);
                self.values.push(*v);
            }
        }
    }

    /// Of parts one behind the other.
    pub(crate) fn joined(parts: &[Self]) -> Self {
        let mut all = Self::with_room(parts.iter().map(|part| part.rows.len()).sum());
        for part in parts {
            all.rows.extend_from_slice(&part.rows);
            all.values.extend_from_slice(&part.values);
        }
        all
    }

    pub(crate) fn with_room(length: usize) -> Self {
        Self { rows: Vec::with_capacity(length), values: Vec::with_capacity(length) }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, f64)> + '_ {
        self.rows.iter().copied().zip(self.values.iter().copied())
    }

    /// Where those of these rows stand.
    #[inline(always)]
    fn within(&self, rows: &Range<usize>) -> Range<usize> {
        let at = |row: usize| self.rows.partition_point(|i| (*i as usize) < row);
        at(rows.start)..at(rows.end)
    }

    pub(crate) fn push(&mut self, row: u32, value: f64) {
        self.rows.push(row);
        self.values.push(value);
    }

    /// The sum of their products with the same rows of `x`.
    fn dot(&self, x: &[f64]) -> f64 {
        self.rows.iter().zip(&self.values).map(|(i, v)| v * x[*i as usize]).sum()
    }
}

/// Some rows of a column, one behind the other.
pub(crate) enum ColumnPart<'a> {
    /// Numbers and values of the nonzeros, where the column is long and has few.
    Few(&'a [u32], &'a [f64]),
    /// All of them.
    All(&'a [f64]),
}

impl ColumnPart<'_> {
    /// `out` ← `out` + scale · these rows, of which the first has this number.
    #[inline(always)]
    pub(crate) fn add_to(&self, scale: f64, first: usize, out: &mut [f64]) {
        match self {
            Self::Few(rows, values) => {
                rows.iter().zip(*values).for_each(|(i, v)| out[*i as usize - first] += scale * v);
            }
            Self::All(values) => kernel::add_scaled(out, scale, values),
        }
    }

    /// Their products with `x`, added up.
    #[inline(always)]
    pub(crate) fn dot(&self, first: usize, x: &[f64]) -> f64 {
        match self {
            Self::Few(rows, values) => {
                rows.iter().zip(*values).map(|(i, v)| v * x[*i as usize - first]).sum()
            }
            Self::All(values) => kernel::dot_lanes(values, x),
        }
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
        let gram = factor.gram();
        for i in 0..r {
            let sum = |x: &[f64]| factor.column(i).iter().zip(x).map(|(a, b)| a * b).sum::<f64>();
            (0..r).for_each(|j| close(gram[i * r + j], sum(factor.column(j))));
            close(factor.part(i, 0..n).dot(0, &d), sum(&d));
            let first = 700;
            let mut out = d[first..first + 2000].to_vec();
            factor.part(i, first..first + 2000).add_to(2.0, first, &mut out);
            for (at, out) in out.iter().enumerate() {
                assert_eq!(*out, d[first + at] + 2.0 * factor.get(first + at, i));
            }
        }
    }

    #[test]
    fn a_moved_column_is_what_the_formula_says() {
        let n = 3000;
        let mut random = Stream::new(6, 0);
        // Entries that stay, that rise from 0, that fall, to 0 and below, and that become dust.
        let values: Vec<f64> = (0..n).map(|_| (random.uniform() - 0.5).max(0.0)).collect();
        let d: Vec<f64> = values
            .iter()
            .map(|v| match random.below(4) {
                0 => 0.0,
                1 => random.uniform() * 1e-3,
                2 => -random.uniform() * v,
                _ => -1.5 * v,
            })
            .collect();
        let (scale, dust) = (0.7, 1e-3);
        let moved: Vec<f64> = values.iter().zip(&d).map(|(v, d)| (v + scale * d).max(0.0)).collect();
        let least = dust * moved.iter().copied().fold(0.0, f64::max);
        let wanted: Vec<f64> = moved.iter().map(|v| if *v < least { 0.0 } else { *v }).collect();
        assert!(
            (1..n).contains(&moved.iter().zip(&wanted).filter(|(a, b)| a != b).count()),
            "nothing is dust"
        );
        let mut nonzeros = Nonzeros::default();
        nonzeros.append(0, &d);
        let mut factor = Factor::new(values.clone(), n, 1);
        let length2 = factor.move_column(0, scale, &nonzeros, dust);
        assert!((length2 - kernel::norm2(&wanted)).abs() < 1e-12 * length2);
        // The index too is that of a factor made of these values.
        assert_eq!(factor, Factor::new(wanted, n, 1));
        let by_rows = factor.by_rows().clone();
        assert!((0..n).all(|i| by_rows.row(i).map(|(_, v)| v).sum::<f64>() == factor.get(i, 0)));
        factor.clear_column(0);
        assert_eq!((factor.n_nonzero(), factor.by_rows().n_nonzero(0)), (0, 0));
    }
}
