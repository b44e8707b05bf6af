//! gdb's remote serial protocol ("Debugging with GDB", appendix E), for a gdb with Z80 support.
//!
//! It has thirteen 16-bit registers and needs no target description. Breakpoints do not modify
//! memory.

mod connections;
mod packet;

use std::io;

use super::commands::{self, CommandOutcome};
use super::debugger::{Debugger, ShouldStop};
use super::exec::HaltReason;
use super::motions::{Motion, MotionKind};
use super::stops::{Breakpoint, WatchHit, WatchTarget, WatchTrigger, Watchpoint};
use board_simulator::{AccessKind, Registers};

pub use connections::{GdbConnection, GdbRefusal, accept_connections};
pub use packet::{GdbClient, GdbStream};

use packet::{Packet, decode_hex, encode_hex, parse_hex};

/// Maximum packet size, reported in the reply to `qSupported`.
const MAX_PACKET: usize = 0x1000;
const REGISTER_BYTES: usize = 26;

/// The end of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionEnd {
    /// gdb detached or disconnected, and may reconnect.
    Detached,
    /// gdb sent `k` (kill).
    Killed,
}

/// Serves gdb until it detaches, kills the session or disconnects.
///
/// # Errors
/// Returns the error of the line to gdb if it fails, or one of kind `InvalidData` for a byte that
/// begins no packet.
pub fn serve(debugger: &mut Debugger, client: &mut GdbClient<'_>) -> io::Result<SessionEnd> {
    let mut session = Session { debugger, client, acknowledges: true };
    while let Some(packet) = session.client.receive(session.acknowledges, MAX_PACKET)? {
        let packet = match packet {
            Packet::Complete(packet) => packet,
            // Reply with an error text, which gdb shows. Asking for retransmission would not help:
            // the packet is too long.
            Packet::TooLong(length) => {
                session
                    .send(&format!("E.packet too long: {length} bytes, maximum {MAX_PACKET}"))?;
                continue;
            }
        };
        match packet.as_slice() {
            b"k" => return Ok(SessionEnd::Killed),
            b"D" => {
                session.send("OK")?;
                return Ok(SessionEnd::Detached);
            }
            packet => {
                let reply = session.handle_packet(packet)?;
                session.send(&reply)?;
                // Acknowledges what gdb sent before it received this reply.
                session.acknowledges &= packet != b"QStartNoAckMode";
            }
        }
    }
    Ok(SessionEnd::Detached)
}

struct Session<'a, 's> {
    debugger: &'a mut Debugger,
    client: &'a mut GdbClient<'s>,
    acknowledges: bool,
}

impl Session<'_, '_> {
    fn send(&mut self, text: &str) -> io::Result<()> {
        self.client.send(text)
    }

    /// Returns the reply to a packet; an empty reply means "not supported".
    fn handle_packet(&mut self, packet: &[u8]) -> io::Result<String> {
        let text = String::from_utf8_lossy(packet);
        let rest = text.get(1..).unwrap_or_default();
        if matches!(packet.first(), Some(b'G' | b'P' | b'M'))
            && let Err(problem) = self.debugger.can_modify()
        {
            return Ok(error_reply(&problem));
        }
        Ok(match packet.first() {
            Some(b'?') => "S05".to_owned(),
            Some(b'g') => registers_text(&self.debugger.registers()),
            Some(b'G') => self.set_registers(rest),
            Some(b'p') => self.register(rest),
            Some(b'P') => self.set_register(rest),
            Some(b'm') => self.read_memory(rest),
            Some(b'M') => self.write_memory(rest),
            Some(b'Z') => self.change_stop_point(rest, true),
            Some(b'z') => self.change_stop_point(rest, false),
            Some(b'H' | b'T') => "OK".to_owned(),
            Some(b'c' | b's' | b'b') => return self.run(&text),
            Some(b'q' | b'Q') => match text.strip_prefix("qRcmd,") {
                Some(digits) => return self.monitor(digits),
                None => query_reply(&text),
            },
            _ => String::new(),
        })
    }

