//! An engine for tests of Z80 code on boards, simulated or real. It knows no program under test: a
//! [`suite`] has the cases, and judges the replies of the board.
//!
//! - [`suite`]: what is tested, and how
//! - [`board`]: the boards: in this process, behind a pty, serial, in MAME, or replayed
//! - [`live`]: a connected board on which the application is running
//! - [`runner`]: runs cases on one board
//! - [`fleet`]: runs cases on several boards
//! - [`campaign`]: a whole run with its results file and report
//! - `args`, with the feature of this name: options of a command line that choose a board

#[cfg(feature = "args")]
pub mod args;
pub mod baseline;
pub mod board;
pub mod campaign;
pub mod doctor;
mod executor;
pub mod file_system;
pub mod fleet;
pub mod live;
pub mod report;
pub mod results;
pub mod rounds;
pub mod runner;
pub mod select;
pub mod suite;
#[cfg(test)]
#[path = "../tests/it/test_suite.rs"]
mod test_suite;
