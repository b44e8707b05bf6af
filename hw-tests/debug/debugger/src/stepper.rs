//! Motions forward, by instruction, line or routine, on simulated boards and on targets.
//!
//! Each motion polls its caller, so that a program that hangs can always be stopped.

mod reverse;
mod simulated;

use board_simulator::Registers;
use z80_core::{is_call, is_return};

use crate::{BoundExpression, Debugger, ExecCommand, HaltReason, ShouldStop};
pub(super) use simulated::SimulatedStepper;

/// What a run ends at, beside breakpoints and watchpoints.
pub(super) enum Goal<'e> {
    /// Nothing.
    None,
    /// PC at an address.
    Address(u16),
    /// The return of a call.
    Return {
        /// The return address; a routine may return behind parameters that follow the call.
        address: u16,
        /// SP after the return.
        sp: u16,
    },
    /// A return that raises SP above this.
    ReturnAbove(u16),
    /// An expression that is not 0.
    True(&'e BoundExpression),
}

/// What the motions need of a board.
pub(super) trait Stepper {
    fn debugger(&self) -> &Debugger;

    /// Executes one instruction. An interrupt that is accepted meanwhile is served without a halt,
    /// except by breakpoints.
    fn step(&mut self) -> HaltReason;

    /// Runs to a goal, breakpoint or watchpoint.
    fn run_to(&mut self, goal: &Goal<'_>) -> HaltReason;

    /// Polls the caller; returns `true` if the motion is to stop.
    fn is_stopped(&mut self) -> bool;
}

impl Debugger {
    /// Executes a command; `should_stop` is polled while the board runs. On a target, reverse
    /// commands run on its simulated twin.
    pub fn run(&mut self, command: ExecCommand, should_stop: ShouldStop<'_>) -> HaltReason {
        self.stops.set_halting(Vec::new());
        if self.boards.live_target().is_some() {
            if !command.is_reverse() {
                return run_forward(&mut self.on_target(should_stop), command);
            }
            if let Err(halt) = self.switch_to_twin(should_stop) {
                return halt;
            }
        }
        // Recording is slow, and a run accesses everything.
        self.step_addresses = command.is_step().then(Default::default);
        let mut stepper = SimulatedStepper::new(self, should_stop);
        let halt = match command {
            ExecCommand::ReverseStep => stepper.step_back(1),
            ExecCommand::ReverseSteps(count) => stepper.step_back(count),
            ExecCommand::ReverseStepLine => stepper.step_line_back(),
            ExecCommand::ReverseContinue => stepper.go_back_to_stop(),
            ExecCommand::ReverseTo(address) => stepper.go_back_to_address(address),
            ExecCommand::ReverseToChange(address) => stepper.go_back_to_change(address),
            ExecCommand::GoToStep(step) => stepper.go_to_step(step),
            forward => run_forward(&mut stepper, forward),
        };
        self.switch_from_twin(halt)
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
        if self.boards.live_target().is_some() {
            let problem = "until needs a simulated board; set a breakpoint with a condition";
            return Err(problem.to_owned());
        }
        self.stops.set_halting(Vec::new());
        self.step_addresses = None;
        let halt = SimulatedStepper::new(self, should_stop).run_to(&Goal::True(condition));
        Ok(self.switch_from_twin(halt))
    }

    /// Returns `true` if the last step of the simulated board has returned from a routine, or
    /// jumped to the address in a register, by which routines that have popped theirs return.
    fn has_returned(&self) -> bool {
        let before = self.boards.timeline.before.registers;
        let opcode = match self.peek(before.pc) {
            0xDD | 0xFD => self.peek(before.pc.wrapping_add(1)),
            opcode => opcode,
        };
        let has_popped = self.registers().sp == before.sp.wrapping_add(2);
        opcode == JP_HL || (is_return(opcode) && has_popped)
    }

    /// The source line at PC: file and line number.
    pub(super) fn line(&self) -> Option<(&str, u32)> {
        let line = self.code().line_at(self.registers().pc)?;
        Some((&line.place.file, line.place.line))
    }
}

/// The opcode of JP (HL), and, after a prefix, of JP (IX) and JP (IY).
const JP_HL: u8 = 0xE9;

/// Executes a command that runs the board forward.
fn run_forward(stepper: &mut impl Stepper, command: ExecCommand) -> HaltReason {
    match command {
        ExecCommand::Step => stepper.step(),
        ExecCommand::StepOver => step_over(stepper),
        ExecCommand::StepLine => step_line(stepper, step_over),
        ExecCommand::StepLineInto => step_line(stepper, Stepper::step),
        ExecCommand::StepOut => step_out(stepper),
        ExecCommand::RunTo(address) => stepper.run_to(&Goal::Address(address)),
        // All others are reverse commands, which run on a timeline.
        _ => stepper.run_to(&Goal::None),
    }
}

fn step_over<S: Stepper>(stepper: &mut S) -> HaltReason {
    let debugger = stepper.debugger();
    let Registers { pc, sp, .. } = debugger.registers();
    // A repeating instruction, such as LDIR or CPIR.
    let repeats = debugger.peek(pc) == 0xED && debugger.peek(pc.wrapping_add(1)) & 0xF4 == 0xB0;
    if !is_call(debugger.peek(pc)) && !repeats {
        return stepper.step();
    }
    let address = pc.wrapping_add(debugger.instruction_length(pc));
    stepper.run_to(&Goal::Return { address, sp })
}

/// Runs until the innermost open call has returned. Without one, which is so for a routine entered
/// before the debugger was created, a return that raises SP has to do.
fn step_out(stepper: &mut impl Stepper) -> HaltReason {
    let debugger = stepper.debugger();
    let goal = match debugger.calls().first() {
        Some(call) if call.was_seen || debugger.boards.live_target().is_some() => {
            Goal::Return { address: debugger.peek_word(call.sp), sp: call.sp.wrapping_add(2) }
        }
        _ => Goal::ReturnAbove(debugger.registers().sp),
    };
    stepper.run_to(&goal)
}

fn step_line<S: Stepper>(stepper: &mut S, step: impl Fn(&mut S) -> HaltReason) -> HaltReason {
    let line = |debugger: &Debugger| debugger.line().map(|(file, line)| (file.to_owned(), line));
    let began = line(stepper.debugger());
    loop {
        let halt = step(stepper);
        if halt != HaltReason::Completed {
            return halt;
        }
        let debugger = stepper.debugger();
        let now = line(debugger);
        let pc = debugger.registers().pc;
        let is_start = debugger.code().line_at(pc).is_some_and(|line| line.address == pc);
        if is_start || (now.is_some() && now != began) {
            return HaltReason::Completed;
        }
        if stepper.is_stopped() {
            return HaltReason::Paused;
        }
    }
}
