//! Having the chip written: the command to type, or doing it.

use cli_support::text::Show;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::time::Duration;

use crate::programmer::{Chip, Job, Kind, patience, plain};
use clap::Args;
use cli_support::exit::{Failure, Outcome, USAGE};

use crate::cli::stop_on_interrupt;

/// Arguments for writing the chip.
#[derive(Args)]
pub(super) struct BurnArgs {
    /// Have minipro write the chip, and compare what it then reads back
    #[arg(long)]
    run: bool,
    /// The chip's name for minipro, if not the usual one; `minipro -L 27C256` lists those of all
    /// makers
    #[arg(long, value_name = "NAME")]
    device: Option<String>,
    /// Turn software data protection on when the chip is written; for the 28C series, on boards
    /// that never write it
    #[arg(long)]
    protect: bool,
    /// Leave software data protection as it is; a protected chip of the 28C series then takes no
    /// byte
    #[arg(long)]
    no_unprotect: bool,
    /// With --run: how many seconds writing and reading back may take each, if not what the chip's
    /// size asks for
    #[arg(long, value_name = "SECONDS", requires = "run", value_parser = clap::value_parser!(u64).range(1..=86400))]
    deadline: Option<u64>,
}

/// The task for the file.
pub(super) struct Plan<'a> {
    device: Option<&'a str>,
    chip: Option<Chip>,
    unprotect: bool,
    protect: bool,
    run: bool,
    patience: Duration,
}

impl BurnArgs {
    /// Returns the order for minipro, checked before anything is written.
    pub(super) fn plan(&self, chip: Option<Chip>) -> Result<Plan<'_>, Failure> {
        let device = self.device.as_deref().or(chip.map(|chip| chip.device));
        let is_eeprom = chip.is_some_and(|chip| chip.kind == Kind::Eeprom);
        if self.protect && !is_eeprom {
            let problem = "--protect is for the chips of the 28C series: name one by --chip";
            return Err(Failure::new(USAGE, problem));
        }
        if self.run && device.is_none() {
            return Err(Failure::new(USAGE, NO_DEVICE));
        }
        let usual = chip.as_ref().map_or(UNKNOWN_CHIP, patience);
        Ok(Plan {
            device,
            chip,
            unprotect: is_eeprom && !self.no_unprotect,
            protect: self.protect,
            run: self.run,
            patience: self.deadline.map_or(usual, Duration::from_secs),
        })
    }
}

const NO_DEVICE: &str = "--chip says which chip it is, or --device what minipro calls it";
/// The time a chip may take of which only the name for minipro is known.
const UNKNOWN_CHIP: Duration = Duration::from_secs(1200);

impl Plan<'_> {
    /// Prints the command that writes the chip, or has it done.
    pub(super) fn carry_out(&self, file: &Path, bytes: &[u8]) -> Outcome {
        let Some(device) = self.device else {
            cli_support::tell!("note: for the programmer's command, {NO_DEVICE}");
            return Ok(0);
        };
        let job = Job { device, file, unprotect: self.unprotect, protect: self.protect };
        if let Some(chip) = self.chip.filter(|chip| !chip.caution.is_empty()) {
            cli_support::tell!("note: a {} {}", chip.name, chip.caution);
        }
        if self.run {
            return self.run(&job, bytes);
        }
        // The command is what a script may want; whoever closes the pipe has had enough.
        let _ = writeln!(std::io::stdout(), "{}", job.command_line());
        Ok(0)
    }

    fn run(&self, job: &Job, bytes: &[u8]) -> Outcome {
        cli_support::tell!("{}", job.command_line());
        let stop = stop_on_interrupt()?;
        let has_verified = job.run(bytes, self.patience, &stop, &mut show)?;
        if !has_verified {
            cli_support::tell!(
                "note: minipro did not say that it has verified; what was read back is right"
            );
        }
        let file = job.file.shown();
        let count = bytes.len();
        cli_support::tell!("the chip holds {file}: read back and compared, {count} bytes");
        Ok(0)
    }
}

/// Hands on what minipro says: as it comes on a terminal, else as plain lines.
fn show(said: &[u8]) {
    let mut stderr = std::io::stderr();
    // A message that can't be shown is no reason to stop writing a chip.
    let _ = if stderr.is_terminal() {
        stderr.write_all(said)
    } else {
        stderr.write_all(plain(said).as_bytes())
    };
}
