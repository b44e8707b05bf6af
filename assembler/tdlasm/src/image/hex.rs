//! Intel HEX (Intel, "Hexadecimal Object File Format Specification", 1988), and TDL's form of it: 24
//! bytes per record, CR LF before each record, and an end record of type 00. All record types are
//! read; 00 and 01 are written.

#![deny(clippy::cast_possible_truncation)]

use super::Image;
use super::records::{
    HexError, LARGE_END, RecordFile, Records, Z80_END, checked_bytes, read, records, sum,
};

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

fn record(text: &mut String, address: u16, kind: u8, data: &[u8]) {
    let [high, low] = address.to_be_bytes();
    let count = u8::try_from(data.len()).expect("a record holds at most 255 bytes");
    let mut bytes = [&[count, high, low, kind], data].concat();
    bytes.push(sum(&bytes).wrapping_neg());
    text.push(':');
    text.push_str(&hex::encode_upper(bytes));
}

const MISSING_END: &str = "the end record (type 01) is missing";

/// Parses Intel HEX, including TDL's form. Returns the image, and the start address: that of a
/// record of type 03 or 05, or that of the end record unless it is 0. A record of type 01 with bytes
/// is TDL's form of relocatable code, which is read as if its section began at 0.
///
/// # Errors
///
/// Returns [`HexError`] for the first invalid line, for records behind the end record, that
/// contradict each other or pass FFFFh, or if there is no end record.
pub fn parse_intel_hex(text: &str) -> Result<(Image, Option<u16>), HexError> {
    read(text, MISSING_END, Z80_END, parse_record).map(RecordFile::into_image)
}

/// Parses Intel HEX with addresses of up to 32 bits, as of ROM chips larger than 64 KiB.
///
/// # Errors
///
/// As [`parse_intel_hex`], but for FFFFFFFFh.
pub fn parse_large_intel_hex(text: &str) -> Result<RecordFile, HexError> {
    read(text, MISSING_END, LARGE_END, parse_record)
}

