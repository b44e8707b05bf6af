//! Tests of the Z80 code: application, monitor and debug kernel on simulated boards, and single
//! routines.

mod behaviours;
mod board;
mod contract;
mod firmware_coverage;
mod interrupts;
mod kernel;
mod protocol;
mod trace;
mod z80_contracts;
mod z80_drivers;
mod z80_figures;
