//! Steps with their record: snapshots, input and calls.

use board_simulator::{Registers, StepOutcome};

use super::debugger::Debugger;
use super::history::Snapshot;

impl Debugger {
    /// Executes one step, and takes a snapshot before it if one is due.
    pub(super) fn step_recorded(&mut self) -> StepOutcome {
        let registers = self.registers();
        let opcode = self.peek(registers.pc);
        if self.history.is_snapshot_due(self.step_count) {
            let snapshot = self.snapshot();
            self.history.push(snapshot);
        }
        // A replay delivers each input before the same step, or it would diverge. After the
        // snapshot, whose count is of the inputs delivered before it.
        while let Some(bytes) = self.history.due_input(self.step_count, self.inputs_delivered) {
            self.board.line_mut().to_board.extend(bytes);
            self.inputs_delivered += 1;
        }
        let was_served = self.board.in_service();
        let outcome = match self.stops.has_watchpoints() || self.step_addresses.is_some() {
            true => self.board.step_recorded(&self.accesses),
            false => self.board.advance(),
        };
        // The steps of an idle board are not counted: otherwise a replay would deliver later input
        // at a different step.
        if outcome != StepOutcome::Idle {
            self.step_count += 1;
        }
        self.registers_before = registers;
        if let Some(step_addresses) = &mut self.step_addresses {
            step_addresses.record(&self.accesses.borrow(), registers.pc);
        }
        if outcome == StepOutcome::Executed {
            if !self.breakpoint_already_hit {
                self.counts.count(was_served);
            }
            self.record_call(&registers, opcode, was_served);
        }
        outcome
    }

    fn record_call(&mut self, before: &Registers, opcode: u8, was_served: bool) {
        let now = self.registers();
        let accepted = self.board.accepted_interrupt();
        if accepted && !was_served {
            self.interrupted_pc = Some(before.pc);
        }
        // The interrupted instruction has not run: reaching it again is not a second hit.
        let returned = was_served && !self.board.in_service();
        self.breakpoint_already_hit =
            returned && self.interrupted_pc.take_if(|at| *at == now.pc).is_some();
        self.calls.record(before, &now, opcode, accepted);
    }

    pub(super) fn snapshot(&mut self) -> Snapshot {
        // Not copied: each snapshot would contain all output before it.
        let output = std::mem::take(&mut self.board.line_mut().from_board);
        let board = self.board.clone();
        if output.len() > self.recorded_output.len() {
            self.recorded_output.extend(&output[self.recorded_output.len()..]);
        }
        let output_bytes = output.len();
        self.board.line_mut().from_board = output;
        Snapshot {
            step: self.step_count,
            board,
            output_bytes,
            counts: self.counts,
            calls: self.calls.clone(),
            interrupted_pc: self.interrupted_pc,
            breakpoint_already_hit: self.breakpoint_already_hit,
            inputs_delivered: self.inputs_delivered,
        }
    }

    pub(super) fn restore(&mut self, snapshot: &Snapshot) {
        self.board = snapshot.board.clone();
        self.board.line_mut().from_board = self.recorded_output[..snapshot.output_bytes].to_vec();
        self.step_count = snapshot.step;
        self.counts = snapshot.counts;
        self.calls = snapshot.calls.clone();
        self.interrupted_pc = snapshot.interrupted_pc;
        self.breakpoint_already_hit = snapshot.breakpoint_already_hit;
        self.inputs_delivered = snapshot.inputs_delivered;
    }

    /// Restores the last snapshot with at most `count` steps of a kind; returns `false` if there
    /// is none.
    pub(super) fn rewind_to_count(&mut self, count: u64, in_service: bool) -> bool {
        let history = std::mem::take(&mut self.history);
        let snapshot = history.snapshot_with(count, in_service);
        snapshot.iter().for_each(|snapshot| self.restore(snapshot));
        let is_found = snapshot.is_some();
        self.history = history;
        is_found
    }

    /// Restores the last snapshot at or before `step`; returns the step of the snapshot.
    pub(super) fn rewind(&mut self, step: u64) -> Option<u64> {
        // Moved out, since `restore` borrows all of the debugger.
        let history = std::mem::take(&mut self.history);
        let snapshot = history.snapshot_before(step);
        let found = snapshot.map(|snapshot| {
            self.restore(snapshot);
            snapshot.step
        });
        self.history = history;
        found
    }
}
