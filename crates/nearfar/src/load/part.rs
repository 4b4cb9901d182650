//! Reading by parts: each process of a team reads its own rows of a file and nothing else.
//!
//! Of a Parquet file those are the row groups that hold them, of an NPY file a run of bytes. Where the rows of a
//! text begin nobody knows: everybody counts the rows of an equal share of the bytes and notes where every 512th
//! begins, and with these notes finds its own.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::error::{LoadError, LoadProblem, Place};
use super::labels::Labels;
use super::npy::{NpyHeader, check_claim};
use super::table::{Table, TableValues};
use super::{Format, LoadOptions, Opened, Truth, load_labels_with, read_all, text};
use crate::processes::{Share, Team};

/// Bytes at the head of a text that show how it is written.
const HEAD: u64 = 1 << 20;
/// Rows from one note to the next.
const NOTED: usize = 512;

/// What one process of a team has read.
#[derive(Clone, Debug)]
pub struct TablePart {
    /// The own rows.
    pub rows: Table,
    /// Whose rows are whose.
    pub share: Share,
    /// Known classes of all rows, when asked for.
    pub truth: Option<Labels>,
    /// Names of all rows, when there are any.
    pub ids: Option<Vec<String>>,
}

/// Read the rows of this process from a Parquet, NPY or plain text file. All processes must read the same file
/// together.
///
/// # Errors
/// As [`load`](super::load()), and for formats that cannot be read by parts.
pub fn load_part(path: &Path, options: &LoadOptions, team: &Arc<Team>) -> Result<TablePart, LoadError> {
    let named = |problem| LoadError::new(path.display(), problem);
    let classes = match &options.truth {
        Some(Truth::File(path)) => {
            let max_bytes = options.max_bytes;
            Some((path, load_labels_with(path, &LoadOptions { max_bytes, ..LoadOptions::default() })?))
        }
        _ => None,
    };
    let truth = options.truth.clone().filter(|truth| matches!(truth, Truth::Column(_)));
    let options = LoadOptions { truth, ..options.clone() };
    let (mut rows, share) = read(path, &options, team).map_err(named)?;
    let n = share.n_rows();
    rows.source = rows.source.replacen(&format!("{} x", rows.n_samples), &format!("{n} x"), 1);
    if share.rows().is_empty() {
        rows = without_rows(rows);
    }
    let own = rows.truth.as_ref().map(|truth| truth.codes.iter().map(|code| truth.names[*code].as_str()));
    let mut truth = own.map(|own| {
        Labels::from_names(gather_names(&share, &own.collect::<Vec<_>>()).into_iter().map(Into::into))
    });
    if let Some((path, labels)) = classes {
        if labels.len() != n {
            let problem = LoadProblem::TruthLength { found: labels.len(), expected: n };
            return Err(LoadError::new(path.display(), problem));
        }
        truth = Some(labels);
    }
    let ids = rows
        .ids
        .as_ref()
        .map(|own| gather_names(&share, &own.iter().map(String::as_str).collect::<Vec<_>>()));
    Ok(TablePart { rows, share, truth, ids })
}

fn read(path: &Path, options: &LoadOptions, team: &Arc<Team>) -> Result<(Table, Share), LoadProblem> {
    let format = options.format.map_or_else(|| Format::of(path), Ok)?;
    let Opened::File(mut file, length) = Opened::open(path, options)? else {
        return Err(not_by_parts("a pipe"));
    };
    if length == 0 {
        return Err(LoadProblem::Empty { what: "the file is empty".to_owned() });
    }
    match format {
        Format::Npy => read_npy(&mut file, length, options, team),
        #[cfg(feature = "parquet")]
        Format::Parquet => {
            let n = super::columnar::count_rows(&file)?;
            let share = Share::new(team.clone(), n);
            let rows = some_row(&share);
            let table = super::columnar::read_rows(&file, length, options, rows.clone())
                .map_err(|problem| shifted(problem, rows.start, 0))?;
            Ok((Table { source: format!("{format}, {}", table.source), ..table }, share))
        }
        Format::Csv | Format::Tsv | Format::Text => read_text(&mut file, length, format, options, team),
        other => Err(not_by_parts(&format!("the format {other}"))),
    }
}

