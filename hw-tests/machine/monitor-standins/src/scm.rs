//! The Small Computer Monitor, after recorded sessions of 1.0.0 (R1 and S2), 1.3.0 (S2), and of
//! 1.1.0 to 1.3.0 for Z180 boards (S5, S6 and F3).
//!
//! It has one checksum for a whole load, treats every record type but 01 as data, stores bytes
//! before it checks anything, and waits for the rest of a record without a timeout.

use std::time::Duration;

use crate::machine::{CallAbi, GuestStart, ITC, TRAP};
use crate::{GuestExit, GuestProgram, Memory, MonitorModel, ReceiverSpec};

/// Rows in a page of a dump.
const PAGE: u16 = 8;
/// Maximum length of a line; further characters are ignored.
const MAX_LINE: usize = 126;
/// The stack of guest programs.
const STACK: u16 = 0xFE00;
const PROMPT: &[u8] = b"*";
const ESCAPE: u8 = 0x1B;
const BACKSPACE: u8 = 0x08;

const R1_HELP: &str =
    "t> <end> <byte>        |  API <function> [<A>] [<DE>]\r\nDEVICES, DIR, HELP, RESET\r\n";
const S2_HELP: &str =
    "ASIC program)\r\nCPM      Load CP/M from Compact Flash (requires prepared CF card)\r\n";

/// A release of the monitor, and the board that it is configured for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScmRelease {
    /// 1.0.0 for the RC2014's modules, bank 7 of the factory's R0000009.
    R1,
    /// 1.0.0 for the SC114.
    S2,
    /// 1.3.0 for the SC114.
    S2V13,
    /// 1.1.0 for the SC126, a Z180 board.
    S6V11,
    /// 1.2.0 for it.
    S6V12,
    /// 1.3.0 for it.
    S6V13,
    /// 1.3.0 for the SC111 with the SC119.
    S5V13,
    /// 1.3.0 for the SC140 and the SC503.
    F3V13,
}

impl ScmRelease {
    fn board(self) -> &'static str {
        match self {
            Self::R1 => "RC2014",
            Self::S2 => "SC114",
            Self::S2V13 => "RC/Z80",
            Self::S6V11 | Self::S6V12 | Self::S6V13 => "SC126",
            Self::S5V13 => "RC/Z180",
            Self::F3V13 => "Z50Bus/Z180",
        }
    }

    /// Returns the second line of HELP.
    fn version(self) -> &'static str {
        match self {
            Self::R1 => "Version 1.0.0 configuration R1 for Z80 based RC2014 systems",
            Self::S2 => "Version 1.0.0 configuration S2 for SC114 motherboard",
            Self::S2V13 => "Configuration S2 20220227, Monitor 1.3.0, SCZ80 BIOS 1.3.0",
            Self::S6V11 => "Configuration S6 20190715, Monitor 1.1.0, Z180 native BIOS 1.1.0",
            Self::S6V12 => "Configuration S6 20200527, Monitor 1.2.0, SCZ180 BIOS 1.2.0",
            Self::S6V13 => "Configuration S6 20220227, Monitor 1.3.0, SCZ180 BIOS 1.3.0",
            Self::S5V13 => "Configuration S5 20220227, Monitor 1.3.0, SCZ180 BIOS 1.3.0",
            Self::F3V13 => "Configuration F3 20220227, Monitor 1.3.0, SCZ180 BIOS 1.3.0",
        }
    }

    /// Returns the length of the reply to HELP without the echo, and its end.
    fn help(self) -> (usize, &'static str) {
        match self {
            Self::R1 => (659, R1_HELP),
            Self::S2 => (825, S2_HELP),
            Self::S2V13 => (831, S2_HELP),
            Self::S6V11 => (837, S2_HELP),
            Self::S6V12 | Self::S6V13 | Self::S5V13 | Self::F3V13 => (832, S2_HELP),
        }
    }

    fn api_version(self) -> &'static [u8] {
        match self {
            Self::R1 | Self::S2 => b"00 0100\r\n",
            Self::S6V11 => b"00 0101\r\n",
            Self::S6V12 => b"00 0102\r\n",
            Self::S2V13 | Self::S6V13 | Self::S5V13 | Self::F3V13 => b"00 0103\r\n",
        }
    }

    /// Returns ports of the processor's own and their values; none for a Z80.
    fn z180_ports(self) -> &'static [(u16, u8)] {
        match self {
            Self::R1 | Self::S2 | Self::S2V13 => &[],
            Self::S6V11 | Self::S6V12 => &EARLY_Z180_PORTS,
            Self::S6V13 | Self::S5V13 | Self::F3V13 => &Z180_PORTS,
        }
    }
}

