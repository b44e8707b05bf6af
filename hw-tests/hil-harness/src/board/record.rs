//! Records what passes between the host and any board.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use cli_support::text::Show;
use rcflash_transport::time::{Duration, Instant};
use rcflash_transport::{Capabilities, ControlLine, Passed, Transport};

use super::transcript::{Entry, Event, FORMAT, Heading, Hex, MARK, Ready};
use super::{Board, BoardError, Button, FaultCounts, Instruments};
use crate::disk::{Disk, DiskFile, Found, Lines, is_marked};

/// A transcript that is to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recording {
    /// Its file.
    pub file: PathBuf,
    /// The cases that the board will be asked for.
    pub cases: Vec<String>,
    /// Whether a file that is no transcript is replaced.
    pub force: bool,
}

impl Recording {
    /// Returns the first line of the transcript.
    #[must_use]
    pub fn heading(&self, board: &str, profile: &str, full: bool) -> Heading {
        Heading {
            transcript: FORMAT,
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
    tape: Tape,
}

/// Writer of the transcript. It is written line by line, so that what happened before a
/// crash is there.
#[derive(Clone)]
struct Tape(Arc<Mutex<Reel>>);

struct Reel {
    path: PathBuf,
    lines: Lines,
    began: Option<Instant>,
    last: u64,
}

impl RecordedBoard {
    /// Begins a transcript. An earlier transcript of this name is replaced, another file only by
    /// force.
    ///
    /// # Errors
    /// There is something else of this name, or the file can't be written.
    pub fn new(
        board: Box<dyn Board>,
        disk: &dyn Disk,
        recording: &Recording,
        heading: &Heading,
    ) -> Result<Self, BoardError> {
        let path = &recording.file;
        let mut lines = Lines::new(begin(disk, path, recording.force)?, 0);
        // A power cut takes lines, but not the mark by which the file is known again.
        write_line(&mut lines, heading)
            .and_then(|()| lines.flush())
            .map_err(|error| BoardError::Transcript(path.clone(), error))?;
        let reel = Reel { path: path.clone(), lines, began: None, last: 0 };
        Ok(Self { board, tape: Tape(Arc::new(Mutex::new(reel))) })
    }
}

/// Opens an empty file for a transcript.
fn begin(disk: &dyn Disk, path: &Path, force: bool) -> Result<Box<dyn DiskFile>, BoardError> {
    let failed = |error| BoardError::Transcript(path.to_owned(), error);
    match disk.look(path).map_err(failed)? {
        Found::Nothing => return disk.create(path).map_err(failed),
        Found::File(_) if force => {}
        Found::File(_) => {
            let beginning = disk.beginning(path, MARK.len() as u64).map_err(failed)?;
            if !is_marked(&beginning, MARK) {
                return Err(BoardError::NoTranscript(path.to_owned()));
            }
        }
        Found::Folder | Found::Other => return Err(BoardError::NoTranscript(path.to_owned())),
    }
    let mut file = disk.open(path).map_err(failed)?;
    file.cut(0).map_err(failed)?;
    Ok(file)
}

fn write_line(lines: &mut Lines, line: &impl serde::Serialize) -> io::Result<()> {
    lines.add(&(serde_json::to_string(line)? + "\n"))
}

impl Tape {
    fn path(&self) -> PathBuf {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).path.clone()
    }

    /// Notes an event; without a time it happened when the last one did.
    fn note(&self, now: Option<Instant>, event: Event) -> io::Result<()> {
        let mut reel = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(now) = now {
            let began = *reel.began.get_or_insert(now);
            reel.last = now.saturating_duration_since(began).as_micros() as u64;
        }
        let at = reel.last;
        write_line(&mut reel.lines, &Entry { at, event }).map_err(|error| {
            let path = reel.path.shown();
            io::Error::new(error.kind(), format!("can't write the transcript {path}: {error}"))
        })
    }
}

impl Board for RecordedBoard {
    fn name(&self) -> &str {
        self.board.name()
    }

    fn open(&mut self) -> Result<Box<dyn Transport + Send>, BoardError> {
        let opened = self.board.open();
        let (now, event) = match &opened {
            Ok(line) => (Some(line.now()), Event::Opened {}),
            Err(error) => (None, Event::NotOpened(error.to_string())),
        };
        // A run that is to be recorded and can't be is over: there is no use in another attempt.
        let noted = self.tape.note(now, event);
        let line = opened?;
        noted.map_err(|error| BoardError::Transcript(self.tape.path(), error))?;
        Ok(Box::new(RecordedLine { line, tape: self.tape.clone() }))
    }

