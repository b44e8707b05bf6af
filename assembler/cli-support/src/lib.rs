//! Support for command-line programs: exit codes, atomic files, escaped messages, completions and
//! manual pages. All programs of this project use it.
//!
//! - [`exit`]: exit codes, and errors that carry one.
//! - [`files`]: atomic writes and limited reads.
//! - [`text`]: escaping of untrusted text before it reaches a terminal.
//! - [`time`]: times on command lines.
//! - [`version`]: the version with the commit, for build scripts.
//! - `file_roles`, `interrupt`, `listen`, `manual`, `output` (feature `program`): no command
//!   overwrites a file that it reads; Ctrl-C; addresses of servers; arguments, completions and
//!   manual pages; text and JSON on standard output.
//!
//! ```
//! use cli_support::text::Escape;
//!
//! assert_eq!("bench\x1B[2J".escaped(), r"bench\x1B[2J");
//! ```

pub mod exit;
#[cfg(feature = "program")]
pub mod file_roles;
pub mod files;
#[cfg(feature = "program")]
pub mod interrupt;
#[cfg(feature = "program")]
pub mod listen;
#[cfg(feature = "program")]
pub mod manual;
#[cfg(feature = "program")]
pub mod output;
pub mod text;
pub mod time;
pub mod version;
