//! Records the results of a run in the results file, for the report, and in the totals that are
//! printed at the end.

use std::borrow::Cow;
use std::sync::Arc;

use cli_support::exit::{BUG, CommandError, USAGE};
use rcflash_transport::time::{Duration, Instant};

use super::RunConfig;
use crate::file_system::FileSystem;
use crate::report::{RunTotals, WorstResults};
use crate::results::{BoardReady, Clock, ResultsError, ResultsWriter, RunEndRecord, RunHeader};
use crate::runner::{Baseline, BaselineStatus, CaseResult, Verdict};
use crate::suite::Suite;

/// Most cases that a soak run writes to the results file; passed cases are not written.
const MAX_SOAK_CASES_WRITTEN: u64 = 10_000;
/// How often a soak run writes its counts.
const SOAK_PROGRESS_INTERVAL: Duration = Duration::from_secs(60);

/// Records the results of the cases.
pub struct ResultRecorder<S: Suite> {
    /// The counts and the cases that did not pass.
    pub totals: RunTotals<S>,
    /// The results for the report.
    pub(super) results: WorstResults<S>,
    baseline: Option<Arc<Baseline>>,
    clock: Clock,
    writer: Option<ResultsWriter<S>>,
    /// The number of cases with a result in the resumed file.
    finished: usize,
    /// The names of the cases recorded since [`Self::verify_one_verdict_each`].
    recorded: Vec<String>,
    /// In a soak run: how many cases were written, and when the counts were last written.
    soak: Option<(u64, Instant)>,
    failed: Option<ResultsError>,
}

impl<S: Suite> ResultRecorder<S> {
    /// Creates a recorder without results.
    #[must_use]
    pub fn new(config: &RunConfig, clock: Clock) -> Self {
        let soak = config.is_soak().then(|| (0, clock()));
        Self {
            totals: RunTotals::new(config.follow_up.clone()),
            results: WorstResults::default(),
            baseline: config.baseline.clone(),
            clock,
            writer: None,
            finished: 0,
            recorded: Vec::new(),
            soak,
            failed: None,
        }
    }

    /// Creates the results file, or opens it to resume a run.
    pub(super) fn open(
        &mut self,
        config: &RunConfig,
        head: &RunHeader,
        file_system: &dyn FileSystem,
    ) -> Result<(), CommandError> {
        let Some(path) = &config.results else { return Ok(()) };
        let clock = Arc::clone(&self.clock);
        let writer = if config.resume {
            let mut add = |result| self.add_result(result);
            ResultsWriter::resume(file_system, path, head, clock, &mut add)
        } else {
            ResultsWriter::create(file_system, path, head, config.force, clock)
        };
        self.writer = Some(writer.inspect_err(|_| self.discard_results(config))?);
        self.finished = self.results.len();
        Ok(())
    }

    /// Discards the results of a file that turned out to be damaged or of another run.
    fn discard_results(&mut self, config: &RunConfig) {
        self.totals = RunTotals::new(config.follow_up.clone());
        self.results = WorstResults::default();
    }

    fn add_result(&mut self, mut result: CaseResult<S>) {
        self.count(&mut result);
        self.results.add(result);
    }

    /// Adds a result to the totals, and sets whether it is known.
    fn count(&mut self, result: &mut CaseResult<S>) {
        let compared = self.baseline.as_ref().map(|earlier| earlier.compare(result));
        result.known = compared == Some(BaselineStatus::Known);
        self.totals.add(result, compared);
    }

    /// Returns the boards of the resumed run on a fleet.
    pub(super) fn earlier_boards(&self) -> &[String] {
        self.writer.as_ref().map_or(&[], |writer| writer.earlier_boards())
    }

    /// Returns the cases that have no verdict in the results file.
    pub(super) fn unfinished<'a>(
        &self,
        cases: &'a [S::Case],
    ) -> Result<Cow<'a, [S::Case]>, CommandError> {
        if self.results.is_empty() {
            return Ok(Cow::Borrowed(cases));
        }
        let left = cases.iter().filter(|case| !self.results.contains(S::id(case)));
        let left: Vec<_> = left.cloned().collect();
        if left.len() + self.finished == cases.len() {
            return Ok(Cow::Owned(left));
        }
        let why = "the results file has cases that are not selected; \
                   repeat the arguments of the run that wrote it";
        Err(CommandError::new(USAGE, why))
    }

    /// Records the board on which the cases run.
    pub(super) fn record_board(&mut self, ready: BoardReady) -> Result<(), CommandError> {
        let writer = self.writer.as_mut();
        Ok(writer.map_or(Ok(()), |writer| writer.write_board(ready))?)
    }

    /// Records a result. Returns `false` if the results file could not be written.
    pub(super) fn record(&mut self, mut result: CaseResult<S>) -> bool {
        self.count(&mut result);
        // After a failure the file ends with its last complete line; nothing is appended to it.
        if self.failed.is_none()
            && let Err(error) = self.write(&result)
        {
            self.failed = Some(error);
        }
        self.recorded.push(result.id.clone());
        self.results.add(result);
        self.failed.is_none()
    }

    fn write(&mut self, result: &CaseResult<S>) -> Result<(), ResultsError> {
        let Some(writer) = &mut self.writer else { return Ok(()) };
        if result.verdict == Verdict::NotRun {
            return Ok(());
        }
        let Some((count, last_progress)) = &mut self.soak else {
            return writer.write_result(result);
        };
        if result.verdict != Verdict::Pass && *count < MAX_SOAK_CASES_WRITTEN {
            *count += 1;
            writer.write_result(result)?;
        }
        let now = (self.clock)();
        if now.saturating_duration_since(*last_progress) >= SOAK_PROGRESS_INTERVAL {
            *last_progress = now;
            writer.write_progress(self.totals.counts())?;
        }
        Ok(())
    }

    /// Returns the number of verdicts since [`Self::verify_one_verdict_each`].
    pub(super) fn verdict_count(&self) -> usize {
        self.recorded.len()
    }

    /// Verifies that each of these cases has had exactly one verdict since the last call.
    pub(super) fn verify_one_verdict_each(
        &mut self,
        mut cases: Vec<String>,
    ) -> Result<(), CommandError> {
        let mut recorded = std::mem::take(&mut self.recorded);
        cases.sort_unstable();
        recorded.sort_unstable();
        if cases == recorded && self.totals.counts().is_consistent() {
            return Ok(());
        }
        let (cases, recorded) = (cases.len(), recorded.len());
        Err(CommandError::new(BUG, format!("{cases} cases have {recorded} verdicts, not one each")))
    }

    /// Writes the end of the results, with the reason if the run is incomplete.
    pub(super) fn finish(&mut self, reason: Option<String>) -> Result<(), CommandError> {
        if let Some(error) = self.failed.take() {
            return Err(error.into());
        }
        let end = RunEndRecord { complete: reason.is_none(), reason, counts: self.totals.counts() };
        Ok(self.writer.as_mut().map_or(Ok(()), |writer| writer.write_end(&end))?)
    }
}
