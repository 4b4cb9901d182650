//! The header: a Python dictionary in text.

use std::io::Read;

use super::super::array::shape_text;
use super::super::error::{LoadProblem, shorten};
use super::MAGIC;

const MOST_AXES: usize = 64;
/// Letters of one text; more is no name of a class.
const MOST_LETTERS: usize = 100_000;
/// NumPy's own limit on the header.
const MOST_HEADER: usize = 10_000;

/// What a header says about the values that follow it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NpyHeader {
    pub(crate) shape: Vec<usize>,
    pub(crate) dtype: Dtype,
    pub(super) fortran_order: bool,
    /// Number of values.
    pub(super) count: usize,
    /// Bytes of all values.
    pub(crate) bytes: u64,
    /// Bytes before the first value.
    pub(super) offset: u64,
}

/// Type of the values: kind and width as in `<f8`, and the byte order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Dtype {
    Number {
        kind: u8,
        width: usize,
        big_endian: bool,
    },
    /// Text of a fixed number of letters: one byte each (`|S`) or four (`<U`).
    Text {
        letters: usize,
        wide: bool,
        big_endian: bool,
    },
    /// Not read; named as people know it.
    Other(String),
}

impl Dtype {
    fn parse(descr: &str) -> Self {
        let (big_endian, rest) = match descr.as_bytes() {
            [b'>', rest @ ..] => (true, rest),
            [b'<' | b'|' | b'=', rest @ ..] | rest => (false, rest),
        };
        match rest {
            [b'b', b'1'] => Self::Number { kind: b'b', width: 1, big_endian },
            [kind @ (b'i' | b'u'), width @ (b'1' | b'2' | b'4' | b'8')]
            | [kind @ b'f', width @ (b'2' | b'4' | b'8')] => {
                Self::Number { kind: *kind, width: usize::from(width - b'0'), big_endian }
            }
            [kind @ (b'S' | b'U' | b'a'), letters @ ..] => {
                let letters = str::from_utf8(letters).ok().and_then(|letters| letters.parse().ok());
                match letters.filter(|letters| (1..=MOST_LETTERS).contains(letters)) {
                    Some(letters) => Self::Text { letters, wide: *kind == b'U', big_endian },
                    None => Self::Other("string".to_owned()),
                }
            }
            [b'O', ..] => Self::Other("object".to_owned()),
            [b'c', ..] => Self::Other("complex".to_owned()),
            [b'M' | b'm', ..] => Self::Other("date and time".to_owned()),
            [b'V', ..] => Self::Other("raw bytes".to_owned()),
            _ => Self::Other(shorten(descr)),
        }
    }

    /// NumPy's name of it.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Number { kind: b'b', .. } => "bool".to_owned(),
            Self::Number { kind, width, .. } => {
                let word = match kind {
                    b'i' => "int",
                    b'u' => "uint",
                    _ => "float",
                };
                format!("{word}{}", 8 * width)
            }
            Self::Text { .. } => "string".to_owned(),
            Self::Other(name) => name.clone(),
        }
    }

    pub(super) fn width(&self) -> usize {
        match self {
            Self::Number { width, .. } => *width,
            Self::Text { letters, wide, .. } => letters * if *wide { 4 } else { 1 },
            Self::Other(_) => 1,
        }
    }
}

impl NpyHeader {
    /// Read the header and leave `reader` at the first value.
    pub(crate) fn read(reader: &mut impl Read) -> Result<Self, LoadProblem> {
        let io = |error| LoadProblem::from_io(error, "NPY header");
        let wrong = |found: &str| LoadProblem::malformed("NPY header", found);
        let mut start = [0; 8];
        reader.read_exact(&mut start).map_err(io)?;
        if &start[..6] != MAGIC {
            return Err(wrong("the file does not begin as NPY files do; is it another format?"));
        }
        let (length, before) = match start[6] {
            1 => {
                let mut length = [0; 2];
                reader.read_exact(&mut length).map_err(io)?;
                (usize::from(u16::from_le_bytes(length)), 10)
            }
            2 | 3 => {
                let mut length = [0; 4];
                reader.read_exact(&mut length).map_err(io)?;
                (u32::from_le_bytes(length) as usize, 12)
            }
            other => return Err(wrong(&format!("version {other} is not known; versions 1 to 3 are read"))),
        };
        if length > MOST_HEADER {
            return Err(wrong(&format!("it claims {length} bytes; the most is {MOST_HEADER}")));
        }
        let mut text = vec![0; length];
        reader.read_exact(&mut text).map_err(io)?;
        let text = String::from_utf8_lossy(&text);
        let header = Dict { rest: &text }.header();
        let header =
            header.ok_or_else(|| wrong(&format!("cannot be understood: {:?}", shorten(&text))))??;
        Ok(Self { offset: before + length as u64, ..header })
    }

