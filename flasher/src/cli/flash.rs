//! `rcflash write --flash`.

use std::path::Path;

use clap::Args;
use firmware::ProgramKind;
use firmware::build::{BuildError, build};
use firmware::profile::Profile;
use firmware::slot;
use indicatif::ProgressBar;
use rcflash::exit::{Failure, INTERRUPTED, Outcome, RIG, USAGE};
use rcflash::flash::{self, Content, FlashError, Progress, SECTOR, Sector};
use rcflash::link::Link;
use rcflash::loader;

use super::EvaluatorArgs;
use super::target::BoardArgs;
use super::write::{Bytes, progress_bar, read_file, start};

#[derive(Args)]
pub(super) struct FlashArgs {
    /// Write the board's flash through the monitor instead of its RAM: only the sectors that differ
    #[arg(long, conflicts_with = "via")]
    flash: bool,
    /// Also replace the boot sector, which holds the monitor: without a file, by the built-in monitor
    #[arg(long, requires = "flash")]
    boot_sector: bool,
    /// Have the monitor start the program after each reset; any byte that it hears then stops that
    #[arg(long, requires = "flash")]
    autostart: bool,
    /// Write sectors that hold the right bytes already, too
    #[arg(long, requires = "flash")]
    force: bool,
}

impl FlashArgs {
    pub(super) fn is_wanted(&self) -> bool {
        self.flash
    }
}

/// What else was asked for.
pub(super) struct Order<'a> {
    /// The file, and where a binary goes; without, the built-in exchange evaluator.
    pub(super) file: Option<(&'a Path, Option<u32>)>,
    /// Compare only.
    pub(super) dry_run: bool,
    /// Start the program.
    pub(super) run: bool,
}

/// What is to be written.
struct Program {
    name: String,
    content: Content,
    /// Where it is entered, and whether it then answers IDENT.
    entry: Option<(u16, bool)>,
}

pub(super) fn write(
    args: &FlashArgs,
    order: &Order,
    evaluator: &EvaluatorArgs,
    board: &BoardArgs,
) -> Outcome {
    let target = board.target()?;
    let profile = &target.profile;
    let program = match order.file {
        Some((path, address)) => from_file(args, profile, path, address)?,
        None => built_in(args, evaluator, profile)?,
    };
    end_at_once_on_interrupt()?;
    let mut link = Link::new(Box::new(target.open()?), target.baud());
    let monitor = loader::reach_monitor(&mut link)?;
    eprintln!("{monitor}");
    let chip = flash::chip(&mut link, &monitor)?;
    eprintln!("{chip}");
    let mut bar = Bar::default();
    let compared =
        flash::compare(&mut link, &chip, &program.content, args.force, |at| bar.show(at));
    bar.clear();
    let sectors = compared?;
    let boot = boot_sector(args, &mut link, &program.content)?;
    if order.dry_run {
        say_what_differs(&program.name, &sectors, boot.is_some());
        return Ok(0);
    }
    let written = flash::write(&mut link, &sectors, |at| bar.show(at));
    bar.clear();
    let written = written?;
    match written.programmed {
        0 => eprintln!("{}: flash holds it already", program.name),
        count => eprintln!(
            "{}: {} written, {} erased before; verified on the board, a wrong check refused",
            program.name,
            sectors_of(count),
            written.erased
        ),
    }
    if let Some(bytes) = boot {
        let running = flash::replace_boot_sector(&mut link, &monitor, &bytes)?;
        eprintln!("the boot sector is replaced and verified: {running}");
    }
    match program.entry {
        Some((entry, speaks)) if order.run => start(&mut link, entry, speaks)?,
        _ => {}
    }
    Ok(0)
}

/// The boot sector, if it is to be replaced.
fn boot_sector(
    args: &FlashArgs,
    link: &mut Link,
    content: &Content,
) -> Result<Option<[u8; SECTOR]>, FlashError> {
    let Some(bytes) = content.boot_sector() else { return Ok(None) };
    match (flash::boot_sector_differs(link, &bytes)?, args.boot_sector) {
        (true, false) => Err(FlashError::BootSector),
        (differs, _) => Ok((differs || args.boot_sector && args.force).then_some(bytes)),
    }
}

