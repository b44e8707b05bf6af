//! gdb's remote serial protocol ("Debugging with GDB", appendix E), for a gdb built for z80-unknown-elf.
//!
//! That gdb knows thirteen registers of sixteen bits, and needs no description of the target. Breakpoints change no memory.

use std::io::{self, Read, Write};

use super::debugger::{Debugger, Halt};
use super::names;
use super::stops::Watch;
use crate::sim::{AccessKind, Registers};

/// Most bytes of a packet, of which we tell gdb.
const MAX_PACKET: usize = 0x1000;
/// The byte that asks a running target to stop.
const INTERRUPT: u8 = 3;
/// Bytes of all registers.
const REGISTER_BYTES: usize = 26;

/// The way to gdb.
pub trait Client: Read + Write {
    /// Whether gdb asks a running board to stop; does not wait.
    fn interrupts(&mut self) -> bool;
}

/// How a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// gdb has gone, and may come back.
    Detached,
    /// gdb wants no more of the board.
    Killed,
}

/// Serves gdb until it goes.
///
/// # Errors
/// The line to it fails.
pub fn serve(debugger: &mut Debugger, client: &mut dyn Client) -> io::Result<Ended> {
    let mut session = Session { debugger, client, acknowledges: true };
    while let Some(packet) = session.receive()? {
        match packet.as_slice() {
            b"k" => return Ok(Ended::Killed),
            b"D" => {
                session.send("OK")?;
                return Ok(Ended::Detached);
            }
            packet => {
                let reply = session.answer(packet);
                session.send(&reply)?;
                // What gdb sent before it saw our answer is still acknowledged.
                session.acknowledges &= packet != b"QStartNoAckMode";
            }
        }
    }
    Ok(Ended::Detached)
}

struct Session<'a> {
    debugger: &'a mut Debugger,
    client: &'a mut dyn Client,
    acknowledges: bool,
}

impl Session<'_> {
    /// The next packet whose check is right; `None` when gdb has hung up.
    fn receive(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            let Some(byte) = self.byte()? else { return Ok(None) };
            if byte != b'$' {
                continue;
            }
            let (mut packet, mut sum) = (Vec::new(), 0u8);
            loop {
                match self.byte()? {
                    None => return Ok(None),
                    Some(b'#') => break,
                    Some(byte) if packet.len() < MAX_PACKET => {
                        packet.push(byte);
                        sum = sum.wrapping_add(byte);
                    }
                    Some(_) => {}
                }
            }
            let (Some(high), Some(low)) = (self.byte()?, self.byte()?) else { return Ok(None) };
            let good = hex(&[high, low]) == Some(u64::from(sum));
            if self.acknowledges {
                self.client.write_all(if good { b"+" } else { b"-" })?;
            }
            if good {
                return Ok(Some(packet));
            }
        }
    }

    fn byte(&mut self) -> io::Result<Option<u8>> {
        let mut byte = [0];
        Ok((self.client.read(&mut byte)? == 1).then_some(byte[0]))
    }

    fn send(&mut self, text: &str) -> io::Result<()> {
        let sum = text.bytes().fold(0u8, u8::wrapping_add);
        self.client.write_all(format!("${text}#{sum:02x}").as_bytes())?;
        self.client.flush()
    }

    /// The answer to a packet; an empty one says that we do not know it.
    fn answer(&mut self, packet: &[u8]) -> String {
        let text = String::from_utf8_lossy(packet);
        let rest = text.get(1..).unwrap_or_default();
        match packet.first() {
            Some(b'?') => "S05".to_owned(),
            Some(b'g') => registers_text(&self.debugger.registers()),
            Some(b'G') => self.set_registers(rest),
            Some(b'p') => self.register(rest),
            Some(b'P') => self.set_register(rest),
            Some(b'm') => self.read_memory(rest),
            Some(b'M') => self.write_memory(rest),
            Some(b'Z') => self.stop(rest, true),
            Some(b'z') => self.stop(rest, false),
            Some(b'H' | b'T') => "OK".to_owned(),
            Some(b'c' | b's' | b'b') => self.run(&text),
            Some(b'q' | b'Q') => query(&text),
            _ => String::new(),
        }
    }

    fn run(&mut self, text: &str) -> String {
        let Self { debugger, client, .. } = self;
        let halt = match text {
            "c" => debugger.go(|| client.interrupts()),
            "s" => debugger.step(),
            "bs" => debugger.step_back(),
            "bc" => debugger.go_back(),
            _ => return String::new(),
        };
        match halt {
            Halt::Watchpoint(_, access) => {
                let kind = match access.kind {
                    AccessKind::Write | AccessKind::Out => "watch",
                    AccessKind::Read | AccessKind::In => "rwatch",
                };
                format!("T05{kind}:{:04x};", access.address)
            }
            Halt::Start => "T05replaylog:begin;".to_owned(),
            Halt::Paused => "S02".to_owned(),
            Halt::Step | Halt::Breakpoint | Halt::Idle => "S05".to_owned(),
        }
    }

    fn set_registers(&mut self, text: &str) -> String {
        let Some(bytes) = bytes(text).filter(|bytes| bytes.len() == REGISTER_BYTES) else {
            return error();
        };
        let mut registers = self.debugger.registers();
        for (number, value) in bytes.chunks(2).enumerate() {
            put(&mut registers, number, u16::from_le_bytes([value[0], value[1]]));
        }
        self.debugger.set_registers(&registers);
        "OK".to_owned()
    }

    fn register(&mut self, text: &str) -> String {
        let number = hex(text.as_bytes()).unwrap_or(u64::MAX) as usize;
        let all = registers_text(&self.debugger.registers());
        all.get(number.saturating_mul(4)..)
            .and_then(|rest| rest.get(..4))
            .map_or_else(error, str::to_owned)
    }

    fn set_register(&mut self, text: &str) -> String {
        let parts = text.split_once('=');
        let number = parts.and_then(|(number, _)| hex(number.as_bytes()));
        let value = parts.and_then(|(_, value)| bytes(value)).filter(|value| value.len() == 2);
        let (Some(number @ 0..=12), Some(value)) = (number, value) else { return error() };
        let mut registers = self.debugger.registers();
        put(&mut registers, number as usize, u16::from_le_bytes([value[0], value[1]]));
        self.debugger.set_registers(&registers);
        "OK".to_owned()
    }

    fn read_memory(&mut self, text: &str) -> String {
        let Some((address, count)) = stretch(text) else { return error() };
        let count = count.min(MAX_PACKET / 2);
        self.debugger.dump(address, count).iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn write_memory(&mut self, text: &str) -> String {
        let parts =
            text.split_once(':').and_then(|(place, data)| Some((stretch(place)?, bytes(data)?)));
        match parts {
            Some(((address, count), data)) if count == data.len() => {
                self.debugger.poke(address, &data);
                "OK".to_owned()
            }
            _ => error(),
        }
    }

    /// `Z` and `z`: breakpoints (0, 1) and watchpoints on writes, reads and both (2, 3, 4).
    fn stop(&mut self, text: &str, set: bool) -> String {
        let Some((kind, place)) = text.split_once(',') else { return error() };
        let Some((address, count)) = stretch(place) else { return error() };
        let stops = &mut self.debugger.stops;
        match kind {
            "0" | "1" => {
                stops.remove_breaks_at(address);
                if set {
                    stops.add_break(address, None);
                }
            }
            "2" | "3" | "4" => {
                let (reads, writes) = (kind != "2", kind != "3");
                let count = count.clamp(1, 0xFFFF) as u16;
                let watch = Watch { is_port: false, first: address, count, reads, writes };
                stops.remove_watches_like(&watch);
                if set {
                    stops.add_watch(watch);
                }
            }
            _ => return String::new(),
        }
        "OK".to_owned()
    }
}

