//! `rcflash image`.

use std::path::{Path, PathBuf};

use clap::Args;
use firmware::ProgramKind;
use firmware::build::{build, fill_chip};
use firmware::profile::Profile;
use rcflash::exit::{Failure, Outcome, RIG, USAGE};
use tdlasm::image::{Image, Run, intel_hex};
use tdlasm::output::write_whole;

#[derive(Args)]
pub(super) struct ImageArgs {
    /// The board's profile
    #[arg(long, value_name = "NAME", default_value = "rc2014-classic")]
    board: String,
    /// The file to write: binary, or Intel HEX by its extension `.hex`
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// The chip's size in KiB; the board's page is repeated to fill it
    #[arg(long, value_name = "KIB", default_value_t = 64)]
    size: usize,
}

/// More than any parallel flash chip that fits these boards.
const MAX_CHIP: usize = 16 << 20;

pub(super) fn image(args: &ImageArgs) -> Outcome {
    let profile = Profile::named(&args.board)?;
    let monitor = build(&profile, ProgramKind::Monitor)?;
    let page = profile.rom.size();
    let size = args.size.checked_mul(1024).filter(|size| *size <= MAX_CHIP);
    let filled = size.and_then(|size| fill_chip(&monitor.program.image, page, size));
    let chip = filled.ok_or_else(|| {
        let problem = format!("a chip of {} KiB has no whole pages of {page} bytes", args.size);
        Failure::new(USAGE, problem)
    })?;
    write_whole(&args.output, &file(&args.output, &chip)?).map_err(|error| {
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

/// The chip's content in the form that the file's extension asks for.
fn file(path: &Path, chip: &[u8]) -> Result<Vec<u8>, Failure> {
    if !path.extension().is_some_and(|end| end.eq_ignore_ascii_case("hex")) {
        return Ok(chip.to_vec());
    }
    if chip.len() > 0x1_0000 {
        let problem = format!(
            "Intel HEX with 16-bit addresses holds 64 KiB, not {}; write a .bin",
            chip.len() / 1024
        );
        return Err(Failure::new(USAGE, problem));
    }
    let image = Image::new([Run { address: 0, bytes: chip.to_vec() }]);
    Ok(intel_hex(&image, None).into_bytes())
}
