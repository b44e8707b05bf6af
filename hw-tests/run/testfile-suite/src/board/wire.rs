//! Calls and their results as the caller's requests and replies.

use board_simulator::ViolationKind;
use board_simulator::routines::{Call, CallEnd, Outcome};
use firmware_wire as wire;
use firmware_wire::{
    CALL_STACK_BYTES, CallRead, CallResult, CallStatus, MemoryResult, RegisterPair, RegisterSet,
    RegisterValues,
};
use z80_core::{REGISTER_HALVES, set_register};

use super::mocks::TABLE;
use crate::machine::ArgumentSweep;
use crate::registers::value;

/// The names of [`RegisterPair::ALL`].
const PAIRS: [&str; 10] = ["AF", "BC", "DE", "HL", "IX", "IY", "AF'", "BC'", "DE'", "HL'"];
/// Bytes of a routine's stack that interrupts use.
const INTERRUPT_BYTES: u16 = 16;

/// Returns the request for a call whose mocks have these tables.
pub(super) fn request(
    call: &Call,
    writes: Vec<(u16, Vec<u8>)>,
    tables: (u16, usize),
) -> wire::Call {
    let registers = values(call);
    // The lengths are those of blocks in 64 KiB.
    let read = |(address, length): &(u16, usize)| CallRead {
        address: *address,
        length: *length as u16,
        as_crc: false,
    };
    let reads =
        call.read.iter().chain([&tables]).filter(|(_, length)| *length > 0).map(read).collect();
    let wanted = RegisterSet::ALL;
    wire::Call { entry: call.address, registers, writes, wanted, reads }
}

