//! What code under test must not do: findings of a simulated board, for the case whose request ran,
//! even if all values are right; and damage that STATUS shows on a board that is seen only through its
//! line.

use board_simulator::Violation;
use firmware_wire::{Reply, Request, StatusReply, extended_capability};
use rcflash_link::{LinkError, LinkStats, RequestSpec};

use super::SargonBoard;
use crate::guard;

/// Processing time of STATUS: the CRC takes 64 T-states for a byte, the stack's 192 bytes 40 each.
const STATUS_T_STATES_PER_BYTE: u64 = 80;
const STATUS_OPERATION: &str = "checking what code under test left behind";

/// Damage that a STATUS reply shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StatusFinding {
    /// What was found, for the report.
    pub(crate) reason: String,
    /// Whether the application must be loaded again before further cases run.
    pub(crate) needs_reload: bool,
}

/// What code under test did wrong during a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    /// The sequence number of the request.
    pub(crate) seq: u8,
    /// The index of the case within the request. It keeps counting when the board repeats the
    /// request: take it modulo the number of cases.
    pub(crate) case: usize,
    /// What was done, by which routine, and where.
    pub(crate) reason: String,
}

/// The status after the last good one, or after a start, with the line's counters at that time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StatusBaseline {
    reply: StatusReply,
    stats: LinkStats,
}

impl SargonBoard {
    /// Takes what code under test did wrong during a request, or without one all that no reply has
    /// claimed, as after the board was lost.
    pub(crate) fn take_findings(&mut self, seq: Option<u8>) -> Vec<Finding> {
        if let Some(board) = self.live.instrumentation() {
            self.violations.extend(board.take_violations());
        }
        let is_of = |one: &mut Violation| seq.is_none_or(|seq| one.request_tag == seq);
        let taken: Vec<_> = self.violations.extract_if(.., is_of).collect();
        taken.iter().map(|violation| self.finding(violation)).collect()
    }

    fn finding(&self, violation: &Violation) -> Finding {
        let Violation { kind, routine, pc, request_tag, case, .. } = *violation;
        let program = &self.live.programs.application.program;
        let routine = guard::routine_name(program, routine).unwrap_or("the evaluator");
        let place = self.live.describe_address(pc);
        let done = kind.describe(|address| format!("{address:04X}H"));
        let reason = format!("{routine} {done}: {place}");
        Finding { seq: request_tag, case, reason }
    }

    /// Takes the damage that code under test has done since the start, or since the last call: as a
    /// simulated board shows it, else by STATUS.
    ///
    /// # Errors
    /// Returns the error of the link if STATUS gets no valid reply.
    pub fn take_damage(&mut self) -> Result<Option<String>, LinkError> {
        if self.live.instrumentation().is_some() {
            return Ok(self.take_findings(None).into_iter().next().map(|finding| finding.reason));
        }
        if self.status.is_none() {
            return Ok(None);
        }
        let replies = self.live.link.request_all(&self.status_request())?;
        let Some(Reply::Status(status)) = replies.first() else { return Ok(None) };
        Ok(self.status_finding(status).map(|finding| finding.reason))
    }

    /// Returns `true` if the application answers STATUS.
    pub(crate) fn supports_status(&self) -> bool {
        self.live.has_extended_capability(extended_capability::STATUS)
    }

    pub(crate) fn status_request(&self) -> RequestSpec {
        let bytes = self.live.programs.application.bytes.len() as u64;
        let time = self.live.time_of(bytes * STATUS_T_STATES_PER_BYTE);
        RequestSpec::new(STATUS_OPERATION, Request::Status, time)
    }

    /// Reads the status of a newly started application, with which later ones are compared.
    pub(super) fn record_status(&mut self) {
        self.status = None;
        if !self.supports_status() {
            return;
        }
        // A line that fails here fails at the next case, too, where that is reported.
        let replies = self.live.link.request_all(&self.status_request());
        if let Ok([Reply::Status(reply)]) = replies.as_deref() {
            self.status = Some(StatusBaseline { reply: *reply, stats: self.live.link.stats() });
        }
    }

