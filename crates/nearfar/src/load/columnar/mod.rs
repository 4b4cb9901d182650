//! Parquet and Arrow IPC (Feather 2), through the Arrow crates.
//!
//! Those crates panic on some damaged files, so the whole reading is caught; and what a file claims
//! is compared with its size first. Pages need not carry checksums: damage inside values may pass.

mod cells;
mod check;
mod pages;

use std::fs::File;
use std::io::Cursor;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_array::RecordBatch;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, DataType, Schema};
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::file::reader::ChunkReader;

use super::buffer::Buffer;
use super::columns::{Role, roles};
use super::error::LoadProblem;
use super::labels::Labels;
use super::limit::Unpacked;
use super::memory::MemoryBudget;
use super::table::{NARROWED, Table, TableValues};
use super::text::label_column;
use super::{Format, LoadOptions, Truth};
use cells::{Cells, Number};

/// Rows decoded at a time: the lines of memory that they fill should stay in the cache from column to column.
const BATCH: usize = 4096;
/// Bytes of a row that are filled in one pass, two lines of memory: with fewer columns open at a time, fewer pages wait
/// unpacked; with more, more of what memory brings along is used.
const LINE: usize = 128;
/// Columns turned into rows together: as many as there are registers to point at them.
const TOGETHER: usize = 8;
/// What pandas calls the column of row names.
const ROW_NAMES: &str = "__index_level_0__";

/// Read a table of either format.
pub(crate) fn read(bytes: Buffer<u8>, format: Format, options: &LoadOptions) -> Result<Table, LoadProblem> {
    with_plan(bytes, format, options, |schema| Plan::new(schema, options))
}

/// Read a table of a Parquet file, a page at a time, so that the file is never in memory as a whole.
pub(crate) fn read_file(file: &File, length: u64, options: &LoadOptions) -> Result<Table, LoadProblem> {
    read_rows(file, length, options, 0..usize::MAX)
}

/// The same of some rows: only the row groups that hold them are looked at.
pub(crate) fn read_rows(
    file: &File,
    length: u64,
    options: &LoadOptions,
    rows: Range<usize>,
) -> Result<Table, LoadProblem> {
    let limit = Unpacked::new(length, options.max_bytes);
    guarded(|| read_parquet(|| file.try_clone(), limit, rows, &|schema| Plan::new(schema, options)))
}

/// Rows of a Parquet file.
pub(crate) fn count_rows(file: &File) -> Result<usize, LoadProblem> {
    let count = || -> Result<usize, LoadProblem> {
        let metadata = ArrowReaderMetadata::load(file, ArrowReaderOptions::default()).map_err(damaged)?;
        let rows = metadata.metadata().row_groups().iter().map(|group| u64::try_from(group.num_rows()));
        let rows = rows.sum::<Result<u64, _>>().map_err(damaged)?;
        Ok(rows as usize)
    };
    catch_unwind(AssertUnwindSafe(count)).unwrap_or_else(|_| Err(damaged("its decoder gave up")))
}

/// Read a column of labels: the one named as truth, the only one, or the one with a title that says so.
pub(crate) fn read_labels(
    bytes: Buffer<u8>,
    format: Format,
    options: &LoadOptions,
) -> Result<Labels, LoadProblem> {
    let table = with_plan(bytes, format, options, |schema| Plan::of_labels(schema, options))?;
    Ok(table.truth.unwrap_or_default())
}

fn with_plan(
    bytes: Buffer<u8>,
    format: Format,
    options: &LoadOptions,
    plan: impl Fn(&Schema) -> Result<Plan, LoadProblem>,
) -> Result<Table, LoadProblem> {
    let limit = Unpacked::new(bytes.len() as u64, options.max_bytes);
    let attempt = || match format {
        Format::Parquet => {
            let bytes = Bytes::from_owner(bytes);
            read_parquet(|| Ok(bytes.clone()), limit, 0..usize::MAX, &plan)
        }
        _ if bytes.starts_with(b"ARROW1") => read_ipc(&bytes, limit, &plan),
        _ => read_stream(&bytes, limit, &plan),
    };
    guarded(attempt)
}

/// A panic of the decoder is damage. Nothing that was half done is looked at again.
fn guarded(attempt: impl FnOnce() -> Result<Table, LoadProblem>) -> Result<Table, LoadProblem> {
    catch_unwind(AssertUnwindSafe(attempt)).unwrap_or_else(|_| Err(damaged("its decoder gave up")))
}

/// What the Arrow crates complain of.
fn damaged(error: impl std::fmt::Display) -> LoadProblem {
    LoadProblem::malformed("columns", format!("damaged ({error}); copy or make the file again"))
}

/// A compression that is not built in, because it would need a library in C.
fn compressed(how: &str) -> LoadProblem {
    LoadProblem::Unsupported {
        what: format!("a file compressed with {}", how.to_lowercase()),
        advice: "write it again with lz4, snappy or gzip (Arrow: lz4) or without compression, as in \
                 pyarrow's write_table(…, compression=\"snappy\") and write_feather(…, compression=\"lz4\")"
            .to_owned(),
    }
}

