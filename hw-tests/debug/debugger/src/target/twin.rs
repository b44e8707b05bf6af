//! What a target has received since its simulated twin last caught up.

use std::collections::VecDeque;

use board_simulator::Registers;

pub(crate) enum TwinEvent {
    /// Bytes sent to the running program.
    Sent(Vec<u8>),
    /// The program was halted with these registers.
    Halted(Registers),
    RegistersSet(Registers),
    /// The user wrote these bytes to memory.
    MemoryWritten(u16, Vec<u8>),
}

#[derive(Default)]
pub(crate) struct Twin {
    pub(crate) events: VecDeque<TwinEvent>,
    /// The step at which the twin is in the target's state; `Some` while the twin is shown.
    pub(crate) present: Option<u64>,
}
