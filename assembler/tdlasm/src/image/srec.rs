//! Motorola S-records with 16-bit addresses (M68000 Family Programmer's Reference, appendix C).

#![deny(clippy::cast_possible_truncation)]

use std::fmt::Write;

use super::Image;
use super::records::{
    HexError, LARGE_END, RecordFile, Records, Z80_END, checked_bytes, read, records, sum,
};

/// Data bytes per record.
const RECORD: usize = 16;

/// Formats an image as S-records: a header (S0) with `name`, data (S1), and the entry address (S9).
pub fn s_records(image: &Image, name: &str, entry: Option<u16>) -> String {
    let mut text = String::new();
    let header: Vec<u8> = name.bytes().take(RECORD).collect();
    record(&mut text, 0, 0, &header);
    for (address, data) in records(image, RECORD) {
        record(&mut text, 1, address, data);
    }
    record(&mut text, 9, entry.unwrap_or(0), &[]);
    text
}

fn record(text: &mut String, kind: u8, address: u16, data: &[u8]) {
    let [high, low] = address.to_be_bytes();
    let count = u8::try_from(data.len() + 3).expect("a record holds at most 252 bytes");
    let mut bytes = [&[count, high, low], data].concat();
    bytes.push(!sum(&bytes));
    // Writing to a string cannot fail.
    let _ = writeln!(text, "S{kind}{}", hex::encode_upper(bytes));
}

const MISSING_END: &str = "the end record (S9, S8 or S7) is missing";

/// Parses S-records with addresses of 16, 24 or 32 bits. Returns the image, and the entry address
/// of the end record unless that is 0.
///
/// # Errors
///
/// Returns [`HexError`] for the first invalid line, for records behind the end record or that
/// contradict each other, or if data records or the end record are missing.
pub fn parse_s_records(text: &str) -> Result<(Image, Option<u16>), HexError> {
    read(text, MISSING_END, Z80_END, add_record).map(RecordFile::into_image)
}

/// Parses S-records, with data at addresses of up to 32 bits.
///
/// # Errors
///
/// As [`parse_s_records`], but for addresses above FFFFFFFFh.
pub fn parse_large_s_records(text: &str) -> Result<RecordFile, HexError> {
    read(text, MISSING_END, LARGE_END, add_record)
}

fn add_record(records: &mut Records, line: usize, record: &str) -> Result<(), String> {
    let (kind, address, data) = parse_record(record)?;
    match kind {
        b'1'..=b'3' => records.add(line, address, &data)?,
        b'5' | b'6' => records.add_count(line, address),
        b'7'..=b'9' => records.end(line, address),
        // A header.
        _ => {}
    }
    Ok(())
}

