//! The header in front of a program in flash (`firmware/z80/auto.asm`): by it the monitor knows
//! that the program is whole, and whether to start it after a reset.

use crate::crc32;

/// The address of the header, both in the chip and as the processor sees it.
pub const ADDRESS: u16 = 0x1000;
/// Bytes of the header; the program is behind it.
pub const HEADER: usize = 16;
/// The address at which the program begins.
pub const PROGRAM: u16 = ADDRESS + 16;
const _: () = assert!(PROGRAM as usize == ADDRESS as usize + HEADER);
/// Bytes up to the end of what the processor sees of flash.
pub const CAPACITY: usize = 0x8000 - PROGRAM as usize;

const MAGIC: &[u8; 4] = b"SARG";
/// Bytes of the header in front of its check, which covers them and the program.
const CHECKED: usize = 12;

/// The header of a program; `None` when the program has no bytes or more than [`CAPACITY`].
#[must_use]
pub fn header(program: &[u8], entry: u16, autostart: bool) -> Option<[u8; HEADER]> {
    let length = u16::try_from(program.len())
        .ok()
        .filter(|length| (1..=CAPACITY).contains(&usize::from(*length)))?;
    let mut header = [0; HEADER];
    header[..4].copy_from_slice(MAGIC);
    header[4] = u8::from(autostart);
    header[6..8].copy_from_slice(&entry.to_le_bytes());
    header[8..10].copy_from_slice(&length.to_le_bytes());
    let crc = crc32(&[&header[..CHECKED], program].concat());
    header[CHECKED..].copy_from_slice(&crc.to_le_bytes());
    Some(header)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_laid_out_as_the_monitor_reads_it() {
        let header = header(&[1, 2, 3], 0x1010, true).expect("three bytes fit");
        assert_eq!(header[..12], *b"SARG\x01\x00\x10\x10\x03\x00\x00\x00");
        let all = [&header[..12], &[1, 2, 3]].concat();
        assert_eq!(header[12..], crc32(&all).to_le_bytes());
    }

    #[test]
    fn a_program_must_fit_the_flash_that_the_processor_sees() {
        assert!(header(&[], PROGRAM, false).is_none());
        assert!(header(&vec![0; CAPACITY], PROGRAM, false).is_some());
        assert!(header(&vec![0; CAPACITY + 1], PROGRAM, false).is_none());
    }
}
