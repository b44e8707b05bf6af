//! The header of a program in flash (`firmware/z80/auto.asm`). The monitor reads it to verify the
//! program and to decide whether to start it after a reset.

use crate::crc32;

/// The address of the header, the same in the chip and in the processor's memory.
pub const HEADER_ADDRESS: u16 = 0x1000;
/// Size of the header; the program follows it.
pub const HEADER_BYTES: usize = 16;
/// The address at which the program begins.
pub const PROGRAM_ADDRESS: u16 = HEADER_ADDRESS + 16;
const _: () = assert!(PROGRAM_ADDRESS as usize == HEADER_ADDRESS as usize + HEADER_BYTES);
/// Room for the program, up to the end of flash in the processor's memory.
pub const MAX_PROGRAM_BYTES: usize = 0x8000 - PROGRAM_ADDRESS as usize;

const MAGIC: &[u8; 4] = b"SARG";
/// Bytes of the header before its CRC-32, which covers them and the program.
const CHECKED: usize = 12;

/// The header of a program of 1 to [`MAX_PROGRAM_BYTES`] bytes, else `None`.
pub fn program_header(program: &[u8], entry: u16, autostart: bool) -> Option<[u8; HEADER_BYTES]> {
    let length = u16::try_from(program.len())
        .ok()
        .filter(|length| (1..=MAX_PROGRAM_BYTES).contains(&usize::from(*length)))?;
    let mut header = [0; HEADER_BYTES];
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
        let header = program_header(&[1, 2, 3], 0x1010, true).expect("three bytes fit");
        assert_eq!(header[..12], *b"SARG\x01\x00\x10\x10\x03\x00\x00\x00");
        let all = [&header[..12], &[1, 2, 3]].concat();
        assert_eq!(header[12..], crc32(&all).to_le_bytes());
    }

    #[test]
    fn a_program_must_fit_the_flash_that_the_processor_sees() {
        assert_eq!(usize::from(PROGRAM_ADDRESS) + MAX_PROGRAM_BYTES - 1, 0x7FFF);
        assert!(program_header(&[], PROGRAM_ADDRESS, false).is_none());
        assert!(program_header(&vec![0; MAX_PROGRAM_BYTES], PROGRAM_ADDRESS, false).is_some());
        assert!(program_header(&vec![0; MAX_PROGRAM_BYTES + 1], PROGRAM_ADDRESS, false).is_none());
    }
}