    /// Whether the values can be used as they lie in the file.
    pub(super) fn is_plain_single(&self) -> bool {
        let little = Dtype::Number { kind: b'f', width: 4, big_endian: false };
        cfg!(target_endian = "little") && self.dtype == little && !self.fortran_order && self.count > 0
    }

    /// The header of so many rows of the array; `None` where rows do not lie together.
    pub(crate) fn of_rows(&self, rows: usize) -> Option<Self> {
        let all = self.shape.first().copied().filter(|all| *all > 0 && !self.fortran_order)?;
        let mut shape = self.shape.clone();
        shape[0] = rows;
        let (count, bytes) = (self.count / all * rows, self.bytes / all as u64 * rows as u64);
        Some(Self { shape, count, bytes, ..self.clone() })
    }

    /// `70000 x 784 uint8`.
    pub(crate) fn describe(&self) -> String {
        format!("{} {}", shape_text(&self.shape), self.dtype.name())
    }
}

/// The little of Python that a header is written in.
struct Dict<'a> {
    rest: &'a str,
}

impl<'a> Dict<'a> {
    /// `None` when it is not a dictionary of the three keys.
    fn header(mut self) -> Option<Result<NpyHeader, LoadProblem>> {
        let (mut dtype, mut fortran_order, mut shape) = (None, None, None);
        self.expect('{')?;
        while !self.accept('}') {
            let key = self.string()?;
            self.expect(':')?;
            match key {
                "descr" => dtype = Some(self.descr()?),
                "fortran_order" => fortran_order = Some(self.truth()?),
                "shape" => shape = Some(self.tuple()?),
                _ => return None,
            }
            if !self.accept(',') {
                self.expect('}')?;
                break;
            }
        }
        let (dtype, fortran_order, shape) = (dtype?, fortran_order?, shape?);
        let count = shape.iter().try_fold(1_usize, |count, &length| count.checked_mul(length));
        let bytes = count.and_then(|count| count.checked_mul(dtype.width()));
        let (Some(count), Some(bytes)) = (count, bytes) else {
            return Some(Err(LoadProblem::TooLarge {
                what: format!("the array of {}", shape_text(&shape)),
                bytes: u64::MAX,
                limit: isize::MAX as u64,
                advice: "its header is damaged",
            }));
        };
        Some(Ok(NpyHeader { shape, dtype, fortran_order, count, bytes: bytes as u64, offset: 0 }))
    }

    fn accept(&mut self, token: char) -> bool {
        self.rest = self.rest.trim_start();
        self.rest.strip_prefix(token).inspect(|rest| self.rest = rest).is_some()
    }

    fn expect(&mut self, token: char) -> Option<()> {
        self.accept(token).then_some(())
    }

    fn string(&mut self) -> Option<&'a str> {
        let quote = if self.accept('\'') { '\'' } else { self.accept('"').then_some('"')? };
        let (inside, rest) = self.rest.split_once(quote)?;
        self.rest = rest;
        Some(inside)
    }

    /// `'<f8'`, or the list of fields of a structured array, which is only recognised.
    fn descr(&mut self) -> Option<Dtype> {
        if !self.rest.trim_start().starts_with('[') {
            return self.string().map(Dtype::parse);
        }
        let mut depth = 0_usize;
        for (at, letter) in self.rest.char_indices() {
            match letter {
                '[' => depth += 1,
                ']' => depth -= 1,
                _ => continue,
            }
            if depth == 0 {
                self.rest = &self.rest[at + 1..];
                return Some(Dtype::Other("structured".to_owned()));
            }
        }
        None
    }

    fn truth(&mut self) -> Option<bool> {
        self.rest = self.rest.trim_start();
        for (word, value) in [("True", true), ("False", false)] {
            if let Some(rest) = self.rest.strip_prefix(word) {
                self.rest = rest;
                return Some(value);
            }
        }
        None
    }

    fn tuple(&mut self) -> Option<Vec<usize>> {
        let mut shape = Vec::new();
        self.expect('(')?;
        while !self.accept(')') {
            self.rest = self.rest.trim_start();
            let end = self.rest.find(|letter: char| !letter.is_ascii_digit())?;
            shape.push(self.rest[..end].parse().ok()?);
            // Python 2 wrote long integers with an L.
            self.rest = self.rest[end..].strip_prefix('L').unwrap_or(&self.rest[end..]);
            if shape.len() > MOST_AXES {
                return None;
            }
            if !self.accept(',') {
                self.expect(')')?;
                break;
            }
        }
        Some(shape)
    }
}
