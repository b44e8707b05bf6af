//! Draws the view: source and a pane at the left, registers, the program's panes and time at the
//! right, and two rows below.
//!
//! Laid out for 80 columns and 24 rows; a wider terminal shows more panes.

use ratatui::backend::TestBackend;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Paragraph};
use ratatui::{Frame, Terminal};

use super::{KEYS, NARROW_ROW, Screen};
use crate::commands::Pane;
use crate::panes::PaneHeading;
use crate::{Debugger, parse_number, render};

/// Width of the right column.
const SIDE_COLUMNS: u16 = 32;
/// Minimum width for a middle column with more panes.
const WIDE_COLUMNS: u16 = 140;
/// Width of a row of memory and its frame, as of the middle column.
const MEMORY_COLUMNS: u16 = 75;
/// Rows of registers, calls and stack, frames included.
const REGISTER_ROWS: u16 = 10;
const CALL_ROWS: u16 = 13;
const STACK_ROWS: u16 = 11;
/// The bottom row: the keys needed most.
const HINTS: &str = "? help  s step  n line  o out  c run  S N C back  b break  : command  q quit";

impl Screen {
    /// Renders the screen as text.
    pub fn render_text(&self, debugger: &Debugger, columns: u16, rows: u16) -> String {
        // A terminal in memory can't fail.
        let Ok(mut terminal) = Terminal::new(TestBackend::new(columns, rows));
        let Ok(_) = terminal.draw(|frame| self.draw(frame, debugger));
        let buffer = terminal.backend().buffer();
        let row = |y| (0..columns).map(|x| buffer[(x, y)].symbol()).collect::<String>();
        (0..rows).map(|y| row(y).trim_end().to_owned() + "\n").collect()
    }

    /// Draws the whole screen.
    pub fn draw(&self, frame: &mut Frame<'_>, debugger: &Debugger) {
        self.columns.set(frame.area().width);
        let rows = [Constraint::Min(4), Constraint::Length(1), Constraint::Length(1)];
        let [main, status, hints] = Layout::vertical(rows).areas(frame.area());
        let [left, right] =
            Layout::horizontal([Constraint::Min(20), Constraint::Length(SIDE_COLUMNS)]).areas(main);
        let is_wide = left.width + SIDE_COLUMNS >= WIDE_COLUMNS;
        let columns = Constraint::Length(if is_wide { MEMORY_COLUMNS } else { 0 });
        let [left, middle] = Layout::horizontal([Constraint::Min(20), columns]).areas(left);
        self.draw_left(frame, debugger, left);
        if is_wide {
            self.draw_middle(frame, debugger, middle);
        }
        self.draw_right(frame, debugger, right);
        self.draw_status(frame, debugger, status);
        frame.render_widget(Paragraph::new(HINTS), hints);
    }

    /// Draws only the text of the status row.
    pub fn draw_status_alone(&self, frame: &mut Frame<'_>) {
        let Rect { x, width, height, .. } = frame.area();
        let row = Rect { x, y: height.saturating_sub(2), width, height: height.min(1) };
        let text = format!("{:<width$}", render::printable(&self.status), width = width.into());
        frame.render_widget(Paragraph::new(text), row);
    }

    /// Draws the source, and below it the selected pane.
    fn draw_left(&self, frame: &mut Frame<'_>, debugger: &Debugger, area: Rect) {
        let shown = self.shown_pane();
        if *shown == Pane::Help {
            return self.draw_help(frame, debugger, area);
        }
        let halves = [Constraint::Percentage(52), Constraint::Min(3)];
        let [source, pane] = Layout::vertical(halves).areas(area);
        self.draw_source(frame, debugger, source);
        let rows = usize::from(pane.height.saturating_sub(2));
        let mut lines = match *shown {
            Pane::Memory(at) if pane.width < MEMORY_COLUMNS => {
                render::memory(debugger, at, rows, NARROW_ROW)
            }
            _ => shown.lines(debugger, rows),
        };
        if matches!(shown, Pane::Result(_)) {
            lines = wrapped(&lines, pane.width.saturating_sub(2).into());
        }
        if *shown == Pane::Displays {
            lines.extend(self.log.iter().map(|line| render::printable(line)));
        }
        self.draw_pane(frame, debugger, pane, shown, self.scrolled(lines, rows));
    }

