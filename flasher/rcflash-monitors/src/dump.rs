//! Parses memory dumps: rows of an address and bytes in hexadecimal, with any text around.

use std::collections::BTreeMap;

use tdlasm::image::Image;

/// Bytes in a row of every monitor's dump.
pub(crate) const ROW_BYTES: usize = 16;

/// The known bytes of a board's memory.
pub(crate) type Memory = BTreeMap<u16, u8>;

/// Returns the rows in a text, each with 16 bytes. Other lines and incomplete rows are skipped.
pub(crate) fn parse_rows(text: &[u8]) -> Vec<(u16, [u8; ROW_BYTES])> {
    text.split(|byte| matches!(byte, b'\r' | b'\n')).filter_map(parse_row).collect()
}

/// Parses an address of four digits and 16 separate pairs of digits.
fn parse_row(line: &[u8]) -> Option<(u16, [u8; ROW_BYTES])> {
    let mut words = line
        .split(|byte| !byte.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(|word| std::str::from_utf8(word).unwrap_or_default());
    let address = words.next().filter(|word| word.len() == 4)?;
    let address = u16::from_str_radix(address, 16).ok()?;
    let mut bytes = [0; ROW_BYTES];
    for byte in &mut bytes {
        let pair = words.next().filter(|word| word.len() == 2)?;
        *byte = u8::from_str_radix(pair, 16).ok()?;
    }
    Some((address, bytes))
}

pub(crate) fn store_rows(memory: &mut Memory, rows: &[(u16, [u8; ROW_BYTES])]) {
    for (address, bytes) in rows {
        memory.extend((0..).zip(bytes).map(|(i, byte)| (address.wrapping_add(i), *byte)));
    }
}

/// Returns the addresses at which the memory differs from the image, with the bytes in memory.
pub(crate) fn mismatches(image: &Image, memory: &Memory) -> Vec<(u16, Option<u8>)> {
    let cells =
        image.runs().iter().flat_map(|run| (run.address..=u16::MAX).zip(run.bytes.iter().copied()));
    cells
        .map(|(address, byte)| (address, byte, memory.get(&address).copied()))
        .filter(|(_, byte, actual)| *actual != Some(*byte))
        .map(|(address, _, actual)| (address, actual))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tdlasm::image::ImageRun;

    const BYTES: &str = "00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E FF";

    #[test]
    fn rows_are_read_whatever_stands_around_the_bytes() {
        let mut bytes = [0; ROW_BYTES];
        (0..ROW_BYTES as u8).zip(&mut bytes).for_each(|(value, byte)| *byte = value);
        bytes[15] = 0xFF;
        let dashed = BYTES.replace("07 08", "07-08");
        let lower = BYTES.to_lowercase();
        for text in [
            format!("M 8000\r\n8000:  {BYTES}  ................\r\n"),
            format!("8000 {BYTES}\n"),
            format!("  8000: {dashed} 12 34"),
            format!("8000: {lower}   ab cd"),
        ] {
            assert_eq!(parse_rows(text.as_bytes()), [(0x8000, bytes)], "{text}");
        }
    }

    #[test]
    fn what_is_no_whole_row_is_passed_over() {
        let short = format!("8000: {}", &BYTES[..BYTES.len() - 3]);
        let half = format!("8000: {}", &BYTES[..BYTES.len() - 1]);
        let wide = format!("08000: {BYTES}");
        let wrong = format!("8000: {}", BYTES.replace("07", "0G"));
        for text in [short.as_str(), &half, &wide, &wrong, "", "Bad command", "M 8000"] {
            assert_eq!(parse_rows(text.as_bytes()), [], "{text}");
        }
    }

    proptest! {
        #[test]
        fn rows_are_found_between_anything_that_is_none(
            cells in prop::collection::vec((any::<u16>(), any::<[u8; ROW_BYTES]>()), 0..4),
            noise in prop::collection::vec("[^\r\n]{0,40}", 5),
        ) {
            let digits = |bytes: &[u8; ROW_BYTES]| bytes.map(|byte| format!("{byte:02X}")).join(" ");
            let mut text = String::new();
            for ((address, bytes), noise) in cells.iter().zip(&noise) {
                text += &format!("?{noise}\r\n{address:04X}: {}\r\n", digits(bytes));
            }
            text += &noise[4];
            let found = parse_rows(text.as_bytes());
            prop_assert!(cells.iter().all(|row| found.contains(row)));
            prop_assert!(found.len() <= cells.len() + 5);
        }

        #[test]
        fn anything_may_come_for_a_dump(text in prop::collection::vec(any::<u8>(), 0..300)) {
            prop_assert!(parse_rows(&text).len() <= text.len() / (4 + 3 * ROW_BYTES));
        }
    }

    #[test]
    fn differences_name_the_address_and_what_is_there() {
        let image = Image::new([ImageRun { address: 0x8000, bytes: vec![1, 2, 3] }]);
        let memory = Memory::from([(0x8000, 1), (0x8001, 9)]);
        assert_eq!(mismatches(&image, &memory), [(0x8001, Some(9)), (0x8002, None)]);
    }
}
