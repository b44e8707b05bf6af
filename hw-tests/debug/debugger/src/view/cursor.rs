//! The panes, the cursor in the source, and the actions at it.

use super::{Cursor, NARROW_ROW, Screen};
use crate::commands::Pane;
use crate::{Debugger, render};

impl Screen {
    pub(super) fn show_current_code(&mut self, debugger: &Debugger) {
        self.pane = Pane::Code(debugger.registers().pc);
        self.scroll = 0;
    }

    /// Shows a pane; a result is shown until another pane is, or the board has run.
    pub(super) fn show(&mut self, pane: Pane) {
        self.result = None;
        match pane {
            Pane::Result(_) => self.result = Some(pane),
            pane => self.pane = pane,
        }
        self.scroll = 0;
        self.status = String::new();
    }

    pub(super) fn shown_pane(&self) -> &Pane {
        self.result.as_ref().unwrap_or(&self.pane)
    }

    /// The panes in the order in which Tab shows them.
    pub(super) fn panes(&self, debugger: &Debugger) -> Vec<Pane> {
        let registers = debugger.registers();
        let built_in = [
            Pane::Code(registers.pc),
            Pane::Memory(registers.hl),
            Pane::Calls,
            Pane::Stops,
            Pane::Displays,
            Pane::Console,
        ];
        let custom = debugger.panes().map(|pane| Pane::Custom(pane.heading().name.to_owned()));
        built_in.into_iter().chain(custom).collect()
    }

    pub(super) fn next_pane(&mut self, debugger: &Debugger, step: isize) {
        let panes = self.panes(debugger);
        let is_now = |pane: &Pane| match (pane, &self.pane) {
            (Pane::Custom(name), Pane::Custom(now)) => name == now,
            (pane, now) => std::mem::discriminant(pane) == std::mem::discriminant(now),
        };
        let now = panes.iter().position(is_now);
        let next = now.map_or(0, |now| (now as isize + step).rem_euclid(panes.len() as isize));
        self.show(panes[next as usize].clone());
    }

    /// Scrolls the pane by pages. Instructions and memory have no end; other lists do.
    pub(super) fn scroll_by(&mut self, debugger: &Debugger, pages: isize) {
        const PAGE: isize = 8;
        let rows = pages * PAGE;
        match &mut self.pane {
            _ if self.result.is_some() => self.scroll = self.scroll.saturating_add_signed(rows),
            Pane::Memory(at) => *at = at.wrapping_add((rows * NARROW_ROW as isize) as u16),
            Pane::Code(at) => {
                *at = (0..rows.unsigned_abs()).fold(*at, |at, _| match rows {
                    1.. => at.wrapping_add(debugger.instruction_length(at)),
                    _ => render::previous_instruction(debugger, at),
                });
            }
            _ => self.scroll = self.scroll.saturating_add_signed(rows),
        }
    }

    pub(super) fn move_cursor_by(&mut self, debugger: &Debugger, lines: isize) {
        let Some(Cursor { file, line }) = self.shown_line(debugger) else {
            self.status = "no source to move the cursor in".to_owned();
            return;
        };
        let last = debugger.code().text(&file).len().max(1);
        let line = line.saturating_add_signed(lines).clamp(1, last);
        self.cursor = Some(Cursor { file, line });
    }

    /// The cursor, or else the line at PC.
    pub(super) fn shown_line(&self, debugger: &Debugger) -> Option<Cursor> {
        let at = |(file, line): (&str, u32)| Cursor { file: file.to_owned(), line: line as usize };
        self.cursor.clone().or_else(|| debugger.line().map(at))
    }

    /// The first instruction at or below the cursor, or, without a cursor, at PC.
    pub(super) fn address_at_cursor(&mut self, debugger: &Debugger) -> Option<u16> {
        let Some(Cursor { file, line }) = &self.cursor else {
            return Some(debugger.registers().pc);
        };
        let found = debugger.code().breakpoint_line(file, *line as u32);
        let address = found.and_then(|(_, addresses)| addresses.first().copied());
        address.or_else(|| self.refuse("no instruction at or below the cursor"))
    }

    /// The first address in the memory pane, or HL.
    pub(super) fn memory_address(&self, debugger: &Debugger) -> u16 {
        match self.pane {
            Pane::Memory(at) => at,
            _ => debugger.registers().hl,
        }
    }
}
