//! Reads and compares a board's memory or flash through the resident monitor.

use std::ops::Range;
use std::time::Duration;

use firmware_wire::{FlashReply, FlashRequest, MAX_BLOCK, Reply, Request, crc32, memory_checksum};

use crate::chip::{self, SECTOR};
use crate::loader::{self, pipeline};
use crate::narrow::narrow;
use crate::{Link, LinkError};

/// The processing time of a read of one block.
const REPLY_TIMEOUT: Duration = Duration::from_millis(100);

/// The address space of a read or comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressSpace {
    /// The processor's memory, including ROM; addresses up to FFFFh.
    Memory,
    /// The flash chip, by its own addresses.
    Flash,
}

/// A byte that differs from the expected value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mismatch {
    /// Its address.
    pub address: u32,
    /// The expected value.
    pub expected: u8,
    /// The value that was read.
    pub actual: u8,
}

impl AddressSpace {
    fn request(self, address: u32, count: usize) -> Request {
        let count = narrow(count);
        match self {
            Self::Memory => Request::Read { address: narrow(address), count },
            Self::Flash => Request::Flash(FlashRequest::Read { address, count }),
        }
    }

    /// Returns `true` if the checksum that the board computes is that of `bytes`.
    fn checksum_matches(
        self,
        link: &mut Link,
        address: u32,
        bytes: &[u8],
    ) -> Result<bool, LinkError> {
        match self {
            Self::Memory => {
                let actual =
                    loader::request_memory_checksum(link, narrow(address), narrow(bytes.len()))?;
                Ok(actual == memory_checksum(bytes))
            }
            Self::Flash => Ok(chip::flash_crc(link, address, bytes.len())? == crc32(bytes)),
        }
    }
}

/// Reads bytes. `progress` receives the number of bytes read.
///
/// # Errors
/// Returns [`LinkError`] if the board refuses the addresses or the link fails.
pub fn read(
    link: &mut Link,
    space: AddressSpace,
    address: u32,
    count: usize,
    mut progress: impl FnMut(usize),
) -> Result<Vec<u8>, LinkError> {
    let mut bytes = vec![0; count];
    let blocks: Vec<_> = chunks(address, count, MAX_BLOCK).collect();
    let at = |block: &Range<usize>| address + narrow::<_, u32>(block.start);
    let requests = blocks.iter().map(|block| space.request(at(block), block.len()));
    let mut done = 0;
    pipeline(link, "reading", requests, REPLY_TIMEOUT, |index, reply| {
        let block = blocks[index].clone();
        let data = match reply {
            Reply::Memory { address, data } if u32::from(address) == at(&block) => data,
            Reply::Flash(FlashReply::Memory { address, data }) if address == at(&block) => data,
            _ => return false,
        };
        done += data.len();
        progress(done);
        let is_whole = data.len() == block.len();
        if is_whole {
            bytes[block].copy_from_slice(&data);
        }
        is_whole
    })?;
    Ok(bytes)
}

/// Returns the bytes that differ. The board computes a checksum per sector; only sectors that
/// differ are read. `progress` receives the number of bytes compared.
///
/// # Errors
/// Returns [`LinkError`] if the board refuses the addresses or the link fails.
pub fn compare(
    link: &mut Link,
    space: AddressSpace,
    address: u32,
    bytes: &[u8],
    mut progress: impl FnMut(usize),
) -> Result<Vec<Mismatch>, LinkError> {
    let mut found = Vec::new();
    for piece in chunks(address, bytes.len(), SECTOR) {
        let at = address + narrow::<_, u32>(piece.start);
        let expected = &bytes[piece.clone()];
        if !space.checksum_matches(link, at, expected)? {
            let actual = read(link, space, at, expected.len(), |_| {})?;
            let before = found.len();
            found.extend(mismatches(at, expected, &actual));
            if found.len() == before {
                let cause = format!("the bytes from {at:04X}h match, but their checksum does not");
                return Err(LinkError::UnexpectedReply { operation: "comparing", cause });
            }
        }
        progress(piece.end);
    }
    Ok(found)
}

fn mismatches(address: u32, expected: &[u8], actual: &[u8]) -> impl Iterator<Item = Mismatch> {
    let pairs = (address..).zip(expected.iter().zip(actual));
    pairs.filter_map(|(address, (&expected, &actual))| {
        (expected != actual).then_some(Mismatch { address, expected, actual })
    })
}

/// Splits a range into chunks of at most `most` bytes within sectors; returns offsets.
fn chunks(address: u32, count: usize, most: usize) -> impl Iterator<Item = Range<usize>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let start = from;
        let left_in_sector = SECTOR - (address as usize + start) % SECTOR;
        from = count.min(start + most.min(left_in_sector));
        (start < count).then_some(start..from)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_end_at_sectors_and_miss_nothing() {
        let all = |address, count, most| chunks(address, count, most).collect::<Vec<_>>();
        assert_eq!(all(0x8000, 0, 236), []);
        assert_eq!(all(0x0FFE, 5, 236), [0..2, 2..5]);
        assert_eq!(all(0x1000, 0x2001, SECTOR), [0..0x1000, 0x1000..0x2000, 0x2000..0x2001]);
        assert_eq!(all(0x1F00, 0x180, 236), [0..236, 236..256, 256..0x180]);
    }

    #[test]
    fn each_byte_that_differs_is_reported_with_its_address() {
        let found: Vec<_> = mismatches(0xFFFF, &[1, 2, 3], &[1, 9, 3]).collect();
        assert_eq!(found, [Mismatch { address: 0x1_0000, expected: 2, actual: 9 }]);
    }
}
