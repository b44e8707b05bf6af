//! The boards of a run on a fleet: what each did, and what was at fault.

use std::fmt::Write;

use cli_support::text::Escape;
use firmware_wire::Identity;
use rcflash_link::LinkStats;
use serde::{Deserialize, Serialize};

use super::Report;
use crate::live::LiveBoard;
use crate::runner::RunEnd;
use crate::suite::{Suite, Verdict, VerdictCounts};

/// The end of a board that did all its work.
pub(crate) const COMPLETE: &str = "complete";

/// A board of a run on a fleet.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoardSummary {
    /// Its name on the command line.
    pub name: String,
    /// The name of its profile; empty if no plan could be made for it.
    pub profile: String,
    /// The port at which it was reached; absent if it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<String>,
    /// The image that ran on it; absent if it was never ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<Identity>,
    /// How its work ended: `complete`, or the reason for an early end.
    pub ended: String,
    /// The counts of its verdicts.
    pub counts: VerdictCounts,
    /// Problems that another board did not have with the same case.
    pub at_fault: u32,
    /// Whether it was lost for good, never ready, or left out for its problems.
    #[serde(default)]
    pub is_missing: bool,
    /// How often it was lost, whether it was reconnected or not.
    pub losses: u64,
    /// How often it was restarted.
    pub restarts: u64,
    /// Statistics of its line; absent if it was never ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<LinkStats>,
}

impl<S: Suite> Report<S> {
    /// Returns a row for each board, also of a run on one.
    pub(super) fn board_rows(&self) -> Vec<BoardSummary> {
        if !self.boards.is_empty() {
            return self.boards.clone();
        }
        let summary = self.summary.clone().unwrap_or_default();
        let name = self.board.as_ref().map_or(&self.run.profile, |board| &board.name);
        vec![BoardSummary {
            name: without_port(name).to_owned(),
            profile: self.run.profile.clone(),
            image: self.image.clone(),
            ended: self.incomplete.clone().unwrap_or_else(|| COMPLETE.to_owned()),
            counts: self.counts,
            is_missing: self.summary.is_none() || matches!(summary.ended, RunEnd::BoardLost(_)),
            losses: summary.reconnects,
            restarts: summary.restarts,
            link: self.link,
            ..BoardSummary::default()
        }]
    }

    /// Returns the builds on the boards in hexadecimal, each once.
    pub(super) fn builds(&self) -> Vec<String> {
        let rows = self.board_rows();
        let mut builds: Vec<_> = rows.iter().filter_map(BoardSummary::build).collect();
        builds.sort();
        builds.dedup();
        builds
    }
}

impl BoardSummary {
    /// Returns the build on the board in hexadecimal; `None` if it was never ready.
    pub(super) fn build(&self) -> Option<String> {
        self.image.as_ref().map(|image| format!("{:08X}", image.build_id))
    }
}

/// Returns the boards that are missing at the end of a run, with the reasons; empty if none is.
pub(crate) fn missing_boards(boards: &[BoardSummary]) -> String {
    let missing = boards.iter().filter(|board| board.is_missing);
    let text = |board: &BoardSummary| {
        let why = board.ended.strip_prefix("the board is lost: ").unwrap_or(&board.ended);
        format!("{} ({why})", board.name)
    };
    missing.map(text).collect::<Vec<_>>().join(", ")
}

/// Returns the line that names the missing boards; empty if none is missing.
pub fn missing_boards_text(boards: &[BoardSummary]) -> String {
    let missing = missing_boards(boards);
    if missing.is_empty() { missing } else { format!("missing: {}\n", missing.escaped()) }
}

/// Returns the rows of the table of boards, headings first; empty without boards.
pub(super) fn table_rows(boards: &[BoardSummary]) -> Vec<Vec<String>> {
    if boards.is_empty() {
        return Vec::new();
    }
    let is_there = |verdict: &Verdict| boards.iter().any(|board| board.counts.get(*verdict) > 0);
    let verdicts: Vec<_> =
        Verdict::ALL.into_iter().filter(|v| *v == Verdict::Pass || is_there(v)).collect();
    let head =
        ["board", "cases"].into_iter().chain(verdicts.iter().map(|verdict| verdict.as_str()));
    let head = head.chain(["at fault", "ended"]).map(str::to_owned).collect();
    let row = |board: &BoardSummary| {
        let counts = verdicts.iter().map(|verdict| board.counts.get(*verdict));
        let numbers = [board.counts.cases].into_iter().chain(counts);
        let numbers = numbers.chain([u64::from(board.at_fault)]).map(|count| count.to_string());
        let name = std::iter::once(board.name.clone());
        name.chain(numbers).chain([board.ended.clone()]).collect()
    };
    std::iter::once(head).chain(boards.iter().map(row)).collect()
}

