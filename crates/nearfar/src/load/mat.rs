//! MATLAB files of level 5 (`save -v6` and `-v7`): tagged elements, mostly compressed.
//!
//! Every length is compared with the bytes that are left before anything is allocated. Numbers are
//! often packed into a smaller type than their class says; they come out as their class. Cells,
//! structures, texts and complex numbers are listed by name and not read.

use std::io::Read;

use super::array::{NpyArray, NpyData, shape_text};
use super::error::{LoadProblem, shorten};
use super::limit::{MOST_DEFLATE, Unpacked};

const HEADER: usize = 128;
const MATRIX: u32 = 14;
const COMPRESSED: u32 = 15;
/// Elements in one file; more is damage.
const MOST_VARIABLES: usize = 100_000;

/// One variable of a file.
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) shape: Vec<usize>,
    /// MATLAB's word for its class.
    pub(crate) class: String,
    /// `None` for what is not read.
    pub(crate) array: Option<NpyArray>,
}

/// All variables of a file, in its order.
pub(crate) fn read(bytes: &[u8], mut unpacked: Unpacked) -> Result<Vec<Variable>, LoadProblem> {
    let big_endian = check_header(bytes)?;
    let mut file = Elements { bytes, at: HEADER, big_endian };
    let mut variables = Vec::new();
    while !file.at_end() {
        let place = format!("byte {}", file.at);
        let element = file.next()?;
        let mut read = || match element.kind {
            MATRIX => variable(element.data, big_endian, &mut unpacked),
            COMPRESSED => {
                let inflated = inflate(element.data, &mut unpacked)?;
                let inner = Elements { bytes: &inflated, at: 0, big_endian }.next()?;
                if inner.kind != MATRIX {
                    return Err(wrong(format!("a compressed element of type {} is not known", inner.kind)));
                }
                variable(inner.data, big_endian, &mut unpacked)
            }
            other => Err(wrong(format!("an element of type {other} is not known"))),
        };
        let found = read().map_err(|problem| match problem {
            LoadProblem::Malformed { place: inner, found } => {
                LoadProblem::Malformed { place: format!("{place}, {inner}"), found }
            }
            other => other,
        })?;
        variables.push(found);
        if variables.len() > MOST_VARIABLES {
            return Err(wrong(format!("there are more than {MOST_VARIABLES} variables")));
        }
    }
    Ok(variables)
}

fn wrong(found: impl Into<String>) -> LoadProblem {
    LoadProblem::malformed("MATLAB file", found)
}

/// Whether the file has its high bytes first; other levels are refused by name.
fn check_header(bytes: &[u8]) -> Result<bool, LoadProblem> {
    let hdf5 = b"\x89HDF\r\n\x1a\n";
    let other_level = |level: &str| LoadProblem::Unsupported {
        what: format!("a MATLAB file of level {level}"),
        advice: "save it in MATLAB with save('file.mat', '-v7')".to_owned(),
    };
    if bytes.starts_with(b"MATLAB 7.3") || bytes.starts_with(hdf5) || bytes.get(512..520) == Some(hdf5) {
        return Err(other_level("7.3 (HDF5)"));
    }
    if bytes.len() < HEADER {
        return Err(wrong("shorter than its header of 128 bytes; it is cut short or another format"));
    }
    if bytes[..4].contains(&0) {
        return Err(other_level("4, or another format,"));
    }
    match (&bytes[126..128], &bytes[124..126]) {
        (b"IM", [_, 1]) => Ok(false),
        (b"MI", [1, _]) => Ok(true),
        _ => Err(wrong("the header is not that of a MATLAB file of level 5")),
    }
}

/// Elements one behind the other.
struct Elements<'a> {
    bytes: &'a [u8],
    at: usize,
    big_endian: bool,
}

struct Element<'a> {
    kind: u32,
    data: &'a [u8],
}

impl<'a> Elements<'a> {
    /// Whether only padding is left.
    fn at_end(&self) -> bool {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        rest.len() < 8 && rest.iter().all(|&byte| byte == 0)
    }

