//! The monitor's requests about the flash chip, and their replies.

use std::fmt;

use crc::{CRC_32_ISO_HDLC, Crc};

use super::error::{FieldError, MessageError};
use super::{FLASH_PAGE_BYTES, FLASH_SECTOR_BYTES, MAX_BLOCK, MAX_FLASH_SECTORS, REPLY_BIT, kind};

/// Returns the CRC-32 (zlib's) of some bytes, the checksum of flash.
///
/// # Examples
/// ```
/// use firmware_wire::crc32;
///
/// // The check value in the catalogue of CRCs.
/// assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
/// ```
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

/// The identity and size of a flash chip: 1 to [`MAX_FLASH_SECTORS`] sectors, of which the boot
/// sector at least is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChipIdentity {
    manufacturer: u8,
    device: u8,
    sectors: u16,
    protected_sectors: u8,
}

impl ChipIdentity {
    /// Creates an identity from the codes of manufacturer and device, the number of sectors, and
    /// the number of protected ones at the start.
    ///
    /// # Errors
    /// Returns [`FieldError::Sectors`] or [`FieldError::ProtectedSectors`] if no chip can have so
    /// many.
    ///
    /// # Examples
    /// ```
    /// use firmware_wire::{ChipIdentity, FieldError};
    ///
    /// let chip = ChipIdentity::new(0xBF, 0xB5, 32, 1)?;
    /// assert_eq!((chip.name(), chip.last_address()), ("SST39SF010A", 0x1_FFFF));
    /// assert_eq!(ChipIdentity::new(0xBF, 0xB5, 0, 1), Err(FieldError::Sectors(0)));
    /// # Ok::<(), FieldError>(())
    /// ```
    pub fn new(
        manufacturer: u8,
        device: u8,
        sectors: u16,
        protected_sectors: u8,
    ) -> Result<Self, FieldError> {
        if !(1..=MAX_FLASH_SECTORS).contains(&sectors) {
            return Err(FieldError::Sectors(sectors));
        }
        // The monitor runs from the boot sector: erasing it by ERASE would end in the middle.
        if protected_sectors == 0 || u16::from(protected_sectors) > sectors {
            return Err(FieldError::ProtectedSectors { protected: protected_sectors, sectors });
        }
        Ok(Self { manufacturer, device, sectors, protected_sectors })
    }

    /// Returns the number of sectors of 4 KiB, at least 1.
    pub fn sectors(&self) -> u16 {
        self.sectors
    }

    /// Returns the number of sectors at the start that ERASE and PROGRAM refuse to change: at least
    /// 1, the boot sector, and at most all.
    pub fn protected_sectors(&self) -> u16 {
        self.protected_sectors.into()
    }

    /// Returns the address of the last byte.
    pub fn last_address(&self) -> u32 {
        u32::from(self.sectors) * FLASH_SECTOR_BYTES - 1
    }

    /// Returns the part number of a chip that the monitor supports.
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
    pub(super) fn parse(kind_byte: u8, payload: &[u8]) -> Result<Self, MessageError> {
        let address = |low, middle, high| u32::from_le_bytes([low, middle, high, 0]);
        let invalid = |error| MessageError::Field(kind_byte, error);
        Ok(match (kind_byte - REPLY_BIT, payload) {
            (kind::CHIP, &[manufacturer, device, low, high, protected]) => {
                let sectors = u16::from_le_bytes([low, high]);
                let chip = ChipIdentity::new(manufacturer, device, sectors, protected);
                Self::Chip(chip.map_err(invalid)?)
            }
            (kind::ERASE, &[low, high]) => {
                let sector = u16::from_le_bytes([low, high]);
                if sector >= MAX_FLASH_SECTORS {
                    return Err(invalid(FieldError::Sector(sector)));
                }
                Self::Erased(sector)
            }
            (kind::PROGRAM, &[low, middle, high, count]) => {
                let address = address(low, middle, high);
                check_block(address, count, FLASH_SECTOR_BYTES).map_err(invalid)?;
                Self::Programmed { address, count }
            }
            (kind::FLASH_CRC, &[a, b, c, d]) => Self::Crc(u32::from_le_bytes([a, b, c, d])),
            (kind::FLASH_VERIFY, []) => Self::Verified,
            (kind::FLASH_READ, [low, middle, high, data @ ..])
                if (1..=MAX_BLOCK).contains(&data.len()) =>
            {
                let address = address(*low, *middle, *high);
                let length = u8::try_from(data.len()).unwrap_or(u8::MAX);
                check_block(address, length, FLASH_PAGE_BYTES).map_err(invalid)?;
                Self::Memory { address, data: data.to_vec() }
            }
            (kind::BOOT, []) => Self::Booting,
            _ => return Err(MessageError::Length(kind_byte, payload.len())),
        })
    }
}

