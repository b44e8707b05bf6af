//! Calls and their results as the caller's requests and replies.

use std::collections::BTreeMap;

use firmware_wire as wire;
use firmware_wire::{
    CALL_STACK_BYTES, CallRead, CallResult, CallStatus, MemoryResult, RegisterPair, RegisterSet,
    RegisterValues,
};
use z80_core::Registers;

use crate::machine::{Call, CallEnd, Outcome, Violation};

/// Bytes of a routine's stack that interrupts use.
const INTERRUPT_BYTES: u16 = 16;

/// Returns the request for a call.
pub(super) fn request(call: &Call, writes: Vec<(u16, Vec<u8>)>) -> wire::Call {
    let mut values = RegisterValues::default();
    let mut registers = call.registers;
    for (pair, value) in pairs(&mut registers) {
        values.set(pair, *value);
    }
    // The lengths are those of blocks in 64 KiB.
    let read = |(address, length): &(u16, usize)| CallRead {
        address: *address,
        length: *length as u16,
        as_crc: false,
    };
    let reads = call.read.iter().filter(|(_, length)| *length > 0).map(read).collect();
    let wanted = RegisterSet::ALL;
    wire::Call { entry: call.address, registers: values, writes, wanted, reads }
}

/// Returns the outcome of a call that has returned.
pub(super) fn outcome(call: &Call, result: &CallResult) -> Outcome {
    let mut registers = call.registers;
    for (pair, value) in pairs(&mut registers) {
        *value = result.register(pair).unwrap_or_default();
    }
    let mut read = result.memory.iter().map(|memory| match memory {
        MemoryResult::Bytes(bytes) => bytes.clone(),
        MemoryResult::Crc(_) => Vec::new(),
    });
    let memory = call.read.iter().map(|(_, length)| match length {
        0 => Vec::new(),
        _ => read.next().unwrap_or_default(),
    });
    let is_interrupted = result.status.0 & CallStatus::INTERRUPTED != 0;
    Outcome {
        registers,
        memory: memory.collect(),
        stack: (!is_interrupted).then_some(result.stack_used.into()),
        violations: violations(call, result, is_interrupted),
        ..unfinished(call, CallEnd::Returned)
    }
}

/// Returns the outcome of a call without a result.
pub(super) fn unfinished(call: &Call, end: CallEnd) -> Outcome {
    Outcome {
        end,
        registers: call.registers,
        memory: Vec::new(),
        t_states: None,
        stack: None,
        violations: Vec::new(),
        outputs: BTreeMap::new(),
        mock_calls: Vec::new(),
        accepted: Vec::new(),
    }
}

fn violations(call: &Call, result: &CallResult, is_interrupted: bool) -> Vec<Violation> {
    let has = |bit| result.status.0 & bit != 0;
    let used = u16::from(result.stack_used);
    let least_used = if is_interrupted { used.saturating_sub(INTERRUPT_BYTES) } else { used };
    let exhausted = if least_used > call.stack_size {
        Some(call.stack_size)
    } else {
        has(CallStatus::STACK_OVERFLOW).then_some(CALL_STACK_BYTES.into())
    };
    let found = [
        exhausted.map(|size| Violation::StackExhausted { size }),
        has(CallStatus::STACK_POINTER).then_some(Violation::StackNotRestored),
        has(CallStatus::INTERRUPTS_OFF).then_some(Violation::InterruptsOff),
        has(CallStatus::BYTES_LOST).then_some(Violation::BytesLost),
    ];
    found.into_iter().flatten().collect()
}

/// Returns the register pairs of the wire.
fn pairs(registers: &mut Registers) -> [(RegisterPair, &mut u16); 10] {
    let Registers { af, bc, de, hl, ix, iy, af_alt, bc_alt, de_alt, hl_alt, .. } = registers;
    [
        (RegisterPair::Af, af),
        (RegisterPair::Bc, bc),
        (RegisterPair::De, de),
        (RegisterPair::Hl, hl),
        (RegisterPair::Ix, ix),
        (RegisterPair::Iy, iy),
        (RegisterPair::AfAlt, af_alt),
        (RegisterPair::BcAlt, bc_alt),
        (RegisterPair::DeAlt, de_alt),
        (RegisterPair::HlAlt, hl_alt),
    ]
}
