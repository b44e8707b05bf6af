//! Replays a transcript: returns the recorded replies at the recorded times, without waiting.

use cli_support::text::Escape;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rcflash_link::rig::reset::{ResetError, ResetOutcome};
use rcflash_transport::Transport;
use rcflash_transport::time::{Duration, Instant};

use super::transcript::{
    RunningApplication, TRANSCRIPT_FORMAT, TranscriptEntry, TranscriptEvent, TranscriptHeader,
};
use super::{Board, BoardError};

/// A board that replays a transcript.
pub struct ReplayBoard {
    name: String,
    ready: Option<RunningApplication>,
    reader: Arc<Mutex<TranscriptReader>>,
}

impl ReplayBoard {
    /// Opens a transcript and skips to where the board was ready, if it ever was.
    ///
    /// # Errors
    /// Returns [`BoardError::Transcript`] if the file can't be read or is not a transcript.
    pub fn new(file: &Path) -> Result<Self, BoardError> {
        let (_, mut reader) = TranscriptReader::open_file(file)?;
        let ready = reader.find_ready()?;
        if ready.is_none() {
            (_, reader) = TranscriptReader::open_file(file)?;
        }
        let name = format!("transcript {}", file.escaped());
        Ok(Self { name, ready, reader: Arc::new(Mutex::new(reader)) })
    }
}

/// Returns the header of a transcript.
///
/// # Errors
/// Returns [`BoardError::Transcript`] if the file can't be read or is not a transcript.
pub fn read_header(file: &Path) -> Result<TranscriptHeader, BoardError> {
    TranscriptReader::open_file(file).map(|(header, _)| header)
}

impl Board for ReplayBoard {
    fn name(&self) -> &str {
        &self.name
    }

    fn open(&mut self) -> Result<Box<dyn Transport + Send>, BoardError> {
        let mut reader = lock(&self.reader);
        reader.open().map_err(|error| BoardError::Transcript(reader.file.clone(), error))?;
        Ok(Box::new(ReplayedLine { name: self.name.clone(), reader: Arc::clone(&self.reader) }))
    }

    /// Resets nothing: a board that was reset when this was recorded replies as it did then.
    fn reset(&mut self, _line: &mut dyn Transport) -> Result<ResetOutcome, ResetError> {
        Ok(lock(&self.reader).reset())
    }

    fn sleep(&mut self, time: Duration) {
        lock(&self.reader).now += time.as_micros() as u64;
    }

    fn take_preloaded(&mut self) -> Option<RunningApplication> {
        self.ready.take()
    }
}

fn lock(reader: &Mutex<TranscriptReader>) -> MutexGuard<'_, TranscriptReader> {
    reader.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Most bytes in a line of the file; a read or write has some hundreds.
const MAX_LINE_BYTES: u64 = 1 << 20;

/// The latest time of an entry, in microseconds, so that adding a timeout can't overflow.
const MAX_TIMESTAMP_US: u64 = 30 * 365 * 86_400 * 1_000_000;

/// Reads a line; returns `None` at the end of the file.
fn next_line(lines: &mut BufReader<File>) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    lines.take(MAX_LINE_BYTES).read_until(b'\n', &mut line)?;
    if line.len() as u64 == MAX_LINE_BYTES {
        let problem = format!("a line has {MAX_LINE_BYTES} bytes or more");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, problem));
    }
    Ok((!line.is_empty()).then(|| String::from_utf8_lossy(&line).into_owned()))
}

/// Reads a transcript and tracks the replayed time.
struct TranscriptReader {
    file: PathBuf,
    lines: BufReader<File>,
    /// Number of the line read last.
    line_number: u64,
    next: Option<TranscriptEntry>,
    /// Whether the line was already open where the replay starts.
    is_open: bool,
    started: Instant,
    /// Microseconds since `started`.
    now: u64,
}

