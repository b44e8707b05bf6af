//! Memory and instructions.

use serde_json::json;

use super::answer::{Answer, body, reference, source_of};
use super::base64;
use super::types::{Disassemble, DisassembledInstruction, Memory};
use crate::show::{code_after, code_before, instruction_at};
use crate::{Debugger, place};

/// Most instructions of a reply.
const MOST_INSTRUCTIONS: usize = 4_000;
/// Most instructions to skip before the first one that is shown.
const MOST_SKIPPED: i64 = 0x1_0000;

/// Bytes of memory, up to FFFFH.
pub(super) fn read(debugger: &Debugger, wanted: &Memory) -> Answer {
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
pub(super) fn write(debugger: &mut Debugger, wanted: &Memory) -> Answer {
    let at = address(debugger, wanted)?;
    let data = base64::decode(&wanted.data).ok_or("the data is no base64")?;
    if usize::from(at) + data.len() > 0x1_0000 {
        return Err(format!("{} bytes from {at:04X}H on pass FFFFH", data.len()));
    }
    debugger.poke(at, &data);
    Ok(json!({ "bytesWritten": data.len() }))
}

fn address(debugger: &Debugger, wanted: &Memory) -> Result<u16, String> {
    let base = place::address(debugger, &wanted.memory_reference)?;
    let at = i64::from(base).saturating_add(wanted.offset);
    u16::try_from(at).map_err(|_| format!("{at} is no address; they go from 0 to 0FFFFH"))
}

/// As many instructions as are asked for, around an address.
pub(super) fn disassembly(debugger: &Debugger, wanted: &Disassemble) -> Answer {
    let base = place::address(debugger, &wanted.memory_reference)?;
    let at = base.wrapping_add(wanted.offset as u16);
    let skipped = wanted.instruction_offset.clamp(-MOST_SKIPPED, MOST_SKIPPED);
    let distance = skipped.unsigned_abs() as usize;
    let mut next = if skipped < 0 {
        code_before(debugger, at, distance)
    } else {
        code_after(debugger, at, distance)
    };
    let mut all = Vec::new();
    for _ in 0..wanted.instruction_count.min(MOST_INSTRUCTIONS) {
        let one = one_instruction(debugger, next);
        next = next.wrapping_add(debugger.length(next));
        all.push(one);
    }
    Ok(json!({ "instructions": body(&all)? }))
}

fn one_instruction(debugger: &Debugger, at: u16) -> DisassembledInstruction {
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
    }
}
