//! `rcflash image`.

mod burn;
mod chip;

use cli_support::text::Escape;
use std::path::{Path, PathBuf};

use crate::programmer::{CHIPS, Format};
use clap::{Args, ValueEnum};
use cli_support::exit::{CommandError, CommandResult, USAGE};
use cli_support::files::write_output;
use cli_support::output::print;
use firmware::ProgramKind;
use firmware::profile::BoardProfile;

use self::chip::ChipArgs;
use super::EvaluatorArgs;

#[derive(Args)]
pub(super) struct ImageArgs {
    /// Board profile
    #[arg(long, value_name = "NAME", default_value = "rc2014-classic", env = "RCFLASH_BOARD")]
    board: String,
    /// Output file: binary if named .bin, .rom or .img, Intel HEX if named .hex or .ihx
    #[arg(short, long, value_name = "FILE", required_unless_present_any = ["list_chips", "elf"])]
    output: Option<PathBuf>,
    /// Format of the output file, if its name does not determine it
    #[arg(long, value_name = "binary|hex", hide_possible_values = true)]
    format: Option<FormatArg>,
    /// Write the program as an ELF executable with symbols and lines, for debuggers
    ///
    /// Its bytes equal those of the image.
    #[arg(long, value_name = "FILE", conflicts_with = "file")]
    elf: Option<PathBuf>,
    /// List the known chips, with their names for minipro
    #[arg(long, exclusive = true)]
    list_chips: bool,
    /// Write the exchange evaluator, at its load address, instead of the monitor
    #[arg(long, conflicts_with = "ChipArgs")]
    application: bool,
    #[command(flatten)]
    chip: ChipArgs,
    #[command(flatten)]
    evaluator: EvaluatorArgs,
}

/// Values of --format.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum FormatArg {
    /// Raw bytes
    Binary,
    /// Intel HEX
    Hex,
}

pub(super) fn image(args: &ImageArgs) -> CommandResult {
    if args.list_chips {
        return list_chips();
    }
    if let Some(path) = &args.elf {
        write_elf(args, path)?;
    }
    let Some(output) = &args.output else { return Ok(0) };
    let option = args.format.map(|form| match form {
        FormatArg::Binary => Format::Binary,
        FormatArg::Hex => Format::IntelHex,
    });
    let format = Format::from_path(output, option)?;
    let profile = BoardProfile::named(&args.board)?;
    if args.application {
        return write_application(args, &profile, output, format);
    }
    check_evaluator(args)?;
    chip::write(&args.chip, &profile, output, format)
}

fn check_evaluator(args: &ImageArgs) -> Result<(), CommandError> {
    if args.application || args.evaluator.is_default() {
        return Ok(());
    }
    Err(CommandError::new(USAGE, "the monitor contains no evaluator: add --application"))
}

/// Writes the program as an ELF executable.
fn write_elf(args: &ImageArgs, path: &Path) -> Result<(), CommandError> {
    check_evaluator(args)?;
    let profile = BoardProfile::named(&args.board)?;
    let kind = match args.application {
        true => ProgramKind::Application,
        false => ProgramKind::Monitor,
    };
    let image = args.evaluator.build(&profile, kind)?;
    write_output(path, &tdlasm::object::write_executable(&image.program))?;
    let build = image.build;
    let what = if args.application { "the application" } else { "the monitor" };
    cli_support::eprint_message!(
        "{}: {what}, build {build:08X}, with its symbols and lines",
        path.escaped()
    );
    Ok(())
}

fn write_application(
    args: &ImageArgs,
    profile: &BoardProfile,
    output: &Path,
    format: Format,
) -> CommandResult {
    let image = args.evaluator.build(profile, ProgramKind::Application)?;
    let first = image.address;
    let length = image.bytes.len();
    write_output(output, &format.encode(first.into(), &image.bytes))?;
    let path = output.escaped();
    let build = image.build;
    cli_support::eprint_message!(
        "{path}: the application, build {build:08X}, {length} bytes for {first:04X}h"
    );
    Ok(0)
}

fn list_chips() -> CommandResult {
    for chip in CHIPS {
        let name = chip.name;
        let kib = chip.size / 1024;
        let kind = chip.kind;
        let device = chip.device;
        print(&format!("{name:12} {kib:3} KiB  {:7} {device}\n", kind.name()))?;
    }
    Ok(0)
}
