//! The bytes to be written to flash: runs at addresses of the chip.

use firmware_wire::{ChipIdentity, flash_program};

use super::{ERASED, SECTOR, SECTOR_SPAN};
use crate::narrow::narrow;

/// Error returned for an image that does not fit a chip.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FlashImageError {
    /// The image has no bytes.
    #[error("the image is empty: no bytes to write")]
    Empty,
    /// The chip is too small.
    #[error("the bytes end at {last:05X}h, the chip at {end:05X}h")]
    TooLong {
        /// The address of the image's last byte.
        last: u32,
        /// The last address of the chip.
        end: u32,
    },
    /// The program is longer than the part of flash that the processor can address.
    #[error(
        "the program has {0} bytes, flash has room for {capacity}",
        capacity = flash_program::MAX_PROGRAM_BYTES
    )]
    ProgramTooLong(usize),
}

/// Bytes to be written to flash: runs that do not overlap.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FlashImage {
    runs: Vec<(u32, Vec<u8>)>,
}

impl FlashImage {
    /// Creates an image of bytes at an address of the chip.
    pub fn raw(address: u32, bytes: Vec<u8>) -> Self {
        Self { runs: vec![(address, bytes)] }
    }

    /// Creates the image of a program: its header, the program, and padding to the end of its last
    /// sector.
    ///
    /// # Errors
    /// Returns [`FlashImageError`] if the program has no bytes or too many.
    pub fn program(bytes: &[u8], entry: u16, autostart: bool) -> Result<Self, FlashImageError> {
        let header =
            flash_program::program_header(bytes, entry, autostart).ok_or(match bytes.len() {
                0 => FlashImageError::Empty,
                length => FlashImageError::ProgramTooLong(length),
            })?;
        let mut all = [&header[..], bytes].concat();
        all.resize(all.len().next_multiple_of(SECTOR), ERASED);
        Ok(Self::raw(flash_program::HEADER_ADDRESS.into(), all))
    }

    /// Adds the runs of another image, which must not overlap these.
    #[must_use]
    pub fn merged_with(mut self, other: Self) -> Self {
        self.runs.extend(other.runs);
        self.runs.sort_unstable_by_key(|(address, _)| *address);
        self
    }

    /// Returns the boot sector if the image has any byte of it; others are those of an erased one.
    pub fn boot_sector(&self) -> Option<[u8; SECTOR]> {
        let mut sector = [ERASED; SECTOR];
        let mut is_there = false;
        for (address, bytes) in self.in_sector(0) {
            sector[address as usize..][..bytes.len()].copy_from_slice(bytes);
            is_there = true;
        }
        is_there.then_some(sector)
    }

    /// Returns the number of bytes.
    pub fn len(&self) -> usize {
        self.runs.iter().map(|(_, bytes)| bytes.len()).sum()
    }

    /// Returns `true` if the image has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Checks that all bytes lie within a chip.
    ///
    /// # Errors
    /// Returns [`FlashImageError::TooLong`], or [`FlashImageError::Empty`] if there are no bytes.
    pub fn check_fits(&self, chip: &ChipIdentity) -> Result<(), FlashImageError> {
        let size = usize::from(chip.sectors()) * SECTOR;
        let end = |(address, bytes): &(u32, Vec<u8>)| *address as usize + bytes.len();
        let last = self.runs.iter().filter(|(_, bytes)| !bytes.is_empty()).map(end).max();
        match last.ok_or(FlashImageError::Empty)? {
            end if end > size => {
                Err(FlashImageError::TooLong { last: narrow(end - 1), end: chip.last_address() })
            }
            _ => Ok(()),
        }
    }

    /// Returns the address and bytes of each run.
    pub fn runs(&self) -> impl Iterator<Item = (u32, &[u8])> {
        self.runs.iter().map(|(address, bytes)| (*address, &bytes[..]))
    }

    /// Returns the sectors that the image touches, in ascending order.
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

