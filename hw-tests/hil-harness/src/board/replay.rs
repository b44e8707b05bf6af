//! Replays a transcript: the board says again what it said then, at the times of then, and nothing
//! waits.

use cli_support::text::Show;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rcflash_transport::Transport;
use rcflash_transport::time::{Duration, Instant};

use super::transcript::{Entry, Event, FORMAT, Heading, Ready};
use super::{Board, BoardError};

/// A board that only repeats what one said before.
pub struct ReplayBoard {
    name: String,
    ready: Option<Ready>,
    script: Arc<Mutex<Script>>,
}

impl ReplayBoard {
    /// Goes through a transcript, from where the board was ready if it ever was.
    ///
    /// # Errors
    /// The file can't be read or is no transcript.
    pub fn new(file: &Path) -> Result<Self, BoardError> {
        let (_, mut script) = Script::begin(file)?;
        let ready = script.find_ready()?;
        if ready.is_none() {
            (_, script) = Script::begin(file)?;
        }
        let name = format!("transcript {}", file.shown());
        Ok(Self { name, ready, script: Arc::new(Mutex::new(script)) })
    }
}

/// Returns the head of a transcript.
///
/// # Errors
/// The file can't be read or is no transcript.
pub fn heading(file: &Path) -> Result<Heading, BoardError> {
    Script::begin(file).map(|(heading, _)| heading)
}

impl Board for ReplayBoard {
    fn name(&self) -> &str {
        &self.name
    }

    fn open(&mut self) -> Result<Box<dyn Transport + Send>, BoardError> {
        let mut script = lock(&self.script);
        script.open().map_err(|error| BoardError::Transcript(script.file.clone(), error))?;
        Ok(Box::new(ReplayedLine { name: self.name.clone(), script: Arc::clone(&self.script) }))
    }

    fn rest(&mut self, time: Duration) {
        lock(&self.script).now += time.as_micros() as u64;
    }

    fn take_ready(&mut self) -> Option<Ready> {
        self.ready.take()
    }
}

fn lock(script: &Mutex<Script>) -> MutexGuard<'_, Script> {
    script.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Most bytes of a line: what passes over a line at once has some hundreds.
const LONGEST: u64 = 1 << 20;

/// The latest time of an entry, in microseconds: waits are added to it.
const LATEST: u64 = 30 * 365 * 86_400 * 1_000_000;

/// Reads a line; nothing at the end.
fn next_line(lines: &mut BufReader<File>) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    lines.take(LONGEST).read_until(b'\n', &mut line)?;
    if line.len() as u64 == LONGEST {
        let problem = format!("a line has {LONGEST} bytes or more");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, problem));
    }
    Ok((!line.is_empty()).then(|| String::from_utf8_lossy(&line).into_owned()))
}

/// Position in the transcript.
struct Script {
    file: PathBuf,
    lines: BufReader<File>,
    /// The line of the file that was read last.
    number: u64,
    next: Option<Entry>,
    /// Whether the line is open where the script begins.
    is_open: bool,
    began: Instant,
    /// Microseconds since then.
    now: u64,
}

impl Script {
    fn begin(file: &Path) -> Result<(Heading, Self), BoardError> {
        let failed = |error| BoardError::Transcript(file.to_owned(), error);
        let mut lines = BufReader::new(File::open(file).map_err(failed)?);
        let first = next_line(&mut lines).map_err(failed)?.unwrap_or_default();
        let heading: Heading =
            serde_json::from_str(&first).map_err(|error| failed(error.into()))?;
        if heading.transcript != FORMAT {
            let problem =
                format!("it has format {}, this program reads {FORMAT}", heading.transcript);
            return Err(failed(io::Error::other(problem)));
        }
        let file = file.to_owned();
        let began = Instant::now();
        let script = Self { file, lines, number: 1, next: None, is_open: false, began, now: 0 };
        Ok((heading, script))
    }

    /// Goes on behind the place where the board was ready.
    fn find_ready(&mut self) -> Result<Option<Ready>, BoardError> {
        loop {
            let entry =
                self.take().map_err(|error| BoardError::Transcript(self.file.clone(), error))?;
            match entry {
                None => return Ok(None),
                Some(Entry { at, event: Event::Ready(ready) }) => {
                    (self.now, self.is_open) = (at, true);
                    return Ok(Some(ready));
                }
                Some(_) => {}
            }
        }
    }

    /// The next entry, which stays the next one.
    fn peek(&mut self) -> io::Result<Option<&mut Entry>> {
        if self.next.is_none()
            && let Some(line) = next_line(&mut self.lines)?
        {
            self.number += 1;
            self.next = self.entry(&line)?;
        }
        Ok(self.next.as_mut())
    }

    /// Reads an entry; nothing if the transcript ends in the middle of it, where the program that
    /// wrote it did.
    fn entry(&self, line: &str) -> io::Result<Option<Entry>> {
        let damaged = |why: &dyn std::fmt::Display| {
            let (file, number) = (self.file.shown(), self.number);
            let problem = format!("{file}:{number}: a damaged line: {why}");
            Err(io::Error::new(io::ErrorKind::InvalidData, problem))
        };
        match serde_json::from_str::<Entry>(line) {
            Ok(entry) if entry.at > LATEST => damaged(&"its time is more than thirty years"),
            Ok(entry) => Ok(Some(entry)),
            Err(error) if line.ends_with('\n') => damaged(&error),
            Err(_) => Ok(None),
        }
    }

