//! Reverse commands: searches of the timeline.

use std::sync::Arc;

use board_simulator::{AccessKind, StepOutcome};

use super::Stepper;
use super::simulated::{STOP_CHECK_STEPS, SimulatedStepper};
use crate::timeline::{Timeline, Touched};
use crate::{HaltReason, MachineState, WatchHit, WatchTrigger};

/// What a search in the past looks for: returns the reason to halt in a state before a step, or at
/// what the step has done.
type Find<'f> = &'f mut dyn FnMut(&Timeline, Moment) -> Option<HaltReason>;

/// Returns `true` if steps that have touched these addresses may be what is looked for.
type MayFind<'f> = &'f dyn Fn(&Touched) -> bool;

/// When a search looks at a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moment {
    /// Before it, but not a second time after an interrupt service.
    Before,
    /// After an instruction was executed.
    After,
}

impl SimulatedStepper<'_, '_> {
    fn timeline(&mut self) -> &mut Timeline {
        &mut self.debugger.boards.timeline
    }

    /// Goes back `count` instructions. The snapshots have the numbers of instructions before them,
    /// so only those between two of them are executed again.
    pub(super) fn step_back(&mut self, count: u64) -> HaltReason {
        let in_service = self.timeline().in_service();
        let wanted = self.timeline().instruction_count(in_service).checked_sub(count);
        let end = wanted.and_then(|wanted| self.timeline().segment_end(wanted, in_service));
        let (Some(wanted), Some(end)) = (wanted, end) else { return self.go_to_start() };
        self.go_back_before(end, false, &|_| true, &mut |timeline, moment| {
            let count = timeline.instruction_count(in_service);
            (moment == Moment::Before && count == wanted).then_some(HaltReason::Completed)
        })
    }

    /// Goes back to the last start of a line, where forward steps halt, too.
    pub(super) fn step_line_back(&mut self) -> HaltReason {
        let in_services = self.timeline().in_service();
        let code = Arc::clone(&self.debugger.code);
        self.go_back_to(false, &|_| true, &mut |timeline, moment| {
            let pc = timeline.registers().pc;
            let is_shown = moment == Moment::Before && (in_services || !timeline.in_service());
            let is_start = is_shown && code.line_at(pc).is_some_and(|line| line.address == pc);
            is_start.then_some(HaltReason::Completed)
        })
    }

    /// Goes back to the last breakpoint or watchpoint of those that are set now.
    pub(super) fn go_back_to_stop(&mut self) -> HaltReason {
        let stops = self.debugger.stops.set.clone();
        let has_watchpoints = stops.has_watchpoints();
        let may_find = |touched: &Touched| stops.may_be_hit_by(touched);
        let halt =
            self.go_back_to(has_watchpoints, &may_find, &mut |timeline, moment| match moment {
                Moment::Before => stops.reached(timeline).next().map(|_| HaltReason::Breakpoint),
                Moment::After => stops.watch_hit(timeline).map(HaltReason::Watchpoint),
            });
        self.debugger.stops.set_halting(stops.reached(&self.debugger.boards.timeline).collect());
        halt
    }

    pub(super) fn go_back_to_address(&mut self, address: u16) -> HaltReason {
        let may_find = |touched: &Touched| touched.executed.contains(address);
        self.go_back_to(false, &may_find, &mut |timeline, moment| {
            let is_there = moment == Moment::Before && timeline.registers().pc == address;
            is_there.then_some(HaltReason::Completed)
        })
    }

