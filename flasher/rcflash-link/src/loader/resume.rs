//! Resumes an interrupted upload: finds the blocks that the board has already, and sends the rest.
//!
//! No upload state is stored. The board computes a checksum per block and only blocks that differ
//! are sent, so a resume is correct whatever happened to memory in between.

use std::ops::Range;

use firmware_wire::{ErrorCode, Identity, MAX_BLOCK, Reply, Request, memory_checksum};

use super::{
    CRC_TIME_PER_BYTE, LoadError, REPLY_TIMEOUT, blocks, check_range, enter_monitor, pipeline,
    upload, verify,
};
use crate::narrow::narrow;
use crate::{Link, LinkError};

/// The number of resets of the board after which an upload is resumed.
const MAX_RESUMES: usize = 2;

/// The outcome of an upload.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UploadSummary {
    /// Bytes that were sent, without those that memory contained already.
    pub sent: usize,
    /// The number of resets of the board during the upload.
    pub resets: usize,
}

/// Uploads `bytes`: sends the blocks that are missing ([`missing_ranges`]), and verifies all by a
/// checksum. If the board is reset meanwhile and starts an application, enters the monitor again
/// and resumes. `progress` receives the number of bytes present.
///
/// # Errors
/// Returns [`LoadError`] if the range is not loadable, the link fails, or the checksum differs.
/// Blocks that the board has acknowledged stay in its memory, so a later call resumes.
pub fn upload_missing(
    link: &mut Link,
    monitor: &Identity,
    address: u16,
    bytes: &[u8],
    mut progress: impl FnMut(usize),
) -> Result<UploadSummary, LoadError> {
    let mut summary = UploadSummary::default();
    loop {
        let attempt = send_missing(link, monitor, address, bytes, &mut summary.sent, &mut progress);
        match attempt.and_then(|()| verify(link, address, bytes)) {
            Err(LoadError::Link(error)) if is_reset(&error) && summary.resets < MAX_RESUMES => {
                enter_monitor(link)?;
                summary.resets += 1;
            }
            other => return other.map(|()| summary),
        }
    }
}

fn send_missing(
    link: &mut Link,
    monitor: &Identity,
    address: u16,
    bytes: &[u8],
    sent: &mut usize,
    progress: &mut impl FnMut(usize),
) -> Result<(), LoadError> {
    let parts = missing_ranges(link, monitor, address, bytes)?;
    let present = bytes.len() - parts.iter().map(Range::len).sum::<usize>();
    let before = *sent;
    progress(present);
    let parts = parts.into_iter().flat_map(blocks);
    upload(link, address, bytes, parts.collect(), |done| {
        *sent = before + done;
        progress(present + done);
    })?;
    Ok(())
}

/// Compares `bytes` with the board's memory at `address`, block by block, and returns the ranges of
/// `bytes` that differ, in ascending order; none if all are present. A 32-bit checksum per block
/// decides, which misses one of 4,294,967,296 different blocks.
///
/// If the first block differs, all blocks are returned: checking them all would take a third of the
/// time of sending them.
///
/// # Errors
/// Returns [`LoadError::DoesNotFit`] or [`LoadError::Empty`] if the range is not loadable, or
/// [`LoadError::Link`].
pub fn missing_ranges(
    link: &mut Link,
    monitor: &Identity,
    address: u16,
    bytes: &[u8],
) -> Result<Vec<Range<usize>>, LoadError> {
    check_range(monitor, address, bytes)?;
    link.set_window(monitor.window);
    let all: Vec<_> = blocks(0..bytes.len()).collect();
    if !mismatching_blocks(link, address, bytes, &all[..1])?.is_empty() {
        return Ok(merge_adjacent(all));
    }
    Ok(merge_adjacent(mismatching_blocks(link, address, bytes, &all[1..])?))
}

/// Returns those of `blocks` whose checksum on the board differs.
fn mismatching_blocks(
    link: &mut Link,
    address: u16,
    bytes: &[u8],
    blocks: &[Range<usize>],
) -> Result<Vec<Range<usize>>, LinkError> {
    let request = |block: &Range<usize>| Request::Crc {
        address: address.wrapping_add(narrow(block.start)),
        length: narrow(block.len()),
    };
    let processing_time = REPLY_TIMEOUT + CRC_TIME_PER_BYTE * narrow(MAX_BLOCK);
    let mut found = Vec::new();
    pipeline(link, "comparing", blocks.iter().map(request), processing_time, |index, reply| {
        let block = blocks[index].clone();
        let Reply::Crc(actual) = reply else { return false };
        if actual != memory_checksum(&bytes[block.clone()]) {
            found.push(block);
        }
        true
    })?;
    found.sort_unstable_by_key(|block| block.start); // a retried request completes late
    Ok(found)
}

fn merge_adjacent(ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut merged: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => merged.push(range),
        }
    }
    merged
}

/// Returns `true` if the error comes from an application, which does not implement the monitor's
/// requests: the board was reset and has started it.
fn is_reset(error: &LinkError) -> bool {
    matches!(error, LinkError::Refused { error, .. } if error.code == ErrorCode::UnknownType)
}

#[cfg(test)]
mod tests {
    use super::merge_adjacent;

    #[test]
    fn ranges_that_touch_become_one() {
        assert_eq!(merge_adjacent(vec![0..2, 2..4, 5..6, 6..9]), [0..4, 5..9]);
        assert!(merge_adjacent(Vec::new()).is_empty());
    }
}
