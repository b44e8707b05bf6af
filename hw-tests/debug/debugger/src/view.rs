//! The debugger in a terminal: keys and display.
//!
//! A key is mapped to a [`KeyAction`] first and executed afterwards, so that the owner of the
//! terminal can poll keys and redraw while the board runs.

mod cursor;
mod draw;

use ratatui::crossterm::event::KeyCode;

use super::commands::{self, Command, CommandOutcome, Pane, execute};
use super::debugger::{Debugger, ShouldStop};
use super::exec::{ExecCommand, HaltReason};
use super::motions::{Motion, MotionKind};
use super::render;

/// The keys of single commands, as the bottom row and `?` show them.
pub const KEYS: [(&str, &str); 21] = [
    ("?", "help"),
    ("s S", "step, back"),
    ("n N", "line, back"),
    ("c C", "run, back"),
    ("i", "into calls"),
    ("v", "over"),
    ("o", "out"),
    ("b", "breakpoint here"),
    ("t T", "to the cursor, back"),
    ("W", "who wrote this byte"),
    ("e", "edit memory"),
    ("R", "restart, or load edited source"),
    ("Tab", "next pane"),
    (":", "command"),
    ("/", "find"),
    ("arrows", "move the cursor"),
    ("page keys", "scroll the pane"),
    ("Esc", "back to the instruction"),
    ("Enter", "repeat the last command"),
    ("Ctrl-C", "stop the board"),
    ("q", "quit"),
];

/// Bytes in a row of the memory pane where sixteen have no room.
const NARROW_ROW: u16 = 8;

/// The action bound to a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyAction {
    /// The board does not run; the display may have changed.
    Nothing,
    /// Run the board.
    Move(ExecCommand),
    /// Execute a command line.
    Command(String),
    /// End the session.
    Quit,
}

/// The cursor in a source file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Cursor {
    file: String,
    line: usize,
}

/// A debugger and the state of its display.
pub struct View {
    debugger: Debugger,
    /// The clock when the session started, in T-states.
    start_clock: u64,
    status: String,
    pane: Pane,
    /// Rows of the pane above the first one shown.
    scroll: usize,
    cursor: Option<Cursor>,
    /// The command line being typed, with its `:` or `/`.
    prompt: Option<String>,
    last_command: Option<String>,
    is_running: bool,
    /// Whether the board has halted since the last key: Ctrl-C may have been meant for it.
    has_just_halted: bool,
    /// The last lines that breakpoints have logged.
    log: Vec<String>,
}

impl View {
    /// Creates a view; `message` is shown in the status row.
    pub fn new(debugger: Debugger, message: Option<String>) -> Self {
        let began = debugger.clock();
        let at = debugger.registers().pc;
        Self {
            debugger,
            start_clock: began,
            status: message.unwrap_or_else(|| "ready".to_owned()),
            pane: Pane::Code(at),
            scroll: 0,
            cursor: None,
            prompt: None,
            last_command: None,
            is_running: false,
            has_just_halted: false,
            log: Vec::new(),
        }
    }

    /// Adds what breakpoints have logged.
    fn collect_log(&mut self) {
        const LOG_ROWS: usize = 100;
        self.log.extend(self.debugger.take_log());
        self.log.drain(..self.log.len().saturating_sub(LOG_ROWS));
    }

    /// The debugger.
    pub fn debugger(&self) -> &Debugger {
        &self.debugger
    }

    /// The last messages that breakpoints have logged.
    pub fn log(&self) -> &[String] {
        &self.log
    }

    /// Returns `true` if the console is shown; keys then go to the running board.
    pub fn shows_console(&self) -> bool {
        self.pane == Pane::Console
    }

    /// Sends bytes to the board.
    pub fn send(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() && self.debugger.send(bytes).is_err() {
            self.status = "no input while a past state is shown; press c to return".to_owned();
        }
    }

    /// Executes a command of a saved session; returns `false` if it fails, or runs the board.
    pub fn restore_command(&mut self, line: &str) -> bool {
        if commands::runs_board(line) {
            return false;
        }
        match execute(&mut self.debugger, line, &mut |_| true) {
            Ok(CommandOutcome::Show(pane)) => self.show(pane),
            Ok(_) => {}
            Err(_) => return false,
        }
        true
    }

    /// Shows a message in the status row.
    pub fn set_status(&mut self, status: String) {
        self.status = status;
    }

    /// The command that shows the pane at the left again in a later session, if it is not the
    /// instructions at PC.
    pub fn layout_command(&self) -> Option<String> {
        self.pane.command()
    }

    /// Gives the owner of the board's line access to the debugger, to read output and send input.
    pub fn with_debugger(&mut self, f: impl FnOnce(&mut Debugger)) {
        f(&mut self.debugger);
    }

    /// Handles a key and returns the action bound to it.
    pub fn handle_key(&mut self, key: KeyCode) -> KeyAction {
        self.has_just_halted = false;
        match (self.prompt.take(), key) {
            (Some(text), key) => self.type_into(text, key),
            (None, KeyCode::Char(key)) => self.action_for_char(key),
            (None, key) => self.handle_control_key(key),
        }
    }

    /// Handles Ctrl-C while the board is halted; returns `true` if it ends the session. Right after
    /// a halt it does not: it was meant to stop the board.
    pub fn handle_interrupt(&mut self) -> bool {
        let has_just_halted = std::mem::take(&mut self.has_just_halted);
        if has_just_halted {
            self.status = "the board has halted by itself; Ctrl-C again quits".to_owned();
        }
        !has_just_halted
    }

