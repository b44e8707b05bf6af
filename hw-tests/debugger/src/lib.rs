//! Looking into a running board: the programs on it, and a debugger that goes forward and back; on
//! a board at the end of a line, by the debug kernel.
//!
//! [`Machine`] is a board with its programs, whose lines and names are in a
//! [`CodeMap`](firmware::code::CodeMap); [`Debugger`] stops and moves ([`Motion`]), [`commands`] is
//! the language of its commands, and the front ends are thin: `gdb` speaks gdb's remote protocol,
//! `dap` the Debug Adapter Protocol, `view` draws a terminal.

mod calls;
pub mod commands;
mod condition;
pub mod dap;
mod debugger;
mod dwarf;
pub mod gdb;
mod history;
mod machine;
pub mod measure;
mod motion;
mod names;
mod place;
mod program;
mod real;
mod session;
mod show;
mod stops;
#[cfg(feature = "view")]
pub mod view;
mod why;

pub use calls::Call;
pub use condition::{Condition, ConditionError, number};
pub use debugger::{Debugger, Halt};
pub use machine::Machine;
pub use motion::{Ask, Motion};
pub use names::{
    FLAGS, PAIRS, REGISTERS, Role, flag_letters, register, set_register, spelled, table_2,
};
pub use program::{LoadedProgram, ProgramError, ProgramFile, at_program, board_with, in_ram};
pub use real::{BoardError, Kernel, KernelError, examining_on, program_on};
pub use session::{
    Arrival, Session, SessionError, at_exchange, examining, go_to_exchange, run_within,
};
pub use show::{Instruction, board_text, describe, instruction_at, pieces};
pub use stops::{Break, BreakId, Hits, Stops, Watch, WatchEvent, WatchHit, WatchId, Watched};

pub use why::{Finding, Reason, why};

pub(crate) use debugger::is_call;
