//! What a client of the Debug Adapter Protocol is shown: frames, variables, sources, disassembly.

use serde_json::{Value, json};
use tdlasm::disasm::instruction;
use tdlasm::isa::decode;

use super::answers::Answer;
use crate::debug::condition::number;
use crate::debug::{Debugger, PAIRS, is_call, register, table_2};

/// References of the scopes.
const REGISTERS: u64 = 1;
const TABLE_2: u64 = 2;
const ARRAY: u64 = 3;
const BOARD: u64 = 4;
/// Words of the stack that are looked through for callers.
const STACK_WORDS: u16 = 24;
/// The bytes of a section of the attackers array.
const SECTION: [&str; 7] = ["count", "pawns", "knights", "bishops", "rooks", "queens", "kings"];

/// A value for people: decimal and hexadecimal.
pub(super) fn value(value: u16) -> String {
    if value > 0xFF { format!("{value:04X}H ({value})") } else { format!("{value:02X}H ({value})") }
}

/// An address as clients pass it back.
pub(super) fn reference(address: u16) -> String {
    format!("0x{address:04X}")
}

/// The running instruction's frame, and those of the callers that the stack shows.
pub(super) fn stack(debugger: &Debugger) -> Value {
    let registers = debugger.registers();
    let mut places = vec![registers.pc];
    for word in 0..STACK_WORDS {
        let at = registers.sp.wrapping_add(2 * word);
        let back = u16::from_le_bytes([debugger.peek(at), debugger.peek(at.wrapping_add(1))]);
        let call = back.wrapping_sub(3);
        let is_code = debugger.code().line_at(call).is_some_and(|line| line.is_code);
        if is_code && is_call(debugger.peek(call)) {
            places.push(call);
        }
    }
    let frames: Vec<Value> =
        (0u64..).zip(&places).map(|(id, at)| frame(debugger, id, *at)).collect();
    json!({ "stackFrames": frames, "totalFrames": frames.len() })
}

fn frame(debugger: &Debugger, id: u64, at: u16) -> Value {
    let code = debugger.code();
    let mut frame = json!({
        "id": id, "name": code.name_of(at), "line": 0, "column": 0, "instructionPointerReference": reference(at)
    });
    if let Some(line) = code.line_at(at) {
        frame["line"] = line.place.line.into();
        frame["column"] = 1.into();
        frame["source"] = source_of(debugger, &line.place.file);
    }
    frame
}

/// A source by name; the adapter has the text.
fn source_of(debugger: &Debugger, file: &str) -> Value {
    let number = debugger.code().files().iter().position(|one| *one == file);
    json!({ "name": file, "sourceReference": number.map_or(0, |number| number + 1) })
}

/// The name of the source that a client means.
pub(super) fn source_name(debugger: &Debugger, source: &Value) -> Option<String> {
    let number = source["sourceReference"].as_u64().and_then(|number| number.checked_sub(1));
    let files = debugger.code().files();
    let known = number.and_then(|number| files.get(number as usize)).map(|file| (*file).to_owned());
    known.or_else(|| source["path"].as_str().or(source["name"].as_str()).map(str::to_owned))
}

pub(super) fn source(debugger: &Debugger, arguments: &Value) -> Answer {
    let number = &arguments["sourceReference"];
    let wanted = if arguments["source"].is_object() {
        arguments["source"].clone()
    } else {
        json!({ "sourceReference": number })
    };
    let file = source_name(debugger, &wanted).ok_or("there is no such source")?;
    let text = debugger.code().text(&file);
    if text.is_empty() {
        Err(format!("the text of {file} is not to be had"))
    } else {
        Ok(json!({ "content": text.join("\n") }))
    }
}

pub(super) fn scopes() -> Value {
    let scope = |(name, reference): (&str, u64)| json!({ "name": name, "variablesReference": reference, "expensive": false });
    let scopes = [
        ("Registers", REGISTERS),
        ("Table 2", TABLE_2),
        ("Attackers array", ARRAY),
        ("Board", BOARD),
    ];
    json!({ "scopes": scopes.map(scope) })
}

