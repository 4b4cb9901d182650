//! Samples as the caller holds them: a borrowed view of f32 or f64 values with any strides.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher};

use crate::error::{DataError, Result};
use crate::input::Metric;
use crate::plan::Held;
use crate::processes::Share;

/// A dense matrix of samples (rows) by features (columns), borrowed from the caller, never copied here.
///
/// ```
/// use nearfar::Samples;
/// let data = [0.0_f32, 1.0, 2.0, 3.0, 4.0, 5.0];
/// let by_rows = Samples::from_rows(&data, 3, 2)?;
/// let by_columns = Samples::from_columns(&data, 3, 2)?;
/// assert_eq!(by_rows.get(1, 0), 2.0);
/// assert_eq!(by_columns.get(1, 0), 1.0);
/// # Ok::<(), nearfar::Error>(())
/// ```
#[allow(clippy::struct_field_names)] // `n_samples` is the word for it everywhere
#[derive(Clone, Copy, Debug)]
pub struct Samples<'a> {
    values: Values<'a>,
    n_samples: usize,
    n_features: usize,
    row_stride: usize,
    column_stride: usize,
    in_file: bool,
}

/// The two storage types that are read in place.
#[derive(Clone, Copy, Debug)]
pub enum Values<'a> {
    /// Single precision.
    F32(&'a [f32]),
    /// Double precision.
    F64(&'a [f64]),
}

impl<'a> From<&'a [f32]> for Values<'a> {
    fn from(values: &'a [f32]) -> Self {
        Self::F32(values)
    }
}
impl<'a> From<&'a [f64]> for Values<'a> {
    fn from(values: &'a [f64]) -> Self {
        Self::F64(values)
    }
}
impl<'a, const N: usize> From<&'a [f32; N]> for Values<'a> {
    fn from(values: &'a [f32; N]) -> Self {
        Self::F32(values)
    }
}
impl<'a, const N: usize> From<&'a [f64; N]> for Values<'a> {
    fn from(values: &'a [f64; N]) -> Self {
        Self::F64(values)
    }
}
impl<'a> From<&'a Vec<f32>> for Values<'a> {
    fn from(values: &'a Vec<f32>) -> Self {
        Self::F32(values)
    }
}
impl<'a> From<&'a Vec<f64>> for Values<'a> {
    fn from(values: &'a Vec<f64>) -> Self {
        Self::F64(values)
    }
}

impl Values<'_> {
    fn len(&self) -> usize {
        match self {
            Self::F32(v) => v.len(),
            Self::F64(v) => v.len(),
        }
    }
}

impl<'a> Samples<'a> {
    /// One sample after the other (C order).
    ///
    /// # Errors
    /// When the buffer is not exactly `n_samples * n_features` values.
    pub fn from_rows(values: impl Into<Values<'a>>, n_samples: usize, n_features: usize) -> Result<Self> {
        let values = values.into();
        if n_samples.checked_mul(n_features) != Some(values.len()) {
            let (n_rows, n_columns, len) = (n_samples, n_features, values.len());
            return Err(DataError::Shape { n_rows, n_columns, len }.into());
        }
        Ok(Self { values, n_samples, n_features, row_stride: n_features, column_stride: 1, in_file: false })
    }

    /// One feature after the other (Fortran order).
    ///
    /// # Errors
    /// When the buffer is not exactly `n_samples * n_features` values.
    pub fn from_columns(values: impl Into<Values<'a>>, n_samples: usize, n_features: usize) -> Result<Self> {
        let rows = Self::from_rows(values, n_samples, n_features)?;
        Ok(Self { row_stride: 1, column_stride: n_samples, ..rows })
    }

