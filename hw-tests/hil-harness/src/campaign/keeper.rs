//! Keeps what becomes of a run: in the results file if there is one, for the report if one is
//! wanted, and in the overview that is printed at the end.

use std::collections::BTreeSet;
use std::sync::Arc;

use cli_support::exit::{BUG, Failure, USAGE};
use rcflash_transport::time::{Duration, Instant};

use super::Settings;
use crate::disk::Disk;
use crate::report::{Gathered, Overview};
use crate::results::{Clock, End, Head, Log, Ready, ResultsError};
use crate::runner::{CaseResult, Compared, Earlier, Verdict};
use sargon_corpus::Case;

/// Most cases that a soak run writes down; only such that did not pass are.
const SOAK_CASES: u64 = 10_000;
/// The time after which a soak run writes its counts down again.
const SOAK_PULSE: Duration = Duration::from_secs(60);

/// The outcomes of the cases so far.
pub struct Keeper {
    /// The counts and the cases that did not pass.
    pub overview: Overview,
    /// The cases for the report, if there is one.
    pub(super) gathered: Option<Gathered>,
    baseline: Option<Arc<Earlier>>,
    clock: Clock,
    log: Option<Log>,
    finished: BTreeSet<String>,
    judged: Vec<String>,
    /// In a soak run: how many cases were written down, and when the counts were last.
    soak: Option<(u64, Instant)>,
    failed: Option<ResultsError>,
}

impl Keeper {
    /// A keeper of no cases so far.
    #[must_use]
    pub fn new(settings: &Settings, clock: Clock) -> Self {
        let soak = settings.is_soak().then(|| (0, clock()));
        Self {
            overview: Overview::new(settings.inspect.clone()),
            gathered: settings.report.as_ref().map(|_| Gathered::default()),
            baseline: settings.baseline.clone(),
            clock,
            log: None,
            finished: BTreeSet::new(),
            judged: Vec::new(),
            soak,
            failed: None,
        }
    }

    /// Begins the results file, or continues it.
    pub(super) fn open(
        &mut self,
        settings: &Settings,
        head: &Head,
        disk: &dyn Disk,
    ) -> Result<(), Failure> {
        let Some(path) = &settings.results else { return Ok(()) };
        let clock = Arc::clone(&self.clock);
        let mut earlier = Vec::new();
        self.log = Some(if settings.resume {
            let (log, results) = Log::resume(disk, path, head, clock)?;
            earlier = results;
            log
        } else {
            Log::create(disk, path, head, settings.force, clock)?
        });
        for mut result in earlier {
            self.note(&mut result);
            self.finished.insert(result.id);
        }
        Ok(())
    }

    fn note(&mut self, result: &mut CaseResult) {
        let compared = self.baseline.as_ref().map(|earlier| earlier.compare(result));
        result.known = compared == Some(Compared::Known);
        self.overview.add(result, compared);
        if let Some(gathered) = &mut self.gathered {
            gathered.add(result);
        }
    }

    /// Returns the cases that have no verdict yet.
    pub(super) fn left(&self, mut cases: Vec<Case>) -> Result<Vec<Case>, Failure> {
        let all = cases.len();
        cases.retain(|case| !self.finished.contains(&case.id));
        if cases.len() + self.finished.len() == all {
            return Ok(cases);
        }
        let why = "the results file has cases that are not selected; \
                   give the arguments of the run that wrote it";
        Err(Failure::new(USAGE, why))
    }

    /// Notes what the cases are put to.
    pub(super) fn ready(&mut self, ready: Ready) -> Result<(), Failure> {
        let log = self.log.as_mut();
        Ok(log.map_or(Ok(()), |log| log.ready(ready))?)
    }

    /// Takes one more result in; `false` if it could not be written down.
    pub(super) fn take(&mut self, mut result: CaseResult) -> bool {
        self.note(&mut result);
        // After a failure the file ends where it is whole: nothing is added to it any more.
        if self.failed.is_none()
            && let Err(error) = self.write(&result)
        {
            self.failed = Some(error);
        }
        self.judged.push(result.id);
        self.failed.is_none()
    }

    fn write(&mut self, result: &CaseResult) -> Result<(), ResultsError> {
        let Some(log) = &mut self.log else { return Ok(()) };
        let now = (self.clock)();
        match &mut self.soak {
            _ if result.verdict == Verdict::NotRun => Ok(()),
            None => log.case(result),
            Some((_, pulse)) if now.saturating_duration_since(*pulse) >= SOAK_PULSE => {
                *pulse = now;
                log.passed(self.overview.counts())
            }
            Some((count, _)) if result.verdict != Verdict::Pass && *count < SOAK_CASES => {
                *count += 1;
                log.case(result)
            }
            Some(_) => Ok(()),
        }
    }

    /// Returns the number of verdicts since [`Self::check`].
    pub(super) fn judged(&self) -> usize {
        self.judged.len()
    }

    /// Checks that each of these cases has had exactly one verdict since the last check.
    pub(super) fn check(&mut self, mut cases: Vec<String>) -> Result<(), Failure> {
        let mut judged = std::mem::take(&mut self.judged);
        cases.sort();
        judged.sort();
        if cases == judged && self.overview.counts().is_consistent() {
            return Ok(());
        }
        let cases = cases.len();
        let judged = judged.len();
        Err(Failure::new(BUG, format!("{cases} cases have {judged} verdicts, not one each")))
    }

    /// Writes down that the run did not come to its end, and which cases had no turn.
    pub(super) fn broke_off(&mut self, why: &str, left: &[Case]) {
        for case in left {
            self.note(&mut CaseResult::new(case, Verdict::NotRun));
        }
        // The reason is reported anyway, and is graver than a file that lacks its end.
        let _ = self.end(Some(why.to_owned()));
    }

    /// Writes the end: complete, unless there is a reason why not.
    pub(super) fn end(&mut self, why: Option<String>) -> Result<(), Failure> {
        if let Some(error) = self.failed.take() {
            return Err(error.into());
        }
        let end = End { complete: why.is_none(), why, counts: self.overview.counts() };
        Ok(self.log.as_mut().map_or(Ok(()), |log| log.end(&end))?)
    }
}
