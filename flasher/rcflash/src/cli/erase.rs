//! `rcflash erase`.

use std::ops::RangeInclusive;

use clap::Args;
use cli_support::exit::{Failure, Outcome, USAGE};
use firmware_wire::{ChipIdentity, Identity};
use rcflash_link::Link;
use rcflash_link::flash::{self, SECTOR};

use super::flash::{BOOT_UNDER_WAY, Bar, sectors_of};
use super::read::{Range, range};
use super::target::{BoardArgs, UNCHANGED, or_interrupted};

/// State in which an interrupted erasure leaves a board.
const HALF_ERASED: &str = "the board's monitor still listens, some of the sectors are erased: \
                           erase again, and only the rest is";

#[derive(Args)]
pub(super) struct EraseArgs {
    #[command(flatten)]
    board: BoardArgs,
    /// First and last address of the chip, in hexadecimal; whole sectors of 1000h bytes
    #[arg(long, value_name = "HEX-HEX", value_parser = range, required_unless_present = "all")]
    range: Option<Range>,
    /// The whole chip, but for the boot sector
    #[arg(long, conflicts_with = "range")]
    all: bool,
    /// The boot sector (0000-0FFF), too: the board then needs a programmer to start again
    #[arg(long)]
    boot_sector: bool,
    /// Tell which sectors hold something, and erase nothing
    #[arg(long)]
    dry_run: bool,
}

/// The sectors to erase besides the boot sector, and whether that is one of them.
struct Order {
    sectors: RangeInclusive<u16>,
    boot: bool,
}

pub(super) fn erase(args: &EraseArgs) -> Outcome {
    check(args)?;
    let (mut link, monitor) = args.board.target()?.reach()?;
    let looked = look(args, &mut link, &monitor);
    let (used, boot) = or_interrupted(looked, UNCHANGED)?;
    if args.dry_run {
        say_what_would_be_erased(&used, boot);
        return Ok(0);
    }
    let mut bar = Bar::default();
    let erased = flash::erase_sectors(&mut link, &used, |at| bar.show(at));
    bar.clear();
    or_interrupted(erased, HALF_ERASED)?;
    match used.len() {
        0 => cli_support::tell!("the sectors are blank already, nothing was erased"),
        count => cli_support::tell!("{} erased, and found blank by the board", sectors_of(count)),
    }
    if boot {
        let erased = flash::erase_boot_sector(&mut link, &monitor);
        or_interrupted(erased, BOOT_UNDER_WAY)?;
        cli_support::tell!("the boot sector is erased: nobody listens on the board any more");
    }
    Ok(0)
}

/// Refuses what can be refused without the board.
fn check(args: &EraseArgs) -> Result<(), Failure> {
    let Some(Range { first, last }) = args.range else { return Ok(()) };
    let sector = SECTOR as u32;
    let whole = (first / sector * sector, (last / sector + 1) * sector - 1);
    if (first, last) != whole {
        let (start, end) = whole;
        let problem = format!(
            "{first:04X}h-{last:04X}h is no whole sectors; they are erased as a whole: \
             {start:04X}-{end:04X}"
        );
        return Err(Failure::new(USAGE, problem));
    }
    if first == 0 && !args.boot_sector {
        let problem = "the boot sector (0000h-0FFFh) holds the monitor, and without it the board \
                       needs a programmer: start at 1000, or ask for it with --boot-sector";
        return Err(Failure::new(USAGE, problem));
    }
    Ok(())
}

/// The sectors that hold something, and whether the boot sector is to be erased.
fn look(
    args: &EraseArgs,
    link: &mut Link,
    monitor: &Identity,
) -> Result<(Vec<u16>, bool), Failure> {
    let chip = flash::chip(link, monitor)?;
    cli_support::tell!("{chip}");
    let Order { sectors, boot } = order(args, &chip)?;
    let mut bar = Bar::default();
    let used = flash::used_sectors(link, sectors, |at| bar.show(at));
    bar.clear();
    Ok((used?, boot))
}

fn order(args: &EraseArgs, chip: &ChipIdentity) -> Result<Order, Failure> {
    let end = chip.sectors - 1;
    let Some(range) = args.range else {
        return Ok(Order { sectors: chip.kept.into()..=end, boot: args.boot_sector });
    };
    let sector = |address: u32| address / SECTOR as u32;
    if sector(range.last) > end.into() {
        let last = range.last;
        let size = usize::from(chip.sectors) * SECTOR - 1;
        return Err(Failure::new(USAGE, format!("{last:05X}h: the chip ends at {size:05X}h")));
    }
    let first = (sector(range.first) as u16).max(chip.kept.into());
    Ok(Order { sectors: first..=sector(range.last) as u16, boot: range.first == 0 })
}

fn say_what_would_be_erased(used: &[u16], boot: bool) {
    let boot = boot.then(|| "0 (the boot sector)".to_owned());
    let numbers: Vec<_> = boot.into_iter().chain(used.iter().map(ToString::to_string)).collect();
    match numbers.len() {
        0 => cli_support::tell!("the sectors are blank already; nothing would be erased"),
        count => {
            cli_support::tell!("{} would be erased: {}", sectors_of(count), numbers.join(", "))
        }
    }
}
