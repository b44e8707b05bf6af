//! RomWBW 3.5.1, after recorded sessions: a boot loader that executes lines, and a debug monitor
//! that checks the checksum of each Intel HEX record, and after an error executes further input as
//! commands.

use rcflash_transport::time::Duration;

use crate::machine::{CallAbi, GuestStart, ITC, InitialRegisters, TRAP};
use crate::{Basic, Cpm, GuestExit, GuestProgram, Memory, MonitorModel, ReceiverSpec, machine};

const LOADER: &[u8] = b"\r\n\r\nRCBus [RCZ80_std] Boot Loader\r\n";
const LOADER_SC131: &[u8] = b"\r\n\r\nSmall Computer SC131 [SCZ180_sc131_std] Boot Loader\r\n";
const UPDATER: &[u8] =
    b"\r\n\r\nLoading XModem Flash Updater...\r\n\r\nROMWBW XMODEM FLASH UPDATER\r\n\r\n\
FLASH CHIP NOT SUPPORTED\r\n";
const SWITCHES: &[u8] = b"FP Switches = 0x78\r\n";
const BOOT: &[u8] = b"\r\nBoot [H=Help]: ";
const HELP: &[u8] = b"\r\n\r\n  L           - List ROM Applications\r\n  D           - Device \
Inventory\r\n  R           - Reboot System\r\n  W           - RomWBW Configure\r\n  I <u> [<c>] - \
Set Console Interface/Baud Rate\r\n  V [<n>]     - View/Set HBIOS Diagnostic \
Verbosity\r\n  <u>[.<s>]   - Boot Disk Unit/Slice\r\n";
const LIST: &[u8] = b"\r\n\r\nROM Applications:\r\n\r\n  M: Monitor\r\n  C: CP/M 2.2\r\n  Z: \
Z-System\r\n  B: BASIC\r\n  T: Tasty BASIC\r\n  F: Forth\r\n  P: Play a Game\r\n  N: Network \
Boot\r\n  X: XModem Flash Updater\r\n  U: User App\r\n";
const ENTERED: &[u8] = b"\r\n\r\nLoading Monitor...\r\n\r\nMonitor Ready (? for Help)";
const CPM: &[u8] = b"\r\n\r\nLoading CP/M 2.2...\r\n\r\nCBIOS v3.5.1 [WBW]\r\n\r\nFormatting \
RAMDISK...\r\n\r\nConfiguring Drives...\r\n\r\n\tA:=MD0:0\r\n\tB:=MD1:0\r\n\r\n\t4099 Disk Buffer \
Bytes Free\r\n\r\nCP/M-80 v2.2, 54.0K TPA\r\n";
const HBIOS: &[u8] = b"\r\n\r\nRomWBW HBIOS v3.5.1, 2025-05-21\r\n";
const MONITOR: &[u8] = b"\r\n8E>";
/// Maximum length of a line; further characters ring the bell.
const MAX_LINE: usize = 39;
/// How long the loader discards input after its prompt.
const IGNORE_WINDOW: Duration = Duration::from_millis(5);
/// The stack of guest programs.
const STACK: u16 = 0xFD00;
/// Processing time per character of a load: 3,400 characters per second were measured.
const LOAD_CHARACTER_TIME: Duration = Duration::from_micros(294);
/// HBIOS's signature and version, as its programs check them: W, its complement, 3.5.1.
const IDENT: (u16, [u8; 4]) = (0xFE00, [0x57, 0xA8, 0x35, 0x10]);
const BELL: u8 = 0x07;

/// Boot loader and monitor.
pub struct Romwbw {
    memory: Memory,
    state: State,
    line: Vec<u8>,
    prompted: Option<Duration>,
    /// The time by the line's clock.
    now: Duration,
    /// The commands executed by the debug monitor, each with its CR.
    executed: Vec<u8>,
    /// Whether the board has a front panel whose switches the loader shows.
    panel: bool,
    is_z180: bool,
    /// Whether a Z180 has trapped an opcode; RomWBW leaves the bit of ITC set.
    has_trapped: bool,
}

enum State {
    Loader,
    Monitor,
    /// A load; `None` while waiting for a colon.
    Load(Option<Load>),
    GuestProgram(Box<GuestProgram>),
    /// BASIC or CP/M.
    Guest(Box<dyn MonitorModel>),
    Halted,
}

