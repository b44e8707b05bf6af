//! Memory images, and the file formats for them: Intel HEX and S-records.

mod hex;
mod records;
mod srec;

pub use hex::{intel_hex, parse_intel_hex, parse_large_intel_hex, tdl_hex};
pub use records::{HexError, RecordFile};
pub use srec::{parse_large_s_records, parse_s_records, s_records};

/// Consecutive bytes at an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageRun {
    /// The address of the first byte.
    pub address: u16,
    /// The bytes, which end at FFFFh at most.
    pub bytes: Vec<u8>,
}

/// The bytes of a program. Runs are in ascending order, do not overlap and are not adjacent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Image {
    runs: Vec<ImageRun>,
}

impl Image {
    /// Joins runs to an image. Where runs overlap the later one applies. Empty runs, and bytes
    /// beyond FFFFh, are dropped.
    pub fn new(runs: impl IntoIterator<Item = ImageRun>) -> Self {
        let given: Vec<_> = runs.into_iter().collect();
        let first = given.iter().map(|run| run.address).min().unwrap_or(0);
        let end = given.iter().map(ImageRun::end).max().unwrap_or(0).min(0x1_0000);
        let mut cells: Vec<Option<u8>> = vec![None; (end as usize).saturating_sub(first.into())];
        for run in given {
            let place = usize::from(run.address - first);
            for (cell, byte) in cells[place..].iter_mut().zip(run.bytes) {
                *cell = Some(byte);
            }
        }
        let mut runs: Vec<ImageRun> = Vec::new();
        for (address, cell) in (first..=u16::MAX).zip(cells) {
            match (cell, runs.last_mut()) {
                (None, _) => {}
                (Some(byte), Some(last)) if last.end() == u32::from(address) => {
                    last.bytes.push(byte);
                }
                (Some(byte), _) => runs.push(ImageRun { address, bytes: vec![byte] }),
            }
        }
        Self { runs }
    }

    /// Returns the runs, in ascending order.
    pub fn runs(&self) -> &[ImageRun] {
        &self.runs
    }

    /// Returns first and last address, or `None` if the image is empty.
    pub fn bounds(&self) -> Option<(u16, u16)> {
        let first = self.runs.first()?;
        let last = self.runs.last()?;
        Some((first.address, (last.end() - 1) as u16))
    }

    /// Returns the byte at an address.
    pub fn byte(&self, address: u16) -> Option<u8> {
        let after = self.runs.partition_point(|run| run.address <= address);
        let run = &self.runs[after.checked_sub(1)?];
        run.bytes.get(usize::from(address - run.address)).copied()
    }

    /// Overwrites a byte. Returns `false` if the image has none at the address.
    pub fn set_byte(&mut self, address: u16, value: u8) -> bool {
        let run = self.runs.iter_mut().rfind(|run| run.address <= address);
        let place = run.and_then(|run| run.bytes.get_mut(usize::from(address - run.address)));
        place.map(|place| *place = value).is_some()
    }

    /// Returns all bytes from the first to the last address, with gaps filled.
    pub fn flat(&self, fill: u8) -> Vec<u8> {
        let Some((first, last)) = self.bounds() else { return Vec::new() };
        let mut bytes = vec![fill; usize::from(last - first) + 1];
        for run in &self.runs {
            let at = usize::from(run.address - first);
            bytes[at..at + run.bytes.len()].copy_from_slice(&run.bytes);
        }
        bytes
    }
}

impl ImageRun {
    /// Returns the address after the last byte.
    pub fn end(&self) -> u32 {
        u32::from(self.address) + self.bytes.len() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(address: u16, bytes: &[u8]) -> ImageRun {
        ImageRun { address, bytes: bytes.to_vec() }
    }

    #[test]
    fn touching_runs_become_one_and_gaps_stay() {
        let image = Image::new([run(0x8000, &[1, 2]), run(0x8002, &[3]), run(0x8005, &[6])]);
        assert_eq!(image.runs(), [run(0x8000, &[1, 2, 3]), run(0x8005, &[6])]);
        assert_eq!(image.flat(0xFF), [1, 2, 3, 0xFF, 0xFF, 6]);
    }

    #[test]
    fn the_later_of_two_overlapping_runs_counts() {
        let image = Image::new([run(0x10, &[1, 2, 3, 4]), run(0x11, &[9, 9])]);
        assert_eq!(image.runs(), [run(0x10, &[1, 9, 9, 4])]);
    }

    #[test]
    fn bytes_are_found_and_changed_only_where_there_are_some() {
        let mut image = Image::new([run(0xFFFE, &[1, 2])]);
        assert_eq!(image.bounds(), Some((0xFFFE, 0xFFFF)));
        assert!(image.set_byte(0xFFFF, 7) && !image.set_byte(0, 7));
        assert_eq!((image.byte(0xFFFF), image.byte(0xFFFD)), (Some(7), None));
    }
}
