//! Rows of numbers out of bytes, block by block.
//!
//! Each row is first tried the quick way: numbers one behind the other with one delimiter between
//! them. Whatever that does not understand (quotes, padding, damage) is read again cell by cell, which
//! also finds the words for an error.

use std::borrow::Cow;

use memchr::memchr_iter;
use rayon::prelude::*;

use super::super::buffer::Buffer;
use super::super::columns::Role;
use super::super::error::{Column, LoadProblem, Place, shorten};
use super::decimal::short_decimal;
use super::record::{Delimiter, cell_end, read_record, skip_line};
use super::sniff::number;

/// Bytes parsed as one piece of work.
const BLOCK: usize = 4 << 20;

/// What the rows give.
pub(crate) struct Rows<'a> {
    /// Features, row after row.
    pub(crate) values: Buffer<f64>,
    pub(crate) truth: Vec<Cow<'a, [u8]>>,
    pub(crate) ids: Vec<Cow<'a, [u8]>>,
    pub(crate) count: usize,
}

/// What the rows of one block give, written to its part of the matrix.
struct Block<'a, 'b> {
    /// MemoryBudget for all rows there may be.
    values: &'b mut [f64],
    /// How many of the values are written.
    filled: usize,
    truth: Vec<Cow<'a, [u8]>>,
    ids: Vec<Cow<'a, [u8]>>,
    count: usize,
}

impl<'b> Block<'_, 'b> {
    fn new(values: &'b mut [f64]) -> Self {
        Self { values, filled: 0, truth: Vec::new(), ids: Vec::new(), count: 0 }
    }

    /// Add one value; `None` when there is no budget, which no row that is right can bring about.
    #[inline]
    fn push(&mut self, value: f64) -> Option<()> {
        *self.values.get_mut(self.filled)? = value;
        self.filled += 1;
        Some(())
    }
}

/// How to read a row.
#[derive(Clone, Copy)]
pub(crate) struct Plan<'a> {
    pub(crate) delimiter: Delimiter,
    pub(crate) roles: &'a [Role],
    pub(crate) names: Option<&'a [String]>,
}

/// What is wrong with the row that begins at byte `at`.
struct Fault {
    at: usize,
    kind: FaultKind,
}

enum FaultKind {
    Unclosed,
    Ragged(usize),
    NotNumeric(usize, String),
    NotFinite(usize, String),
    Missing(usize),
    Beyond(String),
}

/// All rows of `data` from byte `start` on. Blocks are cut by size alone, so that any number of
/// threads gives the same answer, errors included.
pub(crate) fn parse<'a>(data: &'a [u8], start: usize, plan: Plan) -> Result<Rows<'a>, LoadProblem> {
    let quotes = memchr::memchr(b'"', &data[start..]).is_some();
    let cuts = if quotes { vec![start, data.len()] } else { cut(data, start) };
    let n_features = plan.roles.iter().filter(|role| **role == Role::Feature).count();
    let budget: Vec<usize> =
        cuts.par_windows(2).map(|ends| n_features * most_rows(&data[ends[0]..ends[1]], plan)).collect();
    let mut values = Buffer::zeros(budget.iter().sum())?;
    let parts = split(&mut values, &budget);
    let blocks: Vec<_> = cuts
        .par_windows(2)
        .zip(parts)
        .map(|(ends, part)| parse_block(data, ends[0], ends[1], plan, part))
        .collect();
    let (mut truth, mut ids, mut count) = (Vec::new(), Vec::new(), 0);
    let mut filled = Vec::with_capacity(blocks.len());
    for block in blocks {
        let mut block = block.map_err(|fault: Fault| fault.problem(data, plan))?;
        truth.append(&mut block.truth);
        ids.append(&mut block.ids);
        count += block.count;
        filled.push(block.filled);
    }
    close_up(&mut values, &budget, &filled);
    // The parsers let no other value through.
    Ok(Rows { values: values.seen_finite(), truth, ids, count })
}

/// The most rows that `text` can hold: one per line, and each cell with one character and an end.
fn most_rows(text: &[u8], plan: Plan) -> usize {
    let lines = memchr_iter(b'\n', text).count() + usize::from(!text.ends_with(b"\n"));
    let n_features = plan.roles.iter().filter(|role| **role == Role::Feature).count();
    lines.min((text.len() + 1) / (n_features + plan.roles.len()))
}

