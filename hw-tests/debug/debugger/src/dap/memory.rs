//! Handles requests for memory and disassembly.

use std::iter::repeat_n;

use serde_json::json;

use super::base64;
use super::response::{ResponseBody, memory_reference, source_of, to_body};
use super::types::{DisassembleArguments, DisassembledInstruction, MemoryArguments};
use crate::render::{disassemble_at, instruction_before};
use crate::{Debugger, location};

/// Maximum number of instructions in a response: memory has no more.
const MAX_INSTRUCTIONS: usize = 0x1_0000;

pub(super) fn read(debugger: &Debugger, arguments: &MemoryArguments) -> ResponseBody {
    let at = address(debugger, arguments)?;
    let left = 0x1_0000 - usize::from(at);
    let count = arguments.count.min(left);
    let data = base64::encode(&debugger.dump(at, count));
    let unreadable = arguments.count - count;
    let address = memory_reference(at);
    if unreadable > 0 {
        return Ok(json!({ "address": address, "data": data, "unreadableBytes": unreadable }));
    }
    Ok(json!({ "address": address, "data": data }))
}

pub(super) fn write(debugger: &mut Debugger, arguments: &MemoryArguments) -> ResponseBody {
    let at = address(debugger, arguments)?;
    let data = base64::decode(&arguments.data).ok_or("invalid base64 data")?;
    if usize::from(at) + data.len() > 0x1_0000 {
        return Err(format!("{} bytes from {at:04X}H extend beyond FFFFH", data.len()));
    }
    debugger.can_modify()?;
    debugger.poke(at, &data);
    Ok(json!({ "bytesWritten": data.len() }))
}

fn address(debugger: &Debugger, arguments: &MemoryArguments) -> Result<u16, String> {
    moved(debugger, &arguments.memory_reference, arguments.offset)
}

fn moved(debugger: &Debugger, base: &str, offset: i64) -> Result<u16, String> {
    let base = location::resolve_address(debugger, base)?;
    let at = i64::from(base).saturating_add(offset);
    u16::try_from(at).map_err(|_| format!("invalid address {at}: expected 0 to 0FFFFH"))
}

/// Disassembles the requested number of instructions around an address; pads where memory ends.
pub(super) fn disassembly(debugger: &Debugger, arguments: &DisassembleArguments) -> ResponseBody {
    let count = arguments.instruction_count;
    if count > MAX_INSTRUCTIONS {
        return Err(format!("too many instructions: {count}, maximum {MAX_INSTRUCTIONS}"));
    }
    let at = moved(debugger, &arguments.memory_reference, arguments.offset)?;
    let distance =
        usize::try_from(arguments.instruction_offset.unsigned_abs()).unwrap_or(usize::MAX);
    let places: Vec<Option<u16>> = if arguments.instruction_offset < 0 {
        let mut before: Vec<u16> =
            successors(at, |at| instruction_before(debugger, *at)).skip(1).take(distance).collect();
        before.reverse();
        let missing = distance - before.len();
        let known = before.into_iter().chain(instructions(debugger, at)).map(Some);
        repeat_n(None, missing.min(count)).chain(known).take(count).collect()
    } else {
        instructions(debugger, at).skip(distance).map(Some).take(count).collect()
    };
    let mut all: Vec<_> = places.into_iter().map(|at| one_instruction(debugger, at)).collect();
    all.resize_with(count, DisassembledInstruction::filler);
    Ok(json!({ "instructions": to_body(&all)? }))
}

/// The addresses of the instructions from an address to the end of memory.
fn instructions(debugger: &Debugger, from: u16) -> impl Iterator<Item = u16> {
    successors(from, |at| at.checked_add(debugger.instruction_length(*at)))
}

fn successors(first: u16, next: impl FnMut(&u16) -> Option<u16>) -> impl Iterator<Item = u16> {
    std::iter::successors(Some(first), next)
}

fn one_instruction(debugger: &Debugger, at: Option<u16>) -> DisassembledInstruction {
    let Some(at) = at else { return DisassembledInstruction::filler() };
    let code = debugger.code();
    let shown = disassemble_at(debugger, at);
    let digits: Vec<String> = shown.bytes.iter().map(|byte| format!("{byte:02X}")).collect();
    let line = code.line_at(at);
    DisassembledInstruction {
        address: memory_reference(shown.address),
        instruction_bytes: digits.join(" "),
        instruction: shown.text,
        symbol: code.label(at).map(|label| label.name.clone()),
        location: line.map(|line| source_of(debugger, &line.place.file)),
        line: line.map(|line| line.place.line),
        presentation_hint: None,
    }
}
