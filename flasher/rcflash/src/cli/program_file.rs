//! Reads program files; detects the format by the content, since names are unreliable.

use std::path::Path;

use cli_support::exit::{CommandError, ENVIRONMENT, USAGE};
use cli_support::files::read_input;
use cli_support::text::Escape;
use program_formats::{ProgramError, ProgramFormat, read_program};
use tdlasm::image::{Image, RecordFile, parse_large_intel_hex, parse_large_s_records};

pub(super) enum ProgramFile {
    /// A binary and its load address.
    Binary(u32, Vec<u8>),
    /// An image with addresses and its entry address.
    Image(Image, u16),
}

/// The most bytes between the first and the last one of a file of records: more than the largest chip.
const LARGEST_SPAN: usize = 1 << 24;

/// Reads a program file; a binary is loaded at `address`.
pub(super) fn read_file(path: &Path, address: Option<u32>) -> Result<ProgramFile, CommandError> {
    decode(path, &read_input(path)?, address)
}

fn decode(path: &Path, bytes: &[u8], address: Option<u32>) -> Result<ProgramFile, CommandError> {
    let name = path.escaped();
    let wrong = |error: ProgramError| {
        let code = if error.is_usage() { USAGE } else { ENVIRONMENT };
        CommandError::new(code, format!("{name}: {error}"))
    };
    let file_name = path.to_string_lossy();
    let text = || String::from_utf8_lossy(bytes);
    let records = match ProgramFormat::detect(bytes, &file_name).map_err(wrong)? {
        ProgramFormat::Binary => {
            let address = address.ok_or_else(|| {
                let how = "is a binary: give its address with --address";
                CommandError::new(USAGE, format!("{name} {how}"))
            })?;
            return Ok(ProgramFile::Binary(address, bytes.to_vec()));
        }
        ProgramFormat::IntelHex => parse_large_intel_hex(&text()).ok(),
        ProgramFormat::SRecords => parse_large_s_records(&text()).ok(),
        _ => None,
    };
    if let Some((first, bytes)) = records.and_then(|records| large_rom(&records)) {
        return Ok(ProgramFile::Binary(first, bytes));
    }
    let program = read_program(bytes, &file_name, None).map_err(wrong)?;
    let first = program.image.bounds().map_or(0, |(first, _)| first);
    Ok(ProgramFile::Image(program.image, program.start.unwrap_or(first)))
}

/// Returns the first address and the bytes of a ROM that is larger than the memory of a Z80.
fn large_rom(records: &RecordFile) -> Option<(u32, Vec<u8>)> {
    let first = records.data.iter().map(|(address, _)| *address).min()?;
    let ends = records.data.iter().map(|(address, bytes)| *address as usize + bytes.len());
    let end = ends.max().filter(|end| *end > 0x1_0000 && *end - first as usize <= LARGEST_SPAN)?;
    let mut rom = vec![0xFF; end - first as usize];
    for (address, bytes) in &records.data {
        let at = (address - first) as usize;
        rom[at..at + bytes.len()].copy_from_slice(bytes);
    }
    Some((first, rom))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rom_larger_than_64_kib_keeps_its_addresses() {
        // Upper half 1: 02H+04H+01H = 07H, so F9H; the byte C9H at 0: 01H+C9H = CAH, so 36H.
        let text = b":01000000C936\n:020000040001F9\n:01000000C936\n:00000001FF\n";
        let ProgramFile::Binary(first, bytes) = decode(Path::new("rom.hex"), text, None)
            .unwrap_or_else(|failure| panic!("{}", failure.message))
        else {
            panic!("an image of 64 KiB");
        };
        assert_eq!((first, bytes.len()), (0, 0x1_0001));
        assert_eq!((bytes[0], bytes[1], bytes[0x1_0000]), (0xC9, 0xFF, 0xC9));
    }

    #[test]
    fn text_is_rejected_at_any_address() {
        for name in ["prog.asm", "prog.bin"] {
            let text = b"        RET\n        .END\n";
            let failure = decode(Path::new(name), text, Some(0x9000)).err().expect("refused");
            assert_eq!(failure.code, USAGE);
            assert!(failure.message.contains(": text, not a program"), "{}", failure.message);
        }
    }
}
