//! Has a chip written by `minipro`, the program for the TL866 and T48 programmers, and reads it
//! back.
//!
//! Its options and words are those of version 0.7: all of them on standard error, exit status 1
//! whatever failed.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::child::{ChildEnd, run};
use super::chip::{Chip, Kind};

/// The program, which is found by `PATH`.
pub(crate) const PROGRAM: &str = "minipro";
/// The words of `minipro` for a chip that holds the file.
const VERIFIED: &str = "Verification OK";
/// Lines of its words that a message repeats.
const LINES: usize = 4;

/// The task of writing a chip.
#[derive(Debug, Clone)]
pub(crate) struct Job<'a> {
    /// The chip's name for `minipro`.
    pub(crate) device: &'a str,
    /// The file that it is written from, Intel HEX or binary: `minipro` tells by itself.
    pub(crate) file: &'a Path,
    /// Take the chip's protection off first.
    pub(crate) unprotect: bool,
    /// Put it on afterwards.
    pub(crate) protect: bool,
}

/// Which of its two runs is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Erase, write, verify.
    Write,
    /// Read back.
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

/// Error returned for a chip that is not written, or not known to be.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProgrammerError {
    /// The program is not installed.
    #[error(
        "there is no program minipro in PATH: install it (`apt-get install minipro` where the \
         system has such a package; its home is gitlab.com/DavidGriffith/minipro), or take the \
         file to another programmer"
    )]
    Missing,
    /// It could not be started or watched.
    #[error("minipro can't be run: {0}")]
    NotRun(io::Error),
    /// It did not end.
    #[error(
        "{step}: minipro did not end within {} s, and was ended; is the programmer stuck? Unplug \
         it and plug it in again", patience.as_secs()
    )]
    Late {
        /// At what.
        step: Step,
        /// The time it was given.
        patience: Duration,
    },
    /// The user stopped it.
    #[error("stopped while {0}: what the chip holds is not known; write it again")]
    Interrupted(Step),
    /// It failed.
    #[error("{step}: minipro failed ({status}){}{}", Quoted(.said), hint(.said))]
    Failed {
        /// At what.
        step: Step,
        /// Its exit status.
        status: ExitStatus,
        /// The end of what it said.
        said: String,
    },
    /// The chip holds other bytes, by what it says.
    #[error("the chip does not hold what was written{}{}", Quoted(.0), hint(.0))]
    Verify(String),
    /// The file that was read back can't be compared.
    #[error("what minipro read back can't be read: {0}")]
    Unreadable(io::Error),
    /// The content that was read back has another length.
    #[error("minipro read back {read} bytes of a chip of {chip}: is the device the right one?")]
    Length {
        /// Bytes that were read.
        read: usize,
        /// Bytes that the chip has.
        chip: usize,
    },
    /// The content that was read back differs.
    #[error("the chip read back differs in {count} bytes from the file, first at {at:05X}h: \
    {read:02X}h in place of {meant:02X}h{}", all_ff(.all_blank))]
    Differs {
        /// The number of bytes.
        count: usize,
        /// The first of them.
        at: usize,
        /// The value in the chip.
        read: u8,
        /// The value in the file.
        meant: u8,
        /// Whether the whole chip reads FFh.
        all_blank: bool,
    },
}

impl ProgrammerError {
    /// Whether the chip was tried and is wrong.
    #[must_use]
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

/// The words of `minipro`, after a message.
struct Quoted<'a>(&'a str);

impl std::fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let lines: Vec<_> = self.0.lines().filter(|line| !line.trim().is_empty()).collect();
        let last = &lines[lines.len().saturating_sub(LINES)..];
        if last.is_empty() { Ok(()) } else { write!(f, ": {}", last.join("; ")) }
    }
}

/// Returns advice for its message.
fn hint(said: &str) -> &'static str {
    let said = said.to_ascii_lowercase();
    let hints = [
        ("no programmer found", ". Is it plugged in, and may you use it (minipro's udev rules)?"),
        ("chip id", ". Is this the chip? --device names another, `minipro -L` lists them"),
        ("not found", ". `minipro -L` lists the devices, --device names one"),
        ("write-protected", ". Take the protection off: leave --no-unprotect out"),
        ("verification failed", ". Is the chip blank, and of the maker that --device names?"),
    ];
    hints.iter().find(|(words, _)| said.contains(words)).map_or("", |(_, hint)| hint)
}

/// Returns the time that `minipro` may take for a chip: more than four times what the slowest of
/// them was seen to need.
#[must_use]
pub(crate) fn patience(chip: &Chip) -> Duration {
    const CONNECTING: u64 = 60;
    const SECONDS_PER_KIB: f64 = 2.0; // a 27C512 takes 26 s for its 64 KiB
    let slow = if chip.kind == Kind::Flash { 1.0 } else { SECONDS_PER_KIB };
    Duration::from_secs(CONNECTING) + Duration::from_secs_f64(slow * (chip.size / 1024) as f64)
}

