//! Looking into a running board: what the programs on it are, and a debugger that goes forward and back.

mod code;
mod machine;

pub use code::{CodeMap, Label};
pub use machine::Machine;
