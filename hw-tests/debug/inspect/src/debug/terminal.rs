//! The debugger on a terminal: keys, redrawing, and a board that can be stopped at any moment.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use board_debugger::view::{KeyAction, View};
use board_debugger::{Debugger, ExecCommand};
use board_simulator::{PtyLine, SerialLine};
use cli_support::exit::INTERRUPTED;
use ratatui::DefaultTerminal;
use ratatui::crossterm::cursor::MoveTo;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::crossterm::queue;
use ratatui::crossterm::style::Print;
use ratatui::widgets::Clear;

const REFRESH_INTERVAL: Duration = Duration::from_millis(50);
/// How often keys are polled while the board runs.
const KEY_POLL_INTERVAL: Duration = Duration::from_millis(5);
/// The time that a command may take before the screen shows that the board is running.
const RUNNING_NOTICE_DELAY: Duration = Duration::from_millis(200);
/// Baud rate of the pseudo-terminal. The board's own rate has no meaning while it is debugged.
const BAUD: u32 = 115_200;

/// How often an ended session is looked for while no key comes.
const END_POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Runs the user interface until a key or `stop` quits it; returns the exit code.
///
/// # Errors
/// Fails if the terminal fails or is closed.
pub(super) fn show(
    terminal: &mut DefaultTerminal,
    view: &mut View,
    console: &mut ConsoleLine,
    stop: &AtomicBool,
) -> io::Result<u8> {
    loop {
        terminal.draw(|frame| view.draw(frame))?;
        console.forward_output(view.debugger());
        while !has_event(END_POLL_INTERVAL, stop)? {
            if has_ended(stop) {
                return closed(stop);
            }
        }
        let Some(key) = pressed(event::read()?) else { continue };
        if is_interrupt(&key) {
            match view.handle_interrupt() {
                true => return Ok(INTERRUPTED),
                false => continue,
            }
        }
        let goes_on = match view.handle_key(key.code) {
            KeyAction::Move(ExecCommand::Continue) => {
                continue_in_slices(terminal, view, console, stop)?
            }
            KeyAction::Command(line) if ["c", "run"].contains(&line.trim()) => {
                continue_in_slices(terminal, view, console, stop)?
            }
            action => perform_action(terminal, view, &action, stop)?,
        };
        if !goes_on {
            return if has_ended(stop) { closed(stop) } else { Ok(0) };
        }
    }
}

/// Waits for an event. Without one, or if the session has ended, returns `false`.
///
/// crossterm reads a closed terminal for ever, so it is asked only for input that is there.
fn has_event(timeout: Duration, stop: &AtomicBool) -> io::Result<bool> {
    if has_ended(stop) {
        return Ok(false);
    }
    if event::poll(Duration::ZERO)? {
        return Ok(true);
    }
    rcflash_transport::platform::terminal::wait_for_input(timeout);
    Ok(!has_ended(stop) && event::poll(Duration::ZERO)?)
}

/// Returns whether a signal or a closed terminal ends the session.
fn has_ended(stop: &AtomicBool) -> bool {
    stop.load(Ordering::Relaxed) || rcflash_transport::platform::terminal::is_closed()
}

/// Returns the result of a session that has ended.
fn closed(stop: &AtomicBool) -> io::Result<u8> {
    match stop.load(Ordering::Relaxed) {
        true => Ok(INTERRUPTED),
        false => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it was closed")),
    }
}

/// The key of an event, if it is one that goes down.
fn pressed(event: Event) -> Option<KeyEvent> {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => Some(key),
        _ => None,
    }
}

/// Whether a key is Ctrl-C, which is no signal on a terminal in raw mode.
fn is_interrupt(key: &KeyEvent) -> bool {
    key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL)
}

