//! ROM BASIC's part, as Searle's and feilipu's 4.7 play it: the questions at the start, the echo, `Ok`, and as much of
//! the language as it takes to store bytes and to call them. What is called really runs.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{Memory, Peer, Running, Wiring};

/// The stack that USR finds.
const STACK: u16 = 0xFF50;
/// The longest line; characters beyond it ring the bell.
const LONGEST: usize = 72;
/// What a statement takes, about.
const STATEMENT: Duration = Duration::from_millis(3);
/// What a character takes that is only echoed.
const ECHO: Duration = Duration::from_micros(30);
const SIGN_ON: &[u8] =
    b"\r\nZ80 BASIC Ver 4.7b\r\nCopyright (C) 1978 by Microsoft\r\n32382 Bytes free\r\nOk\r\n";

/// BASIC.
pub struct Basic {
    memory: Memory,
    state: State,
    line: Vec<u8>,
    variables: BTreeMap<String, i32>,
    /// Where USR's address is.
    usr: u16,
    /// Characters that it holds while it works, and when it raises and lowers RTS.
    wiring: Wiring,
    busy: Duration,
}

enum State {
    /// It asks for the memory's top.
    Top,
    /// It asks for a cold or a warm start.
    Start,
    Ready,
    Running(Box<Running>),
}

/// What keeps a line from being carried out.
struct SyntaxError;

impl Default for Basic {
    fn default() -> Self {
        Self::new(State::Ready, 0x8049, Wiring { buffer: 63, rts: Some((48, 5)) })
    }
}

impl Basic {
    /// feilipu's, with its larger buffer.
    #[must_use]
    pub fn feilipu() -> Self {
        Self::new(State::Ready, 0x8204, Wiring { buffer: 256, rts: Some((240, 8)) })
    }

    /// One that was just switched on.
    #[must_use]
    pub fn asking_for_top() -> Self {
        Self { state: State::Top, ..Self::default() }
    }

    /// One that was reset.
    #[must_use]
    pub fn asking_how_to_start() -> Self {
        Self { state: State::Start, ..Self::default() }
    }

    /// One whose USR is somewhere unknown.
    #[must_use]
    pub fn unknown() -> Self {
        let wiring = Wiring { buffer: 63, rts: None };
        Self::new(State::Ready, 0x8123, wiring)
    }

    fn new(state: State, usr: u16, wiring: Wiring) -> Self {
        let mut memory = Memory::new(0x8000..=0xFFFF);
        // Junk must not look like the jump that the others have.
        for address in [0x8048, 0x8203] {
            memory.set(address, 0);
        }
        for (address, byte) in (usr - 1..).zip([0xC3, 0x98, 0x09]) {
            memory.set(address, byte);
        }
        let (line, variables, busy) = (Vec::new(), BTreeMap::new(), ECHO);
        Self { memory, state, line, variables, usr, wiring, busy }
    }

    fn type_in(&mut self, character: u8, say: &mut Vec<u8>) {
        match character {
            b'\r' => {
                say.extend(b"\r\n");
                let typed = std::mem::take(&mut self.line);
                let text = String::from_utf8_lossy(&typed).into_owned();
                if !text.trim().is_empty() {
                    self.execute(&text, say);
                }
            }
            0x20..=0x7E if self.line.len() < LONGEST => {
                self.line.push(character);
                say.push(character);
            }
            0x20..=0x7E => say.push(0x07),
            _ => {}
        }
    }

    /// Carries a line out.
    fn execute(&mut self, text: &str, say: &mut Vec<u8>) {
        let statements: Vec<String> =
            text.to_uppercase().split(':').map(|part| part.replace(' ', "")).collect();
        self.busy = STATEMENT * statements.len() as u32;
        let mut printed = String::new();
        let done = self.carry_out(&statements, &mut printed);
        say.extend(printed.bytes());
        match done {
            Ok(false) => say.extend(b"Ok\r\n"),
            Ok(true) => {}
            Err(SyntaxError) => say.extend(b"?SN Error\r\nOk\r\n"),
        }
    }

