//! The history of many runs: pass and flake rates of cases and boards, T-states and line errors.

mod page;

pub(crate) use page::HistoryPage;

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;

use askama::Template;
use rcflash_link::LinkStats;
use serde::Serialize;

use super::{BoardSummary, Report};
use crate::runner::Conclusion;
use crate::suite::{CaseResult, Suite, Verdict};

/// Version of `history.json`.
const HISTORY_VERSION: u32 = 1;
/// Shown digits of a commit.
const SHORT_COMMIT: usize = 12;
/// Most cases listed in the text.
const MAX_CASES_SHOWN: usize = 20;

/// The history of runs: the content of `history.json`.
#[derive(Debug, Clone, Serialize, Template)]
#[template(path = "history.txt")]
pub struct History {
    /// [`HISTORY_VERSION`].
    history: u32,
    /// The runs, from the earliest. Other fields give runs by their index here, from 0.
    pub runs: Vec<PastRun>,
    /// The boards, by name.
    pub boards: Vec<BoardHistory>,
    /// The cases, by name.
    pub cases: Vec<CaseHistory>,
}

/// Numbers of results.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct ResultCounts {
    /// Results without those skipped or not run.
    pub results: u64,
    /// Results that passed.
    pub passed: u64,
    /// Flaky results: flaky by themselves, or not passed although the same build passed the case
    /// in some run.
    pub flaky: u64,
}

impl ResultCounts {
    fn add(&mut self, verdict: Verdict, has_build_passed: bool) {
        if matches!(verdict, Verdict::Skipped | Verdict::NotRun) {
            return;
        }
        let is_pass = verdict == Verdict::Pass;
        self.results += 1;
        self.passed += u64::from(is_pass);
        self.flaky += u64::from(verdict == Verdict::Flaky || !is_pass && has_build_passed);
    }

    /// Formats the pass rate and the flake rate, in percent.
    fn rates(self) -> [String; 2] {
        let percent = |count| format!("{:.2} %", 100.0 * count as f64 / self.results.max(1) as f64);
        [self.passed, self.flaky].map(percent)
    }
}

/// The history of a case.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct CaseHistory {
    /// Name of the case.
    pub id: String,
    /// Its verdicts, one a run.
    #[serde(flatten)]
    pub counts: ResultCounts,
    /// The run in which it first did not pass; absent if it always passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_failed: Option<usize>,
    /// The run since which it has not passed; absent if it passed in its last run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failing_since: Option<usize>,
    /// The runs in which it did not pass, with its verdict.
    pub not_passed: Vec<(usize, Verdict)>,
    /// T-states of all its values, for each run that measured another number than the run before.
    pub t_states: Vec<(usize, u64)>,
}

impl CaseHistory {
    fn add(&mut self, run: usize, case: &PastCase, has_passed: bool) {
        let PastCase { verdict, t_states, .. } = *case;
        self.counts.add(verdict, has_passed);
        match verdict {
            Verdict::Pass => self.failing_since = None,
            Verdict::Skipped | Verdict::NotRun => {}
            _ => {
                self.first_failed.get_or_insert(run);
                self.failing_since.get_or_insert(run);
                self.not_passed.push((run, verdict));
            }
        }
        let last = self.t_states.last().map(|(_, t_states)| *t_states);
        self.t_states.extend(t_states.filter(|now| Some(*now) != last).map(|now| (run, now)));
    }
}

/// The history of a board.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct BoardHistory {
    /// Its name; of a simulated one without its port.
    pub name: String,
    /// Its results; a case that ran on several boards has one on each.
    #[serde(flatten)]
    pub counts: ResultCounts,
    /// How often it was lost.
    pub losses: u64,
    /// How often it was restarted.
    pub restarts: u64,
    /// For each run with a line: its number, the requests, and the line errors: retries, and frames
    /// corrupted at the host.
    pub line: Vec<(usize, u64, u64)>,
}

impl BoardHistory {
    fn add(&mut self, run: usize, board: &BoardSummary) {
        self.losses += board.losses;
        self.restarts += board.restarts;
        let errors = |link: LinkStats| link.total_retries() + link.corrupted_at_host;
        self.line.extend(board.link.map(|link| (run, link.requests, errors(link))));
    }

    fn line_errors(&self) -> u64 {
        self.line.iter().map(|(.., errors)| errors).sum()
    }
}

impl History {
    /// Creates the history of runs, in any order.
    pub fn new(mut runs: Vec<PastRun>) -> Self {
        runs.sort_by(|a, b| (&a.started, &a.file).cmp(&(&b.started, &b.file)));
        let mut cases = BTreeMap::<&str, CaseHistory>::new();
        let mut boards = BTreeMap::<&str, BoardHistory>::new();
        let passed: HashSet<_> = runs.iter().flat_map(PastRun::passed).collect();
        for (number, run) in runs.iter().enumerate() {
            for case in &run.cases {
                let has_passed =
                    |board: usize| passed.contains(&(&*case.id, &*run.boards[board].1));
                let new = || CaseHistory { id: case.id.clone(), ..CaseHistory::default() };
                cases.entry(&case.id).or_insert_with(new).add(number, case, has_passed(case.board));
                for (board, verdict) in &case.on_boards {
                    let history = boards.entry(&run.boards[*board].0.name).or_default();
                    history.counts.add(*verdict, has_passed(*board));
                }
            }
            for (board, _) in &run.boards {
                boards.entry(&board.name).or_default().add(number, board);
            }
        }
        let cases = cases.into_values().collect();
        let named =
            |(name, board): (&str, BoardHistory)| BoardHistory { name: name.to_owned(), ..board };
        let boards = boards.into_iter().map(named).collect();
        Self { history: HISTORY_VERSION, runs, boards, cases }
    }

