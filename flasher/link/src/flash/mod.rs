//! Writes a board's flash chip through the resident monitor: only the sectors that differ, proven
//! there.
//!
//! Nothing remembers how far a write has come. What differs is written, so a write that was broken
//! off is simply begun again. A program's header goes last (`firmware_wire::slot`): half a program
//! has none, and the monitor does not start it.

mod boot;
mod content;
mod erase;
mod error;

use std::ops::Range;
use std::time::Duration;

use firmware_wire::slot;
use firmware_wire::{
    ChipIdentity, ErrorCode, FlashReply, FlashRequest, Identity, MAX_BLOCK, Reply, Request,
    capability, crc32,
};

use crate::chip::{AT_ONCE, CHECK_PER_BYTE, SECTOR_SPAN, ask, check, nonsense};
use crate::inspect::{self, Place};
use crate::loader::ask_each;
use crate::narrow::narrow;
use crate::{Link, LinkError};

pub use crate::chip::SECTOR;
pub use boot::{boot_sector_differs, replace_boot_sector};
pub use content::{Content, ContentError};
pub use erase::{erase_boot_sector, erase_sectors, used_sectors};
pub use error::FlashError;

/// The value of an erased byte.
const ERASED: u8 = 0xFF;
/// The longest time for the erasure of a sector, which it gives up itself after 0.4 s at 7.37 MHz
/// and 0.8 s at half of that.
const ERASE: Duration = Duration::from_secs(1);

/// The progress of a step, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The step under way.
    pub step: &'static str,
    /// Of it, this is done.
    pub done: usize,
    /// Of so much.
    pub total: usize,
}

/// A sector, and what it is to hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sector {
    /// Counted from the start of the chip.
    pub number: u16,
    /// All its bytes.
    bytes: Vec<u8>,
    /// Whether it holds nothing yet.
    blank: bool,
}

impl Sector {
    fn address(&self) -> u32 {
        u32::from(self.number) * SECTOR_SPAN
    }

    /// Bytes at its start that are programmed last: those of a program's header.
    fn header(&self) -> usize {
        if self.address() == u32::from(slot::ADDRESS) { slot::HEADER } else { 0 }
    }
}

/// The outcome of a write.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Written {
    /// Sectors that were erased.
    pub erased: usize,
    /// Sectors that were programmed.
    pub programmed: usize,
}

/// Asks the board who its flash chip is.
///
/// # Errors
/// The monitor can't write flash, or no chip that it knows answers.
pub fn chip(link: &mut Link, monitor: &Identity) -> Result<ChipIdentity, FlashError> {
    if monitor.capabilities & capability::WRITES_FLASH == 0 {
        return Err(FlashError::NoFlash(Box::new(monitor.clone())));
    }
    link.set_window(monitor.window);
    match ask(link, "asking the flash chip who it is", FlashRequest::Chip, AT_ONCE)? {
        FlashReply::Chip(chip) => Ok(chip),
        other => Err(nonsense("asking the flash chip who it is", &other).into()),
    }
}

/// Finds the sectors that differ from the content; with `force` all that it touches are taken to
/// differ. Where the content covers a part of a sector, the rest is to stay as it is. The boot
/// sector is left out.
///
/// # Errors
/// The content does not fit the chip, or the link failed.
pub fn compare(
    link: &mut Link,
    chip: &ChipIdentity,
    content: &Content,
    force: bool,
    mut progress: impl FnMut(Progress),
) -> Result<Vec<Sector>, FlashError> {
    content.check_fits(chip)?;
    let numbers: Vec<u16> =
        content.sectors().filter(|number| *number >= u16::from(chip.kept)).collect();
    let total = numbers.len() * SECTOR;
    let mut differ = Vec::new();
    for (index, number) in numbers.into_iter().enumerate() {
        differ.extend(examine(link, content, number, force)?);
        progress(Progress { step: "comparing", done: (index + 1) * SECTOR, total });
    }
    Ok(differ)
}

