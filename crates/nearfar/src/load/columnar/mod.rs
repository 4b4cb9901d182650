//! Parquet and Arrow IPC (Feather 2), through the Arrow crates.
//!
//! Those crates panic on some damaged files, so the whole reading is caught; and what a file claims
//! is compared with its size first. Pages need not carry checksums: damage inside values may pass.

mod check;

use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_ipc::reader::FileReader;
use arrow_schema::{ArrowError, DataType, Schema};
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::columns::{Role, roles};
use super::error::{Column, LoadProblem, Place, shorten};
use super::labels::Labels;
use super::limit::Unpacked;
use super::table::{Table, TableValues};
use super::{Format, LoadOptions};

/// Rows decoded at a time.
const BATCH: usize = 8192;

/// Read a table of either format.
pub(crate) fn read(bytes: Vec<u8>, format: Format, options: &LoadOptions) -> Result<Table, LoadProblem> {
    let limit = Unpacked::new(bytes.len() as u64, options.max_bytes);
    let attempt = || match format {
        Format::Parquet => read_parquet(Bytes::from(bytes), limit, options),
        _ => read_ipc(&bytes, limit, options),
    };
    // Nothing that was half done is looked at again.
    catch_unwind(AssertUnwindSafe(attempt)).unwrap_or_else(|_| Err(damaged("its decoder gave up")))
}

/// What the Arrow crates complain of: damage, or a compression that is not built in.
fn damaged(error: impl std::fmt::Display) -> LoadProblem {
    let text = error.to_string();
    if text.contains("Disabled feature") || text.contains("requires the") {
        return LoadProblem::Unsupported {
            what: format!("this compression ({})", shorten(&text)),
            advice: "write the file with snappy, gzip, lz4 or no compression".to_owned(),
        };
    }
    LoadProblem::malformed("columns", format!("damaged ({text}); copy or make the file again"))
}

fn read_parquet(bytes: Bytes, mut limit: Unpacked, options: &LoadOptions) -> Result<Table, LoadProblem> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(bytes).map_err(damaged)?;
    let plan = Plan::new(builder.schema(), options)?;
    for group in builder.metadata().row_groups() {
        let rows = u64::try_from(group.num_rows()).map_err(damaged)?;
        limit.add(rows.saturating_mul(8 * plan.kept.len() as u64), || "the table".to_owned())?;
    }
    let mask = ProjectionMask::roots(builder.parquet_schema(), plan.kept.iter().copied());
    let reader = builder.with_projection(mask).with_batch_size(BATCH).build().map_err(damaged)?;
    plan.collect(reader)
}

fn read_ipc(bytes: &[u8], mut limit: Unpacked, options: &LoadOptions) -> Result<Table, LoadProblem> {
    if !bytes.starts_with(b"ARROW1") {
        return Err(LoadProblem::malformed(
            "first bytes",
            "this is not an Arrow IPC file (streams and Feather 1 are not read); write it with write_feather",
        ));
    }
    check::blocks(bytes, &mut limit)?;
    let schema = FileReader::try_new(Cursor::new(bytes), None).map_err(damaged)?.schema();
    let plan = Plan::new(&schema, options)?;
    let reader = FileReader::try_new(Cursor::new(bytes), Some(plan.kept.clone())).map_err(damaged)?;
    plan.collect(reader)
}

/// Which columns to read and what for.
struct Plan {
    /// Name of every column of the file.
    names: Vec<String>,
    /// Indices of the columns in use, rising.
    kept: Vec<usize>,
    /// What each of those is for.
    roles: Vec<Role>,
    /// Whether single precision holds every feature exactly.
    single: bool,
}

impl Plan {
    fn new(schema: &Schema, options: &LoadOptions) -> Result<Self, LoadProblem> {
        let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
        let mut all = roles(options, Some(&names), names.len(), false)?;
        // What pandas writes for the names of the rows.
        let index = names.iter().position(|name| name == "__index_level_0__");
        if let (Some(index), None, None) = (index, &options.id_column, &options.columns)
            && all[index] == Role::Feature
            && all.iter().filter(|role| **role == Role::Feature).count() > 1
        {
            all[index] = Role::Id;
        }
        let kept: Vec<usize> = (0..names.len()).filter(|&index| all[index] != Role::Skip).collect();
        let roles: Vec<Role> = kept.iter().map(|&index| all[index]).collect();
        let small = |kind: &DataType| {
            use DataType::{Boolean, Float16, Float32, Int8, Int16, UInt8, UInt16};
            matches!(kind, Float32 | Float16 | Int8 | Int16 | UInt8 | UInt16 | Boolean)
        };
        let mut features = kept.iter().filter(|&&index| all[index] == Role::Feature);
        let single = features.all(|&index| small(schema.field(index).data_type()));
        Ok(Self { names, kept, roles, single })
    }

    fn collect(
        &self,
        batches: impl Iterator<Item = Result<RecordBatch, ArrowError>>,
    ) -> Result<Table, LoadProblem> {
        if self.single { self.gather::<Float32Type>(batches) } else { self.gather::<Float64Type>(batches) }
    }

