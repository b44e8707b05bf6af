//! `rcflash write --flash`.

use clap::Args;
use cli_support::exit::{Failure, Outcome};
use firmware_wire::Identity;
use indicatif::ProgressBar;
use rcflash_link::Link;
use rcflash_link::flash::{self, FlashError, FlashImage, Progress, SECTOR, Sector};

use super::program::{FlashProgram, InFlash, ProgramArgs};
use super::target::{BoardArgs, UNCHANGED, or_interrupted};
use super::write::{progress_bar, start};

/// State in which an interrupted write leaves the board.
const HALF_WRITTEN: &str = "the board's monitor still listens, what is in flash may be half \
                            written: write again, and only the rest is";
/// The same while the boot sector is replaced.
pub(super) const BOOT_UNDER_WAY: &str = "the boot sector may just be replaced: leave the board \
                              its power, and ask it again in 3 s by `rcflash probe`";

#[derive(Args)]
pub(super) struct FlashArgs {
    /// Write the board's flash through the monitor instead of its RAM: only the sectors that differ
    #[arg(long, conflicts_with = "via")]
    flash: bool,
    /// Also replace the boot sector, which holds the monitor: without a file, by the built-in
    /// monitor
    #[arg(long, requires = "flash")]
    boot_sector: bool,
    /// Have the monitor start the program after each reset; any byte that it hears then stops that
    #[arg(long, requires = "flash")]
    autostart: bool,
    /// Write what is there already, too: blocks of RAM, with --flash sectors
    #[arg(long, conflicts_with = "via")]
    pub(super) force: bool,
}

impl FlashArgs {
    pub(super) fn is_wanted(&self) -> bool {
        self.flash
    }

    fn how(&self) -> InFlash {
        InFlash { autostart: self.autostart, boot_sector: self.boot_sector }
    }
}

/// The rest of an order.
pub(super) struct Order {
    /// Compare only.
    pub(super) dry_run: bool,
    /// Start the program.
    pub(super) run: bool,
}

pub(super) fn write(
    args: &FlashArgs,
    order: &Order,
    program: &ProgramArgs,
    board: &BoardArgs,
) -> Outcome {
    let program = program.for_flash(&board.profile()?, args.how())?;
    if order.dry_run && !board.has_port() {
        say_what_would_be_compared(&program);
        return Ok(0);
    }
    let (mut link, monitor) = board.target()?.reach()?;
    let (sectors, boot) =
        or_interrupted(differing(args, &mut link, &monitor, &program), UNCHANGED)?;
    if order.dry_run {
        say_what_differs(&program.name, &sectors, boot.is_some());
        return Ok(0);
    }
    program_sectors(&mut link, &program.name, &sectors)?;
    if let Some(bytes) = boot {
        let replaced = flash::replace_boot_sector(&mut link, &monitor, &bytes);
        let running = or_interrupted(replaced, BOOT_UNDER_WAY)?;
        cli_support::tell!("the boot sector is replaced and verified: {running}");
    }
    match program.entry {
        Some((entry, speaks)) if order.run => start(&mut link, entry, speaks)?,
        _ => {}
    }
    Ok(0)
}

/// The sectors that are to be written, and the boot sector if it is.
fn differing(
    args: &FlashArgs,
    link: &mut Link,
    monitor: &Identity,
    program: &FlashProgram,
) -> Result<(Vec<Sector>, Option<[u8; SECTOR]>), FlashError> {
    let chip = flash::chip(link, monitor)?;
    cli_support::tell!("{chip}");
    let mut bar = Bar::default();
    let compared =
        flash::changed_sectors(link, &chip, &program.content, args.force, |at| bar.show(at));
    bar.clear();
    Ok((compared?, boot_sector(args, link, &program.content)?))
}

fn program_sectors(link: &mut Link, name: &str, sectors: &[Sector]) -> Result<(), Failure> {
    let mut bar = Bar::default();
    let written = flash::write(link, sectors, |at| bar.show(at));
    bar.clear();
    let written = or_interrupted(written, HALF_WRITTEN)?;
    match written.programmed {
        0 => cli_support::tell!(
            "{name}: flash holds it already, nothing was written; --force writes it"
        ),
        count => cli_support::tell!(
            "{name}: {} written, {} erased before; verified on the board, a wrong check refused",
            sectors_of(count),
            written.erased
        ),
    }
    Ok(())
}

/// The boot sector, if it is to be replaced.
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

fn say_what_would_be_compared(program: &FlashProgram) {
    let numbers: Vec<_> = program.content.sectors().map(|number| number.to_string()).collect();
    cli_support::tell!(
        "{}: of {} those that differ would be written: {}; --port tells which board to compare \
         them with",
        program.name,
        sectors_of(numbers.len()),
        numbers.join(", ")
    );
}

fn say_what_differs(name: &str, sectors: &[Sector], boot: bool) {
    let mut numbers: Vec<_> = sectors.iter().map(|sector| sector.number.to_string()).collect();
    if boot {
        numbers.insert(0, "0 (the boot sector)".to_owned());
    }
    match numbers.len() {
        0 => cli_support::tell!("{name}: flash holds it already; nothing would be written"),
        count => {
            cli_support::tell!(
                "{name}: {} would be written: {}",
                sectors_of(count),
                numbers.join(", ")
            );
        }
    }
}

pub(super) fn sectors_of(count: usize) -> String {
    format!("{count} sector{}", if count == 1 { "" } else { "s" })
}

/// A progress bar for each step, on a terminal only.
#[derive(Default)]
pub(super) struct Bar(Option<(&'static str, ProgressBar)>);

impl Bar {
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
