//! The debugger on a terminal: keys, redrawing, and a board that can be stopped at any moment.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use board_debugger::view::Screen;
use board_debugger::{Debugger, ExecCommand, HaltReason, commands};
use board_simulator::{PtyLine, SerialLine};
use cli_support::exit::INTERRUPTED;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::{DefaultTerminal, Frame};

/// How often the screen is drawn while the board runs.
const REFRESH_INTERVAL: Duration = Duration::from_millis(50);
/// How often keys are polled while the board runs.
const KEY_POLL_INTERVAL: Duration = Duration::from_millis(5);
/// The time that a command may take before the screen shows that the board is running.
const RUNNING_NOTICE_DELAY: Duration = Duration::from_millis(200);
const RUNNING: &str = "running: Ctrl-C or Esc stops, q quits";
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
    screen: &mut Screen,
    debugger: &mut Debugger,
    console: &mut ConsoleLine,
    stop: &AtomicBool,
) -> io::Result<u8> {
    loop {
        let shown = terminal.draw(|frame| screen.draw(frame, debugger))?.buffer.clone();
        console.forward_output(debugger);
        while !has_event(END_POLL_INTERVAL, stop)? {
            if has_ended(stop) {
                return closed(stop);
            }
        }
        let Some(key) = next_key(screen, debugger, false)? else { continue };
        let Some(line) = screen.handle_key(debugger, key) else { continue };
        let now = Instant::now();
        let mut running = RunningBoard {
            terminal,
            console,
            stop,
            last_poll: now,
            next_draw: now + RUNNING_NOTICE_DELAY,
            shown,
            has_stopped: false,
            quits: false,
            error: None,
        };
        screen.status = RUNNING.to_owned();
        let goes_on = match ["c", "run"].contains(&line.trim()) {
            true => running.run_with_input(screen, debugger).map(|()| true)?,
            false => screen
                .execute(debugger, &line, &mut |screen, debugger| running.poll(screen, debugger)),
        };
        running.error.take().map_or(Ok(()), Err)?;
        if !goes_on || running.quits {
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

/// Returns the key of the next event, if it is one that goes down. Pasted text goes to the command
/// line, or to a running board with its console.
fn next_key(
    screen: &mut Screen,
    debugger: &mut Debugger,
    is_running: bool,
) -> io::Result<Option<KeyEvent>> {
    match event::read()? {
        Event::Paste(text) if is_running && screen.shows_console() && !screen.has_prompt() => {
            screen.send(debugger, text.replace('\n', "\r").as_bytes());
        }
        Event::Paste(text) => screen.paste(&text),
        Event::Key(key) if key.kind != KeyEventKind::Release => return Ok(Some(key)),
        _ => {}
    }
    Ok(None)
}

/// Handles keys and redraws while the board runs.
struct RunningBoard<'a> {
    terminal: &'a mut DefaultTerminal,
    console: &'a mut ConsoleLine,
    stop: &'a AtomicBool,
    last_poll: Instant,
    next_draw: Instant,
    /// What is shown while the past is searched, whose states are not.
    shown: Buffer,
    has_stopped: bool,
    quits: bool,
    /// An error of the terminal, which has stopped the board.
    error: Option<io::Error>,
}

impl RunningBoard<'_> {
    /// Continues the board. While it waits for input that a host may still send, it is idle, not
    /// halted.
    fn run_with_input(&mut self, screen: &mut Screen, debugger: &mut Debugger) -> io::Result<()> {
        loop {
            let poll = &mut |debugger: &mut Debugger| self.poll(screen, debugger);
            let halt = commands::run(debugger, ExecCommand::Continue, poll);
            let is_stopped = halt == HaltReason::Idle && self.poll(screen, debugger);
            let is_awaited = self.console.line.is_some() || screen.shows_console();
            if halt != HaltReason::Idle || !is_awaited || is_stopped {
                screen.show_halt(debugger, if is_stopped { HaltReason::Paused } else { halt });
                return Ok(());
            }
            has_event(KEY_POLL_INTERVAL, self.stop)?;
        }
    }

    /// Returns `true` if a key to stop the board was pressed.
    fn poll(&mut self, screen: &mut Screen, debugger: &mut Debugger) -> bool {
        self.console.pump(debugger);
        if self.last_poll.elapsed() >= KEY_POLL_INTERVAL {
            self.last_poll = Instant::now();
            let handled = self.poll_keys(screen, debugger);
            let drawn = handled.and_then(|()| self.redraw(screen, debugger));
            self.error = self.error.take().or(drawn.err());
        }
        self.has_stopped || self.error.is_some()
    }

    fn poll_keys(&mut self, screen: &mut Screen, debugger: &mut Debugger) -> io::Result<()> {
        self.quits |= has_ended(self.stop);
        self.has_stopped |= self.quits;
        while !self.has_stopped && has_event(Duration::ZERO, self.stop)? {
            let Some(key) = next_key(screen, debugger, true)? else { continue };
            let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
            // Keys for the console are sent, and the others are answered at once.
            match key.code {
                // Ctrl-C is no signal on a terminal in raw mode.
                KeyCode::Char('c') if is_control => self.has_stopped = true,
                KeyCode::Esc if !screen.has_prompt() => self.has_stopped = true,
                _ if screen.shows_console() && !screen.has_prompt() => {
                    screen.send(debugger, &key_bytes(&key));
                }
                _ => {
                    self.quits = !screen.handle_running_key(debugger, key);
                    self.has_stopped = self.quits;
                    self.next_draw = Instant::now();
                }
            }
        }
        Ok(())
    }

    fn redraw(&mut self, screen: &mut Screen, debugger: &mut Debugger) -> io::Result<()> {
        if Instant::now() < self.next_draw {
            return Ok(());
        }
        self.next_draw = Instant::now() + REFRESH_INTERVAL;
        screen.collect_log(debugger);
        let shown = &self.shown;
        let draw = |frame: &mut Frame<'_>| {
            if !debugger.is_searching() {
                return screen.draw(frame, debugger);
            }
            if shown.area == frame.area() {
                frame.buffer_mut().clone_from(shown);
            }
            screen.draw_status_alone(frame);
        };
        self.terminal.draw(draw).map(drop)
    }
}

/// The bytes that a key sends over a line.
fn key_bytes(key: &KeyEvent) -> Vec<u8> {
    match key.code {
        KeyCode::Char(letter @ '@'..='z') if key.modifiers.contains(KeyModifiers::CONTROL) => {
            vec![letter as u8 & 0x1F]
        }
        KeyCode::Char(character) => character.to_string().into_bytes(),
        KeyCode::Enter => vec![b'\r'],
        KeyCode::Backspace => vec![8],
        KeyCode::Tab => vec![b'\t'],
        _ => Vec::new(),
    }
}

/// The far end of the board's line.
#[derive(Default)]
pub(super) struct ConsoleLine {
    /// The line that another program can open; without one, output is shown only in the pane.
    line: Option<PtyLine>,
    /// The number of bytes of the board's output that were forwarded.
    passed: usize,
}

impl ConsoleLine {
    /// A pseudo-terminal that another program can open; its path goes to standard error.
    pub(super) fn pseudo_terminal() -> io::Result<Self> {
        let line = PtyLine::open(BAUD)?;
        eprintln!("the board's line is {}; press Enter to start", line.path().display());
        let mut enter = String::new();
        io::stdin().read_line(&mut enter)?;
        Ok(Self { line: Some(line), passed: 0 })
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
