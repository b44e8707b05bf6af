//! Running a target: RST 6 is written to each address at which the program is to halt.

mod catch_up;
mod predict_next;

use std::time::Duration;

use board_simulator::Registers;
use firmware_wire::{MAX_BREAKPOINTS, StoppedState};

use super::stepper::{Goal, Stepper};
use super::target::{Target, TwinEvent};
use crate::{Debugger, HaltReason, ShouldStop};
use predict_next::predict_next;

/// How often the caller is polled while the program runs.
const STOP_POLL_INTERVAL: Duration = Duration::from_millis(20);
/// The opcode of RST 6, which a program may also contain itself.
const RST_6: u8 = 0xF7;

/// Executes one command on a target.
pub(super) struct TargetStepper<'a, 'b> {
    debugger: &'a mut Debugger,
    should_stop: ShouldStop<'b>,
}

impl Debugger {
    /// Begins a command on the target.
    pub(super) fn on_target<'b>(&mut self, should_stop: ShouldStop<'b>) -> TargetStepper<'_, 'b> {
        self.boards.target_mut().clear_error();
        TargetStepper { debugger: self, should_stop }
    }
}

/// A result, or why the command ends before.
type ExecResult<T> = Result<T, HaltReason>;

impl Stepper for TargetStepper<'_, '_> {
    fn debugger(&self) -> &Debugger {
        self.debugger
    }

    fn step(&mut self) -> HaltReason {
        match self.step_from(self.debugger.registers().pc) {
            Err(halt) => halt,
            // A breakpoint in an interrupt service that starts.
            Ok(()) if self.debugger.is_stopped_by_breakpoint() => HaltReason::Breakpoint,
            Ok(()) => HaltReason::Completed,
        }
    }

    fn run_to(&mut self, goal: &Goal<'_>) -> HaltReason {
        self.try_run_to(goal).unwrap_or_else(|halt| halt)
    }

    fn is_stopped(&mut self) -> bool {
        (self.should_stop)(self.debugger)
    }
}

impl TargetStepper<'_, '_> {
    fn target(&mut self) -> &mut Target {
        self.debugger.boards.target_mut()
    }

