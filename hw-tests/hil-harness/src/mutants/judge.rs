//! Verdicts on mutants: those of `hw-tests run --direct --application FILE --fail-fast`, and, on
//! what passes, of the same with `--full` and other bytes in RAM when power comes on.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use board_simulator::{BoardSpec, Probe, board_spec};
use firmware::ProgramKind;
use firmware::build::{BuildError, BuiltImage, build_replacing, build_with};
use firmware::evaluator::{Behaviour, Evaluator};
use firmware::profile::{Profile, ProfileError};

use super::text::{Mutant, apply};
use crate::board::{Choice, DirectBoard};
use crate::disk::SystemDisk;
use crate::live::{LiveBoard, Plan, Programs, SetupError};
use crate::runner::{Options, RunEnd, Verdict, run_cases};
use sargon_corpus::{Case, CorpusError};

/// The fate of a mutant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// A run does not pass.
    Caught {
        /// The behaviour of the program that showed it.
        behaviour: Behaviour,
        /// The case that did not pass, or what else ended the run.
        case: String,
        /// The first difference.
        why: String,
    },
    /// All cases pass.
    Survived,
    /// The mutant does not assemble or link.
    NoProgram,
    /// The mutant makes the same bytes, for all three evaluators.
    SameProgram,
}

/// Error returned if nothing can be judged.
#[derive(Debug, thiserror::Error)]
pub enum JudgeError {
    /// No board.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// The unchanged program.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The corpus.
    #[error(transparent)]
    Corpus(#[from] CorpusError),
}

/// A way to run the corpus.
#[derive(Debug, Clone, Copy)]
struct Run {
    /// Whether every byte is asked for.
    full: bool,
    /// The seed of what RAM holds after power comes on: some mutants run or read what is there.
    ram: u64,
}

/// The runs that a mutant must pass to survive, the quicker one first.
const RUNS: [Run; 2] = [Run { full: false, ram: 1 }, Run { full: true, ram: 2 }];

/// Builds mutants and runs the corpus on them, up to the first case that does not pass.
pub struct Judge {
    profile: Profile,
    cases: Vec<Case>,
    /// The unchanged programs, of all three evaluators.
    originals: Vec<(Evaluator, BuiltImage)>,
}

impl Judge {
    /// Builds the unchanged programs; mutants will be judged by these cases.
    ///
    /// # Errors
    /// The programs can't be built.
    pub fn new(cases: Vec<Case>) -> Result<Self, JudgeError> {
        let profile = Profile::named("rc2014-classic")?;
        let mut originals = Vec::new();
        for behaviour in Behaviour::ALL {
            let evaluator = Evaluator { behaviour, own: None };
            let image = build_with(&profile, ProgramKind::Application, &evaluator)?;
            originals.push((evaluator, image));
        }
        Ok(Self { profile, cases, originals })
    }

    /// Judges a mutant.
    #[must_use]
    pub fn judge(&self, mutant: &Mutant) -> Fate {
        let Some(text) = firmware::source(mutant.file) else { return Fate::NoProgram };
        self.judge_text(mutant.file, &apply(mutant, text))
    }

    /// Judges a program in which a file has another text.
    #[must_use]
    pub fn judge_text(&self, file: &str, text: &str) -> Fate {
        let mut fate = Fate::SameProgram;
        for (evaluator, original) in &self.originals {
            let replaced = [(file, text)];
            let kind = ProgramKind::Application;
            let Ok(image) = build_replacing(&self.profile, kind, evaluator, &replaced) else {
                return Fate::NoProgram;
            };
            if image.bytes == original.bytes {
                continue;
            }
            let failure = RUNS.iter().find_map(|run| self.first_failure(evaluator, &image, *run));
            if let Some((case, why)) = failure {
                return Fate::Caught { behaviour: evaluator.behaviour, case, why };
            }
            fate = Fate::Survived;
        }
        fate
    }

    /// The first case of a run that does not pass, or what else ended the run, and why.
    fn first_failure(
        &self,
        evaluator: &Evaluator,
        image: &BuiltImage,
        run: Run,
    ) -> Option<(String, String)> {
        let plan = Plan {
            board: Choice::Direct { rom: None },
            evaluator: evaluator.clone(),
            application: Some((image.address, image.bytes.clone())),
            full: run.full,
            ..Plan::simulated(self.profile.clone())
        };
        let spec = BoardSpec { seed: run.ram, ..board_spec(&self.profile) };
        let mut live = match prepare(&plan, spec) {
            Ok(live) => live,
            Err(error) => return Some(("the start".to_owned(), error.to_string())),
        };
        let interrupted = AtomicBool::new(false);
        let options =
            Options { repeat: 1, fail_fast: true, baseline: None, interrupted: &interrupted };
        let mut failure = None;
        let course = run_cases(&mut live, self.cases.iter().cloned(), options, |result| {
            if failure.is_none() && !matches!(result.verdict, Verdict::Pass | Verdict::NotRun) {
                let why = result.differences.first().map(ToString::to_string).or(result.why);
                failure = Some((result.id, why.unwrap_or_else(|| result.verdict.to_string())));
            }
        });
        failure.or(match course.ended {
            RunEnd::BoardLost(why) => Some(("the board".to_owned(), why)),
            _ => None,
        })
    }
}

/// A board within this program, its application loaded.
fn prepare(plan: &Plan, spec: BoardSpec) -> Result<LiveBoard, SetupError> {
    let programs = Arc::new(Programs::build(plan)?);
    let monitor = &programs.monitor.bytes;
    let board = DirectBoard::with_spec(&plan.profile, spec, monitor, Probe::default());
    LiveBoard::prepare_with(plan, Arc::clone(&programs), &SystemDisk, |_| Box::new(board))
}

/// Judges mutants in so many threads. `progress` hears how many are done.
pub fn judge_all(
    judge: &Judge,
    mutants: &[Mutant],
    threads: usize,
    progress: impl Fn(usize) + Sync,
) -> Vec<Fate> {
    let next = AtomicUsize::new(0);
    let fates = Mutex::new(BTreeMap::new());
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(mutant) = mutants.get(index) else { return };
            let fate = judge.judge(mutant);
            let mut fates = fates.lock().unwrap_or_else(PoisonError::into_inner);
            fates.insert(index, fate);
            progress(fates.len());
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(work);
        }
    });
    fates.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect()
}
