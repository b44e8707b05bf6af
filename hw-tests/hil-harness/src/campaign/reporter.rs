//! Writes the report of a run: at its start, so that one that is killed leaves no other's, and at
//! its end.

use std::sync::Arc;
use std::time::SystemTime;

use rcflash_transport::time::Instant;

use cli_support::exit::Failure;

use super::{Done, Keeper, Settings, Surroundings};
use crate::disk::Disk;
use crate::live::Plan;
use crate::report::{Gathered, Report, prepare_folder, write};
use crate::results::{Clock, Head};

/// The report of a run under way.
pub struct Reporter<'a> {
    settings: &'a Settings,
    disk: &'a dyn Disk,
    clock: Clock,
    began: Instant,
    /// The report.
    pub report: Report,
}

impl<'a> Reporter<'a> {
    /// Begins a report: all cases are not run yet.
    pub(super) fn begin(
        settings: &'a Settings,
        head: Head,
        plan: Option<&Plan>,
        here: &Surroundings<'a>,
    ) -> Result<Self, Failure> {
        let mut report = Report::begin(head, settings.arguments.clone(), SystemTime::now());
        if let Some(plan) = plan {
            report.note_board(&plan.profile, &settings.board);
        }
        let clock = Arc::clone(&here.clock);
        let began = clock();
        let mut reporter = Self { settings, disk: here.disk, clock, began, report };
        if let Some(folder) = &settings.report {
            prepare_folder(here.disk, folder, settings.force)?;
        }
        reporter.write(Gathered::default(), true)?;
        Ok(reporter)
    }

    /// Writes the report of a run that has ended so. A failure of the run is graver than one of the
    /// report, whose message is added then.
    pub(super) fn finish(
        mut self,
        keeper: Keeper,
        outcome: Result<Done, Failure>,
    ) -> Result<Done, Failure> {
        if let Err(failure) = &outcome {
            self.report.note_failure(&failure.message);
        }
        let written = self.write(keeper.gathered.unwrap_or_default(), outcome.is_err());
        match (outcome, written) {
            (Ok(done), Err(error)) if done.exit_code() == 0 => Err(error),
            (Ok(done), Err(error)) => Ok(Done { report_failure: Some(error.message), ..done }),
            (Err(failure), Err(error)) => {
                let message = format!("{}; {}", failure.message, error.message);
                Err(Failure { message, ..failure })
            }
            (outcome, Ok(())) => outcome,
        }
    }

    /// Writes the files; the cases that are missing had no turn where the run was broken off.
    fn write(&mut self, gathered: Gathered, is_broken_off: bool) -> Result<(), Failure> {
        let Some(folder) = &self.settings.report else { return Ok(()) };
        let cases = gathered.finish(if is_broken_off { &self.settings.cases } else { &[] });
        let took = (self.clock)().saturating_duration_since(self.began);
        let baseline = self.settings.baseline.as_deref();
        self.report.baseline = baseline.map(|earlier| earlier.compare_all(&cases));
        self.report.note_cases(cases, took, &self.settings.inspect);
        Ok(write(&self.report, self.disk, folder)?)
    }
}