/// Ports of a Z180 and their values, as recorded on an SC131; others read FFh.
const Z180_PORTS: [(u16, u8); 21] = [
    (0xC0, 0x64),
    (0xC2, 0x00),
    (0xC4, 0x08),
    (0xCE, 0xFF),
    (0xCF, 0x47),
    (0xD0, 0x11),
    (0xD2, 0x40),
    (0xD3, 0x00),
    (0xDA, 0x00),
    (0xDB, 0x00),
    (0xDE, 0x7F),
    (0xDF, 0x80),
    (0xF0, 0x30),
    (0xF2, 0x10),
    (0xF3, 0x00),
    (0xF4, 0x01),
    (0xF6, 0x00),
    (0xF8, 0xF0),
    (0xF9, 0xF0),
    (0xFA, 0x80),
    (0xFF, 0xC0),
];

/// The table of a Z180's vectors, as recorded on an SC131, whose handlers jump to one service.
const VECTORS: u16 = 0xFF00;
const HANDLERS: u16 = 0xFF20;
const HANDLER: [u8; 4] = [0xC3, 0x48, 0xFF, 0x00];
const DEVICES: u16 = 9;
const SERVICE: u16 = 0xFF48;
/// Ends the requests of timer 0 and of the ASCI's channel 0: PUSH AF; IN0 A,(TCR);
/// IN0 A,(TMDR0L); IN0 A,(RDR0); POP AF; EI; RET.
const SERVICE_CODE: [u8; 13] =
    [0xF5, 0xED, 0x38, 0xD0, 0xED, 0x38, 0xCC, 0xED, 0x38, 0xC8, 0xF1, 0xFB, 0xC9];

/// A partial Intel HEX record.
#[derive(Default)]
struct Load {
    digits: Vec<u8>,
    /// Whether a character was not an uppercase hexadecimal digit.
    is_odd: bool,
}

impl Default for Romwbw {
    fn default() -> Self {
        Self::at(State::Loader)
    }
}

impl Romwbw {
    /// Creates RomWBW in its debug monitor.
    pub fn in_monitor() -> Self {
        Self::at(State::Monitor)
    }

    /// Creates RomWBW in its BASIC, at the `Memory top?` prompt.
    pub fn in_basic() -> Self {
        Self::at(State::Guest(Box::new(Basic::romwbw())))
    }

    /// Moves it to a Z180 board, whose registers it reads as recorded on an SC131.
    #[must_use]
    pub fn on_z180(mut self) -> Self {
        for device in 0..DEVICES {
            let handler = HANDLERS + 4 * device;
            self.memory.load(VECTORS + 2 * device, &handler.to_le_bytes());
            self.memory.load(handler, &HANDLER);
        }
        self.memory.load(SERVICE, &SERVICE_CODE);
        Self { is_z180: true, ..self }
    }

    /// Adds a front panel, as emulators have.
    #[must_use]
    pub fn with_panel(self) -> Self {
        Self { panel: true, ..self }
    }

    fn at(state: State) -> Self {
        let mut memory = Memory::new(0x0000..=0xFFFF);
        memory.load(IDENT.0, &IDENT.1);
        let line = Vec::new();
        let prompted = None;
        let executed = Vec::new();
        Self {
            memory,
            state,
            line,
            now: Duration::ZERO,
            prompted,
            executed,
            panel: false,
            is_z180: false,
            has_trapped: false,
        }
    }

    fn boot_prompt(&mut self, out: &mut Vec<u8>) {
        out.extend(BOOT);
        self.state = State::Loader;
        self.prompted = Some(self.now);
    }

    fn back_to_loader(&mut self, out: &mut Vec<u8>) {
        out.extend(if self.is_z180 { LOADER_SC131 } else { LOADER });
        if self.panel {
            out.extend(SWITCHES);
        }
        self.boot_prompt(out);
    }

    /// Handles a character in the boot loader's line.
    fn boot_key(&mut self, character: u8, out: &mut Vec<u8>) {
        match character {
            b'\r' => {
                let typed = std::mem::take(&mut self.line);
                self.boot(String::from_utf8_lossy(&typed).trim().to_uppercase().as_str(), out);
            }
            0x08 | 0x7F if self.line.pop().is_some() => out.extend(b"\x08 \x08"),
            0x20..=0x7E if self.line.len() < MAX_LINE => {
                self.line.push(character);
                out.push(character);
            }
            _ => out.push(BELL),
        }
    }

    fn boot(&mut self, command: &str, out: &mut Vec<u8>) {
        match command {
            command if command.starts_with('X') => {
                out.extend(UPDATER);
                return self.back_to_loader(out);
            }
            "M" | "M EXTRA" => {
                out.extend(ENTERED);
                self.prompt(out);
                return;
            }
            "C" => {
                out.extend(CPM);
                let mut guest = Cpm::default();
                guest.prompt(out);
                self.state = State::Guest(Box::new(guest));
                return;
            }
            "B" => {
                out.extend(b"\r\n\r\nLoading BASIC...\r\nMemory top? ");
                self.state = State::Guest(Box::new(Basic::romwbw()));
                return;
            }
            "R" => {
                out.extend(HBIOS);
                return self.back_to_loader(out);
            }
            "" | "H" | "?" => out.extend(HELP),
            "L" => out.extend(LIST),
            _ => out.extend(b"\x07\r\n\r\n*** Invalid command\r\n"),
        }
        self.boot_prompt(out);
    }

