//! Why a file could not be read: the place, what was found, what is allowed, what to try.

use std::fmt;

use crate::plan::human_bytes;

/// A file that could not be read, and why.
#[derive(Debug, thiserror::Error)]
#[error("{file}: {problem}")]
pub struct LoadError {
    /// The file as the caller named it.
    pub file: String,
    /// What is wrong with it.
    pub problem: LoadProblem,
}

impl LoadError {
    pub(crate) fn new(file: impl fmt::Display, problem: LoadProblem) -> Self {
        Self { file: file.to_string(), problem }
    }
}

/// What is wrong with a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadProblem {
    /// There is no such file.
    #[error("no such file; check the spelling and the folder")]
    NotFound,
    /// A folder, where a file is needed.
    #[error("this is a folder; name one file in it")]
    IsDirectory,
    /// The system refused to read it.
    #[error("cannot be read: {0}")]
    Unreadable(std::io::Error),
    /// There is nothing in it.
    #[error("{what}; at least one row with one number is needed")]
    Empty {
        /// In which way it is empty.
        what: String,
    },
    /// Neither the name nor the caller says what it is.
    #[error("the format {found:?} is not known; known are {known} (set it with `format`){}", closest(suggestion.as_deref()))]
    UnknownFormat {
        /// The extension or the name that was given.
        found: String,
        /// All names of formats.
        known: String,
        /// The nearest of them.
        suggestion: Option<String>,
    },
    /// Not what its format says.
    #[error("{place}: {found}")]
    Malformed {
        /// Line, byte, array or element.
        place: String,
        /// What is wrong there, and what to try.
        found: String,
    },
    /// Sound, but of a kind that is not read.
    #[error("{what} is not read; {advice}")]
    Unsupported {
        /// The kind of content.
        what: String,
        /// What to do instead.
        advice: String,
    },
    /// Neither memory nor disk has room for the values.
    #[error(
        "the values take {} and are kept in a file, which cannot be made in {}: {error}; name another folder with TMPDIR, or allow more `memory`",
        crate::plan::human_bytes(*bytes),
        folder.display()
    )]
    NoScratch {
        /// Bytes of the values.
        bytes: u64,
        /// Where the file was to be.
        folder: std::path::PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// A number beyond single precision, where only that fits in memory.
    #[error(
        "{place}, {column}: {value:?} is too large for single precision, to which data larger than half of the memory is narrowed; rescale the column, or allow more `memory`"
    )]
    TooWide {
        /// The row.
        place: Place,
        /// The column.
        column: Column,
        /// The number.
        value: f64,
    },
    /// A cell that is not a number.
    #[error("{place}, {column}: {value:?} is not a number; {}", text_advice(value))]
    NotNumeric {
        /// The row.
        place: Place,
        /// The column.
        column: Column,
        /// What the cell holds, shortened.
        value: String,
    },
    /// A NaN or an infinity.
    #[error(
        "{place}, {column}: {value} is not a finite number; drop or fill such rows first, or leave the column out \
         with `columns`"
    )]
    NotFinite {
        /// The row.
        place: Place,
        /// The column.
        column: Column,
        /// What was found.
        value: String,
    },
    /// An empty cell.
    #[error(
        "{place}, {column}: the cell is empty; drop or fill such rows first, or leave the column out with `columns`"
    )]
    Missing {
        /// The row.
        place: Place,
        /// The column.
        column: Column,
    },
    /// A row of another length than the rows before it.
    #[error("{place} has {found} cells where {expected} are expected{}", delimiter_advice(delimiter))]
    Ragged {
        /// The row.
        place: Place,
        /// Cells in this row.
        found: usize,
        /// Cells in the rows before.
        expected: usize,
        /// The delimiter in use, in words.
        delimiter: &'static str,
    },
    /// A column that is not there.
    #[error("there is no column {wanted:?}; {}{}", column_list(names, *n_columns), closest(suggestion.as_deref()))]
    NoSuchColumn {
        /// The name or index asked for.
        wanted: String,
        /// The nearest name.
        suggestion: Option<String>,
        /// All names, or none when the file has no header.
        names: Vec<String>,
        /// Number of columns.
        n_columns: usize,
    },
    /// An array that is not there.
    #[error("there is no array {wanted:?}; the file holds {}{}", listed(arrays), closest(suggestion.as_deref()))]
    NoSuchArray {
        /// The name asked for.
        wanted: String,
        /// The nearest name.
        suggestion: Option<String>,
        /// Each array with its shape and type.
        arrays: Vec<String>,
    },
    /// More than one array may be the data, or none.
    #[error(
        "{found} can be the data (numbers, two dimensions, more than one column); choose with `array`: the file holds {}",
        listed(arrays)
    )]
    ChooseArray {
        /// `no array` or `several arrays`.
        found: &'static str,
        /// Each array with its shape and type.
        arrays: Vec<String>,
    },
    /// The same column is asked for twice, or its name is not unique.
    #[error("column {column}: {why}")]
    ColumnConflict {
        /// The column as asked for.
        column: String,
        /// What is in conflict, and what to try.
        why: String,
    },
    /// Classes for another number of rows.
    #[error(
        "the truth has {found} entries for {expected} samples; it needs one per sample, in the same order"
    )]
    TruthLength {
        /// Entries found.
        found: usize,
        /// Samples.
        expected: usize,
    },
    /// More than is allowed, or more than a file of this size can hold.
    #[error("{what} takes {}, and {} is the most for this file; {advice}", human_bytes(*bytes), human_bytes(*limit))]
    TooLarge {
        /// Which part.
        what: String,
        /// Bytes it claims or takes.
        bytes: u64,
        /// Bytes allowed.
        limit: u64,
        /// What to do.
        advice: &'static str,
    },
}