/// The same for 1.1.0 and 1.2.0: RAM is at other physical addresses.
const EARLY_Z180_PORTS: [(u16, u8); 19] = {
    let mut ports = Z180_PORTS;
    ports[CBR].1 = 0xF0;
    ports
};
/// The index of CBR.
const CBR: usize = 15;
/// Ports of a Z180 and their values, as recorded on an SC126; others read FFh.
const Z180_PORTS: [(u16, u8); 19] = [
    (0xC0, 0x64),
    (0xC1, 0x64),
    (0xC2, 0x80),
    (0xC3, 0x80),
    (0xC4, 0x02),
    (0xC5, 0x02),
    (0xD0, 0x41),
    (0xD2, 0x60),
    (0xD3, 0x60),
    (0xDF, 0x80),
    (0xF0, 0x30),
    (0xF2, 0x30),
    (0xF3, 0x00),
    (0xF4, 0x01),
    (0xF6, 0x00),
    (0xF8, 0x80),
    (0xF9, 0x00),
    (0xFA, 0x80),
    (0xFF, 0xC0),
];

/// The monitor.
pub struct Scm {
    release: ScmRelease,
    memory: Memory,
    state: State,
    busy: Duration,
    /// Whether a Z180 has trapped an opcode; the monitor leaves the bit of ITC set.
    has_trapped: bool,
}

enum State {
    /// A command is typed. After a line feed, a colon in the empty line does not begin a record.
    Command {
        line: Vec<u8>,
        opened: bool,
    },
    Load(Load),
    /// A page of a dump was shown; the next address.
    Dump(u16),
    /// The line assembler waits for an instruction at this address.
    Assembler(u16),
    GuestProgram(Box<GuestProgram>),
}

const EMPTY: State = State::Command { line: Vec::new(), opened: false };

#[derive(Default)]
struct Load {
    /// The sum of all bytes since the load began.
    sum: u8,
    /// The digits of the record; `None` between records.
    record: Option<Vec<u8>>,
}

impl Default for Scm {
    fn default() -> Self {
        Self::new(ScmRelease::S2V13)
    }
}

impl Scm {
    /// Creates a monitor of this release, at its prompt.
    pub fn new(release: ScmRelease) -> Self {
        let memory = Memory::new(0x8000..=0xFFFF);
        let busy = Duration::from_micros(60);
        Self { release, memory, state: EMPTY, busy, has_trapped: false }
    }

    /// Creates a monitor with this processing time per character of a load, as with a slower clock.
    pub fn with_load_character_time(busy: Duration) -> Self {
        Self { busy, ..Self::default() }
    }

    /// Handles a character at the prompt. Returns the next state if it changes.
    fn command(
        &mut self,
        line: &mut Vec<u8>,
        opened: &mut bool,
        character: u8,
        out: &mut Vec<u8>,
    ) -> Option<State> {
        match character {
            b':' if line.is_empty() && !*opened => return Some(begin_load()),
            b'\r' | ESCAPE => {
                out.extend(b"\r\n");
                *opened = false;
                let typed = std::mem::take(line);
                return self.execute(&String::from_utf8_lossy(&typed), out);
            }
            b'\n' => *opened = true,
            BACKSPACE if line.pop().is_some() => out.extend(b"\x08 \x08"),
            0x20..=0x7F if line.len() < MAX_LINE => {
                line.push(character);
                out.push(character);
            }
            _ => {}
        }
        None
    }

