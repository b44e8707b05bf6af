//! Parts of the command lines of the harness: [`positions`] as arguments, files that are read,
//! printing, and Ctrl-C.
//!
//! `hw-tests` and `hw-inspect` are two programs, so that a run of the corpus builds no debugger;
//! their options and their output are the same where they ask for the same.

mod files;
mod interrupt;
mod output;
pub mod positions;
mod squares;

pub use files::read;
pub use interrupt::interruption;
pub use output::{counted, json_line, print, print_total};
pub use squares::square_name;