    fn prompt(&mut self, out: &mut Vec<u8>) {
        out.extend(MONITOR);
        self.state = State::Monitor;
    }

    /// Handles a character in the monitor's line: clears bit 7, converts letters to uppercase.
    fn key(&mut self, character: u8, out: &mut Vec<u8>) {
        match (character & 0x7F).to_ascii_uppercase() {
            b'\r' => {
                let typed = std::mem::take(&mut self.line);
                self.execute(String::from_utf8_lossy(&typed).trim(), out);
            }
            0x08 | 0x7F => {
                let erased: &[u8] = if self.line.pop().is_some() { b"\x08 \x08" } else { b"" };
                out.extend(erased);
            }
            plain @ 0x20..=0x7E if self.line.len() < MAX_LINE => {
                self.line.push(plain);
                out.push(plain);
            }
            0x20..=0x7E => out.push(BELL),
            _ => {}
        }
    }

    fn execute(&mut self, command: &str, out: &mut Vec<u8>) {
        if !command.is_empty() {
            self.executed.extend(command.bytes().chain(*b"\r"));
        }
        let (name, rest) = command.split_at(command.len().min(1));
        let numbers: Option<Vec<u16>> =
            rest.split_whitespace().map(|word| u16::from_str_radix(word, 16).ok()).collect();
        match (name, numbers.as_deref()) {
            ("", _) => {}
            ("X", _) => return self.back_to_loader(out),
            ("H", _) => return self.state = State::Halted,
            ("L", _) => {
                out.extend(b"\r\n");
                return self.state = State::Load(None);
            }
            ("D", Some([first])) => self.dump(*first, first.wrapping_add(0xFF), out),
            ("D", Some([first, last])) => self.dump(*first, *last, out),
            ("F", Some([first, last, value])) => {
                (*first..=*last).for_each(|at| self.memory.set(at, *value as u8));
            }
            ("R", Some([entry])) => {
                let registers = InitialRegisters { af: 0xFF00, bc: *entry, de: 0xEED0, hl: *entry };
                let z180_ports: &[_] = if self.is_z180 { &Z180_PORTS } else { &[] };
                let start = GuestStart { calls: CallAbi::Hbios, registers, z180_ports };
                let running = GuestProgram::start_with(&self.memory, *entry, STACK, start);
                return self.state = State::GuestProgram(Box::new(running));
            }
            ("I", Some([port])) if self.is_z180 => {
                let found = Z180_PORTS.iter().find(|(at, _)| at == port);
                let trap = if self.has_trapped && *port == ITC { TRAP } else { 0 };
                let value = found.map_or(0xFF, |(_, value)| *value) | trap;
                out.extend(format!("\r\n{value:02X}").bytes());
            }
            ("?", _) => out.extend(b"\r\nMonitor Commands (all values in hex):\r\nD, F, L, R, X"),
            ("D" | "F" | "R" | "I" | "O" | "P" | "S" | "T", _) => {
                out.extend(b"\r\nSyntax Error (? for Help)");
            }
            _ => out.extend(b"\r\nUnknown Command (? for Help)"),
        }
        self.prompt(out);
    }

    /// Dumps rows of 16 bytes. The last row has all bytes, but text only up to `last`.
    fn dump(&self, first: u16, last: u16, out: &mut Vec<u8>) {
        let mut at = first;
        loop {
            let bytes = self.memory.read_row(at);
            let wanted = usize::from(last.wrapping_sub(at)).min(15) + 1;
            let digits = machine::hex(&bytes);
            let text = machine::printable(&bytes[..wanted]);
            out.extend(format!("\r\n{at:04X}: {digits}  {text}").bytes());
            if last.wrapping_sub(at) < 16 {
                return;
            }
            at = at.wrapping_add(16);
        }
    }

