//! Verdicts on mutants: those of `hw-tests run --direct --application FILE --fail-fast`.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use firmware::ProgramKind;
use firmware::build::{BuildError, BuiltImage, build_replacing, build_with};
use firmware::evaluator::{Behaviour, Evaluator};
use firmware::profile::{Profile, ProfileError};

use super::text::{Mutant, apply};
use crate::board::Choice;
use crate::live::{LiveBoard, Plan};
use crate::runner::{Options, RunEnd, Verdict, run_cases};
use sargon_cases::{Case, CorpusError};

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
            if let Some((case, why)) = self.first_failure(evaluator, image) {
                return Fate::Caught { behaviour: evaluator.behaviour, case, why };
            }
            fate = Fate::Survived;
        }
        fate
    }

    /// The first case that does not pass, or what else ended the run, and why.
    fn first_failure(&self, evaluator: &Evaluator, image: BuiltImage) -> Option<(String, String)> {
        let plan = Plan {
            board: Choice::Direct { rom: None },
            evaluator: evaluator.clone(),
            application: Some((image.address, image.bytes)),
            ..Plan::simulated(self.profile.clone())
        };
        let mut live = match LiveBoard::prepare(&plan) {
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
