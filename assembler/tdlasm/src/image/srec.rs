//! Motorola S-records with 16-bit addresses (M68000 Family Programmer's Reference, appendix C).

#![deny(clippy::cast_possible_truncation)]

use std::fmt::Write;

use super::Image;
use super::hex::low_word;

/// Data bytes per record.
const RECORD: usize = 16;

/// Formats an image as S-records: a header (S0) with `name`, data (S1), and the entry address (S9).
pub fn s_records(image: &Image, name: &str, entry: Option<u16>) -> String {
    let mut text = String::new();
    let header: Vec<u8> = name.bytes().take(RECORD).collect();
    record(&mut text, 0, 0, &header);
    for run in image.runs() {
        for (index, data) in run.bytes.chunks(RECORD).enumerate() {
            record(&mut text, 1, run.address.wrapping_add(low_word(index * RECORD)), data);
        }
    }
    record(&mut text, 9, entry.unwrap_or(0), &[]);
    text
}

fn record(text: &mut String, kind: u8, address: u16, data: &[u8]) {
    let [high, low] = address.to_be_bytes();
    let _ = write!(text, "S{kind}");
    let mut sum = 0u8;
    let count = u8::try_from(data.len() + 3).expect("a record holds at most 252 bytes");
    for &byte in [count, high, low].iter().chain(data) {
        sum = sum.wrapping_add(byte);
        let _ = write!(text, "{byte:02X}");
    }
    let _ = writeln!(text, "{:02X}", !sum);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::Run;

    #[test]
    fn records_are_those_of_the_manual() {
        // The manual's example: header "HDR", code at 0000h, end.
        let bytes = [
            0x28, 0x5F, 0x24, 0x5F, 0x22, 0x12, 0x22, 0x6A, 0x00, 0x04, 0x24, 0x29, 0x00, 0x08,
            0x23, 0x7C, 0x00, 0x02,
        ];
        let image = Image::new([Run { address: 0, bytes: bytes.to_vec() }]);
        let text = s_records(&image, "HDR", None);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0], "S00600004844521B");
        assert_eq!(lines[1], "S1130000285F245F2212226A000424290008237C2A");
        assert_eq!(lines[3], "S9030000FC");
    }
}
