//! A debugger: stops, and motions over the boards.

mod custom_pane;

use std::collections::HashMap;
use std::sync::Arc;

use board_simulator::{AccessKind, BoardModel, QueueLine, Registers, StepOutcome};
use firmware::code_map::CodeMap;

use super::boards::Boards;
use super::target::Target;
use super::timeline::{CallStack, Timeline};
use crate::{HaltReason, MachineState, OpenCall, StopKind, StopPoints};

pub use custom_pane::{CustomPane, PaneHeading, PaneVariable};

/// A callback that is polled while the board runs; returning `true` stops it. It may inspect the
/// debugger, set breakpoints and send bytes.
pub type ShouldStop<'a> = &'a mut dyn FnMut(&mut Debugger) -> bool;

/// Loads a program again from its files; returns a message if that fails.
pub type Reload = Box<dyn FnMut() -> Result<Debugger, String> + Send>;

/// A board under a debugger: a simulated board, or a target with a simulated twin.
pub struct Debugger {
    pub(super) boards: Boards,
    pub(super) code: Arc<CodeMap>,
    /// The breakpoints and watchpoints.
    pub stops: StopPoints,
    /// The memory that the last step read and wrote; `None` after other commands.
    pub(super) step_addresses: Option<StepAddresses>,
    /// `true` during a reverse search, while the state is not to be shown.
    pub(super) in_reverse_search: bool,
    /// The panes that the program has added.
    pub(super) panes: Vec<Box<dyn CustomPane>>,
    /// Loads the program again, if it comes from a file, at the command `restart` after a change of
    /// its sources.
    pub reload: Option<Reload>,
}

/// The addresses of data that a step has read and written.
/// `true` for one that was written, otherwise it was read.
type StepAddresses = HashMap<u16, bool>;

/// The length of the longest instruction, in bytes.
pub(super) const MAX_INSTRUCTION_BYTES: u16 = 4;

impl Debugger {
    /// Creates a debugger for a simulated board; the history begins now.
    pub fn new(board: BoardModel<QueueLine>, code: CodeMap) -> Self {
        Self {
            boards: Boards { timeline: Timeline::new(board), target: None },
            code: Arc::new(code),
            stops: StopPoints::default(),
            step_addresses: None,
            in_reverse_search: false,
            panes: Vec::new(),
            reload: None,
        }
    }

    /// The source lines and symbols of the programs.
    pub fn code(&self) -> &CodeMap {
        &self.code
    }

    /// Returns `true` if the state shown is that of a target's simulated twin.
    pub fn is_twin(&self) -> bool {
        self.boards.target.is_some() && self.boards.live_target().is_none()
    }

    /// The last error of the target.
    pub fn last_error(&self) -> Option<String> {
        self.boards.target.as_ref().and_then(|target| target.last_error.borrow().clone())
    }

    /// Returns `true` if the line to the target, or what is recorded of it, has failed since the
    /// last motion began.
    pub fn has_line_failed(&self) -> bool {
        self.boards.target.as_ref().is_some_and(|target| target.has_line_failed.get())
    }

    /// Checks that a breakpoint or watchpoint can be set.
    ///
    /// # Errors
    /// Returns the reason if not: on a target, breakpoints need RAM, and there are no watchpoints.
    pub fn can_set(&self, kind: StopKind) -> Result<(), String> {
        let problem = "the debug kernel does not support watchpoints; `lastchange` finds the \
                       last change of a byte on the simulated twin";
        match (self.boards.live_target(), kind) {
            (None, _) => Ok(()),
            (Some(target), StopKind::Breakpoint(address)) => target.can_set_breakpoint(address),
            (Some(_), StopKind::Watchpoint(_)) => Err(problem.to_owned()),
        }
    }