impl TranscriptReader {
    fn open_file(file: &Path) -> Result<(TranscriptHeader, Self), BoardError> {
        let failed = |error| BoardError::Transcript(file.to_owned(), error);
        let mut lines = BufReader::new(File::open(file).map_err(failed)?);
        let first = next_line(&mut lines).map_err(failed)?.unwrap_or_default();
        let header: TranscriptHeader =
            serde_json::from_str(&first).map_err(|error| failed(error.into()))?;
        if header.transcript != TRANSCRIPT_FORMAT {
            let problem = format!(
                "it has format {}, this program reads {TRANSCRIPT_FORMAT}",
                header.transcript
            );
            return Err(failed(io::Error::other(problem)));
        }
        let file = file.to_owned();
        let started = Instant::now();
        let reader =
            Self { file, lines, line_number: 1, next: None, is_open: false, started, now: 0 };
        Ok((header, reader))
    }

    /// Skips to after the first entry that the board was ready; returns `None` if there is none.
    fn find_ready(&mut self) -> Result<Option<RunningApplication>, BoardError> {
        loop {
            let entry =
                self.take().map_err(|error| BoardError::Transcript(self.file.clone(), error))?;
            match entry {
                None => return Ok(None),
                Some(TranscriptEntry { time_us, event: TranscriptEvent::Ready(ready) }) => {
                    (self.now, self.is_open) = (time_us, true);
                    return Ok(Some(ready));
                }
                Some(_) => {}
            }
        }
    }

    /// Returns the next entry without consuming it.
    fn peek(&mut self) -> io::Result<Option<&mut TranscriptEntry>> {
        if self.next.is_none()
            && let Some(line) = next_line(&mut self.lines)?
        {
            self.line_number += 1;
            self.next = self.entry(&line)?;
        }
        Ok(self.next.as_mut())
    }

    /// Reads an entry; nothing if the transcript ends in the middle of it, where the program that
    /// wrote it did.
    fn entry(&self, line: &str) -> io::Result<Option<TranscriptEntry>> {
        let damaged = |reason: &dyn std::fmt::Display| {
            let (file, line_number) = (self.file.escaped(), self.line_number);
            let problem = format!("{file}:{line_number}: a damaged line: {reason}");
            Err(io::Error::new(io::ErrorKind::InvalidData, problem))
        };
        match serde_json::from_str::<TranscriptEntry>(line) {
            Ok(entry) if entry.time_us > MAX_TIMESTAMP_US => {
                damaged(&"its time is later than thirty years")
            }
            Ok(entry) => Ok(Some(entry)),
            Err(error) if line.ends_with('\n') => damaged(&error),
            Err(_) => Ok(None),
        }
    }

    fn take(&mut self) -> io::Result<Option<TranscriptEntry>> {
        self.peek()?;
        Ok(self.next.take())
    }

