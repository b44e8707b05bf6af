//! Running a target: RST 6 is written to each address at which the program is to halt.

mod catch_up;
mod predict_next;

use std::time::Duration;

use board_simulator::Registers;
use firmware_wire::{MAX_BREAKPOINTS, StoppedState};

use super::debugger::{Debugger, ShouldStop};
use super::exec::{ExecCommand, HaltReason};
use super::stepper::{Goal, Stepper, run_forward};
use super::target::{HaltCause, KernelError, TwinEvent};
use predict_next::predict_next;

/// How often the caller is polled while the program runs.
const STOP_POLL_INTERVAL: Duration = Duration::from_millis(20);
/// The opcode of RST 6, which a program may also contain itself.
const RST_6: u8 = 0xF7;

impl Debugger {
    pub(crate) fn run_on_target(
        &mut self,
        command: ExecCommand,
        should_stop: ShouldStop<'_>,
    ) -> HaltReason {
        self.boards.target_mut().clear_error();
        run_forward(&mut TargetStepper { debugger: self, should_stop }, command)
    }
}

/// Executes one command on a target.
struct TargetStepper<'a, 'b> {
    debugger: &'a mut Debugger,
    should_stop: ShouldStop<'b>,
}

/// What ends a command.
enum ExecError {
    Halted(HaltReason),
    /// A message.
    Failed(String),
    Kernel(KernelError),
}

impl From<KernelError> for ExecError {
    fn from(error: KernelError) -> Self {
        Self::Kernel(error)
    }
}

type ExecResult<T> = Result<T, ExecError>;

impl Stepper for TargetStepper<'_, '_> {
    fn debugger(&self) -> &Debugger {
        self.debugger
    }

    fn step(&mut self) -> HaltReason {
        let halt = self.try_step();
        self.halt_reason(halt)
    }

    fn run_to(&mut self, goal: &Goal<'_>) -> HaltReason {
        let halt = self.try_run_to(goal);
        self.halt_reason(halt)
    }

    fn is_stopped(&mut self) -> bool {
        (self.should_stop)(self.debugger)
    }
}

impl TargetStepper<'_, '_> {
    fn registers(&self) -> Registers {
        self.debugger.registers()
    }

    fn halt_reason(&mut self, halt: ExecResult<HaltReason>) -> HaltReason {
        match halt {
            Ok(halt) | Err(ExecError::Halted(halt)) => halt,
            Err(ExecError::Failed(problem)) => {
                self.debugger.boards.target_mut().set_error(problem);
                HaltReason::TargetError
            }
            Err(ExecError::Kernel(error)) => {
                let target = self.debugger.boards.target_mut();
                target.set_error(target.describe(error));
                HaltReason::TargetError
            }
        }
    }

    fn breakpoints(&self) -> Vec<u16> {
        self.debugger.stops.addresses().collect()
    }

    /// Executes one instruction; a breakpoint in an interrupt service that starts halts the board.
    fn try_step(&mut self) -> ExecResult<HaltReason> {
        let at = self.registers().pc;
        self.step_from(at)?;
        let is_break = self.debugger.stops.has_breakpoint(self.registers().pc);
        Ok(if is_break && self.debugger.is_stopped_by_breakpoint() {
            HaltReason::Breakpoint
        } else {
            HaltReason::Completed
        })
    }

    /// Executes the instruction at `at`, where the program is halted.
    fn step_from(&mut self, at: u16) -> ExecResult<()> {
        let now = self.registers();
        // An RST 6 of the program itself is skipped.
        let is_rst_6 = self.debugger.peek(at) == RST_6;
        let after = match is_rst_6 {
            true => Registers { pc: at.wrapping_add(1), ..now },
            false => predict_next(&now, &|at| self.debugger.peek(at)),
        };
        let next = after.pc;
        if next == at || is_rst_6 {
            // RST 6 can't replace the instruction that is to be executed.
            self.debugger.set_registers(&after);
            return Ok(());
        }
        loop {
            let mut addresses = self.breakpoints();
            addresses.retain(|address| *address != at);
            addresses.push(next);
            self.run_until_stopped(&addresses)?;
            if self.registers().pc == next {
                return Ok(());
            }
            if self.debugger.is_stopped_by_breakpoint() {
                return Err(ExecError::Halted(HaltReason::Breakpoint));
            }
            // A breakpoint in an interrupt service whose condition does not hold.
            let inside = self.registers().pc;
            self.step_from(inside)?;
        }
    }

