//! Tests of the Z80.

mod against_zilog_z80;
mod exercisers;
mod interrupts;
