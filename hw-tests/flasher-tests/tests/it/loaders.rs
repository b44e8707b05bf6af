//! Loading through stock monitors: in virtual time every state on every line, and the real programs
//! end to end over a serial device.

mod basic;
mod bench;
mod contact;
mod described;
mod descriptions;
mod early_end;
mod files;
mod flow;
mod hex;
mod hosted;
mod late_replies;
mod loads;
mod lossy;
use crate::programs;
mod corrupted_line;
pub(crate) mod states;
#[cfg(feature = "system-tests")]
mod system;
mod turns;
mod virtual_bench;
mod virtual_time;