    fn gather<T>(
        &self,
        batches: impl Iterator<Item = Result<RecordBatch, ArrowError>>,
    ) -> Result<Table, LoadProblem>
    where
        T: ArrowPrimitiveType,
        T::Native: Into<f64> + Copy + Default,
        TableValues: From<Vec<T::Native>>,
    {
        let n_features = self.roles.iter().filter(|role| **role == Role::Feature).count();
        let (mut values, mut truth, mut ids, mut n_samples) = (Vec::new(), Vec::new(), Vec::new(), 0);
        for batch in batches {
            let batch = batch.map_err(damaged)?;
            values.resize(values.len() + batch.num_rows() * n_features, T::Native::default());
            let block = &mut values[n_samples * n_features..];
            let mut feature = 0;
            for (position, (column, role)) in batch.columns().iter().zip(&self.roles).enumerate() {
                let place = Cells { plan: self, position, first_row: n_samples };
                match role {
                    Role::Feature => {
                        place.numbers::<T>(column, &mut block[feature..], n_features)?;
                        feature += 1;
                    }
                    Role::Truth => truth.extend(place.texts(column, true)?),
                    Role::Id => ids.extend(place.texts(column, false)?),
                    Role::Skip | Role::Blank => {}
                }
            }
            n_samples += batch.num_rows();
        }
        if n_samples == 0 {
            return Err(LoadProblem::Empty { what: "the table has no rows".to_owned() });
        }
        let named = self.kept.iter().zip(&self.roles).filter(|(_, role)| **role == Role::Feature);
        Ok(Table {
            values: values.into(),
            n_samples,
            n_features,
            column_names: Some(named.map(|(&index, _)| self.names[index].clone()).collect()),
            truth: self
                .roles
                .contains(&Role::Truth)
                .then(|| Labels::from_names(truth.into_iter().map(Into::into))),
            ids: self.roles.contains(&Role::Id).then_some(ids),
            source: format!("{n_samples} x {n_features}"),
        })
    }
}

impl From<Vec<f32>> for TableValues {
    fn from(values: Vec<f32>) -> Self {
        Self::F32(values)
    }
}

impl From<Vec<f64>> for TableValues {
    fn from(values: Vec<f64>) -> Self {
        Self::F64(values)
    }
}

/// One column of one batch, with what an error must say about it.
struct Cells<'a> {
    plan: &'a Plan,
    /// Which of the columns in use.
    position: usize,
    /// Row of the file the batch begins with.
    first_row: usize,
}

impl Cells<'_> {
    fn column(&self) -> Column {
        Column::new(self.plan.kept[self.position], Some(&self.plan.names))
    }

    fn place(&self, row: usize) -> Place {
        Place::Row(self.first_row + row)
    }

    /// Refuse nulls.
    fn complete(&self, column: &ArrayRef) -> Result<(), LoadProblem> {
        if column.null_count() == 0 {
            return Ok(());
        }
        let row = (0..column.len()).find(|&row| column.is_null(row)).unwrap_or(0);
        Err(LoadProblem::Missing { place: self.place(row), column: self.column() })
    }

    /// Write the column to every `stride`-th value of `out`.
    fn numbers<T>(&self, column: &ArrayRef, out: &mut [T::Native], stride: usize) -> Result<(), LoadProblem>
    where
        T: ArrowPrimitiveType,
        T::Native: Into<f64> + Copy,
    {
        let kind = column.data_type();
        let is_number =
            kind.is_integer() || kind.is_floating() || *kind == DataType::Boolean || is_decimal(kind);
        if !is_number {
            return Err(self.not_numeric(column));
        }
        self.complete(column)?;
        let numbers = arrow_cast::cast(column, &T::DATA_TYPE).map_err(damaged)?;
        let numbers = numbers.as_primitive::<T>().values();
        for (row, (&value, out)) in numbers.iter().zip(out.iter_mut().step_by(stride)).enumerate() {
            let wide: f64 = value.into();
            if !wide.is_finite() {
                let (place, value) = (self.place(row), wide.to_string());
                return Err(LoadProblem::NotFinite { place, column: self.column(), value });
            }
            *out = value;
        }
        Ok(())
    }

    fn not_numeric(&self, column: &ArrayRef) -> LoadProblem {
        let first = column.slice(0, column.len().min(1));
        match arrow_cast::cast(&first, &DataType::Utf8) {
            Ok(text) if text.len() == 1 => {
                let text = text.as_string::<i32>();
                let value = if text.is_null(0) { String::new() } else { shorten(text.value(0)) };
                LoadProblem::NotNumeric { place: self.place(0), column: self.column(), value }
            }
            _ => LoadProblem::Unsupported {
                what: format!("{} of type {}", self.column(), shorten(&column.data_type().to_string())),
                advice: "name the columns to use with --columns".to_owned(),
            },
        }
    }

    /// Every cell as text; an empty class is refused, an empty row name is not.
    fn texts(&self, column: &ArrayRef, needed: bool) -> Result<Vec<String>, LoadProblem> {
        if needed {
            self.complete(column)?;
        }
        let texts = arrow_cast::cast(column, &DataType::Utf8).map_err(|_| self.not_numeric(column))?;
        let texts = texts.as_string::<i32>();
        Ok(texts.iter().map(|text| text.unwrap_or_default().to_owned()).collect())
    }
}

fn is_decimal(kind: &DataType) -> bool {
    use DataType::{Decimal32, Decimal64, Decimal128, Decimal256};
    matches!(kind, Decimal32(..) | Decimal64(..) | Decimal128(..) | Decimal256(..))
}