    /// Value (i, j) stands at `i * row_stride + j * column_stride`.
    ///
    /// # Errors
    /// When the last value would lie outside the buffer.
    pub fn strided(
        values: impl Into<Values<'a>>,
        (n_samples, n_features): (usize, usize),
        (row_stride, column_stride): (usize, usize),
    ) -> Result<Self> {
        let values = values.into();
        let last = n_samples.saturating_sub(1).checked_mul(row_stride).and_then(|rows| {
            n_features
                .saturating_sub(1)
                .checked_mul(column_stride)
                .and_then(|columns| rows.checked_add(columns))
        });
        let fits = n_samples == 0 || n_features == 0 || last.is_some_and(|last| last < values.len());
        if !fits {
            let (n_rows, n_columns, len) = (n_samples, n_features, values.len());
            return Err(DataError::Shape { n_rows, n_columns, len }.into());
        }
        Ok(Self { values, n_samples, n_features, row_stride, column_stride, in_file: false })
    }

    /// Say that the values lie in a mapped file: the memory they take is the system's to give back at any time, and
    /// no plan counts it.
    #[must_use]
    pub fn in_file(self, in_file: bool) -> Self {
        Self { in_file, ..self }
    }

    /// How these samples are held for a search by this metric.
    pub(crate) fn held(&self, metric: Metric) -> Held {
        match self.single_rows() {
            Some(_) if metric != Metric::Euclidean => Held::Double,
            Some(_) if self.in_file => Held::Mapped,
            Some(_) => Held::Single,
            None => Held::Double,
        }
    }

    /// Number of samples, n.
    pub fn n_samples(&self) -> usize {
        self.n_samples
    }

    /// Number of features, m.
    pub fn n_features(&self) -> usize {
        self.n_features
    }

    /// The buffer, with its type.
    pub fn values(&self) -> Values<'a> {
        self.values
    }

    /// One value, widened to f64.
    ///
    /// # Panics
    /// When `row` or `column` is outside the matrix.
    pub fn get(&self, row: usize, column: usize) -> f64 {
        assert!(row < self.n_samples && column < self.n_features, "({row}, {column}) is outside the samples");
        let at = row * self.row_stride + column * self.column_stride;
        match self.values {
            Values::F32(v) => f64::from(v[at]),
            Values::F64(v) => v[at],
        }
    }

    /// All values in single precision, one sample after the other, where they lie so.
    pub(crate) fn single_rows(&self) -> Option<&'a [f32]> {
        let (n, m) = (self.n_samples, self.n_features);
        match self.values {
            Values::F32(values) if self.column_stride == 1 && (self.row_stride == m || n < 2) => {
                values.get(..n * m)
            }
            _ => None,
        }
    }

    /// Widen one sample into `out`, which holds `n_features` values.
    pub fn copy_row(&self, row: usize, out: &mut [f64]) {
        let start = row * self.row_stride;
        match self.values {
            Values::F64(v) if self.column_stride == 1 => out.copy_from_slice(&v[start..start + out.len()]),
            Values::F32(v) => {
                for (j, out) in out.iter_mut().enumerate() {
                    *out = f64::from(v[start + j * self.column_stride]);
                }
            }
            Values::F64(v) => {
                for (j, out) in out.iter_mut().enumerate() {
                    *out = v[start + j * self.column_stride];
                }
            }
        }
    }

    /// The spread of every column.
    pub fn spreads(&self) -> Vec<Spread> {
        self.spreads_shared(&Share::alone(self.n_samples))
    }

    /// The spread of every column, over the rows of all processes that share them; these are the own ones. The bits
    /// are those of one process.
    pub fn spreads_shared(&self, share: &Share) -> Vec<Spread> {
        let (n, m) = (share.n_rows() as f64, self.n_features());
        let each_row = |add: &mut dyn FnMut(usize, f64)| {
            let mut row = vec![0.0; m];
            for i in 0..self.n_samples() {
                self.copy_row(i, &mut row);
                row.iter().enumerate().for_each(|(j, x)| add(j, *x));
            }
        };
        let start: Vec<f64> = (0..m).flat_map(|_| [f64::INFINITY, f64::NEG_INFINITY, 0.0]).collect();
        let seen = share.team().relay("spreads", start, |seen| {
            each_row(&mut |j, x| {
                let [least, most, mean] = &mut seen.as_chunks_mut::<3>().0[j];
                (*least, *most, *mean) = (least.min(x), most.max(x), *mean + x / n);
            });
        });
        let spread = |seen: &[f64]| Spread { least: seen[0], most: seen[1], mean: seen[2], deviation: 0.0 };
        let mut spreads: Vec<Spread> = seen.chunks_exact(3).map(spread).collect();
        let squares = share.team().relay("spreads", vec![0.0; m], |squares| {
            each_row(&mut |j, x| {
                // In units of the width, so that no square overflows.
                let width = spreads[j].width();
                if width > 0.0 {
                    squares[j] += ((x / width) - (spreads[j].mean / width)).powi(2) / n;
                }
            });
        });
        for (spread, square) in spreads.iter_mut().zip(squares) {
            spread.deviation = square.sqrt() * spread.width();
        }
        spreads
    }

    /// How many rows equal an earlier one.
    pub fn copies(&self) -> usize {
        let mut seen: HashMap<u64, usize> = HashMap::new();
        let mut row = vec![0.0; self.n_features];
        let mut other = row.clone();
        let mut copies = 0;
        for i in 0..self.n_samples {
            self.copy_row(i, &mut row);
            let mut hasher = DefaultHasher::new();
            // −0 and 0 are one value.
            for x in &row {
                hasher.write_u64((x + 0.0).to_bits());
            }
            let first = *seen.entry(hasher.finish()).or_insert(i);
            self.copy_row(first, &mut other);
            copies += usize::from(first != i && row == other);
        }
        copies
    }

    /// Refuse an empty matrix and name the first value that is not finite.
    ///
    /// # Errors
    /// [`DataError::Empty`] or [`DataError::NotFinite`].
    pub fn check(&self) -> Result<()> {
        let (n_samples, n_features) = (self.n_samples, self.n_features);
        if n_samples == 0 || n_features == 0 {
            return Err(DataError::Empty { n_samples, n_features }.into());
        }
        let mut sample = vec![0.0; n_features];
        for row in 0..n_samples {
            self.copy_row(row, &mut sample);
            for (column, &value) in sample.iter().enumerate() {
                if !value.is_finite() {
                    return Err(DataError::NotFinite { what: "samples", row, column, value }.into());
                }
            }
        }
        Ok(())
    }
}

