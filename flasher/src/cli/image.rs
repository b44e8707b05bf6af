//! `rcflash image`.

use std::path::PathBuf;

use clap::Args;
use firmware::ProgramKind;
use firmware::build::{build, fill_chip};
use firmware::profile::Profile;
use rcflash::exit::{Failure, Outcome, RIG, USAGE};
use rcflash::output::write_whole;

#[derive(Args)]
pub(super) struct ImageArgs {
    /// The board's profile
    #[arg(long, value_name = "NAME", default_value = "rc2014-classic")]
    board: String,
    /// The file to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// The chip's size in KiB; the board's page is repeated to fill it
    #[arg(long, value_name = "KIB", default_value_t = 64)]
    size: usize,
}

pub(super) fn image(args: &ImageArgs) -> Outcome {
    let profile = Profile::named(&args.board)?;
    let monitor = build(&profile, ProgramKind::Monitor)?;
    let page = profile.rom.size();
    let chip = fill_chip(&monitor.program.image, page, args.size * 1024).ok_or_else(|| {
        let problem = format!("a chip of {} KiB has no whole pages of {page} bytes", args.size);
        Failure::new(USAGE, problem)
    })?;
    write_whole(&args.output, &chip).map_err(|error| {
        Failure::new(RIG, format!("can't write {}: {error}", args.output.display()))
    })?;
    let pages = chip.len() / page;
    eprintln!(
        "{}: the monitor, build {:08X}, {pages} times in {} bytes",
        args.output.display(),
        monitor.build,
        chip.len()
    );
    Ok(0)
}
