//! Errors of writing flash.

use std::ops::RangeInclusive;

use firmware_wire::{ErrorCode, Identity};

use super::image::FlashImageError;
use crate::LinkError;
use crate::loader::LoadError;

/// Error returned by a write of flash.
#[derive(Debug, thiserror::Error)]
pub enum FlashError {
    /// The link failed, or the board replied with an error.
    #[error("{0}{refusal_hint}", refusal_hint = refusal_hint(.0))]
    Link(#[from] LinkError),
    /// The monitor can't write flash.
    #[error(
        "{0} can't write flash; write to the board's RAM, or put a programmer file (`rcflash \
         image`) into its ROM"
    )]
    NoFlash(Box<Identity>),
    /// The image does not fit this chip.
    #[error(transparent)]
    Image(#[from] FlashImageError),
    /// The boot sector differs, and writing it was not requested.
    #[error(
        "the boot sector (0000h-0FFFh) differs: it holds the monitor, and a power cut while it is \
         replaced leaves a board that only a programmer can repair; to write it, add --boot-sector"
    )]
    BootSector,
    /// Protected sectors other than the boot sector would have to change.
    #[error(
        "the board protects {}, which would have to change; leave those addresses out, or write \
         them with a programmer", name_sectors(.0)
    )]
    Protected(RangeInclusive<u16>),
    /// A range of addresses passes the end of the chip.
    #[error("{last:05X}h: the chip ends at {end:05X}h")]
    OutsideChip {
        /// The last address of the range.
        last: u32,
        /// The last address of the chip.
        end: u32,
    },
    /// Uploading the new boot sector to RAM failed.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A sector differs from what was programmed.
    #[error(
        "verify failed in sector {sector}: the board computes CRC ..{actual:04X}h, it should be \
         ..{expected:04X}h; write again, and if that does not help, the chip is worn out"
    )]
    Verify {
        /// The sector.
        sector: u16,
        /// The low half of the expected CRC.
        expected: u16,
        /// The low half of the CRC that the board computed.
        actual: u16,
    },
    /// The board still replies after its boot sector was erased.
    #[error("the boot sector was to be erased, but {0} still replies")]
    StillResponding(Box<Identity>),
    /// The board accepted a wrong CRC.
    #[error("the board accepted a wrong CRC for its flash, so its verification can't be trusted")]
    VerifyUnreliable,
}

impl FlashError {
    /// Returns `true` if the flash itself failed, rather than the link, the request or the image.
    pub fn is_mismatch(&self) -> bool {
        match self {
            Self::Verify { .. } | Self::StillResponding(_) | Self::VerifyUnreliable => true,
            Self::Load(LoadError::Verify { .. }) => true,
            Self::Link(LinkError::Refused { error, .. }) => {
                matches!(error.code, ErrorCode::ReadBack | ErrorCode::Timeout | ErrorCode::Verify)
            }
            _ => false,
        }
    }
}

fn name_sectors(sectors: &RangeInclusive<u16>) -> String {
    match (sectors.start(), sectors.end()) {
        (first, last) if first == last => format!("sector {first}"),
        (first, last) => format!("sectors {first} to {last}"),
    }
}

fn refusal_hint(error: &LinkError) -> &'static str {
    let LinkError::Refused { error, .. } = error else { return "" };
    match error.code {
        ErrorCode::Chip => "; check the write-protect jumper, and that the chip is an SST39SF",
        ErrorCode::ReadBack | ErrorCode::Timeout => {
            "; write again, and if that does not help, the chip is worn out"
        }
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use firmware_wire::ErrorReply;

    use super::*;

    fn refused(code: ErrorCode) -> LinkError {
        LinkError::Refused { operation: "", error: ErrorReply { code, request: 0, detail: 0 } }
    }

    #[test]
    fn flash_is_wrong_where_the_board_has_seen_it() {
        let codes = [
            (ErrorCode::ReadBack, true, "worn out"),
            (ErrorCode::Timeout, true, "worn out"),
            (ErrorCode::Verify, true, ""),
            (ErrorCode::Chip, false, "write-protect"),
            (ErrorCode::UnknownType, false, ""),
        ];
        for (code, is_mismatch, hint_for_timeout) in codes {
            let error = FlashError::from(refused(code));
            assert_eq!(error.is_mismatch(), is_mismatch, "{error}");
            assert!(error.to_string().contains(hint_for_timeout), "{error}");
            assert_eq!(error.to_string().contains("; "), !hint_for_timeout.is_empty(), "{error}");
        }
        let staged = |error: LoadError| FlashError::from(error).is_mismatch();
        assert!(staged(LoadError::Verify { expected: 1, actual: 2 }));
        assert!(!staged(LoadError::Empty));
        assert!(!FlashError::from(FlashImageError::Empty).is_mismatch());
    }
}
