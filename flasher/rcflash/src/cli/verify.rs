//! `rcflash verify`.

use std::fmt::Write;

use clap::Args;
use cli_support::exit::{CommandError, CommandResult, FAILED};
use firmware_wire::Identity;
use rcflash_link::flash::{self, FlashError};
use rcflash_link::inspect::{self, AddressSpace, Mismatch};
use rcflash_link::loader::LoadError;
use rcflash_link::{Link, LinkError};

use super::program::{FlashPlacement, ProgramArgs};
use super::target::{BOARD_UNCHANGED, BoardArgs, with_state_if_interrupted};
use super::write::progress_bar;

/// Differing bytes that are listed.
const MAX_LISTED_MISMATCHES: usize = 8;

#[derive(Args)]
pub(super) struct VerifyArgs {
    #[command(flatten)]
    board: BoardArgs,
    #[command(flatten)]
    program: ProgramArgs,
    /// Compare with the board's flash instead of its memory
    #[arg(long)]
    flash: bool,
    /// Also compare the boot sector with the built-in monitor
    #[arg(long, requires = "flash", conflicts_with = "file")]
    boot_sector: bool,
}

/// Expected bytes by address.
type Runs = Vec<(u32, Vec<u8>)>;

pub(super) fn verify(args: &VerifyArgs) -> CommandResult {
    let (name, choices) =
        if args.flash { flash_candidates(args)? } else { memory_candidate(args)? };
    let total = choices.first().map_or(0, |runs| runs.iter().map(|(_, bytes)| bytes.len()).sum());
    if total == 0 {
        return Err(LoadError::Empty.into()); // to call nothing verified would be a false pass
    }
    let (mut link, monitor) = args.board.target()?.connect_to_monitor()?;
    let place = if args.flash { AddressSpace::Flash } else { AddressSpace::Memory };
    if place == AddressSpace::Flash {
        let checked = check_chip(&choices, &mut link, &monitor);
        with_state_if_interrupted(checked, BOARD_UNCHANGED)?;
    }
    let mut found = Vec::new();
    for (index, runs) in choices.iter().enumerate() {
        let differences =
            with_state_if_interrupted(compare(&mut link, place, runs), BOARD_UNCHANGED)?;
        if index == 0 || differences.len() < found.len() {
            found = differences;
        }
    }
    match found.as_slice() {
        [] => cli_support::eprint_message!("{name}: verified, all {total} bytes are on the board"),
        found => return Err(CommandError::new(FAILED, mismatch_report(&name, found, total))),
    }
    Ok(0)
}

fn memory_candidate(args: &VerifyArgs) -> Result<(String, Vec<Runs>), CommandError> {
    let program = args.program.for_memory(&args.board.profile()?, false)?;
    let runs = program.image.runs().iter().map(|run| (run.address.into(), run.bytes.clone()));
    Ok((program.name, vec![runs.collect()]))
}

/// Returns the images to compare with: the program may have been written with autostart or without.
fn flash_candidates(args: &VerifyArgs) -> Result<(String, Vec<Runs>), CommandError> {
    let profile = args.board.profile()?;
    let content = |autostart| {
        let how = FlashPlacement { autostart, boot_sector: args.boot_sector };
        args.program.for_flash(&profile, how)
    };
    let program = content(false)?;
    let mut choices = vec![program.content];
    if program.entry.is_some() {
        choices.push(content(true)?.content);
    }
    let runs = |content: &flash::FlashImage| {
        content.runs().map(|(address, bytes)| (address, bytes.to_vec())).collect()
    };
    Ok((program.name, choices.iter().map(runs).collect()))
}

/// Prints the flash chip, and checks that it has all addresses to compare.
fn check_chip(choices: &[Runs], link: &mut Link, monitor: &Identity) -> Result<(), FlashError> {
    let chip = flash::chip(link, monitor)?;
    cli_support::eprint_message!("{chip}");
    let last_address = |(address, bytes): &(u32, Vec<u8>)| {
        Some(u64::from(*address) + bytes.len().checked_sub(1)? as u64)
    };
    let last = choices.iter().flatten().filter_map(last_address).max().unwrap_or(0);
    let end = chip.last_address();
    if last > end.into() {
        let last = u32::try_from(last).unwrap_or(u32::MAX);
        return Err(FlashError::OutsideChip { last, end });
    }
    Ok(())
}

fn compare(link: &mut Link, place: AddressSpace, runs: &Runs) -> Result<Vec<Mismatch>, LinkError> {
    let bar = progress_bar(runs.iter().map(|(_, bytes)| bytes.len()).sum());
    let mut found = Vec::new();
    let mut before = 0;
    for (address, bytes) in runs {
        let compared = inspect::compare(link, place, *address, bytes, |done| {
            bar.set_position((before + done) as u64);
        });
        if compared.is_err() {
            bar.finish_and_clear();
        }
        found.extend(compared?);
        before += bytes.len();
    }
    bar.finish_and_clear();
    Ok(found)
}

fn mismatch_report(name: &str, found: &[Mismatch], total: usize) -> String {
    let mut text = format!("{name}: {} of {total} bytes differ on the board", found.len());
    for Mismatch { address, expected, actual } in found.iter().take(MAX_LISTED_MISMATCHES) {
        let _ = write!(text, "\n  {address:04X}h: {actual:02X}h, expected {expected:02X}h");
    }
    if let Some(more) = found.len().checked_sub(MAX_LISTED_MISMATCHES).filter(|more| *more > 0) {
        let _ = write!(text, "\n  and {more} more");
    }
    text + "\nto load it, run `rcflash write`"
}
