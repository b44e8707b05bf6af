//! `rcflash read`.

use cli_support::text::Escape;
use std::path::PathBuf;

use crate::programmer::Format;
use clap::Args;
use cli_support::exit::{CommandError, CommandResult, USAGE};
use cli_support::files::write_output;
use firmware_wire::Identity;
use rcflash_link::inspect::{self, AddressSpace};
use rcflash_link::{Link, flash};

use super::program::parse_address;
use super::target::{BOARD_UNCHANGED, BoardArgs, with_state_if_interrupted};
use super::write::progress_bar;

#[derive(Args)]
pub(super) struct ReadArgs {
    #[command(flatten)]
    board: BoardArgs,
    /// Output file: binary if named .bin, .rom or .img, Intel HEX if named .hex or .ihx
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// First and last address, in hexadecimal; with --flash, addresses in the chip
    ///
    /// With --flash the default is the whole chip.
    #[arg(
        long,
        value_name = "HEX-HEX",
        value_parser = parse_range,
        required_unless_present = "flash"
    )]
    range: Option<AddressRange>,
    /// Read the flash chip instead of the memory that the processor sees
    #[arg(long)]
    flash: bool,
}

/// A range of addresses, `last` included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AddressRange {
    pub(super) first: u32,
    pub(super) last: u32,
}

impl AddressRange {
    fn size(self) -> usize {
        (self.last - self.first) as usize + 1
    }
}

pub(super) fn parse_range(text: &str) -> Result<AddressRange, String> {
    let wrong =
        || format!("invalid range '{text}': expected first and last address, as in 8000-8FFF");
    let (first, last) = text.split_once('-').ok_or_else(wrong)?;
    let first = parse_address(first)?;
    let last = parse_address(last)?;
    if first <= last { Ok(AddressRange { first, last }) } else { Err(wrong()) }
}

pub(super) fn read(args: &ReadArgs) -> CommandResult {
    if let Some(range) = args.range.filter(|range| !args.flash && range.last > 0xFFFF) {
        let problem =
            format!("{:X}h: memory ends at FFFFh; use --flash to read the chip", range.last);
        return Err(CommandError::new(USAGE, problem));
    }
    let format = Format::from_path(&args.output, None)?;
    let (mut link, monitor) = args.board.target()?.connect_to_monitor()?;
    let (place, range) =
        with_state_if_interrupted(resolve_range(args, &mut link, &monitor), BOARD_UNCHANGED)?;
    let bar = progress_bar(range.size());
    let bytes = inspect::read(&mut link, place, range.first, range.size(), |done| {
        bar.set_position(done as u64);
    });
    bar.finish_and_clear();
    let bytes = with_state_if_interrupted(bytes, BOARD_UNCHANGED)?;
    write_output(&args.output, &format.encode(range.first, &bytes))?;
    let path = args.output.escaped();
    let count = range.size();
    cli_support::eprint_message!("{path}: {count} bytes from {:04X}h", range.first);
    Ok(0)
}

fn resolve_range(
    args: &ReadArgs,
    link: &mut Link,
    monitor: &Identity,
) -> Result<(AddressSpace, AddressRange), CommandError> {
    let range = args.range.unwrap_or(AddressRange { first: 0, last: u32::MAX });
    if !args.flash {
        return Ok((AddressSpace::Memory, range));
    }
    let chip = flash::chip(link, monitor)?;
    cli_support::eprint_message!("{chip}");
    let end = chip.last_address();
    if args.range.is_some_and(|range| range.last > end) {
        let problem = format!("{:05X}h: the chip ends at {end:05X}h", range.last);
        return Err(CommandError::new(USAGE, problem));
    }
    Ok((AddressSpace::Flash, AddressRange { last: range.last.min(end), ..range }))
}