    fn word(&self, at: usize) -> Option<u32> {
        let bytes = *self.bytes.get(at..)?.first_chunk::<4>()?;
        Some(if self.big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }

    fn next(&mut self) -> Result<Element<'a>, LoadProblem> {
        let cut =
            || wrong(format!("it ends inside the element at byte {}; it is cut short or damaged", self.at));
        let tag = self.word(self.at).ok_or_else(cut)?;
        let (kind, length, start) = if tag >> 16 == 0 {
            (tag, self.word(self.at + 4).ok_or_else(cut)? as usize, self.at + 8)
        } else {
            // A small element keeps its length in the upper half and its data in the tag.
            (tag & 0xffff, (tag >> 16) as usize, self.at + 4)
        };
        if start == self.at + 4 && length > 4 {
            return Err(wrong(format!("a small element of {length} bytes at byte {}", self.at)));
        }
        let end = start.checked_add(length).ok_or_else(cut)?;
        let data = self.bytes.get(start..end).ok_or_else(cut)?;
        let behind = if start == self.at + 4 { self.at + 8 } else { end };
        // Compressed elements are not padded to 8 bytes, all others are.
        self.at = if kind == COMPRESSED { behind } else { behind.next_multiple_of(8) };
        Ok(Element { kind, data })
    }
}

fn inflate(packed: &[u8], unpacked: &mut Unpacked) -> Result<Vec<u8>, LoadProblem> {
    let most = unpacked.left().min((packed.len() as u64).saturating_mul(MOST_DEFLATE));
    let mut out = Vec::new();
    let mut reader = flate2::read::ZlibDecoder::new(packed).take(most.saturating_add(1));
    reader.read_to_end(&mut out).map_err(|error| LoadProblem::from_io(error, "compressed element"))?;
    unpacked.add(out.len() as u64, || "an unpacked variable".to_owned())?;
    Ok(out)
}

/// Read the parts of one matrix.
fn variable(bytes: &[u8], big_endian: bool, unpacked: &mut Unpacked) -> Result<Variable, LoadProblem> {
    let mut parts = Elements { bytes, at: 0, big_endian };
    let flags = parts.next()?.data;
    let flags =
        Elements { bytes: flags, at: 0, big_endian }.word(0).ok_or_else(|| wrong("no array flags"))?;
    let (class, complex) = (flags & 0xff, flags & 0x800 != 0);
    if class == 17 {
        // Opaque objects have no dimensions here.
        return Ok(Variable { name: String::new(), shape: vec![], class: "object".to_owned(), array: None });
    }
    let shape = shape(&parts.next()?, big_endian)?;
    let name = shorten(&String::from_utf8_lossy(parts.next()?.data));
    let word = class_name(class)?;
    let class_word = if complex { format!("complex {word}") } else { word.to_owned() };
    let array = match class {
        5 if !complex => Some(sparse(&mut parts, &shape, big_endian, unpacked)?),
        6..=15 if !complex => Some(dense(&parts.next()?, &shape, class, &name, big_endian)?),
        _ => None,
    };
    Ok(Variable { name, shape, class: class_word, array })
}

fn class_name(class: u32) -> Result<&'static str, LoadProblem> {
    const NAMES: [&str; 17] = [
        "cell", "struct", "object", "char", "sparse", "double", "single", "int8", "uint8", "int16", "uint16",
        "int32", "uint32", "int64", "uint64", "function", "object",
    ];
    let index = (class as usize).checked_sub(1);
    index
        .and_then(|index| NAMES.get(index).copied())
        .ok_or_else(|| wrong(format!("array class {class} is not known")))
}

fn shape(element: &Element, big_endian: bool) -> Result<Vec<usize>, LoadProblem> {
    let lengths = integers(element, big_endian)?;
    if !(2..=64).contains(&lengths.len()) {
        return Err(wrong(format!("an array of {} dimensions", lengths.len())));
    }
    Ok(lengths)
}

/// A list of indices: whole numbers, none negative.
fn integers(element: &Element, big_endian: bool) -> Result<Vec<usize>, LoadProblem> {
    match numbers(element, big_endian)? {
        NpyData::I32(values) => {
            let index = |value: i32| usize::try_from(value).map_err(|_| wrong("a negative length or index"));
            values.into_iter().map(index).collect()
        }
        NpyData::U32(values) => Ok(values.into_iter().map(|value| value as usize).collect()),
        other => Err(wrong(format!("lengths stored as {}", other.type_name()))),
    }
}

