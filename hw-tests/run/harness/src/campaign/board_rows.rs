//! What each board of a run does, and what follows for the run: its end, or the failure of its
//! set-up.

use std::collections::BTreeSet;

use cli_support::exit::{CommandError, ENVIRONMENT, FAILED, INTERRUPTED};
use rcflash_link::LinkStats;

use super::schedule::Schedule;
use super::worker::FinishedBoard;
use super::{ConnectedBoard, Executor, Member, RunConfig, planned_profile};
use crate::report::{self, BoardSummary, COMPLETE, RunTarget};
use crate::runner::{RunEnd, RunSummary};
use crate::suite::Suite;

/// The end of a board that was still being prepared when the run ended.
const NOT_READY: &str = "was not ready before the run was over";

/// The boards and what they have done so far.
#[derive(Default)]
pub(super) struct BoardRows {
    pub(super) rows: Vec<BoardSummary>,
    /// Whether the boards have names in results and reports.
    are_named: bool,
    /// The number of boards that the run needs.
    required: usize,
    /// For each board: whether it is still being prepared.
    is_preparing: Vec<bool>,
    failures: Vec<CommandError>,
    pub(super) stats: LinkStats,
    pub(super) summary: RunSummary,
    not_judged: BTreeSet<&'static str>,
    /// Why a board was lost for good while it ran cases.
    loss: Option<RunEnd>,
    /// The board that has finished last.
    pub(super) last: Option<FinishedBoard>,
}

impl BoardRows {
    pub(super) fn new<T: Executor>(config: &RunConfig, members: &[Member<T::Plan>]) -> Self {
        let row = |member: &Member<T::Plan>| BoardSummary {
            name: member.name.clone(),
            profile: planned_profile::<T>(member).map(|profile| profile.name).unwrap_or_default(),
            ended: NOT_READY.to_owned(),
            is_missing: true,
            ..BoardSummary::default()
        };
        let are_named = config.has_named_boards();
        Self {
            rows: members.iter().map(row).collect(),
            are_named,
            required: if are_named { config.min_boards } else { members.len() },
            is_preparing: vec![true; members.len()],
            ..Self::default()
        }
    }

    /// Records a board that is ready.
    pub(super) fn ready(&mut self, board: usize, connected: &ConnectedBoard) {
        self.is_preparing[board] = false;
        let row = &mut self.rows[board];
        row.port = Some(connected.name.clone());
        row.image = connected.identity.clone();
    }

    /// Records a board that could not be prepared and returns a message for the user. Returns
    /// `None` if the preparation was stopped because the others had already run all cases.
    pub(super) fn setup_failed(&mut self, board: usize, failure: CommandError) -> Option<String> {
        self.is_preparing[board] = false;
        let row = &mut self.rows[board];
        let is_stopped = failure.code == INTERRUPTED;
        let what = if is_stopped { NOT_READY } else { "set-up failed" };
        row.ended = format!("{what}: {}", failure.message);
        self.failures.push(failure);
        (self.are_named && !is_stopped).then(|| format!("{}: {}", row.name, row.ended))
    }

    /// Records a board that has done its work. Returns a message for the user if it is lost.
    pub(super) fn finished(&mut self, board: usize, finished: FinishedBoard) -> Option<String> {
        let summary = finished.summary.clone();
        self.not_judged.extend(&finished.target.not_judged);
        let row = &mut self.rows[board];
        row.link = Some(finished.stats);
        row.ended =
            report::incomplete_reason(&summary.ended).unwrap_or_else(|| COMPLETE.to_owned());
        let is_lost = matches!(summary.ended, RunEnd::BoardLost(_) | RunEnd::FileFailed(_));
        row.is_missing = is_lost;
        (row.losses, row.restarts) = (summary.reconnects + u64::from(is_lost), summary.restarts);
        if is_lost {
            self.loss = Some(summary.ended.clone());
        }
        self.stats += finished.stats;
        self.summary = std::mem::take(&mut self.summary).merge(summary);
        self.last = Some(finished);
        (self.are_named && is_lost).then(|| format!("{}: {}", row.name, row.ended))
    }

    /// Sets how often each board was at fault, and which are quarantined.
    pub(super) fn set_strikes<S: Suite>(&mut self, schedule: &Schedule<S>) {
        for (row, board) in self.rows.iter_mut().zip(&schedule.boards) {
            row.at_fault = board.strikes;
            if board.is_quarantined() {
                row.is_missing = true;
                row.ended = format!(
                    "quarantined: {} problems that another board did not have",
                    row.at_fault
                );
            }
        }
    }

    /// Returns `true` if boards are being prepared that the run does not need.
    pub(super) fn prepares_needlessly(&self) -> bool {
        let preparing = self.is_preparing.iter().filter(|is_preparing| **is_preparing).count();
        preparing > 0 && self.rows.len() - preparing >= self.required
    }

    /// Returns the end of a run of which all cases have a verdict. A board that was lost while it
    /// ran cases may have been damaged by them, so the run is not complete, and neither is one with
    /// fewer boards than required.
    pub(super) fn end_of_settled_run(&self) -> RunEnd {
        let count = self.rows.iter().filter(|row| !row.is_missing).count();
        match &self.loss {
            Some(loss) if !self.are_named => loss.clone(),
            None if count >= self.required => RunEnd::Complete,
            _ => RunEnd::BoardLost(report::missing_boards(&self.rows)),
        }
    }

    /// Returns the end of a run of which cases are left although it was not stopped.
    pub(super) fn end_without_boards(&self) -> RunEnd {
        match &self.summary.ended {
            early if self.rows.len() == 1 && *early != RunEnd::Complete => early.clone(),
            _ => RunEnd::BoardLost("no working board is left".to_owned()),
        }
    }

    /// Returns the failure of a run in which no board was ready. A board whose program can't be
    /// built gives it the exit code of a wrong answer.
    pub(super) fn setup_failure(&self) -> Option<CommandError> {
        let is_all = self.failures.len() == self.rows.len();
        let graver = self.failures.iter().find(|failure| failure.code == FAILED);
        let first = graver.or(self.failures.first()).filter(|_| is_all)?;
        if !self.are_named {
            return Some(CommandError::new(first.code, &first.message));
        }
        let ends: Vec<_> =
            self.rows.iter().map(|row| format!("{}: {}", row.name, row.ended)).collect();
        let is_same = self.failures.iter().all(|failure| failure.code == first.code);
        let code = if is_same || first.code == FAILED { first.code } else { ENVIRONMENT };
        Some(CommandError::new(code, format!("no board is ready: {}", ends.join("; "))))
    }

    /// Returns what the verdicts are about.
    pub(super) fn target(&self) -> RunTarget {
        if !self.are_named {
            return self.last.as_ref().map(|last| last.target.clone()).unwrap_or_default();
        }
        let images = self.rows.iter().filter_map(|row| row.image.as_ref());
        let not_judged = self.not_judged.iter().copied().collect();
        RunTarget { not_judged, ..RunTarget::of_fleet(images) }
    }
}
