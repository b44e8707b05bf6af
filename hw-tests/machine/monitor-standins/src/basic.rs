//! ROM BASIC, after recorded sessions of Searle's 4.7b, feilipu's 4.7c (the RC2014 Mini II) and
//! RomWBW's: the prompts at the start, the line editor, and the statements that the sessions use.
//! Programs called by USR run as guest programs.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::basic_statements::{self, Variables};
use crate::hload::{HexLoadEnd, HexLoader};
use crate::{GuestExit, GuestProgram, Memory, MonitorModel, ReceiverSpec};

/// The stack of programs called by USR.
const STACK: u16 = 0xFF50;
/// Maximum length of a line; further characters ring the bell.
const MAX_LINE: usize = 72;
const STATEMENT_TIME: Duration = Duration::from_millis(3);
/// Processing time of a character that is only echoed.
const ECHO_TIME: Duration = Duration::from_micros(30);
/// The lowest accepted top of memory, from which free memory is counted.
const MIN_MEMORY_TOP: i64 = 33_155;
const INTERRUPT: u8 = 0x03;
/// The duration of a round of a BASIC program that prints and loops.
const ROUND_TIME: Duration = Duration::from_millis(20);
const OUTPUT_OFF: u8 = 0x0F;
const KILL_LINE: u8 = 0x15;
const ESCAPE: u8 = 0x1B;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dialect {
    pub(super) greeting: &'static str,
    pub(super) question: &'static str,
    pub(super) version: &'static str,
    pub(super) free: i64,
    pub(super) usr: u16,
    /// The initial value of the USR vector.
    pub(super) unset: u16,
    pub(super) syntax_error: &'static str,
    /// Whether a line that begins with a colon is an error.
    pub(super) colon_is_wrong: bool,
    /// Lines of LIST before a pause for a key.
    pub(super) page: usize,
    pub(super) has_hload: bool,
    /// Whether `BYE` returns to the boot loader.
    pub(super) has_bye: bool,
    pub(super) receiver_spec: ReceiverSpec,
}

const SEARLE: Dialect = Dialect {
    greeting: "\x0cZ80 SBC By Grant Searle\r\n\r\n",
    question: "Cold or warm start (C or W)? ",
    version: "4.7b",
    free: 32_382,
    usr: 0x8049,
    unset: 2588,
    syntax_error: "?SN Error",
    colon_is_wrong: true,
    page: usize::MAX,
    has_hload: false,
    has_bye: false,
    receiver_spec: ReceiverSpec { buffer: 63, rts: Some((48, 5)) },
};
const FEILIPU: Dialect = Dialect {
    greeting: "\x07\r\nRC2014 - MS Basic Loader\r\nz88dk - feilipu\r\n\r\n",
    question: "Cold | Warm start (C|W) ? ",
    version: "4.7c",
    free: 31_948,
    usr: 0x8204,
    unset: 2806,
    colon_is_wrong: false,
    page: 20,
    has_hload: true,
    receiver_spec: ReceiverSpec { buffer: 256, rts: Some((240, 8)) },
    ..SEARLE
};
const ROMWBW: Dialect = Dialect {
    greeting: "",
    free: 55_603,
    // Its USR vector is at another address than those of the other two.
    usr: 0x0249,
    syntax_error: "?Syntax Error",
    has_bye: true,
    receiver_spec: ReceiverSpec { buffer: 32, rts: Some((16, 8)) },
    ..SEARLE
};

/// BASIC.
pub struct Basic {
    dialect: Dialect,
    memory: Memory,
    state: State,
    line: Vec<u8>,
    variables: Variables,
    program: BTreeMap<u16, String>,
    is_output_off: bool,
    /// Whether memory is set up; a reset then leads to the prompt for a cold or warm start.
    is_set_up: bool,
    has_exited: bool,
    free: i64,
    busy: Duration,
    now: Duration,
    /// When the running program prints next.
    prints_at: Duration,
}

