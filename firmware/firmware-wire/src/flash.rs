//! The monitor's requests about the flash chip, and their replies.

use std::fmt;

use crc::{CRC_32_ISO_HDLC, Crc};

use super::{MAX_BLOCK, REPLY_BIT, kind};

/// Returns the CRC-32 (zlib's) of some bytes, the checksum of flash.
///
/// # Examples
/// ```
/// use firmware_wire::crc32;
///
/// // The check value in the catalogue of CRCs.
/// assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
/// ```
#[must_use]
pub fn crc32(bytes: &[u8]) -> u32 {
    const CRC: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);
    CRC.checksum(bytes)
}

/// A request about the flash chip. Addresses count from the start of the chip.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FlashRequest {
    /// Identify the chip.
    Chip,
    /// Erase a sector.
    Erase {
        /// The sector, from 0.
        sector: u16,
    },
    /// Program bytes within a sector; bytes that are already equal are skipped.
    Program {
        /// First address, below 2^24.
        address: u32,
        /// 1 to [`MAX_BLOCK`] bytes.
        data: Vec<u8>,
    },
    /// Compute the CRC-32 of a range within a page of 16 KiB.
    Crc {
        /// First address, below 2^24.
        address: u32,
        /// Bytes, at least 1.
        length: u16,
    },
    /// Compute the CRC-32 and return an error if it differs.
    Verify {
        /// First address, below 2^24.
        address: u32,
        /// Bytes, at least 1.
        length: u16,
        /// The expected CRC-32.
        crc: u32,
    },
    /// Read bytes within a page.
    Read {
        /// First address, below 2^24.
        address: u32,
        /// 1 to [`MAX_BLOCK`].
        count: u8,
    },
    /// Replace the boot sector by the 4 KiB image in RAM, and start it.
    Boot {
        /// The CRC-32 of the image.
        crc: u32,
    },
}

impl FlashRequest {
    /// The frame's type.
    pub(super) fn kind(&self) -> u8 {
        match self {
            Self::Chip => kind::CHIP,
            Self::Erase { .. } => kind::ERASE,
            Self::Program { .. } => kind::PROGRAM,
            Self::Crc { .. } => kind::FLASH_CRC,
            Self::Verify { .. } => kind::FLASH_VERIFY,
            Self::Read { .. } => kind::FLASH_READ,
            Self::Boot { .. } => kind::BOOT,
        }
    }

    /// The frame's payload.
    pub(super) fn payload(&self) -> Vec<u8> {
        match self {
            Self::Chip => Vec::new(),
            Self::Erase { sector } => sector.to_le_bytes().to_vec(),
            Self::Program { address, data } => [&address_bytes(*address)[..], data].concat(),
            Self::Crc { address, length } => {
                [&address_bytes(*address)[..], &length.to_le_bytes()].concat()
            }
            Self::Verify { address, length, crc } => {
                [&address_bytes(*address)[..], &length.to_le_bytes(), &crc.to_le_bytes()].concat()
            }
            Self::Read { address, count } => [&address_bytes(*address)[..], &[*count]].concat(),
            Self::Boot { crc } => crc.to_le_bytes().to_vec(),
        }
    }
}

/// Encodes an address of the chip in three bytes.
fn address_bytes(address: u32) -> [u8; 3] {
    let [low, middle, high, _] = address.to_le_bytes();
    [low, middle, high]
}

/// The identity and size of a flash chip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChipIdentity {
    /// The manufacturer's code.
    pub manufacturer: u8,
    /// The device code.
    pub device: u8,
    /// Sectors of 4 KiB.
    pub sectors: u16,
    /// The number of sectors at the start that ERASE and PROGRAM refuse to change.
    pub protected_sectors: u8,
}

impl ChipIdentity {
    /// Returns the part number of a chip that the monitor supports.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match (self.manufacturer, self.device) {
            (0xBF, 0xB5) => "SST39SF010A",
            (0xBF, 0xB6) => "SST39SF020A",
            (0xBF, 0xB7) => "SST39SF040",
            _ => "a flash chip",
        }
    }
}

impl fmt::Display for ChipIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { manufacturer, device, sectors, .. } = self;
        let kilobytes = 4 * u32::from(*sectors);
        write!(f, "{}, identity {manufacturer:02X}h {device:02X}h, {kilobytes} KiB", self.name())
    }
}

