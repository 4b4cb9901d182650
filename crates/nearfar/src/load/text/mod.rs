//! CSV, TSV and space-separated text, plain or gzipped.

mod decimal;
mod parse;
mod record;
mod sniff;

use std::borrow::Cow;
use std::io::Read;

use self::parse::{Plan, Rows, parse};
use self::record::{Delimiter, read_record, skip_line};
use self::sniff::{is_number, sniff};
use super::columns::{self, Role, roles};
use super::error::LoadProblem;
use super::labels::Labels;
use super::limit::Unpacked;
use super::table::{Table, TableValues};
use super::{Format, LoadOptions, Truth};

/// Read a table of numbers.
pub(crate) fn read(bytes: &[u8], format: Format, options: &LoadOptions) -> Result<Table, LoadProblem> {
    let bytes = plain(bytes, options.max_bytes)?;
    let style = Style::of(&bytes, format, options)?;
    let data = text_of(&bytes)?;
    let rows = parse(data, style.dialect.start, style.plan())?;
    if rows.count == 0 {
        return Err(LoadProblem::Empty { what: "the file has a header and no rows".to_owned() });
    }
    Ok(table(rows, &style.dialect, &style.roles, style.auto_ids))
}

/// How a text is written and what its columns are for.
pub(crate) struct Style {
    dialect: sniff::Dialect,
    roles: Vec<Role>,
    /// Whether a first column without a name holds the names of the rows.
    auto_ids: bool,
    /// Bytes of the byte order mark.
    mark: usize,
}

impl Style {
    /// Of a text that begins with these bytes.
    pub(crate) fn of(bytes: &[u8], format: Format, options: &LoadOptions) -> Result<Self, LoadProblem> {
        let data = text_of(bytes)?;
        let dialect = sniff(data, format, options)?;
        let n_columns = dialect.n_columns - usize::from(dialect.trailing);
        let mut roles = roles(options, dialect.names.as_deref(), n_columns, false)?;
        // A first column without a name is what pandas and R write for the names of the rows.
        let auto_ids = dialect.row_names
            && options.id_column.is_none()
            && options.columns.is_none()
            && roles[0] == Role::Feature
            && roles[1..].contains(&Role::Feature);
        if auto_ids {
            roles[0] = Role::Id;
        }
        if dialect.trailing {
            roles.push(Role::Blank);
        }
        Ok(Self { dialect, roles, auto_ids, mark: bytes.len() - data.len() })
    }

    fn plan(&self) -> Plan<'_> {
        Plan { delimiter: self.dialect.delimiter, roles: &self.roles, names: self.dialect.names.as_deref() }
    }

    /// Byte at which the first row begins.
    pub(crate) fn first_byte(&self) -> usize {
        self.mark + self.dialect.start
    }

    /// Whether a line, its end included, is blank or a comment.
    pub(crate) fn skips(&self, line: &[u8]) -> bool {
        skip_line(line, 0, self.dialect.delimiter).is_some()
    }

    /// The table of some of the rows; there may be none.
    pub(crate) fn read(&self, rows: &[u8]) -> Result<Table, LoadProblem> {
        Ok(table(parse(rows, 0, self.plan())?, &self.dialect, &self.roles, self.auto_ids))
    }
}

fn table(rows: Rows, dialect: &sniff::Dialect, roles: &[Role], auto_ids: bool) -> Table {
    let n_samples = rows.count;
    let n_features = roles.iter().filter(|role| **role == Role::Feature).count();
    let kept = |names: &Vec<String>| {
        let named = names.iter().zip(roles).filter(|(_, role)| **role == Role::Feature);
        named.map(|(name, _)| name.clone()).collect()
    };
    let header = if dialect.names.is_some() { "with" } else { "without" };
    let mut source = format!(
        "text, {n_samples} x {n_features}, cells separated by {}, {header} header",
        dialect.delimiter.name()
    );
    if auto_ids {
        source += ", first column without a name taken as row names";
    }
    Table {
        values: TableValues::F64(rows.values),
        n_samples,
        n_features,
        column_names: dialect.names.as_ref().map(kept),
        truth: roles
            .contains(&Role::Truth)
            .then(|| Labels::from_names(rows.truth.iter().map(|name| String::from_utf8_lossy(name)))),
        ids: roles
            .contains(&Role::Id)
            .then(|| rows.ids.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect()),
        source,
    }
}

