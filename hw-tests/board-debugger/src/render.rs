//! Views of a board for a person, as lines of text that every front end uses.

use board_simulator::AccessKind;
use sargon_corpus::encode;
use sargon_reference::Square;
use tdlasm::disasm::instruction;
use tdlasm::isa::decode;

use super::debugger::Debugger;
use super::exec::HaltReason;
use super::registers::{RegisterRole, flag_letters, register, xchng_register_roles};
use super::stops::{HitCondition, WatchTarget, WatchTrigger, Watchpoint};

/// Bytes of a section of the attackers array, and of both.
const SECTION: usize = 7;
pub(super) const ARRAY: u16 = 14;
/// Bytes of a row of memory.
pub(super) const ROW: u16 = 16;

/// One instruction as people are shown it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instruction {
    /// Its address.
    pub address: u16,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Its text, with labels for addresses.
    pub text: String,
}

/// The instruction at an address; a byte that is none is shown as `.BYTE`.
#[must_use]
pub fn instruction_at(debugger: &Debugger, address: u16) -> Instruction {
    let code = debugger.code();
    let mut bytes = debugger.dump(address, 4);
    let name = |value: u16| code.label(value).map(|label| label.name.clone());
    let (text, length) = match decode(&bytes) {
        Some(found) => (instruction(&found, address, name).replacen('\t', " ", 1), found.length),
        None => (format!(".BYTE {}", hex_byte(bytes[0])), 1),
    };
    bytes.truncate(length);
    Instruction { address, bytes, text }
}

/// A byte as source has it: with a zero before a letter.
fn hex_byte(byte: u8) -> String {
    let zero = if byte > 0x9F { "0" } else { "" };
    format!("{zero}{byte:02X}H")
}

/// A sentence about why the board stands still; empty after a step.
#[must_use]
pub fn describe(debugger: &Debugger, halt: HaltReason) -> String {
    let reason = reason(debugger, halt);
    match (debugger.is_twin(), reason.is_empty()) {
        (false, _) => reason,
        (true, true) => "on the twin".to_owned(),
        (true, false) => format!("on the twin: {reason}"),
    }
}

fn reason(debugger: &Debugger, halt: HaltReason) -> String {
    match halt {
        HaltReason::Step => String::new(),
        HaltReason::Breakpoint => "at a breakpoint".to_owned(),
        HaltReason::Watchpoint(hit) if hit.id == 0 => touched(debugger, hit.event),
        HaltReason::Watchpoint(hit) => {
            format!("watchpoint {}: {}", hit.id, touched(debugger, hit.event))
        }
        HaltReason::Idle => "the board waits for its host, and nothing is on the line".to_owned(),
        HaltReason::HistoryStart => "the known past begins here".to_owned(),
        HaltReason::Paused => {
            format!("stopped at {}", debugger.code().place_of(debugger.registers().pc))
        }
        HaltReason::TwinCaughtUp => {
            "the twin is where the board is held: this is the board again".to_owned()
        }
        HaltReason::TargetError => debugger.last_error().unwrap_or_default(),
    }
}

fn touched(debugger: &Debugger, event: WatchTrigger) -> String {
    let access = match event {
        WatchTrigger::Access(access) => access,
        WatchTrigger::Register { name, before, after } => {
            return format!("{name} changed, {before:04X}H to {after:04X}H");
        }
    };
    let label = debugger.code().label(access.address).map(|label| format!(" ({})", label.name));
    let memory = format!("{:04X}H{}", access.address, label.unwrap_or_default());
    let port = format!("port {:02X}H", access.address & 0xFF);
    let what = match access.kind {
        AccessKind::Read => format!("{memory} read"),
        AccessKind::Write => format!("{memory} written"),
        AccessKind::In => format!("{port} read"),
        AccessKind::Out => format!("{port} written"),
    };
    format!("{what}, value {:02X}H", access.value)
}

