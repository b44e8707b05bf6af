//! A debugger with its screen, without a terminal.

use board_debugger::Debugger;
use board_debugger::view::{Poll, Screen};
use ratatui::Frame;
use ratatui::crossterm::event::KeyCode;

pub(crate) struct View {
    pub(crate) debugger: Debugger,
    pub(crate) screen: Screen,
}

impl View {
    pub(crate) fn new(debugger: Debugger) -> Self {
        let screen = Screen::new(&debugger, None);
        Self { debugger, screen }
    }

    pub(crate) fn handle_key(&mut self, key: KeyCode) -> Option<String> {
        self.screen.handle_key(&self.debugger, key)
    }

    /// Presses a key, and executes its command line; returns `false` if it ends the session.
    pub(crate) fn press(&mut self, key: KeyCode, poll: Poll<'_>) -> bool {
        let line = self.handle_key(key);
        line.is_none_or(|line| self.screen.execute(&mut self.debugger, &line, poll))
    }

    pub(crate) fn draw(&self, frame: &mut Frame<'_>) {
        self.screen.draw(frame, &self.debugger);
    }

    pub(crate) fn text(&self, columns: u16, rows: u16) -> String {
        self.screen.render_text(&self.debugger, columns, rows)
    }
}
