//! Looking into a running board: what the programs on it are, and a debugger that goes forward and back.
//!
//! [`Machine`] is a board with its programs, [`CodeMap`] what is known of these, [`Debugger`] stops and steps, and the front
//! ends are thin: `gdb` speaks gdb's remote protocol, `dap` the Debug Adapter Protocol, `view` draws a terminal.

mod code;
mod condition;
pub mod dap;
mod debugger;
pub mod gdb;
mod history;
mod machine;
mod names;
mod session;
mod stops;
pub mod view;

pub use code::{CodeMap, Label};
pub use condition::{Condition, ConditionError};
pub use debugger::{Debugger, Halt};
pub use machine::Machine;
pub use names::{PAIRS, Role, register, set_register, table_2};
pub use session::{SessionError, at_exchange, examining};
pub use stops::{BreakId, Stops, Watch, WatchId};

pub(crate) use debugger::is_call;
