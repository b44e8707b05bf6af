//! Motorola S-records: S1 to S3 hold bytes, S7 to S9 the entry, S0 a title, S5, S6 a count.

use tdlasm::image::Image;

pub(super) fn parse(text: &str) -> Result<(Image, Option<u16>), String> {
    let mut runs = Vec::new();
    let mut entry = None;
    for (index, line) in text.lines().map(str::trim).enumerate() {
        if line.is_empty() || line == "\u{1A}" {
            continue;
        }
        let at = |problem: &str| format!("line {}: {problem}", index + 1);
        let (kind, bytes) = record(line).map_err(at)?;
        let width = match kind {
            '0' | '5' | '6' => continue,
            '1' | '9' => 2,
            '2' | '8' => 3,
            '3' | '7' => 4,
            _ => return Err(at("unknown record type")),
        };
        let (address, data) =
            bytes.split_at_checked(width).ok_or_else(|| at("the record is too short"))?;
        let address = address.iter().fold(0, |value, byte| (value << 8) | u32::from(*byte));
        if matches!(kind, '7'..='9') {
            entry = u16::try_from(address).ok().filter(|entry| *entry != 0);
        } else {
            runs.push((address, data.to_vec()));
        }
    }
    Ok((super::image_from_runs(runs)?, entry))
}

/// Returns the type of a record, and its bytes between count and checksum.
fn record(line: &str) -> Result<(char, Vec<u8>), &'static str> {
    let mut characters = line.chars();
    let is_record = matches!(characters.next(), Some('S' | 's'));
    let kind = characters.next().filter(|_| is_record).ok_or("not an S-record")?;
    let digits = characters.as_str().as_bytes();
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let all: Option<Vec<u8>> = digits.chunks(2).map(pair).collect();
    let bytes =
        all.filter(|_| digits.len().is_multiple_of(2)).ok_or("a digit is not hexadecimal")?;
    match bytes.as_slice() {
        [count, rest @ .., sum] if usize::from(*count) == rest.len() + 1 => {
            let total = rest.iter().fold(*count, |total, byte| total.wrapping_add(*byte));
            if total.wrapping_add(*sum) == 0xFF {
                Ok((kind, rest.to_vec()))
            } else {
                Err("the checksum is wrong")
            }
        }
        _ => Err("the count does not match the number of bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tdlasm::image::{Run, s_records};

    #[test]
    fn records_of_the_assembler_are_read_back() {
        let bytes = (0..100).collect();
        let image = Image::new([Run { address: 0x8000, bytes }]);
        let text = s_records(&image, "prog", Some(0x8010));
        assert_eq!(parse(&text), Ok((image, Some(0x8010))));
    }

    #[test]
    fn the_wide_forms_are_read_and_what_is_beyond_the_memory_refused() {
        // The sums by hand: FFh less the low byte of count, address and data.
        assert_eq!(
            parse("S205009000C9A1\nS804009000 6B".replace(' ', "").as_str()),
            Ok((Image::new([Run { address: 0x9000, bytes: vec![0xC9] }]), Some(0x9000)))
        );
        let beyond = parse("S20501000055A4").expect_err("it is at 10000h");
        assert!(beyond.contains("10000h"), "{beyond}");
    }

    #[test]
    fn damage_is_located() {
        for (text, problem) in [
            ("S1048000C9B2\nS1048000C9B3", "line 2: the checksum is wrong"),
            ("S1058000C9B2", "line 1: the count does not match the number of bytes"),
            ("S1048000G9B2", "line 1: a digit is not hexadecimal"),
            ("S4048000C9B2", "line 1: unknown record type"),
            ("hello", "line 1: not an S-record"),
        ] {
            assert_eq!(parse(text), Err(problem.to_owned()));
        }
    }
}