impl Job<'_> {
    fn words(&self, step: Step, file: &Path) -> Vec<OsString> {
        let mut words: Vec<OsString> = vec!["-p".into(), self.device.into()];
        if step == Step::Write && self.unprotect {
            words.push("-u".into());
        }
        words.push(if step == Step::Write { "-w" } else { "-r" }.into());
        words.push(file.into());
        if step == Step::Write && self.protect {
            words.push("-P".into());
        }
        words
    }

    /// The command that writes the chip, as it is typed into a shell.
    #[must_use]
    pub(crate) fn command_line(&self) -> String {
        let words = self.words(Step::Write, self.file);
        let words = words.iter().map(|word| quoted(&word.to_string_lossy()));
        std::iter::once(PROGRAM.to_owned()).chain(words).collect::<Vec<_>>().join(" ")
    }

    /// Writes the chip, reads it back, and compares with `bytes`, all that it is to hold. What
    /// `minipro` says goes to `watch` as it comes. `false` when it did not say that it has
    /// verified; the comparison was made all the same.
    ///
    /// # Errors
    /// The chip is wrong, or the programmer did not do its work.
    pub(crate) fn run(
        &self,
        bytes: &[u8],
        patience: Duration,
        stop: &AtomicBool,
        watch: &mut dyn FnMut(&[u8]),
    ) -> Result<bool, ProgrammerError> {
        let limits = Limits { patience, stop };
        let said = limits.step(Step::Write, &self.words(Step::Write, self.file), watch)?;
        let copy = Aside::beside(self.file);
        limits.step(Step::ReadBack, &self.words(Step::ReadBack, &copy.0), watch)?;
        let read = std::fs::read(&copy.0).map_err(ProgrammerError::Unreadable)?;
        compare(bytes, &read)?;
        Ok(said.contains(VERIFIED))
    }
}

/// The time each run may take, and what ends it.
struct Limits<'a> {
    patience: Duration,
    stop: &'a AtomicBool,
}

impl Limits<'_> {
    /// One run; what it said.
    fn step(
        &self,
        step: Step,
        words: &[OsString],
        watch: &mut dyn FnMut(&[u8]),
    ) -> Result<String, ProgrammerError> {
        let ended = run(Command::new(PROGRAM).args(words), self.patience, self.stop, watch);
        match ended {
            Ok(ChildEnd::Itself(status, said)) => judged(step, status, plain(&said)),
            Ok(ChildEnd::Late) => Err(ProgrammerError::Late { step, patience: self.patience }),
            Ok(ChildEnd::Interrupted) => Err(ProgrammerError::Interrupted(step)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(ProgrammerError::Missing),
            Err(error) => Err(ProgrammerError::NotRun(error)),
        }
    }
}

fn judged(step: Step, status: ExitStatus, said: String) -> Result<String, ProgrammerError> {
    if said.contains("Verification failed") {
        return Err(ProgrammerError::Verify(said));
    }
    if status.success() { Ok(said) } else { Err(ProgrammerError::Failed { step, status, said }) }
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

/// A file that is gone when it is no longer needed.
struct Aside(std::path::PathBuf);

impl Aside {
    fn beside(file: &Path) -> Self {
        let mut name = file.as_os_str().to_owned();
        name.push(format!(".{}.read", std::process::id()));
        Self(name.into())
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0); // it may never have been written
    }
}

/// Returns the output as lines, without the sequences that move a cursor; a carriage return
/// begins a line.
#[must_use]
pub(crate) fn plain(said: &[u8]) -> String {
    let mut text = String::new();
    let mut characters = String::from_utf8_lossy(said).into_owned().replace("\r\n", "\n");
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

/// A word as a shell takes it for one.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./@+:,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job<'a>(device: &'a str, file: &'a str) -> Job<'a> {
        Job { device, file: Path::new(file), unprotect: false, protect: false }
    }

    #[test]
    fn the_command_is_that_of_the_manual() {
        assert_eq!(job("SST39SF040", "rom.bin").command_line(), "minipro -p SST39SF040 -w rom.bin");
        let guarded = Job { unprotect: true, protect: true, ..job("AT28C256", "my rom's.bin") };
        assert_eq!(guarded.command_line(), "minipro -p AT28C256 -u -w 'my rom'\\''s.bin' -P");
    }

    #[test]
    fn its_words_are_read_without_their_ornaments() {
        let said =
            b"Found TL866II+\r\nWriting Code...  10%\r\x1B[KWriting Code...  1.00Sec  OK\x07\n";
        assert_eq!(
            plain(said),
            "Found TL866II+\nWriting Code...  10%\nWriting Code...  1.00Sec  OK\n"
        );
    }

    #[test]
    fn the_first_difference_and_their_number_are_told() {
        assert!(compare(&[1, 2, 3], &[1, 2, 3]).is_ok());
        let error = compare(&[1, 2, 3], &[1, 0, 0xFF]).expect_err("two differ").to_string();
        assert_eq!(
            error,
            "the chip read back differs in 2 bytes from the file, first at 00001h: 00h in place \
             of 02h"
        );
        let error = compare(&[1, 2], &[0xFF, 0xFF]).expect_err("blank").to_string();
        assert!(error.contains("all of it reads FFh"), "{error}");
        let error = compare(&[1, 2], &[1]).expect_err("short").to_string();
        assert!(error.contains("1 bytes of a chip of 2"), "{error}");
    }

    #[test]
    fn there_is_time_for_the_slowest_that_was_seen() {
        let seconds = |name| patience(&Chip::named(name).expect("it is known")).as_secs();
        assert!(seconds("27c512") >= 4 * 26);
        assert!(seconds("sst39sf040") >= 300);
    }
}