/// Read one label per line, or one column of labels.
pub(crate) fn read_labels(bytes: &[u8], options: &LoadOptions) -> Result<Labels, LoadProblem> {
    let bytes = plain(bytes, options.max_bytes)?;
    let data = text_of(&bytes)?;
    let wanted = match &options.truth {
        Some(Truth::Column(name)) => Some(name.as_str()),
        _ => None,
    };
    let delimiter = options.delimiter.map_or_else(|| label_delimiter(data), Delimiter::Byte);
    let (mut at, mut cells, mut rows) = (0, Vec::new(), Vec::new());
    while at < data.len() {
        if let Some(next) = skip_line(data, at, delimiter) {
            at = next;
            continue;
        }
        at = read_record(data, at, delimiter, &mut cells)
            .map_err(|_| LoadProblem::malformed("labels", "a quote opens and never closes"))?;
        rows.push(std::mem::take(&mut cells));
    }
    let Some(first) = rows.first() else {
        return Err(LoadProblem::Empty { what: "the file has no labels".to_owned() });
    };
    let names: Vec<String> = first.iter().map(|cell| String::from_utf8_lossy(cell).into_owned()).collect();
    let column = label_column(&names, wanted)?;
    let is_header = |rows: &[Vec<Cow<[u8]>>]| {
        let numbers = rows[1..].iter().all(|row| row.get(column).is_some_and(|cell| is_number(cell)));
        let titled = LABEL_NAMES.contains(&names[column].to_lowercase().as_str());
        rows.len() > 1
            && !is_number(&rows[0][column])
            && (numbers || titled || wanted == Some(&names[column]))
    };
    let header = options.header.unwrap_or_else(|| is_header(&rows));
    let mut labels = Vec::with_capacity(rows.len());
    for (index, row) in rows.iter().enumerate().skip(usize::from(header)) {
        match row.get(column).filter(|cell| !cell.is_empty()) {
            Some(cell) => labels.push(String::from_utf8_lossy(cell)),
            None => {
                return Err(LoadProblem::malformed(format!("label row {}", index + 1), "there is no label"));
            }
        }
    }
    if labels.is_empty() {
        return Err(LoadProblem::Empty { what: "the file has a header and no labels".to_owned() });
    }
    Ok(Labels::from_names(labels))
}

/// Titles of a column of labels.
const LABEL_NAMES: [&str; 9] =
    ["label", "labels", "class", "classes", "truth", "cluster", "clusters", "target", "y"];

/// Which column holds the labels: the one asked for, the only one, or the one with a title that says so.
pub(crate) fn label_column(names: &[String], wanted: Option<&str>) -> Result<usize, LoadProblem> {
    if let Some(wanted) = wanted {
        return columns::find(wanted, Some(names), names.len());
    }
    let mut titled =
        names.iter().enumerate().filter(|(_, name)| LABEL_NAMES.contains(&name.to_lowercase().as_str()));
    match (names.len(), titled.next(), titled.next()) {
        (1, ..) => Ok(0),
        (_, Some((column, _)), None) => Ok(column),
        (many, ..) => Err(LoadProblem::malformed(
            "labels",
            format!(
                "there are {many} columns and none is titled \"label\"; give a file with one label per line"
            ),
        )),
    }
}

/// The first delimiter that cuts every line into the same number of cells; blanks may be part of a name.
fn label_delimiter(data: &[u8]) -> Delimiter {
    let even = |delimiter: Delimiter| {
        let (mut at, mut cells, mut width, mut lines) = (0, Vec::new(), None, 0);
        while at < data.len() && lines < 20 {
            if let Some(next) = skip_line(data, at, delimiter) {
                at = next;
                continue;
            }
            let Ok(next) = read_record(data, at, delimiter, &mut cells) else { return false };
            (at, lines) = (next, lines + 1);
            if cells.len() < 2 || *width.get_or_insert(cells.len()) != cells.len() {
                return false;
            }
        }
        width.is_some()
    };
    let found = [b',', b';', b'\t', b'|'].map(Delimiter::Byte).into_iter().find(|&delimiter| even(delimiter));
    found.unwrap_or(Delimiter::Byte(b','))
}

/// Gunzip when it is gzip.
fn plain(bytes: &[u8], max_bytes: Option<u64>) -> Result<Cow<'_, [u8]>, LoadProblem> {
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return Ok(Cow::Borrowed(bytes));
    }
    let mut unpacked = Unpacked::new(bytes.len() as u64, max_bytes);
    let mut out = Vec::new();
    let limit = unpacked.left().saturating_add(1);
    let read = flate2::read::MultiGzDecoder::new(bytes).take(limit).read_to_end(&mut out);
    read.map_err(|error| LoadProblem::from_io(error, "gzip stream"))?;
    unpacked.add(out.len() as u64, || "the unpacked text".to_owned())?;
    Ok(Cow::Owned(out))
}

/// The text without its byte order mark; other encodings and binary files are refused.
fn text_of(bytes: &[u8]) -> Result<&[u8], LoadProblem> {
    let start = &bytes[..bytes.len().min(4096)];
    let other = [
        (&b"\x93NUMPY"[..], "NPY (`format` npy)"),
        (b"PK\x03\x04", "NPZ or another zip (`format` npz)"),
        (b"PAR1", "Parquet (`format` parquet)"),
        (b"ARROW1", "Arrow (`format` arrow)"),
        (b"MATLAB 5.0", "MATLAB (`format` mat)"),
        (b"\xff\xfe", "UTF-16 text (save it as UTF-8)"),
        (b"\xfe\xff", "UTF-16 text (save it as UTF-8)"),
    ];
    if let Some((_, name)) = other.iter().find(|(magic, _)| start.starts_with(magic)) {
        return Err(LoadProblem::malformed(
            "first bytes",
            format!("this is not plain text but looks like {name}"),
        ));
    }
    if start.contains(&0) {
        return Err(LoadProblem::malformed(
            "first bytes",
            "this is not text: there are zero bytes; set `format`",
        ));
    }
    if !bytes.contains(&b'\n') && bytes.contains(&b'\r') {
        let found = "lines end with a carriage return alone; save the file with ordinary line ends";
        return Err(LoadProblem::malformed("first bytes", found));
    }
    Ok(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes))
}