    fn execute(&mut self, command: &str, out: &mut Vec<u8>) -> Option<State> {
        let typed = command;
        let command = command.trim().to_ascii_uppercase();
        let (name, rest) = command.split_at(command.len().min(1));
        let address = u16::from_str_radix(rest.trim(), 16);
        match (command.as_str(), name, address) {
            ("", ..) if typed.is_empty() => {}
            ("HELP" | "?", ..) => self.help(out),
            ("API 8" | "API 8 0 0", ..) => out.extend(self.release.api_version()),
            ("CONSOLE 1" | "BAUD 1 11", ..) => {}
            ("CONSOLE", ..) => out.extend(b"Bad parameter\r\n"),
            ("RESET" | "API 9", ..) => {
                self.reset(out);
                return None;
            }
            (_, "M", Ok(from)) => return Some(self.page(from, out)),
            (_, "A", Ok(at)) => return Some(self.assemble(at, out)),
            (_, "G", Ok(entry)) => {
                let z180_ports = self.release.z180_ports();
                let start = GuestStart { z180_ports, ..CallAbi::Plain.into() };
                let running = GuestProgram::start_with(&self.memory, entry, STACK, start);
                return Some(State::GuestProgram(Box::new(running)));
            }
            (_, "I", Ok(port)) => {
                let value = self.input(port);
                out.extend(format!("{value:02X}\r\n").bytes());
            }
            (_, "O", _) if rest.split_whitespace().count() == 2 => {}
            (_, "M" | "G" | "I" | "O", Err(_)) => out.extend(b"Bad parameter\r\n"),
            _ => out.extend(b"Bad command\r\n"),
        }
        out.extend(PROMPT);
        None
    }

    /// Returns what a port reads as.
    fn input(&self, port: u16) -> u8 {
        let ports = self.release.z180_ports();
        let found = ports.iter().find(|(at, _)| *at == port).map(|(_, value)| *value);
        match found {
            _ if ports.is_empty() => 0x02,
            Some(itc) if port == ITC && self.has_trapped => itc | TRAP,
            found => found.unwrap_or(0xFF),
        }
    }

    /// Sends the reply to HELP: recorded beginning and end, filler between.
    fn help(&self, out: &mut Vec<u8>) {
        let (bytes, end) = self.release.help();
        let begin = format!(
            "Small Computer Monitor by Stephen C Cousins (www.scc.me.uk)\r\n{}\r\n\r\nMonitor \
             commands:\r\nA [<address>]  = Asse",
            self.release.version()
        );
        out.extend(begin.bytes());
        let rest = bytes.saturating_sub(begin.len() + end.len() + PROMPT.len());
        out.extend((0..rest).map(|at| if at % 60 > 57 { b"\r\n"[at % 2] } else { b'.' }));
        out.extend(end.bytes());
    }

    fn page(&self, from: u16, out: &mut Vec<u8>) -> State {
        for row in 0..PAGE {
            let at = from.wrapping_add(row * 16);
            let bytes = self.memory.read_row(at);
            let digits = |bytes: &[u8]| super::machine::hex(bytes);
            let (left, right) = bytes.split_at(8);
            let text = super::machine::printable(&bytes);
            out.extend(
                format!("{at:04X}:  {}  {}  {text}\r\n", digits(left), digits(right)).bytes(),
            );
        }
        State::Dump(from.wrapping_add(PAGE * 16))
    }

