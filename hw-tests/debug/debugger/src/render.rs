//! Renders the debugger's state as lines of text, for all front ends.

use board_simulator::AccessKind;
use tdlasm::disasm::instruction;
use tdlasm::isa::decode;
use tdlasm::syntax::lex::hexadecimal;

use super::debugger::{Debugger, MAX_INSTRUCTION_BYTES};
use super::exec::HaltReason;
use super::stops::{StopKind, WatchTarget, WatchTrigger, Watchpoint};
use z80_core::{flag_letters, register_value};

/// Bytes in a row of a memory dump.
pub(super) const ROW: u16 = 16;

/// A disassembled instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DisassembledInstruction {
    /// The address of the first byte.
    pub address: u16,
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The source text, with labels for addresses.
    pub text: String,
}

/// Disassembles the instruction at an address; an invalid one becomes `.BYTE`.
pub fn disassemble_at(debugger: &Debugger, address: u16) -> DisassembledInstruction {
    let code = debugger.code();
    let mut bytes = debugger.dump(address, MAX_INSTRUCTION_BYTES.into());
    let name = |value: u16| code.label(value).map(|label| label.name.clone());
    let (text, length) = match decode(&bytes) {
        Some(found) => (instruction(&found, address, name).replacen('\t', " ", 1), found.length),
        None => (format!(".BYTE {}", source_number(bytes[0].into(), 2)), 1),
    };
    bytes.truncate(length);
    DisassembledInstruction { address, bytes, text }
}

/// Formats a number as in source, with a zero before a letter: no name is spelled like it.
pub(super) fn source_number(value: u16, digits: usize) -> String {
    hexadecimal(&format!("{value:0digits$X}"))
}

/// Describes why the board halted; empty after a completed command.
pub fn describe_halt(debugger: &Debugger, halt: HaltReason) -> String {
    let reason = reason(debugger, halt);
    match (debugger.is_twin(), reason.is_empty()) {
        (false, _) => reason,
        (true, true) => "on the twin".to_owned(),
        (true, false) => format!("on the twin: {reason}"),
    }
}

fn reason(debugger: &Debugger, halt: HaltReason) -> String {
    match halt {
        HaltReason::Completed => String::new(),
        HaltReason::Breakpoint => "at a breakpoint".to_owned(),
        HaltReason::Watchpoint(hit) if hit.id == 0 => describe_access(debugger, hit.trigger),
        HaltReason::Watchpoint(hit) => {
            format!("watchpoint {}: {}", hit.id, describe_access(debugger, hit.trigger))
        }
        HaltReason::Idle if !debugger.interrupt_state().0 => {
            "halted with interrupts off: only a reset wakes it".to_owned()
        }
        HaltReason::Idle => "idle: waiting for input".to_owned(),
        HaltReason::NeverChanged(address) => {
            format!("nothing changed {} in the recorded history", labelled(debugger, address))
        }
        HaltReason::HistoryStart => "start of the recorded history".to_owned(),
        HaltReason::Paused => {
            format!("stopped at {}", debugger.code().describe_address(debugger.registers().pc))
        }
        HaltReason::TwinCaughtUp => {
            "the twin has caught up with the board, which is shown again".to_owned()
        }
        HaltReason::TargetError => debugger.last_error().unwrap_or_default(),
    }
}

/// An address in hexadecimal, with its label if it has one.
fn labelled(debugger: &Debugger, address: u16) -> String {
    let label = debugger.code().label(address).map(|label| format!(" ({})", label.name));
    format!("{address:04X}H{}", label.unwrap_or_default())
}

fn describe_access(debugger: &Debugger, event: WatchTrigger) -> String {
    let access = match event {
        WatchTrigger::Access(access) => access,
        WatchTrigger::Register { name, before, after } => {
            return format!("{name} changed, {before:04X}H to {after:04X}H");
        }
    };
    let memory = labelled(debugger, access.address);
    let port = format!("port {:02X}H", access.address & 0xFF);
    let what = match access.kind {
        AccessKind::Read => format!("{memory} read"),
        AccessKind::Write => format!("{memory} written"),
        AccessKind::In => format!("{port} read"),
        AccessKind::Out => format!("{port} written"),
    };
    format!("{what}, value {:02X}H", access.value)
}

