//! load: files in, samples out.
//!
//! ```no_run
//! use nearfar::load::{LoadOptions, Truth, load};
//! let options = LoadOptions { truth: Some(Truth::Column("class".into())), ..LoadOptions::default() };
//! let table = load("iris.csv".as_ref(), &options)?;
//! println!("{}: {} x {}", table.source, table.n_samples, table.n_features);
//! # Ok::<(), nearfar::Error>(())
//! ```
//!
//! Every reader compares what a file claims with the bytes it has before it allocates, and answers
//! damage with an error that names the place.

pub(crate) mod array;
mod buffer;
#[cfg(feature = "parquet")]
mod columnar;
mod columns;
mod error;
mod labels;
mod limit;
mod mat;
mod memory;
mod npy;
pub(crate) mod npz;
pub(crate) mod part;
mod pick;
mod table;
mod text;

use std::fs::File;
use std::io::{BufReader, Cursor, Read, Seek};
use std::path::{Path, PathBuf};
use std::str::FromStr;

pub use buffer::Buffer;
pub use error::{Column, LoadError, LoadProblem, Place};
pub use labels::Labels;
pub use memory::MemoryBudget;
pub use npy::{NpyElement, write_npy};
pub use table::{Table, TableValues};

use error::nearest;
use limit::Unpacked;

/// A file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Comma-separated text.
    Csv,
    /// Tab-separated text.
    Tsv,
    /// Text separated by blanks, or by what the file itself shows.
    Text,
    /// One NumPy array.
    Npy,
    /// Several NumPy arrays.
    Npz,
    /// MATLAB level 5.
    Mat,
    /// Apache Parquet (with the cargo feature `parquet`).
    Parquet,
    /// Apache Arrow IPC, which is also Feather version 2 (with the cargo feature `parquet`).
    Arrow,
}

impl Format {
    /// Every format, its name and its extensions.
    const ALL: [(Self, &'static str, &'static [&'static str]); 8] = [
        (Self::Csv, "csv", &["csv"]),
        (Self::Tsv, "tsv", &["tsv", "tab"]),
        (Self::Text, "text", &["txt", "data", "dat"]),
        (Self::Npy, "npy", &["npy"]),
        (Self::Npz, "npz", &["npz"]),
        (Self::Mat, "mat", &["mat"]),
        (Self::Parquet, "parquet", &["parquet", "pq"]),
        (Self::Arrow, "arrow", &["arrow", "feather", "ipc"]),
    ];

    /// The format that a file's name says; `.gz` behind a text format is seen through.
    ///
    /// # Errors
    /// [`LoadProblem::UnknownFormat`] with the known ones.
    pub fn of(path: &Path) -> Result<Self, LoadProblem> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let (inner, gzipped) = name.strip_suffix(".gz").map_or((name.as_str(), false), |inner| (inner, true));
        let extension = inner.rsplit_once('.').map_or("", |(_, extension)| extension);
        let found = Self::ALL.iter().find(|(_, _, extensions)| extensions.contains(&extension));
        match found {
            Some((format, ..)) if !gzipped || format.is_text() => Ok(*format),
            _ if gzipped => Err(Self::unknown(&format!("{extension}.gz"))),
            _ => Err(Self::unknown(extension)),
        }
    }

    /// The name users write.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(format, ..)| *format == self).map_or("", |(_, name, _)| name)
    }

    fn is_text(self) -> bool {
        matches!(self, Self::Csv | Self::Tsv | Self::Text)
    }

    fn unknown(found: &str) -> LoadProblem {
        let known = Self::ALL.map(|(_, name, extensions)| {
            format!("{name} ({})", extensions.iter().map(|e| format!(".{e}")).collect::<Vec<_>>().join(" "))
        });
        let words =
            Self::ALL.iter().flat_map(|(_, name, extensions)| std::iter::once(name).chain(*extensions));
        LoadProblem::UnknownFormat {
            found: found.to_owned(),
            known: known.join(", "),
            suggestion: nearest(found, words.copied()),
        }
    }
}

impl FromStr for Format {
    type Err = LoadProblem;

    /// A name or an extension of a format.
    fn from_str(text: &str) -> Result<Self, LoadProblem> {
        let lower = text.trim().trim_start_matches('.').to_lowercase();
        let named =
            |(_, name, extensions): &&(Self, &str, &[&str])| *name == lower || extensions.contains(&&*lower);
        Self::ALL.iter().find(named).map(|(format, ..)| *format).ok_or_else(|| Self::unknown(text))
    }
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// Where the known classes are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Truth {
    /// A column by name or index (from 0; −1 is the last), or an array of an NPZ or MAT file by name.
    Column(String),
    /// A file of labels, one per sample.
    File(PathBuf),
}