/// Returns the table of boards as text.
pub fn boards_table(boards: &[BoardSummary]) -> String {
    let rows = table_rows(boards);
    let widest = rows.iter().map(|row| row[0].escaped().chars().count()).max().unwrap_or_default();
    let mut text = String::new();
    for row in rows {
        let (Some(name), Some(ended)) = (row.first(), row.last()) else { continue };
        let _ = write!(text, "{:<widest$}", name.escaped());
        for cell in &row[1..row.len() - 1] {
            let _ = write!(text, "{cell:>9}");
        }
        let _ = writeln!(text, "  {}", ended.escaped());
    }
    text
}

/// The board and program that were judged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunTarget {
    /// The board with the title of its profile, or the number of boards.
    pub board: String,
    /// The ids of the programs' builds, each once.
    pub builds: Vec<u32>,
    /// What is not judged on this board, as with routines of the user's own.
    pub not_judged: Vec<&'static str>,
}

impl RunTarget {
    /// Returns the target of a run on one board.
    pub fn of_board(live: &LiveBoard, not_judged: Vec<&'static str>) -> Self {
        Self {
            board: board_text(live.name(), &live.config.profile.title),
            builds: vec![live.identity.build_id],
            not_judged,
        }
    }

    /// Returns the target of a run on several boards, of which these programs ran.
    pub(crate) fn of_fleet<'a>(images: impl IntoIterator<Item = &'a Identity>) -> Self {
        let mut builds: Vec<_> = images.into_iter().map(|image| image.build_id).collect();
        let boards = builds.len();
        builds.sort_unstable();
        builds.dedup();
        let plural = if boards == 1 { "" } else { "s" };
        Self { board: format!("{boards} board{plural}"), builds, not_judged: Vec::new() }
    }

    /// Formats the board and the build, as in ` on /dev/ttyUSB0 (RC2014 Classic), build 3F2A51C0`;
    /// empty if nothing is known of them.
    pub fn phrase(&self) -> String {
        let builds: Vec<_> = self.builds.iter().map(|build| format!("{build:08X}")).collect();
        let on = |board: &str| format!(" on {}", board.escaped());
        let build = match &builds[..] {
            [] => String::new(),
            [one] => format!(", build {one}"),
            several => format!(", builds {}", several.join(" and ")),
        };
        Some(&self.board[..]).filter(|board| !board.is_empty()).map_or_else(String::new, on)
            + &build
    }
}

/// Returns a board's name without the port of a simulated one.
fn without_port(name: &str) -> &str {
    match name.split_once(" at ") {
        Some((simulated, _)) if simulated.starts_with("simulated ") => simulated,
        _ => name,
    }
}

/// Returns a board's name without the port of a simulated one, or with the title of its profile.
fn board_text(name: &str, title: &str) -> String {
    match without_port(name) {
        simulated if simulated.starts_with("simulated ") => simulated.to_owned(),
        real => format!("{real} ({title})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_real_board_has_its_title_and_a_simulated_one_has_no_port() {
        let title = "RC2014 Classic";
        assert_eq!(board_text("/dev/ttyUSB0", title), "/dev/ttyUSB0 (RC2014 Classic)");
        assert_eq!(board_text("simulated rc2014 at /dev/pts/1", title), "simulated rc2014");
        let target = RunTarget {
            board: board_text("/dev/ttyUSB0\x1B[2J", title),
            builds: vec![0x3F2A_51C0, 1],
            not_judged: Vec::new(),
        };
        let phrase = " on /dev/ttyUSB0\\x1B[2J (RC2014 Classic), builds 3F2A51C0 and 00000001";
        assert_eq!(target.phrase(), phrase);
        assert_eq!(RunTarget::default().phrase(), "");
    }
}
