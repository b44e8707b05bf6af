//! ROM monitor, wire format and board profiles for RC2014-class Z80 boards.

pub mod build;
pub mod evaluator;
pub mod profile;
pub mod slot;
mod sources;
pub mod wire;

pub use sources::{ProgramKind, source};
