//! Checksums that the linker puts into the image, as a layout asks.

use crc::{CRC_16_IBM_3740, CRC_32_ISO_HDLC, Crc};
use serde::Deserialize;

use crate::image::{Image, Run};

use super::error::{Errors, LinkError};
use super::layout::Layout;
use super::symbols::SymbolTable;

/// A checksum over a stretch of memory, and where it goes.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checksum {
    /// The algorithm.
    pub kind: ChecksumKind,
    /// The first address that counts.
    pub from: u16,
    /// The last address that counts.
    pub to: u16,
    /// The address of its low byte.
    pub at: u16,
}

/// The ways to compute a checksum. The CRCs are named as in Greg Cook's "Catalogue of parametrised
/// CRC algorithms".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum ChecksumKind {
    /// The sum of all bytes modulo 256, a byte.
    #[serde(rename = "sum8")]
    Sum8,
    /// The sum of all bytes modulo 65536, two bytes.
    #[serde(rename = "sum16")]
    Sum16,
    /// CRC-16/IBM-3740, two bytes.
    #[serde(rename = "crc16-ibm3740")]
    Crc16Ibm3740,
    /// CRC-32/ISO-HDLC, four bytes.
    #[serde(rename = "crc-32")]
    Crc32,
}

/// A checksum that was put into an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenChecksum {
    /// The entry of the layout.
    pub wish: Checksum,
    /// The value.
    pub value: u32,
}

impl Checksum {
    /// The addresses of its own bytes; the end may be past FFFFH.
    pub(super) fn place(&self) -> std::ops::Range<u32> {
        let at = u32::from(self.at);
        at..at + self.kind.size()
    }
}

impl ChecksumKind {
    /// The name that layouts and maps use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sum8 => "sum8",
            Self::Sum16 => "sum16",
            Self::Crc16Ibm3740 => "crc16-ibm3740",
            Self::Crc32 => "crc-32",
        }
    }

    /// The checksum's own bytes, 1, 2 or 4.
    #[must_use]
    pub fn size(self) -> u32 {
        match self {
            Self::Sum8 => 1,
            Self::Sum16 | Self::Crc16Ibm3740 => 2,
            Self::Crc32 => 4,
        }
    }

    /// The checksum of some bytes.
    ///
    /// ```
    /// use tdlasm::link::ChecksumKind;
    ///
    /// assert_eq!(ChecksumKind::Crc32.of(b"123456789"), 0xCBF4_3926);
    /// ```
    #[must_use]
    pub fn of(self, bytes: &[u8]) -> u32 {
        let sum = || bytes.iter().fold(0u32, |sum, byte| sum.wrapping_add((*byte).into()));
        match self {
            Self::Sum8 => sum() & 0xFF,
            Self::Sum16 => sum() & 0xFFFF,
            Self::Crc16Ibm3740 => Crc::<u16>::new(&CRC_16_IBM_3740).checksum(bytes).into(),
            Self::Crc32 => Crc::<u32>::new(&CRC_32_ISO_HDLC).checksum(bytes),
        }
    }
}

/// Puts the layout's checksums into the image, one after the other, so that a later one may cover
/// an earlier one.
pub(super) fn write(
    image: &mut Image,
    layout: &Layout,
    symbols: &SymbolTable,
    errors: &mut Errors,
) -> Vec<WrittenChecksum> {
    let mut written = Vec::new();
    for wish in &layout.checksums {
        if let Some(address) = wish.place().map(|at| at as u16).find(|at| image.byte(*at).is_some())
        {
            let near = symbols.nearest(address).map(|(symbol, _)| symbol.name.to_owned());
            errors.push(|| LinkError::Checksum {
                kind: wish.kind.name(),
                at: wish.at,
                address,
                near,
            });
            continue;
        }
        let bytes: Vec<u8> = (wish.from..=wish.to)
            .map(|address| image.byte(address).unwrap_or(layout.fill()))
            .collect();
        let value = wish.kind.of(&bytes);
        let bytes = value.to_le_bytes()[..wish.kind.size() as usize].to_vec();
        let runs = image.runs().iter().cloned();
        *image = Image::new(runs.chain([Run { address: wish.at, bytes }]));
        written.push(WrittenChecksum { wish: wish.clone(), value });
    }
    written
}