fn query(text: &str) -> String {
    match text.split([':', ';']).next() {
        Some("qSupported") => {
            format!("PacketSize={MAX_PACKET:x};ReverseStep+;ReverseContinue+;QStartNoAckMode+")
        }
        Some("QStartNoAckMode") => "OK".to_owned(),
        Some("qAttached") => "1".to_owned(),
        Some("qC") => "QC1".to_owned(),
        Some("qfThreadInfo") => "m1".to_owned(),
        Some("qsThreadInfo") => "l".to_owned(),
        _ => String::new(),
    }
}

fn error() -> String {
    "E01".to_owned()
}

/// All registers in gdb's order, each low byte first.
fn registers_text(registers: &Registers) -> String {
    let pairs = names::PAIRS.map(|name| names::register(registers, name).unwrap_or(0));
    let ir = u16::from(registers.i) << 8 | u16::from(registers.r);
    let all = pairs.into_iter().chain([ir]);
    all.map(|value| format!("{:02x}{:02x}", value & 0xFF, value >> 8)).collect()
}

/// Sets a register by its number in gdb's order.
fn put(registers: &mut Registers, number: usize, value: u16) {
    match names::PAIRS.get(number) {
        Some(name) => {
            names::set_register(registers, name, value);
        }
        None => [registers.i, registers.r] = value.to_be_bytes(),
    }
}

/// `ADDRESS,LENGTH`, in hexadecimal digits; what follows a second comma or a semicolon is passed over.
fn stretch(text: &str) -> Option<(u16, usize)> {
    let mut parts = text.split([',', ';']);
    let address = hex(parts.next()?.as_bytes())? as u16;
    Some((address, hex(parts.next()?.as_bytes())? as usize))
}

fn hex(digits: &[u8]) -> Option<u64> {
    u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

fn bytes(digits: &str) -> Option<Vec<u8>> {
    let pairs = digits.as_bytes().chunks(2);
    pairs
        .map(|pair| (pair.len() == 2).then(|| hex(pair).map(|byte| byte as u8)).flatten())
        .collect()
}

impl Client for std::net::TcpStream {
    fn interrupts(&mut self) -> bool {
        let mut byte = [0];
        let look = self.set_nonblocking(true).and_then(|()| self.peek(&mut byte));
        let _ = self.set_nonblocking(false);
        match look {
            Ok(1) if byte[0] == INTERRUPT => self.read(&mut byte).is_ok(),
            // gdb has hung up.
            Ok(0) => true,
            _ => false,
        }
    }
}
