//! What the pages of a Parquet file claim, compared with the file before the decoder believes it.
//!
//! The decoder reserves what a page's header says that it unpacks to, up to 2 GiB, whatever the size of the file. So
//! the headers are walked first. They are Thrift's compact protocol, of which only the lengths matter here.

use parquet::arrow::ProjectionMask;
use parquet::basic::{Compression, Type};
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::reader::ChunkReader;

use super::super::error::LoadProblem;
use super::super::limit::{MOST_DEFLATE, Unpacked};
use super::{compressed, damaged};

/// Structures inside structures; more is damage.
const MOST_DEPTH: usize = 16;

/// Check every page of the row groups and columns in use.
pub(super) fn check(
    file: &impl ChunkReader,
    metadata: &ParquetMetaData,
    groups: &[usize],
    mask: &ProjectionMask,
    mut limit: Unpacked,
) -> Result<(), LoadProblem> {
    for group in groups.iter().map(|group| metadata.row_group(*group)) {
        let used = group.columns().iter().enumerate().filter(|(leaf, _)| mask.leaf_included(*leaf));
        for (_, column) in used {
            match column.compression() {
                Compression::ZSTD(_) => return Err(compressed("zstd")),
                Compression::BROTLI(_) => return Err(compressed("brotli")),
                Compression::LZO => return Err(compressed("lzo")),
                _ => check_column(file, column, &mut limit)?,
            }
        }
    }
    Ok(())
}

fn check_column(
    file: &impl ChunkReader,
    column: &ColumnChunkMetaData,
    limit: &mut Unpacked,
) -> Result<(), LoadProblem> {
    let start = column.dictionary_page_offset().unwrap_or_else(|| column.data_page_offset());
    let (start, length) = (u64::try_from(start).ok(), u64::try_from(column.compressed_size()).ok());
    let end = start.zip(length).and_then(|(start, length)| start.checked_add(length));
    let (Some(mut at), Some(end)) = (start, end.filter(|end| *end <= file.len())) else {
        return Err(damaged("a column lies outside the file"));
    };
    let whole = u64::try_from(column.uncompressed_size()).map_err(damaged)?;
    while let Some((page, header)) = page_at(file, at, end) {
        // No writer's page is larger than its column, and no compression packs tighter than this.
        if page.unpacked > whole && page.unpacked > page.packed.saturating_mul(MOST_DEFLATE) {
            return Err(damaged("a page claims more bytes than its column has"));
        }
        // The decoder reserves room for all values of a dictionary, which stand in the page one by one.
        if page.dictionary.saturating_mul(least_width(column)) > page.unpacked {
            return Err(damaged("a page claims more values than it has bytes for"));
        }
        limit.add(page.unpacked, || "a page".to_owned())?;
        at = at.saturating_add(header).saturating_add(page.packed);
    }
    Ok(())
}

/// Bytes that a value takes at least in a dictionary.
fn least_width(column: &ColumnChunkMetaData) -> u64 {
    match column.column_type() {
        Type::BOOLEAN => 1,
        Type::INT32 | Type::FLOAT | Type::BYTE_ARRAY => 4,
        Type::INT64 | Type::DOUBLE => 8,
        Type::INT96 => 12,
        Type::FIXED_LEN_BYTE_ARRAY => u64::try_from(column.column_descr().type_length()).unwrap_or(1).max(1),
    }
}

/// The page whose header begins at byte `at`, and the length of the header; `None` at the end, or for the decoder to
/// complain of.
fn page_at(file: &impl ChunkReader, at: u64, end: u64) -> Option<(PageSize, u64)> {
    let left = end.checked_sub(at).filter(|left| *left > 0)?;
    // Statistics may make a header long.
    [256, 1 << 16].into_iter().find_map(|most| {
        let bytes = file.get_bytes(at, left.min(most) as usize).ok()?;
        let (page, rest) = PageSize::read(&bytes)?;
        Some((page, (bytes.len() - rest.len()) as u64))
    })
}

/// What a page header claims.
struct PageSize {
    unpacked: u64,
    packed: u64,
    /// Values of a dictionary; 0 for other pages.
    dictionary: u64,
}

impl PageSize {
    /// The claims, and what follows the header; `None` at the end or when this is no header.
    fn read(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let mut thrift = Thrift { rest: bytes };
        let (mut field, mut unpacked, mut packed, mut dictionary) = (0, None, None, 0);
        loop {
            let kind = thrift.field(&mut field)?;
            match (field, kind) {
                (_, STOP) => break,
                (2, INT32) => unpacked = Some(thrift.integer()?),
                (3, INT32) => packed = Some(thrift.integer()?),
                (7, STRUCT) => dictionary = thrift.first_of_structure()?,
                _ => thrift.skip(kind, 0)?,
            }
        }
        // A negative size is refused by the decoder before it reserves anything.
        let size = |value: i64| u64::try_from(value).ok();
        let (unpacked, packed, dictionary) = (size(unpacked?)?, size(packed?)?, size(dictionary)?);
        Some((Self { unpacked, packed, dictionary }, thrift.rest))
    }
}

const STOP: u8 = 0;
const INT32: u8 = 5;
const STRUCT: u8 = 12;

/// Thrift's compact protocol, as far as needed to pass over a structure.
struct Thrift<'a> {
    rest: &'a [u8],
}

impl Thrift<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (&byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(byte)
    }

    fn pass(&mut self, bytes: u64) -> Option<()> {
        self.rest = self.rest.get(usize::try_from(bytes).ok()?..)?;
        Some(())
    }

    fn unsigned(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    /// Zigzag: the sign is the lowest bit.
    fn integer(&mut self) -> Option<i64> {
        let value = self.unsigned()?;
        Some((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }

    /// The type of the next field, and its number in `last`.
    fn field(&mut self, last: &mut i64) -> Option<u8> {
        let byte = self.byte()?;
        let kind = byte & 0xf;
        if kind != STOP {
            *last = if byte >> 4 == 0 { self.integer()? } else { last.wrapping_add(i64::from(byte >> 4)) };
        }
        Some(kind)
    }

    /// Pass over a structure; its field 1 if that is an integer, else 0.
    fn first_of_structure(&mut self) -> Option<i64> {
        let (mut field, mut first) = (0, 0);
        loop {
            match (self.field(&mut field)?, field) {
                (STOP, _) => return Some(first),
                (INT32, 1) => first = self.integer()?,
                (kind, _) => self.skip(kind, 1)?,
            }
        }
    }

    fn skip(&mut self, kind: u8, depth: usize) -> Option<()> {
        if depth > MOST_DEPTH {
            return None;
        }
        match kind {
            // Truth values are part of their type.
            1 | 2 => Some(()),
            3 => self.pass(1),
            4..=6 => self.unsigned().map(|_| ()),
            7 => self.pass(8),
            8 => self.unsigned().and_then(|length| self.pass(length)),
            9 | 10 => self.skip_list(depth),
            STRUCT => {
                let mut field = 0;
                loop {
                    match self.field(&mut field)? {
                        STOP => return Some(()),
                        kind => self.skip(kind, depth + 1)?,
                    }
                }
            }
            // Page headers have no maps.
            _ => None,
        }
    }

    fn skip_list(&mut self, depth: usize) -> Option<()> {
        let byte = self.byte()?;
        let length = if byte >> 4 == 15 { self.unsigned()? } else { u64::from(byte >> 4) };
        for _ in 0..length {
            match byte & 0xf {
                // In a list a truth value has a byte of its own.
                1 | 2 => self.pass(1)?,
                kind => self.skip(kind, depth + 1)?,
            }
        }
        Some(())
    }
}
