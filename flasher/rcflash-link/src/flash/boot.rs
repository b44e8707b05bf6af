//! Replaces the boot sector: the only write after whose interruption a board can't start.

use std::time::Duration;

use firmware_wire::{FlashReply, FlashRequest, Identity, crc32};

use super::{
    CRC_TIME_PER_BYTE, FlashError, REPLY_TIMEOUT, SECTOR, SECTOR_SPAN, Sector, flash_crc,
    flash_request, unexpected_flash_reply, verify,
};
use crate::{Link, loader};

/// The RAM address at which the board expects the new sector.
pub(super) const STAGING_ADDRESS: u16 = 0x8000;
pub(super) const REBOOT_TIMEOUT: Duration = Duration::from_secs(3);

/// Returns `true` if the boot sector differs from `bytes`.
///
/// # Errors
/// Returns [`FlashError::Link`] if the link fails.
pub fn boot_sector_differs(link: &mut Link, bytes: &[u8; SECTOR]) -> Result<bool, FlashError> {
    Ok(flash_crc(link, 0, SECTOR)? != crc32(bytes))
}

/// Replaces the boot sector. The new bytes are uploaded to RAM and verified before the old sector
/// is erased. Returns the identity of the new monitor.
///
/// # Errors
/// Returns [`FlashError`] if the upload, the request or the verification fails, or if the new
/// monitor does not reply.
pub fn replace_boot_sector(
    link: &mut Link,
    monitor: &Identity,
    bytes: &[u8; SECTOR],
) -> Result<Identity, FlashError> {
    let crc = crc32(bytes);
    // Every step that can fail without loss comes first: the bytes are in RAM and verified by the
    // board before BOOT erases anything. From then on only the board's code in RAM runs, and the
    // host can't repair a failure.
    loader::upload_all(link, monitor, STAGING_ADDRESS, bytes, |_| {})?;
    let operation = "replacing the boot sector";
    let processing_time = REPLY_TIMEOUT + CRC_TIME_PER_BYTE * SECTOR_SPAN;
    match flash_request(link, operation, FlashRequest::Boot { crc }, processing_time)? {
        FlashReply::Booting => {}
        other => return Err(unexpected_flash_reply(operation, &other).into()),
    }
    link.drain_banner(operation, REBOOT_TIMEOUT)?;
    let identity = loader::identify(link)?;
    verify(link, &Sector { number: 0, bytes: bytes.to_vec(), blank: false }, 0)?;
    Ok(identity)
}
