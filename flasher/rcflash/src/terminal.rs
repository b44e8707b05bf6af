//! A terminal session: sends input to the board, and shows its output.

mod hex;
mod keys;
mod log;
mod outbox;
mod reply;
mod script;

use cli_support::text::Escape;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

pub(crate) use self::hex::{Direction, HexView};
pub(crate) use self::keys::QUIT_KEY;
pub(crate) use self::log::Log;
pub(crate) use self::script::Script;
pub(crate) use rcflash_transport::platform::terminal::restore;

use self::keys::{KeyAction, Keys};
use self::outbox::{LineEndFilter, Outbox, ends_line};
use self::reply::ReplyGate;
use cli_support::exit::{CommandError, ENVIRONMENT, FAILED, INTERRUPTED};
use rcflash_link::rig::Pacing;
use rcflash_transport::Transport;
use rcflash_transport::platform::terminal::{RawMode, read_available_input};

/// Read timeouts: when idle, and while sending.
const IDLE_READ_TIMEOUT: Duration = Duration::from_millis(10);
const SENDING_READ_TIMEOUT: Duration = Duration::from_millis(1);
/// How long flow control may block sending before an error is reported.
const WRITE_TIMEOUT: Duration = Duration::from_secs(5);
/// How long an incomplete row of a hex dump waits for more bytes.
const ROW_FLUSH_DELAY: Duration = Duration::from_millis(100);
/// After the end of input, the session ends when the board has been quiet for `EXIT_QUIET`, at the
/// latest after `EXIT_TIMEOUT`.
const EXIT_QUIET: Duration = Duration::from_millis(500);
const EXIT_TIMEOUT: Duration = Duration::from_secs(10);
/// Queued characters at which piped input is no longer read; keys always are.
const MAX_QUEUED_INPUT: usize = 4096;
/// The received bytes that an `expect` of a script can match.
const MAX_UNMATCHED_BYTES: usize = 64 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SessionEnd {
    QuitKey,
    InputEnded,
    OutputClosed,
    ScriptEnded,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum TerminalError {
    #[error(
        "{port}: port disconnected ({source}); was the adapter unplugged, or the board switched \
         off?"
    )]
    Disconnected { port: String, source: io::Error },
    #[error(
        "the board has accepted no character for {} s: {count} characters were not sent; if its \
         RTS is not connected to CTS, put flow = \"none\" into the rig file", WRITE_TIMEOUT.as_secs()
    )]
    WriteTimeout { count: usize },
    #[error("can't read {}: {}", .0.escaped(), .1)]
    File(PathBuf, io::Error),
    #[error("can't write the log: {0}")]
    Log(io::Error),
    #[error("the terminal failed: {0}")]
    Console(io::Error),
    #[error(
        "line {line} of the script: '{expected}' was not received within {} s, but: {received}",
        timeout.as_secs_f64()
    )]
    Unexpected { line: usize, expected: String, timeout: Duration, received: String },
    #[error("interrupted; the board is unchanged")]
    Interrupted,
}