/// Performs a key's action, which a key can stop. Returns `true` unless the session ends.
fn perform_action(
    terminal: &mut DefaultTerminal,
    view: &mut View,
    action: &KeyAction,
    stop: &AtomicBool,
) -> io::Result<bool> {
    let size = terminal.size()?;
    let mut poller = KeyPoller::new(Some((size.width, size.height)), stop);
    let continues = view.execute(action, &mut |_| poller.should_stop());
    if poller.has_written_status {
        poller.write_status("");
        // The status row was written without the terminal's buffer, so the screen is redrawn.
        terminal.draw(|frame| frame.render_widget(Clear, frame.area()))?;
    }
    Ok(continues && !poller.quits)
}

/// Runs the board in slices, redraws after each. Returns `true` unless the session ends.
fn continue_in_slices(
    terminal: &mut DefaultTerminal,
    view: &mut View,
    console: &mut ConsoleLine,
    stop: &AtomicBool,
) -> io::Result<bool> {
    loop {
        let began = Instant::now();
        let mut poller = KeyPoller::new(None, stop);
        poller.takes_text = view.shows_console();
        let halt = view.continue_running(&mut |debugger| {
            console.pump(debugger);
            poller.should_stop() || !poller.keys.is_empty() || began.elapsed() >= REFRESH_INTERVAL
        });
        let mut is_idle = false;
        if let Some(halt) = halt {
            // A board that waits for input is idle, not halted, if a host may still send some.
            is_idle = halt == board_debugger::HaltReason::Idle
                && (view.shows_console() || console.is_shared());
            if !is_idle {
                view.show_halt(halt);
                return Ok(true);
            }
        }
        view.send(&std::mem::take(&mut poller.text));
        view.with_debugger(|debugger| console.pump(debugger));
        terminal.draw(|frame| view.draw(frame))?;
        if is_idle && !has_event(REFRESH_INTERVAL, stop)? && !has_ended(stop) {
            continue;
        }
        poller.poll_keys();
        view.send(&std::mem::take(&mut poller.text));
        for key in std::mem::take(&mut poller.keys) {
            let stops = key == KeyCode::Esc && !view.has_prompt();
            poller.quits |= !stops && !view.handle_running_key(key);
            poller.has_stopped |= stops || poller.quits;
        }
        if poller.has_stopped {
            view.show_halt(board_debugger::HaltReason::Paused);
            return Ok(!poller.quits);
        }
    }
}

/// Polls keys while the board runs.
struct KeyPoller<'a> {
    stop: &'a AtomicBool,
    began: Instant,
    last_poll: Instant,
    /// Columns and rows of the terminal, if the status row is to show that the board runs.
    size: Option<(u16, u16)>,
    has_written_status: bool,
    has_stopped: bool,
    quits: bool,
    /// Whether keys are text for the board.
    takes_text: bool,
    text: Vec<u8>,
    /// Keys for the view, which takes them while the board runs in slices.
    keys: Vec<KeyCode>,
    /// Whether a command is being typed, which is refused.
    refuses_command: bool,
}

impl<'a> KeyPoller<'a> {
    fn new(size: Option<(u16, u16)>, stop: &'a AtomicBool) -> Self {
        let now = Instant::now();
        Self {
            stop,
            began: now,
            last_poll: now,
            size,
            has_written_status: false,
            has_stopped: false,
            quits: false,
            takes_text: false,
            text: Vec::new(),
            keys: Vec::new(),
            refuses_command: false,
        }
    }

    /// Returns `true` if a key to stop the board was pressed.
    fn should_stop(&mut self) -> bool {
        if self.last_poll.elapsed() >= KEY_POLL_INTERVAL {
            self.last_poll = Instant::now();
            self.show_running();
            self.poll_keys();
        }
        self.has_stopped
    }

    fn poll_keys(&mut self) {
        if has_ended(self.stop) {
            self.has_stopped = true;
            self.quits = true;
            return;
        }
        // If the terminal fails, the session ends at the next key, where the error can be
        // reported.
        while has_event(Duration::ZERO, self.stop).unwrap_or(false) {
            let Ok(event) = event::read() else { return };
            if let Some(key) = pressed(event) {
                self.handle_key(&key);
            }
        }
    }

