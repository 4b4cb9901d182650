//! How a text file is written: which delimiter, and whether there is a header.
//!
//! The first lines are split by every candidate; the first that gives each line the same number of
//! cells, all numbers, is taken. The header is apart: it may hold anything.

use std::borrow::Cow;

use super::super::error::LoadProblem;
use super::super::{Format, LoadOptions};
use super::record::{Delimiter, read_record, skip_line};

/// Lines looked at.
const SAMPLE: usize = 21;

type Cells<'a> = Vec<Cow<'a, [u8]>>;

/// How a file is written.
#[derive(Clone, Debug)]
pub(crate) struct Dialect {
    pub(crate) delimiter: Delimiter,
    /// Names of the columns, when there is a header.
    pub(crate) names: Option<Vec<String>>,
    /// Cells of a row.
    pub(crate) n_columns: usize,
    /// Byte at which the first row begins.
    pub(crate) start: usize,
    /// Whether the first column, without a name, holds names of rows.
    pub(crate) row_names: bool,
    /// Whether every line ends with a delimiter that has nothing behind it.
    pub(crate) trailing: bool,
}

/// Find out how `data` is written.
pub(crate) fn sniff(data: &[u8], format: Format, options: &LoadOptions) -> Result<Dialect, LoadProblem> {
    let candidates: Vec<Delimiter> = match (options.delimiter, format) {
        (Some(b' '), _) => vec![Delimiter::Blanks],
        (Some(byte), _) => vec![Delimiter::Byte(byte)],
        (None, Format::Tsv) => [b'\t', b',', b';', b'|'].map(Delimiter::Byte).to_vec(),
        (None, _) => [b',', b';', b'|', b'\t'].map(Delimiter::Byte).to_vec(),
    };
    let blanks = options.delimiter.is_none().then_some(Delimiter::Blanks);
    let mut samples: Vec<Sample> =
        candidates.into_iter().chain(blanks).map(|delimiter| Sample::read(data, delimiter)).collect();
    let unclosed = samples.iter().any(|sample| sample.unclosed);
    // A quote that never closes leaves some ways of splitting without a row.
    samples.retain(|sample| !sample.rows.is_empty());
    if samples.is_empty() && unclosed {
        return Err(LoadProblem::malformed("line 1", "a quote opens and never closes; close or remove it"));
    }
    if samples.is_empty() {
        return Err(LoadProblem::Empty { what: "the file has no rows".to_owned() });
    }
    let chosen = best(&samples);
    Ok(samples.swap_remove(chosen).dialect(options.header))
}

/// The first lines, split by one delimiter.
struct Sample<'a> {
    delimiter: Delimiter,
    rows: Vec<Cells<'a>>,
    /// Where each row begins, and where the last one ends.
    starts: Vec<usize>,
    unclosed: bool,
}

impl<'a> Sample<'a> {
    fn read(data: &'a [u8], delimiter: Delimiter) -> Self {
        let mut sample = Self { delimiter, rows: Vec::new(), starts: Vec::new(), unclosed: false };
        let mut at = 0;
        while at < data.len() && sample.rows.len() < SAMPLE {
            if let Some(next) = skip_line(data, at, delimiter) {
                at = next;
                continue;
            }
            let mut cells = Vec::new();
            let Ok(next) = read_record(data, at, delimiter, &mut cells) else {
                sample.unclosed = true;
                break;
            };
            sample.starts.push(at);
            sample.rows.push(cells);
            at = next;
        }
        sample.starts.push(at);
        sample
    }

    /// All rows but the first, or the only one.
    fn body(&self) -> &[Cells<'a>] {
        if self.rows.len() > 1 { &self.rows[1..] } else { &self.rows }
    }

    /// Cells of every row, when that is the same number.
    fn width(&self) -> Option<usize> {
        let width = self.body().first()?.len();
        self.body().iter().all(|row| row.len() == width).then_some(width)
    }

    /// Share of cells that are numbers.
    fn numeric(&self) -> f64 {
        let cells = self.body().iter().flatten();
        cells.clone().filter(|cell| is_number(cell)).count() as f64 / cells.count().max(1) as f64
    }

    /// Rows as long as the first of the body, when that is more than one cell.
    fn agreeing(&self) -> usize {
        let Some(width) = self.body().first().map(Vec::len).filter(|&width| width > 1) else { return 0 };
        self.body().iter().filter(|row| row.len() == width).count()
    }

