//! `rcflash erase`.

use clap::Args;
use cli_support::exit::{CommandError, CommandResult, ENVIRONMENT, USAGE};
use firmware_wire::{ChipIdentity, Identity};
use rcflash_link::Link;
use rcflash_link::flash::{self, FlashError, SECTOR};

use super::flash::{INTERRUPTED_BOOT_WRITE, StepBar, sector_count};
use super::read::{AddressRange, parse_range};
use super::target::{BOARD_UNCHANGED, BoardArgs, with_state_if_interrupted};

/// State of the board after an interrupted erasure.
const INTERRUPTED_ERASE: &str = "the board's monitor is still running, some sectors are erased; \
                           repeat the command to erase the rest";

#[derive(Args)]
pub(super) struct EraseArgs {
    #[command(flatten)]
    board: BoardArgs,
    /// First and last address in the chip, in hexadecimal: whole sectors of 1000h bytes
    #[arg(
        long,
        value_name = "HEX-HEX",
        value_parser = parse_range,
        required_unless_present = "all"
    )]
    range: Option<AddressRange>,
    /// Erase the whole chip except the boot sector
    #[arg(long, conflicts_with = "range")]
    all: bool,
    /// Also erase the boot sector (0000-0FFF); the board then needs an EPROM programmer
    #[arg(long)]
    boot_sector: bool,
    /// Print which sectors are not blank, and erase nothing
    #[arg(long)]
    dry_run: bool,
}

/// The sectors to erase that are not blank, without the boot sector.
struct ErasePlan {
    used: Vec<u16>,
    /// The number of sectors that were compared with blank ones.
    compared: usize,
    /// Erase the boot sector, too.
    boot: bool,
}

pub(super) fn erase(args: &EraseArgs) -> CommandResult {
    check_range(args)?;
    let (mut link, monitor) = args.board.target()?.connect_to_monitor()?;
    let looked = sectors_to_erase(args, &mut link, &monitor);
    let ErasePlan { used, compared, boot } = with_state_if_interrupted(looked, BOARD_UNCHANGED)?;
    if args.dry_run {
        print_sectors_to_erase(&used, boot);
        return Ok(0);
    }
    let mut bar = StepBar::default();
    let erased = flash::erase_sectors(&mut link, &used, |at| bar.show(at));
    bar.clear();
    with_state_if_interrupted(erased, INTERRUPTED_ERASE)?;
    match used.len() {
        0 if compared == 0 => {}
        0 => cli_support::eprint_message!("the sectors are already blank, nothing was erased"),
        count => cli_support::eprint_message!(
            "{} erased, verified blank on the board",
            sector_count(count)
        ),
    }
    if boot {
        let erased = flash::erase_boot_sector(&mut link, &monitor);
        with_state_if_interrupted(erased, INTERRUPTED_BOOT_WRITE)?;
        cli_support::eprint_message!("boot sector erased: the board has no monitor now");
    }
    Ok(0)
}

/// Checks the range as far as possible without a board.
fn check_range(args: &EraseArgs) -> Result<(), CommandError> {
    let Some(AddressRange { first, last }) = args.range else { return Ok(()) };
    let sector = SECTOR as u32;
    let whole = (first / sector * sector, (last / sector + 1) * sector - 1);
    if (first, last) != whole {
        let (start, end) = whole;
        let problem = format!(
            "invalid range {first:04X}-{last:04X}: expected whole sectors, as in \
             {start:04X}-{end:04X}"
        );
        return Err(CommandError::new(USAGE, problem));
    }
    if first == 0 && !args.boot_sector {
        let problem = "the boot sector (0000h-0FFFh) contains the monitor, without which the board \
                       needs an EPROM programmer: start at 1000, or pass --boot-sector";
        return Err(CommandError::new(USAGE, problem));
    }
    Ok(())
}

fn sectors_to_erase(
    args: &EraseArgs,
    link: &mut Link,
    monitor: &Identity,
) -> Result<ErasePlan, CommandError> {
    let chip = flash::chip(link, monitor)?;
    cli_support::eprint_message!("{chip}");
    let range = args.range.unwrap_or_else(|| unprotected(&chip));
    let boot = args.boot_sector && (args.all || range.first == 0);
    let sectors = flash::erasable_sectors(&chip, range.first, range.last).map_err(plan_error)?;
    if sectors.is_empty() && !boot {
        let problem = "nothing can be erased: the board protects the whole chip";
        return Err(CommandError::new(ENVIRONMENT, problem));
    }
    let compared = sectors.len();
    let mut bar = StepBar::default();
    let used = flash::used_sectors(link, sectors, |at| bar.show(at));
    bar.clear();
    Ok(ErasePlan { used: used?, compared, boot })
}

/// Returns the addresses of all sectors that can be erased, and prints which ones can't.
fn unprotected(chip: &ChipIdentity) -> AddressRange {
    let protected = chip.protected_sectors();
    if protected > 1 {
        cli_support::eprint_message!(
            "sectors 1 to {} are protected and stay as they are",
            protected - 1
        );
    }
    // If all are protected, this is the boot sector, which `erasable_sectors` leaves out.
    let first = if protected == chip.sectors() { 0 } else { u32::from(protected) * SECTOR as u32 };
    let last = if first == 0 { SECTOR as u32 - 1 } else { chip.last_address() };
    AddressRange { first, last }
}

/// Returns the error for a range that this chip does not have, or protects.
fn plan_error(error: FlashError) -> CommandError {
    match error {
        FlashError::OutsideChip { .. } | FlashError::Protected(_) => {
            CommandError::new(USAGE, error)
        }
        error => error.into(),
    }
}

fn print_sectors_to_erase(used: &[u16], boot: bool) {
    let boot = boot.then(|| "0 (the boot sector)".to_owned());
    let numbers: Vec<_> = boot.into_iter().chain(used.iter().map(ToString::to_string)).collect();
    match numbers.len() {
        0 => cli_support::eprint_message!("the sectors are already blank; nothing would be erased"),
        count => {
            cli_support::eprint_message!(
                "{} would be erased: {}",
                sector_count(count),
                numbers.join(", ")
            )
        }
    }
}
