//! The Z80 as GNU gdb's `z80-tdep.c` knows it, without a target description: thirteen registers of
//! two bytes, AF BC DE HL SP PC IX IY AF' BC' DE' HL' IR, the low byte first.

use board_simulator::Registers;
use gdbstub::arch;
use z80_core::{REGISTER_PAIRS, register_value, set_register};

/// The architecture. gdb reads and writes all registers at once.
pub(super) enum Z80 {}

impl arch::Arch for Z80 {
    /// Wider than an address, so that one beyond memory is refused instead of ending the session.
    type Usize = u64;
    type Registers = RegisterFile;
    type BreakpointKind = usize;
    type RegId = ();
}

/// The registers in gdb's order.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct RegisterFile(pub(super) Registers);

impl arch::Registers for RegisterFile {
    type ProgramCounter = u64;

    fn pc(&self) -> u64 {
        self.0.pc.into()
    }

    fn gdb_serialize(&self, write_byte: impl FnMut(Option<u8>)) {
        let Self(registers) = self;
        let pairs = REGISTER_PAIRS.iter().filter_map(|name| register_value(registers, name));
        let ir = u16::from_be_bytes([registers.i, registers.r]);
        pairs.chain([ir]).flat_map(u16::to_le_bytes).map(Some).for_each(write_byte);
    }

    fn gdb_deserialize(&mut self, bytes: &[u8]) -> Result<(), ()> {
        let (values, []) = bytes.as_chunks() else { return Err(()) };
        let [pairs @ .., ir] = values else { return Err(()) };
        if pairs.len() != REGISTER_PAIRS.len() {
            return Err(());
        }
        let mut named = REGISTER_PAIRS.iter().zip(pairs);
        [self.0.r, self.0.i] = *ir;
        let is_set =
            named.all(|(name, value)| set_register(&mut self.0, name, u16::from_le_bytes(*value)));
        is_set.then_some(()).ok_or(())
    }
}