    /// Handles a key while the board runs; returns `false` if it ends the session. Commands that
    /// run the board are refused.
    pub fn handle_running_key(&mut self, key: KeyCode) -> bool {
        let is_allowed = match key {
            _ if self.prompt.is_some() => true,
            KeyCode::Char(key) => "b:/q".contains(key),
            _ => true,
        };
        if !is_allowed {
            self.status = "the board is running: Esc stops it".to_owned();
            return true;
        }
        match self.handle_key(key) {
            KeyAction::Command(line) if commands::runs_board(&line) => {
                self.status = format!("'{line}' needs a stopped board: Esc stops it");
                true
            }
            action => self.execute(&action, &mut |_| true),
        }
    }

    /// Returns `true` while a command line is typed.
    pub fn has_prompt(&self) -> bool {
        self.prompt.is_some()
    }

    /// Handles a key while a command line is typed.
    fn type_into(&mut self, mut text: String, key: KeyCode) -> KeyAction {
        match key {
            KeyCode::Esc => return KeyAction::Nothing,
            KeyCode::Enter => {
                let line = text.strip_prefix(':').unwrap_or(&text).to_owned();
                self.last_command = Some(line.clone());
                return KeyAction::Command(line);
            }
            // Deleting the `:` or `/` at the start closes the prompt.
            KeyCode::Backspace => {
                text.pop();
            }
            KeyCode::Char(character) => text.push(character),
            _ => {}
        }
        self.prompt = (!text.is_empty()).then_some(text);
        KeyAction::Nothing
    }

    fn action_for_char(&mut self, key: char) -> KeyAction {
        // The key of a motion is the letter of its command.
        let command = Command::find(&key.to_string());
        let motion = command.and_then(|command| Motion::by_command(command.name));
        match (motion, key) {
            (Some(MotionKind::ToInstruction(make)), _) => return self.run_to_cursor(make),
            (Some(motion), _) => {
                let command = motion.with(Some(self.memory_address()), None);
                return command.map_or(KeyAction::Nothing, KeyAction::Move);
            }
            (None, 'R') => return KeyAction::Command("restart".to_owned()),
            (None, 'b') => return self.toggle_break(),
            (None, 'e') => {
                self.prompt = Some(format!(":set [{:04X}H] = ", self.memory_address()));
            }
            (None, ':' | '/') => self.prompt = Some(key.to_string()),
            (None, '?') => self.show(Pane::Help),
            (None, 'q') => return KeyAction::Quit,
            (None, _) => {
                let key = render::printable(&key.to_string());
                self.status = format!("unknown key {key}; ? shows all keys");
            }
        }
        KeyAction::Nothing
    }

    /// Handles keys other than characters.
    fn handle_control_key(&mut self, key: KeyCode) -> KeyAction {
        match key {
            KeyCode::Up => self.move_cursor_by(-1),
            KeyCode::Down => self.move_cursor_by(1),
            KeyCode::PageUp => self.scroll_by(-1),
            KeyCode::PageDown => self.scroll_by(1),
            KeyCode::Home => self.scroll = 0,
            KeyCode::Esc => {
                self.cursor = None;
                self.scroll = 0;
                if self.pane == Pane::Help {
                    self.show_current_code();
                }
            }
            KeyCode::Tab => self.next_pane(1),
            KeyCode::BackTab => self.next_pane(-1),
            KeyCode::Enter => {
                return self.last_command.clone().map_or(KeyAction::Nothing, KeyAction::Command);
            }
            _ => {}
        }
        KeyAction::Nothing
    }

    /// Executes an action; returns `false` if it ends the session.
    pub fn execute(&mut self, action: &KeyAction, should_stop: ShouldStop<'_>) -> bool {
        match action {
            KeyAction::Nothing => {}
            KeyAction::Quit => return false,
            KeyAction::Move(command) => {
                let halt = commands::run(&mut self.debugger, *command, should_stop);
                self.show_halt(halt);
            }
            KeyAction::Command(line) => match execute(&mut self.debugger, line, should_stop) {
                Err(message) => self.status = message,
                Ok(CommandOutcome::Quit) => return false,
                Ok(CommandOutcome::Output(text)) => {
                    self.status = text.lines().next().unwrap_or("").to_owned()
                }
                Ok(CommandOutcome::Halted(halt)) => self.show_halt(halt),
                Ok(CommandOutcome::Show(Pane::Source(file, line))) => {
                    self.cursor = Some(Cursor { file, line });
                    self.status = String::new();
                }
                Ok(CommandOutcome::Show(pane)) => self.show(pane),
            },
        }
        true
    }

    /// Shows why the board halted.
    pub fn show_halt(&mut self, halt: HaltReason) {
        self.is_running = false;
        self.has_just_halted = halt != HaltReason::Paused;
        self.cursor = None;
        self.collect_log();
        self.status = render::describe_halt(&self.debugger, halt);
        if halt == HaltReason::HistoryStart
            && let Some(line) = self.log.last()
        {
            self.status.clone_from(line);
        }
        if matches!(self.pane, Pane::Code(_) | Pane::Help) {
            self.show_current_code();
        }
    }

    /// Continues the board until `should_stop` returns `true`; the view then shows a running board.
    /// Returns the reason if the board halted.
    pub fn continue_running(&mut self, should_stop: ShouldStop<'_>) -> Option<HaltReason> {
        if !std::mem::replace(&mut self.is_running, true) {
            self.status = "running: Ctrl-C or Esc stops".to_owned();
        }
        let halt = commands::run(&mut self.debugger, ExecCommand::Continue, should_stop);
        self.collect_log();
        (halt != HaltReason::Paused).then_some(halt)
    }
}