    /// Checks that registers and memory can be modified now.
    ///
    /// # Errors
    /// Returns the reason if not: the history of a twin is read-only, and so is what a search
    /// passes.
    pub fn can_modify(&self) -> Result<(), String> {
        let problem = match self.in_reverse_search {
            true => "the past is being searched: wait, or stop the search",
            false if self.is_twin() => {
                "the history of the simulated twin is read-only: run forward to the present first"
            }
            false => return Ok(()),
        };
        Err(problem.to_owned())
    }

    /// The registers of the processor.
    pub fn registers(&self) -> Registers {
        self.boards.registers()
    }

    /// T-states since power-up; on a target, the program's, measured by the line's clock.
    pub fn clock(&self) -> u64 {
        let timeline = &self.boards.timeline;
        self.boards.live_target().map_or_else(|| timeline.board().clock(), Target::clock)
    }

    /// Processor clock in Hz.
    pub fn clock_hz(&self) -> u64 {
        self.boards.timeline.board().clock_hz()
    }

    /// Executed instructions and waits since the debugger was created.
    pub fn step_count(&self) -> u64 {
        self.boards.timeline.step_count()
    }

    /// Instructions and waits that reverse commands have replayed so far, which their time depends
    /// on: at most twice the distance between two snapshots for `back`, whatever its count.
    pub fn replayed_steps(&self) -> u64 {
        self.boards.timeline.replayed_steps
    }

    /// Returns whether interrupts are enabled, and the interrupt mode; of a target only the first
    /// is known.
    pub fn interrupt_state(&self) -> (bool, Option<u8>) {
        match self.boards.live_target() {
            Some(target) => (target.stopped.interrupts_enabled, None),
            None => {
                let (enabled, mode) = self.boards.timeline.board().interrupt_state();
                (enabled, Some(mode))
            }
        }
    }

    /// A byte of memory, read without a bus cycle.
    pub fn peek(&self, address: u16) -> u8 {
        self.boards.peek(address)
    }

    /// The word at an address, low byte first.
    pub fn peek_word(&self, address: u16) -> u16 {
        u16::from_le_bytes([self.peek(address), self.peek(address.wrapping_add(1))])
    }

    /// Returns `count` bytes of memory, wrapping at FFFFH.
    pub fn dump(&self, address: u16, count: usize) -> Vec<u8> {
        match self.boards.live_target() {
            Some(target) => target.dump(address, count),
            None => self.boards.timeline.board().bus().dump(address, count),
        }
    }

    /// Returns `true` during a reverse search, while the state is not to be shown.
    pub fn is_searching(&self) -> bool {
        self.in_reverse_search
    }

    /// Sets the registers. Discards the history, as [`Self::poke`] does.
    pub fn set_registers(&mut self, registers: &Registers) {
        match self.boards.live_target_mut() {
            Some(target) => target.set_registers(registers),
            None => self.change_simulated(|board| board.set_registers(registers)),
        }
    }

    /// Writes to memory, ROM included. Discards the history, which does not lead to the new state.
    pub fn poke(&mut self, address: u16, bytes: &[u8]) {
        match self.boards.live_target_mut() {
            Some(target) => target.poke(address, bytes),
            None => self.change_simulated(|board| board.bus_mut().load(address, bytes)),
        }
    }

    /// Modifies the simulated board and discards the history.
    pub(super) fn change_simulated(&mut self, change: impl FnOnce(&mut BoardModel<QueueLine>)) {
        self.boards.timeline.change(change);
        self.stops.forget_hits_after(self.boards.timeline.step_count());
    }

