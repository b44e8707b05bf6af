//! Executes commands on a simulated board: steps by instruction or by line, runs, and their
//! reverse.
//!
//! Each command polls its caller, so that a program that hangs can always be stopped.

use board_simulator::{Registers, StepOutcome};

use super::debugger::{Debugger, ShouldStop};
use super::exec::{ExecCommand, HaltReason};
use super::stops::{Breakpoint, WatchHit, WatchTrigger, Watchpoint};
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
            ExecCommand::ReverseStep => stepper.step_back(),
            ExecCommand::ReverseStepLine => stepper.step_line_back(),
            ExecCommand::ReverseContinue => stepper.go_back(),
            ExecCommand::ReverseTo(address) => stepper.go_back_to(address),
            ExecCommand::ReverseToChange(address) => stepper.go_back_to_change(address),
        }
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
            let Some(turn) = self.next_step() else { return HaltReason::Paused };
            if turn == StepOutcome::Idle {
                return HaltReason::Idle;
            }
            if let Some(halt) = self.debugger.halt_reason(turn) {
                return halt;
            }
            let is_served = !in_service && self.debugger.board.in_service();
            // After a service the interrupted instruction has yet to run: it is the step.
            if turn == StepOutcome::Executed && !is_served && !self.debugger.breakpoint_already_hit
            {
                return HaltReason::Step;
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
        if halt != HaltReason::Step || !(entered || repeats) {
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
            if halt != HaltReason::Step {
                return halt;
            }
            let line = self.line();
            if line.is_some() && (line != began || self.debugger.at_line_start()) {
                return HaltReason::Step;
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

    /// Runs until `done` accepts the opcode just executed, outside of interrupt services.
    fn until(&mut self, done: impl Fn(&Debugger, u8) -> bool) -> HaltReason {
        let in_service = self.debugger.board.in_service();
        loop {
            let opcode = self.debugger.peek(self.debugger.registers().pc);
            let Some(turn) = self.next_step() else { return HaltReason::Paused };
            if turn == StepOutcome::Idle {
                return HaltReason::Idle;
            }
            if let Some(halt) = self.debugger.halt_reason(turn) {
                return halt;
            }
            let is_served = !in_service && self.debugger.board.in_service();
            if turn == StepOutcome::Executed && !is_served && done(self.debugger, opcode) {
                return HaltReason::Step;
            }
        }
    }

    fn step_back(&mut self) -> HaltReason {
        let in_service = self.debugger.board.in_service();
        self.search(|_, before| {
            let is_served = before.in_service && !in_service;
            (!is_served && !before.breakpoint_already_hit).then_some(HaltReason::Step)
        })
    }

    fn step_line_back(&mut self) -> HaltReason {
        let began = self.line();
        let mut halt = self.step_back();
        while halt == HaltReason::Step
            && (self.line().is_none() || (self.line() == began && !self.debugger.at_line_start()))
        {
            halt = self.step_back();
        }
        // The board is at the last instruction of an earlier line, or at the start of this one.
        // Continue to the line's first instruction, where forward steps halt, too.
        while halt == HaltReason::Step && !self.debugger.at_line_start() {
            halt = self.step_back();
        }
        halt
    }

    fn go_back(&mut self) -> HaltReason {
        self.search(|debugger, before| {
            let hit = debugger.watch_hit().map(HaltReason::Watchpoint);
            hit.or(before.at_break.then_some(HaltReason::Breakpoint))
        })
    }

    fn go_back_to(&mut self, address: u16) -> HaltReason {
        let stops = std::mem::take(&mut self.debugger.stops);
        self.debugger.stops.add_breakpoint(Breakpoint::at(address));
        let halt = self.go_back();
        self.debugger.stops = stops;
        if halt == HaltReason::Breakpoint { HaltReason::Step } else { halt }
    }

    fn go_back_to_change(&mut self, address: u16) -> HaltReason {
        let stops = std::mem::take(&mut self.debugger.stops);
        self.debugger.stops.add_watchpoint(Watchpoint::writes(address, 1));
        let mut halt = self.go_back();
        // A write of the same value is not a change.
        while let HaltReason::Watchpoint(hit) = halt {
            let WatchTrigger::Access(access) = hit.trigger else { break };
            if self.debugger.peek(address) != access.value {
                break;
            }
            halt = self.go_back();
        }
        self.debugger.stops = stops;
        match halt {
            // The watchpoint was temporary; the user has no number for it.
            HaltReason::Watchpoint(hit) => HaltReason::Watchpoint(WatchHit { id: 0, ..hit }),
            other => other,
        }
    }

    /// Returns to the last step before the current one for which `found` returns a reason to halt.
    /// `found` is called after each executed instruction, with the state before it, in which the
    /// board will halt.
    ///
    /// The history is searched segment by segment, from snapshot to snapshot, the latest first. A
    /// segment is replayed forward, so its last match counts. If the caller stops the search, the
    /// board returns to the step at which the search began.
    fn search(
        &mut self,
        found: impl Fn(&Debugger, &PreStepState) -> Option<HaltReason>,
    ) -> HaltReason {
        let now = self.debugger.step_count;
        let mut end = now;
        self.debugger.in_reverse_search = true;
        let halt = loop {
            // `end - 1`, not `end`: with a snapshot exactly at `end` the segment would be empty,
            // and the search would not terminate.
            let begin = if end == 0 { None } else { self.debugger.rewind(end - 1) };
            let Some(begin) = begin else {
                break self.finish_reverse(None, HaltReason::HistoryStart);
            };
            match self.search_segment(end, &found) {
                Err(Interrupted) => break self.finish_reverse(Some(now), HaltReason::Paused),
                Ok(Some((turn, halt))) => break self.finish_reverse(Some(turn), halt),
                Ok(None) => end = begin,
            }
        };
        self.debugger.in_reverse_search = false;
        halt
    }

    /// Returns the last match from the current step to the step `end`.
    fn search_segment(
        &mut self,
        end: u64,
        found: &impl Fn(&Debugger, &PreStepState) -> Option<HaltReason>,
    ) -> Result<Option<(u64, HaltReason)>, Interrupted> {
        let mut last = None;
        while self.debugger.step_count < end {
            let at = self.debugger.step_count;
            let before = PreStepState::new(self.debugger);
            let turn = self.next_step().ok_or(Interrupted)?;
            // A waiting processor repeats steps at the same PC; only the first is a hit.
            let halt =
                if turn == StepOutcome::Executed { found(self.debugger, &before) } else { None };
            if let Some(halt) = halt {
                last = Some((at, halt));
            }
            // Idle: the board waited here for input that was sent later.
            if turn == StepOutcome::Idle {
                break;
            }
        }
        Ok(last)
    }

    /// Ends a reverse command at a step, or at the start of the history. The replay from the
    /// nearest snapshot is short and can't be stopped: a step in between is not one to show.
    fn finish_reverse(&mut self, step: Option<u64>, halt: HaltReason) -> HaltReason {
        let Some(start) = self.debugger.history.start() else { return HaltReason::HistoryStart };
        let target = step.unwrap_or(start);
        if self.debugger.rewind(target).is_some() {
            while self.debugger.step_count < target
                && self.debugger.step_recorded() != StepOutcome::Idle
            {}
        }
        halt
    }
}

/// The caller stopped the search.
struct Interrupted;

/// The state before a replayed step.
struct PreStepState {
    in_service: bool,
    breakpoint_already_hit: bool,
    at_break: bool,
}

impl PreStepState {
    fn new(debugger: &Debugger) -> Self {
        let registers = debugger.registers();
        let holds = debugger.stops.holds(&registers, &|at| debugger.peek(at));
        let breakpoint_already_hit = debugger.breakpoint_already_hit;
        Self {
            in_service: debugger.board.in_service(),
            breakpoint_already_hit,
            at_break: holds && !breakpoint_already_hit,
        }
    }
}
