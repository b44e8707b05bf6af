//! What a target has received since its simulated twin last caught up.

use board_simulator::Registers;

/// An event on the target that the twin has not replayed yet.
pub(crate) enum TwinEvent {
    /// Bytes sent to the running program.
    Sent(Vec<u8>),
    /// The program was halted with these registers.
    Halted(Registers),
    /// The user set the registers.
    RegistersSet(Registers),
    /// The user wrote these bytes to memory.
    MemoryWritten(u16, Vec<u8>),
}

/// The events that the twin has not replayed yet.
#[derive(Default)]
pub(crate) struct Twin {
    pub(crate) events: Vec<TwinEvent>,
    /// The step at which the twin is in the target's state; `Some` while the twin is shown.
    pub(crate) present: Option<u64>,
}
