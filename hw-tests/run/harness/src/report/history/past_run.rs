//! What a history needs of a report.

use serde::Serialize;

use crate::report::{BoardSummary, Report};
use crate::runner::{CaseResult, Conclusion, Verdict};
use crate::suite::Suite;

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
    #[serde(skip)]
    pub(super) boards: Vec<PastBoard>,
    #[serde(skip)]
    cases: Vec<PastCase>,
}

/// A board of a run.
#[derive(Debug, Clone)]
pub(super) struct PastBoard {
    pub(super) name: String,
    /// The build on it, or the commit if it is unknown.
    build: String,
    pub(super) losses: u64,
    pub(super) restarts: u64,
    /// Requests and line errors.
    pub(super) line: Option<(u64, u64)>,
}

/// A case of a run. Boards are given by their index in the run.
#[derive(Debug, Clone)]
struct PastCase {
    id: String,
    verdict: Verdict,
    /// The board whose reply was judged.
    board: usize,
    /// The verdicts on several boards.
    on_boards: Vec<(usize, Verdict)>,
    t_states: Option<u64>,
}

/// A verdict of a case on a board.
pub(super) struct PastResult<'a> {
    pub(super) case: &'a str,
    pub(super) board: &'a str,
    pub(super) build: &'a str,
    pub(super) verdict: Verdict,
}

impl PastRun {
    /// Returns what a history needs of the report in a file.
    #[must_use]
    pub fn new<S: Suite>(file: String, report: Report<S>) -> Self {
        let rows = report.board_rows();
        let builds = report.builds();
        let commit = report.commit.unwrap_or_default();
        let boards: Vec<_> = rows.iter().map(|row| PastBoard::new(row, &commit)).collect();
        let index = |name: &str| rows.iter().position(|row| row.name == name).unwrap_or_default();
        let cases = report.cases.iter().map(|case| PastCase::new(case, &index)).collect();
        let commit = Some(commit).filter(|commit| !commit.is_empty());
        let Report { started, outcome, .. } = report;
        Self { file, started, outcome, commit, builds, boards, cases }
    }

    /// Returns the verdict of each case, with the T-states of its values.
    pub(super) fn verdicts(&self) -> impl Iterator<Item = (PastResult<'_>, Option<u64>)> {
        self.cases.iter().map(|case| (self.result(case, case.board, case.verdict), case.t_states))
    }

    /// Returns the verdicts of each case on all boards that ran it.
    pub(super) fn results(&self) -> impl Iterator<Item = PastResult<'_>> {
        self.cases.iter().flat_map(|case| {
            let single = case.on_boards.is_empty().then_some((case.board, case.verdict));
            let on_boards = case.on_boards.iter().copied().chain(single);
            on_boards.map(|(board, verdict)| self.result(case, board, verdict))
        })
    }

    fn result<'a>(&'a self, case: &'a PastCase, board: usize, verdict: Verdict) -> PastResult<'a> {
        let PastBoard { name, build, .. } = &self.boards[board];
        PastResult { case: &case.id, board: name, build, verdict }
    }
}

impl PastBoard {
    fn new<S: Suite>(row: &BoardSummary<S>, commit: &str) -> Self {
        Self {
            name: row.name.clone(),
            build: row.build().unwrap_or_else(|| commit.to_owned()),
            losses: row.losses,
            restarts: row.restarts,
            line: row
                .link
                .map(|link| (link.requests, link.total_retries() + link.corrupted_at_host)),
        }
    }
}

impl PastCase {
    fn new<S: Suite>(case: &CaseResult<S>, index: &dyn Fn(&str) -> usize) -> Self {
        let ends = case.board_verdicts.iter().map(|end| (index(&end.board), end.verdict));
        Self {
            id: case.id.clone(),
            verdict: case.verdict,
            board: case.board.as_deref().map_or(0, index),
            on_boards: ends.collect(),
            t_states: case.t_states(),
        }
    }
}
