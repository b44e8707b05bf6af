//! Format of an image file: binary or Intel HEX, by its name or by an option.

use std::path::Path;

use tdlasm::image::{Image, ImageRun, intel_hex};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Binary,
    /// Intel HEX, with records of type 04 for chips larger than 64 KiB.
    IntelHex,
}

/// File extensions of each format.
const BINARY: [&str; 4] = ["bin", "rom", "img", "eprom"];
const HEX: [&str; 3] = ["hex", "ihx", "ihex"];

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FormatError {
    #[error(
        "unknown file extension '.{0}': name the file .bin or .hex, or pass --format binary or \
         --format hex"
    )]
    Unknown(String),
    #[error(
        "extension .{0} means {1}, which contradicts --format: rename the file, or omit \
         --format"
    )]
    Contradiction(String, Format),
    #[error("{0} contains Intel HEX: name it .hex")]
    HexInside(String),
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Binary => "a binary",
            Self::IntelHex => "Intel HEX",
        })
    }
}

impl Format {
    /// Returns the format by the extension or the option; binary without either.
    pub(crate) fn from_path(path: &Path, option: Option<Self>) -> Result<Self, FormatError> {
        let Some(end) = path.extension().map(|end| end.to_string_lossy().to_ascii_lowercase())
        else {
            return Ok(option.unwrap_or(Self::Binary));
        };
        let promised = match end.as_str() {
            end if BINARY.contains(&end) => Some(Self::Binary),
            end if HEX.contains(&end) => Some(Self::IntelHex),
            _ => None,
        };
        match (promised, option) {
            (Some(promised), Some(option)) if promised != option => {
                Err(FormatError::Contradiction(end, promised))
            }
            (Some(format), _) | (None, Some(format)) => Ok(format),
            (None, None) => Err(FormatError::Unknown(end)),
        }
    }

    /// Encodes bytes from address `first`, which a binary does not contain.
    pub(crate) fn encode(self, first: u32, bytes: &[u8]) -> Vec<u8> {
        match self {
            Self::Binary => bytes.to_vec(),
            Self::IntelHex => hex(first, bytes).into_bytes(),
        }
    }
}

/// Checks that a binary does not contain Intel HEX records.
pub(crate) fn reject_hex_text(name: &str, bytes: &[u8]) -> Result<(), FormatError> {
    let text = std::str::from_utf8(bytes).ok().filter(|text| text.trim_start().starts_with(':'));
    match text.map(tdlasm::image::parse_large_intel_hex) {
        Some(Ok(_)) => Err(FormatError::HexInside(name.to_owned())),
        _ => Ok(()),
    }
}

/// Encodes Intel HEX at any address, 64 KiB at a time.
fn hex(first: u32, bytes: &[u8]) -> String {
    const END: &str = ":00000001FF\n";
    let mut address = first;
    let is_large = first as usize + bytes.len() > 0x1_0000;
    let mut text = String::new();
    let mut left = bytes;
    while !left.is_empty() {
        let room = 0x1_0000 - (address & 0xFFFF) as usize;
        let (part, rest) = left.split_at(room.min(left.len()));
        if is_large {
            text.push_str(&upper_address(((address >> 16) & 0xFFFF) as u16));
        }
        let run = ImageRun { address: (address & 0xFFFF) as u16, bytes: part.to_vec() };
        let records = intel_hex(&Image::new([run]), None);
        text.push_str(records.strip_suffix(END).unwrap_or(&records));
        let taken = u32::try_from(part.len()).expect("at most 64 KiB");
        address = address.wrapping_add(taken);
        left = rest;
    }
    text + END
}

/// Returns the record of type 04, which sets the upper 16 bits of later addresses.
fn upper_address(upper: u16) -> String {
    let [high, low] = upper.to_be_bytes();
    let sum = 2u8.wrapping_add(4).wrapping_add(high).wrapping_add(low).wrapping_neg();
    format!(":02000004{high:02X}{low:02X}{sum:02X}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_determines_the_format() {
        let of = |name: &str, option| Format::from_path(Path::new(name), option);
        for (name, form) in [
            ("a.bin", Format::Binary),
            ("a.ROM", Format::Binary),
            ("chip", Format::Binary),
            ("a.hex", Format::IntelHex),
            ("a.b.IHX", Format::IntelHex),
        ] {
            assert_eq!(of(name, None), Ok(form), "{name}");
        }
        assert_eq!(of("chip", Some(Format::IntelHex)), Ok(Format::IntelHex));
        assert_eq!(of("a.dat", Some(Format::Binary)), Ok(Format::Binary));
        assert_eq!(of("a.dat", None), Err(FormatError::Unknown("dat".to_owned())));
        let contradiction = of("a.hex", Some(Format::Binary)).expect_err("it contradicts");
        assert!(contradiction.to_string().contains("extension .hex means Intel HEX"));
    }

    #[test]
    fn a_chip_beyond_64_kib_has_the_upper_address_of_each_part() {
        let mut chip = vec![0xFF; 0x2_0000];
        chip[0x1_0000] = 0x21;
        let text = String::from_utf8(Format::IntelHex.encode(0, &chip)).expect("text");
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 2 * (4096 + 1) + 1);
        // Type 04 as in the specification of 1988; each sum makes the record 00h.
        assert_eq!(lines[0], ":020000040000FA");
        assert_eq!(lines[4097], ":020000040001F9");
        assert!(lines[4098].starts_with(":1000000021FF"), "{}", lines[4098]);
        assert_eq!(lines[8194], ":00000001FF");
    }

    #[test]
    fn a_part_of_a_chip_has_its_address() {
        let text = String::from_utf8(Format::IntelHex.encode(0x1_FFFF, &[0, 1])).expect("text");
        let lines: Vec<_> = text.lines().collect();
        let parts = [":020000040001F9", ":01FFFF000001", ":020000040002F8", ":0100000001FE"];
        assert_eq!(lines, [&parts[..], &[":00000001FF"]].concat());
        assert_eq!(Format::IntelHex.encode(0x8000, &[0xC9]), b":01800000C9B6\n:00000001FF\n");
    }

    #[test]
    fn a_chip_of_64_kib_needs_no_such_record() {
        let text = String::from_utf8(Format::IntelHex.encode(0, &[0; 0x1_0000])).expect("text");
        assert_eq!(text.lines().count(), 4096 + 1);
        let (image, _) = tdlasm::image::parse_intel_hex(&text).expect("it is right");
        assert_eq!(image.bounds(), Some((0, 0xFFFF)));
    }

    #[test]
    fn hex_text_in_a_binary_is_rejected() {
        let hex = b":0100000000FF\n:00000001FF\n";
        assert!(reject_hex_text("x.bin", hex).is_err());
        assert!(reject_hex_text("x.bin", b":\x00").is_ok());
        assert!(reject_hex_text("x.bin", &[0xC3, 0, 0x10]).is_ok());
    }
}
