//! `rcflash write`.

use std::path::{Path, PathBuf};

use clap::Args;
use firmware::ProgramKind;
use firmware::profile::Profile;
use indicatif::{ProgressBar, ProgressStyle};
use rcflash::exit::{Failure, Outcome, RIG, USAGE};
use rcflash::link::Link;
use rcflash::loader::{self, LoadError};
use tdlasm::image::{Image, Run};

use super::flash::{self, FlashArgs};
use super::target::BoardArgs;
use super::via::{self, Via, ViaArgs};
use super::{EvaluatorArgs, stop_on_interrupt};

#[derive(Args)]
pub(super) struct WriteArgs {
    #[command(flatten)]
    board: BoardArgs,
    #[command(flatten)]
    evaluator: EvaluatorArgs,
    /// The program: Intel HEX if its name ends in .hex, else binary; without, the built-in exchange evaluator
    #[arg(conflicts_with_all = ["behaviour", "sargon_dir"])]
    file: Option<PathBuf>,
    /// Where a binary goes, in hexadecimal; with --flash, an address of the chip
    #[arg(long, value_name = "HEX", requires = "file", value_parser = hexadecimal)]
    address: Option<u32>,
    /// Leave the program there without starting it
    #[arg(long)]
    no_run: bool,
    #[command(flatten)]
    flash: FlashArgs,
    #[command(flatten)]
    via: ViaArgs,
}

fn hexadecimal(text: &str) -> Result<u32, String> {
    let digits = text.trim_start_matches("0x").trim_end_matches(['h', 'H']);
    let address = u32::from_str_radix(digits, 16).ok().filter(|address| *address < 1 << 24);
    address.ok_or_else(|| "an address is 1 to 4 hexadecimal digits, up to 6 in flash".to_owned())
}

/// What is to be written.
pub(super) struct Program {
    pub(super) name: String,
    pub(super) image: Image,
    pub(super) entry: u16,
    /// Whether it answers IDENT once it runs.
    pub(super) speaks: bool,
}

pub(super) fn write(args: &WriteArgs) -> Outcome {
    let profile = args.board.profile()?;
    if args.via.via == Via::Xmodem {
        let file = args.file.as_deref().ok_or_else(|| {
            Failure::new(USAGE, "XMODEM sends a file: say which, such as PROG.COM")
        })?;
        return via::send_file(&args.via, file, !args.no_run, &args.board);
    }
    if args.flash.is_wanted() {
        args.via.check_for_monitor()?;
        let file = args.file.as_deref().map(|path| (path, args.address));
        let order = flash::Order { file, dry_run: args.via.dry_run, run: !args.no_run };
        return flash::write(&args.flash, &order, &args.evaluator, &args.board);
    }
    let program = match &args.file {
        Some(path) => from_file(path, args.address)?,
        None => built_in(&args.evaluator, &profile)?,
    };
    match args.via.stock() {
        Some(stock) => via::write(stock, &args.via, &program, !args.no_run, &args.board),
        None => to_our_monitor(args, &program),
    }
}

fn to_our_monitor(args: &WriteArgs, program: &Program) -> Outcome {
    args.via.check_for_monitor()?;
    let bytes = program.image.flat(0xFF);
    let Some((address, last)) = program.image.bounds() else { return Err(LoadError::Empty.into()) };
    if args.via.dry_run {
        let (name, count) = (&program.name, bytes.len());
        eprintln!(
            "{name}: {count} bytes would go to {address:04X}h-{last:04X}h; no port was opened"
        );
        return Ok(0);
    }
    let target = args.board.target()?;
    let mut link = Link::new(Box::new(target.open()?), target.baud());
    link.set_stop(stop_on_interrupt()?);
    let monitor = loader::reach_monitor(&mut link)?;
    eprintln!("{monitor}");
    let bar = progress_bar(bytes.len());
    let loaded = loader::load(&mut link, &monitor, address, &bytes, |done| {
        bar.set_position(done as u64);
    });
    bar.finish_and_clear();
    loaded?;
    let (name, count) = (&program.name, bytes.len());
    eprintln!("{name}: {count} bytes at {address:04X}h, verified on the board");
    if !args.no_run {
        start(&mut link, program.entry, program.speaks)?;
    }
    Ok(0)
}

/// Starts a program; one that speaks the protocol tells who it is.
pub(super) fn start(link: &mut Link, entry: u16, speaks: bool) -> Result<(), LoadError> {
    if speaks {
        let running = loader::run(link, entry)?;
        eprintln!("running: {running}");
    } else {
        loader::jump(link, entry)?;
        eprintln!("running at {entry:04X}h");
    }
    Ok(())
}

fn built_in(evaluator: &EvaluatorArgs, profile: &Profile) -> Result<Program, Failure> {
    let image = evaluator.build(profile, ProgramKind::Application)?;
    let name = "the built-in exchange evaluator".to_owned();
    let entry = image.address;
    let image = Image::new([Run { address: entry, bytes: image.bytes }]);
    Ok(Program { name, image, entry, speaks: true })
}

fn from_file(path: &Path, address: Option<u32>) -> Result<Program, Failure> {
    let name = path.display().to_string();
    let (image, entry) = match read_file(path, address)? {
        Bytes::At(address, bytes) => {
            let passes = || Failure::new(RIG, format!("{name}: at {address:04X}h it passes FFFFh"));
            let fits = address as usize + bytes.len() <= 0x1_0000;
            let address = u16::try_from(address).ok().filter(|_| fits).ok_or_else(passes)?;
            (Image::new([Run { address, bytes }]), address)
        }
        Bytes::Image(image, entry) => (image, entry),
    };
    Ok(Program { name, image, entry, speaks: false })
}

/// What a file holds.
pub(super) enum Bytes {
    /// A binary, and where it was said to go.
    At(u32, Vec<u8>),
    /// What an Intel HEX file says, and where it is entered.
    Image(Image, u16),
}

pub(super) fn read_file(path: &Path, address: Option<u32>) -> Result<Bytes, Failure> {
    let name = path.display();
    let wrong = |problem: String| Failure::new(RIG, format!("{name}: {problem}"));
    let bytes = std::fs::read(path).map_err(|error| wrong(format!("can't be read: {error}")))?;
    if !path.extension().is_some_and(|end| end.eq_ignore_ascii_case("hex")) {
        let address = address.ok_or_else(|| {
            Failure::new(USAGE, format!("{name} is a binary: say where it goes with --address"))
        })?;
        return Ok(Bytes::At(address, bytes));
    }
    let text = String::from_utf8_lossy(&bytes);
    let (image, entry) =
        tdlasm::image::parse_intel_hex(&text).map_err(|error| wrong(error.to_string()))?;
    let (first, _) = image.bounds().ok_or_else(|| wrong("it holds no bytes".to_owned()))?;
    Ok(Bytes::Image(image, entry.unwrap_or(first)))
}

/// Draws on a terminal only.
pub(super) fn progress_bar(bytes: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg} {bar:40} {bytes}/{total_bytes}, {eta} left");
    ProgressBar::new(bytes as u64)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
