//! Lines and cells: quotes, blanks, comments, line ends.

use std::borrow::Cow;

use memchr::{memchr, memchr2, memchr3};

/// What stands between two cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delimiter {
    /// One byte.
    Byte(u8),
    /// Any run of spaces and tabs.
    Blanks,
}

impl Delimiter {
    /// In words, for messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Byte(b',') => "commas",
            Self::Byte(b';') => "semicolons",
            Self::Byte(b'|') => "bars",
            Self::Byte(b'\t') => "tabs",
            Self::Byte(_) => "the delimiter asked for",
            Self::Blanks => "blanks",
        }
    }

    /// Whether `byte` is white space and not the delimiter.
    fn pads(self, byte: u8) -> bool {
        matches!(byte, b' ' | b'\t') && Self::Byte(byte) != self
    }
}

/// A quote that never closes.
#[derive(Debug)]
pub(crate) struct Unclosed;

/// If the line at `at` is blank or a comment, where the next one begins.
pub(crate) fn skip_line(data: &[u8], at: usize, delimiter: Delimiter) -> Option<usize> {
    let pads = |byte: u8| delimiter.pads(byte) || byte == b'\r';
    let first = data[at..].iter().position(|&byte| !pads(byte)).map_or(data.len(), |padding| at + padding);
    match data.get(first) {
        None => Some(data.len()),
        Some(b'\n') => Some(first + 1),
        Some(b'#') => Some(line_end(data, first)),
        Some(_) => None,
    }
}

/// Where the line after the one at `at` begins.
pub(crate) fn line_end(data: &[u8], at: usize) -> usize {
    memchr(b'\n', &data[at..]).map_or(data.len(), |end| at + end + 1)
}

/// Split the record at `at` into cells without quotes and padding; gives where the next record begins.
pub(crate) fn read_record<'a>(
    data: &'a [u8],
    mut at: usize,
    delimiter: Delimiter,
    cells: &mut Vec<Cow<'a, [u8]>>,
) -> Result<usize, Unclosed> {
    cells.clear();
    loop {
        at += data[at..].iter().take_while(|&&byte| delimiter.pads(byte)).count();
        if delimiter == Delimiter::Blanks && at_line_end(data, at) {
            return Ok(line_end(data, at));
        }
        let end = if data.get(at) == Some(&b'"') {
            let (cell, end) = quoted_cell(data, at, delimiter)?;
            cells.push(cell);
            end
        } else {
            let end = cell_end(data, at, delimiter);
            cells.push(Cow::Borrowed(data[at..end].trim_ascii_end()));
            end
        };
        match data.get(end) {
            None => return Ok(end),
            Some(b'\n') => return Ok(end + 1),
            Some(_) => at = end + 1,
        }
    }
}

fn at_line_end(data: &[u8], at: usize) -> bool {
    matches!(data.get(at..).unwrap_or_default(), [] | [b'\n', ..] | [b'\r'] | [b'\r', b'\n', ..])
}

/// Where the cell that `at` lies in ends: at a delimiter, a newline or the end.
pub(crate) fn cell_end(data: &[u8], at: usize, delimiter: Delimiter) -> usize {
    let rest = &data[at..];
    let length = match delimiter {
        Delimiter::Byte(byte) => memchr2(byte, b'\n', rest),
        Delimiter::Blanks => memchr3(b' ', b'\t', b'\n', rest),
    };
    length.map_or(data.len(), |length| at + length)
}

/// A cell that begins with a quote at `at`; doubled quotes stand for one.
fn quoted_cell(data: &[u8], at: usize, delimiter: Delimiter) -> Result<(Cow<'_, [u8]>, usize), Unclosed> {
    let mut text = Vec::new();
    let mut from = at + 1;
    loop {
        let close = from + memchr(b'"', &data[from..]).ok_or(Unclosed)?;
        text.extend_from_slice(&data[from..close]);
        if data.get(close + 1) == Some(&b'"') {
            text.push(b'"');
            from = close + 2;
            continue;
        }
        // What stands between the quote and the delimiter belongs to the cell, as other readers have it.
        let end = cell_end(data, close + 1, delimiter);
        text.extend_from_slice(data[close + 1..end].trim_ascii_end());
        return Ok((Cow::Owned(text), end));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(line: &str, delimiter: Delimiter) -> Vec<String> {
        let mut cells = Vec::new();
        read_record(line.as_bytes(), 0, delimiter, &mut cells).unwrap();
        cells.iter().map(|cell| String::from_utf8_lossy(cell).into_owned()).collect()
    }

    #[test]
    fn cells_lose_quotes_and_padding() {
        let comma = Delimiter::Byte(b',');
        assert_eq!(cells("1, 2 ,\t3\r\n4", comma), ["1", "2", "3"]);
        assert_eq!(cells("\"a,b\"\"c\n\" ,,x\"y,", comma), ["a,b\"c\n", "", "x\"y", ""]);
        assert_eq!(cells("", comma), [""]);
        assert_eq!(cells("  1\t\t2  3 \r\n", Delimiter::Blanks), ["1", "2", "3"]);
        assert_eq!(cells(" \"a b\" c", Delimiter::Blanks), ["a b", "c"]);
        assert_eq!(cells("1\t\t 2", Delimiter::Byte(b'\t')), ["1", "", "2"]);
        assert!(read_record(b"\"open", 0, comma, &mut Vec::new()).is_err());
    }

    #[test]
    fn blank_lines_and_comments_are_skipped() {
        let comma = Delimiter::Byte(b',');
        assert_eq!(skip_line(b"  \r\n1", 0, comma), Some(4));
        assert_eq!(skip_line(b" # x\n1", 0, comma), Some(5));
        assert_eq!(skip_line(b"#", 0, comma), Some(1));
        assert_eq!(skip_line(b",\n", 0, comma), None);
        assert_eq!(skip_line(b"\t\n", 0, Delimiter::Byte(b'\t')), None);
    }
}