/// How to read a file; the default reads every column as a feature.
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// The format; by the file's name when not given.
    pub format: Option<Format>,
    /// Which array of an NPZ or MAT file is the data.
    pub array: Option<String>,
    /// Where the known classes are.
    pub truth: Option<Truth>,
    /// A column of row names, by name or index.
    pub id_column: Option<String>,
    /// The columns to use as features, by name or index, in the file's order; all others when not given.
    pub columns: Option<Vec<String>>,
    /// Whether a text file's first line holds names; found out when not given.
    pub header: Option<bool>,
    /// What separates the cells of a text file (a space stands for any run of blanks); found out when not given.
    pub delimiter: Option<u8>,
    /// The most bytes to read or unpack. When not given: what is compressed may unpack to 100 times the file's
    /// size, and to 256 MiB in any case.
    pub max_bytes: Option<u64>,
    /// Memory that the run may use. Of data larger than half of it, NPY files of float32 are mapped instead of
    /// read, doubles are narrowed to single precision, and what is still larger is put into a temporary file.
    /// Everything is read into memory as it is when not given.
    pub memory: Option<u64>,
    /// Keep doubles as they are, however many.
    pub keep_double: bool,
}

impl LoadOptions {
    fn room(&self) -> MemoryBudget {
        MemoryBudget::new(self.memory, self.keep_double)
    }
}

/// Read a table from a file.
///
/// # Errors
/// When the file is not there, damaged, or holds something that is not a finite number.
pub fn load(path: &Path, options: &LoadOptions) -> Result<Table, LoadError> {
    let read = || {
        let input = Opened::open(path, options)?;
        let format = options.format.map_or_else(|| Format::of(path), Ok)?;
        match input {
            #[cfg(feature = "parquet")]
            Opened::File(file, length) if format == Format::Parquet && length > 0 => {
                let table = columnar::read_file(&file, length, options)?;
                Ok(Table { source: format!("{format}, {}", table.source), ..table })
            }
            Opened::File(file, length) if format == Format::Npy && length > 0 => {
                let table = npy::read_file(&file, length, options)?;
                Ok(Table { source: format!("{format}, {}", table.source), ..table })
            }
            Opened::File(file, length) => read_table(BufReader::new(file), length, format, options),
            Opened::Bytes(bytes) => read_bytes(bytes, format, options),
        }
    };
    finish(read(), path.display(), options)
}

/// Read a table from bytes already in memory, for example from standard input; `name` stands in messages.
///
/// # Errors
/// As [`load`].
pub fn load_bytes(
    bytes: Vec<u8>,
    format: Format,
    name: &str,
    options: &LoadOptions,
) -> Result<Table, LoadError> {
    finish(read_bytes(bytes, format, options), name, options)
}

/// Read labels: a text file of one per line (integers or words) or with one column of them, an NPY, NPZ or
/// MAT array of one dimension, or a column of a Parquet or Arrow file.
///
/// # Errors
/// As [`load`].
pub fn load_labels(path: &Path) -> Result<Labels, LoadError> {
    load_labels_with(path, &LoadOptions::default())
}

/// As [`load_labels`]; of the options, `format`, `array`, `header`, `delimiter`, `max_bytes` and a column named as
/// `truth` are used.
///
/// # Errors
/// As [`load`].
pub fn load_labels_with(path: &Path, options: &LoadOptions) -> Result<Labels, LoadError> {
    let read = || {
        let input = Opened::open(path, options)?;
        match options.format.map_or_else(|| Format::of(path), Ok)? {
            format if format.is_text() => text::read_labels(&input.bytes()?, options),
            Format::Npy => {
                let bytes = input.bytes()?;
                npy::read_labels(&mut &bytes[..], bytes.len() as u64)
            }
            Format::Npz => pick::npz_labels(&input.bytes()?, options),
            Format::Mat => pick::mat_labels(&input.bytes()?, options),
            #[cfg(feature = "parquet")]
            format => columnar::read_labels(input.bytes()?, format, options),
            #[cfg(not(feature = "parquet"))]
            format => Err(left_out(format)),
        }
    };
    read().map_err(|problem| LoadError::new(path.display(), problem))
}