    /// Returns the damage since the last status, if there is any. Later statuses are compared with
    /// this one.
    pub(crate) fn status_finding(&mut self, now: &StatusReply) -> Option<StatusFinding> {
        let stats = self.live.link.stats();
        let then = self.status.replace(StatusBaseline { reply: *now, stats })?;
        // Injected faults overrun the receiver, too.
        let is_line_faulty = self.live.faults().is_some();
        damage(&then.reply, now, stats.since(&then.stats), is_line_faulty)
    }

    /// Returns `true` if the line corrupted or lost characters since the last status, or is meant
    /// to: then a lost reply needs no other cause.
    pub(crate) fn has_line_errors(&self) -> bool {
        let Some(then) = &self.status else { return true };
        let since = self.live.link.stats().since(&then.stats);
        self.live.faults().is_some()
            || since.corrupted_at_host + since.retries.corrupted_at_board > 0
    }
}

/// Returns the damage between two statuses. `line` has the counters of the line between them.
fn damage(
    before: &StatusReply,
    after: &StatusReply,
    line: LinkStats,
    is_line_faulty: bool,
) -> Option<StatusFinding> {
    let off = counter_growth(before.interrupts_off, after.interrupts_off);
    let overruns = counter_growth(before.overruns(), after.overruns());
    let full = counter_growth(before.ring_full, after.ring_full);
    let is_line_good = line.total_retries() == 0 && !is_line_faulty;
    let kinds = [
        (after.crc != before.crc, "the program's memory was changed".to_owned(), true),
        (after.stack_free == 0, "the stack grew out of its 256 bytes".to_owned(), true),
        (off > 0, format!("interrupts were off when the evaluator returned, {off} times"), false),
        (
            overruns > 0 && !is_line_faulty,
            format!(
                "the receiver was overrun {overruns} times: interrupts were off for longer than a \
                 character takes"
            ),
            false,
        ),
        (
            full > 0 && is_line_good,
            format!("the receive ring was full, and {full} bytes were lost"),
            false,
        ),
    ];
    let found = kinds.into_iter().find(|(is_there, ..)| *is_there);
    found.map(|(_, reason, needs_reload)| StatusFinding { reason, needs_reload })
}

/// Returns how much a count of the board has grown. A smaller count is that of an application that
/// was started since.
fn counter_growth(before: u16, after: u16) -> u16 {
    after.checked_sub(before).unwrap_or(after)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: StatusReply =
        StatusReply { crc: 0x1234, lost: 2, ring_full: 1, interrupts_off: 0, stack_free: 100 };

    fn reason(now: StatusReply, retries: u64, is_line_faulty: bool) -> Option<(String, bool)> {
        let mut line = LinkStats::default();
        line.retries.timeout = retries;
        let found = damage(&GOOD, &now, line, is_line_faulty)?;
        Some((found.reason, found.needs_reload))
    }

    #[test]
    fn each_kind_of_damage_is_found_and_named() {
        assert_eq!(reason(GOOD, 0, false), None);
        let found = |now, words: &str, reload| {
            let (reason, needs_reload) = reason(now, 0, false).expect(words);
            assert!(reason.contains(words), "{reason}");
            assert_eq!(needs_reload, reload, "{reason}");
        };
        found(StatusReply { crc: 0x1235, ..GOOD }, "memory was changed", true);
        found(StatusReply { stack_free: 0, ..GOOD }, "stack", true);
        found(StatusReply { interrupts_off: 3, ..GOOD }, "interrupts were off", false);
        found(StatusReply { lost: 3, ..GOOD }, "overrun 1 times", false);
        found(StatusReply { lost: 3, ring_full: 2, ..GOOD }, "ring was full", false);
    }

    #[test]
    fn retries_explain_a_full_ring_and_injected_faults_all_lost_bytes() {
        assert_eq!(reason(StatusReply { lost: 3, ring_full: 2, ..GOOD }, 1, false), None);
        assert!(reason(StatusReply { lost: 3, ..GOOD }, 1, false).is_some());
        assert_eq!(reason(StatusReply { lost: 4, ring_full: 2, ..GOOD }, 0, true), None);
    }

    #[test]
    fn an_application_that_was_started_meanwhile_counts_from_zero() {
        assert_eq!(reason(StatusReply { lost: 0, ring_full: 0, ..GOOD }, 0, false), None);
    }
}
