//! Erases sectors, and verifies that they are blank.

use std::ops::RangeInclusive;

use firmware_wire::{ChipIdentity, FlashReply, FlashRequest, Identity, crc32};

use super::boot::{REBOOT_TIMEOUT, STAGING_ADDRESS};
use super::{
    BOOT_SECTOR, CRC_TIME_PER_BYTE, ERASED, FlashError, Progress, REPLY_TIMEOUT, SECTOR,
    SECTOR_SPAN, Sector,
};
use super::{erase, flash_crc, flash_request, unexpected_flash_reply, verify};
use crate::narrow::narrow;
use crate::{Link, LinkError, loader};

/// Returns the sectors in a range of addresses, both ends included, without the boot sector.
///
/// # Errors
/// Returns [`FlashError::OutsideChip`] if the range passes the end of the chip, or
/// [`FlashError::Protected`] if it contains protected sectors besides the boot sector.
pub fn erasable_sectors(
    chip: &ChipIdentity,
    first: u32,
    last: u32,
) -> Result<RangeInclusive<u16>, FlashError> {
    if last > chip.last_address() {
        return Err(FlashError::OutsideChip { last, end: chip.last_address() });
    }
    let sector = |address: u32| narrow::<_, u16>(address / SECTOR_SPAN);
    let sectors = sector(first).max(BOOT_SECTOR + 1)..=sector(last);
    let last_protected = (chip.protected_sectors() - 1).min(*sectors.end());
    if *sectors.start() <= last_protected {
        return Err(FlashError::Protected(*sectors.start()..=last_protected));
    }
    Ok(sectors)
}

/// Returns the sectors that are not blank.
///
/// # Errors
/// Returns [`FlashError::Link`] if the chip does not have these sectors or the link fails.
pub fn used_sectors(
    link: &mut Link,
    numbers: RangeInclusive<u16>,
    mut progress: impl FnMut(Progress),
) -> Result<Vec<u16>, FlashError> {
    let total = numbers.len() * SECTOR;
    let mut used = Vec::new();
    for (index, number) in numbers.enumerate() {
        let actual = flash_crc(link, u32::from(number) * SECTOR_SPAN, SECTOR)?;
        if actual != crc32(&[ERASED; SECTOR]) {
            used.push(number);
        }
        progress(Progress { step: "comparing", done: (index + 1) * SECTOR, total });
    }
    Ok(used)
}

/// Erases sectors other than the boot sector, in the order given, and verifies each.
///
/// # Errors
/// Returns [`FlashError`] for the first sector that can't be erased or verified. Those before it
/// are erased.
pub fn erase_sectors(
    link: &mut Link,
    numbers: &[u16],
    mut progress: impl FnMut(Progress),
) -> Result<(), FlashError> {
    let total = numbers.len() * SECTOR;
    for (index, &number) in numbers.iter().enumerate() {
        let sector = Sector { number, bytes: vec![ERASED; SECTOR], blank: false };
        erase(link, &sector)?;
        verify(link, &sector, 0)?;
        progress(Progress { step: "erasing", done: (index + 1) * SECTOR, total });
    }
    Ok(())
}

/// Erases the boot sector. Afterwards the board does not start.
///
/// # Errors
/// Returns [`FlashError::StillResponding`] if the board still replies afterwards, or another
/// [`FlashError`] if the sector can't be erased.
pub fn erase_boot_sector(link: &mut Link, monitor: &Identity) -> Result<(), FlashError> {
    let blank = [ERASED; SECTOR];
    loader::upload_all(link, monitor, STAGING_ADDRESS, &blank, |_| {})?;
    let operation = "erasing the boot sector";
    let processing_time = REPLY_TIMEOUT + CRC_TIME_PER_BYTE * SECTOR_SPAN;
    match flash_request(
        link,
        operation,
        FlashRequest::Boot { crc: crc32(&blank) },
        processing_time,
    )? {
        FlashReply::Booting => {}
        other => return Err(unexpected_flash_reply(operation, &other).into()),
    }
    link.drain_banner(operation, REBOOT_TIMEOUT)?;
    match loader::identify(link) {
        Ok(identity) => Err(FlashError::StillResponding(Box::new(identity))),
        Err(LinkError::Timeout { .. } | LinkError::Corrupted { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
