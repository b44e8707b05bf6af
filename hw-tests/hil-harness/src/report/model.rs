//! One run as data: what `report.json` holds and every other form of the report is made from
//! (docs/REPORTS.md).

use std::time::{Duration, SystemTime};

use chrono::{DateTime, SecondsFormat, Utc};
use firmware::profile::Profile;
use firmware_wire::Identity;
use rcflash_link::LinkStats;
use serde::{Deserialize, Serialize};

use super::{BoardRow, Inspection, Options, incomplete};
use crate::live::{LiveBoard, Load};
use crate::results::Head;
use crate::runner::{CaseResult, Comparison, Conclusion, Counts, Course, Verdict};

/// Version of the schema. Within a version fields may be added; none goes or changes its meaning.
pub const SCHEMA: u32 = 1;

/// Cases with commands to look into them.
const INSPECTED: usize = 100;

/// The remark on a run that has not ended: of one that was killed nothing else is left.
const UNFINISHED: &str = "the run has not ended, or was killed";

/// A run. What is absent is left out of the JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The run to make, as the results file has it.
    pub run: Head,
    /// The command line, without the program.
    pub arguments: Vec<String>,
    /// When it began: RFC 3339, UTC, to the second.
    pub started: String,
    /// The time it took, in milliseconds.
    pub took_ms: u64,
    /// The outcome, in a word.
    pub outcome: Conclusion,
    /// Reason for which some cases were not run; absent if all were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<String>,
    /// The boards of a run on several, and what each did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub boards: Vec<BoardRow>,
    /// The board; absent in a run on several, and when the command line names none that there is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub board: Option<Board>,
    /// The image that ran on it, as it told itself; absent when the set-up failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<Identity>,
    /// The routines in it that are not of this project.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub own: Vec<String>,
    /// The events of the run besides the verdicts; absent when the set-up failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub course: Option<Course>,
    /// Statistics of the line; absent when the set-up failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<LinkStats>,
    /// The limit of the run; absent where time means nothing, and when the set-up failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Load>,
    /// The faults that were made on the line on purpose, and the seed that decided them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faults: Option<String>,
    /// The cases by verdict.
    pub counts: Counts,
    /// The comparison with an earlier run; absent if none was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Comparison>,
    /// All verdicts of cases that were run several times. `counts` and `cases` have
    /// each case once then, as it ended at its worst.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<Counts>,
    /// Commands that look into wrong answers, for the first ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inspect: Vec<Inspection>,
    /// The cases, in the order in which they ended.
    pub cases: Vec<CaseResult>,
}

/// A board.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Board {
    /// The name, such as the path of its serial device; until it is reached, its name on the
    /// command line.
    pub name: String,
    /// The name for people of boards with its profile.
    pub title: String,
    /// Processor clock in Hz, by the profile.
    pub clock_hz: u64,
    /// Line speed in bits a second, by the profile.
    pub baud: u32,
}

impl Report {
    /// The report of a run of which nothing is known yet but what it is to do.
    #[must_use]
    pub fn begin(run: Head, arguments: Vec<String>, started: SystemTime) -> Self {
        Self {
            schema: SCHEMA,
            run,
            arguments,
            started: DateTime::<Utc>::from(started).to_rfc3339_opts(SecondsFormat::Secs, true),
            took_ms: 0,
            outcome: Conclusion::Incomplete,
            incomplete: Some(UNFINISHED.to_owned()),
            boards: Vec::new(),
            board: None,
            image: None,
            own: Vec::new(),
            course: None,
            link: None,
            limit: None,
            faults: None,
            counts: Counts::default(),
            baseline: None,
            rounds: None,
            inspect: Vec::new(),
            cases: Vec::new(),
        }
    }

    /// Notes which board it is to be.
    pub fn note_board(&mut self, profile: &Profile, name: &str) {
        self.board = Some(Board {
            name: name.to_owned(),
            title: profile.title.clone(),
            clock_hz: profile.clock_hz,
            baud: profile.uart.baud,
        });
    }

    /// Notes which board it is and what runs on it.
    pub fn note_rig(&mut self, live: &LiveBoard) {
        if let Some(board) = &mut self.board {
            live.board().clone_into(&mut board.name);
        }
        self.image = Some(live.application.clone());
        self.own = live.own.iter().map(ToString::to_string).collect();
    }

    /// Notes how the run went, how the line fared, and what limited it.
    pub fn note_course(&mut self, course: &Course, live: &LiveBoard) {
        self.incomplete = incomplete(&course.ended);
        self.course = Some(course.clone());
        self.link = Some(live.stats());
        self.limit = live.load();
        self.faults = live.faults().map(|faults| faults.to_string());
    }

    /// Notes how a run on several boards went, and how their lines fared together.
    pub fn note_boards(&mut self, course: &Course, stats: LinkStats) {
        self.incomplete = incomplete(&course.ended);
        self.course = Some(course.clone());
        self.link = Some(stats);
    }

    /// Notes why the run was broken off.
    pub fn note_failure(&mut self, message: &str) {
        let where_to =
            if self.image.is_none() && self.course.is_none() { "set-up failed: " } else { "" };
        self.incomplete = Some(format!("{where_to}{message}"));
    }

    /// Notes the cases, what they come to, and how to look into those that failed.
    pub fn note_cases(&mut self, cases: Vec<CaseResult>, took: Duration, options: &Options) {
        let inspected = cases.iter().filter_map(|case| Inspection::of(case, options));
        self.inspect = inspected.take(INSPECTED).collect();
        self.counts = Counts::of(&cases);
        self.outcome = Conclusion::of(Counts::of_news(&cases), self.incomplete.is_some());
        self.cases = cases;
        self.took_ms = took.as_millis() as u64;
    }

    /// Returns the reason for the board's last restart.
    #[must_use]
    pub fn last_restart(&self) -> Option<&str> {
        self.course.as_ref()?.last_restart.as_deref()
    }

    /// Returns the commands that look into a case; none if it did not fail.
    #[must_use]
    pub fn commands(&self, case: &CaseResult) -> &[String] {
        let found = self.inspect.iter().find(|found| found.case == case.id);
        found.map_or(&[], |found| &found.commands)
    }

    /// Returns its results in numbers.
    #[must_use]
    pub fn headline(&self) -> String {
        let Counts { pass, cases, .. } = self.counts;
        let known = self.baseline.as_ref().map_or(0, |compared| compared.known.len());
        let known = if known > 0 { format!("{known} known, ") } else { String::new() };
        format!("{known}{pass} of {cases} cases pass")
    }

    /// The cases of which something is to be said: all but those that passed and those that had no
    /// turn.
    pub fn troubles(&self) -> impl Iterator<Item = &CaseResult> {
        let is_trouble =
            |case: &&CaseResult| !matches!(case.verdict, Verdict::Pass | Verdict::NotRun);
        self.cases.iter().filter(is_trouble)
    }
}
