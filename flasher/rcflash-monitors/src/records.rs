//! The lines that are sent: Intel HEX of types 00 and 01 only, since stock monitors ignore or
//! misread the others.

use tdlasm::image::{Image, Run};

/// Characters of a line besides its data: colon, count, address, type and checksum.
pub(super) const FRAME: usize = 11;

/// The line that ends a load.
pub(super) const END: &str = ":00000001FF";

/// A line of an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Which line of the image it is, from 1.
    pub number: usize,
    /// Address of its first byte.
    pub address: u16,
    /// Its bytes.
    pub data: Vec<u8>,
}

impl Record {
    /// Its text, without a line end.
    #[must_use]
    pub fn text(&self) -> String {
        line(0, self.address, &self.data)
    }
}

/// The lines of an image with up to `size` data bytes each, ascending.
#[must_use]
pub fn records(image: &Image, size: usize) -> Vec<Record> {
    let pieces = image.runs().iter().flat_map(|run| {
        let address = |index: usize| run.address.wrapping_add((index * size) as u16);
        run.bytes.chunks(size).enumerate().map(move |(index, data)| (address(index), data))
    });
    let record = |(index, (address, data)): (usize, (u16, &[u8]))| Record {
        number: index + 1,
        address,
        data: data.to_vec(),
    };
    pieces.enumerate().map(record).collect()
}

/// A line of a type; capitals, as every monitor takes them.
pub(super) fn line(kind: u8, address: u16, data: &[u8]) -> String {
    let [high, low] = address.to_be_bytes();
    let mut bytes = vec![data.len() as u8, high, low, kind];
    bytes.extend(data);
    let sum = bytes.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
    bytes.push(sum.wrapping_neg());
    let digits: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
    format!(":{digits}")
}

/// The part of an image that lies on addresses that `wanted` picks.
pub(super) fn part(image: &Image, wanted: impl Fn(u16) -> bool) -> Image {
    let pieces = image.runs().iter().flat_map(|run| {
        let kept = (run.address..=u16::MAX).zip(&run.bytes).filter(|(at, _)| wanted(*at));
        kept.map(|(address, byte)| Run { address, bytes: vec![*byte] }).collect::<Vec<_>>()
    });
    Image::new(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image() -> Image {
        let run = |address, count: u8| Run { address, bytes: (0..count).collect() };
        Image::new([run(0x8000, 20), run(0xFFF0, 16)])
    }

    #[test]
    fn lines_are_numbered_and_read_back_by_the_assemblers_reader() {
        let records = records(&image(), 8);
        let places: Vec<_> = records.iter().map(|r| (r.number, r.address, r.data.len())).collect();
        let expected =
            [(1, 0x8000, 8), (2, 0x8008, 8), (3, 0x8010, 4), (4, 0xFFF0, 8), (5, 0xFFF8, 8)];
        assert_eq!(places, expected);
        let mut text: String = records.iter().map(|record| record.text() + "\r").collect();
        text = text.replace('\r', "\r\n") + END;
        assert_eq!(tdlasm::image::parse_intel_hex(&text), Ok((image(), None)));
    }

    #[test]
    fn a_line_is_that_of_the_specifications_example() {
        let data = [
            0x21, 0x46, 0x01, 0x36, 0x01, 0x21, 0x47, 0x01, 0x36, 0x00, 0x7E, 0xFE, 0x09, 0xD2,
            0x19, 0x01,
        ];
        assert_eq!(line(0, 0x100, &data), ":10010000214601360121470136007EFE09D2190140");
        assert_eq!(line(1, 0, &[]), END);
    }

    #[test]
    fn a_part_keeps_the_addresses_that_are_wanted() {
        let odd = part(&image(), |at| (0x8004..0x8006).contains(&at) || at == 0xFFFF);
        let places: Vec<_> = odd.runs().iter().map(|run| (run.address, &run.bytes[..])).collect();
        assert_eq!(places, [(0x8004, &[4, 5][..]), (0xFFFF, &[15][..])]);
    }
}
