//! The content that flash is to have: stretches of bytes at addresses of the chip.

use firmware_wire::ChipIdentity;
use firmware_wire::slot;

use super::{ERASED, SECTOR, SECTOR_SPAN};
use crate::narrow::narrow;

/// Error returned for bytes that can't be in a chip.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ContentError {
    /// There are none.
    #[error("there are no bytes to write")]
    Empty,
    /// The chip is too small.
    #[error("the bytes end at {last:05X}h, the chip at {end:05X}h")]
    TooLong {
        /// The last byte's address.
        last: u32,
        /// The chip's last.
        end: u32,
    },
    /// A program is longer than what the processor sees of flash.
    #[error("the program has {0} bytes, flash has room for {capacity}", capacity = slot::CAPACITY)]
    ProgramTooLong(usize),
}

/// Stretches of bytes that do not overlap.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Content {
    runs: Vec<(u32, Vec<u8>)>,
}

impl Content {
    /// Bytes at an address of the chip.
    #[must_use]
    pub fn raw(address: u32, bytes: Vec<u8>) -> Self {
        Self { runs: vec![(address, bytes)] }
    }

    /// A program behind its header, up to the end of its last sector.
    ///
    /// # Errors
    /// It has no bytes, or too many.
    pub fn program(bytes: &[u8], entry: u16, autostart: bool) -> Result<Self, ContentError> {
        let header = slot::header(bytes, entry, autostart).ok_or(match bytes.len() {
            0 => ContentError::Empty,
            length => ContentError::ProgramTooLong(length),
        })?;
        let mut all = [&header[..], bytes].concat();
        all.resize(all.len().next_multiple_of(SECTOR), ERASED);
        Ok(Self::raw(slot::ADDRESS.into(), all))
    }

    /// The same with more bytes, which must not overlap those.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.runs.extend(other.runs);
        self.runs.sort_unstable_by_key(|(address, _)| *address);
        self
    }

    /// The boot sector, where the content covers any of it; the rest of it is erased.
    #[must_use]
    pub fn boot_sector(&self) -> Option<[u8; SECTOR]> {
        let mut sector = [ERASED; SECTOR];
        let mut is_there = false;
        for (address, bytes) in self.within(0) {
            sector[address as usize..][..bytes.len()].copy_from_slice(bytes);
            is_there = true;
        }
        is_there.then_some(sector)
    }

    /// Bytes in all.
    #[must_use]
    pub fn len(&self) -> usize {
        self.runs.iter().map(|(_, bytes)| bytes.len()).sum()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn check_fits(&self, chip: &ChipIdentity) -> Result<(), ContentError> {
        let size = usize::from(chip.sectors) * SECTOR;
        let end = |(address, bytes): &(u32, Vec<u8>)| *address as usize + bytes.len();
        let last = self.runs.iter().filter(|(_, bytes)| !bytes.is_empty()).map(end).max();
        match last.ok_or(ContentError::Empty)? {
            end if end > size => {
                Err(ContentError::TooLong { last: narrow(end - 1), end: narrow(size - 1) })
            }
            _ => Ok(()),
        }
    }

    /// The stretches: the address of each, and its bytes.
    pub fn runs(&self) -> impl Iterator<Item = (u32, &[u8])> {
        self.runs.iter().map(|(address, bytes)| (*address, &bytes[..]))
    }

    /// The sectors that it touches, in order.
    pub fn sectors(&self) -> impl Iterator<Item = u16> {
        let sector = |address: u32| -> u16 { narrow(address / SECTOR_SPAN) };
        let mut all: Vec<u16> = (self.runs.iter())
            .filter(|(_, bytes)| !bytes.is_empty())
            .flat_map(|(first, bytes)| {
                sector(*first)..=sector(first + narrow::<_, u32>(bytes.len()) - 1)
            })
            .collect();
        all.dedup();
        all.into_iter()
    }

    /// Its stretches within a sector.
    pub(super) fn within(&self, number: u16) -> impl Iterator<Item = (u32, &[u8])> {
        let start = u32::from(number) * SECTOR_SPAN;
        let end = start + SECTOR_SPAN;
        self.runs.iter().filter_map(move |(address, bytes)| {
            let first = (*address).max(start);
            let last = (address + narrow::<_, u32>(bytes.len())).min(end);
            let part = (first - address) as usize..last.checked_sub(*address)? as usize;
            (first < last).then(|| (first, &bytes[part]))
        })
    }

    /// Whether all of a sector is given.
    pub(super) fn covers(&self, number: u16) -> bool {
        self.within(number).map(|(_, bytes)| bytes.len()).sum::<usize>() == SECTOR
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHIP: ChipIdentity =
        ChipIdentity { manufacturer: 0xBF, device: 0xB5, sectors: 32, kept: 1 };

    #[test]
    fn bytes_are_cut_at_the_borders_of_sectors() {
        let content = Content::raw(0x1FFE, (0..5).collect());
        assert_eq!(content.sectors().collect::<Vec<_>>(), [1, 2]);
        assert_eq!(content.within(1).collect::<Vec<_>>(), [(0x1FFE, &[0, 1][..])]);
        assert_eq!(content.within(2).collect::<Vec<_>>(), [(0x2000, &[2, 3, 4][..])]);
        assert_eq!(content.within(0).count() + content.within(3).count(), 0);
        assert!(!content.covers(1));
        assert!(Content::raw(0, vec![0; 3 * SECTOR]).covers(2));
    }

    #[test]
    fn stretches_in_one_sector_are_found_together() {
        let content = Content::raw(0x2010, vec![2]).and(Content::raw(0x2000, vec![1]));
        assert_eq!(content.sectors().collect::<Vec<_>>(), [2]);
        let addresses: Vec<_> = content.runs().map(|(address, _)| address).collect();
        assert_eq!(addresses, [0x2000, 0x2010]);
        let parts: Vec<_> = content.within(2).collect();
        assert_eq!(parts, [(0x2000, &[1][..]), (0x2010, &[2][..])]);
    }

    #[test]
    fn the_chip_has_to_be_large_enough() {
        assert_eq!(Content::raw(0x1_FFFF, vec![1]).check_fits(&CHIP), Ok(()));
        let refused = ContentError::TooLong { last: 0x2_0000, end: 0x1_FFFF };
        assert_eq!(Content::raw(0x1_FFFF, vec![1, 2]).check_fits(&CHIP), Err(refused));
        assert_eq!(Content::default().check_fits(&CHIP), Err(ContentError::Empty));
        assert_eq!(Content::raw(0, Vec::new()).check_fits(&CHIP), Err(ContentError::Empty));
    }

    #[test]
    fn a_program_fills_its_last_sector() {
        let content = Content::program(&[1, 2, 3], slot::PROGRAM, false).expect("it fits");
        assert_eq!((content.len(), content.covers(1)), (SECTOR, true));
        assert!(!content.is_empty() && Content::raw(7, Vec::new()).is_empty());
        assert_eq!(Content::program(&[], 0, false), Err(ContentError::Empty));
        let long = vec![0; slot::CAPACITY + 1];
        let refused = Content::program(&long, slot::PROGRAM, false);
        assert_eq!(refused, Err(ContentError::ProgramTooLong(long.len())));
    }

    #[test]
    fn the_boot_sector_is_taken_out_where_there_is_one() {
        assert_eq!(Content::raw(0x1000, vec![0]).boot_sector(), None);
        let sector = Content::raw(0xFFE, vec![7; 9]).boot_sector().expect("two bytes of it");
        assert_eq!(sector[0xFFD..], [0xFF, 7, 7]);
    }
}
