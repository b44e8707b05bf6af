//! The lines that are sent: Intel HEX of types 00 and 01, since others are misread.

use tdlasm::image::{Image, ImageRun};

/// Characters of a line in addition to its data: colon, count, address, type and checksum.
pub(crate) const FRAME_CHARS: usize = 11;

pub(crate) const END_RECORD: &str = ":00000001FF";

/// A line of an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HexRecord {
    /// The number of the line in the image, from 1.
    pub number: usize,
    /// The address of the first byte.
    pub address: u16,
    /// The data bytes.
    pub data: Vec<u8>,
}

impl HexRecord {
    /// Returns the text without a line end.
    pub fn text(&self) -> String {
        hex_line(0, self.address, &self.data)
    }
}

/// Returns the lines of an image with up to `size` data bytes each, in ascending order.
pub fn hex_records(image: &Image, size: usize) -> Vec<HexRecord> {
    let runs = image.runs().iter().flat_map(|run| {
        let address = |index: usize| run.address.wrapping_add((index * size) as u16);
        run.bytes.chunks(size).enumerate().map(move |(index, data)| (address(index), data))
    });
    let record = |(index, (address, data)): (usize, (u16, &[u8]))| HexRecord {
        number: index + 1,
        address,
        data: data.to_vec(),
    };
    runs.enumerate().map(record).collect()
}

/// Encodes a line of a type, in capitals, which every monitor accepts.
pub(crate) fn hex_line(kind: u8, address: u16, data: &[u8]) -> String {
    let [high, low] = address.to_be_bytes();
    let mut bytes = vec![data.len() as u8, high, low, kind];
    bytes.extend(data);
    let sum = bytes.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
    bytes.push(sum.wrapping_neg());
    let digits: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
    format!(":{digits}")
}

/// Returns the bytes of an image at selected addresses.
pub(crate) fn select_addresses(image: &Image, is_selected: impl Fn(u16) -> bool) -> Image {
    let runs = image.runs().iter().flat_map(|run| {
        let kept = (run.address..=u16::MAX).zip(&run.bytes).filter(|(at, _)| is_selected(*at));
        kept.map(|(address, byte)| ImageRun { address, bytes: vec![*byte] }).collect::<Vec<_>>()
    });
    Image::new(runs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image() -> Image {
        let run = |address, count: u8| ImageRun { address, bytes: (0..count).collect() };
        Image::new([run(0x8000, 20), run(0xFFF0, 16)])
    }

    #[test]
    fn lines_are_numbered_and_read_back_by_the_assemblers_reader() {
        let lines = hex_records(&image(), 8);
        let places: Vec<_> = lines.iter().map(|r| (r.number, r.address, r.data.len())).collect();
        let expected =
            [(1, 0x8000, 8), (2, 0x8008, 8), (3, 0x8010, 4), (4, 0xFFF0, 8), (5, 0xFFF8, 8)];
        assert_eq!(places, expected);
        let mut text: String = lines.iter().map(|record| record.text() + "\r").collect();
        text = text.replace('\r', "\r\n") + END_RECORD;
        assert_eq!(tdlasm::image::parse_intel_hex(&text), Ok((image(), None)));
    }

    #[test]
    fn a_line_is_that_of_the_specifications_example() {
        let data = [
            0x21, 0x46, 0x01, 0x36, 0x01, 0x21, 0x47, 0x01, 0x36, 0x00, 0x7E, 0xFE, 0x09, 0xD2,
            0x19, 0x01,
        ];
        assert_eq!(hex_line(0, 0x100, &data), ":10010000214601360121470136007EFE09D2190140");
        assert_eq!(hex_line(1, 0, &[]), END_RECORD);
    }

    #[test]
    fn a_part_keeps_the_addresses_that_are_wanted() {
        let odd = select_addresses(&image(), |at| (0x8004..0x8006).contains(&at) || at == 0xFFFF);
        let places: Vec<_> = odd.runs().iter().map(|run| (run.address, &run.bytes[..])).collect();
        assert_eq!(places, [(0x8004, &[4, 5][..]), (0xFFFF, &[15][..])]);
    }
}