/// Returns type, address and data of a record, after checking checksum and count.
fn parse_record(line: &str) -> Result<(u8, u32, Vec<u8>), String> {
    let &[b'S' | b's', kind @ (b'0'..=b'3' | b'5'..=b'9'), ..] = line.as_bytes() else {
        return Err("a record starts with S and a digit other than 4".into());
    };
    let bytes = checked_bytes(&line[2..], 1, 0xFF)?;
    let address_size = match kind {
        b'2' | b'6' | b'8' => 3,
        b'3' | b'7' => 4,
        _ => 2,
    };
    let (address, data) = bytes[1..]
        .split_at_checked(address_size)
        .ok_or("the length of the record does not match its count")?;
    let address = address.iter().fold(0, |address, byte| address << 8 | u32::from(*byte));
    Ok((kind, address, data.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::super::ImageRun;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn records_are_those_of_the_manual() {
        // The manual's example: header "HDR", code at 0000h, end.
        let bytes = [
            0x28, 0x5F, 0x24, 0x5F, 0x22, 0x12, 0x22, 0x6A, 0x00, 0x04, 0x24, 0x29, 0x00, 0x08,
            0x23, 0x7C, 0x00, 0x02,
        ];
        let image = Image::new([ImageRun { address: 0, bytes: bytes.to_vec() }]);
        let text = s_records(&image, "HDR", None);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0], "S00600004844521B");
        assert_eq!(lines[1], "S1130000285F245F2212226A000424290008237C2A");
        assert_eq!(lines[3], "S9030000FC");
    }

    #[test]
    fn records_of_every_address_size_are_read() {
        // Checksums by hand: FFH - (05+01+00+3E+05)&FFH = B6H; each byte of address adds 1 to the
        // count.
        for (data, end) in [
            ("S10501003E05B6", "S9030000FC"),
            ("S2060001003E05B5", "S804000000FB"),
            ("S307000001003E05B4", "S70500000100F9"),
        ] {
            let (image, entry) = parse_s_records(&format!("S0030000FC\r\n{data}\r\n{end}\r\n"))
                .expect("it is right");
            assert_eq!(image.runs(), [ImageRun { address: 0x100, bytes: vec![0x3E, 5] }]);
            assert_eq!(entry, end.starts_with("S7").then_some(0x100));
        }
    }

    #[test]
    fn the_line_of_a_wrong_record_is_named() {
        let at = |text: &str| parse_s_records(text).expect_err("it is wrong").to_string();
        // 05H+01H+3EH+05H = 49H, whose complement is B6H.
        let checksum = "line 2: its checksum is B7H, but its bytes give B6H; copy the file again";
        assert_eq!(at("S0030000FC\nS10501003E05B7"), checksum);
        assert_eq!(at("S105"), "line 1: the length of the record does not match its count");
        assert_eq!(at("X"), "line 1: a record starts with S and a digit other than 4");
        assert_eq!(at("S4048000C9B2"), at("X"));
        assert_eq!(at("S1048000G9B2"), "line 1: not hexadecimal digits in pairs");
        // FFH - (06+01+00+00+3E+05) = B5H.
        assert_eq!(at("S2060100003E05B5"), "line 1: data passes address FFFFH");
    }

    #[test]
    fn no_record_is_dropped() {
        // FFH - (04+80+00+C9)&FFH = B2H, with address 8001H and byte CAH B0H; FFH - (03+00+01) = FBH.
        let (first, second) = ("S1048000C9B2\n", "S1048001CAB0\n");
        let at = |text: &str| parse_s_records(text).expect_err("it is wrong");
        let after = at(&format!("{first}S9030000FC\n{second}"));
        assert_eq!(after.line, 3);
        assert!(after.problem.starts_with("a record after the end record in line 2"));
        assert_eq!(at(first).to_string(), "line 2: the end record (S9, S8 or S7) is missing");
        let count = |records: &str| format!("{records}S5030001FB\nS9030000FC\n");
        assert!(parse_s_records(&count(first)).is_ok());
        let missing = at(&count(&format!("{first}{second}")));
        assert!(missing.problem.starts_with("1 data records are stated, but 2 precede"));
        // asl's p2hex writes the count before the records.
        let before = format!("S5030001FB\n{first}S5030001FB\n{second}S9030000FC\n");
        assert!(parse_s_records(&before).is_ok());
        // FFH - (04+80+00+CA)&FFH = B1H.
        let overlap = at(&format!("{first}S1048000CAB1\nS9030000FC\n"));
        assert_eq!(overlap.line, 2);
        assert!(overlap.problem.starts_with("the byte at 8000H is CAH, but C9H in line 1"));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(
            address in 0..0xFF00u16, bytes in prop::collection::vec(any::<u8>(), 1..100)) {
            let image = Image::new([ImageRun { address, bytes }]);
            let text = s_records(&image, "x", Some(7));
            prop_assert_eq!(parse_s_records(&text), Ok((image, Some(7))));
        }

        #[test]
        fn any_text_is_refused_or_read_but_never_fatal(text in "S?[0-9]?.{0,200}") {
            let _ = parse_s_records(&text);
        }
    }
}
