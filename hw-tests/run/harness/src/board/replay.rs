//! Replays a transcript: returns the recorded replies at the recorded times, without waiting.

use cli_support::files::read_limited;
use cli_support::text::Escape;
use std::collections::VecDeque;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use rcflash_link::escape_bytes;
use rcflash_link::rig::reset::{ResetError, ResetOutcome};
use rcflash_transport::Transport;
use rcflash_transport::time::{Duration, Instant};

use super::transcript::{
    RunningApplication, TRANSCRIPT_FORMAT, TranscriptEntry, TranscriptEvent, TranscriptHeader,
};
use super::{Board, BoardError, lock};

/// A board that replays a transcript.
pub(crate) struct ReplayBoard {
    name: String,
    ready: Option<RunningApplication>,
    replay: Arc<Mutex<Replay>>,
}

impl ReplayBoard {
    /// Reads a transcript, and skips to where the board was ready, if it ever was.
    ///
    /// # Errors
    /// Returns [`BoardError::Transcript`] if the file can't be read or is not a transcript.
    pub(crate) fn new(file: &Path) -> Result<Self, BoardError> {
        let (_, lines) = open_file(file)?;
        let entries = read_entries(file, lines)?;
        let mut replay = Replay::new(file, entries);
        let ready = replay.skip_to_ready();
        let name = format!("transcript {}", file.escaped());
        Ok(Self { name, ready, replay: Arc::new(Mutex::new(replay)) })
    }
}

/// Returns the header of a transcript.
///
/// # Errors
/// Returns [`BoardError::Transcript`] if the file can't be read or is not a transcript.
pub fn read_header(file: &Path) -> Result<TranscriptHeader, BoardError> {
    open_file(file).map(|(header, _)| header)
}

/// Opens a transcript. Returns its header, and the lines after it.
fn open_file(file: &Path) -> Result<(TranscriptHeader, BufReader<File>), BoardError> {
    let failed = |error| BoardError::Transcript(file.to_owned(), error);
    let mut lines = BufReader::new(File::open(file).map_err(failed)?);
    let mut first = Vec::new();
    lines.by_ref().take(MAX_HEADER_BYTES).read_until(b'\n', &mut first).map_err(failed)?;
    if first.len() as u64 == MAX_HEADER_BYTES {
        let problem = format!("its first line has {MAX_HEADER_BYTES} bytes or more");
        return Err(failed(io::Error::new(ErrorKind::FileTooLarge, problem)));
    }
    let header: TranscriptHeader =
        serde_json::from_slice(&first).map_err(|error| failed(error.into()))?;
    if header.transcript != TRANSCRIPT_FORMAT {
        let found = header.transcript;
        let problem = format!("it has format {found}, this program reads {TRANSCRIPT_FORMAT}");
        return Err(failed(io::Error::other(problem)));
    }
    Ok((header, lines))
}

/// Reads the entries. The last line may be torn, where the program that wrote it ended.
fn read_entries(
    file: &Path,
    lines: BufReader<File>,
) -> Result<VecDeque<TranscriptEntry>, BoardError> {
    let failed = |error| BoardError::Transcript(file.to_owned(), error);
    let bytes = read_limited(lines, MAX_TRANSCRIPT_BYTES).map_err(failed)?;
    let mut entries = VecDeque::new();
    for (line, number) in bytes.split_inclusive(|byte| *byte == b'\n').zip(2..) {
        let damaged = |reason: &dyn Display| {
            let reason = reason.to_string();
            let line = format!("{}:{number}: a damaged line", file.escaped());
            failed(io::Error::new(ErrorKind::InvalidData, format!("{line}: {}", reason.escaped())))
        };
        match serde_json::from_slice::<TranscriptEntry>(line) {
            Ok(entry) if entry.time_us > MAX_TIMESTAMP_US => {
                return Err(damaged(&"its time is later than thirty years"));
            }
            Ok(entry) => entries.push_back(entry),
            Err(error) if line.ends_with(b"\n") => return Err(damaged(&error)),
            Err(_) => {}
        }
    }
    Ok(entries)
}