    /// Executes the instruction at `at`, where the program is halted.
    fn step_from(&mut self, at: u16) -> ExecResult<()> {
        let now = self.debugger.registers();
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
            let mut addresses: Vec<u16> = self.debugger.stops.addresses().collect();
            addresses.retain(|address| *address != at);
            addresses.push(next);
            self.run_until_stopped(&addresses)?;
            if self.debugger.registers().pc == next {
                return Ok(());
            }
            if self.debugger.is_stopped_by_breakpoint() {
                return Err(HaltReason::Breakpoint);
            }
            // A breakpoint in an interrupt service whose condition does not hold.
            self.step_from(self.debugger.registers().pc)?;
        }
    }

    /// Runs to a breakpoint, or to a goal, at whose address the program is halted.
    fn try_run_to(&mut self, goal: &Goal<'_>) -> ExecResult<HaltReason> {
        let (to, min_sp) = match *goal {
            Goal::None => (None, 0),
            Goal::Address(address) => (Some(address), 0),
            Goal::Return { address, sp } => (Some(self.code_after_call(address)), sp),
            Goal::ReturnAbove(_) | Goal::True(_) => {
                return Err(self.target().fail("no return address found on the stack"));
            }
        };
        loop {
            let addresses: Vec<u16> = self.debugger.stops.addresses().chain(to).collect();
            let at = self.debugger.registers().pc;
            let is_held = !self.target().running;
            let is_waiting =
                is_held && (addresses.contains(&at) || self.debugger.peek(at) == RST_6);
            if is_waiting {
                self.step_from(at)?;
            }
            if !is_waiting || !addresses.contains(&self.debugger.registers().pc) {
                self.run_until_stopped(&addresses)?;
            }
            let now = self.debugger.registers();
            if self.debugger.is_stopped_by_breakpoint() {
                return Ok(HaltReason::Breakpoint);
            }
            if to == Some(now.pc) && now.sp >= min_sp {
                return Ok(HaltReason::Completed);
            }
            let is_break = self.debugger.stops.has_breakpoint(now.pc);
            if self.debugger.peek(now.pc) == RST_6 && !is_break {
                return Ok(HaltReason::Breakpoint);
            }
        }
    }

    /// The first code at or after a return address: a routine returns behind parameters that
    /// follow the call, and RST 6 must not replace one of them.
    fn code_after_call(&self, address: u16) -> u16 {
        let code = self.debugger.code();
        if code.line_at(address).is_none_or(|line| line.is_code) {
            return address;
        }
        let later = code.lines().filter(|line| line.is_code && line.address > address);
        later.map(|line| line.address).min().unwrap_or(address)
    }

    /// Resumes the program until it halts at one of the addresses, or the caller stops it.
    fn run_until_stopped(&mut self, addresses: &[u16]) -> ExecResult<()> {
        loop {
            // Again after zeros on the line: nobody sent them, it is a line fault.
            self.resume(addresses)?;
            if let Some(state) = self.wait(STOP_POLL_INTERVAL)? {
                if !self.record_halt(state)? {
                    return Ok(());
                }
            } else if (self.should_stop)(self.debugger) {
                return self.break_in();
            }
        }
    }

    /// Resumes the program unless it runs.
    fn resume(&mut self, addresses: &[u16]) -> ExecResult<()> {
        let target = self.target();
        if target.running {
            return Ok(());
        }
        if !target.is_loaded {
            return Err(target.fail("the last restart failed; restart again"));
        }
        let mut addresses = addresses.to_vec();
        addresses.extend(target.program.break_in.map(|symbols| symbols.stop_address));
        addresses.sort_unstable();
        addresses.dedup();
        if addresses.len() > MAX_BREAKPOINTS {
            return Err(target.fail(format!(
                "the kernel supports at most {MAX_BREAKPOINTS} breakpoints; the command needs \
                 {addresses:04X?}"
            )));
        }
        let resumed = target.kernel.get_mut().resume(target.stopped.stop_number, &addresses);
        target.checked(resumed)?;
        target.resumed_at = target.kernel.get_mut().now();
        target.running = true;
        let unsent = std::mem::take(&mut target.unsent);
        if unsent.is_empty() {
            return Ok(());
        }
        let paused = target.kernel.get_mut().wait_until_receiving();
        target.send(&unsent);
        target.checked(paused)
    }

    fn wait(&mut self, time: Duration) -> ExecResult<Option<StoppedState>> {
        let target = self.target();
        let state = target.kernel.get_mut().wait(time);
        target.receive_output();
        target.checked(state)
    }

    /// Records the state of the halted program; returns `true` if zeros on the line have halted it.
    fn record_halt(&mut self, state: StoppedState) -> ExecResult<bool> {
        let target = self.target();
        target.record_halt(state);
        let cause = target.resolve_break_in();
        target.twin.events.push_back(TwinEvent::Halted(target.registers()));
        target.checked(cause)
    }

    /// Halts the program with zeros on the line.
    fn break_in(&mut self) -> ExecResult<()> {
        let target = self.target();
        if target.program.break_in.is_none() {
            return Err(target.fail(
                "this program has no interrupt service that halts it (firmware/z80/place.asm): \
                 set a breakpoint on its path, or press reset on the board",
            ));
        }
        let halted = target.kernel.get_mut().break_in();
        let Some(state) = target.checked(halted)? else {
            return Err(target.fail(
                "the program does not halt: its interrupts are disabled; press reset on the \
                 board, or continue to a breakpoint",
            ));
        };
        self.record_halt(state)?;
        Err(HaltReason::Paused)
    }
}