    /// Returns the runs within a sector, cut at its boundaries.
    pub(super) fn in_sector(&self, number: u16) -> impl Iterator<Item = (u32, &[u8])> {
        let start = u32::from(number) * SECTOR_SPAN;
        let end = start + SECTOR_SPAN;
        self.runs.iter().filter_map(move |(address, bytes)| {
            let first = (*address).max(start);
            let last = (address + narrow::<_, u32>(bytes.len())).min(end);
            let part = (first - address) as usize..last.checked_sub(*address)? as usize;
            (first < last).then(|| (first, &bytes[part]))
        })
    }

    /// Returns `true` if the image contains every byte of a sector.
    pub(super) fn covers(&self, number: u16) -> bool {
        self.in_sector(number).map(|(_, bytes)| bytes.len()).sum::<usize>() == SECTOR
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chip() -> ChipIdentity {
        ChipIdentity::new(0xBF, 0xB5, 32, 1).expect("it is made")
    }

    #[test]
    fn bytes_are_cut_at_the_borders_of_sectors() {
        let image = FlashImage::raw(0x1FFE, (0..5).collect());
        assert_eq!(image.sectors().collect::<Vec<_>>(), [1, 2]);
        assert_eq!(image.in_sector(1).collect::<Vec<_>>(), [(0x1FFE, &[0, 1][..])]);
        assert_eq!(image.in_sector(2).collect::<Vec<_>>(), [(0x2000, &[2, 3, 4][..])]);
        assert_eq!(image.in_sector(0).count() + image.in_sector(3).count(), 0);
        assert!(!image.covers(1));
        assert!(FlashImage::raw(0, vec![0; 3 * SECTOR]).covers(2));
    }

    #[test]
    fn stretches_in_one_sector_are_found_together() {
        let image = FlashImage::raw(0x2010, vec![2]).merged_with(FlashImage::raw(0x2000, vec![1]));
        assert_eq!(image.sectors().collect::<Vec<_>>(), [2]);
        let addresses: Vec<_> = image.runs().map(|(address, _)| address).collect();
        assert_eq!(addresses, [0x2000, 0x2010]);
        let parts: Vec<_> = image.in_sector(2).collect();
        assert_eq!(parts, [(0x2000, &[1][..]), (0x2010, &[2][..])]);
    }

    #[test]
    fn the_chip_has_to_be_large_enough() {
        assert_eq!(FlashImage::raw(0x1_FFFF, vec![1]).check_fits(&chip()), Ok(()));
        let refused = FlashImageError::TooLong { last: 0x2_0000, end: 0x1_FFFF };
        assert_eq!(FlashImage::raw(0x1_FFFF, vec![1, 2]).check_fits(&chip()), Err(refused));
        assert_eq!(FlashImage::default().check_fits(&chip()), Err(FlashImageError::Empty));
        assert_eq!(FlashImage::raw(0, Vec::new()).check_fits(&chip()), Err(FlashImageError::Empty));
    }

    #[test]
    fn a_program_fills_its_last_sector() {
        let image = FlashImage::program(&[1, 2, 3], flash_program::PROGRAM_ADDRESS, false)
            .expect("it fits");
        assert_eq!((image.len(), image.covers(1)), (SECTOR, true));
        assert!(!image.is_empty() && FlashImage::raw(7, Vec::new()).is_empty());
        assert_eq!(FlashImage::program(&[], 0, false), Err(FlashImageError::Empty));
        let long = vec![0; flash_program::MAX_PROGRAM_BYTES + 1];
        let refused = FlashImage::program(&long, flash_program::PROGRAM_ADDRESS, false);
        assert_eq!(refused, Err(FlashImageError::ProgramTooLong(long.len())));
    }

    #[test]
    fn the_boot_sector_is_taken_out_where_there_is_one() {
        assert_eq!(FlashImage::raw(0x1000, vec![0]).boot_sector(), None);
        let sector = FlashImage::raw(0xFFE, vec![7; 9]).boot_sector().expect("two bytes of it");
        assert_eq!(sector[0xFFD..], [0xFF, 7, 7]);
    }
}
