//! Shared parts of the programs of this project, below all of their libraries.
//!
//! - [`commit`]: the commit that a program is built from.
//! - [`exit`]: the exit codes, and failures that carry one.
//! - [`files`]: files that are written whole or not at all.
//! - [`text`]: text from outside, shown so that no terminal obeys it.
//! - `interrupt`, `manual`, `output` (feature `program`): Ctrl-C; completions for shells and manual
//!   pages; what commands print.

pub mod commit;
pub mod exit;
pub mod files;
#[cfg(feature = "program")]
pub mod interrupt;
#[cfg(feature = "program")]
pub mod manual;
#[cfg(feature = "program")]
pub mod output;
pub mod text;