/// The registers of both sets, flags and pointers, in seven lines.
pub(super) fn registers(debugger: &Debugger) -> Vec<String> {
    let registers = debugger.registers();
    let value = |name: &str| register(&registers, name).unwrap_or(0);
    let row = |(left, right): (&str, &str)| {
        format!("{left:<3} {:04X}      {right:<3} {:04X}", value(left), value(right))
    };
    let sets = [("AF", "AF'"), ("BC", "BC'"), ("DE", "DE'"), ("HL", "HL'")];
    let pointers = [("IX", "IY"), ("SP", "PC")];
    let mut lines: Vec<String> = sets.into_iter().chain(pointers).map(row).collect();
    let second = flag_letters(registers.af_alt);
    lines.push(format!("F {}  F' {second}", flag_letters(registers.af)));
    lines
}

/// The registers by the article's names; empty outside of XCHNG.
pub(super) fn roles(debugger: &Debugger) -> Vec<String> {
    let row = |role: RegisterRole| {
        let value = match role.meaning {
            "residue" => format!("{:+}", role.value as u8 as i8),
            _ if role.value > 0xFF => format!("{:04X}H", role.value),
            _ => role.value.to_string(),
        };
        format!("{:<3} {:<21} {value}", role.register, role.meaning)
    };
    xchng_register_roles(&debugger.registers(), debugger.code()).into_iter().map(row).collect()
}

/// One side of the attackers array as pieces in the order of the sections: `3: N R Q`. Entries are
/// point values; a value of 3 is a knight in the knights' section and a bishop elsewhere.
#[must_use]
pub fn pieces(section: &[u8]) -> String {
    let Some((count, slots)) = section.split_first() else { return String::new() };
    let entries = slots.iter().enumerate();
    let letters: Vec<String> = entries
        .flat_map(|(slot, byte)| [byte & 0x0F, byte >> 4].map(|value| letter(slot, value)))
        .flatten()
        .collect();
    format!("{count}: {}", if letters.is_empty() { "-".to_owned() } else { letters.join(" ") })
}

fn letter(slot: usize, value: u8) -> Option<String> {
    const KNIGHTS: usize = 1;
    Some(match value {
        0 => return None,
        1 => "P".to_owned(),
        3 if slot == KNIGHTS => "N".to_owned(),
        3 => "B".to_owned(),
        5 => "R".to_owned(),
        9 => "Q".to_owned(),
        10 => "K".to_owned(),
        other => format!("({other})"),
    })
}

/// The attackers array, a line a side; empty if the program has none.
pub(super) fn array(debugger: &Debugger) -> Vec<String> {
    let Some(at) = debugger.code().symbol("ATKLST") else { return Vec::new() };
    let bytes = debugger.dump(at, usize::from(ARRAY));
    let (white, black) = bytes.split_at(SECTION);
    vec![format!("White  {}", pieces(white)), format!("Black  {}", pieces(black))]
}

/// The position that the evaluator has, White's pieces in capitals and the square under examination
/// in brackets; empty if the program has none.
#[must_use]
pub fn board_text(debugger: &Debugger) -> Vec<String> {
    let code = debugger.code();
    let Some(at) = code.symbol("BOARDA") else { return Vec::new() };
    let examined = code.symbol("M3").map(|at| debugger.peek(at)).and_then(encode::decode_square);
    let letter = |square: Square| {
        let byte = debugger.peek(at.wrapping_add(encode::square(square).into()));
        encode::decode_piece(byte).map_or('.', |piece| piece.letter())
    };
    let row = |rank: u8| {
        let squares = (0..8).filter_map(|file| Square::new(file, rank)).map(|square| {
            let letter = letter(square);
            if Some(square) == examined { format!("[{letter}]") } else { format!(" {letter} ") }
        });
        format!("{} {}", rank + 1, squares.collect::<String>())
    };
    let mut lines: Vec<String> = (0..8).rev().map(row).collect();
    lines.push("   a  b  c  d  e  f  g  h".to_owned());
    lines
}

