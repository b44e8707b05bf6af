//! What code under test must not do on a simulated board: a finding of the case whose request ran,
//! even if all values are right.

use board_simulator::{Violation, ViolationKind};

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

/// Returns what a violation is, as the rest of a sentence that begins with the routine.
fn describe(kind: ViolationKind) -> String {
    match kind {
        ViolationKind::Write { address, value } => {
            format!("wrote {address:04X}H outside its data (value {value:02X}H)")
        }
        ViolationKind::CodeWrite { address, value } => {
            format!("wrote {address:04X}H in program memory (value {value:02X}H)")
        }
        ViolationKind::StackPointer { sp } => {
            format!("moved the stack pointer to {sp:04X}H, outside its stack")
        }
        ViolationKind::StackNotRestored { sp, expected } => {
            format!("returned with the stack pointer at {sp:04X}H instead of {expected:04X}H")
        }
        ViolationKind::WrongReturn { address, expected } => {
            format!("returned to {address:04X}H instead of its caller at {expected:04X}H")
        }
        ViolationKind::InterruptsOff => "returned with interrupts off".to_owned(),
        ViolationKind::InterruptLatency { max, .. } => {
            format!("kept interrupts off for more than {max} T-states, in which bytes are lost")
        }
        ViolationKind::InterruptVectoring { mode, i } => {
            format!("changed interrupt mode or register I (now IM{mode}, I = {i:02X}H)")
        }
        ViolationKind::Output { port, value } => format!("wrote {value:02X}H to port {port:02X}H"),
        ViolationKind::Input { port } => format!("read port {port:02X}H"),
        ViolationKind::Halt => "executed HLT".to_owned(),
        ViolationKind::LeftCode { address } => {
            format!("left the program's code for {address:04X}H")
        }
        ViolationKind::Restart => "reached 0000H, which restarts the board".to_owned(),
    }
}

impl SargonBoard {
    /// Takes the violations of a request.
    pub(super) fn claim_findings(&mut self, seq: u8) -> Vec<Finding> {
        self.collect_violations();
        let claimed: Vec<_> =
            self.violations.extract_if(.., |violation| violation.request_tag == seq).collect();
        claimed.iter().map(|violation| self.finding(violation)).collect()
    }

    /// Takes all violations that no reply has claimed, as after the board was lost.
    pub(crate) fn take_findings(&mut self) -> Vec<Finding> {
        self.collect_violations();
        let all = std::mem::take(&mut self.violations);
        all.iter().map(|violation| self.finding(violation)).collect()
    }

    fn collect_violations(&mut self) {
        if let Some(board) = self.live.instrumentation() {
            self.violations.extend(board.take_violations());
        }
    }

    fn finding(&self, violation: &Violation) -> Finding {
        let Violation { kind, routine, pc, request_tag, case, .. } = *violation;
        let program = &self.live.programs().application.program;
        let routine = guard::routine_name(program, routine).unwrap_or("the evaluator");
        let place = self.live.describe_address(pc);
        let reason = format!("{routine} {}: {place}", describe(kind));
        Finding { seq: request_tag, case, reason }
    }
}
