//! Memory, ports and devices, as the processor reaches them.

/// Memory, ports and devices around the processor. Reading takes `&self`: a device whose state
/// changes when read keeps that state in a cell.
pub trait Bus {
    /// A byte of memory.
    fn read(&self, address: u16) -> u8;
    /// Stores a byte.
    fn write(&mut self, address: u16, value: u8);
    /// Reads a port; the high byte is what the Z80 puts on A8-A15.
    fn input(&self, port: u16) -> u8;
    /// Writes a port.
    fn output(&mut self, port: u16, value: u8);
    /// Called for an instruction that may change what the devices do next.
    fn on_event(&mut self, _event: CpuEvent) {}
}

/// An instruction that devices outside of the processor depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CpuEvent {
    /// HALT: the processor waits from now on. It comes as often as HALT repeats.
    Halted,
    /// RETI: Zilog's devices detect the end of an interrupt handler by it.
    Returned,
    /// EI or RETN: interrupts may be accepted that were not before.
    Enabled,
    /// DI: no interrupt is accepted until the next EI or RETN.
    Disabled,
    /// TRAP of the Z180: an undefined opcode, in the second or the third byte of an instruction.
    Trapped {
        /// Whether it is the third byte (bit UFO of the register ITC).
        third: bool,
    },
}
