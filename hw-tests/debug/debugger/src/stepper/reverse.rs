//! Reverse commands: searches of the timeline.

use std::sync::Arc;

use board_simulator::{AccessKind, StepOutcome};
use firmware::code_map::CodeMap;

use super::{STOP_CHECK_STEPS, SimulatedStepper, Stepper};
use crate::exec::HaltReason;
use crate::stops::{StepTrace, StopSet, WatchHit, WatchTrigger};
use crate::timeline::Timeline;

/// What a search in the past looks for.
enum Wanted {
    /// A breakpoint or watchpoint of these.
    Stops(StopSet),
    /// PC at an address.
    Address(u16),
    /// PC at the first instruction of a line; in an interrupt service only if `in_services`.
    LineStart { code: Arc<CodeMap>, in_services: bool },
    /// A change of the byte at an address.
    Change(u16),
}

impl Wanted {
    /// Returns `true` if the state is one to halt in.
    fn is_at(&self, timeline: &Timeline) -> bool {
        // Going back, too, an interrupted instruction is reached once.
        if timeline.is_resumed() {
            return false;
        }
        let registers = timeline.registers();
        match self {
            Self::Stops(stops) => {
                stops.breakpoints_held(&registers, &|at| timeline.peek(at)).next().is_some()
            }
            Self::Address(address) => registers.pc == *address,
            Self::LineStart { code, in_services } => {
                let is_start =
                    || code.line_at(registers.pc).is_some_and(|line| line.address == registers.pc);
                (*in_services || !timeline.in_service()) && is_start()
            }
            Self::Change(_) => false,
        }
    }

    /// Returns `true` if bus cycles are looked at.
    fn has_watchpoints(&self) -> bool {
        match self {
            Self::Stops(stops) => stops.has_watchpoints(),
            Self::Change(_) => true,
            Self::Address(_) | Self::LineStart { .. } => false,
        }
    }

    /// The byte whose change is looked for.
    fn watched_byte(&self, timeline: &Timeline) -> Option<u8> {
        match self {
            Self::Change(address) => Some(timeline.peek(*address)),
            _ => None,
        }
    }

    /// The watchpoint that the last step has hit. `byte` is [`Self::watched_byte`] before it.
    fn hit(&self, timeline: &Timeline, byte: Option<u8>) -> Option<WatchHit> {
        match self {
            Self::Stops(stops) if stops.has_watchpoints() => {
                stops.watch_hit(&StepTrace::of(timeline), &|at| timeline.peek(at))
            }
            // A write of the same value is not a change.
            Self::Change(address) if byte != Some(timeline.peek(*address)) => {
                let accesses = timeline.accesses();
                let mut writes = accesses.iter().filter(|access| access.kind == AccessKind::Write);
                let access = writes.find(|access| access.address == *address)?;
                // The user has set no watchpoint, which would have a number.
                Some(WatchHit { id: 0, trigger: WatchTrigger::Access(*access) })
            }
            _ => None,
        }
    }
}

/// The caller stopped the search.
struct Interrupted;

impl SimulatedStepper<'_, '_> {
    fn timeline(&mut self) -> &mut Timeline {
        &mut self.debugger.boards.timeline
    }

    /// Goes back `count` instructions. The snapshots have the numbers of instructions before them,
    /// so only those after one of them are executed again.
    pub(super) fn step_back(&mut self, count: u64) -> HaltReason {
        let now = self.timeline().bookmark();
        let Some(mut search) = self.timeline().search_instruction(count) else {
            return self.go_to_start();
        };
        self.debugger.in_reverse_search = true;
        let mut halt = HaltReason::Completed;
        while !self.timeline().find_instruction(&mut search, STOP_CHECK_STEPS) {
            if self.is_stopped() {
                self.timeline().return_to(now);
                halt = HaltReason::Paused;
                break;
            }
        }
        self.debugger.in_reverse_search = false;
        halt
    }

    /// Goes back to the last start of a line, where forward steps halt, too.
    pub(super) fn step_line_back(&mut self) -> HaltReason {
        let in_services = self.timeline().in_service();
        let code = Arc::clone(&self.debugger.code);
        completed(self.go_back_to(&Wanted::LineStart { code, in_services }))
    }

    /// Goes back to the last breakpoint or watchpoint of those that are set now.
    pub(super) fn go_back_to_stop(&mut self) -> HaltReason {
        let stops = self.debugger.stops.set().clone();
        let wanted = Wanted::Stops(stops.clone());
        let halt = self.go_back_to(&wanted);
        let boards = &self.debugger.boards;
        let halting = stops.breakpoints_held(&boards.registers(), &|at| boards.peek(at)).collect();
        self.debugger.stops.set_halting(halting);
        halt
    }

    pub(super) fn go_back_to_address(&mut self, address: u16) -> HaltReason {
        completed(self.go_back_to(&Wanted::Address(address)))
    }

    pub(super) fn go_back_to_change(&mut self, address: u16) -> HaltReason {
        let now = self.timeline().bookmark();
        let halt = self.go_back_to(&Wanted::Change(address));
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
    fn go_back_to(&mut self, wanted: &Wanted) -> HaltReason {
        let now = self.timeline().bookmark();
        self.debugger.in_reverse_search = true;
        let found = self.search(wanted);
        self.debugger.in_reverse_search = false;
        match found {
            Ok(None) => self.go_to_start(),
            // The replay from the nearest snapshot is short and can't be stopped: a step in between
            // is not one to show.
            Ok(Some((step, halt))) => {
                self.timeline().seek(step);
                halt
            }
            Err(Interrupted) => {
                self.timeline().return_to(now);
                HaltReason::Paused
            }
        }
    }

    /// Returns the last match before the present, and its step. The history is searched segment by
    /// segment, from snapshot to snapshot, the latest first. A segment is replayed forward, so its
    /// last match counts.
    fn search(&mut self, wanted: &Wanted) -> Result<Option<(u64, HaltReason)>, Interrupted> {
        let mut end = self.timeline().step_count();
        while let Some(begin) = self.timeline().segment_before(end) {
            let (mut is_at, mut byte, mut last) = (false, None, None);
            let mut visit = |timeline: &Timeline, outcome| match outcome {
                None => (is_at, byte) = (wanted.is_at(timeline), wanted.watched_byte(timeline)),
                Some(StepOutcome::Executed) => {
                    let hit = wanted.hit(timeline, byte).map(HaltReason::Watchpoint);
                    let halt = hit.or(is_at.then_some(HaltReason::Breakpoint));
                    last = halt.map(|halt| (timeline.before().step, halt)).or(last);
                }
                // A waiting processor repeats steps at the same PC; only the first is a hit.
                Some(_) => {}
            };
            for start in (begin..end).step_by(STOP_CHECK_STEPS as usize) {
                let range = start..end.min(start + STOP_CHECK_STEPS);
                self.timeline().replay(range, wanted.has_watchpoints(), &mut visit);
                if self.is_stopped() {
                    return Err(Interrupted);
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

/// A search for a place completes there; the user has set no breakpoint.
fn completed(halt: HaltReason) -> HaltReason {
    if halt == HaltReason::Breakpoint { HaltReason::Completed } else { halt }
}