fn parse_record(records: &mut Records, line: usize, record: &str) -> Result<(), String> {
    let digits = record.strip_prefix(':').ok_or("a record starts with a colon")?;
    let bytes = checked_bytes(digits, 5, 0)?;
    let (&[_, high, low, kind], data) = bytes.split_first_chunk().ok_or("too short")?;
    let address = u32::from(u16::from_be_bytes([high, low]));
    match (kind, data) {
        (0 | 1, [_, ..]) => records.add(line, address, data)?,
        (0 | 1, []) => records.end(line, address),
        // The segment of later addresses: the upper 16 of 20 bits.
        (2, &[high, low]) => records.base = u32::from(u16::from_be_bytes([high, low])) << 4,
        // Segment and offset of the start, as an 8086's CS and IP.
        (3, &[cs_high, cs_low, ip_high, ip_low]) => {
            let segment = u32::from(u16::from_be_bytes([cs_high, cs_low])) << 4;
            records.start = Some(segment + u32::from(u16::from_be_bytes([ip_high, ip_low])));
        }
        // The upper 16 of 32 bits of later addresses.
        (4, &[high, low]) => records.base = u32::from(u16::from_be_bytes([high, low])) << 16,
        (5, &[a, b, c, d]) => records.start = Some(u32::from_be_bytes([a, b, c, d])),
        (2..=5, _) => {
            return Err("a record of type 02 or 04 has 2 bytes, one of type 03 or 05 has 4".into());
        }
        _ => return Err("the record type is none of 00 to 05".into()),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::ImageRun;
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
        // A byte is greater by 1, so the sum to 0 by 1 less.
        let checksum = "line 1: its checksum is 40H, but its bytes give 3FH; copy the file again";
        assert_eq!(at(&INTEL.replace("4601", "4602")), checksum);
        assert_eq!(at(":0000"), "line 1: the length of the record does not match its count");
        assert_eq!(at(":00000006FA"), "line 1: the record type is none of 00 to 05");
        // 01H+04H = 05H, so FBH.
        let lengths = "line 1: a record of type 02 or 04 has 2 bytes, one of type 03 or 05 has 4";
        assert_eq!(at(":0100000400FB"), lengths);
        assert_eq!(at(&INTEL[..44]), "line 2: the end record (type 01) is missing");
        for digits in [":0G", ":+0000001FF", ":0"] {
            assert_eq!(at(digits), "line 1: not hexadecimal digits in pairs");
        }
    }

    #[test]
    fn all_record_types_are_read() {
        // Checksums by hand. Segment 0800H: 02H+02H+08H = 0CH, so F4H. Start 0800:0102H:
        // 04H+03H+08H+01H+02H = 12H, so EEH; as 32 bits 04H+05H+81H+02H = 8CH, so 74H. Upper half 1:
        // 02H+04H+01H = 07H, so F9H. The byte C9H at 0100H: 01H+01H+C9H = CBH, so 35H.
        let (segment, data) = (":020000020800F4\n", ":01010000C935\n");
        for start in [":0400000308000102EE\n", ":0400000500008102", ""] {
            let start = if start.ends_with("02") { format!("{start}74\n") } else { start.into() };
            let text = format!("{segment}{data}{start}:00000001FF\n");
            let (image, entry) = parse_intel_hex(&text).expect("right");
            assert_eq!(image.runs(), [ImageRun { address: 0x8100, bytes: vec![0xC9] }]);
            assert_eq!(entry, (!start.is_empty()).then_some(0x8102));
        }
        let large = format!(":020000040001F9\n{data}:00000001FF\n");
        let found = parse_large_intel_hex(&large).expect("right");
        assert_eq!((found.data, found.start), (vec![(0x1_0100, vec![0xC9])], None));
        let error = parse_intel_hex(&large).expect_err("beyond a Z80's memory");
        assert_eq!(error.to_string(), "line 2: data passes address FFFFH");
    }

    #[test]
    fn a_start_record_may_have_the_address_0() {
        let start = ":0400000300000000F9\n:00000001FF\n";
        assert_eq!(parse_intel_hex(start), Ok((Image::default(), Some(0))));
    }

    #[test]
    fn nothing_after_the_end_record_is_dropped() {
        // Checksums by hand: 01H+80H+3EH = BFH, so 41H; 01H+80H+01H+3FH = C1H, so 3FH.
        let (first, second) = (":018000003E41\n", ":018001003F3F\n");
        for end in [":00000001FF\n", ":0000000000\n"] {
            let error = parse_intel_hex(&format!("{first}{end}\n{second}")).expect_err("joined");
            assert_eq!(error.line, 4);
            assert!(error.problem.starts_with("a record after the end record in line 2"));
            assert!(parse_intel_hex(&format!("{first}{end}the end\n")).is_err());
            // CP/M fills the last sector with 1AH; a tape ends with zeros.
            let padded = format!("\0\0{first}{end}\n\x1A\x1A\0\0");
            assert!(parse_intel_hex(&padded).is_ok());
        }
    }

    #[test]
    fn records_overlap_only_with_the_same_bytes() {
        // 02H+80H+3EH+05H = C5H, so 3BH; 01H+80H+01H+05H = 87H, so 79H; with 06H 78H.
        let text = |second: &str| format!(":028000003E053B\n{second}\n:00000001FF\n");
        let (image, _) = parse_intel_hex(&text(":018001000579")).expect("the same byte");
        assert_eq!(image.runs(), [ImageRun { address: 0x8000, bytes: vec![0x3E, 5] }]);
        let error = parse_intel_hex(&text(":018001000678")).expect_err("another byte");
        let overlap = "line 2: the byte at 8001H is 06H, but 05H in line 1: two parts of the \
                       program overlap";
        assert_eq!(error.to_string(), overlap);
    }

    #[test]
    fn tdls_form_ends_with_a_record_of_type_00() {
        let image = Image::new([ImageRun { address: 0x100, bytes: vec![0; 25] }]);
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
            let mut runs: Vec<_> =
                runs.map(|(address, bytes)| ImageRun { address, bytes }).collect();
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
