//! Loading through stock monitors: the real programs end to end over a serial device. Every state
//! on every line is tried in virtual time, in a program of its own.

mod basic;
mod bench;
mod contact;
mod described;
mod descriptions;
mod files;
mod flow;
mod hex;
mod hosted;
mod loads;
use crate::programs;
#[allow(dead_code, reason = "the tests in virtual time use the rest")]
pub(crate) mod states;
#[cfg(feature = "system-tests")]
mod system;
mod virtual_bench;
