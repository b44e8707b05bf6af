//! Erases sectors, and proves that they are.

use std::ops::RangeInclusive;

use firmware_wire::{FlashReply, FlashRequest, Identity, crc32};

use super::boot::{REBOOT, STAGE};
use super::{AT_ONCE, CHECK_PER_BYTE, ERASED, FlashError, Progress, SECTOR, SECTOR_SPAN, Sector};
use super::{ask, check, erase, nonsense, verify};
use crate::loader;
use crate::{Link, LinkError};

/// Finds the sectors that hold something.
///
/// # Errors
/// They are not the chip's, or the link failed.
pub fn used_sectors(
    link: &mut Link,
    numbers: RangeInclusive<u16>,
    mut progress: impl FnMut(Progress),
) -> Result<Vec<u16>, FlashError> {
    let total = numbers.len() * SECTOR;
    let mut used = Vec::new();
    for (index, number) in numbers.enumerate() {
        let there = check(link, u32::from(number) * SECTOR_SPAN, SECTOR)?;
        if there != crc32(&[ERASED; SECTOR]) {
            used.push(number);
        }
        progress(Progress { step: "comparing", done: (index + 1) * SECTOR, total });
    }
    Ok(used)
}

/// Erases sectors other than the boot sector, in their order, and has the board check each.
///
/// # Errors
/// What kept one from being erased; those before it are.
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

/// Erases the boot sector; afterwards nobody listens on the board.
///
/// # Errors
/// [`FlashError::StillThere`] when the monitor answers nevertheless, and what else kept it from
/// being erased.
pub fn erase_boot_sector(link: &mut Link, monitor: &Identity) -> Result<(), FlashError> {
    let blank = [ERASED; SECTOR];
    loader::load(link, monitor, STAGE, &blank, |_| {})?;
    let what = "erasing the boot sector";
    let work = AT_ONCE + CHECK_PER_BYTE * SECTOR_SPAN;
    match ask(link, what, FlashRequest::Boot { crc: crc32(&blank) }, work)? {
        FlashReply::Booting => {}
        other => return Err(nonsense(what, &other).into()),
    }
    link.hear_out(what, REBOOT)?;
    match loader::identify(link) {
        Ok(identity) => Err(FlashError::StillThere(Box::new(identity))),
        Err(LinkError::Timeout { .. } | LinkError::Damaged { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
