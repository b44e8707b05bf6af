//! A terminal on the board: what is typed goes to the board, what it says to the screen.

mod hex;
mod keys;
mod log;
mod outbox;

use cli_support::text::Show;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

pub(crate) use self::hex::{Direction, HexView};
pub(crate) use self::keys::LEAVE;
pub(crate) use self::log::Log;
pub(crate) use self::outbox::LineEnd;
pub(crate) use host_platform::terminal::restore;

use self::keys::{Act, Keys};
use self::outbox::{Ends, Outbox};
use cli_support::exit::{Failure, INTERRUPTED, RIG};
use host_platform::terminal::{RawMode, take_input};
use rcflash_rig::Pacing;
use rcflash_transport::Transport;

/// The time one look at the board may take, and while something is being sent.
const LOOK: Duration = Duration::from_millis(10);
const GLANCE: Duration = Duration::from_millis(1);
/// The time the board may refuse what was typed before that is said.
const STALL: Duration = Duration::from_secs(5);
/// The time a row of figures waits for more.
const ROW: Duration = Duration::from_millis(100);
/// When the input has ended: how long the board has to be quiet, and when it is over even if it is
/// not.
const QUIET: Duration = Duration::from_millis(500);
const LINGER: Duration = Duration::from_secs(10);
/// Characters that wait before more input is taken; the keys of a person always are.
const ENOUGH: usize = 4096;

/// The end of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Left {
    /// Ctrl-] was typed.
    ByKey,
    /// The input ended, and all of it was sent.
    InputEnded,
    /// Whoever read the output has had enough.
    NobodyReads,
}

/// Error returned by a session.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TerminalError {
    /// The line is gone.
    #[error(
        "{port}: the port is gone ({source}); was the adapter unplugged, or the board's power \
         switched off?"
    )]
    Gone {
        /// The line.
        port: String,
        /// The error that the system reported.
        source: io::Error,
    },
    /// The board holds up what is sent.
    #[error(
        "the board has taken nothing for {} s: {count} characters are not sent. If its RTS does \
         not reach this computer's CTS, flow = \"none\" in the rig file helps", STALL.as_secs()
    )]
    Refused {
        /// The number.
        count: usize,
    },
    /// A file to be sent can't be read.
    #[error("can't read {}: {}", .0.shown(), .1)]
    File(PathBuf, io::Error),
    /// The record can't be written.
    #[error("the log can't be written: {0}")]
    Log(io::Error),
    /// The user's own terminal failed.
    #[error("the terminal failed: {0}")]
    Console(io::Error),
    /// A signal ended it.
    #[error("interrupted; the board goes on as it was")]
    Interrupted,
}