/// Rows of memory, sixteen bytes a row, with the characters beside them.
pub(super) fn memory(debugger: &Debugger, first: u16, rows: usize) -> Vec<String> {
    let row = |row: usize| {
        let at = first.wrapping_add(ROW.wrapping_mul(row as u16));
        let bytes = debugger.dump(at, ROW.into());
        let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
        let is_shown = |byte: &u8| (b' '..0x7F).contains(byte);
        let character = |byte: &u8| if is_shown(byte) { char::from(*byte) } else { '.' };
        let text: String = bytes.iter().map(character).collect();
        format!("{at:04X}  {} {}  {text}", digits[..8].join(" "), digits[8..].join(" "))
    };
    (0..rows).map(row).collect()
}

/// Rows of instructions from an address on; `>` marks the next one, `*` those with a breakpoint.
pub(super) fn code(debugger: &Debugger, first: u16, rows: usize) -> Vec<String> {
    let pc = debugger.registers().pc;
    let mut at = first;
    let mut lines = Vec::new();
    for _ in 0..rows {
        let shown = instruction_at(debugger, at);
        let digits: String = shown.bytes.iter().map(|byte| format!("{byte:02X}")).collect();
        let stop = if debugger.stops.has_breakpoint(at) { '*' } else { ' ' };
        let mark = if at == pc { '>' } else { ' ' };
        let name = debugger.code().name_of(at);
        lines.push(format!("{mark}{stop}{at:04X}  {digits:<8}  {:<20}  {name}", shown.text));
        at = at.wrapping_add(shown.bytes.len() as u16);
    }
    lines
}

/// Lines of a source file from one on; `>` marks the one that is running, `*` those with a
/// breakpoint.
pub(super) fn source(debugger: &Debugger, file: &str, first: usize, rows: usize) -> Vec<String> {
    let code = debugger.code();
    let running = debugger.line().filter(|(name, _)| *name == file).map(|(_, line)| line as usize);
    let stops: Vec<usize> = (debugger.stops.breakpoints())
        .filter_map(|(_, one)| code.line_at(one.address))
        .filter(|line| &*line.place.file == file)
        .map(|line| line.place.line as usize)
        .collect();
    let text = code.text(file).iter().enumerate().skip(first.saturating_sub(1)).take(rows);
    let row = |(index, text): (usize, &String)| {
        let number = index + 1;
        let mark = if running == Some(number) { '>' } else { ' ' };
        let stop = if stops.contains(&number) { '*' } else { ' ' };
        format!("{mark}{stop}{number:4}  {}", visible(&expanded(text)))
    };
    text.map(row).collect()
}

/// A line with its tabs as blanks, to columns of eight.
fn expanded(text: &str) -> String {
    const TAB: usize = 8;
    let mut shown = String::new();
    let mut column = 0;
    for character in text.chars() {
        let blanks = if character == '\t' { TAB - column % TAB } else { 0 };
        shown.extend(std::iter::repeat_n(' ', blanks));
        if blanks == 0 {
            shown.push(character);
        }
        column += blanks.max(1);
    }
    shown
}

/// Text without what would move a cursor.
pub(super) fn visible(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '.' } else { c }).collect()
}

/// The open calls, the innermost first, each with where its caller stands.
pub(super) fn calls(debugger: &Debugger) -> Vec<String> {
    let code = debugger.code();
    let pc = debugger.registers().pc;
    let mut lines = vec![format!("at {}", code.place_of(pc))];
    for call in debugger.calls() {
        let how = match (call.is_service, call.was_seen) {
            (true, _) => "interrupted",
            (_, true) => "from",
            _ => "from (guessed)",
        };
        lines.push(format!("{how} {}", code.place_of(call.site)));
    }
    lines
}

/// Words of the stack from the stack pointer on, with the places that they may be return addresses
/// to.
#[cfg(feature = "view")]
pub(super) fn stack(debugger: &Debugger, rows: usize) -> Vec<String> {
    let sp = debugger.registers().sp;
    let row = |word: usize| {
        let at = sp.wrapping_add(2 * word as u16);
        let value = debugger.peek_word(at);
        let name = debugger.code().nearest(value).map(|_| debugger.code().name_of(value));
        format!("{at:04X}  {value:04X}  {}", name.unwrap_or_default())
    };
    (0..rows).map(row).collect()
}