    /// Sends bytes to the board. After a reverse command this discards the input recorded later.
    ///
    /// # Errors
    /// Returns the bytes during a reverse search and while a twin is shown, when there is no input.
    pub fn send<'b>(&mut self, bytes: &'b [u8]) -> Result<(), &'b [u8]> {
        if self.in_reverse_search || self.is_twin() {
            return Err(bytes);
        }
        match self.boards.live_target_mut() {
            Some(target) => target.send(bytes),
            None => self.send_simulated(bytes),
        }
        Ok(())
    }

    /// Sends bytes to the simulated board.
    pub(super) fn send_simulated(&mut self, bytes: &[u8]) {
        self.boards.timeline.send(bytes);
        self.stops.forget_hits_after(self.boards.timeline.step_count());
    }

    /// All output of the board since the debugger was created, up to the current step.
    pub fn output(&self) -> &[u8] {
        let Boards { timeline, target } = &self.boards;
        target.as_ref().map_or(&timeline.board().line().from_board, |target| &target.output)
    }

    /// The open calls, innermost first: those observed, then those guessed from the stack.
    pub fn calls(&self) -> Vec<OpenCall> {
        let unobserved = CallStack::default();
        let observed = match self.boards.live_target() {
            Some(_) => &unobserved,
            None => self.boards.timeline.calls(),
        };
        observed.list(&self.code, &self.boards)
    }

    /// Restores the state in which the debugger was created. Breakpoints stay. Returns
    /// [`HaltReason::HistoryStart`], or [`HaltReason::TargetError`] for a target that can't be
    /// restarted.
    pub fn restart(&mut self) -> HaltReason {
        if self.boards.target.as_mut().is_some_and(|target| !target.restart()) {
            return HaltReason::TargetError;
        }
        self.boards.timeline.restart();
        self.stops.restart();
        self.step_addresses = None;
        HaltReason::HistoryStart
    }

    /// The hits of a breakpoint or watchpoint whose condition held, up to the present: those since
    /// it was set or the board was restarted. They go back with time.
    pub fn hit_count(&self, id: u32) -> u32 {
        self.stops.hit_count(id, self.boards.moment())
    }

    /// Returns the messages that breakpoints have logged since the last call.
    pub fn take_log(&mut self) -> Vec<String> {
        self.stops.log.take()
    }

    /// Executes one step of the simulated board.
    pub(super) fn step_simulated(&mut self) -> StepOutcome {
        let timeline = &mut self.boards.timeline;
        if self.step_addresses.is_none() && !self.stops.set.has_watchpoints() {
            return timeline.step();
        }
        let outcome = timeline.step_traced();
        if let Some(addresses) = &mut self.step_addresses {
            record_accesses(timeline, addresses);
        }
        outcome
    }

    /// Returns the reason to halt after a step, if there is one. Counts the hits of breakpoints and
    /// watchpoints.
    pub(super) fn halt_reason(&mut self, outcome: StepOutcome) -> Option<HaltReason> {
        if outcome != StepOutcome::Executed || self.stops.set.is_empty() {
            return None;
        }
        if self.stops.set.has_watchpoints()
            && let Some(hit) = self.stops.record_watch_hit(&self.boards.timeline)
        {
            return Some(HaltReason::Watchpoint(hit));
        }
        let is_break = !self.boards.timeline.is_resumed() && self.is_stopped_by_breakpoint();
        is_break.then_some(HaltReason::Breakpoint)
    }

    /// Returns `true` if a breakpoint at PC stops the board. Counts the hit.
    pub(super) fn is_stopped_by_breakpoint(&mut self) -> bool {
        self.stops.record_arrival(self.boards.moment(), &self.boards)
    }

    /// The length of the instruction at an address, in bytes; 1 if there is none.
    pub(crate) fn instruction_length(&self, address: u16) -> u16 {
        tdlasm::isa::decode(&self.dump(address, MAX_INSTRUCTION_BYTES.into()))
            .map_or(1, |found| found.length as u16)
    }
}

/// Adds the accesses of the last step, without those that fetched its instruction.
fn record_accesses(timeline: &Timeline, addresses: &mut StepAddresses) {
    let pc = timeline.before.registers.pc;
    for access in timeline.accesses().iter() {
        let is_fetch = access.address.wrapping_sub(pc) < MAX_INSTRUCTION_BYTES;
        let is_write = access.kind == AccessKind::Write;
        if is_write || (access.kind == AccessKind::Read && !is_fetch) {
            *addresses.entry(access.address).or_default() |= is_write;
        }
    }
}
