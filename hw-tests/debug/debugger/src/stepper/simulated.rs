//! Motions on a simulated board.

use board_simulator::StepOutcome;

use super::{Goal, Stepper};
use crate::{Debugger, HaltReason, ShouldStop};

/// Steps between two polls of the caller: well below a millisecond.
pub(super) const STOP_CHECK_STEPS: u64 = 2_048;

/// Executes one command on a simulated board.
pub(crate) struct SimulatedStepper<'a, 'b> {
    pub(crate) debugger: &'a mut Debugger,
    should_stop: ShouldStop<'b>,
    /// The number of steps so far.
    steps: u64,
}

impl<'a, 'b> SimulatedStepper<'a, 'b> {
    pub(crate) fn new(debugger: &'a mut Debugger, should_stop: ShouldStop<'b>) -> Self {
        Self { debugger, should_stop, steps: 0 }
    }

    /// Executes one step; returns `None` if the command is to stop instead.
    pub(crate) fn next_step(&mut self) -> Option<StepOutcome> {
        if self.debugger.boards.twin_has_caught_up() {
            return None;
        }
        self.steps += 1;
        if self.steps.is_multiple_of(STOP_CHECK_STEPS) && self.is_stopped() {
            return None;
        }
        Some(self.debugger.step_simulated())
    }

    /// Runs until an instruction outside of interrupt services has been executed after which `done`
    /// returns `true`, or to a breakpoint or watchpoint. A motion that begins within a service does
    /// not leave out others; `done` is told whether this one does.
    fn run_until(&mut self, done: impl Fn(&Debugger, bool) -> bool) -> HaltReason {
        let in_service = self.debugger.boards.timeline.in_service();
        loop {
            let Some(outcome) = self.next_step() else { return HaltReason::Paused };
            if outcome == StepOutcome::Idle {
                return HaltReason::Idle;
            }
            if let Some(halt) = self.debugger.halt_reason(outcome) {
                return halt;
            }
            let is_served = !in_service && self.debugger.boards.timeline.in_service();
            if outcome == StepOutcome::Executed && !is_served && done(self.debugger, in_service) {
                return HaltReason::Completed;
            }
        }
    }
}

impl Stepper for SimulatedStepper<'_, '_> {
    fn debugger(&self) -> &Debugger {
        self.debugger
    }

    fn step(&mut self) -> HaltReason {
        // After a service the interrupted instruction has yet to run: it is the step.
        self.run_until(|debugger, _| !debugger.boards.timeline.is_resumed())
    }

    fn run_to(&mut self, goal: &Goal<'_>) -> HaltReason {
        self.run_until(|debugger, began_in_service| {
            let registers = debugger.registers();
            let is_resumed = debugger.boards.timeline.is_resumed();
            match *goal {
                Goal::None => false,
                Goal::Address(address) => registers.pc == address && !is_resumed,
                // A service that returns to the routine is not the routine that returns.
                Goal::Return { .. } if is_resumed && !began_in_service => false,
                // Above: the routine has dropped its return address.
                Goal::Return { address, sp } => {
                    registers.sp > sp
                        || registers.sp == sp
                            && (registers.pc == address || debugger.has_returned())
                }
                Goal::ReturnAbove(sp) => registers.sp > sp && debugger.has_returned(),
                Goal::True(condition) => condition.value(&debugger.boards) != 0,
            }
        })
    }

    fn is_stopped(&mut self) -> bool {
        (self.should_stop)(self.debugger)
    }
}
