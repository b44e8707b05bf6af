//! Executes commands on a simulated board: steps by instruction or by line, runs, and their
//! reverse.
//!
//! Each command polls its caller, so that a program that hangs can always be stopped.

mod reverse;

use board_simulator::{Registers, StepOutcome};

use super::debugger::{Debugger, ShouldStop};
use super::exec::{ExecCommand, HaltReason};
use super::expression::BoundExpression;
use z80_core::{is_call, is_return};

/// Steps between two polls of the caller: well below a millisecond.
const STOP_CHECK_STEPS: u64 = 2_048;

impl Debugger {
    /// Executes a command; `should_stop` is polled while the board runs. On a target, reverse
    /// commands run on its simulated twin.
    pub fn run(&mut self, command: ExecCommand, should_stop: ShouldStop<'_>) -> HaltReason {
        if self.live_target().is_some() {
            if !command.is_reverse() {
                return self.run_on_target(command, should_stop);
            }
            if let Err(halt) = self.switch_to_twin(should_stop) {
                return halt;
            }
        }
        // Recording is slow, and a run accesses everything.
        self.step_addresses = command.is_step().then(Default::default);
        let halt = self.run_simulated(command, should_stop);
        self.switch_from_twin(halt)
    }

    fn run_simulated(&mut self, command: ExecCommand, should_stop: ShouldStop<'_>) -> HaltReason {
        let mut stepper = Stepper { debugger: self, should_stop, steps_since_poll: 0 };
        match command {
            ExecCommand::Step => stepper.step(),
            ExecCommand::StepOver => stepper.step_over(),
            ExecCommand::StepLine => stepper.step_line(false),
            ExecCommand::StepLineInto => stepper.step_line(true),
            ExecCommand::StepOut => stepper.step_out(),
            ExecCommand::Continue => stepper.until(|_, _| false),
            ExecCommand::RunTo(address) => stepper.go_to(address),
            ExecCommand::ReverseStep => stepper.step_back(1),
            ExecCommand::ReverseSteps(count) => stepper.step_back(count),
            ExecCommand::ReverseStepLine => stepper.step_line_back(),
            ExecCommand::ReverseContinue => stepper.go_back(),
            ExecCommand::ReverseTo(address) => stepper.go_back_to(address),
            ExecCommand::ReverseToChange(address) => stepper.go_back_to_change(address),
            ExecCommand::GoToStep(step) => stepper.go_to_step(step),
        }
    }

    /// Runs until a condition holds after an instruction, or to a breakpoint or watchpoint.
    ///
    /// # Errors
    /// Returns a message on a target, which would have to be halted at each instruction.
    pub fn run_until(
        &mut self,
        condition: &BoundExpression,
        should_stop: ShouldStop<'_>,
    ) -> Result<HaltReason, String> {
        if self.live_target().is_some() {
            let problem = "until needs a simulated board; set a breakpoint with a condition";
            return Err(problem.to_owned());
        }
        let mut stepper = Stepper { debugger: self, should_stop, steps_since_poll: 0 };
        let halt = stepper.until_true(condition);
        Ok(self.switch_from_twin(halt))
    }

    fn is_true(&self, condition: &BoundExpression) -> bool {
        condition.value(&self.registers(), &|at| self.peek(at)) != 0
    }

    /// The source line at PC: file and line number.
    pub(super) fn line(&self) -> Option<(&str, u32)> {
        let line = self.code().line_at(self.registers().pc)?;
        Some((&line.place.file, line.place.line))
    }

    pub(super) fn at_line_start(&self) -> bool {
        let pc = self.registers().pc;
        self.code().line_at(pc).is_some_and(|line| line.address == pc)
    }
}

/// Executes one command on a simulated board.
struct Stepper<'a, 'b> {
    debugger: &'a mut Debugger,
    should_stop: ShouldStop<'b>,
    steps_since_poll: u64,
}

impl Stepper<'_, '_> {
    /// Executes one step; returns `None` if the command is to stop instead.
    fn next_step(&mut self) -> Option<StepOutcome> {
        if self.debugger.twin_has_caught_up() {
            return None;
        }
        self.steps_since_poll += 1;
        if self.steps_since_poll >= STOP_CHECK_STEPS {
            self.steps_since_poll = 0;
            if (self.should_stop)(self.debugger) {
                return None;
            }
        }
        Some(self.debugger.step_recorded())
    }

