//! A debugger with reverse execution for Z80 programs on simulated boards. Real boards are debugged
//! through the debug kernel: a simulated twin, which receives the same input, executes their reverse
//! commands.
//!
//! [`Machine`] is a simulated board with its programs. [`Debugger`] runs [`ExecCommand`]s and
//! reports a [`HaltReason`]; [`commands`] parses the command language. The front ends are thin:
//! [`gdb`] serves gdb's remote protocol, [`dap`] the Debug Adapter Protocol, and `view` draws a
//! terminal.
//!
//! ```
//! use board_debugger::{Debugger, ExecCommand, HaltReason, LoadedProgram, open_program};
//! use firmware::code_map::MappedProgram;
//! use firmware::profile::BoardProfile;
//!
//! // `INR A` twice, at 8000H.
//! let mut mapped = MappedProgram::default();
//! mapped.image = tdlasm::image::parse_intel_hex(":028000003C3C06\n:00000001FF\n")?.0;
//! let profile = BoardProfile::named("rc2014-classic")?;
//! let mut debugger: Debugger = open_program(&profile, LoadedProgram::new(mapped, 0x8000), None)?;
//!
//! assert_eq!(debugger.run(ExecCommand::Step, &mut |_| false), HaltReason::Completed);
//! assert_eq!(debugger.registers().pc, 0x8001);
//! assert_eq!(debugger.run(ExecCommand::ReverseStep, &mut |_| false), HaltReason::Completed);
//! assert_eq!(debugger.registers().pc, 0x8000);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod boards;
pub mod commands;
pub mod dap;
mod debugger;
mod exec;
mod expression;
pub mod gdb;
mod location;
mod machine;
mod motions;
pub mod panes;
mod program;
mod render;
mod session;
mod stepper;
mod stops;
mod target;
mod target_exec;
mod timeline;
#[cfg(feature = "view")]
pub mod view;

pub use debugger::{Debugger, Reload, ShouldStop};
pub use exec::{ExecCommand, HaltReason};
pub use expression::{BoundExpression, MachineState};
pub use machine::{Machine, encode_request, parse_replies};
pub use motions::Motion;
pub use program::{LoadedProgram, ProgramError, ProgramFile, ram_layout};
pub use render::{DisassembledInstruction, describe_halt, disassemble_at};
pub use session::{RunAborted, board_with_program, open_program, run_with_timeout};
pub use stops::{
    HitCondition, Stop, StopId, StopKind, StopPoints, WatchHit, WatchTarget, WatchTrigger,
    Watchpoint,
};
pub use target::{DebugKernel, KernelError, TargetError};
pub use timeline::OpenCall;
pub use z80_core::{
    FLAGS, REGISTER_NAMES, REGISTER_PAIRS, canonical_register_name, flag_letters, parse_number,
    register_value, set_register,
};
