//! The suite of Sargon's exchange evaluator: sends the corpus to a board, and compares every reply
//! with the host reference.
//!
//! - [`SargonSuite`]: the suite, for the engine [`hil_harness`]
//! - [`SargonBoard`]: a board on which an evaluator runs, and single requests to it
//! - [`run_cases`]: runs cases on a board
//! - [`compare`]: compares replies with the reference
//! - `args`, with the feature of this name: options of a command line that choose a board and the evaluator
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//!
//! use firmware::profile::BoardProfile;
//! use hil_harness::board::BoardKind;
//! use hil_harness::live::BoardConfig;
//! use hil_harness::runner::{RunOptions, Verdict};
//! use sargon_corpus::builtin_corpus;
//! use sargon_suite::{SargonBoard, run_cases};
//!
//! let profile = BoardProfile::named("rc2014-classic")?;
//! let kind = BoardKind::InProcess;
//! let config = BoardConfig { board: kind, ..BoardConfig::simulated(profile) };
//! let mut board = SargonBoard::prepare(&config.into())?;
//! let stop = AtomicBool::new(false);
//! let options = RunOptions { repeat: 1, fail_fast: false, baseline: None, interrupted: &stop };
//! let cases = builtin_corpus()?.into_iter().take(1);
//! run_cases(&mut board, cases, options, |result| assert_eq!(result.verdict, Verdict::Pass));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "args")]
pub mod args;
mod board;
mod checks;
pub mod compare;
mod guard;
mod judge;
mod probe;
pub mod residues;
pub mod responses;
mod run;
mod suite;

pub use board::{SargonBoard, SargonConfig};
pub use run::run_cases;
pub use suite::{PositionDetails, SargonSuite};

pub use hil_harness::results::RunEndRecord;
pub use hil_harness::runner::VerdictCounts;
use hil_harness::{campaign, report, results, runner};

/// The result of a case.
pub type CaseResult = runner::CaseResult<SargonSuite>;
/// A line of a results file.
pub type Record = results::Record<SargonSuite>;
/// Writes a results file.
pub type ResultsWriter = results::ResultsWriter<SargonSuite>;
/// The report of a run.
pub type Report = report::Report<SargonSuite>;
/// What a run uses from its environment.
pub type RunContext<'a> = campaign::RunContext<'a, SargonBoard>;
/// The result of a run.
pub type FinishedRun = campaign::FinishedRun<SargonSuite>;
/// A board of a run.
pub type Member = campaign::Member<SargonConfig>;
