//! Records what passes between the host and any board.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rcflash::transport::{Capabilities, ControlLine, Passed, Transport};

use super::transcript::{Entry, Event, Heading, Hex, Ready};
use super::{Board, BoardError, Button, FaultCounts, Instruments};

/// A board whose line is recorded.
pub struct RecordedBoard {
    board: Box<dyn Board>,
    tape: Tape,
}

/// Where the transcript goes. It is written line by line, so that what happened before a crash is there.
#[derive(Clone)]
struct Tape(Arc<Mutex<Reel>>);

struct Reel {
    file: BufWriter<File>,
    began: Option<Instant>,
    last: u64,
}

impl RecordedBoard {
    /// Begins a transcript.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn new(board: Box<dyn Board>, file: &Path, heading: &Heading) -> Result<Self, BoardError> {
        let begin = || {
            let mut file = BufWriter::new(File::create(file)?);
            write_line(&mut file, heading)?;
            Ok(Reel { file, began: None, last: 0 })
        };
        let reel = begin().map_err(|error| BoardError::Transcript(file.to_owned(), error))?;
        Ok(Self { board, tape: Tape(Arc::new(Mutex::new(reel))) })
    }
}

fn write_line(file: &mut impl Write, line: &impl serde::Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *file, line)?;
    file.write_all(b"\n")?;
    file.flush()
}

impl Tape {
    /// Notes an event; without a time it happened when the last one did.
    fn note(&self, now: Option<Instant>, event: Event) -> io::Result<()> {
        let mut reel = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(now) = now {
            let began = *reel.began.get_or_insert(now);
            reel.last = now.saturating_duration_since(began).as_micros() as u64;
        }
        let at = reel.last;
        write_line(&mut reel.file, &Entry { at, event })
            .map_err(|error| io::Error::other(format!("the transcript can't be written: {error}")))
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
        // A transcript that can't be written is told by the first thing that passes.
        let _ = self.tape.note(now, event);
        Ok(Box::new(RecordedLine { line: opened?, tape: self.tape.clone() }))
    }

    fn button(&self) -> Option<Button> {
        let (press, tape) = (self.board.button()?, self.tape.clone());
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