/// Centre and width of a column, safe for values near the largest numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Smallest value.
    pub least: f64,
    /// Largest value.
    pub most: f64,
    /// Mean.
    pub mean: f64,
    /// Standard deviation, of n and not of n − 1.
    pub deviation: f64,
}

impl Spread {
    /// Most minus least, or the largest number where that overflows.
    pub fn width(&self) -> f64 {
        (self.most - self.least).min(f64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_columns_and_strides_see_the_same_matrix() {
        let rows = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let columns = [1.0, 4.0, 2.0, 5.0, 3.0, 6.0];
        let padded = [1.0_f32, 2.0, 3.0, 9.0, 4.0, 5.0, 6.0];
        let a = Samples::from_rows(&rows, 2, 3).unwrap();
        let b = Samples::from_columns(&columns, 2, 3).unwrap();
        let c = Samples::strided(&padded, (2, 3), (4, 1)).unwrap();
        let mut sample = [0.0; 3];
        for i in 0..2 {
            for j in 0..3 {
                assert_eq!(a.get(i, j), b.get(i, j));
                assert_eq!(a.get(i, j), c.get(i, j));
            }
            b.copy_row(i, &mut sample);
            assert_eq!(sample, rows[3 * i..3 * i + 3]);
        }
    }

    #[test]
    fn wrong_shapes_and_values_are_named() {
        assert!(Samples::from_rows(&[1.0; 5], 2, 3).is_err());
        assert!(Samples::strided(&[1.0; 5], (2, 3), (3, 1)).is_err());
        assert!(Samples::from_rows(&[1.0; 6], usize::MAX, 2).is_err());
        let bad = Samples::from_rows(&[1.0, 2.0, f64::NAN, 4.0], 2, 2).unwrap();
        assert_eq!(
            bad.check().unwrap_err().to_string(),
            "samples: row 1, column 0 is NaN; every value must be a finite number (drop or fill such rows first)"
        );
        let empty: [f64; 0] = [];
        assert!(Samples::from_rows(&empty, 0, 3).unwrap().check().is_err());
    }
}