impl Board for ReplayBoard {
    fn name(&self) -> &str {
        &self.name
    }

    fn open(&mut self) -> Result<Box<dyn Transport + Send>, BoardError> {
        let mut replay = lock(&self.replay);
        replay.open().map_err(|error| BoardError::Transcript(replay.file.clone(), error))?;
        Ok(Box::new(ReplayedLine { name: self.name.clone(), replay: Arc::clone(&self.replay) }))
    }

    /// Resets nothing: a board that was reset when this was recorded replies as it did then.
    fn reset(&mut self, _line: &mut dyn Transport) -> Result<ResetOutcome, ResetError> {
        Ok(lock(&self.replay).reset())
    }

    fn sleep(&mut self, time: Duration) {
        lock(&self.replay).now += time.as_micros() as u64;
    }

    fn take_preloaded(&mut self) -> Option<RunningApplication> {
        self.ready.take()
    }
}

/// The longest header, and the largest transcript that is read, in bytes.
const MAX_HEADER_BYTES: u64 = 16 << 20;
const MAX_TRANSCRIPT_BYTES: u64 = 1 << 30;
/// The latest time of an entry, in microseconds, so that adding a timeout can't overflow.
const MAX_TIMESTAMP_US: u64 = 30 * 365 * 86_400 * 1_000_000;

/// The entries of a transcript that are left to replay, and the replayed time.
struct Replay {
    file: PathBuf,
    entries: VecDeque<TranscriptEntry>,
    /// Bytes that had arrived before bytes were sent, and are not read yet. The host looks at the
    /// clock more often than a transcript has times, so that a wait may end some bytes earlier
    /// than it did when this was recorded.
    unread: VecDeque<u8>,
    /// The number of the line of the entry taken last.
    line_number: u64,
    /// Whether the line was already open where the replay starts.
    is_open: bool,
    started: Instant,
    /// Microseconds since `started`.
    now: u64,
}

impl Replay {
    fn new(file: &Path, entries: VecDeque<TranscriptEntry>) -> Self {
        let (file, started) = (file.to_owned(), Instant::now());
        let unread = VecDeque::new();
        Self { file, entries, unread, line_number: 1, is_open: false, started, now: 0 }
    }

    /// Skips to after the first entry that the board was ready, if there is one.
    fn skip_to_ready(&mut self) -> Option<RunningApplication> {
        let is_ready = |entry: &TranscriptEntry| matches!(entry.event, TranscriptEvent::Ready(_));
        for _ in 0..self.entries.iter().position(is_ready)? {
            self.take();
        }
        let TranscriptEntry { time_us, event: TranscriptEvent::Ready(ready) } = self.take()? else {
            return None;
        };
        (self.now, self.is_open) = (time_us, true);
        Some(ready)
    }

    fn take(&mut self) -> Option<TranscriptEntry> {
        self.take_if(|_| true)
    }

    fn take_if(&mut self, is_wanted: fn(&TranscriptEntry) -> bool) -> Option<TranscriptEntry> {
        self.entries.front().filter(|entry| is_wanted(entry))?;
        self.line_number += 1;
        self.entries.pop_front()
    }