/// A reply to a request about the flash chip.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FlashReply {
    /// To CHIP.
    Chip(ChipIdentity),
    /// To ERASE: the sector.
    Erased(u16),
    /// To PROGRAM.
    Programmed {
        /// First address.
        address: u32,
        /// The number of bytes.
        count: u8,
    },
    /// To FLASH CRC.
    Crc(u32),
    /// To FLASH VERIFY: the CRC-32 is the expected one.
    Verified,
    /// To FLASH READ.
    Memory {
        /// First address.
        address: u32,
        /// The bytes.
        data: Vec<u8>,
    },
    /// To BOOT: the image has the expected CRC-32 and replaces the boot sector now.
    Booting,
}

impl FlashReply {
    /// Decodes the payload of a reply; `None` if its length does not fit the type.
    pub(super) fn parse(kind_byte: u8, payload: &[u8]) -> Option<Self> {
        let address = |low, middle, high| u32::from_le_bytes([low, middle, high, 0]);
        Some(match (kind_byte - REPLY_BIT, payload) {
            (kind::CHIP, &[manufacturer, device, low, high, kept]) => {
                let sectors = u16::from_le_bytes([low, high]);
                Self::Chip(ChipIdentity { manufacturer, device, sectors, protected_sectors: kept })
            }
            (kind::ERASE, &[low, high]) => Self::Erased(u16::from_le_bytes([low, high])),
            (kind::PROGRAM, &[low, middle, high, count]) => {
                Self::Programmed { address: address(low, middle, high), count }
            }
            (kind::FLASH_CRC, &[a, b, c, d]) => Self::Crc(u32::from_le_bytes([a, b, c, d])),
            (kind::FLASH_VERIFY, []) => Self::Verified,
            (kind::FLASH_READ, [low, middle, high, data @ ..])
                if (1..=MAX_BLOCK).contains(&data.len()) =>
            {
                Self::Memory { address: address(*low, *middle, *high), data: data.to_vec() }
            }
            (kind::BOOT, []) => Self::Booting,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_is_the_catalogues() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
    }

    #[test]
    fn requests_are_laid_out_as_the_protocol_says() {
        let cases: [(FlashRequest, u8, &[u8]); 7] = [
            (FlashRequest::Chip, 0x14, &[]),
            (FlashRequest::Erase { sector: 0x127 }, 0x15, &[0x27, 0x01]),
            (
                FlashRequest::Program { address: 0x07_1234, data: vec![9, 8] },
                0x16,
                &[0x34, 0x12, 0x07, 9, 8],
            ),
            (FlashRequest::Crc { address: 0x1000, length: 0x102 }, 0x17, &[0, 0x10, 0, 2, 1]),
            (
                FlashRequest::Verify { address: 1, length: 2, crc: 0x0403_0201 },
                0x18,
                &[1, 0, 0, 2, 0, 1, 2, 3, 4],
            ),
            (FlashRequest::Read { address: 0x04_0000, count: 16 }, 0x19, &[0, 0, 4, 16]),
            (FlashRequest::Boot { crc: 0x0403_0201 }, 0x1A, &[1, 2, 3, 4]),
        ];
        for (request, kind, payload) in cases {
            assert_eq!((request.kind(), request.payload()), (kind, payload.to_vec()));
        }
    }

    #[test]
    fn replies_are_read_as_the_protocol_lays_them_out() {
        let chip =
            ChipIdentity { manufacturer: 0xBF, device: 0xB7, sectors: 128, protected_sectors: 1 };
        let cases: [(u8, &[u8], FlashReply); 7] = [
            (0x94, &[0xBF, 0xB7, 128, 0, 1], FlashReply::Chip(chip)),
            (0x95, &[5, 0], FlashReply::Erased(5)),
            (0x96, &[1, 2, 3, 4], FlashReply::Programmed { address: 0x03_0201, count: 4 }),
            (0x97, &[1, 2, 3, 4], FlashReply::Crc(0x0403_0201)),
            (0x98, &[], FlashReply::Verified),
            (0x99, &[0, 0, 1, 7], FlashReply::Memory { address: 0x1_0000, data: vec![7] }),
            (0x9A, &[], FlashReply::Booting),
        ];
        for (kind, payload, reply) in cases {
            assert_eq!(FlashReply::parse(kind, payload), Some(reply), "{kind:02X}");
            assert_eq!(FlashReply::parse(kind, &vec![0; 240]), None, "{kind:02X}");
        }
    }
}
