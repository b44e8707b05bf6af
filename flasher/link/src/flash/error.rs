//! Errors of writing flash.

use firmware_wire::{ErrorCode, Identity};

use super::content::ContentError;
use crate::LinkError;
use crate::loader::LoadError;

/// Error returned by a write of flash.
#[derive(Debug, thiserror::Error)]
pub enum FlashError {
    /// The link failed, or the board refused.
    #[error("{0}{hint}", hint = hint(.0))]
    Link(#[from] LinkError),
    /// The monitor does not know how.
    #[error(
        "{0} can't write flash; write to the board's RAM, or put a programmer file (`rcflash \
         image`) into its ROM"
    )]
    NoFlash(Box<Identity>),
    /// The content is not for this chip.
    #[error(transparent)]
    Content(#[from] ContentError),
    /// The boot sector is not to be touched.
    #[error(
        "the boot sector (0000h-0FFFh) differs: it holds the monitor, and a power cut while it is \
         replaced leaves a board that only a programmer can help; ask for it with --boot-sector"
    )]
    BootSector,
    /// The new boot sector is not in RAM as it should be.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A sector holds something else than was programmed.
    #[error(
        "verify failed in sector {sector}: the board computes check ..{there:04X}h, it should be \
         ..{here:04X}h; write again, and if that does not help, the chip is worn out"
    )]
    Verify {
        /// The sector.
        sector: u16,
        /// Low half of the check that it should have.
        here: u16,
        /// Low half of the check that it has.
        there: u16,
    },
    /// Somebody answers although the boot sector should be blank.
    #[error("the boot sector was to be erased, but {0} still answers")]
    StillThere(Box<Identity>),
    /// The board agrees to a wrong check, too.
    #[error("the board agrees to a wrong check of its flash: its verification can't be trusted")]
    Blind,
}

impl FlashError {
    /// Whether flash is wrong, not the way to it.
    #[must_use]
    pub fn is_mismatch(&self) -> bool {
        match self {
            Self::Verify { .. } | Self::StillThere(_) | Self::Blind => true,
            Self::Load(LoadError::Verify { .. }) => true,
            Self::Link(LinkError::Refused { error, .. }) => {
                matches!(error.code, ErrorCode::ReadBack | ErrorCode::Timeout | ErrorCode::Verify)
            }
            _ => false,
        }
    }
}

/// Returns advice for a request that the board refused.
fn hint(error: &LinkError) -> &'static str {
    let LinkError::Refused { error, .. } = error else { return "" };
    match error.code {
        ErrorCode::Chip => "; look for a write-protect jumper, and whether the chip is an SST39SF",
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
        LinkError::Refused { what: "", error: ErrorReply { code, request: 0, detail: 0 } }
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
        for (code, is_mismatch, advice) in codes {
            let error = FlashError::from(refused(code));
            assert_eq!(error.is_mismatch(), is_mismatch, "{error}");
            assert!(error.to_string().contains(advice), "{error}");
            assert_eq!(error.to_string().contains("; "), !advice.is_empty(), "{error}");
        }
        let staged = |error: LoadError| FlashError::from(error).is_mismatch();
        assert!(staged(LoadError::Verify { here: 1, there: 2 }));
        assert!(!staged(LoadError::Empty));
        assert!(!FlashError::from(ContentError::Empty).is_mismatch());
    }
}