/// Returns the request to count through arguments.
pub(super) fn count_request(first: &Call, count: &ArgumentSweep) -> wire::CountRequest {
    let numbers = |names: &[&'static str]| names.iter().filter_map(|name| number(name)).collect();
    let values_before = count.counted.iter().rev().map(|name| value(&first.registers, name));
    wire::CountRequest {
        entry: first.address,
        registers: values(first),
        counted: numbers(&count.counted),
        first: values_before.fold(0, |value, byte| value << 8 | u32::from(byte)),
        calls: count.calls,
        flags: count.flags,
        results: numbers(&count.results),
        crc: 0,
    }
}

/// Returns the number of a register of eight bits in COUNT: F is 0, A 1, C 2, B 3.
pub(super) fn number(name: &str) -> Option<u8> {
    REGISTER_HALVES.iter().position(|half| *half == name).map(|index| index as u8 ^ 1)
}

fn values(call: &Call) -> RegisterValues {
    let mut values = RegisterValues::default();
    for (pair, name) in RegisterPair::ALL.into_iter().zip(PAIRS) {
        values.set(pair, value(&call.registers, name));
    }
    values
}

/// Returns the bytes of stack that a routine itself used at least.
pub(super) fn stack_used(status: CallStatus, bytes: u8) -> u16 {
    u16::from(bytes).saturating_sub(if status.is_interrupted() { INTERRUPT_BYTES } else { 0 })
}

/// Returns the outcome of a call that has returned.
pub(super) fn outcome(call: &Call, result: &CallResult) -> Outcome {
    let mut registers = call.registers;
    for (pair, name) in RegisterPair::ALL.into_iter().zip(PAIRS) {
        set_register(&mut registers, name, result.register(pair).unwrap_or_default());
    }
    let mut read = result.memory.iter().map(|memory| match memory {
        MemoryResult::Bytes(bytes) => bytes.clone(),
        MemoryResult::Crc(_) => Vec::new(),
    });
    let memory = call.read.iter().map(|(_, length)| match length {
        0 => Vec::new(),
        _ => read.next().unwrap_or_default(),
    });
    let memory = memory.collect();
    let counts = read.next().unwrap_or_default();
    let count = |table: &[u8]| u16::from_le_bytes([table[0], table[1]]).into();
    Outcome {
        registers,
        memory,
        mock_calls: counts.chunks_exact(TABLE).map(count).collect(),
        stack: (!result.status.is_interrupted()).then_some(result.stack_used.into()),
        violations: violations(call, result),
        ..Outcome::unfinished(call, CallEnd::Returned)
    }
}

fn violations(call: &Call, result: &CallResult) -> Vec<(ViolationKind, Option<u16>)> {
    let has = |bit| result.status.0 & bit != 0;
    let exhausted = if stack_used(result.status, result.stack_used) > call.stack_size {
        Some(call.stack_size)
    } else {
        has(CallStatus::STACK_OVERFLOW).then_some(CALL_STACK_BYTES.into())
    };
    let found = [
        exhausted.map(|size| ViolationKind::StackOverflow { size, sp: None }),
        has(CallStatus::STACK_POINTER).then_some(ViolationKind::StackChanged),
        has(CallStatus::INTERRUPTS_OFF).then_some(ViolationKind::InterruptsOff),
        has(CallStatus::BYTES_LOST).then_some(ViolationKind::BytesLost),
    ];
    found.into_iter().flatten().map(|kind| (kind, None)).collect()
}

#[cfg(test)]
mod tests {
    use z80_core::Registers;

    use super::*;

    fn call() -> Call {
        let registers = Registers { af: 0x1122, hl_alt: 0x3344, ..Registers::default() };
        let read = vec![(0x9000, 2), (0x9100, 0), (0x9200, 1)];
        Call { address: 0x8123, registers, read, stack_size: 20, ..Call::default() }
    }

    fn result(status: u8, stack_used: u8) -> CallResult {
        let registers = RegisterValues::default().with(RegisterPair::Ix, 0x5566);
        let memory = vec![MemoryResult::Bytes(vec![1, 2]), MemoryResult::Bytes(vec![3])];
        CallResult { status: CallStatus(status), stack_used, registers, memory }
    }

    #[test]
    fn a_request_has_all_registers_and_reads_only_what_has_bytes() {
        let request = request(&call(), vec![(0x9000, vec![7])], (0, 0));
        assert_eq!((request.entry, &request.writes[..]), (0x8123, &[(0x9000, vec![7])][..]));
        assert_eq!(request.wanted, RegisterSet::ALL);
        assert_eq!(request.registers.pairs(), RegisterSet::ALL);
        let value = |pair| request.registers.get(pair);
        assert_eq!(
            [RegisterPair::Af, RegisterPair::HlAlt].map(value),
            [Some(0x1122), Some(0x3344)]
        );
        let reads: Vec<_> = request.reads.iter().map(|read| (read.address, read.length)).collect();
        assert_eq!(reads, [(0x9000, 2), (0x9200, 1)]);
        assert!(request.reads.iter().all(|read| !read.as_crc));
    }

    #[test]
    fn an_outcome_has_registers_memory_and_the_stack_if_it_is_exact() {
        let exact = outcome(&call(), &result(0, 7));
        assert_eq!(
            (exact.end, exact.registers.ix, exact.stack),
            (CallEnd::Returned, 0x5566, Some(7))
        );
        assert_eq!(exact.memory, [vec![1, 2], vec![], vec![3]]);
        assert_eq!(exact.violations, []);
        assert_eq!(outcome(&call(), &result(CallStatus::INTERRUPTED, 7)).stack, None);
    }

    #[test]
    fn bits_of_the_status_and_the_stack_used_are_violations() {
        use ViolationKind as Kind;
        let found = |status, used| {
            let all = outcome(&call(), &result(status, used)).violations;
            all.into_iter().map(|(kind, _)| kind).collect::<Vec<_>>()
        };
        assert_eq!(found(0x01, 0), [Kind::StackChanged]);
        assert_eq!(found(0x02, 0), [Kind::InterruptsOff]);
        assert_eq!(found(0x04, 0), [Kind::StackOverflow { size: 248, sp: None }]);
        assert_eq!(found(0x08, 0), [Kind::BytesLost]);
        assert_eq!(found(0, 20), []);
        assert_eq!(found(0, 21), [Kind::StackOverflow { size: 20, sp: None }]);
        // Interrupts use up to 16 bytes of the routine's stack.
        assert_eq!(found(0x10, 36), []);
        assert_eq!(found(0x10, 37), [Kind::StackOverflow { size: 20, sp: None }]);
    }
}
