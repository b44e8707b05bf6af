//! `rcflash write`.

use std::path::{Path, PathBuf};

use clap::Args;
use firmware::profile::Profile;
use indicatif::{ProgressBar, ProgressStyle};
use rcflash::exit::{Failure, INTERRUPTED, Outcome, RIG, USAGE};
use rcflash::link::Link;
use rcflash::loader::{self, LoadError};
use rcflash::port::Port;

use super::{BoardArgs, EvaluatorArgs};

#[derive(Args)]
pub(super) struct WriteArgs {
    #[command(flatten)]
    board: BoardArgs,
    #[command(flatten)]
    evaluator: EvaluatorArgs,
    /// The program: Intel HEX if its name ends in .hex, else binary; without, the built-in exchange evaluator
    #[arg(conflicts_with_all = ["behaviour", "sargon_dir"])]
    file: Option<PathBuf>,
    /// Where a binary goes, in hexadecimal
    #[arg(long, value_name = "HEX", requires = "file", value_parser = hexadecimal)]
    address: Option<u16>,
    /// Leave the program there without starting it
    #[arg(long)]
    no_run: bool,
}

fn hexadecimal(text: &str) -> Result<u16, String> {
    let digits = text.trim_start_matches("0x").trim_end_matches(['h', 'H']);
    u16::from_str_radix(digits, 16)
        .map_err(|_| "an address is 1 to 4 hexadecimal digits".to_owned())
}

/// What is to be written.
struct Program {
    name: String,
    address: u16,
    entry: u16,
    bytes: Vec<u8>,
    /// Whether it answers IDENT once it runs.
    speaks: bool,
}

pub(super) fn write(args: &WriteArgs) -> Outcome {
    let profile = args.board.profile()?;
    let program = match &args.file {
        Some(path) => from_file(path, args.address)?,
        None => built_in(&args.evaluator, &profile)?,
    };
    end_at_once_on_interrupt()?;
    let port = Port::open(&args.board.port, profile.uart.baud)?;
    let mut link = Link::new(Box::new(port), profile.uart.baud);
    let monitor = loader::reach_monitor(&mut link)?;
    eprintln!("{monitor}");
    let bar = progress_bar(program.bytes.len());
    let loaded = loader::load(&mut link, &monitor, program.address, &program.bytes, |done| {
        bar.set_position(done as u64);
    });
    bar.finish_and_clear();
    loaded?;
    eprintln!(
        "{}: {} bytes at {:04X}h, verified on the board",
        program.name,
        program.bytes.len(),
        program.address
    );
    if !args.no_run {
        start(&mut link, &program)?;
    }
    Ok(0)
}

fn start(link: &mut Link, program: &Program) -> Result<(), LoadError> {
    if program.speaks {
        let running = loader::run(link, program.entry)?;
        eprintln!("running: {running}");
    } else {
        loader::jump(link, program.entry)?;
        eprintln!("running at {:04X}h", program.entry);
    }
    Ok(())
}

fn built_in(evaluator: &EvaluatorArgs, profile: &Profile) -> Result<Program, Failure> {
    let image = evaluator.build(profile)?;
    let name = "the built-in exchange evaluator".to_owned();
    let address = image.address;
    Ok(Program { name, address, entry: address, bytes: image.bytes, speaks: true })
}

fn from_file(path: &Path, address: Option<u16>) -> Result<Program, Failure> {
    let name = path.display().to_string();
    let wrong = |problem: String| Failure::new(RIG, format!("{name}: {problem}"));
    let bytes = std::fs::read(path).map_err(|error| wrong(format!("can't be read: {error}")))?;
    if !path.extension().is_some_and(|end| end.eq_ignore_ascii_case("hex")) {
        let address = address.ok_or_else(|| {
            Failure::new(USAGE, format!("{name} is a binary: say where it goes with --address"))
        })?;
        return Ok(Program { name, address, entry: address, bytes, speaks: false });
    }
    let text = String::from_utf8_lossy(&bytes);
    let (image, entry) =
        tdlasm::image::parse_intel_hex(&text).map_err(|error| wrong(error.to_string()))?;
    let (first, _) = image.bounds().ok_or_else(|| wrong("it holds no bytes".to_owned()))?;
    let bytes = image.flat(0xFF);
    Ok(Program { name, address: first, entry: entry.unwrap_or(first), bytes, speaks: false })
}

/// Draws on a terminal only.
fn progress_bar(bytes: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {bytes}/{total_bytes}, {eta} left");
    ProgressBar::new(bytes as u64)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// An upload can be broken off at any point: the monitor stays as it was and takes the next one.
fn end_at_once_on_interrupt() -> Result<(), Failure> {
    ctrlc::set_handler(|| {
        eprintln!("\nrcflash: interrupted; the board's monitor still listens, write again");
        std::process::exit(i32::from(INTERRUPTED));
    })
    .map_err(|error| Failure::new(RIG, format!("can't watch for Ctrl-C: {error}")))
}
