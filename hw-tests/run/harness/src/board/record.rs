//! Records the traffic between the host and any board in a transcript.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use cli_support::text::Escape;
use rcflash_link::rig::reset::{ResetError, ResetOutcome};
use rcflash_transport::Transport;
use rcflash_transport::time::{Duration, Instant};

use super::transcript::{
    HexBytes, RunningApplication, TRANSCRIPT_FORMAT, TRANSCRIPT_MAGIC, TranscriptEntry,
    TranscriptEvent, TranscriptHeader,
};
use super::{Board, BoardError, lock};
use crate::file_system::{AppendFile, FileSystem, LineAppender, PathKind, has_magic};

/// Options of a transcript to record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordOptions {
    /// The file to write.
    pub file: PathBuf,
    /// The names of the cases that the run requests.
    pub cases: Vec<String>,
    /// Whether a file that is not a transcript is replaced.
    pub force: bool,
}

impl RecordOptions {
    /// Returns the first line of the transcript.
    pub fn header(&self, board: &str, profile: &str, full: bool) -> TranscriptHeader {
        TranscriptHeader {
            transcript: TRANSCRIPT_FORMAT,
            program: concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION")).to_owned(),
            board: board.to_owned(),
            profile: profile.to_owned(),
            cases: self.cases.clone(),
            full,
        }
    }
}

/// A board whose line is recorded.
pub struct RecordedBoard {
    board: Box<dyn Board>,
    transcript: Arc<Mutex<TranscriptWriter>>,
}

/// The transcript's writer, shared by board and lines. Each event is written at once, so that a
/// crash loses none.
struct TranscriptWriter {
    path: PathBuf,
    lines: LineAppender,
    started: Option<Instant>,
    last_us: u64,
}

impl RecordedBoard {
    /// Starts a transcript. Replaces an earlier transcript of this name; replaces another file
    /// only if [`RecordOptions::force`] is set.
    ///
    /// # Errors
    /// Returns [`BoardError::NotATranscript`] if the path is taken by something else, and
    /// [`BoardError::Transcript`] if the file can't be written.
    pub fn new(
        board: Box<dyn Board>,
        file_system: &dyn FileSystem,
        recording: &RecordOptions,
        header: &TranscriptHeader,
    ) -> Result<Self, BoardError> {
        let path = &recording.file;
        let mut lines = LineAppender::new(open_file(file_system, path, recording.force)?, 0);
        // Lines may be lost in a power cut, but not the magic by which the file is recognised.
        write_line(&mut lines, header)
            .and_then(|()| lines.sync())
            .map_err(|error| BoardError::Transcript(path.clone(), error))?;
        let writer = TranscriptWriter { path: path.clone(), lines, started: None, last_us: 0 };
        Ok(Self { board, transcript: Arc::new(Mutex::new(writer)) })
    }
}

/// Opens the file for a transcript, empty.
fn open_file(
    file_system: &dyn FileSystem,
    path: &Path,
    force: bool,
) -> Result<Box<dyn AppendFile>, BoardError> {
    let failed = |error| BoardError::Transcript(path.to_owned(), error);
    match file_system.path_kind(path).map_err(failed)? {
        PathKind::Missing => return file_system.create(path).map_err(failed),
        PathKind::File(_) if force => {}
        PathKind::File(_) => {
            let start =
                file_system.read_prefix(path, TRANSCRIPT_MAGIC.len() as u64).map_err(failed)?;
            if !has_magic(&start, TRANSCRIPT_MAGIC) {
                return Err(BoardError::NotATranscript(path.to_owned()));
            }
        }
        PathKind::Directory | PathKind::Other => {
            return Err(BoardError::NotATranscript(path.to_owned()));
        }
    }
    let mut file = file_system.open(path).map_err(failed)?;
    file.truncate(0).map_err(failed)?;
    Ok(file)
}

fn write_line(lines: &mut LineAppender, line: &impl serde::Serialize) -> io::Result<()> {
    lines.append(&(serde_json::to_string(line)? + "\n"))
}

impl TranscriptWriter {
    /// Records an event, at the time of the previous one if `now` is `None`.
    fn record(&mut self, now: Option<Instant>, event: TranscriptEvent) -> io::Result<()> {
        if let Some(now) = now {
            let started = *self.started.get_or_insert(now);
            self.last_us = now.saturating_duration_since(started).as_micros() as u64;
        }
        let time_us = self.last_us;
        write_line(&mut self.lines, &TranscriptEntry { time_us, event }).map_err(|error| {
            let path = self.path.escaped();
            io::Error::new(error.kind(), format!("can't write the transcript {path}: {error}"))
        })
    }
}

impl Board for RecordedBoard {
    fn inner(&self) -> Option<&dyn Board> {
        Some(&*self.board)
    }

    fn inner_mut(&mut self) -> Option<&mut dyn Board> {
        Some(&mut *self.board)
    }

    fn open(&mut self) -> Result<Box<dyn Transport + Send>, BoardError> {
        let opened = self.board.open();
        let (now, event) = match &opened {
            Ok(line) => (Some(line.now()), TranscriptEvent::Opened {}),
            Err(error) => (None, TranscriptEvent::OpenFailed(error.to_string())),
        };
        // A run that can't be recorded ends: another attempt would fail as well.
        let mut transcript = lock(&self.transcript);
        let recorded = transcript.record(now, event);
        let line = opened?;
        recorded.map_err(|error| BoardError::Transcript(transcript.path.clone(), error))?;
        Ok(Box::new(RecordedLine { line, transcript: Arc::clone(&self.transcript) }))
    }

    fn reset(&mut self, line: &mut dyn Transport) -> Result<ResetOutcome, ResetError> {
        let outcome = self.board.reset(line)?;
        if outcome == ResetOutcome::Done {
            let _ = lock(&self.transcript).record(None, TranscriptEvent::Reset {});
        }
        Ok(outcome)
    }

    fn on_ready(&mut self, ready: &RunningApplication) {
        let _ = lock(&self.transcript).record(None, TranscriptEvent::Ready(ready.clone()));
        self.board.on_ready(ready);
    }
}

/// A line whose traffic is recorded.
struct RecordedLine {
    line: Box<dyn Transport + Send>,
    transcript: Arc<Mutex<TranscriptWriter>>,
}

impl Transport for RecordedLine {
    fn inner(&self) -> Option<&dyn Transport> {
        Some(&*self.line)
    }

    fn inner_mut(&mut self) -> Option<&mut dyn Transport> {
        Some(&mut *self.line)
    }

    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        let received = self.line.read(buffer, timeout);
        let event = match &received {
            Ok(0) => TranscriptEvent::ReadTimedOut {},
            Ok(count) => TranscriptEvent::Received(HexBytes(buffer[..*count].to_vec())),
            Err(error) => TranscriptEvent::ReadFailed(error.to_string()),
        };
        lock(&self.transcript).record(Some(self.line.now()), event)?;
        received
    }

    fn write(&mut self, bytes: &[u8], deadline: Instant) -> io::Result<()> {
        let sent = self.line.write(bytes, deadline);
        let event = match &sent {
            Ok(()) => TranscriptEvent::Sent(HexBytes(bytes.to_vec())),
            Err(error) => TranscriptEvent::WriteFailed(error.to_string()),
        };
        lock(&self.transcript).record(Some(self.line.now()), event)?;
        sent
    }
}
