//! What a file gives: samples, and if asked for, classes and row names.

use std::io::Write;

use super::LoadOptions;
use super::array::{NpyArray, NpyData, shape_text};
use super::buffer::{Buffer, Real};
use super::columns::{Role, roles};
use super::error::{Column, LoadProblem, Place};
use super::labels::{Labels, finite_name};
use crate::input::Samples;

/// Samples read from a file, one row per sample.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Table {
    /// All features of the first sample, then of the second, and so on.
    pub values: TableValues,
    /// Rows.
    pub n_samples: usize,
    /// Columns that are features.
    pub n_features: usize,
    /// Names of the features, when the file has them.
    pub column_names: Option<Vec<String>>,
    /// Known classes, when asked for.
    pub truth: Option<Labels>,
    /// Names of the rows, when there are any.
    pub ids: Option<Vec<String>>,
    /// What was read, in words.
    pub source: String,
}

/// What is said in `source` of doubles that were narrowed.
pub(crate) const NARROWED: &str = " held as float32";

/// Values of a table, finite, row after row.
#[derive(Clone, Debug, PartialEq)]
pub enum TableValues {
    /// Single precision: float32 files, and integers of up to 16 bits, which it holds exactly.
    F32(Buffer<f32>),
    /// Double precision: everything else.
    F64(Buffer<f64>),
}

impl Table {
    /// The values as the learner takes them, without a copy.
    ///
    /// # Panics
    /// When the public fields were changed to something that is not `n_samples * n_features` values.
    pub fn samples(&self) -> Samples<'_> {
        let (n, m) = (self.n_samples, self.n_features);
        let samples = match &self.values {
            TableValues::F32(values) => Samples::from_rows(&**values, n, m),
            TableValues::F64(values) => Samples::from_rows(&**values, n, m),
        };
        samples.expect("a table holds n_samples * n_features values").in_file(self.in_file())
    }

    /// Whether the values lie in a file and are fetched as they are needed.
    pub fn in_file(&self) -> bool {
        match &self.values {
            TableValues::F32(values) => values.in_file(),
            TableValues::F64(values) => values.in_file(),
        }
    }

    /// Whether the file that the values lie in, if they do, has been left alone since it was opened.
    pub fn is_unchanged(&self) -> bool {
        match &self.values {
            TableValues::F32(values) => values.is_unchanged(),
            TableValues::F64(values) => values.is_unchanged(),
        }
    }

    /// Whether doubles of the file were narrowed to single precision because they are too many for the memory.
    pub fn is_narrowed(&self) -> bool {
        self.source.contains(NARROWED)
    }

    /// Write the table as CSV with a header: row names first, classes last, numbers so that they read
    /// back to the same bits.
    ///
    /// # Errors
    /// When `out` fails.
    pub fn write_csv(&self, out: &mut impl Write) -> std::io::Result<()> {
        let mut line = String::new();
        let mut header: Vec<String> = self.ids.iter().map(|_| "id".to_owned()).collect();
        match &self.column_names {
            Some(names) => header.extend(names.iter().map(|name| quoted(name))),
            None => header.extend((0..self.n_features).map(|column| format!("x{column}"))),
        }
        header.extend(self.truth.iter().map(|_| "truth".to_owned()));
        writeln!(out, "{}", header.join(","))?;
        for row in 0..self.n_samples {
            line.clear();
            if let Some(ids) = &self.ids {
                line += &quoted(&ids[row]);
                line.push(',');
            }
            self.write_row(row, &mut line);
            if let Some(truth) = &self.truth {
                line.push(',');
                line += &quoted(&truth.names[truth.codes[row]]);
            }
            line.push('\n');
            out.write_all(line.as_bytes())?;
        }
        Ok(())
    }

    fn write_row(&self, row: usize, line: &mut String) {
        use std::fmt::Write as _;
        let range = row * self.n_features..(row + 1) * self.n_features;
        // Writing to a string cannot fail.
        let mut put = |column: usize, value: &dyn std::fmt::Debug| {
            let comma = if column == 0 { "" } else { "," };
            let _ = write!(line, "{comma}{value:?}");
        };
        match &self.values {
            TableValues::F32(values) => values[range].iter().enumerate().for_each(|(j, v)| put(j, v)),
            TableValues::F64(values) => values[range].iter().enumerate().for_each(|(j, v)| put(j, v)),
        }
    }

    /// Set the truth, one entry per sample.
    pub(crate) fn with_truth(mut self, truth: Labels) -> Result<Self, LoadProblem> {
        if truth.len() != self.n_samples {
            return Err(LoadProblem::TruthLength { found: truth.len(), expected: self.n_samples });
        }
        self.truth = Some(truth);
        Ok(self)
    }

    /// A table of an array with one row per sample, which the file stores as `kind`; further axes are joined into one.
    pub(crate) fn from_array(
        (array, kind): (NpyArray, String),
        names: Option<&[String]>,
        options: &LoadOptions,
        truth_elsewhere: bool,
    ) -> Result<Self, LoadProblem> {
        let source = format!("{} {kind}", shape_text(&array.shape));
        let n_samples = array.shape.first().copied().unwrap_or(0);
        if array.data.is_empty() || n_samples == 0 {
            return Err(LoadProblem::Empty { what: format!("the array is {}", shape_text(&array.shape)) });
        }
        let n_columns = array.data.len() / n_samples;
        let roles = roles(options, names, n_columns, truth_elsewhere)?;
        let values = match array.data {
            NpyData::F64(values) => TableValues::F64(values),
            NpyData::F32(values) => TableValues::F32(values),
            NpyData::Bool(values) => {
                TableValues::F32(values.into_iter().map(|v| f32::from(u8::from(v))).collect())
            }
            NpyData::I8(values) => TableValues::F32(widened(&values)?),
            NpyData::U8(values) => TableValues::F32(widened(&values)?),
            NpyData::I16(values) => TableValues::F32(widened(&values)?),
            NpyData::U16(values) => TableValues::F32(widened(&values)?),
            wide => TableValues::F64(wide.to_f64().into()),
        };
        match values {
            TableValues::F64(values) => Split::new(&roles, names).apply(values, TableValues::F64, source),
            TableValues::F32(values) => Split::new(&roles, names).apply(values, TableValues::F32, source),
        }
    }
}

