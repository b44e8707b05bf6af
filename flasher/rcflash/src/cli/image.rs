//! `rcflash image`.

mod burn;
mod chip;

use cli_support::text::Show;
use std::path::{Path, PathBuf};

use crate::programmer::{CHIPS, Format};
use clap::{Args, ValueEnum};
use cli_support::exit::{Failure, Outcome, RIG, USAGE};
use cli_support::files::write_whole;
use firmware::ProgramKind;
use firmware::profile::Profile;

use self::chip::ChipArgs;
use super::EvaluatorArgs;

#[derive(Args)]
pub(super) struct ImageArgs {
    /// The board's profile
    #[arg(long, value_name = "NAME", default_value = "rc2014-classic", env = "RCFLASH_BOARD")]
    board: String,
    /// The file to write: binary if named .bin, .rom or .img, Intel HEX if named .hex or .ihx
    #[arg(short, long, value_name = "FILE", required_unless_present_any = ["list_chips", "elf"])]
    output: Option<PathBuf>,
    /// The file's form, where its name does not tell
    #[arg(long, value_name = "binary|hex", hide_possible_values = true)]
    format: Option<Form>,
    /// Write the program as an ELF executable with its symbols and lines, for debuggers; its bytes
    /// are those that go to the board
    #[arg(long, value_name = "FILE", conflicts_with = "file")]
    elf: Option<PathBuf>,
    /// List the chips that are known, with their names for minipro
    #[arg(long, exclusive = true)]
    list_chips: bool,
    /// The application in place of the monitor: the exchange evaluator, at the addresses it is
    /// loaded to
    #[arg(long, conflicts_with = "ChipArgs")]
    application: bool,
    #[command(flatten)]
    chip: ChipArgs,
    #[command(flatten)]
    evaluator: EvaluatorArgs,
}

/// A form as it is said.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Form {
    /// The bytes
    Binary,
    /// Intel HEX
    Hex,
}

pub(super) fn image(args: &ImageArgs) -> Outcome {
    if args.list_chips {
        return list_chips();
    }
    if let Some(path) = &args.elf {
        executable(args, path)?;
    }
    let Some(output) = &args.output else { return Ok(0) };
    let said = args.format.map(|form| match form {
        Form::Binary => Format::Binary,
        Form::Hex => Format::IntelHex,
    });
    let format = Format::of(output, said)?;
    let profile = Profile::named(&args.board)?;
    if args.application {
        return application(args, &profile, output, format);
    }
    check_evaluator(args)?;
    chip::write(&args.chip, &profile, output, format)
}

/// The monitor holds no evaluator that could be chosen.
fn check_evaluator(args: &ImageArgs) -> Result<(), Failure> {
    if args.application || args.evaluator.is_default() {
        return Ok(());
    }
    Err(Failure::new(USAGE, "the monitor holds no evaluator: add --application"))
}

/// Writes the program as a debugger reads it.
fn executable(args: &ImageArgs, path: &Path) -> Result<(), Failure> {
    check_evaluator(args)?;
    let profile = Profile::named(&args.board)?;
    let kind = match args.application {
        true => ProgramKind::Application,
        false => ProgramKind::Monitor,
    };
    let image = args.evaluator.build(&profile, kind)?;
    write(path, &tdlasm::object::write_executable(&image.program))?;
    let build = image.build;
    let what = if args.application { "the application" } else { "the monitor" };
    cli_support::tell!("{}: {what}, build {build:08X}, with its symbols and lines", path.shown());
    Ok(())
}

fn application(args: &ImageArgs, profile: &Profile, output: &Path, format: Format) -> Outcome {
    let image = args.evaluator.build(profile, ProgramKind::Application)?;
    let first = image.address;
    let length = image.bytes.len();
    write(output, &format.encode(first.into(), &image.bytes))?;
    let path = output.shown();
    let build = image.build;
    cli_support::tell!(
        "{path}: the application, build {build:08X}, {length} bytes for {first:04X}h"
    );
    Ok(0)
}

/// Writes the whole file or nothing.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let cannot = |error| Failure::new(RIG, format!("can't write {}: {error}", path.shown()));
    write_whole(path, bytes).map_err(cannot)
}

/// One line a chip: name, bytes, kind, device.
fn list_chips() -> Outcome {
    for chip in CHIPS {
        let name = chip.name;
        let kib = chip.size / 1024;
        let kind = chip.kind;
        let device = chip.device;
        let line = format!("{name:12} {kib:3} KiB  {:7} {device}", kind.word());
        if cli_support::text::print(&(line + "\n")).is_err() {
            break; // whoever reads it has had enough
        }
    }
    Ok(0)
}
