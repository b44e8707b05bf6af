//! RomWBW's part, as HBIOS 3.5.1 was seen to play it: a boot loader that is deaf after its prompt, and a debug monitor
//! with a checksum for every line, which after an error takes the lines that follow as commands.

use std::time::{Duration, Instant};

use super::{Memory, Peer, Running, Wiring};

const LOADER: &[u8] = b"\r\nRCBus [RCZ80_std] Boot Loader\r\n\r\nBoot [H=Help]: ";
const MONITOR: &[u8] = b"\r\n8E>";
/// How long the loader throws away what it hears after its prompt.
const DEAF: Duration = Duration::from_millis(5);
/// The stack that programs get.
const STACK: u16 = 0xFD00;
/// What a character of a load takes: 3,400 of them a second were measured.
const LOAD_CHARACTER: Duration = Duration::from_micros(294);

/// Boot loader and monitor.
pub struct Romwbw {
    memory: Memory,
    state: State,
    line: Vec<u8>,
    prompted: Instant,
}

enum State {
    Loader,
    Monitor,
    /// In a load: the digits of a record, or `None` while a colon is waited for.
    Load(Option<Vec<u8>>),
    Running(Box<Running>),
}

impl Default for Romwbw {
    fn default() -> Self {
        Self::at(State::Loader)
    }
}

impl Romwbw {
    /// One that is in its monitor already.
    #[must_use]
    pub fn in_monitor() -> Self {
        Self::at(State::Monitor)
    }

    fn at(state: State) -> Self {
        let memory = Memory::new(0x0000..=0xFFFF);
        Self { memory, state, line: Vec::new(), prompted: Instant::now() }
    }

    fn prompt(&mut self, say: &mut Vec<u8>) {
        match self.state {
            State::Loader => {
                say.extend(LOADER);
                self.prompted = Instant::now();
            }
            _ => say.extend(MONITOR),
        }
    }

    /// A character of a command line.
    fn type_in(&mut self, character: u8, say: &mut Vec<u8>) {
        match character {
            b'\r' => {
                say.extend(b"\r\n");
                let typed = std::mem::take(&mut self.line);
                let command = String::from_utf8_lossy(&typed).trim().to_uppercase();
                if matches!(self.state, State::Loader) {
                    self.boot(&command, say);
                } else {
                    self.execute(&command, say);
                }
            }
            0x20..=0x7E => {
                self.line.push(character);
                say.push(character);
            }
            _ => {}
        }
    }

    fn boot(&mut self, command: &str, say: &mut Vec<u8>) {
        match command {
            "M" => self.state = State::Monitor,
            "" | "R" => {}
            _ => say.extend(b"\r\n*** Invalid command\x07"),
        }
        self.prompt(say);
    }

    fn execute(&mut self, command: &str, say: &mut Vec<u8>) {
        let mut words = command.split_whitespace();
        let name = words.next().unwrap_or_default();
        let numbers: Vec<u16> =
            words.filter_map(|word| u16::from_str_radix(word, 16).ok()).collect();
        match (name, numbers.as_slice()) {
            ("L", []) => {
                self.state = State::Load(None);
                return;
            }
            ("D", [first, last]) => self.dump(*first, *last, say),
            ("F", [first, last, value]) => {
                (*first..=*last).for_each(|at| self.memory.set(at, *value as u8));
            }
            ("R", [entry]) => {
                let running = Running::start(&self.memory, *entry, STACK);
                self.state = State::Running(Box::new(running));
                return;
            }
            ("", _) => {}
            _ => say.extend(b"\r\nUnknown command: "),
        }
        self.prompt(say);
    }

    fn dump(&self, first: u16, last: u16, say: &mut Vec<u8>) {
        for at in (first..=last).step_by(16) {
            say.extend(format!("\r\n{at:04X}: {}", self.memory.row(at)).bytes());
        }
    }

    /// A character of a load.
    fn load(&mut self, record: Option<Vec<u8>>, character: u8, say: &mut Vec<u8>) -> State {
        let Some(mut digits) = record else {
            return State::Load((character == b':').then(Vec::new));
        };
        digits.push(character);
        let bytes: Vec<u8> = digits.chunks_exact(2).map(byte).collect();
        let [count, high, low, kind, data @ ..] = bytes.as_slice() else {
            return State::Load(Some(digits));
        };
        if data.len() <= usize::from(*count) {
            return State::Load(Some(digits));
        }
        let report: &[u8] =
            match (bytes.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte)), kind) {
                (0, 0) => {
                    let address = u16::from_be_bytes([*high, *low]);
                    for (i, byte) in (0..u16::from(*count)).zip(data) {
                        self.memory.set(address.wrapping_add(i), *byte);
                    }
                    return State::Load(None);
                }
                (0, 1) => b"\r\nLoaded",
                (0, _) => b"\r\nRecord Type Error",
                _ => b"\r\nChecksum Error",
            };
        say.extend(report);
        say.extend(MONITOR);
        State::Monitor
    }
}

/// Two digits; what is none counts as 0.
fn byte(pair: &[u8]) -> u8 {
    pair.iter()
        .fold(0, |value, digit| (value << 4) | char::from(*digit).to_digit(16).unwrap_or(0) as u8)
}

impl Peer for Romwbw {
    fn hear(&mut self, character: u8, say: &mut Vec<u8>) {
        match std::mem::replace(&mut self.state, State::Monitor) {
            State::Load(record) => self.state = self.load(record, character, say),
            State::Running(mut running) => {
                running.hear(character);
                self.state = State::Running(running);
            }
            state => {
                let deaf = matches!(state, State::Loader) && self.prompted.elapsed() < DEAF;
                self.state = state;
                if !deaf {
                    self.type_in(character, say);
                }
            }
        }
    }

    fn idle(&mut self, _since: Duration, say: &mut Vec<u8>) -> bool {
        let State::Running(running) = &mut self.state else { return false };
        if running.go(&mut self.memory, say) {
            self.state = State::Monitor;
            say.extend(b"\r\nAF=0044 BC=0000 DE=0000 HL=9000\r\n8E>");
            return false;
        }
        true
    }

    /// An interrupt fills a buffer of 32; RTS rises at 16 and falls again below 8.
    fn wiring(&self) -> Wiring {
        Wiring { buffer: 32, rts: Some((16, 8)) }
    }

    fn busy(&self) -> Duration {
        match self.state {
            State::Load(_) => LOAD_CHARACTER,
            _ => Duration::from_micros(100),
        }
    }

    fn memory(&mut self) -> Option<&mut Memory> {
        Some(&mut self.memory)
    }
}
