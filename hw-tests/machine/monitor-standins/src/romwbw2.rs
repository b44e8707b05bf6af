//! RomWBW 2.9.1, after recorded sessions: a boot loader that executes single keys, and a debug
//! monitor whose hex load is `H`. The load does not search for colons, and a program can't return
//! to the monitor.

use std::time::Duration;

use crate::machine::{CallAbi, GuestStart, InitialRegisters};
use crate::{Cpm, GuestProgram, Memory, MonitorModel, ReceiverSpec, machine};

const MENU: &[u8] =
    b"\r\n\r\nBoot: (C)PM, (Z)System, (M)onitor,\r\n      (L)ist disks, or Disk Unit # ===> ";
const LIST: &[u8] =
    b"LIST DEVICES\r\n\r\nDisk Devices:\r\n\r\n   0) MD1:\r\n   1) MD0:\r\n   2) IDE0:";
const CPM: &[u8] = b"BOOT CPM FROM ROM\r\n\r\n\r\nCBIOS v2.9.1-pre.5 [WBW]\r\n\r\nFormatting \
RAMDISK...\r\n\r\nConfiguring Drives...\r\n\r\n   A:=MD1:0\r\n   B:=MD0:0\r\n   C:=IDE0:0\r\n   D:=IDE0:1\r\n   E:=IDE0:2\r\n   \
F:=IDE0:3\r\n   G:=IDE0:4\r\n   H:=IDE0:5\r\n   I:=IDE0:6\r\n   J:=IDE0:7\r\n\r\n   1935 Disk \
Buffer Bytes Free\r\n\r\nCP/M-80 v2.2, 54.0K TPA\r\n";
const BANNER: &[u8] = b"\r\n\r\nRetroBrew HBIOS v2.9.1-pre.5, 2018-10-18\r\n\r\nRC2014 Z80 @ \
7.372MHz\r\n0 MEM W/S, 1 I/O W/S, INT MODE 1\r\n512KB ROM, 512KB RAM\r\n\r\nSIO0: IO=0x80 SIO \
MODE=115200,8,N,1\r\nSIO1: IO=0x82 SIO MODE=115200,8,N,1\r\nMD: UNITS=2 ROMDISK=384KB \
RAMDISK=384KB\r\nIDE: IO=0x10 DEVICES=1\r\nIDE0: NO \
MEDIA\r\n\r\nUnit        Device      Type              Capacity/Mode\r\n----------  ----------  ----------------  --------------------\r\nDisk 0      MD1:        RAM Disk          384KB,LBA\r\nDisk 1      MD0:        ROM Disk          \
384KB,LBA\r\nDisk 2      IDE0:       Hard Disk         --\r\nSerial \
0    SIO0:       RS-232            115200,8,N,1\r\nSerial \
1    SIO1:       RS-232            115200,8,N,1\r\n\r\nRC2014 Z80 Boot Loader";
const PANIC: &[u8] =
    b"\r\n\r\n>>> PANIC: @080A[0042:F706:0100:8400:04FC:FFFF:10FF]  Continue? (Y/N): ";
const SECOND_PANIC: &[u8] =
    b"\r\n\r\n>>> PANIC: @07CB[0402:FF00:0200:A730:04FC:FFFF:10FF]  Continue? (Y/N): ";
const UNKNOWN: &[u8] = b"\r\nUNKNOWN COMMAND.";
const PROMPT: &[u8] = b"\r\n>";
const ERROR: &[u8] = b"\r\nCHECKSUM ERROR.";
/// A line with this many characters is executed without CR.
const MAX_LINE: usize = 77;
/// How many characters before the first colon a load ignores before it fails.
const MAX_SWALLOWED: u8 = 2;
const STACK: u16 = 0xFD00;
/// HBIOS's signature and version: W, its complement, 2.9.1.
const IDENT: (u16, [u8; 4]) = (0xFE00, [0x57, 0xA8, 0x29, 0x10]);
/// Processing time per character of a load: without flow control, a record of 44 characters at
/// 115,200 baud overflowed the buffer of 32.
const CHARACTER_TIME: Duration = Duration::from_micros(700);