/// The breakpoints and watchpoints with their numbers.
pub(super) fn stops(debugger: &Debugger) -> Vec<String> {
    let code = debugger.code();
    let breaks = debugger.stops.breakpoints().map(|(id, one)| {
        let condition = if one.condition.is_some() { ", on a condition" } else { "" };
        let hits = match one.hits {
            HitCondition::Every => String::new(),
            HitCondition::From(number) => format!(", from passage {number} on"),
            HitCondition::Only(number) => format!(", passage {number} alone"),
            HitCondition::EveryNth(number) => format!(", every {number} passages"),
        };
        let passages = one.hit_count;
        let place = code.place_of(one.address);
        format!("{id}: break at {place}{condition}{hits}; {passages} so far")
    });
    let watches =
        debugger.stops.watchpoints().map(|(id, watch)| format!("{id}: {}", watched(watch)));
    let lines: Vec<String> = breaks.chain(watches).collect();
    if lines.is_empty() { vec!["no breakpoints and watchpoints".to_owned()] } else { lines }
}

fn watched(watch: &Watchpoint) -> String {
    let access = match (watch.reads, watch.writes) {
        (true, true) => "reads and writes",
        (true, false) => "reads",
        _ => "writes",
    };
    match watch.what {
        WatchTarget::Memory => {
            format!("watch {} bytes at {:04X}H, {access}", watch.count, watch.first)
        }
        WatchTarget::Ports => {
            format!("watch {} ports at {:02X}H, {access}", watch.count, watch.first)
        }
        WatchTarget::Register(name) => format!("watch {name}"),
    }
}

/// Returns the board's output as lines of text without control characters.
pub(super) fn console(debugger: &Debugger) -> Vec<String> {
    let text: String = debugger.output().iter().map(|byte| char::from(byte & 0x7F)).collect();
    text.replace('\r', "").split('\n').map(visible).collect()
}

/// The T-states since a moment, and since power came on.
#[cfg(feature = "view")]
pub(super) fn time(debugger: &Debugger, began: u64) -> Vec<String> {
    let clock = debugger.clock();
    let since = i128::from(clock) - i128::from(began);
    vec![format!("{since:+} T-states"), format!("{clock} since power came on")]
}

/// The address some instructions after another.
#[cfg(feature = "view")]
pub(super) fn code_after(debugger: &Debugger, from: u16, count: usize) -> u16 {
    (0..count).fold(from, |at, _| at.wrapping_add(debugger.length(at)))
}

/// The address some instructions before another.
#[cfg(feature = "view")]
pub(super) fn code_before(debugger: &Debugger, from: u16, count: usize) -> u16 {
    (0..count).fold(from, |at, _| one_before(debugger, at))
}

/// The address of the instruction before one; `None` at the beginning of memory.
pub(super) fn instruction_before(debugger: &Debugger, at: u16) -> Option<u16> {
    Some(one_before(debugger, at)).filter(|before| *before < at)
}

/// The instruction before an address. Instructions can't be read backwards: where lines tell where
/// they begin, that counts, and else the longest one that ends at the address.
fn one_before(debugger: &Debugger, at: u16) -> u16 {
    const LONGEST: u16 = 4;
    let code = debugger.code();
    let before = code.line_at(at.wrapping_sub(1)).filter(|line| line.is_code);
    let known = before.and_then(|line| {
        let places = code.instructions(line).into_iter().map(|(place, _)| place);
        places.filter(|place| *place < at).max()
    });
    let fits = |length: &u16| debugger.length(at.wrapping_sub(*length)) == *length;
    known.unwrap_or_else(|| at.wrapping_sub((1..=LONGEST).rev().find(fits).unwrap_or(1)))
}