/// One part for each block.
fn split<'b>(mut values: &'b mut [f64], budget: &[usize]) -> Vec<&'b mut [f64]> {
    let part = |&length: &usize| values.split_off_mut(..length).unwrap_or_default();
    budget.iter().map(part).collect()
}

/// Close the gaps that blank lines and comments have left between the blocks.
fn close_up(values: &mut Buffer<f64>, budget: &[usize], filled: &[usize]) {
    let (mut from, mut to) = (0, 0);
    for (budget, filled) in budget.iter().zip(filled) {
        if from != to {
            values.copy_within(from..from + filled, to);
        }
        (from, to) = (from + budget, to + filled);
    }
    values.truncate(to);
}

/// Block ends, each behind a newline.
fn cut(data: &[u8], start: usize) -> Vec<usize> {
    let mut cuts = vec![start];
    let mut at = start;
    while data.len() - at > BLOCK {
        at = super::record::line_end(data, at + BLOCK);
        cuts.push(at);
    }
    if at < data.len() || cuts.len() == 1 {
        cuts.push(data.len());
    }
    cuts
}

fn parse_block<'a, 'b>(
    data: &'a [u8],
    start: usize,
    end: usize,
    plan: Plan,
    values: &'b mut [f64],
) -> Result<Block<'a, 'b>, Fault> {
    let data = &data[..end];
    let mut rows = Block::new(values);
    let mut cells = Vec::new();
    let mut at = start;
    while at < end {
        let kept = (rows.filled, rows.truth.len(), rows.ids.len());
        let quick = match plan.delimiter {
            Delimiter::Byte(byte) => quick_row(data, at, plan.roles, byte, &mut rows),
            Delimiter::Blanks => quick_blanks(data, at, plan.roles, &mut rows),
        };
        if let Some(next) = quick {
            at = next;
        } else {
            rows.filled = kept.0;
            rows.truth.truncate(kept.1);
            rows.ids.truncate(kept.2);
            if let Some(next) = skip_line(data, at, plan.delimiter) {
                at = next;
                continue;
            }
            let next = read_record(data, at, plan.delimiter, &mut cells)
                .map_err(|_| Fault { at, kind: FaultKind::Unclosed })?;
            careful_row(&mut cells, plan.roles, &mut rows).map_err(|kind| Fault { at, kind })?;
            at = next;
        }
        rows.count += 1;
    }
    Ok(rows)
}

/// A row of cells with one `delimiter` byte between them, or `None` to look closer.
fn quick_row<'a>(
    data: &'a [u8],
    at: usize,
    roles: &[Role],
    delimiter: u8,
    rows: &mut Block<'a, '_>,
) -> Option<usize> {
    let mut rest = &data[at..];
    let last = roles.len() - 1;
    for (index, role) in roles.iter().enumerate() {
        match role {
            Role::Feature => rest = quick_number(rest, rows)?,
            Role::Blank => {}
            Role::Truth | Role::Id | Role::Skip => {
                let end = cell_end(rest, 0, Delimiter::Byte(delimiter));
                let text = rest[..end].trim_ascii();
                if text.first().is_none_or(|&byte| byte == b'"') {
                    return None;
                }
                match role {
                    Role::Truth => rows.truth.push(Cow::Borrowed(text)),
                    Role::Id => rows.ids.push(Cow::Borrowed(text)),
                    _ => {}
                }
                rest = &rest[end..];
            }
        }
        if index < last {
            match rest {
                [byte, behind @ ..] if *byte == delimiter => rest = behind,
                _ => return None,
            }
        }
    }
    end_of_row(data, rest)
}