    fn run(&mut self, text: &str) -> io::Result<String> {
        let Some(command) = Motion::by_gdb(text).and_then(MotionKind::plain) else {
            return Ok(String::new());
        };
        let Self { debugger, client, .. } = self;
        let halt = commands::run(debugger, command, &mut |_| client.is_interrupted());
        let log = self.debugger.take_log();
        if !log.is_empty() {
            self.print(&log.join("\n"))?;
        }
        Ok(self.halt_text(halt))
    }

    fn halt_text(&self, halt: HaltReason) -> String {
        match halt {
            HaltReason::Watchpoint(hit) => self.watch_text(hit),
            HaltReason::HistoryStart => "T05replaylog:begin;".to_owned(),
            HaltReason::Paused => "S02".to_owned(),
            HaltReason::TwinCaughtUp => "T05replaylog:end;".to_owned(),
            HaltReason::Completed
            | HaltReason::Breakpoint
            | HaltReason::NeverChanged(_)
            | HaltReason::Idle
            | HaltReason::TargetError => "S05".to_owned(),
        }
    }

    /// Formats a watchpoint hit. gdb expects the kind of the watchpoint that it set, not of the
    /// access, and has no watchpoints on ports and registers, which `monitor watch` sets.
    fn watch_text(&self, hit: WatchHit) -> String {
        let watch = self.debugger.stops.watchpoints().find(|(id, _)| *id == hit.id);
        let both = watch.is_some_and(|(_, watch)| watch.reads && watch.writes);
        let WatchTrigger::Access(access) = hit.trigger else { return "S05".to_owned() };
        let kind = match access.kind {
            AccessKind::In | AccessKind::Out => return "S05".to_owned(),
            _ if both => "awatch",
            AccessKind::Write => "watch",
            AccessKind::Read => "rwatch",
        };
        format!("T05{kind}:{:04x};", access.address)
    }

    /// Executes `monitor COMMAND`, a debugger command; its output goes to gdb's console.
    fn monitor(&mut self, digits: &str) -> io::Result<String> {
        let Some(line) = decode_hex(digits) else { return Ok(error()) };
        let line = String::from_utf8_lossy(&line).into_owned();
        let Self { debugger, client, .. } = self;
        let should_stop: ShouldStop<'_> = &mut |_| client.is_interrupted();
        let output = match commands::execute(debugger, &line, should_stop) {
            Ok(CommandOutcome::Quit) => "`detach` or `kill` ends the session".to_owned(),
            Ok(outcome) => commands::outcome_text(debugger, &outcome),
            Err(message) => message,
        };
        self.print(&output)?;
        Ok("OK".to_owned())
    }

    /// Shows text on gdb's console.
    fn print(&mut self, text: &str) -> io::Result<()> {
        self.send(&format!("O{}", encode_hex(&format!("{text}\n"))))
    }

    fn set_registers(&mut self, text: &str) -> String {
        let Some(bytes) = decode_hex(text).filter(|bytes| bytes.len() == REGISTER_BYTES) else {
            return error();
        };
        let mut registers = self.debugger.registers();
        for (number, value) in bytes.chunks(2).enumerate() {
            set_register_by_number(
                &mut registers,
                number,
                u16::from_le_bytes([value[0], value[1]]),
            );
        }
        self.debugger.set_registers(&registers);
        "OK".to_owned()
    }

    fn register(&mut self, text: &str) -> String {
        let number = parse_hex(text.as_bytes()).unwrap_or(u64::MAX) as usize;
        let all = registers_text(&self.debugger.registers());
        all.get(number.saturating_mul(4)..)
            .and_then(|rest| rest.get(..4))
            .map_or_else(error, str::to_owned)
    }