    /// Runs to a breakpoint, or to a goal, at whose address the program is halted.
    fn try_run_to(&mut self, goal: &Goal<'_>) -> ExecResult<HaltReason> {
        let (to, min_sp) = match *goal {
            Goal::None => (None, 0),
            Goal::Address(address) => (Some(address), 0),
            Goal::Return { address, sp } => (Some(self.code_after_call(address)), sp),
            Goal::ReturnAbove(_) | Goal::True(_) => {
                return Err(ExecError::Failed("no return address found on the stack".to_owned()));
            }
        };
        loop {
            let addresses: Vec<u16> = self.breakpoints().into_iter().chain(to).collect();
            let at = self.registers().pc;
            let is_held = !self.debugger.boards.target_mut().running;
            let is_waiting =
                is_held && (addresses.contains(&at) || self.debugger.peek(at) == RST_6);
            if is_waiting {
                self.step_from(at)?;
            }
            if !is_waiting || !addresses.contains(&self.registers().pc) {
                self.run_until_stopped(&addresses)?;
            }
            let now = self.registers();
            let is_break = self.debugger.stops.has_breakpoint(now.pc);
            if is_break && self.debugger.is_stopped_by_breakpoint() {
                return Ok(HaltReason::Breakpoint);
            }
            if to == Some(now.pc) && now.sp >= min_sp {
                return Ok(HaltReason::Completed);
            }
            if self.debugger.peek(now.pc) == RST_6 && !is_break {
                return Ok(HaltReason::Breakpoint);
            }
        }
    }

    /// The first code at or after a return address: a routine returns behind parameters that
    /// follow the call, and RST 6 must not replace one of them.
    fn code_after_call(&self, address: u16) -> u16 {
        let code = self.debugger.code();
        match code.line_at(address) {
            Some(line) if !line.is_code => {
                let later = code.lines().filter(|line| line.is_code && line.address > address);
                later.map(|line| line.address).min().unwrap_or(address)
            }
            _ => address,
        }
    }

    /// Resumes the program until it halts at one of the addresses, or the caller stops it.
    fn run_until_stopped(&mut self, addresses: &[u16]) -> ExecResult<()> {
        loop {
            self.resume(addresses)?;
            loop {
                if let Some(state) = self.wait(STOP_POLL_INTERVAL)? {
                    match self.record_halt(state)? {
                        HaltCause::Instruction => return Ok(()),
                        // Nobody sent them: a line fault.
                        HaltCause::Zeros => break,
                    }
                }
                if (self.should_stop)(self.debugger) {
                    return self.break_in();
                }
            }
        }
    }

    fn resume(&mut self, addresses: &[u16]) -> ExecResult<()> {
        let target = self.debugger.boards.target_mut();
        if target.running {
            return Ok(());
        }
        if !target.is_loaded {
            let problem = "the last restart failed; restart again";
            return Err(ExecError::Failed(problem.to_owned()));
        }
        let mut addresses = addresses.to_vec();
        addresses.extend(target.program.break_in.map(|symbols| symbols.stop_address));
        addresses.sort_unstable();
        addresses.dedup();
        if addresses.len() > MAX_BREAKPOINTS {
            let problem = format!(
                "the kernel supports at most {MAX_BREAKPOINTS} breakpoints; the command needs \
                 {addresses:04X?}"
            );
            return Err(ExecError::Failed(problem));
        }
        target.kernel.get_mut().resume(target.stopped.stop_number, &addresses)?;
        target.resumed_at = target.kernel.get_mut().now();
        target.running = true;
        let unsent = std::mem::take(&mut target.unsent);
        if unsent.is_empty() {
            return Ok(());
        }
        let paused = target.kernel.get_mut().wait_until_receiving();
        target.send(&unsent);
        Ok(paused?)
    }

    fn wait(&mut self, time: Duration) -> ExecResult<Option<StoppedState>> {
        let target = self.debugger.boards.target_mut();
        let state = target.kernel.get_mut().wait(time);
        target.receive_output();
        Ok(state?)
    }

    /// Records the state of the halted program, and returns what halted it.
    fn record_halt(&mut self, state: StoppedState) -> ExecResult<HaltCause> {
        let target = self.debugger.boards.target_mut();
        target.record_halt(state);
        let cause = target.resolve_break_in();
        let registers = target.registers();
        target.twin.events.push_back(TwinEvent::Halted(registers));
        Ok(cause?)
    }

    /// Halts the program with zeros on the line.
    fn break_in(&mut self) -> ExecResult<()> {
        let target = self.debugger.boards.target_mut();
        if target.program.break_in.is_none() {
            let problem = "this program has no interrupt service that halts it \
                           (firmware/z80/place.asm): set a breakpoint on its path, or press reset \
                           on the board";
            return Err(ExecError::Failed(problem.to_owned()));
        }
        let Some(state) = target.kernel.get_mut().break_in()? else {
            let problem = "the program does not halt: its interrupts are disabled; press reset on \
                           the board, or continue to a breakpoint";
            return Err(ExecError::Failed(problem.to_owned()));
        };
        self.record_halt(state)?;
        Err(ExecError::Halted(HaltReason::Paused))
    }
}