fn not_by_parts(what: &str) -> LoadProblem {
    LoadProblem::Unsupported {
        what: format!("{what} by parts, as several processes must,"),
        advice: "convert it to Parquet, NPY or plain CSV, or run in one process".to_owned(),
    }
}

/// The own rows, or one of somebody else's where there are none, so that the kind of values is known.
fn some_row(share: &Share) -> Range<usize> {
    let rows = share.rows();
    if rows.is_empty() { 0..1.min(share.n_rows()) } else { rows }
}

/// The kind of a table, and nothing in it.
fn without_rows(table: Table) -> Table {
    let values = match table.values {
        TableValues::F32(_) => TableValues::F32(Vec::new().into()),
        TableValues::F64(_) => TableValues::F64(Vec::new().into()),
    };
    let none = |_| Labels::from_names(std::iter::empty());
    Table { values, n_samples: 0, truth: table.truth.map(none), ids: table.ids.map(|_| Vec::new()), ..table }
}

/// Names of all rows, from those of the own ones.
fn gather_names(share: &Share, own: &[&str]) -> Vec<String> {
    let lengths: Vec<u32> = own.iter().map(|name| name.len() as u32).collect();
    let lengths = share.gather_rows("names", &lengths, 1);
    let (letters, _) = share.team().gather("names", own.concat().as_bytes());
    let mut at = 0;
    let mut next = |length: u32| {
        at += length as usize;
        String::from_utf8_lossy(&letters[at - length as usize..at]).into_owned()
    };
    lengths.into_iter().map(&mut next).collect()
}

/// The same problem, where the part begins at this row and behind so many lines.
fn shifted(mut problem: LoadProblem, row: usize, lines: usize) -> LoadProblem {
    if let LoadProblem::NotNumeric { place, .. }
    | LoadProblem::NotFinite { place, .. }
    | LoadProblem::Missing { place, .. }
    | LoadProblem::Ragged { place, .. } = &mut problem
    {
        match place {
            Place::Row(at) => *at += row,
            Place::Line(at) => *at += lines,
        }
    }
    problem
}

fn read_npy(
    file: &mut File,
    length: u64,
    options: &LoadOptions,
    team: &Arc<Team>,
) -> Result<(Table, Share), LoadProblem> {
    let header = NpyHeader::read(file)?;
    check_claim(&header, length, "the file")?;
    let n = header.shape.first().copied().unwrap_or(0);
    let share = Share::new(team.clone(), n);
    let rows = some_row(&share);
    let part = header
        .of_rows(rows.len())
        .ok_or_else(|| not_by_parts("an NPY array by columns (Fortran order; np.ascontiguousarray helps)"))?;
    let skipped = header.bytes.checked_div(n as u64).unwrap_or(0) * rows.start as u64;
    let skipped = i64::try_from(skipped).unwrap_or(i64::MAX);
    file.seek(SeekFrom::Current(skipped)).map_err(LoadProblem::Unreadable)?;
    let array = part.samples(&mut BufReader::new(file))?;
    let table =
        Table::from_array(array, None, options, false).map_err(|problem| shifted(problem, rows.start, 0))?;
    Ok((Table { source: format!("npy, {}", table.source), ..table }, share))
}

/// Where a row begins: byte, and lines before it.
#[derive(Clone, Copy, Debug)]
struct Note {
    byte: u64,
    lines: u64,
}

/// A text, seen line by line.
struct Lines<'a> {
    file: &'a mut File,
    /// Whether a line is blank or a comment.
    skip: &'a dyn Fn(&[u8]) -> bool,
}

