//! Looks at what a board holds, in memory or in flash, through the resident monitor: reads it, and
//! compares it.

use std::ops::Range;
use std::time::Duration;

use firmware_wire::{FlashReply, FlashRequest, MAX_BLOCK, Reply, Request, crc32, memory_check};

use crate::chip::{self, SECTOR};
use crate::loader::{self, ask_each};
use crate::narrow::narrow;
use crate::{Link, LinkError};

/// The longest time for the reply with a block.
const AT_ONCE: Duration = Duration::from_millis(100);

/// Location of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The processor's memory, ROM included; addresses up to FFFFh.
    Memory,
    /// The flash chip, by its own addresses.
    Flash,
}

/// A byte that is not what it should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Difference {
    /// Its address.
    pub address: u32,
    /// The value that it should have.
    pub wanted: u8,
    /// The value that it has.
    pub there: u8,
}

impl Place {
    fn request(self, address: u32, count: usize) -> Request {
        let count = narrow(count);
        match self {
            Self::Memory => Request::Read { address: narrow(address), count },
            Self::Flash => Request::Flash(FlashRequest::Read { address, count }),
        }
    }

    /// Whether the board computes the check that these bytes have.
    fn agrees(self, link: &mut Link, address: u32, bytes: &[u8]) -> Result<bool, LinkError> {
        match self {
            Self::Memory => {
                let there = loader::check(link, narrow(address), narrow(bytes.len()))?;
                Ok(there == memory_check(bytes))
            }
            Self::Flash => Ok(chip::check(link, address, bytes.len())? == crc32(bytes)),
        }
    }
}

/// Fetches bytes. `progress` gets how many have come.
///
/// # Errors
/// The board refused the addresses, or the link failed.
pub fn read(
    link: &mut Link,
    place: Place,
    address: u32,
    count: usize,
    mut progress: impl FnMut(usize),
) -> Result<Vec<u8>, LinkError> {
    let mut bytes = vec![0; count];
    let blocks: Vec<_> = pieces(address, count, MAX_BLOCK).collect();
    let at = |block: &Range<usize>| address + narrow::<_, u32>(block.start);
    let requests = blocks.iter().map(|block| place.request(at(block), block.len()));
    let mut done = 0;
    ask_each(link, "reading", requests, AT_ONCE, |index, reply| {
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

/// Finds the bytes that are not as they should be. The board computes checks; only what differs is
/// fetched. `progress` gets how many bytes are compared.
///
/// # Errors
/// The board refused the addresses, or the link failed.
pub fn compare(
    link: &mut Link,
    place: Place,
    address: u32,
    bytes: &[u8],
    mut progress: impl FnMut(usize),
) -> Result<Vec<Difference>, LinkError> {
    let mut differences = Vec::new();
    for piece in pieces(address, bytes.len(), SECTOR) {
        let at = address + narrow::<_, u32>(piece.start);
        let wanted = &bytes[piece.clone()];
        if !place.agrees(link, at, wanted)? {
            let there = read(link, place, at, wanted.len(), |_| {})?;
            let before = differences.len();
            differences.extend(differing(at, wanted, &there));
            if differences.len() == before {
                let why = format!("the bytes from {at:04X}h on are right, their check is not");
                return Err(LinkError::Nonsense { what: "comparing", why });
            }
        }
        progress(piece.end);
    }
    Ok(differences)
}

fn differing(address: u32, wanted: &[u8], there: &[u8]) -> impl Iterator<Item = Difference> {
    let pairs = (address..).zip(wanted.iter().zip(there));
    pairs.filter_map(|(address, (&wanted, &there))| {
        (wanted != there).then_some(Difference { address, wanted, there })
    })
}

/// Cuts a stretch into pieces of at most `most` bytes that lie in one sector each, as offsets.
fn pieces(address: u32, count: usize, most: usize) -> impl Iterator<Item = Range<usize>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let start = from;
        let in_sector = SECTOR - (address as usize + start) % SECTOR;
        from = count.min(start + most.min(in_sector));
        (start < count).then_some(start..from)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_end_at_sectors_and_miss_nothing() {
        let all = |address, count, most| pieces(address, count, most).collect::<Vec<_>>();
        assert_eq!(all(0x8000, 0, 236), []);
        assert_eq!(all(0x0FFE, 5, 236), [0..2, 2..5]);
        assert_eq!(all(0x1000, 0x2001, SECTOR), [0..0x1000, 0x1000..0x2000, 0x2000..0x2001]);
        assert_eq!(all(0x1F00, 0x180, 236), [0..236, 236..256, 256..0x180]);
    }

    #[test]
    fn each_byte_that_differs_is_reported_with_its_address() {
        let found: Vec<_> = differing(0xFFFF, &[1, 2, 3], &[1, 9, 3]).collect();
        assert_eq!(found, [Difference { address: 0x1_0000, wanted: 2, there: 9 }]);
    }
}
