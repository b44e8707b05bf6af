//! Firmware images for RC2014-class Z80 boards: a boot monitor, a chess evaluator as application,
//! and a debug kernel, assembled and linked for a board profile.
//!
//! ```
//! use firmware::ProgramKind;
//! use firmware::build::build;
//! use firmware::profile::BoardProfile;
//!
//! let board = BoardProfile::named("rc2014-classic")?;
//! let image = build(&board, ProgramKind::Monitor)?;
//! assert_eq!(image.address, 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod build;
pub mod code_map;
pub mod evaluator;
mod exit;
mod listing;
pub mod profile;
pub mod program_areas;
mod sources;

pub use sources::{BUILT_IN_ROOT, ProgramKind, source};