enum State {
    Top,
    Start,
    Ready,
    /// A BASIC program loops without end, at this line.
    Looping(u16),
    /// LIST pauses for a key; the rest of the list.
    Listing(Vec<String>),
    GuestProgram(Box<GuestProgram>),
    Hload(HexLoader),
}

impl Default for Basic {
    fn default() -> Self {
        Self::new(SEARLE, State::Ready)
    }
}

impl Basic {
    /// Creates feilipu's BASIC, which has a larger buffer and HLOAD.
    pub fn feilipu() -> Self {
        Self::new(FEILIPU, State::Ready)
    }

    /// Creates the BASIC in RomWBW's ROM, at the `Memory top?` prompt.
    pub fn romwbw() -> Self {
        Self { is_set_up: false, ..Self::new(ROMWBW, State::Top) }
    }

    /// Returns to the `Memory top?` prompt, as after power-up.
    #[must_use]
    pub fn at_memory_prompt(self) -> Self {
        Self { state: State::Top, is_set_up: false, ..self }
    }

    /// Goes to the prompt for a cold or warm start, as after a reset.
    #[must_use]
    pub fn at_start_prompt(self) -> Self {
        Self { state: State::Start, ..self }
    }

    /// Creates a BASIC whose USR vector is at an unknown address.
    pub fn with_unknown_usr() -> Self {
        Self::new(Dialect { usr: 0x8123, ..SEARLE }, State::Ready)
    }

    fn new(dialect: Dialect, state: State) -> Self {
        let first = if dialect.has_bye { 0x0200 } else { 0x8000 };
        let mut memory = Memory::new(first..=0xFFFF);
        // The arbitrary bytes of RAM must not look like the jump of another BASIC.
        for address in [0x8048, 0x8203, 0x2048] {
            memory.set(address, 0);
        }
        memory.set(dialect.usr - 1, 0xC3);
        memory.load(dialect.usr, &dialect.unset.to_le_bytes());
        Self {
            dialect,
            memory,
            state,
            line: Vec::new(),
            variables: Variables::default(),
            program: BTreeMap::new(),
            is_output_off: false,
            is_set_up: true,
            has_exited: false,
            free: dialect.free,
            busy: ECHO_TIME,
            now: Duration::ZERO,
            prints_at: Duration::ZERO,
        }
    }

    /// Stores a line of a program, for tests.
    #[must_use]
    pub fn with_line(mut self, number: u16, text: &str) -> Self {
        self.program.insert(number, text.to_owned());
        self
    }

    /// Returns the lines of the stored program.
    pub fn lines(&self) -> Vec<String> {
        self.program.iter().map(|(number, text)| format!("{number} {text}")).collect()
    }

    /// Handles a character in the line editor. Returns `true` if the line is complete.
    fn edit(&mut self, character: u8, out: &mut Vec<u8>) -> bool {
        match character {
            b'\r' => {
                out.extend(b"\r\n");
                return true;
            }
            INTERRUPT | KILL_LINE => {
                self.line.clear();
                out.extend(b"\r\n");
            }
            b'@' => {
                self.line.clear();
                out.extend(b"@\r\n");
            }
            0x08 | b'_' => {
                out.push(character);
                if self.line.pop().is_none() {
                    out.extend(b"\r\n");
                }
            }
            0x7F => {
                if let Some(deleted) = self.line.pop() {
                    out.extend([0, deleted]);
                }
            }
            0x20..=0x7E if self.line.len() < MAX_LINE => {
                self.line.push(character);
                out.push(character);
            }
            0x20..=0x7E => out.extend(b"\x07\x08"),
            _ => {}
        }
        false
    }

