//! Intel HEX (Intel, "Hexadecimal Object File Format Specification", 1988), record types 00 and 01,
//! and TDL's form of it: 24 bytes per record, CR LF before each record, and an end record of type
//! 00.

#![deny(clippy::cast_possible_truncation)]

use std::fmt::Write;

use super::{Image, Run};

/// Data bytes per record, in Intel's form and in TDL's.
const RECORD: usize = 16;
const TDL_RECORD: usize = 24;

/// Formats an image as Intel HEX. `entry` is stored in the address field of the end record, where
/// loaders of the period look for it.
pub fn intel_hex(image: &Image, entry: Option<u16>) -> String {
    let mut text = String::new();
    for (address, data) in records(image, RECORD) {
        record(&mut text, address, 0, data);
        text.push('\n');
    }
    record(&mut text, entry.unwrap_or(0), 1, &[]);
    text.push('\n');
    text
}

/// Formats an image as written by ZASM for `.PABS`: the end record has no bytes, `entry` as its
/// address, and type 00 like all records of absolute code.
pub fn tdl_hex(image: &Image, entry: Option<u16>) -> String {
    let mut text = String::new();
    let end = (entry.unwrap_or(0), &[][..]);
    for (address, data) in records(image, TDL_RECORD).chain([end]) {
        text.push_str("\r\n");
        record(&mut text, address, 0, data);
    }
    text.push_str("\r\n");
    text
}

/// Splits an image into records of a size, each with its address.
fn records(image: &Image, size: usize) -> impl Iterator<Item = (u16, &[u8])> {
    image.runs().iter().flat_map(move |run| {
        let address = move |index: usize| run.address.wrapping_add(low_word(index * size));
        run.bytes.chunks(size).enumerate().map(move |(index, data)| (address(index), data))
    })
}

/// Returns a distance modulo 64 KiB; addresses wrap.
pub(super) fn low_word(distance: usize) -> u16 {
    let [low, high, ..] = distance.to_le_bytes();
    u16::from_le_bytes([low, high])
}

fn record(text: &mut String, address: u16, kind: u8, data: &[u8]) {
    let [high, low] = address.to_be_bytes();
    let mut sum = 0u8;
    text.push(':');
    let count = u8::try_from(data.len()).expect("a record holds at most 255 bytes");
    for &byte in [count, high, low, kind].iter().chain(data) {
        sum = sum.wrapping_add(byte);
        let _ = write!(text, "{byte:02X}");
    }
    let _ = write!(text, "{:02X}", sum.wrapping_neg());
}

/// Error returned by [`parse_intel_hex`] and [`parse_s_records`](super::parse_s_records).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct HexError {
    /// The line, from 1.
    pub line: usize,
    /// The cause.
    pub problem: &'static str,
}

/// Parses Intel HEX, including TDL's form. Returns the image, and the entry address of the last
/// record unless that is 0. A record of type 01 with bytes is TDL's form of relocatable code, which
/// is read as if its section began at 0.
///
/// # Errors
///
/// Returns [`HexError`] for the first invalid line, or if there is no end record.
pub fn parse_intel_hex(text: &str) -> Result<(Image, Option<u16>), HexError> {
    let mut runs: Vec<Run> = Vec::new();
    let mut lines = 0;
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        lines = index + 1;
        let wrong = |problem| HexError { line: lines, problem };
        let bytes = digits(line.trim()).map_err(wrong)?;
        let (&[_, high, low, kind], data) = bytes.split_first_chunk().ok_or(wrong("too short"))?;
        let address = u16::from_be_bytes([high, low]);
        match kind {
            0 | 1 if usize::from(address) + data.len() > 0x1_0000 => {
                return Err(wrong("data passes address FFFFH"));
            }
            0 | 1 if !data.is_empty() => runs.push(Run { address, bytes: data.to_vec() }),
            0 | 1 => {
                runs.sort_by_key(|run| run.address);
                return Ok((Image::new(runs), (address != 0).then_some(address)));
            }
            _ => return Err(wrong("record type other than 00 (data) and 01 (end)")),
        }
    }
    Err(HexError { line: lines + 1, problem: "the end record (type 01) is missing" })
}

/// Returns the bytes of a record without its checksum, after checking checksum and count.
fn digits(line: &str) -> Result<Vec<u8>, &'static str> {
    let mut bytes = pairs(line.strip_prefix(':').ok_or("a record starts with a colon")?)?;
    if bytes.len() < 5 || bytes.len() != usize::from(bytes[0]) + 5 {
        return Err("the length of the record does not match its count");
    }
    if bytes.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte)) != 0 {
        return Err("the checksum is wrong");
    }
    bytes.pop();
    Ok(bytes)
}

/// Returns the bytes that pairs of hexadecimal digits stand for.
pub(super) fn pairs(text: &str) -> Result<Vec<u8>, &'static str> {
    let pair = |pair: &[u8]| {
        let text = std::str::from_utf8(pair).ok().filter(|text| text.len() == 2)?;
        u8::from_str_radix(text, 16).ok()
    };
    let bytes: Option<Vec<u8>> = text.as_bytes().chunks(2).map(pair).collect();
    bytes.ok_or("not hexadecimal digits in pairs")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The example record of Intel's specification.
    const INTEL: &str = ":10010000214601360121470136007EFE09D2190140\n:00000001FF\n";

    #[test]
    fn reads_and_writes_the_specifications_example() {
        let (image, entry) = parse_intel_hex(INTEL).expect("it is right");
        assert_eq!((image.bounds(), entry), (Some((0x100, 0x10F)), None));
        assert_eq!(intel_hex(&image, None), INTEL);
    }

    #[test]
    fn names_the_line_and_what_is_wrong() {
        let at = |text: &str| parse_intel_hex(text).expect_err("it is wrong").to_string();
        assert_eq!(at(&INTEL.replace("4601", "4602")), "line 1: the checksum is wrong");
        assert_eq!(at(":0000"), "line 1: the length of the record does not match its count");
        assert_eq!(at(":020000040000FA"), "line 1: record type other than 00 (data) and 01 (end)");
        assert_eq!(at(&INTEL[..44]), "line 2: the end record (type 01) is missing");
        assert_eq!(at(":0G"), "line 1: not hexadecimal digits in pairs");
    }

    #[test]
    fn tdls_form_ends_with_a_record_of_type_00() {
        let image = Image::new([Run { address: 0x100, bytes: vec![0; 25] }]);
        let text = tdl_hex(&image, Some(0x5A00));
        // Checksums by hand: 18H+01H = 19H; 01H+01H+18H = 1AH; 5AH.
        let zeros = "00".repeat(24);
        let expected = format!("\r\n:18010000{zeros}E7\r\n:0101180000E6\r\n:005A0000A6\r\n");
        assert_eq!(text, expected);
        assert_eq!(parse_intel_hex(&text), Ok((image, Some(0x5A00))));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(runs in prop::collection::vec(
            (any::<u16>(), prop::collection::vec(any::<u8>(), 1..100)), 0..8)) {
            let runs = runs.into_iter().filter(|(at, bytes)| usize::from(*at) + bytes.len() <= 65536);
            let mut runs: Vec<_> = runs.map(|(address, bytes)| Run { address, bytes }).collect();
            runs.sort_by_key(|run| run.address);
            let image = Image::new(runs);
            prop_assert_eq!(parse_intel_hex(&intel_hex(&image, Some(7))), Ok((image, Some(7))));
        }

        #[test]
        fn any_text_is_refused_or_read_but_never_fatal(text in ".{0,200}") {
            let _ = parse_intel_hex(&text);
        }
    }
}
