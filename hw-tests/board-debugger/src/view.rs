//! The debugger in a terminal: what keys mean, and what is shown.
//!
//! A key is mapped to a [`KeyAction`] first and executed afterwards, so that the owner of the
//! terminal can poll keys and redraw while the board runs.

mod draw;

use ratatui::crossterm::event::KeyCode;

use super::commands::{CommandOutcome, Pane, execute};
use super::debugger::Debugger;
use super::debugger::ShouldStop;
use super::exec::ExecCommand;
use super::exec::HaltReason;
use super::render;
use super::stops::Breakpoint;

/// The keys of single commands, as the bottom row and `?` show them.
pub const KEYS: [(&str, &str); 20] = [
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
    ("R", "restart"),
    ("Tab", "next pane"),
    (":", "command"),
    ("/", "find"),
    ("arrows", "move the cursor"),
    ("page keys", "scroll the pane"),
    ("Esc", "back to the instruction"),
    ("Enter", "the last command again"),
    ("Ctrl-C", "stop what runs"),
    ("q", "quit"),
];

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

/// A place in a source file that a person has moved to.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Cursor {
    file: String,
    line: usize,
}

/// A debugger and what its view remembers.
pub struct View {
    debugger: Debugger,
    /// The T-states at the beginning.
    began: u64,
    status: String,
    pane: Pane,
    /// Rows of the pane that are above what is shown.
    scroll: usize,
    cursor: Option<Cursor>,
    /// The command line that is being typed, with the sign before it.
    prompt: Option<String>,
    last_command: Option<String>,
    is_running: bool,
}

impl View {
    /// Shows a debugger; the message stands in the row for what happened last.
    #[must_use]
    pub fn new(debugger: Debugger, message: Option<String>) -> Self {
        let began = debugger.clock();
        let at = debugger.registers().pc;
        Self {
            debugger,
            began,
            status: message.unwrap_or_else(|| "ready".to_owned()),
            pane: Pane::Code(at),
            scroll: 0,
            cursor: None,
            prompt: None,
            last_command: None,
            is_running: false,
        }
    }

    /// The debugger.
    #[must_use]
    pub fn debugger(&self) -> &Debugger {
        &self.debugger
    }

    /// Whether the board's output is in sight, and keys go to the board while it runs.
    #[must_use]
    pub fn shows_console(&self) -> bool {
        self.pane == Pane::Console
    }

    /// Sends bytes to the board.
    pub fn send(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() && self.debugger.send(bytes).is_err() {
            self.status = "the board takes nothing now".to_owned();
        }
    }

    /// Lets whoever owns the other end of the board's line look at the debugger, and send.
    pub fn with_debugger(&mut self, feed: impl FnOnce(&mut Debugger)) {
        feed(&mut self.debugger);
    }

    /// Takes a key.
    pub fn press(&mut self, key: KeyCode) -> KeyAction {
        match (self.prompt.take(), key) {
            (Some(text), key) => self.type_into(text, key),
            (None, KeyCode::Char(key)) => self.action_for_char(key),
            (None, key) => self.move_cursor(key),
        }
    }