    fn handle_key(&mut self, key: &KeyEvent) {
        let is_sliced = self.size.is_none();
        match key.code {
            _ if is_interrupt(key) => self.has_stopped = true,
            KeyCode::Esc if !is_sliced || self.takes_text => self.has_stopped = true,
            code if self.takes_text => self.text.extend(key_bytes(code)),
            code if is_sliced => self.keys.push(code),
            KeyCode::Enter => self.refuses_command = false,
            KeyCode::Char(':' | '/') => {
                self.refuses_command = true;
                self.has_written_status = true;
                self.write_status("no commands before the board stops: Ctrl-C or Esc stops it");
            }
            KeyCode::Char('q') if !self.refuses_command => {
                self.has_stopped = true;
                self.quits = true;
            }
            _ => {}
        }
    }

    /// Shows in the status row that the board runs, after [`RUNNING_NOTICE_DELAY`].
    fn show_running(&mut self) {
        if self.size.is_none()
            || self.has_written_status
            || self.began.elapsed() < RUNNING_NOTICE_DELAY
        {
            return;
        }
        self.has_written_status = true;
        self.write_status("running: Ctrl-C or Esc stops, q quits");
    }

    /// Writes the status row directly: the view cannot draw while it runs the board.
    fn write_status(&self, text: &str) {
        let Some((columns, rows)) = self.size else { return };
        let text = format!("{text:<width$}", width = usize::from(columns));
        let mut out = io::stdout().lock();
        let _ = queue!(out, MoveTo(0, rows.saturating_sub(2)), Print(text));
        let _ = out.flush();
    }
}

/// The bytes that a key sends over a line.
fn key_bytes(key: KeyCode) -> Vec<u8> {
    match key {
        KeyCode::Char(character) => character.to_string().into_bytes(),
        KeyCode::Enter => vec![b'\r'],
        KeyCode::Backspace => vec![8],
        KeyCode::Tab => vec![b'\t'],
        _ => Vec::new(),
    }
}

/// The far end of the board's line.
pub(super) struct ConsoleLine {
    line: Option<PtyLine>,
    /// The number of bytes of the board's output that were forwarded.
    passed: usize,
}

impl ConsoleLine {
    /// No line: output is shown only in the debugger's pane.
    pub(super) fn pane() -> Self {
        Self { line: None, passed: 0 }
    }

    /// A pseudo-terminal that another program can open; its path goes to standard error.
    pub(super) fn pseudo_terminal() -> io::Result<Self> {
        let line = PtyLine::open(BAUD)?;
        eprintln!("the board's line is {}; press Enter to start", line.path().display());
        let mut enter = String::new();
        io::stdin().read_line(&mut enter)?;
        Ok(Self { line: Some(line), passed: 0 })
    }

    /// Returns `true` if another program may send bytes.
    fn is_shared(&self) -> bool {
        self.line.is_some()
    }

    /// Forwards the board's new output.
    fn forward_output(&mut self, debugger: &Debugger) {
        let Some(line) = &mut self.line else { return };
        // After stepping back the board's output is shorter, and the same bytes will follow again:
        // they are forwarded once.
        let sent = debugger.output();
        for byte in sent.get(self.passed..).unwrap_or_default() {
            line.transmit(*byte);
        }
        self.passed = self.passed.max(sent.len());
        line.flush(None);
    }

    /// Forwards the board's output, and sends it the bytes of the other program.
    fn pump(&mut self, debugger: &mut Debugger) {
        if debugger.is_searching() {
            return;
        }
        self.forward_output(debugger);
        let Some(line) = &mut self.line else { return };
        let arrived: Vec<u8> = std::iter::from_fn(|| line.receive()).collect();
        if !arrived.is_empty() {
            // Fails only while stepping back, which was excluded above.
            let _ = debugger.send(&arrived);
        }
    }
}
