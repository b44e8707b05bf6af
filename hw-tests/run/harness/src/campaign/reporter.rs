//! Writes the report of a run at its end, and at its start unless there is an earlier report, so
//! that a killed run leaves one.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::SystemTime;

use rcflash_transport::time::Instant;

use cli_support::exit::CommandError;

use super::{ConnectedBoard, Executor, FinishedRun, ResultRecorder, RunConfig, RunContext};
use crate::file_system::FileSystem;
use crate::report::{Report, has_report, prepare_folder, write_files};
use crate::results::{Clock, RunHeader};
use crate::suite::{CaseResult, Suite, Verdict};

/// Writes the report of a run.
pub(super) struct Reporter<'a, S: Suite> {
    config: &'a RunConfig,
    cases: &'a [S::Case],
    file_system: &'a dyn FileSystem,
    clock: Clock,
    started: Instant,
    /// The report.
    pub(super) report: Report<S>,
}

impl<'a, S: Suite> Reporter<'a, S> {
    /// Checks that the report can be written, and writes one in which no case has been run unless
    /// there is one.
    pub(super) fn start<T: Executor<Suite = S>>(
        config: &'a RunConfig,
        cases: &'a [S::Case],
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
                reporter.write(Vec::new(), true)?;
                // They are not needed while the run goes on.
                reporter.report.cases = Vec::new();
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
        mut recorder: ResultRecorder<S>,
        mut outcome: Result<FinishedRun<S>, CommandError>,
    ) -> Result<FinishedRun<S>, CommandError> {
        if recorder.earlier_boards() != self.report.run.boards {
            self.report.earlier_boards = recorder.earlier_boards().to_vec();
        }
        if let Err(failure) = &outcome {
            self.report.set_failure(&failure.message);
        }
        let is_aborted = outcome.is_err();
        // The results are those of the report while it is written.
        let totals = outcome.as_mut().map_or(&mut recorder.totals, |done| &mut done.totals);
        let written = self.write(std::mem::take(&mut totals.results.all), is_aborted);
        totals.results.all = self.report.cases;
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
    fn write(
        &mut self,
        mut cases: Vec<CaseResult<S>>,
        is_aborted: bool,
    ) -> Result<(), CommandError> {
        let Some(folder) = &self.config.report else {
            self.report.cases = cases;
            return Ok(());
        };
        if is_aborted {
            let recorded: HashSet<_> = cases.iter().map(|case| case.id.as_str()).collect();
            let left = self.cases.iter().filter(|case| !recorded.contains(S::id(case)));
            let left: Vec<_> = left.map(|case| CaseResult::new(case, Verdict::NotRun)).collect();
            cases.extend(left);
        }
        let took = (self.clock)().saturating_duration_since(self.started);
        let RunConfig { follow_up, baseline, .. } = self.config;
        self.report.set_cases(cases, took, follow_up, baseline.as_deref());
        write_files(&self.report, self.file_system, folder)
    }
}
