//! An engine for tests of Z80 code on boards, simulated or real. It knows no program under test: a
//! [`suite`] has the cases, and judges the replies of the board.
//!
//! - [`suite`]: what is tested, and how
//! - [`board`]: the boards: in this process, behind a pty, serial, in MAME, or replayed
//! - [`live`]: a connected board on which the application is running
//! - [`runner`]: runs cases on one board
//! - [`campaign`]: a whole run on one board or several, with its results file and report
//! - [`verdict_table`]: the verdict of a case that has several results
//! - `args`, with the feature of this name: options of a command line that choose a board

#[cfg(feature = "args")]
pub mod args;
pub mod baseline;
pub mod board;
pub mod campaign;
pub mod file_system;
pub mod live;
pub mod report;
pub mod results;
pub mod runner;
pub mod select;
pub mod suite;
#[cfg(test)]
#[path = "../tests/it/test_suite.rs"]
mod test_suite;
pub mod verdict_table;