/// The registers of both sets, pointers, flags and interrupt state, in eight lines.
pub(super) fn registers(debugger: &Debugger) -> Vec<String> {
    let registers = debugger.registers();
    let value = |name: &str| register_value(&registers, name).unwrap_or(0);
    let row = |(left, right): (&str, &str)| {
        format!("{left:<3} {:04X}H     {right:<3} {:04X}H", value(left), value(right))
    };
    let sets = [("AF", "AF'"), ("BC", "BC'"), ("DE", "DE'"), ("HL", "HL'")];
    let pointers = [("IX", "IY"), ("SP", "PC")];
    let mut lines: Vec<String> = sets.into_iter().chain(pointers).map(row).collect();
    let second = flag_letters(registers.af_alt);
    lines.push(format!("F {}  F' {second}", flag_letters(registers.af)));
    let (enabled, mode) = debugger.interrupt_state();
    let state = if enabled { "EI" } else { "DI" };
    let mode = mode.map(|mode| format!("  IM {mode}")).unwrap_or_default();
    lines.push(format!("I {:02X}H  R {:02X}H  {state}{mode}", registers.i, registers.r));
    lines
}

/// A dump of memory, with the characters beside the bytes of each row.
pub(super) fn memory(debugger: &Debugger, first: u16, rows: usize, width: u16) -> Vec<String> {
    let row = |row: usize| {
        let at = first.wrapping_add(width.wrapping_mul(row as u16));
        let bytes = debugger.dump(at, width.into());
        let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
        let text = characters(&bytes);
        format!("{at:04X}H  {}  {text}", digits.join(" "))
    };
    (0..rows).map(row).collect()
}

/// Returns the characters of bytes, with dots for those that are not printable.
pub(super) fn characters(bytes: &[u8]) -> String {
    let is_shown = |byte: u8| (b' '..0x7F).contains(&byte);
    bytes.iter().map(|byte| if is_shown(*byte) { char::from(*byte) } else { '.' }).collect()
}

pub(super) fn code(debugger: &Debugger, first: u16, rows: usize) -> Vec<String> {
    let pc = debugger.registers().pc;
    let mut at = first;
    let mut lines = Vec::new();
    for _ in 0..rows {
        let shown = disassemble_at(debugger, at);
        let digits: String = shown.bytes.iter().map(|byte| format!("{byte:02X}")).collect();
        let stop = if debugger.stops.has_breakpoint(at) { '*' } else { ' ' };
        let mark = if at == pc { '>' } else { ' ' };
        let name = debugger.code().address_name(at);
        lines.push(format!("{mark}{stop}{at:04X}H  {digits:<8}  {:<20}  {name}", shown.text));
        at = at.wrapping_add(shown.bytes.len() as u16);
    }
    lines
}

/// Lines of a source file from `first` on; `>` marks the line at PC, `*` breakpoints.
pub(super) fn source(debugger: &Debugger, file: &str, first: usize, rows: usize) -> Vec<String> {
    let code = debugger.code();
    let running = debugger.line().filter(|(name, _)| *name == file).map(|(_, line)| line as usize);
    let stops: Vec<usize> = (debugger.stops.addresses())
        .filter_map(|address| code.line_at(address))
        .filter(|line| &*line.place.file == file)
        .map(|line| line.place.line as usize)
        .collect();
    let text = code.text(file).iter().enumerate().skip(first.saturating_sub(1)).take(rows);
    let row = |(index, text): (usize, &String)| {
        let number = index + 1;
        let mark = if running == Some(number) { '>' } else { ' ' };
        let stop = if stops.contains(&number) { '*' } else { ' ' };
        format!("{mark}{stop}{number:4}  {}", printable(&expand_tabs(text)))
    };
    text.map(row).collect()
}