impl Lines<'_> {
    /// The first line that begins at this byte or behind it.
    fn line_from(&mut self, byte: u64, first: u64) -> Result<u64, LoadProblem> {
        if byte <= first {
            return Ok(first);
        }
        self.file.seek(SeekFrom::Start(byte - 1)).map_err(LoadProblem::Unreadable)?;
        let mut line = Vec::new();
        BufReader::new(&mut *self.file).read_until(b'\n', &mut line).map_err(LoadProblem::Unreadable)?;
        Ok(byte - 1 + line.len() as u64)
    }

    /// Call `row` with every row that begins between two bytes, and the lines and bytes before it, until it says
    /// no. Answers the lines seen.
    fn rows(&mut self, bytes: Range<u64>, row: &mut dyn FnMut(Note) -> bool) -> Result<u64, LoadProblem> {
        self.file.seek(SeekFrom::Start(bytes.start)).map_err(LoadProblem::Unreadable)?;
        let mut reader = BufReader::with_capacity(1 << 18, &mut *self.file);
        let mut at = Note { byte: bytes.start, lines: 0 };
        let mut line = Vec::new();
        while at.byte < bytes.end {
            line.clear();
            let read = reader.read_until(b'\n', &mut line).map_err(LoadProblem::Unreadable)?;
            if read == 0 {
                break;
            }
            if memchr::memchr_iter(b'"', &line).count() % 2 == 1 {
                return Err(not_by_parts("a text with quotes that close on another line"));
            }
            if !(self.skip)(&line) && !row(at) {
                break;
            }
            at = Note { byte: at.byte + read as u64, lines: at.lines + 1 };
        }
        Ok(at.lines)
    }
}

fn read_text(
    file: &mut File,
    length: u64,
    format: Format,
    options: &LoadOptions,
    team: &Arc<Team>,
) -> Result<(Table, Share), LoadProblem> {
    let mut head = read_all(&mut Read::take(&mut *file, HEAD), HEAD.min(length))?;
    if head.starts_with(&[0x1f, 0x8b]) {
        return Err(not_by_parts("a gzipped text"));
    }
    if (head.len() as u64) < length {
        let whole = memchr::memrchr(b'\n', &head).map_or(head.len(), |at| at + 1);
        head.truncate(whole);
    }
    let style = text::Style::of(&head, format, options)?;
    let skip = |line: &[u8]| style.skips(line);
    let mut lines = Lines { file, skip: &skip };
    // Everybody counts a share of the bytes.
    let (first, size) = (style.first_byte() as u64, team.size() as u64);
    let cut = |p: u64| first + (length - first) / size * p;
    let rank = team.rank() as u64;
    let from = lines.line_from(cut(rank), first)?;
    let to = if rank + 1 == size { length } else { lines.line_from(cut(rank + 1), first)? };
    let (mut notes, mut rows) = (Vec::new(), 0_usize);
    let seen = lines.rows(from..to.max(from), &mut |note| {
        if rows % NOTED == 0 {
            notes.push([note.byte, note.lines]);
        }
        rows += 1;
        true
    })?;
    let (notes, starts) = team.gather("notes of rows", &notes);
    let counts = team.gather_even("notes of rows", &[rows as u64, seen]);
    let n: u64 = counts.iter().step_by(2).sum();
    if n == 0 {
        return Err(LoadProblem::Empty { what: "the file has a header and no rows".to_owned() });
    }
    let share = Share::new(team.clone(), n as usize);
    let head_lines = memchr::memchr_iter(b'\n', &head[..style.first_byte()]).count() as u64;
    let mut find = |row: usize| -> Result<Note, LoadProblem> {
        let (mut left, mut before) = (row, head_lines);
        for p in 0..team.size() {
            let (rows, lines_here) = (counts[2 * p] as usize, counts[2 * p + 1]);
            if left < rows {
                let [byte, behind] = notes[starts[p] + left / NOTED];
                let mut skipped = left % NOTED;
                let mut found = Note { byte, lines: before + behind };
                lines.rows(byte..length, &mut |note| {
                    found = Note { byte: note.byte, lines: before + behind + note.lines };
                    let more = skipped > 0;
                    skipped = skipped.saturating_sub(1);
                    more
                })?;
                return Ok(found);
            }
            left -= rows;
            before += lines_here;
        }
        Ok(Note { byte: length, lines: before })
    };
    let (start, end) = (find(share.rows().start)?, find(share.rows().end)?);
    file.seek(SeekFrom::Start(start.byte)).map_err(LoadProblem::Unreadable)?;
    let bytes = read_all(&mut Read::take(file, end.byte - start.byte), end.byte - start.byte)?;
    let table =
        style.read(&bytes).map_err(|problem| shifted(problem, share.rows().start, start.lines as usize))?;
    Ok((table, share))
}