/// A row of numbers with runs of blanks between them, or `None` to look closer.
fn quick_blanks<'a>(data: &'a [u8], at: usize, roles: &[Role], rows: &mut Block<'a, '_>) -> Option<usize> {
    let mut rest = skip_blanks(&data[at..]);
    for role in roles {
        let end = match role {
            Role::Feature => {
                let behind = quick_number(rest, rows)?;
                rest.len() - behind.len()
            }
            _ => cell_end(rest, 0, Delimiter::Blanks),
        };
        let text = rest[..end].trim_ascii_end();
        if text.first().is_none_or(|&byte| byte == b'"') {
            return None;
        }
        match role {
            Role::Truth => rows.truth.push(Cow::Borrowed(text)),
            Role::Id => rows.ids.push(Cow::Borrowed(text)),
            Role::Feature | Role::Skip | Role::Blank => {}
        }
        let behind = &rest[end..];
        rest = skip_blanks(behind);
        // A number must be followed by a blank or the end of the line.
        if rest.len() == behind.len() && !matches!(rest, [] | [b'\n' | b'\r', ..]) {
            return None;
        }
    }
    end_of_row(data, rest)
}

fn skip_blanks(bytes: &[u8]) -> &[u8] {
    let blanks = bytes.iter().take_while(|&&byte| byte == b' ' || byte == b'\t').count();
    &bytes[blanks..]
}

/// Where the next row begins, if this one ends here.
fn end_of_row(data: &[u8], rest: &[u8]) -> Option<usize> {
    match rest {
        [] => Some(data.len()),
        [b'\n', behind @ ..] | [b'\r', b'\n', behind @ ..] => Some(data.len() - behind.len()),
        _ => None,
    }
}

/// Push the finite number that `bytes` begins with; gives what follows it.
#[inline]
fn quick_number<'a>(bytes: &'a [u8], rows: &mut Block) -> Option<&'a [u8]> {
    let (value, length) = match short_decimal(bytes) {
        Some(found) => found,
        None => fast_float2::parse_partial::<f64, _>(bytes).ok().filter(|(value, _)| value.is_finite())?,
    };
    rows.push(value)?;
    Some(&bytes[length..])
}

/// A row cell by cell; an error says which cell and why.
fn careful_row<'a>(
    cells: &mut Vec<Cow<'a, [u8]>>,
    roles: &[Role],
    rows: &mut Block<'a, '_>,
) -> Result<(), FaultKind> {
    if cells.len() != roles.len() {
        return Err(FaultKind::Ragged(cells.len()));
    }
    for (index, (cell, role)) in cells.drain(..).zip(roles).enumerate() {
        let text = || shorten(&String::from_utf8_lossy(&cell));
        match role {
            Role::Skip => {}
            Role::Blank if cell.is_empty() => {}
            Role::Blank => return Err(FaultKind::Beyond(text())),
            Role::Feature | Role::Truth if cell.is_empty() => return Err(FaultKind::Missing(index)),
            Role::Truth => rows.truth.push(cell),
            Role::Id => rows.ids.push(cell),
            Role::Feature => match number(cell.trim_ascii()) {
                None => return Err(FaultKind::NotNumeric(index, text())),
                Some(value) if !value.is_finite() => return Err(FaultKind::NotFinite(index, text())),
                Some(value) => rows.push(value).ok_or(FaultKind::Ragged(roles.len()))?,
            },
        }
    }
    Ok(())
}

impl Fault {
    fn problem(self, data: &[u8], plan: Plan) -> LoadProblem {
        let line = 1 + memchr_iter(b'\n', &data[..self.at]).count();
        let place = Place::Line(line);
        let column = |index| Column::new(index, plan.names);
        match self.kind {
            FaultKind::Unclosed => LoadProblem::malformed(
                place.to_string(),
                "a quote opens and never closes; close or remove it",
            ),
            FaultKind::Ragged(found) => LoadProblem::Ragged {
                place,
                found,
                expected: plan.roles.len(),
                delimiter: plan.delimiter.name(),
            },
            FaultKind::NotNumeric(index, value) => {
                LoadProblem::NotNumeric { place, column: column(index), value }
            }
            FaultKind::NotFinite(index, value) => {
                LoadProblem::NotFinite { place, column: column(index), value }
            }
            FaultKind::Missing(index) => LoadProblem::Missing { place, column: column(index) },
            FaultKind::Beyond(value) => LoadProblem::malformed(
                place.to_string(),
                format!("{value:?} stands behind the last delimiter, where the first rows have nothing"),
            ),
        }
    }
}