impl LoadProblem {
    pub(crate) fn malformed(place: impl Into<String>, found: impl Into<String>) -> Self {
        Self::Malformed { place: place.into(), found: found.into() }
    }

    /// An error met while reading `place`: damage and a short file are the file's fault, the rest the system's.
    pub(crate) fn from_io(error: std::io::Error, place: &str) -> Self {
        use std::io::ErrorKind as Kind;
        match error.kind() {
            Kind::NotFound => Self::NotFound,
            Kind::IsADirectory => Self::IsDirectory,
            Kind::UnexpectedEof => {
                Self::malformed(place, "the file ends too early; it is cut short or damaged")
            }
            Kind::InvalidData | Kind::InvalidInput | Kind::Other => {
                Self::malformed(place, format!("damaged ({error}); copy or make the file again"))
            }
            _ => Self::Unreadable(error),
        }
    }
}

/// A row, as people find it in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Line of a text file, from 1.
    Line(usize),
    /// Row of an array, from 0.
    Row(usize),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Row(row) => write!(f, "row {row} (from 0)"),
        }
    }
}

/// A column: its index and, when there is a header, its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Index, from 0.
    pub index: usize,
    /// Name in the header.
    pub name: Option<String>,
}

impl Column {
    pub(crate) fn new(index: usize, names: Option<&[String]>) -> Self {
        Self { index, name: names.and_then(|names| names.get(index)).cloned() }
    }
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "column {:?} (index {})", shorten(name), self.index),
            None => write!(f, "column {} (from 0)", self.index),
        }
    }
}

/// At most 60 characters of `text`, so that a message stays one message.
pub(crate) fn shorten(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The name nearest to `wanted`, if it is near enough to be meant.
pub(crate) fn nearest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let wanted: Vec<char> = wanted.chars().take(100).flat_map(char::to_lowercase).collect();
    let far = 1 + wanted.len() / 3;
    let near = names.into_iter().take(10_000).filter_map(|name| {
        let letters: Vec<char> = name.chars().take(100).flat_map(char::to_lowercase).collect();
        let steps = edit_distance(&wanted, &letters);
        (steps <= far && steps < wanted.len().max(letters.len())).then_some((steps, name))
    });
    near.min_by_key(|(steps, _)| *steps).map(|(_, name)| name.to_owned())
}

/// Letters to insert, delete, replace or swap with the next to turn one word into the other.
fn edit_distance(a: &[char], b: &[char]) -> usize {
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        (before, last) = (last, row);
    }
    last[b.len()]
}

fn closest(suggestion: Option<&str>) -> String {
    suggestion.map_or_else(String::new, |name| format!("; did you mean {name:?}?"))
}

fn listed(names: &[String]) -> String {
    const MOST: usize = 20;
    let mut text = names.iter().take(MOST).map(|name| shorten(name)).collect::<Vec<_>>().join(", ");
    if names.len() > MOST {
        text = format!("{text} and {} more", names.len() - MOST);
    }
    if text.is_empty() { "nothing".to_owned() } else { text }
}

fn column_list(names: &[String], n_columns: usize) -> String {
    if names.is_empty() {
        let last = n_columns.saturating_sub(1);
        format!("there are {n_columns} columns without names: use 0 to {last}, or -1 for the last")
    } else {
        format!("the columns are {}", listed(names))
    }
}

fn text_advice(value: &str) -> &'static str {
    let missing = ["na", "n/a", "?", "null", "none", "-", "missing"];
    if missing.contains(&value.trim().to_lowercase().as_str()) {
        "it looks like a missing value: drop or fill such rows first, or leave the column out with `columns`"
    } else if value.contains(',') && value.replace(',', ".").trim().parse::<f64>().is_ok() {
        "decimal commas are not read: write numbers with a decimal point"
    } else if value.contains(';') {
        "are cells separated by semicolons? Set `delimiter` ';' and write numbers with a decimal point"
    } else {
        "name the columns to use with `columns`, the column of classes with `truth`, or of row names with `id_column`"
    }
}

fn delimiter_advice(delimiter: &str) -> String {
    if delimiter.is_empty() {
        String::new()
    } else {
        format!(" (cells are separated by {delimiter}; set another with `delimiter`)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistyped_names_find_the_nearest() {
        let names = ["sepal_length", "sepal_width", "class"];
        assert_eq!(nearest("clas", names).as_deref(), Some("class"));
        assert_eq!(nearest("Sepal_widht", names).as_deref(), Some("sepal_width"));
        assert_eq!(nearest("colour", names), None);
        assert_eq!(nearest("", names), None);
        assert_eq!(edit_distance(&['a', 'b'], &['b', 'a']), 1);
        assert_eq!(edit_distance(&[], &['b', 'a']), 2);
    }

    #[test]
    fn long_texts_are_shortened_between_letters() {
        assert_eq!(shorten("é"), "é");
        assert_eq!(shorten(&"é".repeat(100)).chars().count(), 61);
    }
}
