//! Tests mutants: as `hw-tests run --rig direct --application FILE --fail-fast` does, and if that
//! passes, with `--full` and other RAM contents at power-on.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use board_simulator::{BoardModel, BoardSpec, Probe, QueueLine, board_spec};
use firmware::ProgramKind;
use firmware::build::{BuildError, BuiltImage, build_with, build_with_sources};
use firmware::evaluator::{Behaviour, Evaluator};
use firmware::profile::{BoardProfile, ProfileError};
use sargon_suite::{SargonBoard, SargonConfig, run_cases};

use super::operators::{Mutant, apply_mutant};
use hil_harness::board::{BoardKind, InProcessBoard};
use hil_harness::file_system::OsFileSystem;
use hil_harness::live::{BoardConfig, SetupError};
use hil_harness::runner::{RunEnd, RunOptions, Verdict};
use sargon_corpus::{Case, CorpusError};

/// The outcome of testing a mutant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MutantOutcome {
    /// A run failed.
    Killed {
        /// The behaviour of the evaluator whose run failed.
        behaviour: Behaviour,
        /// The case that did not pass, or another cause of the failure.
        case: String,
        /// The first difference.
        why: String,
    },
    /// All cases pass.
    Survived,
    /// The mutant does not assemble or link.
    BuildFailed,
    /// The binary is unchanged, for all three evaluators.
    IdenticalBinary,
}

/// Error returned if mutants can't be tested.
#[derive(Debug, thiserror::Error)]
pub enum MutationError {
    /// The board's profile is missing.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// The unchanged program can't be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The corpus can't be read.
    #[error(transparent)]
    Corpus(#[from] CorpusError),
}

/// Options of one run of the corpus.
#[derive(Debug, Clone, Copy)]
struct CorpusPass {
    /// Whether every byte is requested.
    full: bool,
    /// The seed of the RAM content at power-on, which some mutants read or execute.
    ram: u64,
}

/// The runs that a surviving mutant passes, the faster one first.
const PASSES: [CorpusPass; 2] =
    [CorpusPass { full: false, ram: 1 }, CorpusPass { full: true, ram: 2 }];

/// Builds mutants and runs the corpus on them until a case does not pass.
pub struct MutationTester {
    profile: BoardProfile,
    cases: Vec<Case>,
    /// The unchanged programs of all three evaluators.
    originals: Vec<(Evaluator, BuiltImage)>,
}

impl MutationTester {
    /// Builds the unchanged programs. Mutants are tested with these cases.
    pub fn new(cases: Vec<Case>) -> Result<Self, MutationError> {
        let profile = BoardProfile::named("rc2014-classic")?;
        let mut originals = Vec::new();
        for behaviour in Behaviour::ALL {
            let evaluator = Evaluator { behaviour, own: None };
            let image = build_with(&profile, ProgramKind::Application, &evaluator)?;
            originals.push((evaluator, image));
        }
        Ok(Self { profile, cases, originals })
    }

    /// Tests a mutant.
    pub fn test_mutant(&self, mutant: &Mutant) -> MutantOutcome {
        let Some(text) = firmware::source(mutant.file) else { return MutantOutcome::BuildFailed };
        self.test_source(mutant.file, &apply_mutant(mutant, text))
    }

    /// Tests a program in which one source file is replaced.
    pub fn test_source(&self, file: &str, text: &str) -> MutantOutcome {
        let mut outcome = MutantOutcome::IdenticalBinary;
        for (evaluator, original) in &self.originals {
            let replaced = [(file, text)];
            let kind = ProgramKind::Application;
            let Ok(image) = build_with_sources(&self.profile, kind, evaluator, &replaced) else {
                return MutantOutcome::BuildFailed;
            };
            if image.bytes == original.bytes {
                continue;
            }
            let failure =
                PASSES.iter().find_map(|pass| self.first_failure(evaluator, &image, *pass));
            if let Some((case, why)) = failure {
                return MutantOutcome::Killed { behaviour: evaluator.behaviour, case, why };
            }
            outcome = MutantOutcome::Survived;
        }
        outcome
    }

    /// Returns the first case that does not pass, or another cause of failure, with the reason.
    fn first_failure(
        &self,
        evaluator: &Evaluator,
        image: &BuiltImage,
        pass: CorpusPass,
    ) -> Option<(String, String)> {
        let board = BoardConfig {
            board: BoardKind::InProcess,
            application: Some((image.address, image.bytes.clone())),
            full_responses: pass.full,
            ..BoardConfig::simulated(self.profile.clone())
        };
        let plan = SargonConfig { evaluator: evaluator.clone(), ..board.into() };
        let spec = BoardSpec { seed: pass.ram, ..board_spec(&self.profile) };
        let mut live = match prepare(&plan, spec) {
            Ok(live) => live,
            Err(error) => return Some(("the start".to_owned(), error.to_string())),
        };
        let interrupted = AtomicBool::new(false);
        let options =
            RunOptions { repeat: 1, fail_fast: true, baseline: None, interrupted: &interrupted };
        let mut failure = None;
        let summary = run_cases(&mut live, self.cases.iter().cloned(), options, |result| {
            if failure.is_none() && !matches!(result.verdict, Verdict::Pass | Verdict::NotRun) {
                let why = result.differences.first().map(ToString::to_string).or(result.reason);
                failure = Some((result.id, why.unwrap_or_else(|| result.verdict.to_string())));
            }
        });
        failure.or(match summary.ended {
            RunEnd::BoardLost(why) => Some(("the board".to_owned(), why)),
            _ => None,
        })
    }
}

/// Prepares an in-process board with its application loaded.
fn prepare(plan: &SargonConfig, spec: BoardSpec) -> Result<SargonBoard, SetupError> {
    let programs = Arc::new(plan.programs()?);
    let monitor = &programs.monitor.bytes;
    let model = BoardModel::new(spec, monitor, QueueLine::default());
    let board = InProcessBoard::with_model(&plan.board.profile, model, Probe::default());
    SargonBoard::prepare_with(plan, Arc::clone(&programs), &OsFileSystem, |_| Box::new(board))
}

/// Tests mutants in several threads. Calls `on_progress` with the number tested so far.
pub fn test_mutants(
    tester: &MutationTester,
    mutants: &[Mutant],
    threads: usize,
    on_progress: impl Fn(usize) + Sync,
) -> Vec<MutantOutcome> {
    let next = AtomicUsize::new(0);
    let outcomes = Mutex::new(BTreeMap::new());
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(mutant) = mutants.get(index) else { return };
            let outcome = tester.test_mutant(mutant);
            let mut outcomes = outcomes.lock().unwrap_or_else(PoisonError::into_inner);
            outcomes.insert(index, outcome);
            on_progress(outcomes.len());
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(work);
        }
    });
    outcomes.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect()
}