fn built_in(
    args: &FlashArgs,
    evaluator: &EvaluatorArgs,
    profile: &Profile,
) -> Result<Program, Failure> {
    let image = evaluator.build(profile, ProgramKind::FlashApplication)?;
    let mut content = program(&image.bytes, image.address, args.autostart)?;
    if args.boot_sector {
        let mut sector = build(profile, ProgramKind::Monitor)?.bytes;
        sector.resize(SECTOR, 0xFF);
        content = content.and(Content::raw(0, sector));
    }
    let name = "the built-in exchange evaluator".to_owned();
    Ok(Program { name, content, entry: Some((image.address, true)) })
}

fn from_file(
    args: &FlashArgs,
    profile: &Profile,
    path: &Path,
    address: Option<u32>,
) -> Result<Program, Failure> {
    if !profile.chip.writable {
        return Err(BuildError::NoFlash(profile.name.clone()).into());
    }
    let name = path.display().to_string();
    let (first, bytes, entry) = match read_file(path, address)? {
        Bytes::At(address, bytes) => (address, bytes, address as u16),
        Bytes::Image(image, entry) => {
            let first = image.bounds().map_or(0, |(first, _)| first);
            (first.into(), image.flat(0xFF), entry)
        }
    };
    if first == u32::from(slot::PROGRAM) {
        let content = program(&bytes, entry, args.autostart)?;
        return Ok(Program { name, content, entry: Some((entry, false)) });
    }
    if args.autostart {
        let place = slot::PROGRAM;
        let problem = format!(
            "{name}: only a program that begins at {place:04X}h can be started after a reset"
        );
        return Err(Failure::new(USAGE, problem));
    }
    Ok(Program { name, content: Content::raw(first, bytes), entry: None })
}

fn program(bytes: &[u8], entry: u16, autostart: bool) -> Result<Content, FlashError> {
    Ok(Content::program(bytes, entry, autostart)?)
}

fn say_what_differs(name: &str, sectors: &[Sector], boot: bool) {
    let mut numbers: Vec<_> = sectors.iter().map(|sector| sector.number.to_string()).collect();
    if boot {
        numbers.insert(0, "0 (the boot sector)".to_owned());
    }
    match numbers.len() {
        0 => eprintln!("{name}: flash holds it already; nothing would be written"),
        count => {
            eprintln!("{name}: {} would be written: {}", sectors_of(count), numbers.join(", "));
        }
    }
}

fn sectors_of(count: usize) -> String {
    format!("{count} sector{}", if count == 1 { "" } else { "s" })
}

/// A progress bar for each step, on a terminal only.
#[derive(Default)]
struct Bar(Option<(&'static str, ProgressBar)>);

impl Bar {
    fn show(&mut self, at: Progress) {
        if self.0.as_ref().is_none_or(|(step, _)| *step != at.step) {
            self.clear();
            self.0 = Some((at.step, progress_bar(at.total).with_message(at.step)));
        }
        if let Some((_, bar)) = &self.0 {
            bar.set_position(at.done as u64);
        }
    }

    fn clear(&mut self) {
        if let Some((_, bar)) = self.0.take() {
            bar.finish_and_clear();
        }
    }
}

/// A write can be broken off at any point: the monitor stays as it was, and what differs is written next time.
fn end_at_once_on_interrupt() -> Result<(), Failure> {
    ctrlc::set_handler(|| {
        eprintln!(
            "\nrcflash: interrupted; the board's monitor still listens, what is in flash may be half written: \
             write again, and only the rest is"
        );
        std::process::exit(i32::from(INTERRUPTED));
    })
    .map_err(|error| Failure::new(RIG, format!("can't watch for Ctrl-C: {error}")))
}
