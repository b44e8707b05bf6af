//! The debugger in a terminal: keys and display.
//!
//! A key is mapped to a command line first, which is executed afterwards. While the board runs, the
//! owner of the terminal handles keys and redraws by the [`Screen`], which does not own the debugger.

mod cursor;
mod draw;
mod prompt;

use std::cell::Cell;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::commands::{self, Command, CommandOutcome, CommandResult, Pane, execute};
use crate::{Debugger, HaltReason, Motion, render};
use prompt::Prompt;

/// The keys that are no letters of commands, or do more than the command.
const KEYS: [(&str, &str); 11] = [
    ("b", "breakpoint at the cursor"),
    ("t T", "to the cursor, back"),
    ("W", "who wrote the byte at HL or in the pane"),
    ("e", "edit memory"),
    ("Tab", "next pane"),
    (":", "command"),
    ("arrows", "move the cursor"),
    ("page keys", "scroll the pane"),
    ("Esc", "back to the instruction"),
    ("Enter", "repeat the last command"),
    ("Ctrl-C", "stop the board"),
];

/// Bytes in a row of the memory pane where sixteen have no room.
const NARROW_ROW: u16 = 8;

/// The cursor in a source file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Cursor {
    file: String,
    line: usize,
}

/// Polled with screen and debugger while the board runs; returning `true` stops it.
pub type Poll<'a> = &'a mut dyn FnMut(&mut Screen, &mut Debugger) -> bool;

/// The state of a display.
pub struct Screen {
    /// The clock when the session started, in T-states.
    start_clock: u64,
    /// The message in the status row.
    pub status: String,
    pane: Pane,
    /// A result that is shown instead of the pane.
    result: Option<Pane>,
    /// Rows of the pane above the first one shown.
    scroll: usize,
    cursor: Option<Cursor>,
    /// The command line being typed.
    prompt: Option<Prompt>,
    /// The command lines that were typed.
    history: Vec<String>,
    /// Columns of the screen when it was drawn last.
    columns: Cell<u16>,
    /// Whether the last key was `q`, which asks before the past is lost.
    asks_to_quit: bool,
    /// The last lines that breakpoints have logged.
    pub log: Vec<String>,
}

impl Screen {
    /// Creates the display of a debugger; `message` is shown in the status row.
    pub fn new(debugger: &Debugger, message: Option<String>) -> Self {
        Self {
            start_clock: debugger.clock(),
            status: message.unwrap_or_else(|| "ready".to_owned()),
            pane: Pane::Code(debugger.registers().pc),
            result: None,
            scroll: 0,
            cursor: None,
            prompt: None,
            history: Vec::new(),
            columns: Cell::new(0),
            asks_to_quit: false,
            log: Vec::new(),
        }
    }

    /// Executes a command of a saved session; returns `false` if it fails, or runs the board.
    pub fn restore_command(&mut self, debugger: &mut Debugger, line: &str) -> bool {
        if commands::runs_board(line) {
            return false;
        }
        let outcome = execute(debugger, line, &mut |_| true);
        let is_done = outcome.is_ok();
        self.show_outcome(debugger, outcome);
        is_done
    }

    /// The command that shows the pane at the left again in a later session, if it is not the
    /// instructions at PC.
    pub fn layout_command(&self) -> Option<String> {
        self.pane.names().0
    }

    /// Executes a command line; returns `false` if it ends the session.
    pub fn execute(&mut self, debugger: &mut Debugger, line: &str, poll: Poll<'_>) -> bool {
        let outcome = execute(debugger, line, &mut |debugger| poll(self, debugger));
        self.show_outcome(debugger, outcome)
    }

    /// Adds what breakpoints have logged, to be shown while the board runs.
    pub fn collect_log(&mut self, debugger: &mut Debugger) {
        const LOG_ROWS: usize = 100;
        self.log.extend(debugger.take_log());
        self.log.drain(..self.log.len().saturating_sub(LOG_ROWS));
    }

    /// Returns `true` if the console is shown; keys then go to the running board.
    pub fn shows_console(&self) -> bool {
        *self.shown_pane() == Pane::Console
    }

    /// Sends bytes to the board.
    pub fn send(&mut self, debugger: &mut Debugger, bytes: &[u8]) {
        if !bytes.is_empty() && debugger.send(bytes).is_err() {
            self.status = "no input while a past state is shown; press c to return".to_owned();
        }
    }

    /// Handles a key while the board runs; returns `false` if it ends the session. Commands that
    /// run the board are refused.
    pub fn handle_running_key(&mut self, debugger: &mut Debugger, key: KeyEvent) -> bool {
        let is_allowed = match key.code {
            KeyCode::Char('q') if self.prompt.is_none() => return !self.wants_to_quit(debugger),
            // The state is not to be shown.
            _ if debugger.is_searching() => false,
            KeyCode::Char(key) => self.prompt.is_some() || "b:/".contains(key),
            _ => true,
        };
        if !is_allowed {
            self.status = "the board is running: Esc stops it".to_owned();
            return true;
        }
        match self.handle_key(debugger, key) {
            Some(line) if commands::runs_board(&line) => {
                self.status = format!("'{line}' needs a stopped board: Esc stops it");
                true
            }
            Some(line) => self.execute(debugger, &line, &mut |_, _| true),
            None => true,
        }
    }

    /// Returns `true` while a command line is typed.
    pub fn has_prompt(&self) -> bool {
        self.prompt.is_some()
    }

