//! Reverse commands: snapshots, and replays from them.

use board_simulator::StepOutcome;

use super::Stepper;
use crate::debugger::Debugger;
use crate::exec::HaltReason;
use crate::stops::{Breakpoint, WatchHit, WatchTrigger, Watchpoint};

impl Stepper<'_, '_> {
    /// Goes back `count` instructions. The snapshots have the numbers of instructions before them,
    /// so only those after one of them are executed again.
    pub(super) fn step_back(&mut self, count: u64) -> HaltReason {
        let now = self.debugger.step_count;
        let in_service = self.debugger.board.in_service();
        let target = self.debugger.counts.get(in_service).checked_sub(count);
        if !target.is_some_and(|target| self.debugger.rewind_to_count(target, in_service)) {
            return self.finish_reverse(None, HaltReason::HistoryStart);
        }
        let target = target.unwrap_or_default();
        self.debugger.in_reverse_search = true;
        // The first state with the wanted count. The target is this state or a later one: waits and
        // interrupt services in between are not counted.
        let mut candidate = None;
        let halt = loop {
            let is_candidate = self.debugger.counts.get(in_service) == target;
            if is_candidate && candidate.is_none() {
                candidate = Some(self.debugger.snapshot());
            }
            let at = self.debugger.step_count;
            if matches!(self.replay_step(), None | Some(StepOutcome::Idle)) {
                break self.finish_reverse(Some(now), HaltReason::Paused);
            }
            if self.debugger.counts.get(in_service) > target {
                candidate.iter().for_each(|candidate| self.debugger.restore(candidate));
                self.replay_to(at);
                break HaltReason::Completed;
            }
        };
        self.debugger.in_reverse_search = false;
        halt
    }

    /// Goes back to the last start of a line, where forward steps halt, too.
    pub(super) fn step_line_back(&mut self) -> HaltReason {
        let in_service = self.debugger.board.in_service();
        self.search(|debugger, before| {
            let is_served = before.in_service && !in_service;
            let is_start = || {
                let line = debugger.code().line_at(before.pc);
                line.is_some_and(|line| line.address == before.pc)
            };
            let is_found = !is_served && !before.breakpoint_already_hit && is_start();
            is_found.then_some(HaltReason::Completed)
        })
    }

    pub(super) fn go_back(&mut self) -> HaltReason {
        self.search(|debugger, before| {
            let hit = debugger.watch_hit().map(HaltReason::Watchpoint);
            hit.or(before.at_break.then_some(HaltReason::Breakpoint))
        })
    }

    pub(super) fn go_back_to(&mut self, address: u16) -> HaltReason {
        let stops = std::mem::take(&mut self.debugger.stops);
        self.debugger.stops.add_breakpoint(Breakpoint::at(address));
        let halt = self.go_back();
        self.debugger.stops = stops;
        if halt == HaltReason::Breakpoint { HaltReason::Completed } else { halt }
    }

    pub(super) fn go_back_to_change(&mut self, address: u16) -> HaltReason {
        let began = self.debugger.step_count;
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
            HaltReason::HistoryStart => {
                self.finish_reverse(Some(began), HaltReason::NeverChanged(address))
            }
            HaltReason::Paused => self.finish_reverse(Some(began), HaltReason::Paused),
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
                Ok(Some((step, halt))) => break self.finish_reverse(Some(step), halt),
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
            let outcome = self.replay_step().ok_or(Interrupted)?;
            // A waiting processor repeats steps at the same PC; only the first is a hit.
            let halt =
                if outcome == StepOutcome::Executed { found(self.debugger, &before) } else { None };
            if let Some(halt) = halt {
                last = Some((at, halt));
            }
            // Idle: the board waited here for input that was sent later.
            if outcome == StepOutcome::Idle {
                break;
            }
        }
        Ok(last)
    }

    /// Executes a step again; returns `None` if the command is to stop instead.
    fn replay_step(&mut self) -> Option<StepOutcome> {
        self.debugger.replayed_steps += 1;
        self.next_step()
    }

    /// Ends a reverse command at a step, or at the start of the history. The replay from the
    /// nearest snapshot is short and can't be stopped: a step in between is not one to show.
    pub(super) fn finish_reverse(&mut self, step: Option<u64>, halt: HaltReason) -> HaltReason {
        let Some(start) = self.debugger.history.start() else { return HaltReason::HistoryStart };
        let target = step.unwrap_or(start);
        if self.debugger.rewind(target).is_some() {
            self.replay_to(target);
        }
        halt
    }

    fn replay_to(&mut self, step: u64) {
        while self.debugger.step_count < step {
            self.debugger.replayed_steps += 1;
            if self.debugger.step_recorded() == StepOutcome::Idle {
                break;
            }
        }
    }
}

/// The caller stopped the search.
struct Interrupted;

/// The state before a replayed step.
struct PreStepState {
    pc: u16,
    in_service: bool,
    breakpoint_already_hit: bool,
    at_break: bool,
}

impl PreStepState {
    fn new(debugger: &Debugger) -> Self {
        let registers = debugger.registers();
        let holds = debugger.stops.any_breakpoint_holds(&registers, &|at| debugger.peek(at));
        let breakpoint_already_hit = debugger.breakpoint_already_hit;
        Self {
            pc: registers.pc,
            in_service: debugger.board.in_service(),
            breakpoint_already_hit,
            at_break: holds && !breakpoint_already_hit,
        }
    }
}
