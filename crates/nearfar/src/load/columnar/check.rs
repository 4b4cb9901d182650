//! What an Arrow IPC file or stream claims, compared with its size before the decoder believes it.
//!
//! The decoder allocates what blocks and compressed buffers say of themselves, and a failed
//! allocation ends the process: so every length is looked at here first.

use arrow_ipc::{Block, CompressionType, Message, root_as_footer, root_as_message};

use super::super::error::LoadProblem;
use super::super::limit::Unpacked;
use super::damaged;

/// Check the footer and every block it lists; gives the number of rows they announce.
pub(super) fn blocks(bytes: &[u8], limit: &mut Unpacked) -> Result<usize, LoadProblem> {
    let cut = || damaged("the footer is not where it should be; the file may be cut short");
    let (rest, end) = bytes.split_last_chunk::<10>().ok_or_else(cut)?;
    let length = i32::from_le_bytes([end[0], end[1], end[2], end[3]]);
    let start = usize::try_from(length).ok().and_then(|length| rest.len().checked_sub(length));
    // A copy, because the tables in it must lie aligned.
    let footer = rest[start.ok_or_else(cut)?..].to_vec();
    let footer = root_as_footer(&footer).map_err(damaged)?;
    let mut rows = 0;
    for listed in footer.recordBatches().into_iter().flatten() {
        rows += block(bytes, listed, limit)? as usize;
    }
    for listed in footer.dictionaries().into_iter().flatten() {
        block(bytes, listed, limit)?;
    }
    Ok(rows)
}

/// Check that a block lies in the file, and what its buffers unpack to; gives its rows.
fn block(bytes: &[u8], block: &Block, limit: &mut Unpacked) -> Result<u64, LoadProblem> {
    let outside = || damaged("a block lies outside the file");
    let part = |from: usize, length: i64| {
        let end = usize::try_from(length).ok().and_then(|length| from.checked_add(length))?;
        Some((bytes.get(from..end)?, end))
    };
    let start = usize::try_from(block.offset()).map_err(damaged)?;
    let (head, body_start) = part(start, i64::from(block.metaDataLength())).ok_or_else(outside)?;
    let (body, _) = part(body_start, block.bodyLength()).ok_or_else(outside)?;
    let prefix = if head.starts_with(&[0xff; 4]) { 8 } else { 4 };
    let message = head.get(prefix..).ok_or_else(outside)?.to_vec();
    batch(&root_as_message(&message).map_err(damaged)?, body, limit)
}

/// Check the messages of a stream, one behind the other; gives the number of rows they announce.
pub(super) fn stream(bytes: &[u8], limit: &mut Unpacked) -> Result<usize, LoadProblem> {
    let (mut rest, mut rows, mut first) = (bytes, 0, true);
    let cut = |first: bool| {
        if first { no_stream() } else { damaged("a message ends behind the file; it may be cut short") }
    };
    while let Some((length, behind)) = message_length(rest) {
        if length == 0 {
            break;
        }
        let (head, behind) = behind.split_at_checked(length).ok_or_else(|| cut(first))?;
        let head = head.to_vec();
        let message =
            root_as_message(&head).map_err(|error| if first { no_stream() } else { damaged(error) })?;
        let body = usize::try_from(message.bodyLength()).map_err(damaged)?;
        let (body, behind) = behind.split_at_checked(body).ok_or_else(|| cut(first))?;
        if message.header_as_schema().is_none() {
            let more = batch(&message, body, limit)?;
            rows += if message.header_as_record_batch().is_some() { more as usize } else { 0 };
        } else if !first {
            return Err(damaged("a second schema"));
        }
        (rest, first) = (behind, false);
    }
    if first { Err(no_stream()) } else { Ok(rows) }
}

/// The length of the message that `bytes` begins with, and what follows it; old streams have no mark before it.
fn message_length(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let bytes = bytes.strip_prefix(&[0xff; 4]).unwrap_or(bytes);
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    Some((usize::try_from(i32::from_le_bytes(*length)).unwrap_or(usize::MAX), rest))
}

fn no_stream() -> LoadProblem {
    LoadProblem::malformed(
        "first bytes",
        "this is neither an Arrow IPC file nor a stream (Feather 1 is not read); write it with write_feather",
    )
}

/// Check what the buffers of one batch unpack to; gives its rows.
fn batch(message: &Message, body: &[u8], limit: &mut Unpacked) -> Result<u64, LoadProblem> {
    let batch = message
        .header_as_record_batch()
        .or_else(|| message.header_as_dictionary_batch().and_then(|dictionary| dictionary.data()));
    let Some(batch) = batch else { return Err(damaged("a block is no record batch")) };
    let columns = batch.nodes().map_or(0, |nodes| nodes.len()) as u64;
    let rows = u64::try_from(batch.length()).map_err(damaged)?;
    limit.add(rows.saturating_mul(8 * columns), || "the table".to_owned())?;
    for node in batch.nodes().into_iter().flatten() {
        let within = u64::try_from(node.length()).is_ok_and(|length| length <= limit.left());
        if !within {
            return Err(damaged("a column claims more values than the file can hold"));
        }
    }
    match batch.compression() {
        None => return Ok(rows),
        Some(how) if how.codec() == CompressionType::ZSTD => return Err(super::compressed("zstd")),
        Some(_) => {}
    }
    for buffer in batch.buffers().into_iter().flatten() {
        let start = usize::try_from(buffer.offset()).map_err(damaged)?;
        let Some(unpacked) = body.get(start..).and_then(|rest| rest.first_chunk::<8>()) else { continue };
        // Negative means that the buffer is not compressed after all.
        let unpacked = u64::try_from(i64::from_le_bytes(*unpacked)).unwrap_or(0);
        if buffer.length() > 0 {
            limit.add(unpacked, || "a compressed column".to_owned())?;
        }
    }
    Ok(rows)
}
