//! What a history needs of a report.

use serde::Serialize;

use crate::report::{BoardSummary, Report};
use crate::runner::Conclusion;
use crate::suite::{CaseResult, Suite, Verdict};

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
    pub(super) boards: Vec<(BoardSummary, String)>,
    #[serde(skip)]
    pub(super) cases: Vec<PastCase>,
}

/// A case of a run. Boards are given by their index in the run.
#[derive(Debug, Clone)]
pub(super) struct PastCase {
    pub(super) id: String,
    pub(super) verdict: Verdict,
    /// The board whose reply was judged.
    pub(super) board: usize,
    /// The verdicts on all boards that ran it.
    pub(super) on_boards: Vec<(usize, Verdict)>,
    pub(super) t_states: Option<u64>,
}

impl PastRun {
    /// Returns what a history needs of the report in a file.
    #[must_use]
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

    /// Returns the build on a board, or the commit.
    pub(super) fn build(&self, board: usize) -> &str {
        &self.boards[board].1
    }

    /// Returns the cases that passed on some board, and the build on it.
    pub(super) fn passed(&self) -> impl Iterator<Item = (&str, &str)> {
        self.cases.iter().flat_map(move |case| {
            let passed = case.on_boards.iter().filter(|(_, verdict)| *verdict == Verdict::Pass);
            passed.map(|(board, _)| (&*case.id, self.build(*board)))
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