/// Small whole numbers in single precision, which holds them exactly.
fn widened<T: Copy + Into<f32>>(values: &[T]) -> Result<Buffer<f32>, LoadProblem> {
    let mut wide = Buffer::zeros(values.len())?;
    wide.iter_mut().zip(values).for_each(|(wide, &value)| *wide = value.into());
    Ok(wide.seen_finite())
}

/// Features apart from classes and row names.
struct Split<'a> {
    roles: &'a [Role],
    names: Option<&'a [String]>,
}

impl<'a> Split<'a> {
    fn new(roles: &'a [Role], names: Option<&'a [String]>) -> Self {
        Self { roles, names }
    }

    /// Name the first value in use that is not finite.
    fn refuse_not_finite<T: Copy + Into<f64>>(&self, values: &[T]) -> Result<(), LoadProblem> {
        for (row, sample) in values.chunks_exact(self.roles.len()).enumerate() {
            for (index, (&value, role)) in sample.iter().zip(self.roles).enumerate() {
                let value: f64 = value.into();
                if !value.is_finite() && *role != Role::Skip {
                    let (place, column) = (Place::Row(row), Column::new(index, self.names));
                    return Err(LoadProblem::NotFinite { place, column, value: value.to_string() });
                }
            }
        }
        Ok(())
    }

    fn apply<T: Real>(
        &self,
        mut values: Buffer<T>,
        wrap: impl Fn(Buffer<T>) -> TableValues,
        source: String,
    ) -> Result<Table, LoadProblem> {
        let Self { roles, names } = *self;
        let n_samples = values.len() / roles.len();
        // Almost always all are finite, and seeing that is quick; only else look for the place.
        if !values.is_finite() {
            self.refuse_not_finite(&values)?;
        }
        let named = |wanted: Role| {
            let index = roles.iter().position(|role| *role == wanted)?;
            let column = values.iter().skip(index).step_by(roles.len());
            Some(column.map(|&value| finite_name(value.into()).unwrap_or_default()).collect::<Vec<_>>())
        };
        let truth = named(Role::Truth).map(|names| Labels::from_names(names.into_iter().map(Into::into)));
        let ids = named(Role::Id);
        let kept: Vec<usize> = roles
            .iter()
            .enumerate()
            .filter(|(_, role)| **role == Role::Feature)
            .map(|(index, _)| index)
            .collect();
        let column_names = names.map(|names| kept.iter().map(|&index| names[index].clone()).collect());
        if kept.len() < roles.len() {
            // Forward, so that nothing is written over before it is read.
            let all: &mut [T] = &mut values;
            for row in 0..n_samples {
                for (to, from) in kept.iter().enumerate() {
                    all[row * kept.len() + to] = all[row * roles.len() + from];
                }
            }
            values.truncate(n_samples * kept.len());
        }
        let n_features = kept.len();
        Ok(Table { values: wrap(values), n_samples, n_features, column_names, truth, ids, source })
    }
}

/// A CSV cell, in quotes when it needs them.
pub(crate) fn quoted(text: &str) -> String {
    let plain = !text.contains([',', '"', '\n', '\r', '#']) && text.trim() == text && !text.is_empty();
    if plain { text.to_owned() } else { format!("\"{}\"", text.replace('"', "\"\"")) }
}
