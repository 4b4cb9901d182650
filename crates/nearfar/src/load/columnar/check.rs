//! What an Arrow IPC file claims, compared with its size before the decoder believes it.
//!
//! The decoder allocates what blocks and compressed buffers say of themselves, and a failed
//! allocation ends the process: so every length is looked at here first.

use arrow_ipc::{Block, root_as_footer, root_as_message};

use super::super::error::LoadProblem;
use super::super::limit::Unpacked;
use super::damaged;

/// Check the footer and every block it lists.
pub(super) fn blocks(bytes: &[u8], limit: &mut Unpacked) -> Result<(), LoadProblem> {
    let cut = || damaged("the footer is not where it should be; the file may be cut short");
    let (rest, end) = bytes.split_last_chunk::<10>().ok_or_else(cut)?;
    let length = i32::from_le_bytes([end[0], end[1], end[2], end[3]]);
    let start = usize::try_from(length).ok().and_then(|length| rest.len().checked_sub(length));
    // A copy, because the tables in it must lie aligned.
    let footer = rest[start.ok_or_else(cut)?..].to_vec();
    let footer = root_as_footer(&footer).map_err(damaged)?;
    let batches = footer.recordBatches().into_iter().flatten();
    for listed in batches.chain(footer.dictionaries().into_iter().flatten()) {
        block(bytes, listed, limit)?;
    }
    Ok(())
}

/// Check that a block lies in the file, and what its buffers unpack to.
fn block(bytes: &[u8], block: &Block, limit: &mut Unpacked) -> Result<(), LoadProblem> {
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
    let message = root_as_message(&message).map_err(damaged)?;
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
    if batch.compression().is_none() {
        return Ok(());
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
    Ok(())
}
