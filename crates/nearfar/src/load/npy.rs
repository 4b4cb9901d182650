//! NPY: one array, as NumPy writes it (versions 1, 2 and 3).
//!
//! The header is a Python dictionary in text; its claims are compared with the bytes there are before
//! anything is allocated. There is no checksum in the format.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom, Write};

use super::array::{NpyArray, NpyData, shape_text};
use super::buffer::{Buffer, Real};
use super::error::{Column, LoadProblem, Place, shorten};
use super::labels::Labels;
use super::memory::MemoryBudget;
use super::table::{NARROWED, Table};
use super::{LoadOptions, Truth};

const MAGIC: &[u8] = b"\x93NUMPY";
/// NumPy's own limit on the header.
const MOST_HEADER: usize = 10_000;
const MOST_AXES: usize = 64;
/// Letters of one text; more is no name of a class.
const MOST_LETTERS: usize = 100_000;
/// Bytes decoded at a time.
const CHUNK: usize = 1 << 18;
/// Small numbers widened at a time: with four bytes for each they still fit the cache.
const SMALL_CHUNK: usize = 1 << 14;

/// What a header says about the values that follow it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NpyHeader {
    pub(crate) shape: Vec<usize>,
    pub(crate) dtype: Dtype,
    fortran_order: bool,
    /// Number of values.
    count: usize,
    /// Bytes of all values.
    pub(crate) bytes: u64,
    /// Bytes before the first value.
    offset: u64,
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

    fn width(&self) -> usize {
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
    fn is_plain_single(&self) -> bool {
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

    /// Read the values that follow. The claim has been compared with the file; memory is touched as values come.
    pub(crate) fn values(&self, reader: &mut impl Read) -> Result<NpyArray, LoadProblem> {
        let Dtype::Number { kind, width, big_endian } = self.dtype else {
            return Err(LoadProblem::Unsupported {
                what: format!("an array of type {}", self.dtype.name()),
                advice: "save it as numbers, for example with .astype(\"float32\")".to_owned(),
            });
        };
        let count = self.count;
        // The same for both byte orders.
        macro_rules! decode {
            ($variant:ident, $type:ty) => {
                NpyData::$variant(if big_endian {
                    decode(reader, count, <$type>::from_be_bytes)?
                } else {
                    decode(reader, count, <$type>::from_le_bytes)?
                })
            };
        }
        let data = match (kind, width) {
            (b'b', _) => NpyData::Bool(decode(reader, count, |[byte]: [u8; 1]| byte != 0)?),
            (b'i', 1) => decode!(I8, i8),
            (b'i', 2) => decode!(I16, i16),
            (b'i', 4) => decode!(I32, i32),
            (b'i', _) => decode!(I64, i64),
            (b'u', 1) => decode!(U8, u8),
            (b'u', 2) => decode!(U16, u16),
            (b'u', 4) => decode!(U32, u32),
            (b'u', _) => decode!(U64, u64),
            (_, 2) => NpyData::F32(Buffer::from(if big_endian {
                decode(reader, count, |half| widen(u16::from_be_bytes(half)))?
            } else {
                decode(reader, count, |half| widen(u16::from_le_bytes(half)))?
            })),
            (_, 4) => NpyData::F32(floats(reader, count, big_endian)?),
            _ => NpyData::F64(floats(reader, count, big_endian)?),
        };
        let data = if self.fortran_order { data.by_rows(&self.shape) } else { data };
        Ok(NpyArray { shape: self.shape.clone(), data })
    }
}

impl NpyHeader {
    /// As [`values`](Self::values), for a table of samples: small whole numbers go straight to single precision, which
    /// holds them exactly. Also gives NumPy's name of the type they are stored in.
    pub(crate) fn samples(&self, reader: &mut impl Read) -> Result<(NpyArray, String), LoadProblem> {
        let count = self.count;
        let wide = match self.dtype {
            Dtype::Number { .. } if self.fortran_order => None,
            Dtype::Number { kind: b'u', width: 1, .. } => {
                Some(widened(reader, count, |[byte]: [u8; 1]| f32::from(byte))?)
            }
            Dtype::Number { kind: b'i', width: 1, .. } => {
                Some(widened(reader, count, |byte| f32::from(i8::from_le_bytes(byte)))?)
            }
            Dtype::Number { kind: b'u', width: 2, big_endian: false } => {
                Some(widened(reader, count, |pair| f32::from(u16::from_le_bytes(pair)))?)
            }
            Dtype::Number { kind: b'i', width: 2, big_endian: false } => {
                Some(widened(reader, count, |pair| f32::from(i16::from_le_bytes(pair)))?)
            }
            _ => None,
        };
        let array = match wide {
            Some(values) => NpyArray { shape: self.shape.clone(), data: NpyData::F32(values) },
            None => self.values(reader)?,
        };
        Ok((array, self.dtype.name()))
    }

    /// The same where there may be no room for that: what is too large comes in single precision and in one piece,
    /// value by value.
    fn samples_within(
        &self,
        reader: &mut impl Read,
        budget: &MemoryBudget,
    ) -> Result<(NpyArray, String), LoadProblem> {
        let Dtype::Number { kind, width, big_endian } = self.dtype else { return self.samples(reader) };
        let wide = width > 4 || (kind != b'f' && width > 2);
        let narrows = wide && budget.narrows(self.count);
        let large = !budget.holds((self.count as u64).saturating_mul(4));
        // Doubles that are to stay doubles, and axes in an order that takes all of them at once, are read as ever.
        if !(narrows || large && !wide) || (self.fortran_order && self.shape.len() > 2) {
            return self.samples(reader);
        }
        let n_rows = self.shape.first().copied().unwrap_or(1).max(1);
        let n_columns = self.count / n_rows;
        let mut values = Buffer::within(budget, self.count)?;
        let number = number_of(kind, width);
        let mut bytes = vec![0; width * (CHUNK / width).min(self.count)];
        let mut at = 0;
        while at < self.count {
            let now = (bytes.len() / width).min(self.count - at);
            let chunk = &mut bytes[..now * width];
            reader.read_exact(chunk).map_err(of_values)?;
            let out: &mut [f32] = &mut values;
            for cell in chunk.chunks_exact_mut(width) {
                if big_endian {
                    cell.reverse();
                }
                let value = number(cell);
                let (row, column) = if self.fortran_order {
                    (at % n_rows, at / n_rows)
                } else {
                    (at / n_columns, at % n_columns)
                };
                let single = value as f32;
                if single.is_infinite() && value.is_finite() {
                    let (place, column) = (Place::Row(row), Column::new(column, None));
                    return Err(LoadProblem::TooWide { place, column, value });
                }
                out[row * n_columns + column] = single;
                at += 1;
            }
        }
        let name = self.dtype.name();
        let name = if narrows { format!("{name}{NARROWED}") } else { name };
        let name = if values.in_file() { format!("{name}, in a temporary file") } else { name };
        Ok((NpyArray { shape: self.shape.clone(), data: NpyData::F32(values) }, name))
    }

    /// Read the values that follow as classes: numbers or texts, one per sample.
    pub(crate) fn labels(&self, reader: &mut impl Read, what: &str) -> Result<Labels, LoadProblem> {
        let Dtype::Text { letters, wide, big_endian } = self.dtype else {
            return Labels::from_array(&self.values(reader)?, what);
        };
        Labels::check_shape(&self.shape, what)?;
        let mut cell = vec![0; letters * if wide { 4 } else { 1 }];
        let mut names = Vec::new();
        for _ in 0..self.count {
            reader.read_exact(&mut cell).map_err(of_values)?;
            let name =
                if wide { wide_text(&cell, big_endian) } else { String::from_utf8_lossy(&cell).into() };
            names.push(Cow::Owned(name.trim_end_matches('\0').to_owned()));
        }
        Ok(Labels::from_names(names))
    }
}

/// Text of four bytes per letter; what is no letter becomes the mark for that.
fn wide_text(cell: &[u8], big_endian: bool) -> String {
    let read = if big_endian { u32::from_be_bytes } else { u32::from_le_bytes };
    let letters = cell.as_chunks::<4>().0.iter().map(|&bytes| read(bytes));
    letters.map(|letter| char::from_u32(letter).unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

/// Read an NPY file of `length` bytes as classes.
pub(crate) fn read_labels(reader: &mut impl Read, length: u64) -> Result<Labels, LoadProblem> {
    let header = NpyHeader::read(reader)?;
    check_claim(&header, length, "the file")?;
    header.labels(reader, "labels")
}

/// Read a whole NPY file of `length` bytes as samples; also gives the name of the type they are stored in.
pub(crate) fn read(
    reader: &mut impl Read,
    length: u64,
    budget: &MemoryBudget,
) -> Result<(NpyArray, String), LoadProblem> {
    let header = NpyHeader::read(reader)?;
    check_claim(&header, length, "the file")?;
    header.samples_within(reader, budget)
}

/// Read a table from an NPY file of `length` bytes; mapped, where it is large and its values can be used as they lie.
pub(crate) fn read_file(mut file: &File, length: u64, options: &LoadOptions) -> Result<Table, LoadProblem> {
    let budget = options.room();
    let header = NpyHeader::read(&mut BufReader::with_capacity(64, file))?;
    let whole = options.columns.is_none()
        && options.id_column.is_none()
        && !matches!(options.truth, Some(Truth::Column(_)));
    if header.is_plain_single() && whole && header.offset % 4 == 0 && !budget.holds(header.bytes) {
        check_claim(&header, length.saturating_sub(header.offset), "the file")?;
        let data = NpyData::F32(Buffer::mapped(file, header.offset, header.count)?);
        let array = NpyArray { shape: header.shape.clone(), data };
        let table = Table::from_array((array, header.dtype.name()), None, options, false)?;
        return Ok(Table { source: format!("{}, mapped", table.source), ..table });
    }
    file.seek(SeekFrom::Start(0)).map_err(LoadProblem::Unreadable)?;
    let array = read(&mut BufReader::new(file), length, &budget)?;
    Table::from_array(array, None, options, false)
}

/// Refuse a header that claims more bytes than there are.
pub(crate) fn check_claim(header: &NpyHeader, length: u64, whole: &str) -> Result<(), LoadProblem> {
    if header.bytes > length {
        return Err(LoadProblem::TooLarge {
            what: format!("the array of {}", header.describe()),
            bytes: header.bytes,
            limit: length,
            advice: if whole == "the file" {
                "the file is cut short or its header is damaged"
            } else {
                "the entry is cut short or its header is damaged"
            },
        });
    }
    Ok(())
}

/// Floating-point values, straight to where they stay.
fn floats<T: Real>(reader: &mut impl Read, count: usize, big_endian: bool) -> Result<Buffer<T>, LoadProblem> {
    let mut values = Buffer::zeros(count)?;
    let swap = big_endian != cfg!(target_endian = "big");
    values.read(reader, swap).map_err(of_values)?;
    Ok(values)
}

fn of_values(error: std::io::Error) -> LoadProblem {
    LoadProblem::from_io(error, "values of the array")
}

/// Whole numbers that single precision holds exactly, a chunk at a time: what is read stays in the cache until it is
/// wide.
fn widened<const N: usize>(
    reader: &mut impl Read,
    count: usize,
    value: impl Fn([u8; N]) -> f32,
) -> Result<Buffer<f32>, LoadProblem> {
    let mut values = Buffer::zeros(count)?;
    let mut buffer = vec![0; N * count.min(SMALL_CHUNK)];
    for wide in values.chunks_mut(SMALL_CHUNK) {
        let chunk = &mut buffer[..N * wide.len()];
        reader.read_exact(chunk).map_err(of_values)?;
        wide.iter_mut().zip(chunk.as_chunks::<N>().0).for_each(|(wide, &bytes)| *wide = value(bytes));
    }
    Ok(values.seen_finite())
}

/// Other values, a chunk at a time.
fn decode<const N: usize, T>(
    reader: &mut impl Read,
    count: usize,
    value: impl Fn([u8; N]) -> T,
) -> Result<Vec<T>, LoadProblem> {
    let per_chunk = CHUNK / N;
    let mut values = Vec::new();
    values.try_reserve_exact(count).map_err(|_| LoadProblem::TooLarge {
        what: "the array".to_owned(),
        bytes: (count * N) as u64,
        limit: 0,
        advice: "there is not enough memory",
    })?;
    let mut buffer = vec![0; N * count.min(per_chunk)];
    let mut left = count;
    while left > 0 {
        let now = left.min(per_chunk);
        let chunk = &mut buffer[..N * now];
        reader.read_exact(chunk).map_err(of_values)?;
        values.extend(chunk.as_chunks::<N>().0.iter().map(|&bytes| value(bytes)));
        left -= now;
    }
    Ok(values)
}

/// How a number of this kind is read from its bytes, the least first.
fn number_of(kind: u8, width: usize) -> fn(&[u8]) -> f64 {
    fn bytes<const N: usize>(cell: &[u8]) -> [u8; N] {
        cell.first_chunk().copied().unwrap_or([0; N])
    }
    match (kind, width) {
        (b'b', _) => |cell| f64::from(u8::from(cell[0] != 0)),
        (b'i', 1) => |cell| f64::from(i8::from_le_bytes(bytes(cell))),
        (b'i', 2) => |cell| f64::from(i16::from_le_bytes(bytes(cell))),
        (b'i', 4) => |cell| f64::from(i32::from_le_bytes(bytes(cell))),
        (b'i', _) => |cell| i64::from_le_bytes(bytes(cell)) as f64,
        (b'u', 1) => |cell| f64::from(cell[0]),
        (b'u', 2) => |cell| f64::from(u16::from_le_bytes(bytes(cell))),
        (b'u', 4) => |cell| f64::from(u32::from_le_bytes(bytes(cell))),
        (b'u', _) => |cell| u64::from_le_bytes(bytes(cell)) as f64,
        (_, 2) => |cell| f64::from(widen(u16::from_le_bytes(bytes(cell)))),
        (_, 4) => |cell| f64::from(f32::from_le_bytes(bytes(cell))),
        _ => |cell| f64::from_le_bytes(bytes(cell)),
    }
}

/// Half precision to single, exactly.
fn widen(half: u16) -> f32 {
    let sign = if half & 0x8000 == 0 { 1.0 } else { -1.0 };
    let exponent = i32::from(half >> 10 & 0x1f);
    let fraction = f32::from(half & 0x3ff);
    sign * match exponent {
        0 => fraction * 2.0_f32.powi(-24),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1024.0 + fraction) * 2.0_f32.powi(exponent - 25),
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

/// A type that NPY files can be written with.
pub trait NpyElement: Copy + private::Sealed {
    /// The type as NPY headers write it.
    const DESCR: &'static str;

    /// Append the value's bytes, lowest first.
    fn put(self, out: &mut Vec<u8>);
}

mod private {
    pub trait Sealed {}
}

macro_rules! elements {
    ($($type:ty => $descr:literal),*) => {$(
        impl private::Sealed for $type {}
        impl NpyElement for $type {
            const DESCR: &'static str = $descr;
            fn put(self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
        }
    )*};
}
elements!(i8 => "|i1", i16 => "<i2", i32 => "<i4", i64 => "<i8", u8 => "|u1", u16 => "<u2", u32 => "<u4", u64 => "<u8",
    f32 => "<f4", f64 => "<f8");

impl private::Sealed for bool {}
impl NpyElement for bool {
    const DESCR: &'static str = "|b1";
    fn put(self, out: &mut Vec<u8>) {
        out.push(u8::from(self));
    }
}

/// Write one array in C order as an NPY file, byte for byte as NumPy does.
///
/// ```
/// let mut file = Vec::new();
/// nearfar::load::write_npy(&mut file, &[2, 2], &[1.0_f32, 2.0, 3.0, 4.0])?;
/// assert_eq!(&file[1..6], b"NUMPY");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// When `out` fails, or `values` is not exactly what `shape` says.
pub fn write_npy<T: NpyElement>(out: &mut impl Write, shape: &[usize], values: &[T]) -> std::io::Result<()> {
    if shape.iter().try_fold(1_usize, |count, &length| count.checked_mul(length)) != Some(values.len()) {
        let text = format!("{} values do not fill an array of {}", values.len(), shape_text(shape));
        return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, text));
    }
    out.write_all(&header_bytes(T::DESCR, shape))?;
    let mut buffer = Vec::with_capacity(CHUNK.min(size_of_val(values)));
    for chunk in values.chunks(CHUNK / size_of::<T>()) {
        buffer.clear();
        for value in chunk {
            value.put(&mut buffer);
        }
        out.write_all(&buffer)?;
    }
    Ok(())
}

/// Magic, version, length and the dictionary, padded so that the values begin at a multiple of 64.
fn header_bytes(descr: &str, shape: &[usize]) -> Vec<u8> {
    let axes: String = match shape {
        [only] => format!("{only},"),
        _ => shape.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
    };
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({axes}), }}");
    while !(10 + text.len() + 1).is_multiple_of(64) {
        text.push(' ');
    }
    text.push('\n');
    let mut bytes = MAGIC.to_vec();
    bytes.extend([1, 0]);
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text.bytes());
    bytes
}
