//! Handles requests for memory and disassembly.

use std::iter::{repeat, repeat_n, successors};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use super::response::{ResponseBody, memory_reference, source_of};
use super::types::Arguments;
use crate::render::{disassemble_at, previous_instruction};
use crate::{Debugger, location};

/// Maximum number of instructions in a response: memory has no more.
const MAX_INSTRUCTIONS: usize = 0x1_0000;

pub(super) fn read(debugger: &Debugger, arguments: &Arguments) -> ResponseBody {
    let at = address(debugger, arguments)?;
    let count = arguments.count.min(0x1_0000 - usize::from(at));
    let unreadable = arguments.count - count;
    Ok(json!({
        "address": memory_reference(at), "data": BASE64_STANDARD.encode(debugger.dump(at, count)),
        "unreadableBytes": (unreadable > 0).then_some(unreadable)
    }))
}

pub(super) fn write(debugger: &mut Debugger, arguments: &Arguments) -> ResponseBody {
    let at = address(debugger, arguments)?;
    let data = BASE64_STANDARD.decode(&arguments.data);
    let data = data.map_err(|error| format!("invalid base64 data: {error}"))?;
    if usize::from(at) + data.len() > 0x1_0000 {
        return Err(format!("{} bytes from {at:04X}H extend beyond FFFFH", data.len()));
    }
    debugger.can_modify()?;
    debugger.poke(at, &data);
    Ok(json!({ "bytesWritten": data.len() }))
}

fn address(debugger: &Debugger, arguments: &Arguments) -> Result<u16, String> {
    let base = location::resolve_address(debugger, &arguments.memory_reference)?;
    let at = i64::from(base).saturating_add(arguments.offset);
    u16::try_from(at).map_err(|_| format!("invalid address {at}: expected 0 to 0FFFFH"))
}

/// Disassembles the requested number of instructions around an address; pads where memory ends.
pub(super) fn disassembly(debugger: &Debugger, arguments: &Arguments) -> ResponseBody {
    let count = arguments.instruction_count;
    if count > MAX_INSTRUCTIONS {
        return Err(format!("too many instructions: {count}, maximum {MAX_INSTRUCTIONS}"));
    }
    let at = address(debugger, arguments)?;
    let distance =
        usize::try_from(arguments.instruction_offset.unsigned_abs()).unwrap_or(usize::MAX);
    let is_back = arguments.instruction_offset < 0;
    let (back, forward) = if is_back { (distance, 0) } else { (0, distance.min(MAX_INSTRUCTIONS)) };
    let before = |at: &u16| Some(previous_instruction(debugger, *at)).filter(|found| found < at);
    let before: Vec<u16> = successors(Some(at), before).skip(1).take(back).collect();
    let missing = repeat_n(None, back - before.len());
    let after = successors(Some(at), |at| at.checked_add(debugger.instruction_length(*at)));
    let known = before.into_iter().rev().chain(after).map(Some);
    let places = missing.chain(known).chain(repeat(None)).skip(forward).take(count);
    // VS Code skips instructions at address -1; the protocol does not define one.
    let filler = || json!({ "address": "-1", "instruction": "", "presentationHint": "invalid" });
    let one = |at: Option<u16>| at.map_or_else(filler, |at| instruction(debugger, at));
    Ok(json!({ "instructions": places.map(one).collect::<Vec<Value>>() }))
}

fn instruction(debugger: &Debugger, at: u16) -> Value {
    let code = debugger.code();
    let shown = disassemble_at(debugger, at);
    let digits: Vec<String> = shown.bytes.iter().map(|byte| format!("{byte:02X}")).collect();
    let line = code.line_at(at);
    json!({
        "address": memory_reference(at), "instructionBytes": digits.join(" "),
        "instruction": shown.text, "symbol": code.label(at).map(|label| &label.name),
        "location": line.map(|line| source_of(debugger, &line.place.file)),
        "line": line.map(|line| line.place.line)
    })
}
