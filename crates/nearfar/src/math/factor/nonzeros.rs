//! The nonzeros of a column, and parts of it.

use std::ops::Range;

use crate::math::kernel;

/// Rows and values of the nonzeros of a column, rows ascending.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Nonzeros {
    pub(crate) rows: Vec<u32>,
    pub(crate) values: Vec<f64>,
}

impl Nonzeros {
    pub(super) fn find(&mut self, column: &[f64]) {
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
    pub(super) fn within(&self, rows: &Range<usize>) -> Range<usize> {
        let at = |row: usize| self.rows.partition_point(|i| (*i as usize) < row);
        at(rows.start)..at(rows.end)
    }

    pub(crate) fn push(&mut self, row: u32, value: f64) {
        self.rows.push(row);
        self.values.push(value);
    }

    /// The sum of their products with the same rows of `x`.
    pub(super) fn dot(&self, x: &[f64]) -> f64 {
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
