//! The suite of Sargon's exchange evaluator: sends the corpus to a board, and compares every reply
//! with the host reference.
//!
//! - [`SargonSuite`]: the suite, for the engine [`hil_harness`]
//! - [`SargonBoard`]: single requests
//! - [`compare`]: compares replies with the reference
//! - [`exhaust`]: all attackers arrays of a space
//! - `args`, with the feature of this name: options of a command line that choose a board and the evaluator
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//!
//! use firmware::profile::BoardProfile;
//! use hil_harness::board::BoardKind;
//! use hil_harness::runner::{RunOptions, Verdict, run_cases};
//! use sargon_corpus::builtin_corpus;
//! use sargon_suite::{BoardConfig, LiveBoard};
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

#[cfg(feature = "args")]
pub mod args;
mod checks;
pub mod compare;
pub mod exhaust;
mod follow_up;
mod guard;
mod judge;
mod plan;
mod probe;
mod requests;
pub mod residues;
pub mod responses;
mod suite;

pub use requests::SargonBoard;
pub use suite::{PositionDetails, SargonState, SargonSuite};

use hil_harness::{campaign, fleet, live, report, results, runner};

/// Which board to prepare, with which evaluator.
pub type BoardConfig = live::BoardConfig<SargonSuite>;
/// A board on which an evaluator runs.
pub type LiveBoard = live::LiveBoard<SargonSuite>;
/// The requests of a case.
pub type CasePlan = live::CasePlan<SargonSuite>;
/// A decoded reply.
pub type Response = live::Response<SargonSuite>;
/// The result of a case.
pub type CaseResult = runner::CaseResult<SargonSuite>;
/// Numbers of cases by verdict.
pub type VerdictCounts = runner::VerdictCounts<SargonSuite>;
/// A line of a results file.
pub type Record = results::Record<SargonSuite>;
/// Writes a results file.
pub type ResultsWriter = results::ResultsWriter<SargonSuite>;
/// The end of a run in a results file.
pub type RunEndRecord = results::RunEndRecord<SargonSuite>;
/// The report of a run.
pub type Report = report::Report<SargonSuite>;
/// What a run uses from its environment.
pub type RunContext<'a> = campaign::RunContext<'a, LiveBoard>;
/// The result of a run.
pub type FinishedRun = campaign::FinishedRun<SargonSuite>;
/// A board of a fleet.
pub type FleetBoard = fleet::FleetBoard<BoardConfig>;
