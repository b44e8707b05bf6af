//! Hardware-in-the-loop regression tests for the exchange evaluator: runs the corpus on boards,
//! simulated or real, and compares every reply with the host reference.
//!
//! - [`board`]: the boards: in this process, behind a pty, serial, in MAME, or replayed
//! - [`live`]: a connected board on which the application is running
//! - [`runner`]: runs cases on one board, and judges the replies
//! - [`fleet`]: runs cases on several boards
//! - [`campaign`]: a whole run with its results file and report
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//!
//! use firmware::profile::BoardProfile;
//! use hil_harness::board::BoardKind;
//! use hil_harness::live::{BoardConfig, LiveBoard};
//! use hil_harness::runner::{RunOptions, Verdict, run_cases};
//! use sargon_corpus::builtin_corpus;
//!
//! let profile = BoardProfile::named("rc2014-classic")?;
//! let board = BoardKind::InProcess { rom: None };
//! let config = BoardConfig { board, ..BoardConfig::simulated(profile) };
//! let mut live = LiveBoard::prepare(&config)?;
//! let stop = AtomicBool::new(false);
//! let options = RunOptions { repeat: 1, fail_fast: false, baseline: None, interrupted: &stop };
//! let cases = builtin_corpus()?.into_iter().take(1);
//! run_cases(&mut live, cases, options, |result| assert_eq!(result.verdict, Verdict::Pass));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod baseline;
pub mod board;
pub mod campaign;
mod case_index;
mod checks;
pub mod compare;
pub mod doctor;
pub mod exhaust;
pub mod file_system;
pub mod fleet;
pub mod live;
pub mod pair;
pub mod report;
pub mod residues;
pub mod responses;
pub mod results;
pub mod runner;