/// Checks that a block has 1 to [`MAX_BLOCK`] bytes and does not cross a multiple of `unit`.
fn check_block(address: u32, length: u8, unit: u32) -> Result<(), FieldError> {
    if !(1..=MAX_BLOCK).contains(&usize::from(length)) {
        return Err(FieldError::BlockLength(length));
    }
    if address % unit + u32::from(length) > unit {
        return Err(FieldError::BlockEnd { address, length, unit });
    }
    Ok(())
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
        let chip = ChipIdentity::new(0xBF, 0xB7, 128, 1).expect("a chip of that size is made");
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
            assert_eq!(FlashReply::parse(kind, payload), Ok(reply), "{kind:02X}");
            let error = MessageError::Length(kind, 240);
            assert_eq!(FlashReply::parse(kind, &[0; 240]), Err(error), "{kind:02X}");
        }
    }

    /// Returns the error of a field.
    fn invalid(kind: u8, payload: &[u8]) -> FieldError {
        match FlashReply::parse(kind, payload) {
            Err(MessageError::Field(of, error)) if of == kind => error,
            other => panic!("{kind:02X}: {other:?}"),
        }
    }

    #[test]
    fn chips_have_sectors_that_an_address_reaches_and_protect_the_boot_sector() {
        // Three bytes of address reach 2^24 bytes: 4096 sectors of 4 KiB.
        for sectors in [0_u16, 4097, 65_535] {
            for protected in 0..=u8::MAX {
                let [low, high] = sectors.to_le_bytes();
                let error = invalid(0x94, &[0xBF, 0xB7, low, high, protected]);
                assert_eq!(error, FieldError::Sectors(sectors));
            }
        }
        for (sectors, protected) in [(1, 0), (1, 2), (128, 0), (128, 129), (4096, 0)] {
            let error = ChipIdentity::new(0xBF, 0xB7, sectors, protected);
            assert_eq!(error, Err(FieldError::ProtectedSectors { protected, sectors }));
        }
        for (sectors, protected, last) in
            [(1, 1, 0xFFF), (128, 128, 0x7_FFFF), (4096, 255, 0xFF_FFFF)]
        {
            let chip = ChipIdentity::new(0xBF, 0xB7, sectors, protected).expect("it is valid");
            let fields = (chip.sectors(), chip.protected_sectors(), chip.last_address());
            assert_eq!(fields, (sectors, protected.into(), last));
        }
    }

    #[test]
    fn blocks_of_flash_stay_within_their_sector_or_page() {
        assert_eq!(invalid(0x95, &[0, 0x10]), FieldError::Sector(4096));
        for count in [0, 237, 255] {
            assert_eq!(invalid(0x96, &[0, 0, 0, count]), FieldError::BlockLength(count));
        }
        let end = FieldError::BlockEnd { address: 0xFF_FFFF, length: 2, unit: 0x1000 };
        assert_eq!(invalid(0x96, &[0xFF, 0xFF, 0xFF, 2]), end);
        let page = FieldError::BlockEnd { address: 0x3FFF, length: 2, unit: 0x4000 };
        assert_eq!(invalid(0x99, &[0xFF, 0x3F, 0, 7, 7]), page);
        assert!(FlashReply::parse(0x96, &[0xFF, 0x0F, 0, 1]).is_ok());
        assert!(FlashReply::parse(0x96, &[0x14, 0x0F, 0, 236]).is_ok(), "F14h + 236 = 1000h");
        assert!(FlashReply::parse(0x96, &[0x15, 0x0F, 0, 236]).is_err());
        assert!(FlashReply::parse(0x99, &[0xFF, 0x0F, 0, 7, 7]).is_ok(), "a page has 16 KiB");
    }
}