    /// A key while a command line is typed.
    fn type_into(&mut self, mut text: String, key: KeyCode) -> KeyAction {
        match key {
            KeyCode::Esc => return KeyAction::Nothing,
            KeyCode::Enter => {
                let line = text.strip_prefix(':').unwrap_or(&text).to_owned();
                self.last_command = Some(line.clone());
                return KeyAction::Command(line);
            }
            // The sign before the line goes last, and with it the line.
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
        let motion = match key {
            's' => ExecCommand::Step,
            'S' => ExecCommand::ReverseStep,
            'v' => ExecCommand::StepOver,
            'n' => ExecCommand::StepLine,
            'N' => ExecCommand::ReverseStepLine,
            'i' => ExecCommand::StepLineInto,
            'o' => ExecCommand::StepOut,
            'c' => ExecCommand::Continue,
            'C' => ExecCommand::ReverseContinue,
            't' | 'T' => return self.run_to_cursor(key == 'T'),
            'W' => return self.who(),
            'R' => return KeyAction::Command("restart".to_owned()),
            'b' => return self.toggle_break(),
            ':' | '/' => {
                self.prompt = Some(key.to_string());
                return KeyAction::Nothing;
            }
            '?' => {
                self.show(Pane::Help);
                return KeyAction::Nothing;
            }
            'q' => return KeyAction::Quit,
            _ => {
                self.status =
                    format!("{} is no key; ? shows them", render::visible(&key.to_string()));
                return KeyAction::Nothing;
            }
        };
        KeyAction::Move(motion)
    }

    /// Keys that have no letter.
    fn move_cursor(&mut self, key: KeyCode) -> KeyAction {
        match key {
            KeyCode::Up => self.cursor_by(-1),
            KeyCode::Down => self.cursor_by(1),
            KeyCode::PageUp => self.scroll_by(-1),
            KeyCode::PageDown => self.scroll_by(1),
            KeyCode::Home => self.scroll = 0,
            KeyCode::Esc => {
                self.cursor = None;
                self.scroll = 0;
                if self.pane == Pane::Help {
                    self.follow();
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
    pub fn execute(&mut self, wish: &KeyAction, ask: ShouldStop<'_>) -> bool {
        match wish {
            KeyAction::Nothing => {}
            KeyAction::Quit => return false,
            KeyAction::Move(motion) => {
                let halt = self.debugger.run(*motion, ask);
                self.halted(halt);
            }
            KeyAction::Command(line) => match execute(&mut self.debugger, line, ask) {
                Err(message) => self.status = message,
                Ok(CommandOutcome::Quit) => return false,
                Ok(CommandOutcome::Output(text)) => {
                    self.status = text.lines().next().unwrap_or("").to_owned()
                }
                Ok(CommandOutcome::Halted(halt)) => self.halted(halt),
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
    pub fn halted(&mut self, halt: HaltReason) {
        self.is_running = false;
        self.cursor = None;
        self.status = render::describe(&self.debugger, halt);
        if matches!(self.pane, Pane::Code(_) | Pane::Help) {
            self.follow();
        }
    }

    /// Runs on for a while, in which `ask` is asked; the view then shows a board that runs. Returns
    /// why it stands still if it does not run any more.
    pub fn run_on(&mut self, ask: ShouldStop<'_>) -> Option<HaltReason> {
        self.is_running = true;
        self.status = "running: Ctrl-C or Esc stops".to_owned();
        let halt = self.debugger.run(ExecCommand::Continue, ask);
        (halt != HaltReason::Paused).then_some(halt)
    }

    /// Shows the instructions where the board stands.
    fn follow(&mut self) {
        self.pane = Pane::Code(self.debugger.registers().pc);
        self.scroll = 0;
    }

    fn show(&mut self, pane: Pane) {
        self.pane = pane;
        self.scroll = 0;
        self.status = String::new();
    }

    /// The panes in the order in which Tab shows them.
    fn panes(&self) -> [Pane; 7] {
        let registers = self.debugger.registers();
        [
            Pane::Code(registers.pc),
            Pane::Memory(registers.hl),
            Pane::Calls,
            Pane::Stops,
            Pane::Console,
            Pane::Board,
            Pane::Array,
        ]
    }

    fn next_pane(&mut self, step: isize) {
        let panes = self.panes();
        let kind = std::mem::discriminant(&self.pane);
        let now = panes.iter().position(|pane| std::mem::discriminant(pane) == kind);
        let next = now.map_or(0, |now| (now as isize + step).rem_euclid(panes.len() as isize));
        self.show(panes[next as usize].clone());
    }

    /// Scrolls the pane by some rows. Instructions and memory go on for ever; what else is listed
    /// ends.
    fn scroll_by(&mut self, pages: isize) {
        const PAGE: isize = 8;
        let rows = pages * PAGE;
        match &mut self.pane {
            Pane::Memory(at) => *at = at.wrapping_add((rows * render::ROW as isize) as u16),
            Pane::Code(at) => {
                let step = if rows > 0 {
                    render::code_after(&self.debugger, *at, rows as usize)
                } else {
                    render::code_before(&self.debugger, *at, rows.unsigned_abs())
                };
                *at = step;
            }
            _ => self.scroll = self.scroll.saturating_add_signed(rows),
        }
    }

    fn cursor_by(&mut self, lines: isize) {
        let Some(Cursor { file, line }) = self.cursor.clone().or_else(|| self.running_line())
        else {
            self.status = "there is no source to move in".to_owned();
            return;
        };
        let last = self.debugger.code().text(&file).len().max(1);
        let line = line.saturating_add_signed(lines).clamp(1, last);
        self.cursor = Some(Cursor { file, line });
    }

    /// The line where the board stands.
    fn running_line(&self) -> Option<Cursor> {
        let (file, line) = self.debugger.line()?;
        Some(Cursor { file: file.to_owned(), line: line as usize })
    }

    /// The first instruction at or below the cursor; without one, the instruction where the board
    /// stands.
    fn cursor_address(&self) -> Option<u16> {
        match &self.cursor {
            Some(Cursor { file, line }) => {
                self.debugger.code().breakable(file, *line as u32)?.1.first().copied()
            }
            None => Some(self.debugger.registers().pc),
        }
    }

    fn run_to_cursor(&mut self, back: bool) -> KeyAction {
        match self.cursor_address() {
            Some(at) if back => KeyAction::Move(ExecCommand::ReverseTo(at)),
            Some(at) => KeyAction::Move(ExecCommand::RunTo(at)),
            None => {
                self.status = "there is no instruction at or below the cursor".to_owned();
                KeyAction::Nothing
            }
        }
    }

    /// The byte to ask about is the first one of memory that is shown, or that at HL.
    fn who(&mut self) -> KeyAction {
        let at = match self.pane {
            Pane::Memory(at) => at,
            _ => self.debugger.registers().hl,
        };
        KeyAction::Move(ExecCommand::ReverseToChange(at))
    }

    fn toggle_break(&mut self) -> KeyAction {
        let Some(at) = self.cursor_address() else {
            self.status = "there is no instruction at or below the cursor".to_owned();
            return KeyAction::Nothing;
        };
        let was = self.debugger.stops.has_breakpoint(at);
        if let (false, Err(problem)) = (was, self.debugger.can_set_breakpoint(at)) {
            self.status = problem;
            return KeyAction::Nothing;
        }
        let stops = &mut self.debugger.stops;
        stops.remove_breakpoints_at(at);
        if !was {
            stops.add_breakpoint(Breakpoint::at(at));
        }
        let what = if was { "no breakpoint" } else { "breakpoint" };
        self.status = format!("{what} at {}", self.debugger.code().place_of(at));
        KeyAction::Nothing
    }
}