    /// Draws the lines of a pane; in memory, the bytes that the last step has read and written.
    fn draw_pane(
        &self,
        frame: &mut Frame<'_>,
        debugger: &Debugger,
        area: Rect,
        pane: &Pane,
        lines: Vec<String>,
    ) {
        let (_, name) = pane.names();
        let title = debugger.find_pane(name).map_or(name, |pane| pane.heading().title);
        let is_memory = matches!(pane, Pane::Memory(_));
        let Some(step_addresses) = debugger.step_addresses.as_ref().filter(|_| is_memory) else {
            return draw_panel(frame, area, title, lines);
        };
        let style = |at: u16| match step_addresses.get(&at) {
            Some(true) => Style::new().fg(Color::Red).add_modifier(Modifier::BOLD),
            Some(false) => Style::new().fg(Color::Green),
            None => Style::new(),
        };
        let lines = lines.iter().map(|line| memory_line(line, style)).collect();
        draw_panel(frame, area, title, lines);
    }

    /// Returns the rows that fit; a console is scrolled to its end.
    fn scrolled(&self, lines: Vec<String>, rows: usize) -> Vec<String> {
        let hidden = lines.len().saturating_sub(rows);
        let above = match self.shown_pane() {
            Pane::Console | Pane::Displays => hidden.saturating_sub(self.scroll),
            _ => self.scroll.min(hidden),
        };
        lines.into_iter().skip(above).take(rows).collect()
    }

    /// Draws the keys, and below them the commands.
    fn draw_help(&self, frame: &mut Frame<'_>, debugger: &Debugger, area: Rect) {
        let rows = usize::from(area.height.saturating_sub(2));
        let keys = KEYS.iter().map(|(key, what)| format!("{key:<11}{what}"));
        let head =
            ["Commands, after : by letter or name; the letters of motions, R, /, ? and q are keys"
                .to_owned()];
        let lines = keys.chain(head).chain(Pane::Help.lines(debugger, rows)).collect();
        draw_panel(frame, area, "Help: Page Down for more, Esc leaves", self.scrolled(lines, rows));
    }

    /// Draws panes that are not at the left.
    fn draw_middle(&self, frame: &mut Frame<'_>, debugger: &Debugger, area: Rect) {
        let parts = [40, 30, 30].map(Constraint::Percentage);
        let areas: [Rect; 3] = Layout::vertical(parts).areas(area);
        let registers = debugger.registers();
        let is_code = matches!(self.pane, Pane::Code(_));
        let first = if is_code { Pane::Calls } else { Pane::Code(registers.pc) };
        let panes = [first, Pane::Memory(registers.hl), Pane::Console];
        for (area, pane) in areas.into_iter().zip(panes) {
            let rows = usize::from(area.height.saturating_sub(2));
            let lines = pane.lines(debugger, rows);
            let skipped = if pane == Pane::Console { lines.len().saturating_sub(rows) } else { 0 };
            let shown = lines.into_iter().skip(skipped).take(rows).collect();
            self.draw_pane(frame, debugger, area, &pane, shown);
        }
    }

    fn draw_right(&self, frame: &mut Frame<'_>, debugger: &Debugger, area: Rect) {
        // The registers come first: 24 rows have no room for everything, and flags are always
        // needed.
        let halves = [Constraint::Length(REGISTER_ROWS), Constraint::Min(0)];
        let [registers, below] = Layout::vertical(halves).areas(area);
        draw_panel(frame, registers, "Registers", render::registers(debugger));
        let mut panels = Vec::new();
        for pane in debugger.panes() {
            let PaneHeading { title, rows, .. } = pane.heading();
            panels.push((title, Constraint::Length(rows as u16 + 2), pane.lines(debugger)));
        }
        if panels.is_empty() {
            panels.push(("Calls", Constraint::Length(CALL_ROWS), render::calls(debugger)));
            panels.push(("Stack", Constraint::Length(STACK_ROWS), stack(debugger)));
        }
        panels.push(("Time", Constraint::Min(0), self.elapsed(debugger).to_vec()));
        let areas = Layout::vertical(panels.iter().map(|(_, height, _)| *height)).split(below);
        for ((title, _, lines), area) in panels.into_iter().zip(areas.iter()) {
            draw_panel(frame, *area, title, lines);
        }
    }