/// Boot loader and monitor.
pub struct Romwbw2 {
    memory: Memory,
    state: State,
    line: Vec<u8>,
}

enum State {
    Loader,
    Monitor,
    Load(Load),
    GuestProgram(Box<GuestProgram>),
    Guest(Box<dyn MonitorModel>),
    /// After PANIC: `Y` or CR leads to a second panic, after which only reset works.
    Panic,
    Dead,
}

enum Load {
    /// A colon is expected; the number of other characters that are still ignored.
    Colon(u8),
    Digits(Vec<u8>),
    /// Any one character is ignored after a record or an error; then the load continues or ends.
    LineEnd {
        ends: bool,
    },
}

impl Default for Romwbw2 {
    fn default() -> Self {
        Self::at(State::Loader)
    }
}

impl Romwbw2 {
    /// Creates RomWBW in its debug monitor.
    pub fn in_monitor() -> Self {
        Self::at(State::Monitor)
    }

    fn at(state: State) -> Self {
        let mut memory = Memory::new(0x0000..=0xFFFF);
        memory.load(IDENT.0, &IDENT.1);
        Self { memory, state, line: Vec::new() }
    }

    fn boot(&mut self, key: u8, out: &mut Vec<u8>) {
        match key.to_ascii_uppercase() {
            b'M' => {
                out.extend(b"START MONITOR\r\n\r\nMONITOR READY \r\n\r\n>");
                self.state = State::Monitor;
                return;
            }
            b'C' => {
                out.extend(CPM);
                let mut guest = Cpm::of_romwbw2();
                guest.prompt(out);
                self.state = State::Guest(Box::new(guest));
                return;
            }
            b'L' => out.extend(LIST),
            _ => out.extend(b"INVALID SELECTION\r\n"),
        }
        out.extend(MENU);
    }

    fn key(&mut self, character: u8, out: &mut Vec<u8>) {
        match (character & 0x7F).to_ascii_uppercase() {
            b'\r' => {
                out.push(b'\r');
                self.execute(out);
            }
            0x08 => {
                if self.line.pop().is_some() {
                    out.extend(b"\x08 \x08");
                }
            }
            plain => {
                self.line.push(plain);
                out.push(plain);
                if self.line.len() == MAX_LINE {
                    self.execute(out);
                }
            }
        }
    }

    fn execute(&mut self, out: &mut Vec<u8>) {
        let typed = std::mem::take(&mut self.line);
        let command = String::from_utf8_lossy(&typed).into_owned();
        let (name, rest) = command.split_at(command.len().min(1));
        let numbers: Option<Vec<u16>> =
            rest.split_whitespace().map(|word| u16::from_str_radix(word, 16).ok()).collect();
        match (name, numbers.as_deref()) {
            ("H", Some([])) => {
                out.extend(b"\r\n");
                return self.state = State::Load(Load::Colon(MAX_SWALLOWED));
            }
            ("D", Some([first, last])) => self.dump(*first, *last, out),
            ("R", Some([entry])) => {
                let registers = InitialRegisters { hl: *entry, ..InitialRegisters::default() };
                let start = GuestStart { registers, ..CallAbi::Hbios.into() };
                let running = GuestProgram::start_with(&self.memory, *entry, STACK, start);
                return self.state = State::GuestProgram(Box::new(running));
            }
            // A fill without its arguments uses leftover register values.
            ("F", _) => return self.panic(out),
            _ => out.extend(UNKNOWN),
        }
        out.extend(PROMPT);
    }

    fn panic(&mut self, out: &mut Vec<u8>) {
        out.extend(PANIC);
        self.state = State::Panic;
    }

    /// Dumps rows of 16 bytes; characters are sent with bit 7 unchanged.
    fn dump(&self, first: u16, last: u16, out: &mut Vec<u8>) {
        for at in (first..=last).step_by(16) {
            let bytes = self.memory.read_row(at);
            out.extend(format!("\r\n{at:04X} {}  ", machine::hex(&bytes)).bytes());
            let is_plain = |byte: u8| (0x20..0x7F).contains(&(byte & 0x7F));
            out.extend(bytes.map(|byte| if is_plain(byte) { byte } else { b'.' }));
        }
    }

