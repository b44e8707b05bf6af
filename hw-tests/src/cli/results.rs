//! Keeps what becomes of a run: in the results file if there is one, for the report if one is wanted, and in the overview
//! that is printed at the end.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use hw_tests::corpus::Case;
use hw_tests::report::{Gathered, Overview};
use hw_tests::runner::log::{End, Head, Log, LogError, Ready};
use hw_tests::runner::{CaseResult, Verdict};
use rcflash::exit::{BUG, Failure, RIG, USAGE};

/// Most cases that a soak run writes down; only such that did not pass are.
const SOAK_CASES: u64 = 10_000;
/// How often it writes down how it goes.
const SOAK_PULSE: Duration = Duration::from_secs(60);

/// Where results go.
#[derive(Args)]
pub(super) struct ResultsArgs {
    /// Write down how each case ended, as soon as it has, one line of JSON each (docs/TESTING.md)
    #[arg(long, value_name = "FILE")]
    pub(super) results: Option<PathBuf>,
    /// Go on where the run that wrote the results file left off
    #[arg(long, requires = "results")]
    pub(super) resume: bool,
}

/// What has become of the cases so far.
#[derive(Default)]
pub(super) struct Keeper {
    pub(super) overview: Overview,
    /// For the report.
    pub(super) gathered: Option<Gathered>,
    log: Option<Log>,
    finished: BTreeSet<String>,
    judged: Vec<String>,
    /// In a soak run: how many cases were written down, and when the last pulse was.
    soak: Option<(u64, Instant)>,
    failed: Option<LogError>,
}

impl Keeper {
    /// Begins the results file, or goes on with it.
    pub(super) fn open(
        &mut self,
        args: &ResultsArgs,
        head: &Head,
        soak: bool,
    ) -> Result<(), Failure> {
        if let Some(path) = &args.results {
            let (log, results) = if args.resume {
                Log::resume(path, head).map_err(log_failure)?
            } else {
                (Log::create(path, head).map_err(log_failure)?, Vec::new())
            };
            self.log = Some(log);
            for result in results {
                self.note(&result);
                self.finished.insert(result.id);
            }
        }
        self.soak = soak.then(|| (0, Instant::now()));
        Ok(())
    }

    fn note(&mut self, result: &CaseResult) {
        self.overview.add(result);
        if let Some(gathered) = &mut self.gathered {
            gathered.add(result);
        }
    }

    /// The cases that have no verdict yet.
    pub(super) fn left(&self, mut cases: Vec<Case>) -> Result<Vec<Case>, Failure> {
        let all = cases.len();
        cases.retain(|case| !self.finished.contains(&case.id));
        if cases.len() + self.finished.len() == all {
            return Ok(cases);
        }
        let why = "the results file has cases that are not selected; give the arguments of the run that wrote it";
        Err(Failure::new(USAGE, why))
    }

    /// Notes what the cases are put to.
    pub(super) fn ready(&mut self, ready: Ready) -> Result<(), Failure> {
        let log = self.log.as_mut();
        log.map_or(Ok(()), |log| log.ready(ready)).map_err(log_failure)
    }

    /// Takes one more result in; `false` when it could not be written down.
    pub(super) fn take(&mut self, result: CaseResult) -> bool {
        self.note(&result);
        let written = self.write(&result);
        self.judged.push(result.id);
        if let Err(error) = written {
            self.failed.get_or_insert(error);
        }
        self.failed.is_none()
    }

    fn write(&mut self, result: &CaseResult) -> Result<(), LogError> {
        let Some(log) = &mut self.log else { return Ok(()) };
        match &mut self.soak {
            _ if result.verdict == Verdict::NotRun => Ok(()),
            None => log.case(result),
            Some((_, pulse)) if pulse.elapsed() >= SOAK_PULSE => {
                *pulse = Instant::now();
                log.passed(self.overview.counts())
            }
            Some((count, _)) if result.verdict != Verdict::Pass && *count < SOAK_CASES => {
                *count += 1;
                log.case(result)
            }
            Some(_) => Ok(()),
        }
    }

    /// How many cases have had a verdict since [`Self::check`].
    pub(super) fn judged(&self) -> usize {
        self.judged.len()
    }

    /// Makes sure that each of these cases has had exactly one verdict since the last check.
    pub(super) fn check(&mut self, mut cases: Vec<String>) -> Result<(), Failure> {
        let mut judged = std::mem::take(&mut self.judged);
        cases.sort();
        judged.sort();
        if cases == judged && self.overview.counts().is_consistent() {
            return Ok(());
        }
        let (cases, judged) = (cases.len(), judged.len());
        Err(Failure::new(BUG, format!("{cases} cases have {judged} verdicts, not one each")))
    }

    /// Writes down that the run did not come to its end, and which cases had no turn.
    pub(super) fn broke_off(&mut self, why: &str, left: &[Case]) {
        for case in left {
            self.note(&CaseResult::new(case, Verdict::NotRun));
        }
        // Why it broke off is said anyway, and is worse than this.
        let _ = self.end(Some(why.to_owned()));
    }

    /// Writes the end: complete, unless there is a reason why not.
    pub(super) fn end(&mut self, why: Option<String>) -> Result<(), Failure> {
        if let Some(error) = self.failed.take() {
            return Err(log_failure(error));
        }
        let end = End { complete: why.is_none(), why, counts: self.overview.counts() };
        self.log.as_mut().map_or(Ok(()), |log| log.end(&end)).map_err(log_failure)
    }
}

fn log_failure(error: LogError) -> Failure {
    let usage = matches!(error, LogError::Exists(_) | LogError::Other(..));
    Failure::new(if usage { USAGE } else { RIG }, error)
}
