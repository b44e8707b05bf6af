//! Writes the report of a run at its start, so that a killed run leaves no report of an earlier
//! one, and at its end.

use std::sync::Arc;
use std::time::SystemTime;

use rcflash_transport::time::Instant;

use cli_support::exit::CommandError;

use super::{FinishedRun, ResultRecorder, RunConfig, RunContext};
use crate::file_system::FileSystem;
use crate::live::BoardConfig;
use crate::report::{Report, WorstResults, WriteError, prepare_folder, write_files};
use crate::results::{Clock, RunHeader};
use crate::runner::{CaseResult, Verdict};

/// Writes the report of a run.
pub struct Reporter<'a> {
    config: &'a RunConfig,
    file_system: &'a dyn FileSystem,
    clock: Clock,
    started: Instant,
    /// The report.
    pub report: Report,
}

impl<'a> Reporter<'a> {
    /// Writes a report in which no case has been run.
    pub(super) fn start(
        config: &'a RunConfig,
        head: RunHeader,
        plan: Option<&BoardConfig>,
        ctx: &RunContext<'a>,
    ) -> Result<Self, CommandError> {
        let mut report = Report::new(head, config.arguments.clone(), SystemTime::now());
        if let Some(plan) = plan {
            report.set_planned_board(&plan.profile, &config.board);
        }
        let clock = Arc::clone(&ctx.clock);
        let started = clock();
        let mut reporter = Self { config, file_system: ctx.file_system, clock, started, report };
        if let Some(folder) = &config.report {
            prepare_folder(ctx.file_system, folder, config.force)?;
            reporter.write(WorstResults::spooled_in(folder), true)?;
        }
        Ok(reporter)
    }

    /// Writes the final report. If both the run and the report failed, returns the run's failure
    /// with both messages.
    pub(super) fn finish(
        mut self,
        recorder: ResultRecorder,
        outcome: Result<FinishedRun, CommandError>,
    ) -> Result<FinishedRun, CommandError> {
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
    fn write(&mut self, mut results: WorstResults, is_aborted: bool) -> Result<(), CommandError> {
        let Some(folder) = &self.config.report else { return Ok(()) };
        if is_aborted {
            for case in &self.config.cases {
                if !results.contains(&case.id) {
                    results.add(&CaseResult::new(case, Verdict::NotRun));
                }
            }
        }
        let took = (self.clock)().saturating_duration_since(self.started);
        let baseline = self.config.baseline.as_deref();
        self.report
            .set_cases(&mut results, took, &self.config.follow_up, baseline)
            .map_err(|source| WriteError::Io { path: folder.clone(), source })?;
        Ok(write_files(&self.report, &mut results, self.file_system, folder)?)
    }
}
