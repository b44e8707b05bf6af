//! The boards of a run on several: what each did, and whose fault troubles were.

use std::fmt::Write;

use cli_support::text::Show;
use firmware_wire::Identity;
use rcflash_link::LinkStats;
use serde::{Deserialize, Serialize};

use super::Report;
use crate::runner::{Counts, Fault, Verdict};

/// A board of a run on several.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoardRow {
    /// Its name on the command line.
    pub name: String,
    /// The name of its profile; empty if no plan could be made for it.
    pub profile: String,
    /// The place where it was reached; absent if it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// The image that ran on it; absent if it was never ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<Identity>,
    /// The end of its work: `complete`, or why it ended early.
    pub ended: String,
    /// The ends of cases on it.
    pub counts: Counts,
    /// The troubles that another board did not have with the same case.
    pub at_fault: u32,
    /// The number of times it was lost and found again as it was.
    pub losses: u64,
    /// The number of times it had to be started again.
    pub restarts: u64,
    /// Statistics of its line; absent if it was never ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<LinkStats>,
}

impl Report {
    /// Returns the number of cases whose trouble is a board's, and of those whose trouble is the
    /// code's; `None` in a run on one board.
    #[must_use]
    pub(super) fn faulty(&self) -> Option<(usize, usize)> {
        let is_board = |fault: &&Fault| matches!(fault, Fault::Boards(_));
        let is_code = |fault: &&Fault| matches!(fault, Fault::Code(_));
        let faults = || self.cases.iter().filter_map(|case| case.fault.as_ref());
        let counts = (faults().filter(is_board).count(), faults().filter(is_code).count());
        (!self.run.boards.is_empty()).then_some(counts)
    }
}

/// Says how many troubles are of boards, and how many of the code.
pub(super) fn at_fault(boards: usize, code: usize) -> String {
    format!("a board in {boards} cases, the code in {code}")
}

/// The table of the boards; the first row has the names of the columns. Nothing without boards.
pub(super) fn cells(boards: &[BoardRow]) -> Vec<Vec<String>> {
    if boards.is_empty() {
        return Vec::new();
    }
    let is_there = |verdict: &Verdict| boards.iter().any(|board| board.counts.with(*verdict) > 0);
    let verdicts: Vec<_> =
        Verdict::ALL.into_iter().filter(|v| *v == Verdict::Pass || is_there(v)).collect();
    let head = ["board", "cases"].into_iter().chain(verdicts.iter().map(|verdict| verdict.word()));
    let head = head.chain(["at fault", "ended"]).map(str::to_owned).collect();
    let row = |board: &BoardRow| {
        let counts = verdicts.iter().map(|verdict| board.counts.with(*verdict));
        let numbers = [board.counts.cases].into_iter().chain(counts);
        let numbers = numbers.chain([u64::from(board.at_fault)]).map(|count| count.to_string());
        let name = std::iter::once(board.name.clone());
        name.chain(numbers).chain([board.ended.clone()]).collect()
    };
    std::iter::once(head).chain(boards.iter().map(row)).collect()
}

/// The table of the boards as text.
#[must_use]
pub fn table(boards: &[BoardRow]) -> String {
    let rows = cells(boards);
    let widest = rows.iter().map(|row| row[0].shown().chars().count()).max().unwrap_or_default();
    let mut text = String::new();
    for row in rows {
        let (Some(name), Some(ended)) = (row.first(), row.last()) else { continue };
        let _ = write!(text, "{:<widest$}", name.shown());
        for cell in &row[1..row.len() - 1] {
            let _ = write!(text, "{cell:>9}");
        }
        let _ = writeln!(text, "  {}", ended.shown());
    }
    text
}
