//! `rcflash verify`.

use std::fmt::Write;

use clap::Args;
use cli_support::exit::{Failure, Outcome, WRONG};
use firmware_wire::Identity;
use rcflash_link::flash;
use rcflash_link::inspect::{self, AddressSpace, Mismatch};
use rcflash_link::{Link, LinkError};

use super::program::{InFlash, ProgramArgs};
use super::target::{BoardArgs, UNCHANGED, or_interrupted};
use super::write::progress_bar;

/// Most differences that are reported one by one.
const TOLD: usize = 8;

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

/// The bytes that are to be there, in stretches.
type Runs = Vec<(u32, Vec<u8>)>;

pub(super) fn verify(args: &VerifyArgs) -> Outcome {
    let (name, choices) = if args.flash { in_flash(args)? } else { in_memory(args)? };
    let (mut link, monitor) = args.board.target()?.reach()?;
    let place = if args.flash { AddressSpace::Flash } else { AddressSpace::Memory };
    or_interrupted(look(place, &mut link, &monitor), UNCHANGED)?;
    let mut found = Vec::new();
    for (index, runs) in choices.iter().enumerate() {
        let differences = or_interrupted(compare(&mut link, place, runs), UNCHANGED)?;
        if index == 0 || differences.len() < found.len() {
            found = differences;
        }
    }
    let total = choices.first().map_or(0, |runs| runs.iter().map(|(_, bytes)| bytes.len()).sum());
    match found.as_slice() {
        [] => cli_support::tell!("{name}: the board holds it, all {total} bytes"),
        found => return Err(Failure::new(WRONG, tell(&name, found, total))),
    }
    Ok(0)
}

fn in_memory(args: &VerifyArgs) -> Result<(String, Vec<Runs>), Failure> {
    let program = args.program.for_memory(&args.board.profile()?, false)?;
    let runs = program.image.runs().iter().map(|run| (run.address.into(), run.bytes.clone()));
    Ok((program.name, vec![runs.collect()]))
}

/// A program may have been written to be started after each reset, or not.
fn in_flash(args: &VerifyArgs) -> Result<(String, Vec<Runs>), Failure> {
    let profile = args.board.profile()?;
    let content = |autostart| {
        let how = InFlash { autostart, boot_sector: args.boot_sector };
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

/// Makes sure that there is such a place.
fn look(place: AddressSpace, link: &mut Link, monitor: &Identity) -> Result<(), flash::FlashError> {
    if place == AddressSpace::Flash {
        cli_support::tell!("{}", flash::chip(link, monitor)?);
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

fn tell(name: &str, found: &[Mismatch], total: usize) -> String {
    let mut text = format!("{name}: {} of {total} bytes differ on the board", found.len());
    for Mismatch { address, expected: wanted, actual: there } in found.iter().take(TOLD) {
        let _ = write!(text, "\n  {address:04X}h: {there:02X}h there, should be {wanted:02X}h");
    }
    if let Some(more) = found.len().checked_sub(TOLD).filter(|more| *more > 0) {
        let _ = write!(text, "\n  and {more} more");
    }
    text + "\n`rcflash write` puts it there"
}