    fn open(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.is_open) {
            return Ok(());
        }
        self.unread.clear();
        while let Some(TranscriptEntry { time_us, event }) = self.take() {
            self.now = self.now.max(time_us);
            match event {
                TranscriptEvent::Opened {} => return Ok(()),
                TranscriptEvent::OpenFailed(reason) => return Err(io::Error::other(reason)),
                TranscriptEvent::Reset {} => {}
                read if read.is_read() => {}
                other => return Err(self.divergence_error(&other, "opens the line")),
            }
        }
        Err(io::Error::other("it ends before the line is opened"))
    }

    /// Returns how the board was reset here.
    fn reset(&mut self) -> ResetOutcome {
        match self.take_if(|entry| matches!(entry.event, TranscriptEvent::Reset {})) {
            Some(_) => ResetOutcome::Done,
            None => ResetOutcome::ManualResetNeeded,
        }
    }

    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        self.skip_annotations();
        if self.unread.is_empty() {
            let entry = self.take_if(|entry| entry.event.is_read());
            let Some(TranscriptEntry { time_us, event }) = entry else {
                self.now += timeout.as_micros() as u64;
                return Ok(0);
            };
            self.now = self.now.max(time_us);
            match event {
                TranscriptEvent::Received(bytes) => self.unread.extend(bytes.0),
                TranscriptEvent::ReadFailed(reason) => return Err(io::Error::other(reason)),
                _ => return Ok(0),
            }
        }
        self.unread.read(buffer)
    }

    fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let entry = self.take();
            let Some(TranscriptEntry { time_us, event }) = entry else {
                let now = format!("the host sends {}", escape_bytes(bytes));
                let problem =
                    format!("{}: {now}, but the recording ends here", self.file.escaped());
                return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
            };
            self.now = self.now.max(time_us);
            match event {
                TranscriptEvent::Sent(sent) if bytes.starts_with(&sent.0) => {
                    bytes = &bytes[sent.0.len()..]
                }
                TranscriptEvent::WriteFailed(reason) => return Err(io::Error::other(reason)),
                TranscriptEvent::Received(received) => self.unread.extend(received.0),
                TranscriptEvent::ReadTimedOut {} => {}
                event if event.is_annotation() => {}
                other => {
                    let now = format!("sends {}", escape_bytes(bytes));
                    return Err(self.divergence_error(&other, &now));
                }
            }
        }
        Ok(())
    }

    fn skip_annotations(&mut self) {
        while self.take_if(|entry| entry.event.is_annotation()).is_some() {}
    }

    fn divergence_error(&self, then: &TranscriptEvent, now: &str) -> io::Error {
        let (file, line) = (self.file.escaped(), self.line_number);
        let problem = format!(
            "{file}:{line}: the host {now}, but when this was recorded it {then}; replay with the same cases \
             and options, and with the program that recorded it"
        );
        io::Error::new(io::ErrorKind::InvalidData, problem)
    }
}

/// The line of a [`ReplayBoard`].
struct ReplayedLine {
    name: String,
    replay: Arc<Mutex<Replay>>,
}

impl Transport for ReplayedLine {
    fn name(&self) -> &str {
        &self.name
    }

    fn now(&self) -> Instant {
        let replay = lock(&self.replay);
        replay.started + Duration::from_micros(replay.now)
    }

    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        lock(&self.replay).read(buffer, timeout)
    }

    fn write(&mut self, bytes: &[u8], _deadline: Instant) -> io::Result<()> {
        lock(&self.replay).write(bytes)
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
    fn bytes_that_arrived_before_a_write_are_read_after_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("tape");
        let lines = [
            r#"{"time_us":1,"opened":{}}"#,
            r#"{"time_us":2,"received":"0102"}"#,
            r#"{"time_us":3,"received":"03"}"#,
            r#"{"time_us":4,"sent":"AA"}"#,
            r#"{"time_us":5,"received":"04"}"#,
        ];
        std::fs::write(&file, format!("{HEADING}{}\n", lines.join("\n"))).expect("it is written");
        let mut board = ReplayBoard::new(&file).expect("a transcript");
        let mut line = board.open().expect("it was opened");
        let mut buffer = [0; 2];
        let wait = Duration::from_millis(1);
        line.write(&[0xAA], line.now() + wait).expect("it was sent");
        assert_eq!((line.read(&mut buffer, wait).expect("bytes"), buffer), (2, [1, 2]));
        assert_eq!((line.read(&mut buffer, wait).expect("a byte"), buffer[0]), (1, 3));
        assert_eq!((line.read(&mut buffer, wait).expect("a byte"), buffer[0]), (1, 4));
        assert_eq!(line.read(&mut buffer, wait).expect("the end"), 0);
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