/// The screen that the user sees.
pub(crate) trait Screen {
    /// Shows bytes as they are.
    ///
    /// # Errors
    /// They can't be shown.
    fn show(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Says something about the session, in a line of its own.
    fn note(&mut self, text: &str);
}

/// Settings of a session.
#[derive(Debug, Default)]
pub(crate) struct Options {
    /// The speed at which characters are sent.
    pub(crate) pacing: Pacing,
    /// Line endings sent for files and for input that is not typed.
    pub(crate) line_end: LineEnd,
    /// Figures in place of the characters.
    pub(crate) hex: bool,
    /// The record.
    pub(crate) log: Option<Log>,
    /// A file that is sent first.
    pub(crate) send: Option<PathBuf>,
}

/// Connects standard input and a screen with the board until Ctrl-], the end of the input, or
/// `stop`.
///
/// # Errors
/// The line, the record or the terminal failed, or `stop` was set.
pub(crate) fn talk(
    board: &mut dyn Transport,
    screen: &mut dyn Screen,
    options: Options,
    stop: &AtomicBool,
) -> Result<Left, TerminalError> {
    let first = options.send.as_deref().map(read).transpose()?;
    let raw = RawMode::of_input().map_err(TerminalError::Console)?;
    let mut session = Session {
        outbox: Outbox::new(options.pacing),
        line_end: options.line_end,
        piped: Ends::new(options.line_end),
        view: options.hex.then(HexView::default),
        log: options.log,
        line: if raw.is_some() { "\r\n" } else { "\n" },
        keys: raw.as_ref().map(|_| Keys::default()),
        sending: None,
        passed: Instant::now(),
        sent: Instant::now(),
        ended: None,
        board,
        screen,
    };
    if let (Some(path), Some(bytes)) = (options.send, first) {
        session.send_file(&path, &bytes);
    }
    match session.run(stop) {
        Err(TerminalError::Console(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            Ok(Left::NobodyReads)
        }
        outcome => outcome,
    }
}

fn read(path: &Path) -> Result<Vec<u8>, TerminalError> {
    std::fs::read(path).map_err(|error| TerminalError::File(path.to_owned(), error))
}

struct Session<'a> {
    board: &'a mut dyn Transport,
    screen: &'a mut dyn Screen,
    outbox: Outbox,
    line_end: LineEnd,
    /// Input that nobody types.
    piped: Ends,
    /// A person's keys, if there is a person.
    keys: Option<Keys>,
    view: Option<HexView>,
    log: Option<Log>,
    /// Line endings on the screen.
    line: &'static str,
    /// The file that is being sent, and its length.
    sending: Option<(PathBuf, usize)>,
    /// When the last byte passed, either way, and when the last one was sent.
    passed: Instant,
    sent: Instant,
    /// When the input ended.
    ended: Option<Instant>,
}

impl Session<'_> {
    fn run(&mut self, stop: &AtomicBool) -> Result<Left, TerminalError> {
        let left = self.until_left(stop);
        self.finish_row()?;
        left
    }

    fn until_left(&mut self, stop: &AtomicBool) -> Result<Left, TerminalError> {
        loop {
            if stop.load(Ordering::Relaxed) {
                return Err(TerminalError::Interrupted);
            }
            self.hear()?;
            self.send()?;
            if let Some(ended) = self.ended {
                if self.is_over(ended) {
                    return Ok(Left::InputEnded);
                }
            } else if (self.keys.is_some() || self.outbox.len() < ENOUGH)
                && let Some(input) = take_input().map_err(TerminalError::Console)?
                && self.take(&input)?
            {
                return Ok(Left::ByKey);
            }
        }
    }

