//! ELF executables for the Z80: the bytes of their loadable segments.
//!
//! Reads only the fields that a loader needs (System V ABI, chapters 4 and 5), little-endian,
//! 32 bits.

use tdlasm::image::Image;

const HEADER: usize = 52;
const CLASS_32: u8 = 1;
const LITTLE: u8 = 1;
const EXECUTABLE: u16 = 2;
const OBJECT: u16 = 1;
const Z80: u16 = 220;
const LOAD: u32 = 1;
/// The message about an object file, ELF or TDL.
pub(super) const UNLINKED: &str = "an object file: link it first (`tdlasm link`)";

pub(super) fn parse(bytes: &[u8]) -> Result<(Image, Option<u16>), String> {
    if bytes.len() < HEADER || bytes[4] != CLASS_32 || bytes[5] != LITTLE {
        return Err("not a 32-bit little-endian ELF file".into());
    }
    match (half(bytes, 16), half(bytes, 18)) {
        (Some(OBJECT), _) => {
            return Err(UNLINKED.to_owned());
        }
        (Some(EXECUTABLE), Some(Z80)) => {}
        (_, Some(Z80)) => return Err("not an ELF executable".to_owned()),
        (_, machine) => {
            let machine = machine.unwrap_or_default();
            return Err(format!(
                "an ELF file for another processor (machine {machine}), not for the Z80"
            ));
        }
    }
    let cut = || "the ELF file is truncated".to_owned();
    let entry = word(bytes, 24).ok_or_else(cut)?;
    let table = word(bytes, 28).ok_or_else(cut)? as usize;
    let size = usize::from(half(bytes, 42).ok_or_else(cut)?);
    let count = usize::from(half(bytes, 44).ok_or_else(cut)?);
    let mut runs = Vec::new();
    for index in 0..count {
        let at = table.checked_add(index * size).ok_or_else(cut)?;
        let header = bytes.get(at..).filter(|rest| rest.len() >= 32).ok_or_else(cut)?;
        let field = |place| word(header, place).unwrap_or_default();
        // The physical address is where the bytes are loaded, before the program moves any.
        let kind = field(0);
        let offset = field(4);
        let address = field(12);
        let filled = field(16);
        if kind == LOAD && filled > 0 {
            let from = offset as usize;
            let to = from.checked_add(filled as usize).ok_or_else(cut)?;
            runs.push((address, bytes.get(from..to).ok_or_else(cut)?.to_vec()));
        }
    }
    let entry = u16::try_from(entry).ok().filter(|entry| *entry != 0);
    Ok((super::image_from_runs(runs)?, entry))
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// An executable with one segment, as the specification lays it out.
    fn executable(kind: u16, machine: u16) -> Vec<u8> {
        let mut bytes = vec![0x7F, b'E', b'L', b'F', CLASS_32, LITTLE, 1];
        bytes.resize(16, 0);
        bytes.extend(kind.to_le_bytes());
        bytes.extend(machine.to_le_bytes());
        for value in [1_u32, 0x9001, 52, 0, 0] {
            bytes.extend(value.to_le_bytes());
        }
        for value in [52_u16, 32, 1, 0, 0, 0] {
            bytes.extend(value.to_le_bytes());
        }
        for value in [LOAD, 84, 0x9000, 0x9000, 2, 10, 5, 1] {
            bytes.extend(value.to_le_bytes());
        }
        bytes.extend([0x00, 0xC9]);
        bytes
    }

    #[test]
    fn segments_and_entry_are_read() {
        let (image, entry) = parse(&executable(EXECUTABLE, Z80)).expect("it is whole");
        assert_eq!((image.bounds(), entry), (Some((0x9000, 0x9001)), Some(0x9001)));
        assert_eq!(image.flat(0xFF), [0x00, 0xC9]);
    }

    #[test]
    fn what_is_no_program_for_this_processor_is_named() {
        for (kind, machine, problem) in [
            (OBJECT, Z80, "link it first"),
            (3, Z80, "not an ELF executable"),
            (EXECUTABLE, 62, "another processor (machine 62)"),
        ] {
            let error = parse(&executable(kind, machine)).expect_err("refused");
            assert!(error.contains(problem), "{error}");
        }
    }

    proptest! {
        #[test]
        fn a_file_that_is_cut_or_changed_never_panics(
            cut in 0..90_usize,
            at in 0..86_usize,
            value in any::<u8>(),
        ) {
            let mut bytes = executable(EXECUTABLE, Z80);
            bytes[at] = value;
            bytes.truncate(cut);
            let _ = parse(&bytes);
        }
    }
}