    /// Returns the cases that did not always pass: those that fail now first, then by flaky
    /// results.
    pub fn problems(&self) -> Vec<&CaseHistory> {
        let mut cases: Vec<_> =
            self.cases.iter().filter(|case| !case.not_passed.is_empty()).collect();
        cases.sort_by_key(|case| {
            (case.failing_since.is_none(), std::cmp::Reverse(case.counts.flaky))
        });
        cases
    }

    /// Returns the number of runs, their time and their conclusions.
    fn headline(&self) -> String {
        let count = |outcome| self.runs.iter().filter(|run| run.outcome == outcome).count();
        let time = match &self.runs[..] {
            [first, .., last] => format!(", {} to {}", first.started, last.started),
            _ => String::new(),
        };
        format!(
            "{} runs{time}: {} pass, {} fail, {} incomplete",
            self.runs.len(),
            count(Conclusion::Pass),
            count(Conclusion::Fail),
            count(Conclusion::Incomplete)
        )
    }

    /// Describes a run: its start, its builds and its commit.
    fn describe(&self, run: usize) -> String {
        let run = &self.runs[run];
        let mut text = run.started.clone();
        if !run.builds.is_empty() {
            let _ = write!(text, ", build {}", run.builds.join(" and "));
        }
        if let Some(commit) = &run.commit {
            let _ = write!(text, ", commit {commit:.SHORT_COMMIT$}");
        }
        text
    }

    /// Describes when a case failed: since which run, or first and last in which.
    fn failed_when(&self, case: &CaseHistory) -> String {
        match (case.failing_since, case.first_failed, case.not_passed.last()) {
            (Some(since), ..) => format!("failing since {}", self.describe(since)),
            (None, Some(first), Some((last, _))) if first != *last => {
                format!("first {}; last {}", self.describe(first), self.describe(*last))
            }
            (None, first, _) => first.map_or_else(String::new, |first| self.describe(first)),
        }
    }
}

/// A run of a history.
#[derive(Debug, Clone, Serialize)]
pub struct PastRun {
    /// Path of its report.
    pub file: String,
    /// Its start: RFC 3339, UTC.
    pub started: String,
    /// Its conclusion.
    pub outcome: Conclusion,
    /// The git commit of its folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The builds on its boards, in hexadecimal, each once.
    pub builds: Vec<String>,
    /// The boards, each with its build, or with the commit if that is unknown.
    #[serde(skip)]
    boards: Vec<(BoardSummary, String)>,
    #[serde(skip)]
    cases: Vec<PastCase>,
}

/// A case of a run. Boards are given by their index in the run.
#[derive(Debug, Clone)]
struct PastCase {
    id: String,
    verdict: Verdict,
    /// The board whose reply was judged.
    board: usize,
    /// The verdicts on all boards that ran it.
    on_boards: Vec<(usize, Verdict)>,
    t_states: Option<u64>,
}

impl PastRun {
    /// Returns what a history needs of the report in a file.
    pub fn new<S: Suite>(file: String, report: Report<S>) -> Self {
        let rows = report.board_rows();
        let builds = report.builds();
        let commit = report.commit.filter(|commit| !commit.is_empty());
        let index = |name: &str| rows.iter().position(|row| row.name == name).unwrap_or_default();
        let cases = report.cases.iter().map(|case| PastCase::new(case, &index)).collect();
        let build = |row: &BoardSummary| row.build().or(commit.clone()).unwrap_or_default();
        let boards = rows.iter().map(|row| (row.clone(), build(row))).collect();
        let Report { started, outcome, .. } = report;
        Self { file, started, outcome, commit, builds, boards, cases }
    }

    /// Returns the cases that passed on some board, and the build on it.
    fn passed(&self) -> impl Iterator<Item = (&str, &str)> {
        self.cases.iter().flat_map(move |case| {
            let passed = case.on_boards.iter().filter(|(_, verdict)| *verdict == Verdict::Pass);
            passed.map(|(board, _)| (&*case.id, &*self.boards[*board].1))
        })
    }
}

impl PastCase {
    fn new<S: Suite>(case: &CaseResult<S>, index: &dyn Fn(&str) -> usize) -> Self {
        let board = case.board.as_deref().map_or(0, index);
        let ends = case.board_verdicts.iter().map(|end| (index(&end.board), end.verdict));
        let single = case.board_verdicts.is_empty().then_some((board, case.verdict));
        Self {
            id: case.id.clone(),
            verdict: case.verdict,
            board,
            on_boards: ends.chain(single).collect(),
            t_states: case.t_states(),
        }
    }
}
