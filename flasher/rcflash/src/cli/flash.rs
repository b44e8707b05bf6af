//! `rcflash write --flash`.

use clap::Args;
use cli_support::exit::{CommandError, CommandResult};
use firmware_wire::Identity;
use indicatif::ProgressBar;
use rcflash_link::Link;
use rcflash_link::flash::{self, FlashError, FlashImage, Progress, SECTOR, Sector};

use super::program::{FlashPlacement, FlashProgram, ProgramArgs};
use super::target::{BOARD_UNCHANGED, BoardArgs, with_state_if_interrupted};
use super::write::{progress_bar, start};

/// Heading of the help.
const FLASH: &str = "Flash";
/// State of the board after an interrupted write to flash.
const INTERRUPTED_FLASH_WRITE: &str = "the board's monitor is still running, flash may be partly \
                            written; repeat the command to write the rest";
/// State of the board after an interrupted write to the boot sector.
pub(super) const INTERRUPTED_BOOT_WRITE: &str = "the boot sector may be incomplete: keep the \
                              board powered, and run `rcflash probe` in 3 s";

#[derive(Args)]
pub(super) struct FlashArgs {
    /// Write to the board's flash instead of its RAM; only sectors that differ are written
    #[arg(long, conflicts_with = "via", help_heading = FLASH)]
    flash: bool,
    /// Also replace the boot sector, which contains the monitor
    ///
    /// Without a file, it is replaced by the built-in monitor.
    #[arg(long, requires = "flash", help_heading = FLASH, hide_short_help = true)]
    boot_sector: bool,
    /// Start the program after each reset, unless the monitor receives a byte first
    #[arg(long, requires = "flash", help_heading = FLASH)]
    autostart: bool,
    /// Write blocks (with --flash: sectors) that already match
    #[arg(long, conflicts_with = "via")]
    pub(super) force: bool,
}

impl FlashArgs {
    pub(super) fn is_enabled(&self) -> bool {
        self.flash
    }

    fn placement(&self) -> FlashPlacement {
        FlashPlacement { autostart: self.autostart, boot_sector: self.boot_sector }
    }
}

pub(super) struct FlashOptions {
    /// Compare only.
    pub(super) dry_run: bool,
    /// Start the program.
    pub(super) run: bool,
}

pub(super) fn write(
    args: &FlashArgs,
    options: &FlashOptions,
    program: &ProgramArgs,
    board: &BoardArgs,
) -> CommandResult {
    let program = program.for_flash(&board.profile()?, args.placement())?;
    if options.dry_run && !board.has_port() {
        print_candidate_sectors(&program);
        return Ok(0);
    }
    let (mut link, monitor) = board.target()?.connect_to_monitor()?;
    let (sectors, boot) = with_state_if_interrupted(
        changed_sectors(args, &mut link, &monitor, &program),
        BOARD_UNCHANGED,
    )?;
    if options.dry_run {
        print_changed_sectors(&program.name, &sectors, boot.is_some());
        return Ok(0);
    }
    if !sectors.is_empty() || boot.is_none() {
        program_sectors(&mut link, &program.name, &sectors)?;
    }
    if let Some(bytes) = boot {
        let replaced = flash::replace_boot_sector(&mut link, &monitor, &bytes);
        let running = with_state_if_interrupted(replaced, INTERRUPTED_BOOT_WRITE)?;
        cli_support::eprint_message!("the boot sector is replaced and verified: {running}");
    }
    match program.entry {
        Some((entry, build_id)) if options.run => start(&mut link, entry, build_id)?,
        _ => {}
    }
    Ok(0)
}

/// Returns the sectors to write, and the boot sector if it is to be replaced.
fn changed_sectors(
    args: &FlashArgs,
    link: &mut Link,
    monitor: &Identity,
    program: &FlashProgram,
) -> Result<(Vec<Sector>, Option<[u8; SECTOR]>), FlashError> {
    let chip = flash::chip(link, monitor)?;
    cli_support::eprint_message!("{chip}");
    let mut bar = StepBar::default();
    let compared =
        flash::changed_sectors(link, &chip, &program.content, args.force, |at| bar.show(at));
    bar.clear();
    Ok((compared?, boot_sector(args, link, &program.content)?))
}

fn program_sectors(link: &mut Link, name: &str, sectors: &[Sector]) -> Result<(), CommandError> {
    let mut bar = StepBar::default();
    let written = flash::write(link, sectors, |at| bar.show(at));
    bar.clear();
    let written = with_state_if_interrupted(written, INTERRUPTED_FLASH_WRITE)?;
    match written.programmed {
        0 => cli_support::eprint_message!(
            "{name}: already in flash, nothing was written; --force writes it again"
        ),
        count => cli_support::eprint_message!(
            "{name}: {} written, {} erased first; verified on the board, wrong CRC rejected",
            sector_count(count),
            written.erased
        ),
    }
    Ok(())
}

fn boot_sector(
    args: &FlashArgs,
    link: &mut Link,
    content: &FlashImage,
) -> Result<Option<[u8; SECTOR]>, FlashError> {
    let Some(bytes) = content.boot_sector() else { return Ok(None) };
    match (flash::boot_sector_differs(link, &bytes)?, args.boot_sector) {
        (true, false) => Err(FlashError::BootSector),
        (differs, _) => Ok((differs || args.boot_sector && args.force).then_some(bytes)),
    }
}

fn print_candidate_sectors(program: &FlashProgram) {
    let numbers: Vec<_> = program.content.sectors().map(|number| number.to_string()).collect();
    cli_support::eprint_message!(
        "{}: of {} those that differ would be written: {}; give --port to compare them with a \
         board",
        program.name,
        sector_count(numbers.len()),
        numbers.join(", ")
    );
}

fn print_changed_sectors(name: &str, sectors: &[Sector], boot: bool) {
    let mut numbers: Vec<_> = sectors.iter().map(|sector| sector.number.to_string()).collect();
    if boot {
        numbers.insert(0, "0 (the boot sector)".to_owned());
    }
    match numbers.len() {
        0 => cli_support::eprint_message!("{name}: already in flash; nothing would be written"),
        count => {
            cli_support::eprint_message!(
                "{name}: {} would be written: {}",
                sector_count(count),
                numbers.join(", ")
            );
        }
    }
}

pub(super) fn sector_count(count: usize) -> String {
    format!("{count} sector{}", if count == 1 { "" } else { "s" })
}

/// A progress bar for each step, drawn on a terminal only.
#[derive(Default)]
pub(super) struct StepBar(Option<(&'static str, ProgressBar)>);

impl StepBar {
    pub(super) fn show(&mut self, at: Progress) {
        if self.0.as_ref().is_none_or(|(step, _)| *step != at.step) {
            self.clear();
            self.0 = Some((at.step, progress_bar(at.total).with_message(at.step)));
        }
        if let Some((_, bar)) = &self.0 {
            bar.set_position(at.done as u64);
        }
    }

    pub(super) fn clear(&mut self) {
        if let Some((_, bar)) = self.0.take() {
            bar.finish_and_clear();
        }
    }
}
