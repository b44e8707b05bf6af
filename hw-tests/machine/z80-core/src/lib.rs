//! The Z80 as Zilog built it in NMOS, exact to the T-state: all registers, MEMPTR, the undocumented
//! instructions and flags, interrupts; and the processor of the Z180, without wait states.
//!
//! | part | file |
//! |---|---|
//! | the processor: steps, interrupts, reset | `cpu` |
//! | registers and their representation | `registers` |
//! | flags, and what can be looked up of them | `flags` |
//! | instructions without prefix, and those with DD and FD | `unprefixed` |
//! | arithmetic, rotations | `alu` |
//! | instructions behind CB and ED | `bits`, `extended` |
//! | instructions that move blocks | `block` |
//! | the Z180's instructions, T-states and TRAP | `z180` |
//! | registers and flags by name | `names` |
//! | expressions over registers and memory | `expression` |
//!
//! An instruction is one step: all its bus cycles happen in order, and its T-states are reported
//! afterwards. DD and FD before another prefix are separate steps.
//!
//! ```
//! use z80_core::{Bus, Cpu};
//!
//! struct Memory([u8; 0x1_0000]);
//!
//! impl Bus for Memory {
//!     fn read(&self, address: u16) -> u8 {
//!         self.0[usize::from(address)]
//!     }
//!     fn write(&mut self, address: u16, value: u8) {
//!         self.0[usize::from(address)] = value;
//!     }
//!     fn input(&self, _port: u16) -> u8 {
//!         0xFF
//!     }
//!     fn output(&mut self, _port: u16, _value: u8) {}
//! }
//!
//! let mut memory = Memory([0; 0x1_0000]);
//! memory.0[..3].copy_from_slice(&[0x3E, 0x2A, 0x3C]); // LD A,2Ah; INC A
//! let mut cpu = Cpu::new();
//! assert_eq!(cpu.step(&mut memory, None) + cpu.step(&mut memory, None), 7 + 4);
//! assert_eq!(cpu.registers().af >> 8, 0x2B);
//! ```

mod alu;
mod bits;
mod block;
mod bus;
mod cpu;
mod expression;
mod extended;
mod flags;
mod names;
mod opcodes;
mod registers;
mod unprefixed;
mod z180;

pub use bus::{Bus, CpuEvent};
pub use cpu::Cpu;
pub use expression::{
    Expression, ExpressionError, Name, Values, is_number, parse_address, parse_number,
};
pub use names::{
    FLAGS, Flags, REGISTER_HALVES, REGISTER_NAMES, REGISTER_PAIRS, canonical_register_name,
    flag_letters, register_halves, register_value, set_register,
};
pub use opcodes::{is_block_move, is_call, is_instruction, is_return};
pub use registers::Registers;