    /// Takes input in; whether a key in it ends the session.
    fn take(&mut self, input: &[u8]) -> Result<bool, TerminalError> {
        if input.is_empty() || self.keys.is_none() {
            self.ended = self.take_piped(input).then(Instant::now);
            return Ok(false);
        }
        for key in input {
            if self.press(*key)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether all is said, once the input has ended.
    fn is_over(&self, ended: Instant) -> bool {
        let is_quiet = self.passed.max(ended).elapsed() >= QUIET;
        let is_long = self.sent.max(ended).elapsed() >= LINGER;
        self.outbox.len() == 0 && (is_quiet || is_long)
    }

    fn hear(&mut self) -> Result<(), TerminalError> {
        let mut heard = [0; 1024];
        let is_sending = self.outbox.len() > 0 && self.outbox.refused_since().is_none();
        let wait = if is_sending { GLANCE } else { LOOK };
        let count = self.board.read(&mut heard, wait).map_err(|error| self.gone(error))?;
        if count > 0 {
            return self.show(Direction::Heard, &heard[..count]);
        }
        if self.passed.elapsed() >= ROW { self.finish_row() } else { Ok(()) }
    }

    fn send(&mut self) -> Result<(), TerminalError> {
        let sent = self.outbox.send(self.board).map_err(|error| self.gone(error))?;
        if !sent.is_empty() {
            self.sent = Instant::now();
            self.show(Direction::Sent, &sent)?;
        }
        if self.outbox.refused_since().is_some_and(|since| since.elapsed() >= STALL) {
            let refused = TerminalError::Refused { count: self.outbox.clear() };
            self.sending = None;
            if self.keys.is_none() {
                return Err(refused);
            }
            self.note(&refused.to_string());
        }
        if self.outbox.len() == 0
            && let Some((path, length)) = self.sending.take()
        {
            self.note(&format!("{} is sent: {length} characters", path.shown()));
        }
        Ok(())
    }

    fn gone(&self, source: io::Error) -> TerminalError {
        TerminalError::Gone { port: self.board.name().to_owned(), source }
    }

    /// Shows and records what passed.
    fn show(&mut self, direction: Direction, bytes: &[u8]) -> Result<(), TerminalError> {
        self.passed = Instant::now();
        match &mut self.view {
            Some(view) => {
                let lines = view.push(direction, bytes);
                lines.iter().try_for_each(|line| self.row(line))
            }
            None if direction == Direction::Sent => Ok(()), // the board echoes what it takes
            None => self.put(bytes, bytes),
        }
    }

    fn finish_row(&mut self) -> Result<(), TerminalError> {
        let row = self.view.as_mut().and_then(HexView::flush);
        row.map_or(Ok(()), |row| self.row(&row))
    }

    fn row(&mut self, row: &str) -> Result<(), TerminalError> {
        let shown = format!("{row}{}", self.line);
        self.put(shown.as_bytes(), format!("{row}\n").as_bytes())
    }

    fn put(&mut self, shown: &[u8], kept: &[u8]) -> Result<(), TerminalError> {
        // The record first: a screen that is gone takes nothing from it.
        if let Some(log) = &mut self.log {
            log.add(kept).map_err(TerminalError::Log)?;
        }
        self.screen.show(shown).map_err(TerminalError::Console)
    }

    fn note(&mut self, text: &str) {
        self.screen.note(&format!("{text}{}", self.line));
    }

    /// Takes input in; whether it has ended.
    fn take_piped(&mut self, input: &[u8]) -> bool {
        let leave = input.iter().position(|byte| *byte == LEAVE);
        let text = self.piped.turn(&input[..leave.unwrap_or(input.len())]);
        self.outbox.push(text);
        input.is_empty() || leave.is_some()
    }

    /// Does what a key says; whether it ends the session.
    fn press(&mut self, key: u8) -> Result<bool, TerminalError> {
        match self.keys.as_mut().map_or(Act::Leave, |keys| keys.press(key)) {
            Act::Send(key) => self.outbox.push([key]),
            Act::Leave => return Ok(true),
            Act::StopOrAsk => self.stop_or_ask()?,
            Act::Echo(text) => self.echo(&text)?,
            Act::SendFile(path) => self.send_named(&path)?,
        }
        Ok(false)
    }

    fn send_named(&mut self, path: &Path) -> Result<(), TerminalError> {
        self.echo("\r\n")?;
        match read(path) {
            Ok(bytes) => self.send_file(path, &bytes),
            Err(error) => self.note(&error.to_string()),
        }
        Ok(())
    }

    fn echo(&mut self, text: &str) -> Result<(), TerminalError> {
        self.screen.show(text.as_bytes()).map_err(TerminalError::Console)
    }

    fn stop_or_ask(&mut self) -> Result<(), TerminalError> {
        if let Some((path, _)) = self.sending.take() {
            let count = self.outbox.clear();
            self.note(&format!("{} is stopped: {count} characters are not sent", path.shown()));
            return Ok(());
        }
        if let Some(keys) = &mut self.keys {
            keys.ask();
        }
        self.echo("\r\nfile to send (Esc: none): ")
    }

    fn send_file(&mut self, path: &Path, bytes: &[u8]) {
        let text = Ends::new(self.line_end).turn(bytes);
        self.sending = Some((path.to_owned(), text.len()));
        self.outbox.push(text);
    }
}

impl From<TerminalError> for Failure {
    fn from(error: TerminalError) -> Self {
        let interrupted = matches!(error, TerminalError::Interrupted);
        Self::new(if interrupted { INTERRUPTED } else { RIG }, error)
    }
}