type MakePlan<'a> = &'a dyn Fn(&Schema) -> Result<Plan, LoadProblem>;

/// Batches of some columns, rising in rows.
type Batches<'a> = Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + 'a>;

fn read_parquet<R: ChunkReader + 'static>(
    open: impl Fn() -> std::io::Result<R>,
    mut limit: Unpacked,
    wanted: Range<usize>,
    plan: MakePlan,
) -> Result<Table, LoadProblem> {
    let source = open().map_err(LoadProblem::Unreadable)?;
    let metadata = ArrowReaderMetadata::load(&source, ArrowReaderOptions::default()).map_err(damaged)?;
    let mut plan = plan(metadata.schema())?;
    let schema = metadata.parquet_schema();
    let kept = plan.kept.clone();
    let mask = |positions: Range<usize>| ProjectionMask::roots(schema, kept[positions].iter().copied());
    // Row groups that hold wanted rows, and the rows before the first of them.
    let (mut groups, mut before, mut rows) = (Vec::new(), 0, 0);
    for (number, group) in metadata.metadata().row_groups().iter().enumerate() {
        let more = u64::try_from(group.num_rows()).map_err(damaged)?;
        let here = rows..rows + more as usize;
        rows = here.end;
        if here.end <= wanted.start {
            before = here.end;
        } else if here.start < wanted.end {
            groups.push(number);
            limit.add(more.saturating_mul(8 * plan.kept.len() as u64), || "the table".to_owned())?;
        }
    }
    pages::check(&source, metadata.metadata(), &groups, &mask(0..plan.kept.len()), limit)?;
    let (all, rows) = (rows, wanted.end.min(rows).saturating_sub(wanted.start));
    plan.fit(rows);
    let width = LINE / if plan.single { 4 } else { 8 };
    plan.collect(rows, width, |positions| {
        let source = open().map_err(LoadProblem::Unreadable)?;
        let mut builder = ParquetRecordBatchReaderBuilder::new_with_metadata(source, metadata.clone());
        if rows < all {
            let skipped = wanted.start - before;
            builder = builder.with_row_groups(groups.clone()).with_offset(skipped).with_limit(rows);
        }
        let reader = builder.with_projection(mask(positions)).with_batch_size(BATCH).build();
        Ok(Box::new(reader.map_err(damaged)?))
    })
}

fn read_ipc(bytes: &[u8], mut limit: Unpacked, plan: MakePlan) -> Result<Table, LoadProblem> {
    let rows = check::blocks(bytes, &mut limit)?;
    let schema = FileReader::try_new(Cursor::new(bytes), None).map_err(damaged)?.schema();
    let plan = plan(&schema)?;
    plan.collect(rows, plan.kept.len(), |_| {
        let reader = FileReader::try_new(Cursor::new(bytes), Some(plan.kept.clone()));
        Ok(Box::new(reader.map_err(damaged)?))
    })
}

fn read_stream(bytes: &[u8], mut limit: Unpacked, plan: MakePlan) -> Result<Table, LoadProblem> {
    let rows = check::stream(bytes, &mut limit)?;
    let schema = StreamReader::try_new(Cursor::new(bytes), None).map_err(damaged)?.schema();
    let plan = plan(&schema)?;
    plan.collect(rows, plan.kept.len(), |_| {
        let reader = StreamReader::try_new(Cursor::new(bytes), Some(plan.kept.clone()));
        Ok(Box::new(reader.map_err(damaged)?))
    })
}

/// Which columns to read and what for.
struct Plan {
    /// Name of every column of the file.
    names: Vec<String>,
    /// Indices of the columns in use, rising.
    kept: Vec<usize>,
    /// What each of those is for.
    roles: Vec<Role>,
    /// Whether the features are read in single precision: it holds each exactly, or there is no room for more.
    single: bool,
    narrowed: bool,
    budget: MemoryBudget,
}

impl Plan {
    fn new(schema: &Schema, options: &LoadOptions) -> Result<Self, LoadProblem> {
        let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
        let mut all = roles(options, Some(&names), names.len(), false)?;
        let index = names.iter().position(|name| name == ROW_NAMES);
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
        Ok(Self { names, kept, roles, single, narrowed: false, budget: options.room() })
    }

    /// One column of labels and nothing else.
    fn of_labels(schema: &Schema, options: &LoadOptions) -> Result<Self, LoadProblem> {
        let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
        let wanted = match &options.truth {
            Some(Truth::Column(name)) => Some(name.as_str()),
            _ => None,
        };
        let mut others = names.iter().enumerate().filter(|(_, name)| *name != ROW_NAMES);
        let column = match (wanted, others.next(), others.next()) {
            (None, Some((only, _)), None) => only,
            _ => label_column(&names, wanted)?,
        };
        let (kept, roles) = (vec![column], vec![Role::Truth]);
        Ok(Self { names, kept, roles, single: true, narrowed: false, budget: options.room() })
    }

