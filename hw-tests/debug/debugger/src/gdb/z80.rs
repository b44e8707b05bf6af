//! The Z80 as GNU gdb's `z80-tdep.c` knows it, without a target description: thirteen registers of
//! two bytes, AF BC DE HL SP PC IX IY AF' BC' DE' HL' IR, the low byte first.

use std::num::NonZeroUsize;

use board_simulator::Registers;
use gdbstub::arch;

/// The number of gdb's registers.
const REGISTER_COUNT: usize = 13;
/// Bytes of a register.
const REGISTER_BYTES: usize = 2;

/// The architecture.
pub(super) enum Z80 {}

impl arch::Arch for Z80 {
    /// Wider than an address, so that one beyond memory is refused instead of ending the session.
    type Usize = u64;
    type Registers = RegisterFile;
    type BreakpointKind = usize;
    type RegId = RegisterNumber;
}

/// A register by its number.
#[derive(Debug, Clone, Copy)]
pub(super) struct RegisterNumber(usize);

impl arch::RegId for RegisterNumber {
    fn from_raw_id(id: usize) -> Option<(Self, Option<NonZeroUsize>)> {
        (id < REGISTER_COUNT).then_some((Self(id), NonZeroUsize::new(REGISTER_BYTES)))
    }
}

/// The registers in gdb's order.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct RegisterFile(pub(super) Registers);

impl RegisterFile {
    /// The value of a register, the low byte first.
    pub(super) fn get(&self, number: RegisterNumber) -> [u8; REGISTER_BYTES] {
        let Self(registers) = self;
        let ir = || u16::from_be_bytes([registers.i, registers.r]);
        let name = z80_core::REGISTER_PAIRS.get(number.0);
        let value = name.and_then(|name| z80_core::register_value(registers, name));
        value.unwrap_or_else(ir).to_le_bytes()
    }

    /// Sets a register; returns `false` if the value has another length.
    pub(super) fn set(&mut self, number: RegisterNumber, value: &[u8]) -> bool {
        let Ok(value) = value.try_into().map(u16::from_le_bytes) else { return false };
        match z80_core::REGISTER_PAIRS.get(number.0) {
            Some(name) => z80_core::set_register(&mut self.0, name, value),
            None => {
                [self.0.i, self.0.r] = value.to_be_bytes();
                true
            }
        }
    }
}

impl arch::Registers for RegisterFile {
    type ProgramCounter = u64;

    fn pc(&self) -> u64 {
        self.0.pc.into()
    }

    fn gdb_serialize(&self, write_byte: impl FnMut(Option<u8>)) {
        let values = (0..REGISTER_COUNT).flat_map(|number| self.get(RegisterNumber(number)));
        values.map(Some).for_each(write_byte);
    }

    fn gdb_deserialize(&mut self, bytes: &[u8]) -> Result<(), ()> {
        if bytes.len() != REGISTER_COUNT * REGISTER_BYTES {
            return Err(());
        }
        let mut values = (0..).map(RegisterNumber).zip(bytes.chunks(REGISTER_BYTES));
        values.all(|(number, value)| self.set(number, value)).then_some(()).ok_or(())
    }
}
