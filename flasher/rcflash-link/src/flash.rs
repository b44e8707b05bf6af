//! Writes a board's flash chip through the resident monitor: only the sectors that differ, each
//! verified by the board.
//!
//! No state is stored: sectors that differ are written, so an interrupted write is resumed by
//! running it again. A program's header is written last (`firmware_wire::flash_program`), so the
//! monitor does not start a program that is only half written.

mod boot;
mod erase;
mod error;
mod image;

use std::ops::Range;
use std::time::Duration;

use firmware_wire::flash_program;
use firmware_wire::{
    ChipIdentity, ErrorCode, FlashReply, FlashRequest, Identity, MAX_BLOCK, Reply, Request,
    capability, crc32,
};

use crate::chip::{
    CRC_TIME_PER_BYTE, REPLY_TIMEOUT, SECTOR_SPAN, flash_crc, flash_request, unexpected_flash_reply,
};
use crate::inspect::{self, AddressSpace};
use crate::loader::pipeline;
use crate::narrow::narrow;
use crate::{Link, LinkError};

pub use crate::chip::SECTOR;
pub use boot::{boot_sector_differs, replace_boot_sector};
pub use erase::{erasable_sectors, erase_boot_sector, erase_sectors, used_sectors};
pub use error::FlashError;
pub use image::{FlashImage, FlashImageError};

/// The number of the sector that holds the monitor.
const BOOT_SECTOR: u16 = 0;
const ERASED: u8 = 0xFF;
/// The processing time of an erasure. The board itself gives up after 0.4 s at 7.37 MHz and after
/// 0.8 s at half of that clock.
const ERASE_TIMEOUT: Duration = Duration::from_secs(1);

/// The progress of a step, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The current step, such as "writing".
    pub step: &'static str,
    /// Bytes completed.
    pub done: usize,
    /// Bytes in total.
    pub total: usize,
}

/// A sector and its new bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sector {
    /// The number of the sector, from 0 at the start of the chip.
    pub number: u16,
    /// All bytes of the sector.
    bytes: Vec<u8>,
    /// Whether the sector is erased already.
    blank: bool,
}

impl Sector {
    fn address(&self) -> u32 {
        u32::from(self.number) * SECTOR_SPAN
    }

    /// Returns the number of bytes at its start that are programmed last: a program's header.
    fn header(&self) -> usize {
        if self.address() == u32::from(flash_program::HEADER_ADDRESS) {
            flash_program::HEADER_BYTES
        } else {
            0
        }
    }
}

/// The number of sectors that a write changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WriteSummary {
    /// Sectors erased.
    pub erased: usize,
    /// Sectors programmed.
    pub programmed: usize,
}

/// Identifies the board's flash chip.
///
/// # Errors
/// Returns [`FlashError::NoFlash`] if the monitor can't write flash, or [`FlashError::Link`] if it
/// does not support the chip.
pub fn chip(link: &mut Link, monitor: &Identity) -> Result<ChipIdentity, FlashError> {
    if monitor.capabilities & capability::WRITES_FLASH == 0 {
        return Err(FlashError::NoFlash(Box::new(monitor.clone())));
    }
    link.set_window(monitor.window);
    match flash_request(link, "identifying the flash chip", FlashRequest::Chip, REPLY_TIMEOUT)? {
        FlashReply::Chip(chip) => Ok(chip),
        other => Err(unexpected_flash_reply("identifying the flash chip", &other).into()),
    }
}

/// Returns the sectors that differ from `image`; with `force`, all that it touches and that can be
/// written. If the image contains only a part of a sector, the other bytes stay unchanged. The boot
/// sector is left out ([`boot_sector_differs`] compares it).
///
/// # Errors
/// Returns [`FlashError::Image`] if the image does not fit the chip, [`FlashError::Protected`] if
/// a protected sector other than the boot sector differs, or [`FlashError::Link`].
pub fn changed_sectors(
    link: &mut Link,
    chip: &ChipIdentity,
    image: &FlashImage,
    force: bool,
    mut progress: impl FnMut(Progress),
) -> Result<Vec<Sector>, FlashError> {
    image.check_fits(chip)?;
    let numbers: Vec<u16> = image.sectors().filter(|number| *number != BOOT_SECTOR).collect();
    let total = numbers.len() * SECTOR;
    let mut changed = Vec::new();
    for (index, number) in numbers.into_iter().enumerate() {
        let is_protected = number < chip.protected_sectors();
        match diff_sector(link, image, number, force && !is_protected)? {
            Some(_) if is_protected => return Err(FlashError::Protected(number..=number)),
            differing => changed.extend(differing),
        }
        progress(Progress { step: "comparing", done: (index + 1) * SECTOR, total });
    }
    Ok(changed)
}

/// Returns the new bytes of a sector, or `None` if it does not differ.
fn diff_sector(
    link: &mut Link,
    image: &FlashImage,
    number: u16,
    force: bool,
) -> Result<Option<Sector>, FlashError> {
    let first = u32::from(number) * SECTOR_SPAN;
    let is_covered = image.covers(number);
    if !is_covered && !force && parts_match(link, image, number)? {
        return Ok(None);
    }
    // A CRC costs a few bytes on the line, a sector costs 4 KiB. So the bytes are read only if some
    // of them must be preserved, which is not the case for a blank sector or one that the image
    // covers completely.
    let actual = flash_crc(link, first, SECTOR)?;
    let blank = actual == crc32(&[ERASED; SECTOR]);
    let mut bytes = if is_covered || blank {
        vec![ERASED; SECTOR]
    } else {
        inspect::read(link, AddressSpace::Flash, first, SECTOR, |_| {})?
    };
    for (address, part) in image.in_sector(number) {
        bytes[(address - first) as usize..][..part.len()].copy_from_slice(part);
    }
    let is_same = actual == crc32(&bytes);
    Ok((force || !is_same).then_some(Sector { number, bytes, blank }))
}