    /// Handles a key; returns the command line to execute, if there is one.
    pub fn handle_key(&mut self, debugger: &Debugger, key: impl Into<KeyEvent>) -> Option<String> {
        let key = key.into();
        let KeyEvent { code, modifiers, .. } = key;
        self.asks_to_quit &= code == KeyCode::Char('q');
        // Both together are AltGr, by which some keyboards have brackets.
        let held = modifiers & (KeyModifiers::CONTROL | KeyModifiers::ALT);
        let is_control = held == KeyModifiers::CONTROL || held == KeyModifiers::ALT;
        match (self.prompt.take(), code) {
            (_, KeyCode::Char('c')) if is_control => {
                self.refuse("nothing runs; q ends the session")
            }
            (Some(prompt), _) => self.type_into(debugger, prompt, key),
            (None, KeyCode::Char(_)) if is_control => {
                self.refuse("no letters with Ctrl or Alt; ? shows all keys")
            }
            (None, KeyCode::Char('q')) => self.wants_to_quit(debugger).then(|| "quit".to_owned()),
            (None, KeyCode::Char(letter)) => self.command_of(debugger, letter),
            (None, code) => self.handle_control_key(debugger, code),
        }
    }

    /// Shows why a key has no command.
    pub(super) fn refuse<T>(&mut self, why: &str) -> Option<T> {
        self.status = why.to_owned();
        None
    }

    /// Handles `q`; returns `true` if it ends the session. Where there is a past, which is then
    /// lost, only the second one does.
    fn wants_to_quit(&mut self, debugger: &Debugger) -> bool {
        let is_certain = self.asks_to_quit || debugger.clock() == self.start_clock;
        self.asks_to_quit = !is_certain;
        if !is_certain {
            self.status = "q again ends the session, and its past is lost".to_owned();
        }
        is_certain
    }

    /// Returns the command line of a character.
    fn command_of(&mut self, debugger: &Debugger, key: char) -> Option<String> {
        // The key of a motion is the letter of its command.
        let command = Command::find(&key.to_string());
        let motion = command.and_then(|command| Motion::by_command(command.name));
        let typed = |address| render::source_number(address, 4);
        match (motion, key) {
            (Some(Motion::ToInstruction(_)), _) => {
                return Some(format!("{key} {}", typed(self.address_at_cursor(debugger)?)));
            }
            (Some(Motion::ToByte(_)), _) => {
                return Some(format!("{key} {}", typed(self.memory_address(debugger))));
            }
            (Some(_), _) | (None, 'R') => return Some(key.to_string()),
            (None, 'b') => {
                let address = self.address_at_cursor(debugger)?;
                let is_set = debugger.stops.has_breakpoint(address);
                let command = if is_set { "delete" } else { "break" };
                return Some(format!("{command} {}", typed(address)));
            }
            (None, 'e') => {
                let address = typed(self.memory_address(debugger));
                self.prompt = Some(Prompt::new(':', &format!("set [{address}] = ")));
            }
            (None, ':' | '/') => self.prompt = Some(Prompt::new(key, "")),
            (None, '?') => self.show(Pane::Help),
            (None, _) => {
                let key = render::printable(&key.to_string());
                self.status = format!("unknown key {key}; ? shows all keys");
            }
        }
        None
    }

    /// Handles keys other than characters.
    fn handle_control_key(&mut self, debugger: &Debugger, key: KeyCode) -> Option<String> {
        match key {
            KeyCode::Up => self.move_cursor_by(debugger, -1),
            KeyCode::Down => self.move_cursor_by(debugger, 1),
            KeyCode::PageUp => self.scroll_by(debugger, -1),
            KeyCode::PageDown => self.scroll_by(debugger, 1),
            KeyCode::Home => self.scroll = 0,
            KeyCode::Esc => {
                self.cursor = None;
                self.scroll = 0;
                if self.result.take().is_none() && self.pane == Pane::Help {
                    self.show_current_code(debugger);
                }
            }
            KeyCode::Tab => self.next_pane(debugger, 1),
            KeyCode::BackTab => self.next_pane(debugger, -1),
            KeyCode::Enter => return self.history.last().cloned(),
            _ => {}
        }
        None
    }

    /// Shows the outcome of a command; returns `false` if it ends the session.
    fn show_outcome(&mut self, debugger: &mut Debugger, outcome: CommandResult) -> bool {
        match outcome {
            Err(message) => self.show_message(&message),
            Ok(CommandOutcome::Quit) => return false,
            Ok(CommandOutcome::Output(text)) => self.show_message(&text),
            Ok(CommandOutcome::Halted(halt)) => self.show_halt(debugger, halt),
            Ok(CommandOutcome::Show(Pane::Source(file, line))) => {
                self.cursor = Some(Cursor { file, line });
                self.status = String::new();
            }
            Ok(CommandOutcome::Show(pane)) => self.show(pane),
        }
        true
    }

    /// Shows a text in the status row, and in a pane if the row has no room for it.
    fn show_message(&mut self, text: &str) {
        if text.lines().count() > 1 || text.chars().count() > self.status_columns() {
            self.show(Pane::Result(text.to_owned()));
        }
        self.status = text.lines().next().unwrap_or_default().to_owned();
    }

    /// Shows why the board halted.
    pub fn show_halt(&mut self, debugger: &mut Debugger, halt: HaltReason) {
        self.cursor = None;
        self.collect_log(debugger);
        self.status = render::describe_halt(debugger, halt);
        self.result = None;
        if matches!(self.pane, Pane::Code(_) | Pane::Help) {
            self.show_current_code(debugger);
        }
        if halt == HaltReason::HistoryStart
            && let Some(line) = self.log.last().cloned()
        {
            self.show_message(&line);
        }
    }
}
