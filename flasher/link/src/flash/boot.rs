//! Replaces the boot sector, the one write after which a power cut leaves a board that does not
//! start.

use std::time::Duration;

use firmware_wire::{FlashReply, FlashRequest, Identity, crc32};

use super::{
    AT_ONCE, CHECK_PER_BYTE, FlashError, SECTOR, SECTOR_SPAN, Sector, ask, check, nonsense, verify,
};
use crate::Link;
use crate::loader;

/// Address at which the board expects the new sector.
pub(super) const STAGE: u16 = 0x8000;
/// The time that erasing, programming and the new monitor's start may take.
pub(super) const REBOOT: Duration = Duration::from_secs(3);

/// Whether the boot sector holds something else.
///
/// # Errors
/// The link failed.
pub fn boot_sector_differs(link: &mut Link, bytes: &[u8; SECTOR]) -> Result<bool, FlashError> {
    Ok(check(link, 0, SECTOR)? != crc32(bytes))
}

/// Makes the boot sector hold these 4 KiB. They wait in RAM, proven to be there, before the old
/// ones are erased. Returns the identity that answers then.
///
/// # Errors
/// What kept the sector from being replaced, or that nobody answers from the new one.
pub fn replace_boot_sector(
    link: &mut Link,
    monitor: &Identity,
    bytes: &[u8; SECTOR],
) -> Result<Identity, FlashError> {
    let crc = crc32(bytes);
    // All that can go wrong without loss goes first: the bytes are in RAM, read back and checked
    // again by the board, before BOOT erases anything. From then on only the board's own code in
    // RAM works, and there is nothing that the host could still do.
    loader::load(link, monitor, STAGE, bytes, |_| {})?;
    let what = "replacing the boot sector";
    let work = AT_ONCE + CHECK_PER_BYTE * SECTOR_SPAN;
    match ask(link, what, FlashRequest::Boot { crc }, work)? {
        FlashReply::Booting => {}
        other => return Err(nonsense(what, &other).into()),
    }
    link.hear_out(what, REBOOT)?;
    let identity = loader::identify(link)?;
    verify(link, &Sector { number: 0, bytes: bytes.to_vec(), blank: false }, 0)?;
    Ok(identity)
}
