//! What code under test must not do on a simulated board: a finding of the case whose request ran,
//! even if all values are right.

use board_simulator::Violation;

use super::SargonBoard;
use crate::guard;

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
}