    fn step(&mut self) -> HaltReason {
        // An interrupt service that starts during the step is run to its end, unless the step began
        // in one. Breakpoints in it still halt: `halt_reason` is checked first.
        let in_service = self.debugger.board.in_service();
        loop {
            let Some(outcome) = self.next_step() else { return HaltReason::Paused };
            if outcome == StepOutcome::Idle {
                return HaltReason::Idle;
            }
            if let Some(halt) = self.debugger.halt_reason(outcome) {
                return halt;
            }
            let is_served = !in_service && self.debugger.board.in_service();
            // After a service the interrupted instruction has yet to run: it is the step.
            if outcome == StepOutcome::Executed
                && !is_served
                && !self.debugger.breakpoint_already_hit
            {
                return HaltReason::Completed;
            }
        }
    }

    fn step_over(&mut self) -> HaltReason {
        let Registers { pc, sp, .. } = self.debugger.registers();
        let next = pc.wrapping_add(self.debugger.instruction_length(pc));
        let calls = is_call(self.debugger.peek(pc));
        // Step into the call first: only then it is known whether a conditional call was taken, and
        // a breakpoint on the routine's first instruction halts.
        let halt = self.step();
        let now = self.debugger.registers();
        let entered = calls && now.sp == sp.wrapping_sub(2);
        // LDIR and other repeating instructions leave PC unchanged until they are complete.
        let repeats = now.pc == pc && self.is_repeated(pc);
        if halt != HaltReason::Completed || !(entered || repeats) {
            return halt;
        }
        // A routine that drops its return address does not return to the next instruction.
        self.until(|debugger, _| {
            let now = debugger.registers();
            (now.pc == next && now.sp == sp) || now.sp > sp
        })
    }

    /// Returns `true` for a repeating instruction, such as LDIR or CPIR.
    fn is_repeated(&self, at: u16) -> bool {
        let prefix = self.debugger.peek(at);
        prefix == 0xED && self.debugger.peek(at.wrapping_add(1)) & 0xF4 == 0xB0
    }

    fn step_out(&mut self) -> HaltReason {
        let sp = self.debugger.registers().sp;
        let depth = self.debugger.call_depth();
        // Observed calls show exactly when the routine returns. For a routine entered before the
        // debugger was created, a return that raises SP has to do.
        if depth > 0 {
            return self.until(|debugger, _| debugger.call_depth() < depth);
        }
        self.until(|debugger, opcode| debugger.registers().sp > sp && is_return(opcode))
    }

    fn step_line(&mut self, into: bool) -> HaltReason {
        let began = self.line();
        loop {
            let halt = if into { self.step() } else { self.step_over() };
            if halt != HaltReason::Completed {
                return halt;
            }
            let line = self.line();
            if line.is_some() && (line != began || self.debugger.at_line_start()) {
                return HaltReason::Completed;
            }
        }
    }

    fn line(&self) -> Option<(String, u32)> {
        self.debugger.line().map(|(file, line)| (file.to_owned(), line))
    }

    fn go_to(&mut self, address: u16) -> HaltReason {
        self.until(|debugger, _| {
            debugger.registers().pc == address && !debugger.breakpoint_already_hit
        })
    }

    fn until_true(&mut self, condition: &BoundExpression) -> HaltReason {
        self.until(|debugger, _| debugger.is_true(condition))
    }

    /// Runs until `done` accepts the opcode just executed, outside of interrupt services.
    fn until(&mut self, done: impl Fn(&Debugger, u8) -> bool) -> HaltReason {
        let in_service = self.debugger.board.in_service();
        loop {
            let opcode = self.debugger.peek(self.debugger.registers().pc);
            let Some(outcome) = self.next_step() else { return HaltReason::Paused };
            if outcome == StepOutcome::Idle {
                return HaltReason::Idle;
            }
            if let Some(halt) = self.debugger.halt_reason(outcome) {
                return halt;
            }
            let is_served = !in_service && self.debugger.board.in_service();
            if outcome == StepOutcome::Executed && !is_served && done(self.debugger, opcode) {
                return HaltReason::Completed;
            }
        }
    }

    fn go_to_step(&mut self, step: u64) -> HaltReason {
        if step < self.debugger.step_count {
            let is_recorded = self.debugger.history.start().is_some_and(|start| start <= step);
            let halt = if is_recorded { HaltReason::Completed } else { HaltReason::HistoryStart };
            return self.finish_reverse(is_recorded.then_some(step), halt);
        }
        while self.debugger.step_count < step {
            match self.next_step() {
                None => return HaltReason::Paused,
                Some(StepOutcome::Idle) => return HaltReason::Idle,
                Some(_) => {}
            }
        }
        HaltReason::Completed
    }
}