/// The values of an element in the type they are packed in.
fn numbers(element: &Element, big_endian: bool) -> Result<NpyData, LoadProblem> {
    macro_rules! unpack {
        ($variant:ident, $type:ty) => {{
            let (chunks, rest) = element.data.as_chunks::<{ size_of::<$type>() }>();
            if !rest.is_empty() {
                return Err(wrong(format!("{} bytes are no whole number of values", element.data.len())));
            }
            let read = if big_endian { <$type>::from_be_bytes } else { <$type>::from_le_bytes };
            NpyData::$variant(chunks.iter().map(|&bytes| read(bytes)).collect())
        }};
    }
    Ok(match element.kind {
        1 => unpack!(I8, i8),
        2 => unpack!(U8, u8),
        3 => unpack!(I16, i16),
        4 => unpack!(U16, u16),
        5 => unpack!(I32, i32),
        6 => unpack!(U32, u32),
        7 => unpack!(F32, f32),
        9 => unpack!(F64, f64),
        12 => unpack!(I64, i64),
        13 => unpack!(U64, u64),
        other => return Err(wrong(format!("values of type {other} are not known"))),
    })
}

fn dense(
    element: &Element,
    shape: &[usize],
    class: u32,
    name: &str,
    big_endian: bool,
) -> Result<NpyArray, LoadProblem> {
    let packed = numbers(element, big_endian)?;
    let count = shape.iter().try_fold(1_usize, |count, &length| count.checked_mul(length));
    if count != Some(packed.len()) {
        let found = format!(
            "variable {name:?} claims {} values and holds {}; the file is damaged",
            shape_text(shape),
            packed.len()
        );
        return Err(wrong(found));
    }
    let data = match class {
        6 if matches!(packed, NpyData::F64(_)) => packed,
        6 => NpyData::F64(packed.to_f64().into()),
        7 if matches!(packed, NpyData::F32(_)) => packed,
        7 => NpyData::F32(packed.to_f64().into_iter().map(|value| value as f32).collect()),
        _ => packed,
    };
    Ok(NpyArray { shape: shape.to_vec(), data: data.by_rows(shape) })
}

/// A sparse matrix, written out in full if that is not too large.
fn sparse(
    parts: &mut Elements,
    shape: &[usize],
    big_endian: bool,
    unpacked: &mut Unpacked,
) -> Result<NpyArray, LoadProblem> {
    let &[n_rows, n_columns] = shape else { return Err(wrong("a sparse array that is not a matrix")) };
    let rows = integers(&parts.next()?, big_endian)?;
    let starts = integers(&parts.next()?, big_endian)?;
    let values = numbers(&parts.next()?, big_endian)?.to_f64();
    let count = n_rows.checked_mul(n_columns).and_then(|count| count.checked_mul(8)).unwrap_or(usize::MAX);
    unpacked
        .add(count as u64, || format!("a sparse matrix of {n_rows} x {n_columns}, written out in full,"))?;
    if n_columns.checked_add(1) != Some(starts.len()) || starts.windows(2).any(|pair| pair[0] > pair[1]) {
        return Err(wrong("the columns of a sparse matrix are damaged"));
    }
    let mut dense = vec![0.0; n_rows * n_columns];
    for (column, pair) in starts.windows(2).enumerate() {
        let entries = rows.get(pair[0]..pair[1]).zip(values.get(pair[0]..pair[1]));
        let (rows, values) =
            entries.ok_or_else(|| wrong("a sparse matrix has fewer values than it claims"))?;
        for (&row, &value) in rows.iter().zip(values) {
            if row >= n_rows {
                return Err(wrong(format!("a sparse matrix of {n_rows} rows has a value in row {row}")));
            }
            dense[row * n_columns + column] = value;
        }
    }
    Ok(NpyArray { shape: shape.to_vec(), data: NpyData::F64(dense.into()) })
}
