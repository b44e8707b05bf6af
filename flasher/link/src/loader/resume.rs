//! Goes on with an upload that was broken off: finds which blocks the board holds already, and
//! sends the rest.
//!
//! Nothing remembers how far an upload has come. The board computes the check of each block, and
//! what differs is missing; so it does not matter why the last one ended, nor what has happened to
//! the board's memory since.

use std::ops::Range;

use firmware_wire::{ErrorCode, Identity, MAX_BLOCK, Reply, Request, memory_check};

use super::{
    AT_ONCE, CHECK_PER_BYTE, LoadError, ask_each, blocks, check_range, reach_monitor, upload,
    verify,
};
use crate::narrow::narrow;
use crate::{Link, LinkError};

/// The number of times an upload is taken up again that a reset of the board has broken off.
const RESUMED: usize = 2;

/// The outcome of an upload.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Updated {
    /// Bytes that were sent; those that were there already are not among them.
    pub sent: usize,
    /// The number of times the board was reset meanwhile.
    pub resets: usize,
}

/// Makes the board's memory hold `bytes`: sends the blocks that are [`missing`], and has the board
/// compute the check of all. When it is reset meanwhile and starts an application, that is sent
/// back to the monitor and the rest follows. `progress` hears how many bytes are there.
///
/// # Errors
/// What kept the bytes from being there. The blocks that the board has acknowledged stay, so a
/// later call goes on.
pub fn update(
    link: &mut Link,
    monitor: &Identity,
    address: u16,
    bytes: &[u8],
    mut progress: impl FnMut(usize),
) -> Result<Updated, LoadError> {
    let mut updated = Updated::default();
    loop {
        let attempt = send_missing(link, monitor, address, bytes, &mut updated.sent, &mut progress);
        match attempt.and_then(|()| verify(link, address, bytes)) {
            Err(LoadError::Link(error)) if is_reset(&error) && updated.resets < RESUMED => {
                reach_monitor(link)?;
                updated.resets += 1;
            }
            other => return other.map(|()| updated),
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
    let parts = missing(link, monitor, address, bytes)?;
    let there = bytes.len() - parts.iter().map(Range::len).sum::<usize>();
    let before = *sent;
    progress(there);
    let parts = parts.into_iter().flat_map(blocks);
    upload(link, address, bytes, parts.collect(), |done| {
        *sent = before + done;
        progress(there + done);
    })?;
    Ok(())
}

/// Finds what of `bytes` the board's memory does not hold from `address` on, as ranges of `bytes`
/// in their order, in whole blocks of what a request carries; none when all is there. A block is
/// there when the board computes its check, which misses one of 4,294,967,296 blocks that differ.
///
/// Where the first block differs, nothing is taken to be there: to ask for all takes a third of the
/// time of sending them.
///
/// # Errors
/// The board does not take these addresses, or the link failed.
pub fn missing(
    link: &mut Link,
    monitor: &Identity,
    address: u16,
    bytes: &[u8],
) -> Result<Vec<Range<usize>>, LoadError> {
    check_range(monitor, address, bytes)?;
    link.set_window(monitor.window);
    let all: Vec<_> = blocks(0..bytes.len()).collect();
    if !differing(link, address, bytes, &all[..1])?.is_empty() {
        return Ok(joined(all));
    }
    Ok(joined(differing(link, address, bytes, &all[1..])?))
}

/// Those of some blocks of which the board computes another check.
fn differing(
    link: &mut Link,
    address: u16,
    bytes: &[u8],
    blocks: &[Range<usize>],
) -> Result<Vec<Range<usize>>, LinkError> {
    let request = |block: &Range<usize>| Request::Crc {
        address: address.wrapping_add(narrow(block.start)),
        length: narrow(block.len()),
    };
    let work = AT_ONCE + CHECK_PER_BYTE * narrow(MAX_BLOCK);
    let mut differ = Vec::new();
    ask_each(link, "comparing", blocks.iter().map(request), work, |index, reply| {
        let block = blocks[index].clone();
        let Reply::Crc(there) = reply else { return false };
        if there != memory_check(&bytes[block.clone()]) {
            differ.push(block);
        }
        true
    })?;
    differ.sort_unstable_by_key(|block| block.start); // a repeated request is answered late
    Ok(differ)
}

/// Makes one of ranges that touch.
fn joined(ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut joined: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => joined.push(range),
        }
    }
    joined
}

/// Whether an application answers that knows none of the monitor's requests: the board was reset
/// and has started it.
fn is_reset(error: &LinkError) -> bool {
    matches!(error, LinkError::Refused { error, .. } if error.code == ErrorCode::UnknownType)
}

#[cfg(test)]
mod tests {
    use super::joined;

    #[test]
    fn ranges_that_touch_become_one() {
        assert_eq!(joined(vec![0..2, 2..4, 5..6, 6..9]), [0..4, 5..9]);
        assert!(joined(Vec::new()).is_empty());
    }
}
