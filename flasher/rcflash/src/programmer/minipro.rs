//! Programs a chip with `minipro`, the software for TL866 and T48 programmers, and reads it back.
//!
//! Options and messages are those of version 0.7, which prints all messages to standard error and
//! exits with status 1 on any failure.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use cli_support::text::command_line;
use rcflash_transport::child::{ChildEnd, run};

use super::chip::{Chip, ChipKind};

/// The executable, found in `PATH`.
pub(crate) const PROGRAM: &str = "minipro";
/// What `minipro` prints after a successful verification.
const VERIFIED: &str = "Verification OK";
/// Lines of its output that an error message quotes.
const MAX_QUOTED_LINES: usize = 4;

/// A chip to program from a file.
#[derive(Debug, Clone)]
pub(crate) struct WriteJob<'a> {
    pub(crate) device: &'a str,
    /// The image, Intel HEX or binary: `minipro` detects the format.
    pub(crate) file: &'a Path,
    /// Disable software data protection first.
    pub(crate) unprotect: bool,
    /// Enable software data protection afterwards.
    pub(crate) protect: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Erase, write, verify.
    Write,
    ReadBack,
}

impl std::fmt::Display for Step {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Write => "writing",
            Self::ReadBack => "reading back",
        })
    }
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum ProgrammerError {
    #[error(
        "minipro not found in PATH: install it (from gitlab.com/DavidGriffith/minipro), or use the \
         file with another programmer"
    )]
    Missing,
    #[error("can't run minipro: {0}")]
    NotRun(io::Error),
    #[error(
        "{step}: minipro did not exit within {} s and was killed; is the programmer stuck? Unplug \
         it and plug it in again", patience.as_secs()
    )]
    Late { step: Step, patience: Duration },
    #[error("interrupted while {0}: the content of the chip is unknown; program it again")]
    Interrupted(Step),
    #[error("{step}: minipro failed ({status}){}{}", LastLines(.output), hint(.output))]
    Failed { step: Step, status: ExitStatus, output: String },
    #[error("the chip does not contain what was written{}{}", LastLines(.0), hint(.0))]
    Verify(String),
    #[error("can't read the file that minipro read back: {0}")]
    Unreadable(io::Error),
    #[error("minipro read back {read} bytes of a chip of {chip}: is the device the right one?")]
    Length { read: usize, chip: usize },
    #[error("{count} bytes of the chip differ from the file, first at {at:05X}h: \
    {read:02X}h, expected {meant:02X}h{}", all_ff(.all_blank))]
    Differs {
        count: usize,
        /// Address of the first one.
        at: usize,
        read: u8,
        meant: u8,
        /// Whether the whole chip reads FFh.
        all_blank: bool,
    },
}

impl ProgrammerError {
    /// Returns `true` if the chip was programmed and its content is wrong.
    pub(crate) fn is_mismatch(&self) -> bool {
        matches!(self, Self::Verify(_) | Self::Differs { .. } | Self::Length { .. })
    }
}

fn all_ff(all_blank: &bool) -> &'static str {
    if *all_blank {
        "; all of it reads FFh: is the chip protected, or none in the socket?"
    } else {
        ""
    }
}

/// The last lines of the output of `minipro`, for a message.
struct LastLines<'a>(&'a str);

impl std::fmt::Display for LastLines<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let lines: Vec<_> = self.0.lines().filter(|line| !line.trim().is_empty()).collect();
        let last = &lines[lines.len().saturating_sub(MAX_QUOTED_LINES)..];
        if last.is_empty() { Ok(()) } else { write!(f, ": {}", last.join("; ")) }
    }
}

/// Returns what to try after a message of `minipro`.
fn hint(output: &str) -> &'static str {
    let output = output.to_ascii_lowercase();
    let hints = [
        (
            "no programmer found",
            ". Is it plugged in, and do you have access (minipro's udev rules)?",
        ),
        ("chip id", ". Is this the chip? --device names another, `minipro -L` lists them"),
        ("not found", ". `minipro -L` lists the devices, --device names one"),
        ("write-protected", ". Omit --no-unprotect to disable the protection"),
        ("verification failed", ". Is the chip blank, and of the maker that --device names?"),
    ];
    hints.iter().find(|(words, _)| output.contains(words)).map_or("", |(_, hint)| hint)
}

/// Returns the timeout of a run of `minipro`: more than four times the slowest one observed.
pub(crate) fn run_timeout(chip: &Chip) -> Duration {
    const CONNECTING: u64 = 60;
    const SECONDS_PER_KIB: f64 = 2.0; // a 27C512 takes 26 s for its 64 KiB
    let slow = if chip.kind == ChipKind::Flash { 1.0 } else { SECONDS_PER_KIB };
    Duration::from_secs(CONNECTING) + Duration::from_secs_f64(slow * (chip.size / 1024) as f64)
}

impl WriteJob<'_> {
    fn arguments(&self, step: Step, file: &Path) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = vec!["-p".into(), self.device.into()];
        if step == Step::Write && self.unprotect {
            arguments.push("-u".into());
        }
        arguments.push(if step == Step::Write { "-w" } else { "-r" }.into());
        arguments.push(file.into());
        if step == Step::Write && self.protect {
            arguments.push("-P".into());
        }
        arguments
    }

    /// Returns the command that programs the chip, quoted for a shell.
    pub(crate) fn command_line(&self) -> String {
        let arguments = self.arguments(Step::Write, self.file);
        let arguments = arguments.iter().map(|word| word.to_string_lossy().into_owned());
        command_line(std::iter::once(PROGRAM.to_owned()).chain(arguments))
    }

    /// Programs the chip, reads it back, and compares it with `bytes`. Passes the output of
    /// `minipro` to `watch` as it arrives. Returns `false` if `minipro` did not report
    /// a verification; the comparison was made nevertheless.
    pub(crate) fn run(
        &self,
        bytes: &[u8],
        patience: Duration,
        stop: &AtomicBool,
        watch: &mut dyn FnMut(&[u8]),
    ) -> Result<bool, ProgrammerError> {
        let limits = RunLimits { patience, stop };
        let output = limits.step(Step::Write, &self.arguments(Step::Write, self.file), watch)?;
        let copy = TempFile::beside(self.file);
        limits.step(Step::ReadBack, &self.arguments(Step::ReadBack, &copy.0), watch)?;
        let read = std::fs::read(&copy.0).map_err(ProgrammerError::Unreadable)?;
        compare(bytes, &read)?;
        Ok(output.contains(VERIFIED))
    }
}

