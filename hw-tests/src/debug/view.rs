//! A terminal's view of a debugger: source, instructions, registers by the article's names, attackers array, T-states.

use ratatui::backend::TestBackend;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Block, Paragraph};
use ratatui::{Frame, Terminal};

use super::debugger::{Debugger, Halt};
use super::names::{PAIRS, register, table_2};
use super::stops::{Watch, WatchId};
use tdlasm::disasm::instruction;
use tdlasm::isa::decode;

/// What keys do: the key, and what it is for.
pub const KEYS: [(char, &str); 11] = [
    ('s', "step"),
    ('S', "step back"),
    ('n', "next line"),
    ('N', "line back"),
    ('i', "into"),
    ('o', "out"),
    ('c', "go on"),
    ('C', "go back"),
    ('b', "breakpoint here"),
    ('w', "watch the array"),
    ('q', "quit"),
];
/// Columns beside the source.
const SIDE: u16 = 38;
/// Rows of registers, of Table 2, and of the array, frames included.
const REGISTER_ROWS: u16 = 9;
const ROLE_ROWS: u16 = 11;
const ARRAY_ROWS: u16 = 5;
/// Rows of instructions below the source.
const CODE_ROWS: u16 = 8;
/// Bytes of a section of the array, and of both.
const SECTION: usize = 7;
const ARRAY: u16 = 14;

/// A debugger and what its view remembers.
pub struct View {
    debugger: Debugger,
    /// The T-states at the beginning.
    began: u64,
    status: String,
    watch: Option<WatchId>,
}

impl View {
    /// Shows a debugger.
    #[must_use]
    pub fn new(debugger: Debugger) -> Self {
        let began = debugger.clock();
        Self { debugger, began, status: "ready".to_owned(), watch: None }
    }

    /// The debugger.
    #[must_use]
    pub fn debugger(&self) -> &Debugger {
        &self.debugger
    }

    /// Does what a key of [`KEYS`] says; `false` for the one that ends. Others do nothing.
    pub fn press(&mut self, key: char) -> bool {
        let debugger = &mut self.debugger;
        let halt = match key {
            's' => debugger.step(),
            'S' => debugger.step_back(),
            'n' => debugger.step_line(false),
            'N' => debugger.step_line_back(),
            'i' => debugger.step_line(true),
            'o' => debugger.step_out(),
            'c' => debugger.go(|| false),
            'C' => debugger.go_back(),
            'b' => return self.toggle_break(),
            'w' => return self.toggle_watch(),
            'q' => return false,
            _ => return true,
        };
        self.status = self.explain(halt);
        true
    }

    fn toggle_break(&mut self) -> bool {
        let pc = self.debugger.registers().pc;
        let stops = &mut self.debugger.stops;
        let was = stops.has_break(pc);
        stops.remove_breaks_at(pc);
        if !was {
            stops.add_break(pc, None);
        }
        let what = if was { "no breakpoint" } else { "breakpoint" };
        self.status = format!("{what} at {}", self.debugger.code().name_of(pc));
        true
    }

    fn toggle_watch(&mut self) -> bool {
        let stops = &mut self.debugger.stops;
        if let Some(id) = self.watch.take() {
            stops.remove_watch(id);
            self.status = "the array is not watched any more".to_owned();
            return true;
        }
        if let Some(first) = self.debugger.code().symbol("ATKLST") {
            let watch = Watch { is_port: false, first, count: ARRAY, reads: false, writes: true };
            self.watch = Some(self.debugger.stops.add_watch(watch));
            self.status = "go on and back stop at writes to the array".to_owned();
        }
        true
    }

    fn explain(&self, halt: Halt) -> String {
        match halt {
            Halt::Step => String::new(),
            Halt::Breakpoint => "at a breakpoint".to_owned(),
            Halt::Watchpoint(_, access) => {
                format!("{:04X}: {:02X} written", access.address, access.value)
            }
            Halt::Idle => "the board waits for its host; nothing more will come".to_owned(),
            Halt::Start => "the known past begins here".to_owned(),
            Halt::Paused => "paused: it has run for a minute of its time".to_owned(),
        }
    }

    /// What is drawn, as text.
    #[must_use]
    pub fn text(&self, columns: u16, rows: u16) -> String {
        // A terminal in memory has no way to fail.
        let Ok(mut terminal) = Terminal::new(TestBackend::new(columns, rows));
        let Ok(_) = terminal.draw(|frame| self.draw(frame));
        let buffer = terminal.backend().buffer();
        let row = |y| (0..columns).map(|x| buffer[(x, y)].symbol()).collect::<String>();
        (0..rows).map(|y| row(y).trim_end().to_owned() + "\n").collect()
    }

    /// Draws everything.
    pub fn draw(&self, frame: &mut Frame<'_>) {
        let [main, bottom] =
            Layout::vertical([Constraint::Min(10), Constraint::Length(2)]).areas(frame.area());
        let [left, right] =
            Layout::horizontal([Constraint::Min(30), Constraint::Length(SIDE)]).areas(main);
        let [source, code] =
            Layout::vertical([Constraint::Min(4), Constraint::Length(CODE_ROWS)]).areas(left);
        let rows = [REGISTER_ROWS, ROLE_ROWS, ARRAY_ROWS].map(Constraint::Length);
        let [registers, roles, array, rest] =
            Layout::vertical(rows.into_iter().chain([Constraint::Min(0)])).areas(right);
        self.draw_source(frame, source);
        panel(frame, code, "Instructions", self.instructions());
        panel(frame, registers, "Registers", self.registers());
        panel(frame, roles, "Table 2", self.roles());
        panel(frame, array, "Attackers array", self.array());
        panel(frame, rest, "Time", self.time());
        let keys: Vec<String> = KEYS.iter().map(|(key, what)| format!("{key} {what}")).collect();
        let bold = Style::new().add_modifier(Modifier::BOLD);
        let lines = vec![Line::styled(self.status.clone(), bold), Line::raw(keys.join(" | "))];
        frame.render_widget(Paragraph::new(lines), bottom);
    }

