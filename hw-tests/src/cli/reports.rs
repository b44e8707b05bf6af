//! Writes the report of a run: at its start, so that one that is killed leaves no other's, and at its end.

use std::path::PathBuf;
use std::time::{Instant, SystemTime};

use clap::Args;
use hw_tests::corpus::Case;
use hw_tests::report::{self, Gathered, Report};
use hw_tests::rig::Plan;
use hw_tests::runner::log::Head;
use rcflash::exit::{Failure, Outcome, RIG};

/// Where the report goes.
#[derive(Args)]
pub(super) struct ReportArgs {
    /// Write report.html, report.json, report.md and junit.xml into this folder (docs/REPORTS.md)
    #[arg(long, value_name = "DIR")]
    report_dir: Option<PathBuf>,
}

impl ReportArgs {
    /// What gathers the cases, if anything does.
    pub(super) fn gathered(&self) -> Option<Gathered> {
        self.report_dir.as_ref().map(|_| Gathered::default())
    }
}

/// The report of a run under way.
pub(super) struct Reporter<'a> {
    folder: Option<&'a PathBuf>,
    selected: Vec<Case>,
    began: Instant,
    pub(super) report: Report,
}

impl<'a> Reporter<'a> {
    /// Begins a report: all cases have had no turn yet.
    pub(super) fn begin(
        args: &'a ReportArgs,
        head: Head,
        plan: Option<(&Plan, &str)>,
        cases: &[Case],
    ) -> Result<Self, Failure> {
        let arguments = std::env::args_os().skip(1);
        let arguments = arguments.map(|argument| argument.to_string_lossy().into_owned());
        let mut report = Report::begin(head, arguments.collect(), SystemTime::now());
        if let Some((plan, name)) = plan {
            report.note_board(&plan.profile, name);
        }
        let folder = args.report_dir.as_ref();
        let selected = if folder.is_some() { cases.to_vec() } else { Vec::new() };
        let mut reporter = Self { folder, selected, began: Instant::now(), report };
        reporter.write(Gathered::default(), true)?;
        Ok(reporter)
    }

    /// Writes the report of a run that has ended so. The exit code is that of the run, unless only the report failed.
    pub(super) fn finish(mut self, gathered: Option<Gathered>, outcome: Outcome) -> Outcome {
        if let Err(failure) = &outcome {
            self.report.note_failure(&failure.message);
        }
        let written = self.write(gathered.unwrap_or_default(), outcome.is_err());
        match (outcome, written) {
            (Ok(0), Err(error)) => Err(error),
            (outcome, Err(error)) => {
                eprintln!("hw-tests: {}", error.message);
                outcome
            }
            (outcome, Ok(())) => outcome,
        }
    }

    /// Writes the files; the cases that are missing had no turn where the run was broken off.
    fn write(&mut self, gathered: Gathered, is_broken_off: bool) -> Result<(), Failure> {
        let Some(folder) = self.folder else { return Ok(()) };
        let cases = gathered.finish(if is_broken_off { &self.selected } else { &[] });
        self.report.note_cases(cases, self.began.elapsed());
        report::write(&self.report, folder).map_err(|error| Failure::new(RIG, error))
    }
}