    fn set_register(&mut self, text: &str) -> String {
        let parts = text.split_once('=');
        let number = parts.and_then(|(number, _)| parse_hex(number.as_bytes()));
        let value = parts.and_then(|(_, value)| decode_hex(value)).filter(|value| value.len() == 2);
        let (Some(number @ 0..=12), Some(value)) = (number, value) else { return error() };
        let mut registers = self.debugger.registers();
        set_register_by_number(
            &mut registers,
            number as usize,
            u16::from_le_bytes([value[0], value[1]]),
        );
        self.debugger.set_registers(&registers);
        "OK".to_owned()
    }

    /// Reads memory up to FFFFH; a shorter reply shows gdb where memory ends.
    fn read_memory(&mut self, text: &str) -> String {
        let Some((address, count)) = parse_address_range(text) else { return error() };
        let left = 0x1_0000 - usize::from(address);
        let count = count.min(MAX_PACKET / 2).min(left);
        self.debugger.dump(address, count).iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn write_memory(&mut self, text: &str) -> String {
        let parts = text
            .split_once(':')
            .and_then(|(place, data)| Some((parse_address_range(place)?, decode_hex(data)?)));
        match parts {
            Some(((address, count), data))
                if count == data.len() && usize::from(address) + count <= 0x1_0000 =>
            {
                self.debugger.poke(address, &data);
                "OK".to_owned()
            }
            _ => error(),
        }
    }

    /// Handles `Z` and `z`: breakpoints (0, 1) and watchpoints on writes, reads and both (2, 3, 4).
    fn change_stop_point(&mut self, text: &str, set: bool) -> String {
        let Some((kind, place)) = text.split_once(',') else { return error() };
        let Some((address, count)) = parse_address_range(place) else { return error() };
        let refusal = match kind {
            "0" | "1" => self.debugger.can_set_breakpoint(address),
            _ => self.debugger.can_set_watchpoint(),
        };
        if let (true, Err(problem)) = (set, refusal) {
            return error_reply(&problem);
        }
        let stops = &mut self.debugger.stops;
        match kind {
            "0" | "1" => {
                stops.remove_breakpoints_at(address);
                if set {
                    stops.add_breakpoint(Breakpoint::at(address));
                }
            }
            "2" | "3" | "4" => {
                let count = count.clamp(1, 0xFFFF) as u16;
                let what = WatchTarget::Memory;
                let writes = kind != "3";
                let watch =
                    Watchpoint { target: what, first: address, count, reads: kind != "2", writes };
                stops.remove_matching_watchpoints(&watch);
                if set {
                    stops.add_watchpoint(watch);
                }
            }
            _ => return String::new(),
        }
        "OK".to_owned()
    }
}

fn query_reply(text: &str) -> String {
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

/// An error reply with a text, which gdb shows.
fn error_reply(problem: &str) -> String {
    format!("E.{problem}")
}

fn error() -> String {
    "E01".to_owned()
}

fn registers_text(registers: &Registers) -> String {
    let pairs =
        z80_core::REGISTER_PAIRS.map(|name| z80_core::register_value(registers, name).unwrap_or(0));
    let ir = u16::from(registers.i) << 8 | u16::from(registers.r);
    let all = pairs.into_iter().chain([ir]);
    all.map(|value| format!("{:02x}{:02x}", value & 0xFF, value >> 8)).collect()
}

/// Sets a register by its number in gdb's order.
fn set_register_by_number(registers: &mut Registers, number: usize, value: u16) {
    match z80_core::REGISTER_PAIRS.get(number) {
        Some(name) => {
            z80_core::set_register(registers, name, value);
        }
        None => [registers.i, registers.r] = value.to_be_bytes(),
    }
}

fn parse_address_range(text: &str) -> Option<(u16, usize)> {
    let mut parts = text.split([',', ';']);
    let address = u16::try_from(parse_hex(parts.next()?.as_bytes())?).ok()?;
    Some((address, parse_hex(parts.next()?.as_bytes())? as usize))
}