    /// Handles a character of a load. Stores bytes at once, and checks the checksum after them.
    fn load(&mut self, record: Option<Load>, character: u8, out: &mut Vec<u8>) -> State {
        let Some(mut load) = record else {
            return State::Load((character == b':').then(Load::default));
        };
        load.is_odd |= !matches!(character, b'0'..=b'9' | b'A'..=b'F');
        load.digits.push(character);
        let bytes: Vec<u8> = load.digits.chunks_exact(2).map(byte).collect();
        let [count, high, low, kind, data @ ..] = bytes.as_slice() else {
            return State::Load(Some(load));
        };
        if data.is_empty() && load.digits.len() == 8 && *kind > 1 {
            out.extend(b"\r\nRecord Type Error");
            out.extend(MONITOR);
            return State::Monitor;
        }
        let at = data.len().wrapping_sub(1);
        if at < usize::from(*count) && load.digits.len().is_multiple_of(2) {
            let address = u16::from_be_bytes([*high, *low]).wrapping_add(at as u16);
            self.memory.set(address, data[at]);
        }
        if data.len() <= usize::from(*count) {
            return State::Load(Some(load));
        }
        let is_good = bytes.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte)) == 0;
        match (is_good && !load.is_odd, kind) {
            (true, 0) => return State::Load(None),
            (true, _) => out.extend(b"\r\nLoaded"),
            (false, _) => out.extend(b"\r\nChecksum Error"),
        }
        out.extend(MONITOR);
        State::Monitor
    }

    fn ended(&mut self, end: GuestExit, out: &mut Vec<u8>) {
        match end {
            GuestExit::Returned(left) => {
                let a = left.af >> 8;
                let hl = left.hl;
                let de = left.de;
                let bc = left.bc;
                out.extend(format!("\r\n{a:02X} {hl:04X} {de:04X} {bc:04X} ").bytes());
                self.prompt(out);
            }
            GuestExit::InvalidOpcode(address) => {
                let bytes = machine::hex(&self.memory.read_row(address)[..8]);
                let message =
                    format!("\r\n\r\n+++ INVALID Z180 OPCODE @{address:04X}H: {bytes}\r\n");
                out.extend(message.bytes());
                self.has_trapped = true;
                self.back_to_loader(out);
            }
            GuestExit::Restarted | GuestExit::Trapped(_) => self.back_to_loader(out),
        }
    }
}

/// Converts two digits; other characters count as 0.
fn byte(pair: &[u8]) -> u8 {
    pair.iter()
        .fold(0, |value, digit| (value << 4) | char::from(*digit).to_digit(16).unwrap_or(0) as u8)
}

impl MonitorModel for Romwbw {
    fn receive(&mut self, character: u8, out: &mut Vec<u8>) {
        match std::mem::replace(&mut self.state, State::Monitor) {
            State::Load(record) => self.state = self.load(record, character, out),
            State::GuestProgram(mut running) => {
                running.receive(character);
                self.state = State::GuestProgram(running);
            }
            State::Guest(mut guest) => {
                guest.receive(character, out);
                let has_exited = guest.has_exited();
                self.state = State::Guest(guest);
                if has_exited {
                    self.back_to_loader(out);
                }
            }
            State::Halted => self.state = State::Halted,
            State::Monitor => self.key(character, out),
            State::Loader => {
                self.state = State::Loader;
                if self.prompted.is_none_or(|at| self.now >= at + IGNORE_WINDOW) {
                    self.boot_key(character, out);
                }
            }
        }
    }

    fn reset(&mut self, out: &mut Vec<u8>) {
        self.line.clear();
        out.extend(HBIOS);
        self.back_to_loader(out);
    }

    fn set_time(&mut self, now: Duration) {
        self.now = now;
        if let State::Guest(guest) = &mut self.state {
            guest.set_time(now);
        }
    }

    fn end_ignore_window(&mut self) {
        self.prompted = None;
    }

    fn idle(&mut self, since: Duration, out: &mut Vec<u8>) -> bool {
        match &mut self.state {
            State::Guest(guest) => guest.idle(since, out),
            State::GuestProgram(running) => match running.run(&mut self.memory, out) {
                Some(end) => {
                    self.ended(end, out);
                    false
                }
                None => true,
            },
            _ => false,
        }
    }

    /// Returns the properties of RomWBW's interrupt driver.
    fn receiver_spec(&self) -> ReceiverSpec {
        ReceiverSpec { buffer: 32, rts: Some((16, 8)) }
    }

    fn processing_time(&self) -> Duration {
        match &self.state {
            State::Load(_) => LOAD_CHARACTER_TIME,
            State::Guest(guest) => guest.processing_time(),
            _ => Duration::from_micros(100),
        }
    }

    fn typed_at_prompt(&self) -> &[u8] {
        &self.executed
    }

    fn memory(&mut self) -> Option<&mut Memory> {
        match &mut self.state {
            State::Guest(guest) => guest.memory(),
            _ => Some(&mut self.memory),
        }
    }

    fn file(&self, name: &str) -> Option<&[u8]> {
        match &self.state {
            State::Guest(guest) => guest.file(name),
            _ => None,
        }
    }
}
