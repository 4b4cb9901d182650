//! NPY: one array, as NumPy writes it (versions 1, 2 and 3).
//!
//! The header is a Python dictionary in text; its claims are compared with the bytes there are before
//! anything is allocated. There is no checksum in the format.

mod header;
mod write;

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};

use super::array::{NpyArray, NpyData};
use super::buffer::{Buffer, Real};
use super::error::{Column, LoadProblem, Place};
use super::labels::Labels;
use super::memory::MemoryBudget;
use super::table::{NARROWED, Table};
use super::{LoadOptions, Truth};

pub(crate) use header::{Dtype, NpyHeader};
pub use write::{NpyElement, write_npy};

const MAGIC: &[u8] = b"\x93NUMPY";
/// Bytes decoded at a time.
const CHUNK: usize = 1 << 18;
/// Small numbers widened at a time: with four bytes for each they still fit the cache.
const SMALL_CHUNK: usize = 1 << 14;

impl NpyHeader {
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
