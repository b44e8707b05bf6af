//! A debugger with its screen, without a terminal.

use board_debugger::Debugger;
use board_debugger::view::{KeyAction, Poll, Screen};
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

    pub(crate) fn handle_key(&mut self, key: KeyCode) -> KeyAction {
        self.screen.handle_key(&self.debugger, key)
    }

    /// Executes an action; returns `false` if it ends the session.
    pub(crate) fn execute(&mut self, action: &KeyAction, poll: Poll<'_>) -> bool {
        self.screen.execute(&mut self.debugger, action, poll)
    }

    pub(crate) fn draw(&self, frame: &mut Frame<'_>) {
        self.screen.draw(frame, &self.debugger);
    }

    pub(crate) fn text(&self, columns: u16, rows: u16) -> String {
        self.screen.render_text(&self.debugger, columns, rows)
    }
}
