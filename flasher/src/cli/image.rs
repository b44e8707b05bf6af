//! `rcflash image`.

use std::path::{Path, PathBuf};

use clap::Args;
use firmware::ProgramKind;
use firmware::build::{build, fill_chip};
use firmware::profile::Profile;
use rcflash::exit::{Failure, Outcome, RIG, USAGE};
use tdlasm::image::{Image, Run, intel_hex};
use tdlasm::output::write_whole;

use super::EvaluatorArgs;

#[derive(Args)]
pub(super) struct ImageArgs {
    /// The board's profile
    #[arg(long, value_name = "NAME", default_value = "rc2014-classic")]
    board: String,
    /// The file to write: binary, or Intel HEX by its extension `.hex`
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// The chip's size in KiB, if not that of the board's own; a page that jumpers choose is repeated to fill it
    #[arg(long, value_name = "KIB", conflicts_with = "application")]
    size: Option<usize>,
    /// The application in place of the monitor: the exchange evaluator, at the addresses it is loaded to
    #[arg(long)]
    application: bool,
    #[command(flatten)]
    evaluator: EvaluatorArgs,
}

/// More than any parallel flash chip that fits these boards.
const MAX_CHIP: usize = 16 << 20;

pub(super) fn image(args: &ImageArgs) -> Outcome {
    let profile = Profile::named(&args.board)?;
    if args.application {
        return application(args, &profile);
    }
    if !args.evaluator.is_default() {
        let problem = "the monitor holds no evaluator: add --application";
        return Err(Failure::new(USAGE, problem));
    }
    monitor(args, &profile)
}

fn application(args: &ImageArgs, profile: &Profile) -> Outcome {
    let image = args.evaluator.build(profile, ProgramKind::Application)?;
    let run = Run { address: image.address, bytes: image.bytes };
    let (first, length) = (run.address, run.bytes.len());
    write(&args.output, run)?;
    let (path, build) = (args.output.display(), image.build);
    eprintln!("{path}: the application, build {build:08X}, {length} bytes for {first:04X}h");
    Ok(0)
}

fn monitor(args: &ImageArgs, profile: &Profile) -> Outcome {
    let monitor = build(profile, ProgramKind::Monitor)?;
    let kilobytes = args.size.unwrap_or(profile.chip.kind.size() / 1024);
    let size = kilobytes.checked_mul(1024).filter(|size| *size <= MAX_CHIP).unwrap_or(0);
    // Where registers choose the page, reset chooses the first.
    let page = if profile.banks.is_some() { size } else { profile.rom.size() };
    let chip = fill_chip(&monitor.program.image, page, size).ok_or_else(|| {
        let problem = format!("a chip of {kilobytes} KiB has no whole pages of {page} bytes");
        Failure::new(USAGE, problem)
    })?;
    let (length, pages) = (chip.len(), chip.len() / page);
    write(&args.output, Run { address: 0, bytes: chip })?;
    let times = if pages == 1 { "once".to_owned() } else { format!("{pages} times") };
    eprintln!(
        "{}: the monitor, build {:08X}, {times} in {length} bytes",
        args.output.display(),
        monitor.build
    );
    Ok(0)
}

/// Writes bytes in the form that the file's extension asks for.
pub(super) fn write(path: &Path, run: Run) -> Result<(), Failure> {
    let cannot = |error| Failure::new(RIG, format!("can't write {}: {error}", path.display()));
    write_whole(path, &file(path, run)?).map_err(cannot)
}

/// Whether a file of this form can hold what lies up to this address.
pub(super) fn check_form(path: &Path, last: u32) -> Result<(), Failure> {
    if is_hex(path) && last > 0xFFFF {
        let problem = "Intel HEX with 16-bit addresses ends at FFFFh; write a .bin";
        return Err(Failure::new(USAGE, problem));
    }
    Ok(())
}

fn is_hex(path: &Path) -> bool {
    path.extension().is_some_and(|end| end.eq_ignore_ascii_case("hex"))
}

/// The bytes in the form that the file's extension asks for.
fn file(path: &Path, run: Run) -> Result<Vec<u8>, Failure> {
    if !is_hex(path) {
        return Ok(run.bytes);
    }
    if run.bytes.len() > 0x1_0000 {
        let problem = format!(
            "Intel HEX with 16-bit addresses holds 64 KiB, not {}; write a .bin",
            run.bytes.len() / 1024
        );
        return Err(Failure::new(USAGE, problem));
    }
    Ok(intel_hex(&Image::new([run]), None).into_bytes())
}
