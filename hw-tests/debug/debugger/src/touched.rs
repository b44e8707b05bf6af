//! The addresses of memory that a step has read and written.

use std::collections::HashSet;

use board_simulator::{AccessKind, BusAccess};

/// The longest instruction, whose bytes are read at PC.
const MAX_INSTRUCTION_BYTES: u16 = 4;

/// The addresses of data that a step has read and written.
#[derive(Debug, Clone, Default)]
pub(super) struct StepAddresses {
    pub(super) reads: HashSet<u16>,
    pub(super) writes: HashSet<u16>,
}

impl StepAddresses {
    /// Adds the accesses of the instruction at `pc`, without those that fetched it.
    pub(super) fn record(&mut self, accesses: &[BusAccess], pc: u16) {
        for access in accesses {
            let is_fetch = access.address.wrapping_sub(pc) < MAX_INSTRUCTION_BYTES;
            match access.kind {
                AccessKind::Read if !is_fetch => self.reads.insert(access.address),
                AccessKind::Write => self.writes.insert(access.address),
                _ => false,
            };
        }
    }
}