    fn load(&mut self, load: Load, character: u8, out: &mut Vec<u8>) -> State {
        match load {
            Load::Colon(_) if character == b':' => State::Load(Load::Digits(Vec::new())),
            Load::Colon(left) if left > 0 => State::Load(Load::Colon(left - 1)),
            Load::Colon(_) => {
                out.extend(ERROR);
                State::Load(Load::LineEnd { ends: true })
            }
            Load::LineEnd { ends: true } => {
                out.extend(PROMPT);
                State::Monitor
            }
            Load::LineEnd { ends: false } => State::Load(Load::Colon(0)),
            Load::Digits(digits) => self.digit(digits, character, out),
        }
    }

    fn digit(&mut self, mut digits: Vec<u8>, character: u8, out: &mut Vec<u8>) -> State {
        digits.push(character);
        let bytes: Vec<u8> = digits.chunks_exact(2).map(byte).collect();
        let [count, high, low, kind, data @ ..] = bytes.as_slice() else {
            return State::Load(Load::Digits(digits));
        };
        let at = data.len().wrapping_sub(1);
        if at < usize::from(*count) && digits.len().is_multiple_of(2) && *kind != 1 {
            let address = u16::from_be_bytes([*high, *low]).wrapping_add(at as u16);
            self.memory.set(address, data[at]);
        }
        if data.len() <= usize::from(*count) {
            return State::Load(Load::Digits(digits));
        }
        let is_good = bytes.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte)) == 0;
        if !is_good {
            out.extend(ERROR);
        }
        State::Load(Load::LineEnd { ends: !is_good || *kind == 1 })
    }
}

/// Converts two digits in either case; other characters count as 0.
fn byte(pair: &[u8]) -> u8 {
    pair.iter()
        .fold(0, |value, digit| (value << 4) | char::from(*digit).to_digit(16).unwrap_or(0) as u8)
}

impl MonitorModel for Romwbw2 {
    fn receive(&mut self, character: u8, out: &mut Vec<u8>) {
        match std::mem::replace(&mut self.state, State::Monitor) {
            State::Loader => {
                self.state = State::Loader;
                self.boot(character, out);
            }
            State::Monitor => self.key(character, out),
            State::Load(load) => self.state = self.load(load, character, out),
            State::GuestProgram(mut running) => {
                running.receive(character);
                self.state = State::GuestProgram(running);
            }
            State::Guest(mut guest) => {
                guest.receive(character, out);
                self.state = State::Guest(guest);
            }
            State::Panic if matches!(character, b'Y' | b'y' | b'\r') => {
                out.extend(SECOND_PANIC);
                self.state = State::Dead;
            }
            State::Panic => self.state = State::Panic,
            State::Dead => self.state = State::Dead,
        }
    }

    fn reset(&mut self, out: &mut Vec<u8>) {
        self.line.clear();
        self.state = State::Loader;
        out.extend(BANNER);
        out.extend(MENU);
    }

    fn set_time(&mut self, now: Duration) {
        if let State::Guest(guest) = &mut self.state {
            guest.set_time(now);
        }
    }

    fn idle(&mut self, since: Duration, out: &mut Vec<u8>) -> bool {
        match &mut self.state {
            State::Guest(guest) => guest.idle(since, out),
            State::GuestProgram(running) => match running.run(&mut self.memory, out) {
                Some(_) => {
                    self.panic(out);
                    false
                }
                None => true,
            },
            _ => false,
        }
    }

    fn receiver_spec(&self) -> ReceiverSpec {
        ReceiverSpec { buffer: 32, rts: Some((27, 8)) }
    }

    fn processing_time(&self) -> Duration {
        match &self.state {
            State::Load(_) => CHARACTER_TIME,
            State::Guest(guest) => guest.processing_time(),
            _ => Duration::from_micros(100),
        }
    }

    fn memory(&mut self) -> Option<&mut Memory> {
        Some(&mut self.memory)
    }

    fn file(&self, name: &str) -> Option<&[u8]> {
        match &self.state {
            State::Guest(guest) => guest.file(name),
            _ => None,
        }
    }
}
