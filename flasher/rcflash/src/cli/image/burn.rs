//! Programs the chip with minipro, or prints the command that does.

use cli_support::text::Escape;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::time::Duration;

use crate::programmer::{Chip, ChipKind, WriteJob, run_timeout, strip_escapes};
use clap::Args;
use cli_support::exit::{CommandError, CommandResult, USAGE};
use cli_support::time::time_within;

use crate::cli::stop_on_interrupt;

/// Heading of the help.
const PROGRAMMER: &str = "EPROM programmer";

/// Options for programming the chip.
#[derive(Args)]
pub(super) struct BurnArgs {
    /// Program the chip with minipro, read it back and compare
    #[arg(long, help_heading = PROGRAMMER)]
    program: bool,
    /// The chip's name for minipro [default: a common maker's]
    ///
    /// `minipro -L 27C256` lists the names for all makers.
    #[arg(long, value_name = "NAME", help_heading = PROGRAMMER)]
    device: Option<String>,
    /// Enable software data protection after programming (28C series)
    ///
    /// For boards that never write the chip.
    #[arg(long, help_heading = PROGRAMMER, hide_short_help = true)]
    protect: bool,
    /// Do not disable software data protection first; a protected 28C chip then stays unchanged
    #[arg(long, help_heading = PROGRAMMER, hide_short_help = true)]
    no_unprotect: bool,
    /// With --program: time for writing, and for reading back [default: by the chip's size]
    #[arg(
        long,
        value_name = "TIME",
        requires = "program",
        value_parser = time_within(Duration::from_secs(1)..=Duration::from_secs(86_400)),
        help_heading = PROGRAMMER,
        hide_short_help = true
    )]
    deadline: Option<Duration>,
}

pub(super) struct BurnPlan<'a> {
    device: Option<&'a str>,
    chip: Option<Chip>,
    unprotect: bool,
    protect: bool,
    program: bool,
    patience: Duration,
}

impl BurnArgs {
    /// Returns the plan. Checks the options, before any file is written.
    pub(super) fn plan(&self, chip: Option<Chip>) -> Result<BurnPlan<'_>, CommandError> {
        let device = self.device.as_deref().or(chip.map(|chip| chip.device));
        let is_eeprom = chip.is_some_and(|chip| chip.kind == ChipKind::Eeprom);
        if self.protect && !is_eeprom {
            let problem = "--protect works with chips of the 28C series only: name one with --chip";
            return Err(CommandError::new(USAGE, problem));
        }
        if self.program && device.is_none() {
            return Err(CommandError::new(USAGE, DEVICE_HINT));
        }
        let usual = chip.as_ref().map_or(UNKNOWN_CHIP_TIMEOUT, run_timeout);
        Ok(BurnPlan {
            device,
            chip,
            unprotect: is_eeprom && !self.no_unprotect,
            protect: self.protect,
            program: self.program,
            patience: self.deadline.unwrap_or(usual),
        })
    }
}

const DEVICE_HINT: &str = "name the chip with --chip, or with --device as minipro does";
/// The time limit for a chip of which only the name for minipro is given.
const UNKNOWN_CHIP_TIMEOUT: Duration = Duration::from_secs(1200);

impl BurnPlan<'_> {
    /// Programs the chip, or prints the command that does.
    pub(super) fn execute(&self, file: &Path, bytes: &[u8]) -> CommandResult {
        let Some(device) = self.device else {
            cli_support::eprint_message!("note: for the programmer's command, {DEVICE_HINT}");
            return Ok(0);
        };
        let job = WriteJob { device, file, unprotect: self.unprotect, protect: self.protect };
        if let Some(chip) = self.chip.filter(|chip| !chip.caution.is_empty()) {
            cli_support::eprint_message!("note: a {} {}", chip.name, chip.caution);
        }
        if self.program {
            return self.program_chip(&job, bytes);
        }
        // On standard output for scripts; a closed pipe is not an error.
        let _ = writeln!(std::io::stdout(), "{}", job.command_line());
        Ok(0)
    }

    fn program_chip(&self, job: &WriteJob, bytes: &[u8]) -> CommandResult {
        cli_support::eprint_message!("{}", job.command_line());
        let stop = stop_on_interrupt()?;
        let has_verified = job.run(bytes, self.patience, &stop, &mut forward_output)?;
        if !has_verified {
            cli_support::eprint_message!(
                "note: minipro printed no verification result; the bytes read back are correct"
            );
        }
        let file = job.file.escaped();
        let count = bytes.len();
        cli_support::eprint_message!(
            "chip programmed from {file}: {count} bytes read back and compared"
        );
        Ok(0)
    }
}

fn forward_output(output: &[u8]) {
    let mut stderr = std::io::stderr();
    // Programming a chip must not stop because its output can't be shown.
    let _ = if stderr.is_terminal() {
        stderr.write_all(output)
    } else {
        stderr.write_all(strip_escapes(output).as_bytes())
    };
}