    /// Whether a program was called, which has not returned yet.
    fn carry_out(
        &mut self,
        statements: &[String],
        printed: &mut String,
    ) -> Result<bool, SyntaxError> {
        let mut at = 0;
        let mut round: Option<(String, i32, usize)> = None;
        while let Some(statement) = statements.get(at) {
            at += 1;
            if statement == "PRINTUSR(0)" {
                let entry =
                    u16::from_le_bytes([self.memory.get(self.usr), self.memory.get(self.usr + 1)]);
                self.state = State::Running(Box::new(Running::start(&self.memory, entry, STACK)));
                return Ok(true);
            } else if let Some(list) = statement.strip_prefix("PRINT") {
                for part in list.split(';') {
                    printed.push_str(&format!(" {} ", self.value(part)?));
                }
                printed.push_str("\r\n");
            } else if let Some(rest) = statement.strip_prefix("POKE") {
                let (address, byte) = rest.split_once(',').ok_or(SyntaxError)?;
                let (address, byte) = (self.value(address)?, self.value(byte)?);
                self.memory.set(address as u16, u8::try_from(byte).map_err(|_| SyntaxError)?);
            } else if let Some(rest) = statement.strip_prefix("FOR") {
                let (name, range) = rest.split_once('=').ok_or(SyntaxError)?;
                let (first, last) = range.split_once("TO").ok_or(SyntaxError)?;
                let (first, last) = (self.value(first)?, self.value(last)?);
                self.variables.insert(name.to_owned(), first);
                round = Some((name.to_owned(), last, at));
            } else if statement == "NEXT" {
                let (name, last, body) = round.as_ref().ok_or(SyntaxError)?;
                let next = self.variables.get(name).copied().unwrap_or(0) + 1;
                self.variables.insert(name.clone(), next);
                at = if next <= *last { *body } else { at };
            } else if !statement.is_empty() {
                let (name, value) = statement.split_once('=').ok_or(SyntaxError)?;
                let value = self.value(value)?;
                self.variables.insert(name.to_owned(), value);
            }
        }
        Ok(false)
    }

    /// Sums and products of numbers, variables and PEEKs.
    fn value(&self, text: &str) -> Result<i32, SyntaxError> {
        if let Some((left, right)) = text.split_once('+') {
            return Ok(self.value(left)? + self.value(right)?);
        }
        if let Some((left, right)) = text.split_once('*') {
            return Ok(self.value(left)? * self.value(right)?);
        }
        if let Some(address) = text.strip_prefix("PEEK(").and_then(|rest| rest.strip_suffix(')')) {
            return Ok(self.memory.get(self.value(address)? as u16).into());
        }
        let is_name = text.starts_with(|first: char| first.is_ascii_uppercase());
        match text.parse::<i32>() {
            _ if is_name => Ok(self.variables.get(text).copied().unwrap_or(0)),
            Ok(number) if (-32768..=65535).contains(&number) => Ok(number),
            _ => Err(SyntaxError),
        }
    }
}

impl Peer for Basic {
    fn hear(&mut self, character: u8, say: &mut Vec<u8>) {
        self.busy = ECHO;
        match &mut self.state {
            State::Top if character == b'\r' => {
                say.extend(b"\r\n");
                say.extend(SIGN_ON);
                self.state = State::Ready;
            }
            State::Top => say.push(character),
            State::Start => match character.to_ascii_uppercase() {
                b'C' => {
                    say.extend(b"C\r\n\r\nMemory top? ");
                    self.state = State::Top;
                }
                b'W' => {
                    say.extend(b"W\r\nOk\r\n");
                    self.state = State::Ready;
                }
                _ => say.extend(b"\r\nCold or warm start (C or W)? "),
            },
            State::Ready => self.type_in(character, say),
            State::Running(running) => running.hear(character),
        }
    }

    fn idle(&mut self, _since: Duration, say: &mut Vec<u8>) -> bool {
        let State::Running(running) = &mut self.state else { return false };
        if running.go(&mut self.memory, say) {
            self.state = State::Ready;
            say.extend(b" 0 \r\nOk\r\n");
            return false;
        }
        true
    }

    fn wiring(&self) -> Wiring {
        self.wiring
    }

    fn busy(&self) -> Duration {
        self.busy
    }

    fn memory(&mut self) -> Option<&mut Memory> {
        Some(&mut self.memory)
    }
}
