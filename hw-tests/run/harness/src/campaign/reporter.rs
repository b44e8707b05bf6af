//! Writes the report of a run at its end, and at its start unless there is an earlier report, so
//! that a killed run leaves one.

use std::io;
use std::sync::Arc;
use std::time::SystemTime;

use rcflash_transport::time::Instant;

use cli_support::exit::CommandError;

use super::{ConnectedBoard, Executor, FinishedRun, ResultRecorder, RunConfig, RunContext};
use crate::case_list::{CaseList, SelectedCases};
use crate::file_system::FileSystem;
use crate::report::{
    CaseResults, Report, WorstResults, WriteError, has_report, prepare_folder, write_files,
};
use crate::results::{Clock, RunHeader};
use crate::runner::{CaseResult, Verdict};
use crate::suite::Suite;

/// Writes the report of a run.
pub struct Reporter<'a, S: Suite> {
    config: &'a RunConfig,
    cases: &'a dyn CaseList<S::Case>,
    file_system: &'a dyn FileSystem,
    clock: Clock,
    started: Instant,
    /// The report.
    pub report: Report<S>,
}

impl<'a, S: Suite> Reporter<'a, S> {
    /// Checks that the report can be written, and writes one in which no case has been run unless
    /// there is one.
    pub(super) fn start<T: Executor<Suite = S>>(
        config: &'a RunConfig,
        cases: &'a dyn CaseList<S::Case>,
        head: RunHeader,
        ctx: &RunContext<'a, T>,
    ) -> Result<Self, CommandError> {
        let mut report = Report::new(head, config.arguments.clone(), SystemTime::now());
        report.commit = config.commit.clone();
        let clock = Arc::clone(&ctx.clock);
        let started = clock();
        let mut reporter =
            Self { config, cases, file_system: ctx.file_system, clock, started, report };
        if let Some(folder) = &config.report {
            prepare_folder(ctx.file_system, folder, config.force)?;
            if !has_report(ctx.file_system, folder)? {
                reporter.write(WorstResults::new(None, 0), true)?;
            }
        }
        Ok(reporter)
    }

    /// Sets the board of a run whose board has no name.
    pub(super) fn set_board(&mut self, connected: &ConnectedBoard) {
        let report = &mut self.report;
        if let Some(board) = &mut report.board {
            connected.name.clone_into(&mut board.name);
        }
        report.image.clone_from(&connected.identity);
        report.user_routines = connected.own_routines.iter().map(ToString::to_string).collect();
    }

    /// Writes the final report. If both the run and the report failed, returns the run's failure
    /// with both messages.
    pub(super) fn finish(
        mut self,
        recorder: ResultRecorder<S>,
        outcome: Result<FinishedRun<S>, CommandError>,
    ) -> Result<FinishedRun<S>, CommandError> {
        if recorder.earlier_boards() != self.report.run.boards {
            self.report.earlier_boards = recorder.earlier_boards().to_vec();
        }
        if let Err(failure) = &outcome {
            self.report.set_failure(&failure.message);
        }
        let written = self.write(recorder.results, outcome.is_err());
        match (outcome, written) {
            (Ok(done), Err(error)) if done.exit_code() == 0 => Err(error),
            (Ok(done), Err(error)) => {
                Ok(FinishedRun { report_failure: Some(error.message), ..done })
            }
            (Err(failure), Err(error)) => {
                let message = format!("{}; {}", failure.message, error.message);
                Err(CommandError { message, ..failure })
            }
            (outcome, Ok(())) => outcome,
        }
    }

    /// Writes the files. If the run was aborted, cases without a result are listed as not run.
    fn write(&mut self, results: WorstResults, is_aborted: bool) -> Result<(), CommandError> {
        let Some(folder) = &self.config.report else { return Ok(()) };
        let is_left = |case: &S::Case| is_aborted && !results.contains(S::id(case));
        let left = SelectedCases::new(self.cases, is_left);
        let mut results = ReportedResults::<S> { results, left };
        let took = (self.clock)().saturating_duration_since(self.started);
        let baseline = self.config.baseline.as_deref();
        self.report
            .set_cases(&mut results, took, &self.config.follow_up, baseline)
            .map_err(|source| WriteError::Io { path: folder.clone(), source })?;
        Ok(write_files(&self.report, &mut results, self.file_system, folder)?)
    }
}

/// The results of a run, and the cases that were not run.
struct ReportedResults<'a, S: Suite> {
    results: WorstResults,
    left: SelectedCases<&'a dyn CaseList<S::Case>>,
}

impl<S: Suite> ReportedResults<'_, S> {
    fn not_run(&self) -> impl Iterator<Item = CaseResult<S>> {
        self.left.cases().map(|case| CaseResult::new(&case, Verdict::NotRun))
    }
}

impl<S: Suite> CaseResults<S> for ReportedResults<'_, S> {
    fn visit(&mut self, visit: &mut dyn FnMut(&CaseResult<S>) -> io::Result<()>) -> io::Result<()> {
        self.results.visit(visit)?;
        self.not_run().try_for_each(|result| visit(&result))
    }

    fn visit_json(&mut self, visit: &mut dyn FnMut(&str) -> io::Result<()>) -> io::Result<()> {
        CaseResults::<S>::visit_json(&mut self.results, visit)?;
        self.not_run().try_for_each(|result| visit(&serde_json::to_string(&result)?))
    }
}
