//! Records the results of a run in the results file, for the report, and in the totals that are
//! printed at the end.

use std::borrow::Cow;
use std::sync::Arc;

use cli_support::exit::{BUG, CommandError, USAGE};
use rcflash_transport::time::{Duration, Instant};

use super::RunConfig;
use crate::file_system::FileSystem;
use crate::report::RunTotals;
use crate::results::{
    BoardReady, Clock, Record, ResultsError, ResultsWriter, RunEndRecord, RunHeader,
};
use crate::runner::{Baseline, BaselineStatus};
use crate::suite::{CaseResult, Suite, Verdict};

/// Most cases that a soak run writes to the results file; passed cases are not written.
const MAX_SOAK_CASES_WRITTEN: u64 = 10_000;
/// How often a soak run writes its counts.
const SOAK_PROGRESS_INTERVAL: Duration = Duration::from_secs(60);

/// Records the results of the cases.
pub(super) struct ResultRecorder<S: Suite> {
    /// The counts and the cases that did not pass.
    pub(super) totals: RunTotals<S>,
    baseline: Option<Arc<Baseline>>,
    clock: Clock,
    writer: Option<ResultsWriter<S>>,
    /// The names of the cases recorded since [`Self::verify_one_verdict_each`].
    pub(super) recorded: Vec<String>,
    /// In a soak run.
    soak: Option<SoakProgress>,
    failed: Option<ResultsError>,
}

/// What a soak run has written to its results file.
struct SoakProgress {
    /// The number of cases.
    written: u64,
    /// When the counts were last written.
    last_progress: Instant,
}

impl<S: Suite> ResultRecorder<S> {
    /// Creates a recorder without results.
    pub(crate) fn new(config: &RunConfig, clock: Clock) -> Self {
        let soak = config.is_soak().then(|| SoakProgress { written: 0, last_progress: clock() });
        Self {
            totals: RunTotals::default(),
            baseline: config.baseline.clone(),
            clock,
            writer: None,
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
            let mut add = |mut result: CaseResult<S>| {
                let compared = self.compare(&mut result);
                self.totals.add(result, compared);
            };
            ResultsWriter::resume(file_system, path, head, clock, &mut add)
        } else {
            ResultsWriter::create(file_system, path, head, config.force, clock)
        };
        // A file that turned out to be damaged or of another run has no results.
        self.writer = Some(writer.inspect_err(|_| self.totals = RunTotals::default())?);
        Ok(())
    }

    /// Sets whether a result is known from the baseline.
    fn compare(&self, result: &mut CaseResult<S>) -> Option<BaselineStatus> {
        let compared = self.baseline.as_ref().map(|earlier| earlier.compare(result));
        result.known = compared == Some(BaselineStatus::Known);
        compared
    }

    /// Returns the boards of the resumed run on a fleet.
    pub(super) fn earlier_boards(&self) -> &[String] {
        self.writer.as_ref().map_or(&[], |writer| &writer.earlier_boards)
    }

    /// Returns the cases that have no verdict in the results file, before others are recorded.
    pub(super) fn unfinished<'a>(
        &self,
        cases: &'a [S::Case],
    ) -> Result<Cow<'a, [S::Case]>, CommandError> {
        let finished = self.totals.results.all.len();
        if finished == 0 {
            return Ok(Cow::Borrowed(cases));
        }
        let left = cases.iter().filter(|case| !self.totals.results.contains(S::id(case)));
        let left: Vec<_> = left.cloned().collect();
        if left.len() + finished == cases.len() {
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
        let compared = self.compare(&mut result);
        // After a failure the file ends with its last complete line; nothing is appended to it.
        if self.failed.is_none() {
            self.failed = self.write(&result).err();
        }
        self.recorded.push(result.id.clone());
        self.totals.add(result, compared);
        if self.failed.is_none() {
            self.failed = self.write_progress().err();
        }
        self.failed.is_none()
    }

    fn write(&mut self, result: &CaseResult<S>) -> Result<(), ResultsError> {
        let Some(writer) = &mut self.writer else { return Ok(()) };
        let is_written = match &mut self.soak {
            None => result.verdict != Verdict::NotRun,
            Some(soak) => {
                let is_written = !matches!(result.verdict, Verdict::Pass | Verdict::NotRun)
                    && soak.written < MAX_SOAK_CASES_WRITTEN;
                soak.written += u64::from(is_written);
                is_written
            }
        };
        if is_written { writer.write_result(result) } else { Ok(()) }
    }

    /// Writes the counts of a soak run if that is due.
    fn write_progress(&mut self) -> Result<(), ResultsError> {
        let (Some(writer), Some(soak)) = (&mut self.writer, &mut self.soak) else { return Ok(()) };
        let now = (self.clock)();
        if now.saturating_duration_since(soak.last_progress) < SOAK_PROGRESS_INTERVAL {
            return Ok(());
        }
        soak.last_progress = now;
        writer.write(&Record::Progress(self.totals.counts))
    }

    /// Verifies that each of these cases has had exactly one verdict since the last call.
    pub(super) fn verify_one_verdict_each(
        &mut self,
        mut cases: Vec<String>,
    ) -> Result<(), CommandError> {
        let mut recorded = std::mem::take(&mut self.recorded);
        cases.sort_unstable();
        recorded.sort_unstable();
        if cases == recorded && self.totals.counts.is_consistent() {
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
        let Some(writer) = &mut self.writer else { return Ok(()) };
        let (complete, counts) = (reason.is_none(), self.totals.counts);
        Ok(writer.write(&Record::End(RunEndRecord { complete, reason, counts }))?)
    }
}
