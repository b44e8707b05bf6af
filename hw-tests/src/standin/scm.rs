//! The Small Computer Monitor's part, as 1.0.0 and 1.3.0 were seen to play it: one checksum for a whole load, every
//! record type but 01 taken for data, bytes stored before anything is checked, no end to waiting for a line's rest.

use std::time::Duration;

use super::{Memory, Peer, Running, Wiring};

/// Rows of a page of the dump.
const PAGE: u16 = 8;
/// The stack that programs get.
const STACK: u16 = 0xFE00;

/// The monitor.
pub struct Scm {
    memory: Memory,
    state: State,
    busy: Duration,
}

enum State {
    /// A command is typed.
    Command(Vec<u8>),
    /// In a load.
    Load(Load),
    /// A page of the dump was shown, and this is the next address.
    Dump(u16),
    Running(Box<Running>),
}

/// A load under way.
#[derive(Default)]
struct Load {
    /// Sum of all bytes since the load began.
    sum: u8,
    /// Digits of the record, two to a byte; `None` between two records.
    record: Option<Vec<u8>>,
}

impl Default for Scm {
    fn default() -> Self {
        let state = State::Command(Vec::new());
        Self { memory: Memory::new(0x8000..=0xFFFF), state, busy: Duration::from_micros(60) }
    }
}

impl Scm {
    /// One that takes this long for a character of a load, as on a board with a slower clock.
    #[must_use]
    pub fn taking(busy: Duration) -> Self {
        Self { busy, ..Self::default() }
    }

    /// A character at the prompt; `None` stays there.
    fn command(&mut self, line: &mut Vec<u8>, character: u8, say: &mut Vec<u8>) -> Option<State> {
        match character {
            b':' if line.is_empty() => {
                return Some(State::Load(Load { record: Some(Vec::new()), ..Load::default() }));
            }
            b'\r' => {
                say.extend(b"\r\n");
                let typed = std::mem::take(line);
                return self.execute(String::from_utf8_lossy(&typed).trim(), say);
            }
            // It opens the line without being shown: a colon behind it begins no load.
            b'\n' => line.push(b' '),
            0x20..=0x7E => {
                line.push(character);
                say.push(character);
            }
            _ => {}
        }
        None
    }

    fn execute(&mut self, command: &str, say: &mut Vec<u8>) -> Option<State> {
        let (name, rest) = command.split_at(command.len().min(1));
        let address = u16::from_str_radix(rest.trim(), 16);
        match (command, name, address) {
            ("", ..) => {}
            ("HELP" | "?", ..) => say.extend(
                b"Small Computer Monitor\r\n\
                  Configuration S2 20220227, Monitor 1.3.0, SCZ80 BIOS 1.3.0\r\n\
                  Monitor commands:\r\nA, D, M, E, R, F, B, S, I, O, G\r\n",
            ),
            (_, "M", Ok(from)) => return Some(self.page(from, say)),
            (_, "G", Ok(entry)) => {
                let running = Running::start(&self.memory, entry, STACK);
                return Some(State::Running(Box::new(running)));
            }
            (_, "M" | "G", Err(_)) => say.extend(b"Bad parameter\r\n"),
            _ => say.extend(b"Bad command\r\n"),
        }
        say.extend(b"\r\n*");
        None
    }

    /// Shows a page of memory.
    fn page(&self, from: u16, say: &mut Vec<u8>) -> State {
        for row in 0..PAGE {
            let at = from.wrapping_add(row * 16);
            say.extend(format!("{at:04X}: {}\r\n", self.memory.row(at)).bytes());
        }
        State::Dump(from.wrapping_add(PAGE * 16))
    }

    fn dump(&self, next: u16, character: u8, say: &mut Vec<u8>) -> State {
        match character {
            b'\r' => self.page(next, say),
            0x1B => {
                say.extend(b"\r\n*");
                State::Command(Vec::new())
            }
            other => {
                say.extend(b"\r\n*");
                say.push(other);
                State::Command(vec![other])
            }
        }
    }

    /// A character of a load.
    fn load(&mut self, load: &mut Load, character: u8, say: &mut Vec<u8>) -> Option<State> {
        let Some(record) = &mut load.record else {
            match character {
                b':' => load.record = Some(Vec::new()),
                b'\r' | b'\n' => {}
                other => {
                    say.push(other);
                    return Some(State::Command(vec![other]));
                }
            }
            return None;
        };
        record.push(character);
        if record.len() % 2 == 1 {
            return None;
        }
        let bytes: Vec<u8> = record.chunks(2).map(byte).collect();
        load.sum = load.sum.wrapping_add(bytes[bytes.len() - 1]);
        let [count, high, low, kind, data @ ..] = bytes.as_slice() else { return None };
        if let Some((index, last)) = data.iter().enumerate().next_back()
            && index < usize::from(*count)
        {
            let address = u16::from_be_bytes([*high, *low]);
            self.memory.set(address.wrapping_add(index as u16), *last);
        }
        if data.len() <= usize::from(*count) {
            return None;
        }
        load.record = None;
        if *kind != 1 {
            return None;
        }
        say.extend(if load.sum == 0 { &b"Ready"[..] } else { b"File error" });
        say.extend(b"\r\n\r\n*");
        Some(State::Command(Vec::new()))
    }
}

/// Two digits; what is none counts as FFh.
fn byte(pair: &[u8]) -> u8 {
    let digit = |at: usize| {
        pair.get(at)
            .and_then(|digit| char::from(*digit).to_digit(16))
            .map_or(0xFF, |digit| digit as u8)
    };
    (digit(0) << 4) | digit(1)
}

impl Peer for Scm {
    fn hear(&mut self, character: u8, say: &mut Vec<u8>) {
        let mut state = std::mem::replace(&mut self.state, State::Command(Vec::new()));
        let next = match &mut state {
            State::Command(line) => self.command(line, character, say),
            State::Load(load) => self.load(load, character, say),
            State::Dump(next) => Some(self.dump(*next, character, say)),
            State::Running(running) => {
                running.hear(character);
                None
            }
        };
        self.state = next.unwrap_or(state);
    }

    fn idle(&mut self, _since: Duration, say: &mut Vec<u8>) -> bool {
        let State::Running(running) = &mut self.state else { return false };
        if running.go(&mut self.memory, say) {
            self.state = State::Command(Vec::new());
            say.extend(b"\r\n*");
            return false;
        }
        true
    }

    /// It polls the 68B50, whose one holding register is all the buffer there is, and never touches RTS.
    fn wiring(&self) -> Wiring {
        Wiring { buffer: 1, rts: None }
    }

    fn busy(&self) -> Duration {
        match self.state {
            State::Load(_) => self.busy,
            _ => Duration::ZERO,
        }
    }

    fn memory(&mut self) -> Option<&mut Memory> {
        Some(&mut self.memory)
    }
}