/// Replaces tabs by spaces, with a tab stop every eight columns.
fn expand_tabs(text: &str) -> String {
    const TAB: usize = 8;
    let mut parts = text.split('\t');
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        shown += &" ".repeat(TAB - shown.chars().count() % TAB);
        shown += part;
    }
    shown
}

/// Replaces control characters, which could move the cursor, by dots.
pub(super) fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '.' } else { c }).collect()
}

/// The open calls, innermost first, each with the location of the calling instruction.
pub(super) fn calls(debugger: &Debugger) -> Vec<String> {
    let code = debugger.code();
    let mut lines = vec![format!("at {}", code.describe_address(debugger.registers().pc))];
    for call in debugger.calls() {
        let how = match (call.is_service, call.was_seen) {
            (true, _) => "interrupted",
            (_, true) => "from",
            _ => "from (guessed)",
        };
        lines.push(format!("{how} {}", code.describe_address(call.site)));
    }
    lines
}

/// The breakpoints and watchpoints, with their numbers.
pub(super) fn stops(debugger: &Debugger) -> Vec<String> {
    let stops = debugger.stops.iter().map(|(id, stop)| {
        let count = debugger.hit_count(id);
        let kind = if stop.log.is_some() { "log" } else { "break" };
        let what = match &stop.kind {
            StopKind::Breakpoint(address) => {
                format!("{kind} at {}", debugger.code().describe_address(*address))
            }
            StopKind::Watchpoint(watch) => format!("watch {}", watched(debugger, watch)),
        };
        let text = format!("{what} {}", stop.written);
        format!("{id}: {}; {count} hits so far", text.trim_end())
    });
    let displays = debugger.stops.displays().map(|(id, text)| format!("{id}: display {text}"));
    let lines: Vec<String> = stops.chain(displays).collect();
    if lines.is_empty() { vec!["no breakpoints and watchpoints".to_owned()] } else { lines }
}

/// Describes what a watchpoint watches: address or register, width and kind of access.
pub(super) fn watched(debugger: &Debugger, watch: &Watchpoint) -> String {
    let access = match (watch.reads, watch.writes) {
        (true, true) => "reads and writes",
        (true, false) => "reads",
        _ => "writes",
    };
    let Watchpoint { first, count, .. } = watch;
    let plural = if *count == 1 { "" } else { "s" };
    match watch.target {
        WatchTarget::Memory => {
            format!("{access} of {count} byte{plural} at {}", labelled(debugger, *first))
        }
        WatchTarget::Ports => format!("{access} of {count} port{plural} at {first:02X}H"),
        WatchTarget::Register(name) => format!("changes of {name}"),
    }
}

/// Returns the board's output as lines of text without control characters.
pub(super) fn console(debugger: &Debugger) -> Vec<String> {
    let text: String = debugger.output().iter().map(|byte| char::from(byte & 0x7F)).collect();
    text.replace('\r', "").split('\n').map(printable).collect()
}

/// The instruction before an address. Z80 code can't be decoded backwards: the line table decides
/// where it covers the address, otherwise the longest instruction that ends there.
pub(super) fn previous_instruction(debugger: &Debugger, at: u16) -> u16 {
    let code = debugger.code();
    let before = code.line_at(at.wrapping_sub(1)).filter(|line| line.is_code);
    let known = before.and_then(|line| {
        let places = code.instructions(line).into_iter().map(|(place, _)| place);
        places.filter(|place| *place < at).max()
    });
    let fits = |length: &u16| debugger.instruction_length(at.wrapping_sub(*length)) == *length;
    known.unwrap_or_else(|| {
        at.wrapping_sub((1..=MAX_INSTRUCTION_BYTES).rev().find(fits).unwrap_or(1))
    })
}