    fn dialect(self, header: Option<bool>) -> Dialect {
        let has_header = header.unwrap_or_else(|| has_header(&self.rows));
        let body = &self.rows[usize::from(has_header)..];
        let mut n_columns = body.first().map_or(self.rows[0].len(), Vec::len);
        let mut names: Option<Vec<String>> = has_header
            .then(|| self.rows[0].iter().map(|cell| String::from_utf8_lossy(cell).into_owned()).collect());
        let start = self.starts[usize::from(has_header)];
        if let Some(names) = &mut names {
            if names.len() + 1 == n_columns {
                // As R writes it: no name above the names of the rows.
                names.insert(0, String::new());
            }
            n_columns = names.len();
        }
        let empty = |cell: Option<&Cow<[u8]>>| cell.is_some_and(|cell| cell.is_empty());
        let trailing = n_columns > 1
            && body.iter().all(|row| row.len() == n_columns && empty(row.last()))
            && names.as_ref().is_none_or(|names| names.last().is_some_and(String::is_empty));
        if let (true, Some(names)) = (trailing, &mut names) {
            names.pop();
        }
        let row_names =
            n_columns > 1 && names.as_ref().is_some_and(|names| names.first().is_some_and(String::is_empty));
        Dialect { delimiter: self.delimiter, names, n_columns, start, row_names, trailing }
    }
}

/// Which way of splitting fits best.
fn best(samples: &[Sample]) -> usize {
    let even = |sample: &&Sample| sample.width().is_some_and(|width| width > 1);
    if let Some(numbers) = samples.iter().position(|sample| even(&sample) && sample.numeric() == 1.0) {
        return numbers;
    }
    // Columns of text, or missing values: the most numbers; on equal terms the first.
    let mixed = samples.iter().enumerate().filter(|(_, sample)| even(sample) && sample.numeric() > 0.0);
    if let Some((index, _)) = mixed.rev().max_by(|a, b| a.1.numeric().total_cmp(&b.1.numeric())) {
        return index;
    }
    if let Some(index) = samples.iter().position(|sample| even(&sample)) {
        return index;
    }
    // One column, or rows of different length: what most rows agree on.
    let agreeing = samples.iter().enumerate().rev().max_by_key(|(_, sample)| sample.agreeing());
    agreeing.map_or(0, |(index, _)| index)
}

/// Whether the first row holds names: a text where the rows below hold numbers.
fn has_header(rows: &[Cells]) -> bool {
    let (first, body) = (&rows[0], &rows[1..]);
    let Some(second) = body.first() else { return first.iter().all(|cell| is_text(cell)) };
    let text_only = first.iter().all(|cell| is_text(cell));
    if first.len() + 1 == second.len() && text_only {
        return true;
    }
    // As pandas writes an unnamed index over numbered columns.
    let counted = |(index, cell): (usize, &Cow<[u8]>)| **cell == *index.to_string().as_bytes();
    if first.len() > 1 && first[0].is_empty() && first[1..].iter().enumerate().all(counted) {
        return true;
    }
    let numbers_below = |index: usize| {
        let below = || body.iter().filter_map(|row| row.get(index));
        below().any(|cell| is_number(cell)) && below().all(|cell| !is_text(cell))
    };
    let named = first.iter().enumerate().any(|(index, cell)| is_text(cell) && numbers_below(index));
    let all_text = || body.iter().flatten().all(|cell| is_text(cell));
    named || (text_only && !all_text()) || (text_only && first.len() > 1)
}

/// Whether the cell is a number (which may be NaN or infinite).
pub(crate) fn is_number(cell: &[u8]) -> bool {
    number(cell).is_some()
}

/// The number a cell holds.
pub(crate) fn number(cell: &[u8]) -> Option<f64> {
    let unsigned = match cell {
        [b'+', b'+' | b'-', ..] => return None,
        [b'+', rest @ ..] => rest,
        cell => cell,
    };
    fast_float2::parse(unsigned).ok()
}

/// Whether the cell is a word: not empty, not a number, not a mark for a missing value.
fn is_text(cell: &[u8]) -> bool {
    let missing = ["na", "n/a", "?", "null", "none", "-", "."];
    let lower = cell.to_ascii_lowercase();
    !cell.is_empty() && !is_number(cell) && !missing.iter().any(|mark| mark.as_bytes() == lower)
}