/// The screen that the user sees.
pub(crate) trait Screen {
    /// Shows bytes of the board.
    fn show(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Prints a note about the session on its own line.
    fn note(&mut self, text: &str);
}

#[derive(Debug, Default)]
pub(crate) struct SessionOptions {
    /// Delays between characters and between lines.
    pub(crate) pacing: Pacing,
    pub(crate) hex: bool,
    pub(crate) log: Option<Log>,
    pub(crate) send: Option<PathBuf>,
    /// Whether piped input is sent without waiting for the reply to each line.
    pub(crate) no_wait: bool,
    /// Whether each line shows the time since the start of the session.
    pub(crate) timestamps: bool,
    /// What to send and to wait for, instead of standard input.
    pub(crate) script: Option<Script>,
}

/// Connects standard input and a screen with the board until Ctrl-], the input's end, or `stop`.
pub(crate) fn run_session(
    board: &mut dyn Transport,
    screen: &mut dyn Screen,
    options: SessionOptions,
    stop: &AtomicBool,
) -> Result<SessionEnd, TerminalError> {
    let first = options.send.as_deref().map(read).transpose()?;
    let raw = match options.script {
        Some(_) => None,
        None => RawMode::enable_on_stdin().map_err(TerminalError::Console)?,
    };
    let mut session = Session {
        outbox: Outbox::new(options.pacing),
        piped: LineEndFilter::default(),
        gate: (raw.is_none() && !options.no_wait && options.script.is_none())
            .then(ReplyGate::default),
        view: options.hex.then(HexView::default),
        started: options.timestamps.then(Instant::now),
        is_line_start: true,
        unmatched: options.script.is_some().then(Vec::new),
        log: options.log,
        newline: if raw.is_some() { "\r\n" } else { "\n" },
        keys: raw.as_ref().map(|_| Keys::default()),
        sending: None,
        last_traffic: Instant::now(),
        sent: Instant::now(),
        input_ended_at: None,
        board,
        screen,
    };
    if let (Some(path), Some(bytes)) = (options.send, first) {
        session.send_file(&path, &bytes);
    }
    let left = match &options.script {
        Some(script) => session.run_script(script, stop),
        None => session.run(stop),
    };
    match left {
        Err(TerminalError::Console(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            Ok(SessionEnd::OutputClosed)
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
    /// Converts piped input.
    piped: LineEndFilter,
    /// The keys, if standard input is a terminal.
    keys: Option<Keys>,
    /// Waits for the reply to each line of piped input.
    gate: Option<ReplyGate>,
    view: Option<HexView>,
    /// The start of the session, if lines show the time since then.
    started: Option<Instant>,
    is_line_start: bool,
    /// What a script has not matched yet.
    unmatched: Option<Vec<u8>>,
    log: Option<Log>,
    /// Line end for the screen.
    newline: &'static str,
    /// The file that is being sent, and its length.
    sending: Option<(PathBuf, usize)>,
    /// When the last byte was sent or received, and when the last one was sent.
    last_traffic: Instant,
    sent: Instant,
    input_ended_at: Option<Instant>,
}

impl Session<'_> {
    fn run(&mut self, stop: &AtomicBool) -> Result<SessionEnd, TerminalError> {
        let left = self.run_until_end(stop);
        self.finish_row()?;
        left
    }

    fn run_until_end(&mut self, stop: &AtomicBool) -> Result<SessionEnd, TerminalError> {
        loop {
            if stop.load(Ordering::Relaxed) {
                return Err(TerminalError::Interrupted);
            }
            self.receive()?;
            self.send()?;
            if let Some(ended) = self.input_ended_at {
                if self.is_drained(ended) {
                    return Ok(SessionEnd::InputEnded);
                }
            } else if (self.keys.is_some() || self.outbox.len() < MAX_QUEUED_INPUT)
                && let Some(input) = read_available_input().map_err(TerminalError::Console)?
                && self.handle_input(&input)?
            {
                return Ok(SessionEnd::QuitKey);
            }
        }
    }

    /// Handles input. Returns `true` if a key ends the session.
    fn handle_input(&mut self, input: &[u8]) -> Result<bool, TerminalError> {
        if input.is_empty() || self.keys.is_none() {
            self.input_ended_at = self.queue_piped_input(input).then(Instant::now);
            return Ok(false);
        }
        for key in input {
            if self.press(*key)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns `true` if the session is over, after the end of input.
    fn is_drained(&mut self, ended: Instant) -> bool {
        let is_quiet = self.last_traffic.max(ended).elapsed() >= EXIT_QUIET;
        let is_long = self.sent.max(ended).elapsed() >= EXIT_TIMEOUT;
        self.outbox.len() == 0 && self.is_gate_open() && (is_quiet || is_long)
    }

    fn is_gate_open(&mut self) -> bool {
        self.gate.as_mut().is_none_or(|gate| gate.is_open(Instant::now()))
    }

    fn receive(&mut self) -> Result<(), TerminalError> {
        let mut received = [0; 1024];
        let is_sending = self.outbox.len() > 0 && self.outbox.stalled_since().is_none();
        let wait = if is_sending { SENDING_READ_TIMEOUT } else { IDLE_READ_TIMEOUT };
        let count =
            self.board.read(&mut received, wait).map_err(|error| self.disconnected_error(error))?;
        if count > 0 {
            return self.show(Direction::Received, &received[..count]);
        }
        if self.last_traffic.elapsed() >= ROW_FLUSH_DELAY { self.finish_row() } else { Ok(()) }
    }

    fn send(&mut self) -> Result<(), TerminalError> {
        if !self.is_gate_open() {
            return Ok(());
        }
        let by_line = self.gate.is_some();
        let sent = self.outbox.send(self.board, by_line);
        let sent = sent.map_err(|error| self.disconnected_error(error))?;
        if !sent.is_empty() {
            self.sent = Instant::now();
            if let Some(gate) = self.gate.as_mut().filter(|_| sent.last().is_some_and(ends_line)) {
                gate.on_line_sent(self.sent);
            }
            self.show(Direction::Sent, &sent)?;
        }
        if self.outbox.stalled_since().is_some_and(|since| since.elapsed() >= WRITE_TIMEOUT) {
            let refused = TerminalError::WriteTimeout { count: self.outbox.clear() };
            self.sending = None;
            if self.keys.is_none() {
                return Err(refused);
            }
            self.note(&refused.to_string());
        }
        if self.outbox.len() == 0
            && let Some((path, length)) = self.sending.take()
        {
            self.note(&format!("{} sent: {length} characters", path.escaped()));
        }
        Ok(())
    }

    fn disconnected_error(&self, source: io::Error) -> TerminalError {
        TerminalError::Disconnected { port: self.board.name().to_owned(), source }
    }

    fn show(&mut self, direction: Direction, bytes: &[u8]) -> Result<(), TerminalError> {
        self.last_traffic = Instant::now();
        let is_received = direction == Direction::Received;
        if is_received {
            if let Some(gate) = &mut self.gate {
                gate.on_received(bytes, self.last_traffic);
            }
            if let Some(unmatched) = &mut self.unmatched {
                unmatched.extend(bytes);
                unmatched.drain(..unmatched.len().saturating_sub(MAX_UNMATCHED_BYTES));
            }
        }
        match &mut self.view {
            Some(view) => {
                let lines = view.push(direction, bytes);
                lines.iter().try_for_each(|line| self.row(line))
            }
            // The board echoes it.
            None if !is_received => Ok(()),
            None => {
                let bytes = self.stamp(bytes);
                self.record_and_show(&bytes, &bytes)
            }
        }
    }

    /// Inserts the time at the start of each line, if that is requested.
    fn stamp(&mut self, bytes: &[u8]) -> Vec<u8> {
        let Some(started) = self.started else { return bytes.to_vec() };
        let time = format!("[{:10.3}] ", started.elapsed().as_secs_f64());
        let mut stamped = Vec::new();
        for &byte in bytes {
            if std::mem::take(&mut self.is_line_start) {
                stamped.extend(time.bytes());
            }
            stamped.push(byte);
            self.is_line_start = byte == b'\n';
        }
        stamped
    }

    fn finish_row(&mut self) -> Result<(), TerminalError> {
        let row = self.view.as_mut().and_then(HexView::flush);
        row.map_or(Ok(()), |row| self.row(&row))
    }

    fn row(&mut self, row: &str) -> Result<(), TerminalError> {
        self.is_line_start = true;
        let row = String::from_utf8_lossy(&self.stamp(row.as_bytes())).into_owned();
        let shown = format!("{row}{}", self.newline);
        self.record_and_show(shown.as_bytes(), format!("{row}\n").as_bytes())
    }

    fn record_and_show(&mut self, shown: &[u8], kept: &[u8]) -> Result<(), TerminalError> {
        // The log first, so that it is complete even if the screen fails.
        if let Some(log) = &mut self.log {
            log.add(kept).map_err(TerminalError::Log)?;
        }
        self.screen.show(shown).map_err(TerminalError::Console)
    }

    fn note(&mut self, text: &str) {
        self.screen.note(&format!("{text}{}", self.newline));
    }

    /// Queues piped input. Returns `true` if it has ended.
    fn queue_piped_input(&mut self, input: &[u8]) -> bool {
        let leave = input.iter().position(|byte| *byte == QUIT_KEY);
        let text = self.piped.convert(&input[..leave.unwrap_or(input.len())]);
        self.outbox.push(text);
        input.is_empty() || leave.is_some()
    }

    /// Handles a key. Returns `true` if it ends the session.
    fn press(&mut self, key: u8) -> Result<bool, TerminalError> {
        match self.keys.as_mut().map_or(KeyAction::Leave, |keys| keys.press(key)) {
            KeyAction::Send(key) => self.outbox.push(vec![key]),
            KeyAction::Leave => return Ok(true),
            KeyAction::StopOrPrompt => self.stop_or_prompt()?,
            KeyAction::Echo(text) => self.echo(&text)?,
            KeyAction::SendFile(path) => self.send_file_at(&path)?,
        }
        Ok(false)
    }

    fn send_file_at(&mut self, path: &Path) -> Result<(), TerminalError> {
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

    fn stop_or_prompt(&mut self) -> Result<(), TerminalError> {
        if let Some((path, _)) = self.sending.take() {
            let count = self.outbox.clear();
            self.note(&format!("{} canceled: {count} characters not sent", path.escaped()));
            return Ok(());
        }
        if let Some(keys) = &mut self.keys {
            keys.start_file_prompt();
        }
        self.echo("\r\nfile to send (Esc: none): ")
    }

    fn send_file(&mut self, path: &Path, bytes: &[u8]) {
        let text = LineEndFilter::default().convert(bytes);
        self.sending = Some((path.to_owned(), text.len()));
        self.outbox.push(text);
    }
}

impl From<TerminalError> for CommandError {
    fn from(error: TerminalError) -> Self {
        let code = match error {
            TerminalError::Interrupted => INTERRUPTED,
            TerminalError::Unexpected { .. } => FAILED,
            _ => ENVIRONMENT,
        };
        Self::new(code, error)
    }
}