    /// The T-states since the start, and since power-up.
    fn elapsed(&self, debugger: &Debugger) -> [String; 2] {
        let clock = debugger.clock();
        let since = i128::from(clock) - i128::from(self.start_clock);
        [format!("{since:+} T-states"), format!("{clock} since power-up")]
    }

    /// The columns of the status row beside the time.
    pub(super) fn status_columns(&self) -> usize {
        const TIME_COLUMNS: u16 = 20;
        self.columns.get().max(80).saturating_sub(TIME_COLUMNS).into()
    }

    /// Draws the command line being typed, or else the status and the time since the start.
    fn draw_status(&self, frame: &mut Frame<'_>, debugger: &Debugger, area: Rect) {
        if let Some(prompt) = &self.prompt {
            let line = format!("{}   (Enter runs it, Tab completes, Esc leaves)", prompt.shown());
            return frame.render_widget(Paragraph::new(line), area);
        }
        let [time, _] = self.elapsed(debugger);
        let width = usize::from(area.width).saturating_sub(time.len() + 1);
        let status: String = render::printable(&self.status).chars().take(width).collect();
        let line = format!("{status:<width$} {time}");
        frame.render_widget(Paragraph::new(Line::styled(line, Modifier::BOLD)), area);
    }

    fn draw_source(&self, frame: &mut Frame<'_>, debugger: &Debugger, area: Rect) {
        let Some(here) = self.shown_line(debugger) else {
            let lines = vec!["no source for this address".to_owned()];
            return draw_panel(frame, area, "no source", lines);
        };
        let rows = usize::from(area.height.saturating_sub(2));
        let count = debugger.code().text(&here.file).len();
        let first = here.line.saturating_sub(rows / 2).min((count + 1).saturating_sub(rows)).max(1);
        let lines = render::source(debugger, &here.file, first, rows);
        let marked = self.cursor.is_some();
        let style = |(index, text): (usize, String)| {
            let is_here = first + index == here.line;
            let style = match (is_here && marked, text.starts_with('>')) {
                (true, _) => Style::new().add_modifier(Modifier::UNDERLINED),
                (_, true) => Style::new().add_modifier(Modifier::REVERSED),
                _ => Style::new(),
            };
            Line::styled(text, style)
        };
        let lines: Vec<Line<'_>> = lines.into_iter().enumerate().map(style).collect();
        draw_panel(frame, area, &render::printable(&here.file), lines);
    }
}

/// Words from the stack pointer on, each with the code location of that address, if it has one.
fn stack(debugger: &Debugger) -> Vec<String> {
    let code = debugger.code();
    let row = |word: u16| {
        let at = debugger.registers().sp.wrapping_add(2 * word);
        let value = debugger.peek_word(at);
        let name = code.nearest_label(value).map(|_| code.address_name(value));
        format!("{at:04X}H  {value:04X}H  {}", name.unwrap_or_default())
    };
    (0..STACK_ROWS).map(row).collect()
}

/// Breaks lines that are longer than a number of columns.
fn wrapped(lines: &[String], columns: usize) -> Vec<String> {
    let parts = |line: &String| {
        let characters: Vec<char> = render::printable(line).chars().collect();
        let parts = characters.chunks(columns.max(1)).map(|part| part.iter().collect::<String>());
        parts.collect::<Vec<_>>()
    };
    lines.iter().flat_map(parts).collect()
}

/// Styles the bytes of a row of memory, `8000H  41 42 ..  AB`.
fn memory_line(line: &str, style: impl Fn(u16) -> Style) -> Line<'static> {
    let mut words = line.splitn(2, "  ");
    let (address, rest) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let first = parse_number(address).unwrap_or_default();
    let (bytes, characters) = rest.split_once("  ").unwrap_or((rest, ""));
    let mut spans = vec![Span::raw(format!("{address}  "))];
    for (at, byte) in (0..).zip(bytes.split(' ')) {
        spans.push(Span::styled(byte.to_owned(), style(first.wrapping_add(at))));
        spans.push(Span::raw(" "));
    }
    spans.push(Span::raw(format!(" {characters}")));
    Line::from(spans)
}

fn draw_panel<'t>(frame: &mut Frame<'_>, area: Rect, title: &str, lines: Vec<impl Into<Line<'t>>>) {
    let lines: Vec<Line<'_>> = lines.into_iter().map(Into::into).collect();
    frame.render_widget(Paragraph::new(lines).block(Block::bordered().title(title)), area);
}