    fn typed(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.line)).into_owned()
    }

    fn set_up(&mut self, answer: &str, out: &mut Vec<u8>) {
        let Dialect { syntax_error, version, free, .. } = self.dialect;
        let number = answer.trim().parse::<i64>().ok();
        let free = match (answer, number) {
            ("", _) => free,
            (_, Some(0)) => free - 1,
            (_, Some(top @ 1..=65_534)) if top < MIN_MEMORY_TOP => {
                return out.extend(b"Memory top? ");
            }
            (_, Some(top @ 1..=65_534)) => top - MIN_MEMORY_TOP,
            _ => return out.extend(format!("{syntax_error}\r\nMemory top? ").bytes()),
        };
        self.state = State::Ready;
        self.is_set_up = true;
        self.free = free;
        self.program.clear();
        let text = format!(
            "Z80 BASIC Ver {version}\r\nCopyright (C) 1978 by Microsoft\r\n{free} Bytes \
             free\r\nOk\r\n"
        );
        out.extend(text.bytes());
    }

    fn choose(&mut self, character: u8, out: &mut Vec<u8>) {
        match character.to_ascii_uppercase() {
            b'C' => {
                out.extend(b"C\r\n\r\nMemory top? ");
                self.state = State::Top;
                self.program.clear();
            }
            b'W' => {
                out.extend(b"W\r\nOk\r\n");
                self.state = State::Ready;
            }
            _ => {}
        }
    }

    /// Executes a line, or stores it if it has a number.
    fn execute(&mut self, text: &str, out: &mut Vec<u8>) {
        let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if digits > 0 {
            let (number, rest) = text.split_at(digits);
            let number = number.parse().unwrap_or(u16::MAX);
            match rest.trim() {
                "" if self.program.remove(&number).is_none() => out.extend(b"?UL Error\r\nOk\r\n"),
                "" => {}
                rest => drop(self.program.insert(number, rest.to_owned())),
            }
            return;
        }
        match text.trim().to_ascii_uppercase().as_str() {
            "" => {}
            "NEW" => {
                self.program.clear();
                out.extend(b"Ok\r\n");
            }
            "LIST" => {
                let lines = self.lines();
                self.list(lines, out);
            }
            "RUN" | "CONT" if self.program.values().any(|line| line.contains("GOTO")) => {
                let first = self.program.keys().next().copied().unwrap_or_default();
                self.state = State::Looping(first);
            }
            "RUN" | "CONT" => out.extend(b"Ok\r\n"),
            "BYE" if self.dialect.has_bye => self.has_exited = true,
            "HLOAD" if self.dialect.has_hload => self.state = State::Hload(HexLoader::default()),
            statement if statement.starts_with(':') && !self.dialect.colon_is_wrong => {}
            statement => self.statements(text, statement, out),
        }
    }

    fn statements(&mut self, text: &str, upper: &str, out: &mut Vec<u8>) {
        self.busy = STATEMENT_TIME * (1 + upper.matches(':').count() as u32);
        if upper.replace(' ', "") == "PRINTUSR(0)" {
            return self.call_usr(out);
        }
        let mut printed = String::new();
        let free = self.free;
        let done = basic_statements::run_statements(
            &mut self.variables,
            &mut self.memory,
            text,
            free,
            &mut printed,
        );
        out.extend(printed.bytes());
        if done.is_err() {
            out.extend(format!("{}\r\n", self.dialect.syntax_error).bytes());
        }
        out.extend(b"Ok\r\n");
    }

    /// Prints what the running program prints in a round, if that is due.
    fn print_line(&mut self, out: &mut Vec<u8>) {
        if self.is_output_off || self.now < self.prints_at {
            return;
        }
        let texts = self.program.values().filter_map(|line| line.split('"').nth(1));
        for text in texts {
            out.extend(format!("{text}\r\n").bytes());
        }
        self.prints_at = self.now + ROUND_TIME;
    }

    fn call_usr(&mut self, out: &mut Vec<u8>) {
        let usr = self.dialect.usr;
        let entry = u16::from_le_bytes([self.memory.get(usr), self.memory.get(usr + 1)]);
        if entry == self.dialect.unset {
            return out.extend(b"?FC Error\r\nOk\r\n");
        }
        if entry == 0 {
            return self.reset(out);
        }
        self.state = State::GuestProgram(Box::new(GuestProgram::start(&self.memory, entry, STACK)));
    }

    /// Shows lines, a page at a time.
    fn list(&mut self, mut lines: Vec<String>, out: &mut Vec<u8>) {
        let rest = lines.split_off(lines.len().min(self.dialect.page));
        if !lines.is_empty() {
            out.extend(format!("\r\n{}", lines.join("\r\n")).bytes());
        }
        if rest.is_empty() {
            out.extend(if lines.is_empty() { &b"Ok\r\n"[..] } else { b"\r\nOk\r\n" });
            self.state = State::Ready;
        } else {
            self.state = State::Listing(rest);
        }
    }

    fn hload(&mut self, mut load: HexLoader, character: u8, out: &mut Vec<u8>) {
        match load.receive(character, &mut self.memory) {
            None => self.state = State::Hload(load),
            Some(HexLoadEnd::Done(first)) => {
                if let Some(first) = first {
                    self.memory.load(self.dialect.usr, &first.to_le_bytes());
                }
                out.extend(b"Ok\r\n");
            }
            Some(HexLoadEnd::Invalid) => out.extend(b"?HX Error\r\nOk\r\n"),
            Some(HexLoadEnd::WrongType) => out.extend(b"?TM Error\r\nOk\r\n"),
        }
    }

    /// Handles a character, without bit 7.
    fn take(&mut self, character: u8, out: &mut Vec<u8>) {
        match std::mem::replace(&mut self.state, State::Ready) {
            State::Start => {
                self.state = State::Start;
                self.choose(character, out);
            }
            State::Top => {
                self.state = State::Top;
                if self.edit(character, out) {
                    let answer = self.typed();
                    self.set_up(&answer, out);
                }
            }
            State::Ready => {
                if self.edit(character, out) {
                    let line = self.typed();
                    self.execute(&line, out);
                }
            }
            State::Looping(line) if matches!(character, INTERRUPT | ESCAPE) => {
                out.extend(format!("Break in {line}\r\nOk\r\n").bytes());
            }
            State::Looping(line) => self.state = State::Looping(line),
            State::Listing(lines) => {
                out.extend(b"\r\n");
                self.list(lines, out);
            }
            State::Hload(load) => self.hload(load, character, out),
            State::GuestProgram(running) => self.state = State::GuestProgram(running),
        }
    }
}

