//! Memory and instructions.

use std::iter::repeat_n;

use serde_json::json;

use super::base64;
use super::queries::{ResponseBody, body, reference, source_of};
use super::types::{Disassemble, DisassembledInstruction, Memory};
use crate::render::{instruction_at, instruction_before};
use crate::{Debugger, location};

/// Most instructions of a reply: memory has no more.
const MOST_INSTRUCTIONS: usize = 0x1_0000;

/// Bytes of memory, up to FFFFH.
pub(super) fn read(debugger: &Debugger, wanted: &Memory) -> ResponseBody {
    let at = address(debugger, wanted)?;
    let left = 0x1_0000 - usize::from(at);
    let count = wanted.count.min(left);
    let data = base64::encode(&debugger.dump(at, count));
    let unreadable = wanted.count - count;
    let address = reference(at);
    if unreadable > 0 {
        return Ok(json!({ "address": address, "data": data, "unreadableBytes": unreadable }));
    }
    Ok(json!({ "address": address, "data": data }))
}

/// Changes memory.
pub(super) fn write(debugger: &mut Debugger, wanted: &Memory) -> ResponseBody {
    let at = address(debugger, wanted)?;
    let data = base64::decode(&wanted.data).ok_or("the data is no base64")?;
    if usize::from(at) + data.len() > 0x1_0000 {
        return Err(format!("{} bytes from {at:04X}H on pass FFFFH", data.len()));
    }
    debugger.can_modify()?;
    debugger.poke(at, &data);
    Ok(json!({ "bytesWritten": data.len() }))
}

fn address(debugger: &Debugger, wanted: &Memory) -> Result<u16, String> {
    moved(debugger, &wanted.memory_reference, wanted.offset)
}

/// The address that lies so many bytes after another.
fn moved(debugger: &Debugger, base: &str, offset: i64) -> Result<u16, String> {
    let base = location::address(debugger, base)?;
    let at = i64::from(base).saturating_add(offset);
    u16::try_from(at).map_err(|_| format!("{at} is no address; they go from 0 to 0FFFFH"))
}

/// As many instructions as are asked for, around an address; filler where memory ends.
pub(super) fn disassembly(debugger: &Debugger, wanted: &Disassemble) -> ResponseBody {
    let count = wanted.instruction_count;
    if count > MOST_INSTRUCTIONS {
        return Err(format!("{count} instructions are more than memory holds"));
    }
    let at = moved(debugger, &wanted.memory_reference, wanted.offset)?;
    let distance = usize::try_from(wanted.instruction_offset.unsigned_abs()).unwrap_or(usize::MAX);
    let places: Vec<Option<u16>> = if wanted.instruction_offset < 0 {
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
    Ok(json!({ "instructions": body(&all)? }))
}

/// The addresses of the instructions from one on, to the end of memory.
fn instructions(debugger: &Debugger, from: u16) -> impl Iterator<Item = u16> {
    successors(from, |at| at.checked_add(debugger.length(*at)))
}

fn successors(first: u16, next: impl FnMut(&u16) -> Option<u16>) -> impl Iterator<Item = u16> {
    std::iter::successors(Some(first), next)
}

fn one_instruction(debugger: &Debugger, at: Option<u16>) -> DisassembledInstruction {
    let Some(at) = at else { return DisassembledInstruction::filler() };
    let code = debugger.code();
    let shown = instruction_at(debugger, at);
    let digits: Vec<String> = shown.bytes.iter().map(|byte| format!("{byte:02X}")).collect();
    let line = code.line_at(at);
    DisassembledInstruction {
        address: reference(shown.address),
        instruction_bytes: digits.join(" "),
        instruction: shown.text,
        symbol: code.label(at).map(|label| label.name.clone()),
        location: line.map(|line| source_of(debugger, &line.place.file)),
        line: line.map(|line| line.place.line),
        presentation_hint: None,
    }
}