/// Returns the wanted content of a sector, unless it is there already.
fn examine(
    link: &mut Link,
    content: &Content,
    number: u16,
    force: bool,
) -> Result<Option<Sector>, FlashError> {
    let first = u32::from(number) * SECTOR_SPAN;
    let is_covered = content.covers(number);
    if !is_covered && !force && parts_agree(link, content, number)? {
        return Ok(None);
    }
    // Checks are computed by the board and cost a few bytes on the line, a sector costs 4 KiB. So
    // the bytes are read only if some of them must survive: a sector that is covered whole or blank
    // has none of those.
    let there = check(link, first, SECTOR)?;
    let blank = there == crc32(&[ERASED; SECTOR]);
    let mut bytes = if is_covered || blank {
        vec![ERASED; SECTOR]
    } else {
        inspect::read(link, Place::Flash, first, SECTOR, |_| {})?
    };
    for (address, part) in content.within(number) {
        bytes[(address - first) as usize..][..part.len()].copy_from_slice(part);
    }
    let is_same = there == crc32(&bytes);
    Ok((force || !is_same).then_some(Sector { number, bytes, blank }))
}

/// Whether a sector holds what the content has of it.
fn parts_agree(link: &mut Link, content: &Content, number: u16) -> Result<bool, FlashError> {
    for (address, bytes) in content.within(number) {
        if check(link, address, bytes.len())? != crc32(bytes) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Erases and programs sectors, has the board check each, and lets it refuse a wrong check.
///
/// # Errors
/// What kept the sectors from holding what they should.
pub fn write(
    link: &mut Link,
    sectors: &[Sector],
    mut progress: impl FnMut(Progress),
) -> Result<Written, FlashError> {
    let total = sectors.len() * SECTOR;
    let mut written = Written::default();
    // A header that is there must not outlive the program behind it.
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
    // The header makes a program valid, so that it is written after everything else was verified. A
    // board that loses power before that starts nothing.
    for sector in sectors.iter().filter(|sector| sector.header() > 0) {
        program(link, sector, 0..sector.header(), |_| {})?;
        verify(link, sector, 0)?;
    }
    // Last, on a sector that has just passed: a monitor that answers Verified to whatever it is
    // given would have passed all the others, too.
    if let Some(sector) = sectors.last() {
        refuse(link, sector)?;
    }
    Ok(written)
}

fn erase(link: &mut Link, sector: &Sector) -> Result<usize, FlashError> {
    if sector.blank {
        return Ok(0);
    }
    match ask(link, "erasing flash", FlashRequest::Erase { sector: sector.number }, ERASE)? {
        FlashReply::Erased(number) if number == sector.number => Ok(1),
        other => Err(nonsense("erasing flash", &other).into()),
    }
}

/// Programs a part of a sector, but for blocks that are to stay erased. `progress` hears where in
/// the sector it is.
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
    ask_each(link, "programming flash", requests, AT_ONCE, |index, reply| {
        let range = &blocks[index];
        progress(range.end);
        reply
            == Reply::Flash(FlashReply::Programmed {
                address: at(range),
                count: narrow(range.len()),
            })
    })
}

/// Has the board compare a sector, from an offset on, with its check.
fn verify(link: &mut Link, sector: &Sector, from: usize) -> Result<(), FlashError> {
    let bytes = &sector.bytes[from..];
    let crc = crc32(bytes);
    match compare_there(link, sector.address() + narrow::<_, u32>(from), bytes.len(), crc)? {
        None => Ok(()),
        Some(there) => {
            Err(FlashError::Verify { sector: sector.number, here: (crc & 0xFFFF) as u16, there })
        }
    }
}

/// A board that agrees to everything proves nothing.
fn refuse(link: &mut Link, sector: &Sector) -> Result<(), FlashError> {
    let wrong = !crc32(&sector.bytes);
    match compare_there(link, sector.address(), SECTOR, wrong)? {
        Some(_) => Ok(()),
        None => Err(FlashError::Blind),
    }
}

/// Has the board compare; `None` when it agrees, else the low half of the check that it computed.
fn compare_there(
    link: &mut Link,
    address: u32,
    length: usize,
    crc: u32,
) -> Result<Option<u16>, FlashError> {
    let request = FlashRequest::Verify { address, length: narrow(length), crc };
    let what = "verifying flash";
    match ask(link, what, request, AT_ONCE + CHECK_PER_BYTE * narrow(length)) {
        Ok(FlashReply::Verified) => Ok(None),
        Ok(other) => Err(nonsense(what, &other).into()),
        Err(LinkError::Refused { error, .. }) if error.code == ErrorCode::Verify => {
            Ok(Some(error.detail))
        }
        Err(error) => Err(error.into()),
    }
}