impl MonitorModel for Basic {
    fn receive(&mut self, character: u8, out: &mut Vec<u8>) {
        self.busy = ECHO_TIME;
        if let State::GuestProgram(running) = &mut self.state {
            return running.receive(character);
        }
        let plain = character & 0x7F;
        if plain == OUTPUT_OFF && matches!(self.state, State::Ready | State::Looping(_)) {
            self.is_output_off = !self.is_output_off;
            return;
        }
        let mut words = Vec::new();
        self.take(plain, &mut words);
        if !self.is_output_off {
            out.extend(words);
        }
    }

    fn reset(&mut self, out: &mut Vec<u8>) {
        self.line.clear();
        self.is_output_off = false;
        let question = if self.is_set_up { self.dialect.question } else { "Memory top? " };
        self.state = if self.is_set_up { State::Start } else { State::Top };
        out.extend(format!("{}{question}", self.dialect.greeting).bytes());
    }

    fn set_time(&mut self, now: Duration) {
        self.now = now;
    }

    fn idle(&mut self, _since: Duration, out: &mut Vec<u8>) -> bool {
        if matches!(self.state, State::Looping(_)) {
            self.print_line(out);
        }
        let State::GuestProgram(running) = &mut self.state else { return false };
        match running.run(&mut self.memory, out) {
            None => return true,
            Some(GuestExit::Restarted) => self.reset(out),
            Some(_) => {
                self.state = State::Ready;
                out.extend(b" 0 \r\nOk\r\n");
            }
        }
        false
    }

    fn has_exited(&self) -> bool {
        self.has_exited
    }

    fn receiver_spec(&self) -> ReceiverSpec {
        self.dialect.receiver_spec
    }

    fn processing_time(&self) -> Duration {
        self.busy
    }

    fn memory(&mut self) -> Option<&mut Memory> {
        Some(&mut self.memory)
    }

    fn lines(&self) -> Vec<String> {
        Self::lines(self)
    }
}