    pub(super) fn go_back_to_change(&mut self, address: u16) -> HaltReason {
        let now = self.timeline().bookmark();
        let mut byte = None;
        let may_find = |touched: &Touched| touched.written.contains(address);
        let halt = self.go_back_to(true, &may_find, &mut |timeline, moment| {
            let before = byte.replace(timeline.peek(address));
            // A write of the same value is not a change.
            if moment == Moment::Before || before == byte {
                return None;
            }
            let accesses = timeline.accesses();
            let mut writes = accesses.iter().filter(|access| access.kind == AccessKind::Write);
            let access = writes.find(|access| access.address == address)?;
            // The user has set no watchpoint, which would have a number.
            let trigger = WatchTrigger::Access(*access);
            Some(HaltReason::Watchpoint(WatchHit { id: 0, trigger }))
        });
        if halt != HaltReason::HistoryStart {
            return halt;
        }
        self.timeline().return_to(now);
        HaltReason::NeverChanged(address)
    }

    pub(super) fn go_to_step(&mut self, step: u64) -> HaltReason {
        if step < self.timeline().step_count() {
            let is_recorded = self.timeline().seek(step);
            return if is_recorded { HaltReason::Completed } else { self.go_to_start() };
        }
        while self.timeline().step_count() < step {
            match self.next_step() {
                None => return HaltReason::Paused,
                Some(StepOutcome::Idle) => return HaltReason::Idle,
                Some(_) => {}
            }
        }
        HaltReason::Completed
    }

    fn go_to_start(&mut self) -> HaltReason {
        if let Some(start) = self.timeline().start() {
            self.timeline().seek(start);
        }
        HaltReason::HistoryStart
    }

    /// Returns to the last match before the present, or else to the start of the history. If the
    /// caller stops the search, the present stays.
    /// Bus cycles are recorded if `traces`.
    fn go_back_to(&mut self, traces: bool, may_find: MayFind<'_>, find: Find<'_>) -> HaltReason {
        let present = self.timeline().step_count();
        self.go_back_before(present, traces, may_find, find)
    }

    /// The same, with the last match before a step.
    fn go_back_before(
        &mut self,
        end: u64,
        traces: bool,
        may_find: MayFind<'_>,
        find: Find<'_>,
    ) -> HaltReason {
        let now = self.timeline().bookmark();
        self.debugger.in_reverse_search = true;
        let found = self.search(end, traces, may_find, find);
        self.debugger.in_reverse_search = false;
        match found {
            Ok(None) => self.go_to_start(),
            // The replay from the nearest snapshot is short and can't be stopped: a step in between
            // is not one to show.
            Ok(Some((step, halt))) => {
                self.timeline().seek(step);
                halt
            }
            Err(halt) => {
                self.timeline().return_to(now);
                halt
            }
        }
    }

    /// Returns the last match before a step, and its step, or why the search was stopped. The
    /// history is searched segment by segment, from snapshot to snapshot, the latest first; those
    /// that can't have a match are left out. A segment is replayed forward, so its last match
    /// counts.
    fn search(
        &mut self,
        mut end: u64,
        traces: bool,
        may_find: MayFind<'_>,
        find: Find<'_>,
    ) -> Result<Option<(u64, HaltReason)>, HaltReason> {
        while let Some(begin) = self.timeline().segment_before(end) {
            if self.timeline().touched_after(begin).is_some_and(|touched| !may_find(touched)) {
                end = begin;
                continue;
            }
            let (mut at, mut last) = (None, None);
            let mut visit = |timeline: &Timeline, outcome| match outcome {
                None => at = find(timeline, Moment::Before).filter(|_| !timeline.is_resumed()),
                Some(StepOutcome::Executed) => {
                    let halt = find(timeline, Moment::After).or(at);
                    last = halt.map(|halt| (timeline.before.step, halt)).or(last);
                }
                // A waiting processor repeats steps at the same PC; only the first is a hit.
                Some(_) => {}
            };
            for start in (begin..end).step_by(STOP_CHECK_STEPS as usize) {
                let range = start..end.min(start + STOP_CHECK_STEPS);
                self.timeline().replay(range, traces, &mut visit);
                if self.is_stopped() {
                    return Err(HaltReason::Paused);
                }
            }
            if last.is_some() {
                return Ok(last);
            }
            end = begin;
        }
        Ok(None)
    }
}