/// Timeout and stop flag of a run.
struct RunLimits<'a> {
    patience: Duration,
    stop: &'a AtomicBool,
}

impl RunLimits<'_> {
    fn step(
        &self,
        step: Step,
        arguments: &[OsString],
        watch: &mut dyn FnMut(&[u8]),
    ) -> Result<String, ProgrammerError> {
        let ended = run(Command::new(PROGRAM).args(arguments), self.patience, self.stop, watch);
        match ended {
            Ok(ChildEnd::Exited(status, output)) => {
                check_status(step, status, strip_escapes(&output))
            }
            Ok(ChildEnd::TimedOut(_)) => {
                Err(ProgrammerError::Late { step, patience: self.patience })
            }
            Ok(ChildEnd::Interrupted) => Err(ProgrammerError::Interrupted(step)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(ProgrammerError::Missing),
            Err(error) => Err(ProgrammerError::NotRun(error)),
        }
    }
}

fn check_status(step: Step, status: ExitStatus, output: String) -> Result<String, ProgrammerError> {
    if output.contains("Verification failed") {
        return Err(ProgrammerError::Verify(output));
    }
    if status.success() {
        Ok(output)
    } else {
        Err(ProgrammerError::Failed { step, status, output })
    }
}

fn compare(meant: &[u8], read: &[u8]) -> Result<(), ProgrammerError> {
    if meant.len() != read.len() {
        return Err(ProgrammerError::Length { read: read.len(), chip: meant.len() });
    }
    let differ = || meant.iter().zip(read).enumerate().filter(|(_, (meant, read))| meant != read);
    match differ().next() {
        None => Ok(()),
        Some((at, (&meant, &byte))) => Err(ProgrammerError::Differs {
            count: differ().count(),
            at,
            read: byte,
            meant,
            all_blank: read.iter().all(|byte| *byte == 0xFF),
        }),
    }
}

/// A file that is deleted when this is dropped.
struct TempFile(std::path::PathBuf);

impl TempFile {
    fn beside(file: &Path) -> Self {
        let mut name = file.as_os_str().to_owned();
        name.push(format!(".{}.read", std::process::id()));
        Self(name.into())
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0); // it may never have been written
    }
}

/// Returns the output as lines, without escape sequences; a carriage return starts a new line.
pub(crate) fn strip_escapes(output: &[u8]) -> String {
    let mut text = String::new();
    let mut characters = String::from_utf8_lossy(output).into_owned().replace("\r\n", "\n");
    characters = characters.replace('\r', "\n");
    let mut rest = characters.chars();
    while let Some(character) = rest.next() {
        match character {
            // ESC [ parameters, then one letter.
            '\x1B' => drop(rest.find(char::is_ascii_alphabetic)),
            '\n' | '\t' => text.push(character),
            character if character.is_control() => {}
            character => text.push(character),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job<'a>(device: &'a str, file: &'a str) -> WriteJob<'a> {
        WriteJob { device, file: Path::new(file), unprotect: false, protect: false }
    }

    #[test]
    fn the_command_is_that_of_the_manual() {
        assert_eq!(job("SST39SF040", "rom.bin").command_line(), "minipro -p SST39SF040 -w rom.bin");
        let guarded =
            WriteJob { unprotect: true, protect: true, ..job("AT28C256", "my rom's.bin") };
        assert_eq!(guarded.command_line(), "minipro -p AT28C256 -u -w 'my rom'\\''s.bin' -P");
    }

    #[test]
    fn escape_sequences_are_removed() {
        let output =
            b"Found TL866II+\r\nWriting Code...  10%\r\x1B[KWriting Code...  1.00Sec  OK\x07\n";
        assert_eq!(
            strip_escapes(output),
            "Found TL866II+\nWriting Code...  10%\nWriting Code...  1.00Sec  OK\n"
        );
    }

    #[test]
    fn the_first_mismatch_and_their_number_are_reported() {
        assert!(compare(&[1, 2, 3], &[1, 2, 3]).is_ok());
        let error = compare(&[1, 2, 3], &[1, 0, 0xFF]).expect_err("two differ").to_string();
        assert_eq!(
            error,
            "2 bytes of the chip differ from the file, first at 00001h: 00h, expected 02h"
        );
        let error = compare(&[1, 2], &[0xFF, 0xFF]).expect_err("blank").to_string();
        assert!(error.contains("all of it reads FFh"), "{error}");
        let error = compare(&[1, 2], &[1]).expect_err("short").to_string();
        assert!(error.contains("1 bytes of a chip of 2"), "{error}");
    }

    #[test]
    fn the_timeout_exceeds_the_slowest_observed_run() {
        let seconds = |name| run_timeout(&Chip::from_name(name).expect("it is known")).as_secs();
        assert!(seconds("27c512") >= 4 * 26);
        assert!(seconds("sst39sf040") >= 300);
    }
}