pub(super) fn variables(debugger: &Debugger, scope: Option<u64>) -> Answer {
    let registers = debugger.registers();
    let variables = match scope {
        Some(REGISTERS) => {
            let singles =
                ["A", "F", "B", "C", "D", "E", "H", "L", "A'", "B'", "C'", "E'", "L'", "I", "R"];
            let named = |name: &str| variable(name, register(&registers, name).unwrap_or(0));
            PAIRS.iter().chain(&singles).map(|name| named(name)).collect()
        }
        Some(TABLE_2) => {
            let roles = table_2(&registers, debugger.code());
            roles
                .iter()
                .map(|role| {
                    let mut shown = variable(role.meaning, role.value);
                    shown["evaluateName"] = role.register.clone().into();
                    shown["type"] = role.register.clone().into();
                    shown
                })
                .collect()
        }
        Some(ARRAY) => array(debugger),
        Some(BOARD) => {
            let text = |name: &str, text: String| json!({ "name": name, "value": text, "variablesReference": 0 });
            vec![
                text("T-states", debugger.clock().to_string()),
                text("instructions since the start", debugger.turn().to_string()),
                text("at", debugger.code().name_of(registers.pc)),
            ]
        }
        _ => return Err("there is no such scope".to_owned()),
    };
    Ok(json!({ "variables": variables }))
}

fn variable(name: &str, number: u16) -> Value {
    let (value, reference) = (value(number), reference(number));
    json!({ "name": name, "value": value, "evaluateName": name, "memoryReference": reference, "variablesReference": 0 })
}

/// The attackers array, byte by byte.
fn array(debugger: &Debugger) -> Vec<Value> {
    let Some(at) = debugger.code().symbol("ATKLST") else { return Vec::new() };
    let names = ["White", "Black"]
        .into_iter()
        .flat_map(|side| SECTION.map(|name| format!("{side}: {name}")));
    names
        .zip(at..)
        .map(|(name, at)| {
            let mut shown = variable(&name, debugger.peek(at).into());
            shown["memoryReference"] = reference(at).into();
            shown["evaluateName"] = format!("[{at}]").into();
            shown
        })
        .collect()
}

/// Instructions around an address; before it as the line table has them.
pub(super) fn disassembly(debugger: &Debugger, arguments: &Value) -> Answer {
    let text = arguments["memoryReference"].as_str().unwrap_or_default();
    let code = debugger.code();
    let at = number(text)
        .or_else(|| code.symbol(text))
        .ok_or_else(|| format!("{text} is no address"))?;
    let at = at.wrapping_add(arguments["offset"].as_i64().unwrap_or(0) as u16);
    let skip = arguments["instructionOffset"].as_i64().unwrap_or(0).clamp(-1000, 1000);
    let count = arguments["instructionCount"].as_u64().unwrap_or(1).min(4000) as usize;
    let mut before: Vec<u16> = if skip < 0 { known_before(debugger, at) } else { Vec::new() };
    before = before.split_off(before.len().saturating_sub((-skip).max(0) as usize));
    // What no line tells of is shown as one byte each.
    let missing = ((-skip).max(0) as usize - before.len()) as u16;
    let first = before.first().copied().unwrap_or(at).wrapping_sub(missing);
    let mut places: Vec<u16> =
        (0..missing).map(|step| first.wrapping_add(step)).chain(before).collect();
    let mut next = at;
    while places.len() < count + skip.max(0) as usize {
        places.push(next);
        next = next.wrapping_add(debugger.length(next));
    }
    let shown = places.into_iter().skip(skip.max(0) as usize).take(count);
    Ok(json!({ "instructions": shown.map(|at| one_instruction(debugger, at)).collect::<Vec<_>>() }))
}

/// The instructions before an address that lines tell of, in ascending order.
fn known_before(debugger: &Debugger, at: u16) -> Vec<u16> {
    let code = debugger.code();
    let lines = code.lines().filter(|line| line.is_code && line.address < at);
    let mut known: Vec<u16> = lines
        .flat_map(|line| code.instructions(line))
        .map(|(place, _)| place)
        .filter(|place| *place < at)
        .collect();
    known.sort_unstable();
    known
}

fn one_instruction(debugger: &Debugger, at: u16) -> Value {
    let code = debugger.code();
    let bytes = debugger.dump(at, 4);
    let name = |value: u16| code.label(value).map(|label| label.name.clone());
    let (text, length) = match decode(&bytes) {
        Some(found) => (instruction(&found, at, name).replace('\t', " "), found.length),
        None => (format!(".BYTE 0{:02X}H", bytes[0]), 1),
    };
    let digits: Vec<String> = bytes[..length].iter().map(|byte| format!("{byte:02X}")).collect();
    let mut shown = json!({ "address": reference(at), "instruction": text, "instructionBytes": digits.join(" ") });
    if let Some(label) = code.label(at) {
        shown["symbol"] = label.name.clone().into();
    }
    if let Some(line) = code.line_at(at) {
        shown["line"] = line.place.line.into();
        shown["location"] = source_of(debugger, &line.place.file);
    }
    shown
}