    fn take(&mut self) -> io::Result<Option<Entry>> {
        self.peek()?;
        Ok(self.next.take())
    }

    fn open(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.is_open) {
            return Ok(());
        }
        while let Some(Entry { at, event }) = self.take()? {
            self.now = self.now.max(at);
            match event {
                Event::Opened {} => return Ok(()),
                Event::NotOpened(why) => return Err(io::Error::other(why)),
                Event::Heard(_) | Event::Quiet {} | Event::Reset {} | Event::ReadFailed(_) => {}
                other => return Err(self.diverged(&format!("{other:?}"), "opens the line")),
            }
        }
        Err(io::Error::other("it ends before the line is opened"))
    }

    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        self.skip_remarks()?;
        let now = self.now;
        let Some(entry) = self.peek()? else {
            self.now = now + timeout.as_micros() as u64;
            return Ok(0);
        };
        let at = entry.at.max(now);
        let count = match &mut entry.event {
            Event::Heard(bytes) if bytes.0.len() > buffer.len() => {
                let rest = bytes.0.split_off(buffer.len());
                buffer.copy_from_slice(&bytes.0);
                bytes.0 = rest;
                self.now = at;
                return Ok(buffer.len());
            }
            Event::Heard(bytes) => {
                buffer[..bytes.0.len()].copy_from_slice(&bytes.0);
                Ok(bytes.0.len())
            }
            Event::Quiet {} => Ok(0),
            Event::ReadFailed(why) => Err(io::Error::other(std::mem::take(why))),
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
            let Some(Entry { at, event }) = entry else {
                return Err(io::Error::other(format!("{} ends here", self.file.shown())));
            };
            self.now = self.now.max(at);
            match event {
                Event::Sent(sent) if bytes.starts_with(&sent.0) => bytes = &bytes[sent.0.len()..],
                Event::WriteFailed(why) => return Err(io::Error::other(why)),
                Event::Quiet {} | Event::Reset {} | Event::Ready(_) => {}
                other => {
                    return Err(
                        self.diverged(&format!("{other:02X?}"), &format!("sends {bytes:02X?}"))
                    );
                }
            }
        }
        Ok(())
    }

    fn skip_remarks(&mut self) -> io::Result<()> {
        while let Some(Entry { event: Event::Reset {} | Event::Ready(_), .. }) = self.peek()? {
            self.next = None;
        }
        Ok(())
    }

    fn diverged(&self, then: &str, now: &str) -> io::Error {
        let file = self.file.shown();
        let line = self.number;
        io::Error::other(format!(
            "{file}:{line}: the host {now}, but when this was recorded it was {then}; replay with the same cases \
             and options, and with the program that recorded it"
        ))
    }
}

/// The line of a board that was.
struct ReplayedLine {
    name: String,
    script: Arc<Mutex<Script>>,
}

impl Transport for ReplayedLine {
    fn name(&self) -> &str {
        &self.name
    }

    fn now(&self) -> Instant {
        let script = lock(&self.script);
        script.began + Duration::from_micros(script.now)
    }

    fn read(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        lock(&self.script).read(buffer, timeout)
    }

    fn write(&mut self, bytes: &[u8], _deadline: Instant) -> io::Result<()> {
        lock(&self.script).write(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADING: &str = "{\"transcript\":1,\"program\":\"a test\",\"board\":\"b\",\"profile\":\"p\",\"cases\":[]}\n";

    /// The error of a replay that opens the line and listens.
    fn played(lines: &str) -> Option<String> {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("tape");
        std::fs::write(&file, format!("{HEADING}{lines}")).expect("it is written");
        let played = ReplayBoard::new(&file).and_then(|mut board| {
            let mut line = board.open()?;
            let mut listen = || line.read(&mut [0; 9], Duration::from_secs(1));
            let heard = (0..4).try_for_each(|_| listen().map(|_| ()));
            heard.map_err(|error| BoardError::Transcript(file.clone(), error))
        });
        played.err().map(|error| error.to_string())
    }

    #[test]
    fn a_damaged_line_is_named_and_a_torn_end_is_the_end() {
        let opened = "{\"at\":1,\"opened\":{}}\n";
        for (line, expected) in [
            ("{\"at\":18446744073709551615,\"quiet\":{}}\n", "tape:3: a damaged line: its time is"),
            ("{\"at\":2,\"heard\":\"0\"}\n", "tape:3: a damaged line: "),
            ("nonsense\n{\"at\":2,\"quiet\":{}}\n", "tape:3: a damaged line: "),
        ] {
            let error = played(&format!("{opened}{line}")).expect("it is damaged");
            assert!(error.contains(expected), "{error}");
        }
        for end in ["", "{\"at\":2,\"qui", "{\"at\":2,\"quiet\":{}}\n"] {
            assert_eq!(played(&format!("{opened}{end}")), None);
        }
    }
}