    fn dump(&self, next: u16, character: u8, out: &mut Vec<u8>) -> State {
        if character == b'\r' {
            return self.page(next, out);
        }
        out.extend(PROMPT);
        match character {
            b':' => begin_load(),
            0x20..=0x7F => {
                out.push(character);
                State::Command { line: vec![character], opened: false }
            }
            _ => EMPTY,
        }
    }

    fn assemble(&self, at: u16, out: &mut Vec<u8>) -> State {
        out.extend(format!("{at:04X}: {:02X}          > ", self.memory.get(at)).bytes());
        State::Assembler(at)
    }

    fn assembler(&self, at: u16, character: u8, out: &mut Vec<u8>) -> Option<State> {
        match character {
            b'\r' => {
                out.extend(b"\r\n");
                Some(self.assemble(at.wrapping_add(1), out))
            }
            ESCAPE => {
                out.extend(b"\r\n*");
                Some(EMPTY)
            }
            _ => None,
        }
    }

    /// Handles a character of a load. Returns the next state if it changes.
    fn load(&mut self, load: &mut Load, character: u8, out: &mut Vec<u8>) -> Option<State> {
        let Some(record) = &mut load.record else {
            match character {
                b':' => load.record = Some(Vec::new()),
                0x20..=0x7F => {
                    out.push(character);
                    return Some(State::Command { line: vec![character], opened: false });
                }
                _ => {}
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
        out.extend(if load.sum == 0 { &b"Ready"[..] } else { b"File error" });
        out.extend(b"\r\n\r\n*");
        Some(EMPTY)
    }
}

fn begin_load() -> State {
    State::Load(Load { record: Some(Vec::new()), ..Load::default() })
}

/// Converts two digits in either case; other characters count as Fh.
fn byte(pair: &[u8]) -> u8 {
    let digit = |at: usize| {
        pair.get(at)
            .and_then(|digit| char::from(*digit).to_digit(16))
            .map_or(0xF, |digit| digit as u8)
    };
    (digit(0) << 4) | digit(1)
}

impl MonitorModel for Scm {
    fn receive(&mut self, character: u8, out: &mut Vec<u8>) {
        let mut state = std::mem::replace(&mut self.state, EMPTY);
        let next = match &mut state {
            State::Command { line, opened } => self.command(line, opened, character, out),
            State::Load(load) => self.load(load, character, out),
            State::Dump(next) => Some(self.dump(*next, character, out)),
            State::Assembler(at) => self.assembler(*at, character, out),
            State::GuestProgram(running) => {
                running.receive(character);
                None
            }
        };
        self.state = next.unwrap_or(state);
    }

    fn reset(&mut self, out: &mut Vec<u8>) {
        self.state = EMPTY;
        let board = self.release.board();
        out.extend(format!("\r\n\r\nSmall Computer Monitor - {board}\r\n*").bytes());
    }

    fn idle(&mut self, _since: Duration, out: &mut Vec<u8>) -> bool {
        let State::GuestProgram(running) = &mut self.state else { return false };
        let Some(ended) = running.run(&mut self.memory, out) else { return true };
        match ended {
            GuestExit::Restarted => self.reset(out),
            GuestExit::InvalidOpcode(_) => {
                self.has_trapped = true;
                self.reset(out);
            }
            GuestExit::Trapped(registers) => {
                self.state = EMPTY;
                out.extend(format!("Trap\r\n{registers}\r\n*").bytes());
            }
            GuestExit::Returned(_) => {
                self.state = EMPTY;
                out.extend(PROMPT);
            }
        }
        false
    }

    /// Returns the properties of the 68B50 without a driver: SCM polls it, and does not use RTS.
    fn receiver_spec(&self) -> ReceiverSpec {
        ReceiverSpec { buffer: 1, rts: None }
    }

    fn processing_time(&self) -> Duration {
        match self.state {
            State::Load(_) => self.busy,
            _ => Duration::ZERO,
        }
    }

    fn memory(&mut self) -> Option<&mut Memory> {
        Some(&mut self.memory)
    }
}
