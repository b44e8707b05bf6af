//! Tests of the debugger, and of the Z80 code under it.

mod behaviours;
mod board;
mod contract;
mod corrupted;
mod interrupts;
mod kernel;
mod protocol;
mod trace;
mod z80_contracts;
mod z80_drivers;
mod z80_figures;