    /// Narrow what would not fit.
    fn fit(&mut self, rows: usize) {
        self.narrowed = !self.single && self.budget.narrows(rows.saturating_mul(self.n_features()));
        self.single |= self.narrowed;
    }

    fn n_features(&self) -> usize {
        self.roles.iter().filter(|role| **role == Role::Feature).count()
    }

    /// The table of `rows` rows, read in passes of `width` columns.
    fn collect<'a>(
        &self,
        rows: usize,
        width: usize,
        pass: impl FnMut(Range<usize>) -> Result<Batches<'a>, LoadProblem>,
    ) -> Result<Table, LoadProblem> {
        if self.single {
            self.gather::<Float32Type>(rows, width, pass)
        } else {
            self.gather::<Float64Type>(rows, width, pass)
        }
    }

    fn gather<'a, T>(
        &self,
        rows: usize,
        width: usize,
        mut pass: impl FnMut(Range<usize>) -> Result<Batches<'a>, LoadProblem>,
    ) -> Result<Table, LoadProblem>
    where
        T: Number,
        TableValues: From<Buffer<T::Native>>,
    {
        let n_features = self.n_features();
        let mut values = Buffer::<T::Native>::within(&self.budget, rows.saturating_mul(n_features))?;
        let (mut truth, mut ids, mut n_samples) = (Vec::new(), Vec::new(), 0);
        for start in (0..self.kept.len()).step_by(width) {
            let positions = start..(start + width).min(self.kept.len());
            let before = self.roles[..start].iter().filter(|role| **role == Role::Feature).count();
            let mut seen = 0;
            for batch in pass(positions.clone())? {
                let batch = batch.map_err(damaged)?;
                if batch.num_rows() > rows - seen {
                    return Err(damaged("there are more rows than announced"));
                }
                let block = &mut values[seen * n_features..(seen + batch.num_rows()) * n_features];
                let mut features = Vec::with_capacity(positions.len());
                for (position, column) in positions.clone().zip(batch.columns()) {
                    let place = Cells { plan: self, position, first_row: seen };
                    match self.roles[position] {
                        Role::Feature => features.push(place.numbers::<T>(column)?),
                        Role::Truth => truth.extend(place.texts(column, true)?),
                        Role::Id => ids.extend(place.texts(column, false)?),
                        Role::Skip | Role::Blank => {}
                    }
                }
                let features: Vec<&[T::Native]> =
                    features.iter().map(|numbers| &numbers.values()[..]).collect();
                // A batch may have no rows, and a pass no features.
                interleave(&features, block.get_mut(before..).unwrap_or_default(), n_features);
                seen += batch.num_rows();
            }
            if start > 0 && seen != n_samples {
                return Err(damaged("columns of different length"));
            }
            n_samples = seen;
        }
        if n_samples == 0 {
            return Err(LoadProblem::Empty { what: "the table has no rows".to_owned() });
        }
        values.truncate(n_samples * n_features);
        let named = self.kept.iter().zip(&self.roles).filter(|(_, role)| **role == Role::Feature);
        let narrowed = if self.narrowed { NARROWED } else { "" };
        let place = if values.in_file() { ", in a temporary file" } else { "" };
        let source = format!("{n_samples} x {n_features}{narrowed}{place}");
        Ok(Table {
            values: values.seen_finite().into(),
            n_samples,
            n_features,
            column_names: Some(named.map(|(&index, _)| self.names[index].clone()).collect()),
            truth: self
                .roles
                .contains(&Role::Truth)
                .then(|| Labels::from_names(truth.into_iter().map(Into::into))),
            ids: self.roles.contains(&Role::Id).then_some(ids),
            source,
        })
    }
}

impl From<Buffer<f32>> for TableValues {
    fn from(values: Buffer<f32>) -> Self {
        Self::F32(values)
    }
}

impl From<Buffer<f64>> for TableValues {
    fn from(values: Buffer<f64>) -> Self {
        Self::F64(values)
    }
}

/// Write columns of equal length side by side into rows of `stride` values, from the first value of `out` on.
fn interleave<T: Copy>(columns: &[&[T]], out: &mut [T], stride: usize) {
    if out.is_empty() {
        return;
    }
    let (groups, single) = columns.as_chunks::<TOGETHER>();
    for (group, columns) in groups.iter().enumerate() {
        rows_of(columns, &mut out[group * TOGETHER..], stride);
    }
    let first = groups.len() * TOGETHER;
    for (offset, column) in single.iter().enumerate() {
        rows_of(&[*column], &mut out[first + offset..], stride);
    }
}

/// Write `W` columns side by side: what lies together in memory is written together.
fn rows_of<const W: usize, T: Copy>(columns: &[&[T]; W], out: &mut [T], stride: usize) {
    let length = columns[0].len();
    let columns = columns.map(|column| &column[..length]);
    for (row, line) in (0..length).zip(out.chunks_mut(stride)) {
        let Some(line) = line.first_chunk_mut::<W>() else { return };
        for (value, column) in line.iter_mut().zip(&columns) {
            *value = column[row];
        }
    }
}
