//! ROM monitor, wire format and board profiles for RC2014-class Z80 boards.

pub mod build;
pub mod code;
pub mod evaluator;
mod exit;
pub mod profile;
mod sources;

pub use sources::{ProgramKind, source};