    fn open(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.is_open) {
            return Ok(());
        }
        while let Some(TranscriptEntry { time_us, event }) = self.take()? {
            self.now = self.now.max(time_us);
            match event {
                TranscriptEvent::Opened {} => return Ok(()),
                TranscriptEvent::OpenFailed(reason) => return Err(io::Error::other(reason)),
                TranscriptEvent::Received(_)
                | TranscriptEvent::ReadTimedOut {}
                | TranscriptEvent::Reset {}
                | TranscriptEvent::ReadFailed(_) => {}
                other => return Err(self.divergence_error(&format!("{other:?}"), "opens the line")),
            }
        }
        Err(io::Error::other("it ends before the line is opened"))
    }

    /// Returns how the board was reset here; what can't be read fails at the next read.
    fn reset(&mut self) -> ResetOutcome {
        match self.peek() {
            Ok(Some(TranscriptEntry { event: TranscriptEvent::Reset {}, .. })) => {
                self.next = None;
                ResetOutcome::Done
            }
            _ => ResetOutcome::ManualResetNeeded,
        }
    }

    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        self.skip_annotations()?;
        let now = self.now;
        let Some(entry) = self.peek()? else {
            self.now = now + timeout.as_micros() as u64;
            return Ok(0);
        };
        let at = entry.time_us.max(now);
        let count = match &mut entry.event {
            TranscriptEvent::Received(bytes) if bytes.0.len() > buffer.len() => {
                let rest = bytes.0.split_off(buffer.len());
                buffer.copy_from_slice(&bytes.0);
                bytes.0 = rest;
                self.now = at;
                return Ok(buffer.len());
            }
            TranscriptEvent::Received(bytes) => {
                buffer[..bytes.0.len()].copy_from_slice(&bytes.0);
                Ok(bytes.0.len())
            }
            TranscriptEvent::ReadTimedOut {} => Ok(0),
            TranscriptEvent::ReadFailed(reason) => Err(io::Error::other(std::mem::take(reason))),
            _ => {
                self.now = now + timeout.as_micros() as u64;
                return Ok(0);
            }
        };
        (self.now, self.next) = (at, None);
        count
    }

    fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let entry = self.take()?;
            let Some(TranscriptEntry { time_us, event }) = entry else {
                return Err(io::Error::other(format!("{} ends here", self.file.escaped())));
            };
            self.now = self.now.max(time_us);
            match event {
                TranscriptEvent::Sent(sent) if bytes.starts_with(&sent.0) => {
                    bytes = &bytes[sent.0.len()..]
                }
                TranscriptEvent::WriteFailed(reason) => return Err(io::Error::other(reason)),
                TranscriptEvent::ReadTimedOut {}
                | TranscriptEvent::Reset {}
                | TranscriptEvent::Ready(_) => {}
                other => {
                    return Err(self.divergence_error(
                        &format!("{other:02X?}"),
                        &format!("sends {bytes:02X?}"),
                    ));
                }
            }
        }
        Ok(())
    }

    fn skip_annotations(&mut self) -> io::Result<()> {
        while let Some(TranscriptEntry {
            event: TranscriptEvent::Reset {} | TranscriptEvent::Ready(_),
            ..
        }) = self.peek()?
        {
            self.next = None;
        }
        Ok(())
    }

    fn divergence_error(&self, then: &str, now: &str) -> io::Error {
        let file = self.file.escaped();
        let line = self.line_number;
        io::Error::other(format!(
            "{file}:{line}: the host {now}, but when this was recorded it was {then}; replay with the same cases \
             and options, and with the program that recorded it"
        ))
    }
}

/// The line of a [`ReplayBoard`].
struct ReplayedLine {
    name: String,
    reader: Arc<Mutex<TranscriptReader>>,
}

impl Transport for ReplayedLine {
    fn name(&self) -> &str {
        &self.name
    }

    fn now(&self) -> Instant {
        let reader = lock(&self.reader);
        reader.started + Duration::from_micros(reader.now)
    }

    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        lock(&self.reader).read(buffer, timeout)
    }

    fn write(&mut self, bytes: &[u8], _deadline: Instant) -> io::Result<()> {
        lock(&self.reader).write(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADING: &str = "{\"transcript\":1,\"program\":\"a test\",\"board\":\"b\",\"profile\":\"p\",\"cases\":[]}\n";

    /// Returns the error of a replay that opens the line and reads.
    fn played(lines: &str) -> Option<String> {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("tape");
        std::fs::write(&file, format!("{HEADING}{lines}")).expect("it is written");
        let played = ReplayBoard::new(&file).and_then(|mut board| {
            let mut line = board.open()?;
            let mut read = || line.read(&mut [0; 9], Duration::from_secs(1));
            let received = (0..4).try_for_each(|_| read().map(|_| ()));
            received.map_err(|error| BoardError::Transcript(file.clone(), error))
        });
        played.err().map(|error| error.to_string())
    }

    #[test]
    fn a_damaged_line_is_named_and_a_torn_end_is_the_end() {
        let opened = "{\"time_us\":1,\"opened\":{}}\n";
        for (line, expected) in [
            (
                "{\"time_us\":18446744073709551615,\"read_timed_out\":{}}\n",
                "tape:3: a damaged line: its time is",
            ),
            ("{\"time_us\":2,\"received\":\"0\"}\n", "tape:3: a damaged line: "),
            ("nonsense\n{\"time_us\":2,\"read_timed_out\":{}}\n", "tape:3: a damaged line: "),
        ] {
            let error = played(&format!("{opened}{line}")).expect("it is damaged");
            assert!(error.contains(expected), "{error}");
        }
        for end in ["", "{\"time_us\":2,\"rea", "{\"time_us\":2,\"read_timed_out\":{}}\n"] {
            assert_eq!(played(&format!("{opened}{end}")), None);
        }
    }
}