/// Returns `true` if the runs of the image within a sector match.
fn parts_match(link: &mut Link, image: &FlashImage, number: u16) -> Result<bool, FlashError> {
    for (address, bytes) in image.in_sector(number) {
        if flash_crc(link, address, bytes.len())? != crc32(bytes) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Erases and programs sectors and verifies each. At the end, checks that the board rejects a wrong
/// CRC.
///
/// # Errors
/// Returns [`FlashError`] if erasing, programming or verifying a sector fails.
pub fn write(
    link: &mut Link,
    sectors: &[Sector],
    mut progress: impl FnMut(Progress),
) -> Result<WriteSummary, FlashError> {
    let total = sectors.len() * SECTOR;
    let mut written = WriteSummary::default();
    // An old header must not remain valid while the program behind it is replaced.
    for sector in sectors.iter().filter(|sector| sector.header() > 0) {
        written.erased += erase(link, sector)?;
    }
    for (index, sector) in sectors.iter().enumerate() {
        if sector.header() == 0 {
            written.erased += erase(link, sector)?;
        }
        program(link, sector, sector.header()..SECTOR, |done| {
            progress(Progress { step: "writing", done: index * SECTOR + done, total });
        })?;
        verify(link, sector, sector.header())?;
        written.programmed += 1;
        progress(Progress { step: "writing", done: (index + 1) * SECTOR, total });
    }
    // The header makes a program valid, so it is written after everything else was verified. A
    // board that loses power before that does not start the program.
    for sector in sectors.iter().filter(|sector| sector.header() > 0) {
        program(link, sector, 0..sector.header(), |_| {})?;
        verify(link, sector, 0)?;
    }
    // Last, on a sector that has just passed: a monitor that replies Verified to any CRC would have
    // passed all the others, too.
    if let Some(sector) = sectors.last() {
        check_wrong_crc_is_rejected(link, sector)?;
    }
    Ok(written)
}

fn erase(link: &mut Link, sector: &Sector) -> Result<usize, FlashError> {
    if sector.blank {
        return Ok(0);
    }
    match flash_request(
        link,
        "erasing flash",
        FlashRequest::Erase { sector: sector.number },
        ERASE_TIMEOUT,
    )? {
        FlashReply::Erased(number) if number == sector.number => Ok(1),
        other => Err(unexpected_flash_reply("erasing flash", &other).into()),
    }
}

/// Programs a part of a sector except erased blocks; `progress` receives the offset in it.
fn program(
    link: &mut Link,
    sector: &Sector,
    part: Range<usize>,
    mut progress: impl FnMut(usize),
) -> Result<(), LinkError> {
    let block = |first: usize| first..part.end.min(first + MAX_BLOCK);
    let is_written =
        |range: &Range<usize>| sector.bytes[range.clone()] != [ERASED; SECTOR][range.clone()];
    let blocks: Vec<_> = part.clone().step_by(MAX_BLOCK).map(block).filter(is_written).collect();
    let at = |range: &Range<usize>| sector.address() + narrow::<_, u32>(range.start);
    let requests = blocks.iter().map(|range| {
        let data = sector.bytes[range.clone()].to_vec();
        Request::Flash(FlashRequest::Program { address: at(range), data })
    });
    pipeline(link, "programming flash", requests, REPLY_TIMEOUT, |index, reply| {
        let range = &blocks[index];
        progress(range.end);
        reply
            == Reply::Flash(FlashReply::Programmed {
                address: at(range),
                count: narrow(range.len()),
            })
    })
}

/// Has the board verify a sector from an offset to its end.
fn verify(link: &mut Link, sector: &Sector, from: usize) -> Result<(), FlashError> {
    let bytes = &sector.bytes[from..];
    let crc = crc32(bytes);
    match verify_on_board(link, sector.address() + narrow::<_, u32>(from), bytes.len(), crc)? {
        None => Ok(()),
        Some(actual) => Err(FlashError::Verify {
            sector: sector.number,
            expected: (crc & 0xFFFF) as u16,
            actual,
        }),
    }
}

/// Checks that VERIFY rejects a wrong CRC; otherwise a passed verification proves nothing.
fn check_wrong_crc_is_rejected(link: &mut Link, sector: &Sector) -> Result<(), FlashError> {
    let wrong = !crc32(&sector.bytes);
    match verify_on_board(link, sector.address(), SECTOR, wrong)? {
        Some(_) => Ok(()),
        None => Err(FlashError::VerifyUnreliable),
    }
}

/// Has the board compare a CRC; returns the low half of its own if it differs.
fn verify_on_board(
    link: &mut Link,
    address: u32,
    length: usize,
    crc: u32,
) -> Result<Option<u16>, FlashError> {
    let request = FlashRequest::Verify { address, length: narrow(length), crc };
    let operation = "verifying flash";
    match flash_request(
        link,
        operation,
        request,
        REPLY_TIMEOUT + CRC_TIME_PER_BYTE * narrow(length),
    ) {
        Ok(FlashReply::Verified) => Ok(None),
        Ok(other) => Err(unexpected_flash_reply(operation, &other).into()),
        Err(LinkError::Refused { error, .. }) if error.code == ErrorCode::Verify => {
            Ok(Some(error.detail))
        }
        Err(error) => Err(error.into()),
    }
}