    fn draw_source(&self, frame: &mut Frame<'_>, area: Rect) {
        let code = self.debugger.code();
        let line = code.line_at(self.debugger.registers().pc);
        let (file, current) =
            line.map_or(("no source", 0), |line| (&*line.place.file, line.place.line as usize));
        let text = code.text(file);
        let rows = usize::from(area.height.saturating_sub(2));
        let first = current.saturating_sub(rows / 2 + 1).min(text.len().saturating_sub(rows));
        let shown = (first + 1..).zip(text.iter().skip(first).take(rows)).map(|(number, text)| {
            let mark = if number == current { '>' } else { ' ' };
            let text = format!("{mark}{number:4}  {}", text.replace('\t', "        "));
            let style = if number == current {
                Style::new().add_modifier(Modifier::REVERSED)
            } else {
                Style::new()
            };
            Line::styled(text, style)
        });
        panel(frame, area, file, shown.collect());
    }

    fn instructions(&self) -> Vec<Line<'_>> {
        let code = self.debugger.code();
        let mut at = self.debugger.registers().pc;
        let mut lines = Vec::new();
        for _ in 0..CODE_ROWS - 2 {
            let bytes = self.debugger.dump(at, 4);
            let name = |value: u16| code.label(value).map(|label| label.name.clone());
            let (text, length) = decode(&bytes).map_or_else(
                || (".BYTE".to_owned(), 1),
                |found| (instruction(&found, at, name), found.length),
            );
            let bytes: String = bytes[..length].iter().map(|byte| format!("{byte:02X}")).collect();
            let stop = if self.debugger.stops.has_break(at) { '*' } else { ' ' };
            let text = text.replacen('\t', " ", 1);
            lines.push(Line::raw(format!(
                "{stop}{at:04X}  {bytes:<8}  {text:<20}  {}",
                code.name_of(at)
            )));
            at = at.wrapping_add(length as u16);
        }
        lines
    }

    fn registers(&self) -> Vec<Line<'_>> {
        let registers = self.debugger.registers();
        let value = |name: &str| register(&registers, name).unwrap_or(0);
        let (main, rest) = PAIRS.split_at(8);
        let row = |(name, other): (&&str, &&str)| {
            Line::raw(format!("{name:<3} {:04X}      {other:<3} {:04X}", value(name), value(other)))
        };
        let flags = registers.af & 0xFF;
        let names = "SZYHXPNC".chars().enumerate();
        let flags: String =
            names.map(|(at, name)| if flags & (0x80 >> at) != 0 { name } else { '-' }).collect();
        let mut lines: Vec<Line<'_>> = main[..4].iter().zip(rest).map(row).collect();
        lines.push(Line::raw(format!("IX  {:04X}      IY  {:04X}", registers.ix, registers.iy)));
        lines.push(Line::raw(format!("SP  {:04X}      PC  {:04X}", registers.sp, registers.pc)));
        lines.push(Line::raw(format!("flags {flags}")));
        lines
    }

    fn roles(&self) -> Vec<Line<'_>> {
        let roles = table_2(&self.debugger.registers(), self.debugger.code());
        if roles.is_empty() {
            return vec![Line::raw("(while XCHNG runs)")];
        }
        let row = |role: super::names::Role| {
            let value = role.value;
            let value = if value > 0xFF { format!("{value:04X}H") } else { value.to_string() };
            Line::raw(format!("{:<3} {:<22} {value}", role.register, role.meaning))
        };
        roles.into_iter().map(row).collect()
    }

    fn array(&self) -> Vec<Line<'_>> {
        let Some(at) = self.debugger.code().symbol("ATKLST") else { return Vec::new() };
        let bytes = self.debugger.dump(at, usize::from(ARRAY));
        let row = |(side, bytes): (&str, &[u8])| {
            let pieces: Vec<String> = bytes[1..].iter().map(|byte| format!("{byte:02X}")).collect();
            Line::raw(format!("{side}  {:2}  {}", bytes[0], pieces.join(" ")))
        };
        let mut lines = vec![Line::raw("        #  P  N  B  R  Q  K")];
        lines.extend([("White", &bytes[..SECTION]), ("Black", &bytes[SECTION..])].map(row));
        lines
    }

    fn time(&self) -> Vec<Line<'_>> {
        let clock = self.debugger.clock();
        let since = i128::from(clock) - i128::from(self.began);
        vec![
            Line::raw(format!("{since:+} T-states")),
            Line::raw(format!("{clock} since power came on")),
        ]
    }
}

fn panel(frame: &mut Frame<'_>, area: Rect, title: &str, lines: Vec<Line<'_>>) {
    frame.render_widget(Paragraph::new(lines).block(Block::bordered().title(title)), area);
}