/// Join the truth from its own file, and name the file in errors.
fn finish(
    table: Result<Table, LoadProblem>,
    name: impl std::fmt::Display,
    options: &LoadOptions,
) -> Result<Table, LoadError> {
    let name = name.to_string();
    let table = table.map_err(|problem| LoadError::new(&name, problem))?;
    let Some(Truth::File(path)) = &options.truth else { return Ok(table) };
    let max_bytes = options.max_bytes;
    let truth = load_labels_with(path, &LoadOptions { max_bytes, ..LoadOptions::default() })?;
    table.with_truth(truth).map_err(|problem| LoadError::new(path.display(), problem))
}

/// An opened file, or the bytes of what cannot be sought in.
enum Opened {
    File(File, u64),
    Bytes(Vec<u8>),
}

impl Opened {
    fn open(path: &Path, options: &LoadOptions) -> Result<Self, LoadProblem> {
        let of_system = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::NotFound => LoadProblem::NotFound,
            _ => LoadProblem::Unreadable(error),
        };
        let metadata = std::fs::metadata(path).map_err(of_system)?;
        if metadata.is_dir() {
            return Err(LoadProblem::IsDirectory);
        }
        let file = File::open(path).map_err(of_system)?;
        if metadata.is_file() {
            Unpacked::new(u64::MAX, options.max_bytes).add(metadata.len(), || "the file".to_owned())?;
            return Ok(Self::File(file, metadata.len()));
        }
        // A pipe, or something stranger: read at most 4 GiB of it.
        let mut limit = Unpacked::new(0, Some(options.max_bytes.unwrap_or(4 << 30)));
        let mut bytes = Vec::new();
        file.take(limit.left().saturating_add(1)).read_to_end(&mut bytes).map_err(LoadProblem::Unreadable)?;
        limit.add(bytes.len() as u64, || "the stream".to_owned())?;
        Ok(Self::Bytes(bytes))
    }

    fn bytes(self) -> Result<Buffer<u8>, LoadProblem> {
        match self {
            Self::File(mut file, length) => read_all(&mut file, length),
            Self::Bytes(bytes) => Ok(bytes.into()),
        }
    }
}

/// All bytes of a reader that should have `length`.
fn read_all(reader: &mut impl Read, length: u64) -> Result<Buffer<u8>, LoadProblem> {
    let mut bytes = Buffer::zeros(usize::try_from(length).unwrap_or(usize::MAX))?;
    let mut filled = 0;
    while filled < bytes.len() {
        match reader.read(&mut bytes[filled..]) {
            Ok(0) => break,
            Ok(more) => filled += more,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(LoadProblem::Unreadable(error)),
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}

fn read_bytes(bytes: Vec<u8>, format: Format, options: &LoadOptions) -> Result<Table, LoadProblem> {
    Unpacked::new(u64::MAX, options.max_bytes).add(bytes.len() as u64, || "the data".to_owned())?;
    let length = bytes.len() as u64;
    if format.is_text() && length > 0 {
        return text::read(&bytes, format, options);
    }
    read_table(Cursor::new(bytes), length, format, options)
}

fn read_table<R: Read + Seek>(
    mut reader: R,
    length: u64,
    format: Format,
    options: &LoadOptions,
) -> Result<Table, LoadProblem> {
    if length == 0 {
        return Err(LoadProblem::Empty { what: "the file is empty".to_owned() });
    }
    let mut table = match format {
        Format::Csv | Format::Tsv | Format::Text => {
            return text::read(&read_all(&mut reader, length)?, format, options);
        }
        Format::Npy => {
            Table::from_array(npy::read(&mut reader, length, &options.room())?, None, options, false)?
        }
        Format::Npz => pick::npz_table(reader, length, options)?,
        Format::Mat => pick::mat_table(&read_all(&mut reader, length)?, options)?,
        #[cfg(feature = "parquet")]
        Format::Parquet | Format::Arrow => columnar::read(read_all(&mut reader, length)?, format, options)?,
        #[cfg(not(feature = "parquet"))]
        Format::Parquet | Format::Arrow => {
            return Err(left_out(format));
        }
    };
    table.source = format!("{format}, {}", table.source);
    Ok(table)
}

#[cfg(not(feature = "parquet"))]
fn left_out(format: Format) -> LoadProblem {
    LoadProblem::Unsupported {
        what: format!("the format {format}, which this build leaves out,"),
        advice: "build with the feature \"parquet\", or convert the file to CSV or NPY".to_owned(),
    }
}

#[cfg(test)]
mod tests;
