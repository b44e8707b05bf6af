//! Tests of the processors.

mod against_zilog_z80;
mod exercisers;
mod expressions;
mod interrupts;
mod z180;
