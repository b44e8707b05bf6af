//! Reverse execution on a target: its simulated twin started in the same state, receives the same
//! input, and replays the target's execution before a reverse command.

use board_simulator::{Registers, StepOutcome};

use super::ExecResult;
use crate::stepper::SimulatedStepper;
use crate::target::{BLOCK_BYTES, TwinEvent};
use crate::{Debugger, HaltReason, MachineState, ShouldStop};

/// Limit of T-states for one replay: a minute of the twin's time.
const MAX_CATCH_UP_T_STATES: u64 = 442_368_000;
const TWIN_DIVERGED: &str = "the simulation and the board differ; going back is possible only to \
                             this point";

impl Debugger {
    /// Lets the twin catch up with the target, and shows the twin from now on.
    pub(crate) fn switch_to_twin(&mut self, should_stop: ShouldStop<'_>) -> ExecResult<()> {
        let target = self.boards.target_mut();
        if target.running {
            return Err(target.fail("the program is running: stop it first"));
        }
        target.twin.present = Some(u64::MAX);
        self.in_reverse_search = true;
        let caught_up = self.catch_up(should_stop);
        self.in_reverse_search = false;
        self.boards.target_mut().twin.present = caught_up.is_ok().then_some(self.step_count());
        if caught_up == Err(HaltReason::TargetError) {
            self.copy_target_state();
            self.boards.target_mut().fail(TWIN_DIVERGED);
        }
        caught_up
    }

    /// Shows the target again if the twin has caught up with it.
    pub(crate) fn switch_from_twin(&mut self, halt: HaltReason) -> HaltReason {
        if !self.boards.twin_has_caught_up() {
            return halt;
        }
        self.boards.target_mut().twin.present = None;
        if halt == HaltReason::Paused { HaltReason::TwinCaughtUp } else { halt }
    }

    fn catch_up(&mut self, should_stop: ShouldStop<'_>) -> ExecResult<()> {
        while let Some(event) = self.boards.target_mut().twin.events.pop_front() {
            if let Err(error) = self.apply_event(&event, &mut *should_stop) {
                // The next attempt repeats this event, from the step that the twin has reached.
                self.boards.target_mut().twin.events.push_front(event);
                return Err(error);
            }
        }
        Ok(())
    }

    fn apply_event(&mut self, event: &TwinEvent, should_stop: ShouldStop<'_>) -> ExecResult<()> {
        match event {
            TwinEvent::Sent(bytes) => self.send_simulated(bytes),
            TwinEvent::RegistersSet(to) => self.change_simulated(|board| board.set_registers(to)),
            TwinEvent::MemoryWritten(address, bytes) => {
                self.change_simulated(|board| board.bus_mut().load(*address, bytes));
            }
            TwinEvent::Halted(registers) => return self.run_to_registers(registers, should_stop),
        }
        Ok(())
    }

    /// Runs the twin until its registers have these values; it fails with `TargetError` if they never do.
    fn run_to_registers(&mut self, to: &Registers, should_stop: ShouldStop<'_>) -> ExecResult<()> {
        let end = self.boards.timeline.board().clock() + MAX_CATCH_UP_T_STATES;
        let mut stepper = SimulatedStepper::new(self, should_stop);
        loop {
            let now = stepper.debugger.boards.timeline.registers();
            if now.pc == to.pc && is_same(&now, to) {
                return Ok(());
            }
            let Some(outcome) = stepper.next_step() else { return Err(HaltReason::Paused) };
            if outcome == StepOutcome::Idle {
                // In HALT. The target was halted at the instruction after it.
                let woken = Registers { pc: now.pc.wrapping_add(1), ..now };
                return if is_same(&woken, to) { Ok(()) } else { Err(HaltReason::TargetError) };
            }
            if stepper.debugger.boards.timeline.board().clock() >= end {
                return Err(HaltReason::TargetError);
            }
        }
    }

    /// Copies the target's memory and registers to the twin, whose history starts again.
    fn copy_target_state(&mut self) {
        let Some(mut target) = self.boards.target.take() else { return };
        for block in target.program.ram.clone().step_by(BLOCK_BYTES.into()) {
            let bytes = target.dump(block, BLOCK_BYTES.into());
            self.change_simulated(|board| board.bus_mut().load(block, &bytes));
        }
        self.change_simulated(|board| board.set_registers(&target.registers()));
        target.twin.events.clear();
        self.boards.target = Some(target);
    }
}

/// Compares registers except R, which counts instructions.
fn is_same(registers: &Registers, other: &Registers) -> bool {
    *registers == Registers { r: registers.r, ..*other }
}
