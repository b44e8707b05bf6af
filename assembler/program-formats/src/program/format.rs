//! Recognises the formats of program files by their content.

use std::path::Path;

use tdlasm::image::{Image, ImageRun};
use tdlasm::object::read_tdl;

use crate::debug_info::is_sdas_object;
use crate::{ProgramError, coff};

/// A format of program files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramFormat {
    /// Bytes without an address.
    Binary,
    /// Intel HEX, and TDL's form of it.
    IntelHex,
    /// Motorola S-records.
    SRecords,
    /// An ELF executable.
    Elf,
    /// A COFF executable of GNU ld.
    Coff,
    /// An ELF, COFF or TDL object, which is not linked.
    Object,
    /// TRSDOS `/CMD`, which zmac writes.
    Cmd,
}

/// Marks at the beginning of files that are no programs, and what these are.
const OTHER_FILES: [(&[u8], &str, &str); 7] = [
    (b"Z80RMF", "an object of z88dk", "link it with z88dk-z80asm -b or zcc"),
    (b"Z80LMF", "a library of z88dk", "link it with z88dk-z80asm -b or zcc"),
    (b"WLA", "an object of WLA DX", "link it with wlalink"),
    (b"VOBJ", "an object of vasm", "assemble with -Fbin or -Fihex"),
    (&[0x89, 0x14], "a code file of asl", "convert it with p2hex or p2bin"),
    (b"!<arch>\n", "a library", "link it first"),
    (b"PK\x03\x04", "a ZIP archive", "unpack it first"),
];

impl ProgramFormat {
    /// Returns the format of a file, which may be damaged.
    ///
    /// # Errors
    /// Returns [`ProgramError::Unusable`] for an object of another tool, and [`ProgramError::Text`] for
    /// text.
    ///
    /// ```
    /// use program_formats::ProgramFormat;
    ///
    /// assert_eq!(ProgramFormat::detect(b":00000001FF\n", "a.bin"), Ok(ProgramFormat::IntelHex));
    /// assert_eq!(ProgramFormat::detect(&[0x3E, 5, 0xC9], "a"), Ok(ProgramFormat::Binary));
    /// ```
    pub fn detect(content: &[u8], name: &str) -> Result<Self, ProgramError> {
        if let Some(format) = Self::of_content(content) {
            return Ok(format);
        }
        let unusable = |what, instead| Err(ProgramError::Unusable { what, instead });
        if let Some((_, what, instead)) =
            OTHER_FILES.iter().find(|(mark, ..)| content.starts_with(mark))
        {
            return unusable(what, instead);
        }
        if content.get(10..25) == Some(b"AVR Object File") {
            return unusable("a debug file of asl", "give the .hex");
        }
        let extension = Path::new(name).extension().unwrap_or_default().to_ascii_lowercase();
        match extension.to_str().unwrap_or_default() {
            // A damaged file of either format gets that format's message.
            "hex" | "ihx" | "ihex" => Ok(Self::IntelHex),
            "srec" | "s19" | "s28" | "s37" | "mot" => Ok(Self::SRecords),
            "cmd" if read_cmd(content).is_some() => Ok(Self::Cmd),
            "rel" if is_microsoft(content) => {
                unusable("a Microsoft object", "assemble without --rel, or link it")
            }
            extension if is_text(content, extension) => {
                match is_sdas_object(&String::from_utf8_lossy(content)) {
                    true => unusable("an object of sdas", "link it with sdcc or sdldz80 -i"),
                    false if BINARIES.contains(&extension) && !content.contains(&b'\n') => {
                        Ok(Self::Binary)
                    }
                    false => Err(ProgramError::Text),
                }
            }
            _ => Ok(Self::Binary),
        }
    }

    fn of_content(content: &[u8]) -> Option<Self> {
        // The shortest record of each format has this many digits after its mark.
        let has_digits = |rest: &[u8], count| {
            rest.get(..count).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
        };
        match content.trim_ascii_start() {
            _ if content.starts_with(b"\x7FELF") => Some(match super::is_relocatable(content) {
                true => Self::Object,
                false => Self::Elf,
            }),
            [b':', rest @ ..] if has_digits(rest, 10) => Some(Self::IntelHex),
            [b'S' | b's', b'0'..=b'9', rest @ ..] if has_digits(rest, 8) => Some(Self::SRecords),
            _ if coff::is_coff(content) => Some(match coff::is_linked(content) {
                true => Self::Coff,
                false => Self::Object,
            }),
            _ if read_tdl(content, "").is_ok_and(|modules| !modules.is_empty()) => {
                Some(Self::Object)
            }
            _ => None,
        }
    }
}

/// Extensions of binaries, even if all of their bytes happen to be printable.
const BINARIES: [&str; 6] = ["bin", "com", "rom", "img", "raw", "cim"];

/// Extensions of sources, which may be in any 8-bit character set, or have the high bits of WordStar.
const SOURCES: [&str; 7] = ["asm", "mac", "z80", "azm", "src", "s", "z"];

fn is_text(content: &[u8], extension: &str) -> bool {
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~' | b'\t' | b'\n' | b'\r' | 0x0C | 0x1A);
    let all = |is_plain: &dyn Fn(u8) -> bool| content.iter().all(|byte| is_plain(*byte));
    let is_source = SOURCES.contains(&extension) && all(&|byte| is_plain(byte & 0x7F));
    let is_utf8 = || std::str::from_utf8(content).is_ok();
    !content.is_empty() && (is_source || (all(&|byte| byte >= 0x80 || is_plain(byte)) && is_utf8()))
}

/// A bit stream that begins with a program's name: 1, 00, 0010 (Microsoft, "Relocatable Object Code
/// Format").
fn is_microsoft(content: &[u8]) -> bool {
    content.first().is_some_and(|first| first >> 1 == 0b100_0010)
}

/// Reads records of TRSDOS: 01 and a length, which counts the address (0 to 2 for more than 253
/// bytes), with bytes; 02 with the start address; and others with notes. Returns `None` if they do
/// not fill the file.
pub(super) fn read_cmd(content: &[u8]) -> Option<(Image, Option<u16>)> {
    let mut runs = Vec::new();
    let mut start = None;
    let mut rest = content;
    while let [kind, length, data @ ..] = rest {
        let length = usize::from(*length);
        let length = if *kind == 1 && length <= 2 { length + 0x100 } else { length };
        let (data, after) = data.split_at_checked(length)?;
        match (kind, data) {
            (1, [low, high, bytes @ ..]) => {
                let address = u16::from_le_bytes([*low, *high]);
                (usize::from(address) + bytes.len() <= 0x1_0000).then_some(())?;
                runs.push(ImageRun { address, bytes: bytes.to_vec() });
            }
            (2, [low, high]) => {
                start = Some(u16::from_le_bytes([*low, *high]));
                return after.iter().all(|byte| *byte == 0).then(|| (Image::new(runs), start));
            }
            (3..=0x1F, _) => {}
            _ => return None,
        }
        rest = after;
    }
    (rest.is_empty() && !runs.is_empty()).then(|| (Image::new(runs), start))
}
