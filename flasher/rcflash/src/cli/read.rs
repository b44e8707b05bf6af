//! `rcflash read`.

use cli_support::text::Show;
use std::path::PathBuf;

use crate::programmer::Format;
use clap::Args;
use cli_support::exit::{Failure, Outcome, USAGE};
use firmware_wire::Identity;
use rcflash_link::Link;
use rcflash_link::flash::{self, SECTOR};
use rcflash_link::inspect::{self, AddressSpace};

use super::image;
use super::program::hexadecimal;
use super::target::{BoardArgs, UNCHANGED, or_interrupted};
use super::write::progress_bar;

#[derive(Args)]
pub(super) struct ReadArgs {
    #[command(flatten)]
    board: BoardArgs,
    /// The file to write: binary if named .bin, .rom or .img, Intel HEX if named .hex or .ihx
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// First and last address, in hexadecimal; with --flash they are the chip's, and without them
    /// it is read whole
    #[arg(long, value_name = "HEX-HEX", value_parser = range, required_unless_present = "flash")]
    range: Option<Range>,
    /// Read the flash chip instead of what the processor sees
    #[arg(long)]
    flash: bool,
}

/// First and last address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) first: u32,
    pub(super) last: u32,
}

impl Range {
    fn size(self) -> usize {
        (self.last - self.first) as usize + 1
    }
}

/// A range on the command line.
pub(super) fn range(text: &str) -> Result<Range, String> {
    let wrong = || "a range is its first and its last address, such as 8000-8FFF".to_owned();
    let (first, last) = text.split_once('-').ok_or_else(wrong)?;
    let first = hexadecimal(first)?;
    let last = hexadecimal(last)?;
    if first <= last { Ok(Range { first, last }) } else { Err(wrong()) }
}

pub(super) fn read(args: &ReadArgs) -> Outcome {
    if let Some(range) = args.range.filter(|range| !args.flash && range.last > 0xFFFF) {
        let problem = format!("{:X}h: memory ends at FFFFh; --flash reads the chip", range.last);
        return Err(Failure::new(USAGE, problem));
    }
    let format = Format::of(&args.output, None)?;
    let (mut link, monitor) = args.board.target()?.reach()?;
    let (place, range) = or_interrupted(find(args, &mut link, &monitor), UNCHANGED)?;
    let bar = progress_bar(range.size());
    let bytes = inspect::read(&mut link, place, range.first, range.size(), |done| {
        bar.set_position(done as u64);
    });
    bar.finish_and_clear();
    let bytes = or_interrupted(bytes, UNCHANGED)?;
    image::write(&args.output, &format.encode(range.first, &bytes))?;
    let path = args.output.shown();
    let count = range.size();
    cli_support::tell!("{path}: {count} bytes from {:04X}h on", range.first);
    Ok(0)
}

/// Returns the place to read from.
fn find(
    args: &ReadArgs,
    link: &mut Link,
    monitor: &Identity,
) -> Result<(AddressSpace, Range), Failure> {
    let asked = args.range.unwrap_or(Range { first: 0, last: u32::MAX });
    if !args.flash {
        return Ok((AddressSpace::Memory, asked));
    }
    let chip = flash::chip(link, monitor)?;
    cli_support::tell!("{chip}");
    let end = u32::from(chip.sectors) * SECTOR as u32 - 1;
    if args.range.is_some_and(|range| range.last > end) {
        let problem = format!("{:05X}h: the chip ends at {end:05X}h", asked.last);
        return Err(Failure::new(USAGE, problem));
    }
    Ok((AddressSpace::Flash, Range { last: asked.last.min(end), ..asked }))
}