    fn button(&self) -> Option<Button> {
        let press = self.board.button()?;
        let tape = self.tape.clone();
        Some(Box::new(move || {
            let _ = tape.note(None, Event::Reset {});
            press();
        }))
    }

    fn instruments(&self) -> Option<&dyn Instruments> {
        self.board.instruments()
    }

    fn faults(&self) -> Option<FaultCounts> {
        self.board.faults()
    }

    fn rest(&mut self, time: Duration) {
        self.board.rest(time);
    }

    fn slowness(&self) -> u32 {
        self.board.slowness()
    }

    fn note_recovered(&mut self) {
        self.board.note_recovered();
    }

    fn note_ready(&mut self, ready: &Ready) {
        let _ = self.tape.note(None, Event::Ready(ready.clone()));
        self.board.note_ready(ready);
    }
}

/// A line that is recorded.
struct RecordedLine {
    line: Box<dyn Transport + Send>,
    tape: Tape,
}

impl Transport for RecordedLine {
    fn name(&self) -> &str {
        self.line.name()
    }

    fn capabilities(&self) -> Capabilities {
        self.line.capabilities()
    }

    fn now(&self) -> Instant {
        self.line.now()
    }

    fn passed(&self) -> Option<Passed> {
        self.line.passed()
    }

    fn set_line(&mut self, line: ControlLine, on: bool) -> io::Result<()> {
        self.line.set_line(line, on)
    }

    fn obey_rts(&mut self, obey: bool) -> io::Result<bool> {
        self.line.obey_rts(obey)
    }

    fn discard_unsent(&mut self) -> io::Result<()> {
        self.line.discard_unsent()
    }

    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        let heard = self.line.read(buffer, timeout);
        let event = match &heard {
            Ok(0) => Event::Quiet {},
            Ok(count) => Event::Heard(Hex(buffer[..*count].to_vec())),
            Err(error) => Event::ReadFailed(error.to_string()),
        };
        self.tape.note(Some(self.line.now()), event)?;
        heard
    }

    fn write(&mut self, bytes: &[u8], deadline: Instant) -> io::Result<()> {
        let sent = self.line.write(bytes, deadline);
        let event = match &sent {
            Ok(()) => Event::Sent(Hex(bytes.to_vec())),
            Err(error) => Event::WriteFailed(error.to_string()),
        };
        self.tape.note(Some(self.line.now()), event)?;
        sent
    }
}

#[cfg(test)]
mod tests {
    use board_simulator::Probe;
    use firmware::profile::Profile;

    use super::*;
    use crate::board::DirectBoard;
    use crate::disk::SimulatedDisk;

    const FILE: &str = "tape";

    fn begin_on(disk: &SimulatedDisk) -> Result<RecordedBoard, BoardError> {
        let profile = Profile::named("rc2014-classic").expect("it ships");
        let board = Box::new(DirectBoard::new(&profile, &[0x76], Probe::default()));
        let recording = Recording { file: FILE.into(), cases: Vec::new(), force: false };
        let heading = recording.heading("a board", &profile.name, false);
        RecordedBoard::new(board, disk, &recording, &heading)
    }

    #[test]
    fn a_transcript_is_recognised_after_a_power_cut_however_little_is_left() {
        for seed in 0..100 {
            let disk = SimulatedDisk::new(seed);
            let mut board = begin_on(&disk).expect("a new file");
            drop(board.open().expect("it is opened"));
            drop(board);
            disk.cut_power();
            let content = disk.content(Path::new(FILE)).expect("its name was flushed");
            assert!(content.starts_with(MARK), "{seed}: {content:?}");
            begin_on(&disk).unwrap_or_else(|error| panic!("{seed}: {error}"));
        }
    }

    #[test]
    fn a_torn_transcript_is_replaced_and_another_file_is_not() {
        for (content, is_ours) in [(&b"{\"transc\0\0"[..], true), (b"", true), (b"{", false)] {
            let disk = SimulatedDisk::new(1);
            disk.put(Path::new(FILE), content);
            assert_eq!(begin_on(&disk).is_ok(), is_ours, "{content:?}");
            let left = disk.content(Path::new(FILE)).expect("it is there");
            assert_eq!(left == content, !is_ours, "{content:?}");
        }
    }
}
