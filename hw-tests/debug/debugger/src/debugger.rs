//! The state of a board under a debugger, and how one step changes it.

mod custom_pane;

use std::cell::RefCell;

use board_simulator::{BoardModel, BusAccess, QueueLine, Registers, StepOutcome};
use firmware::code_map::CodeMap;

use super::calls::{CallStack, OpenCall};
use super::exec::HaltReason;
use super::history::{History, ReverseStepCounts, Snapshot};
use super::stops::{StepTrace, StopPoints, WatchHit};
use super::target::Target;
use super::touched::StepAddresses;

pub use custom_pane::{CustomPane, PaneVariable};

/// A callback that is polled while the board runs; returning `true` stops it. It may inspect the
/// debugger, set breakpoints and send bytes.
pub type ShouldStop<'a> = &'a mut dyn FnMut(&mut Debugger) -> bool;

/// Loads a program again from its files; returns a message if that fails.
pub type Reload = Box<dyn FnMut() -> Result<Debugger, String> + Send>;

/// A board under a debugger: a simulated board, or a target with a simulated twin.
pub struct Debugger {
    pub(super) board: BoardModel<QueueLine>,
    code: CodeMap,
    /// The breakpoints and watchpoints.
    pub stops: StopPoints,
    pub(super) history: History,
    pub(super) step_count: u64,
    pub(super) counts: ReverseStepCounts,
    /// Steps that reverse commands have replayed.
    pub(super) replayed_steps: u64,
    /// All output since the start of the history, also of steps after the present; a snapshot
    /// stores only its length.
    pub(super) recorded_output: Vec<u8>,
    pub(super) calls: CallStack,
    /// The PC to which the current interrupt service returns; a breakpoint there is already
    /// counted.
    pub(super) interrupted_pc: Option<u16>,
    /// Whether the breakpoint at PC was counted before an interrupt, and is not counted again.
    pub(super) breakpoint_already_hit: bool,
    /// The number of recorded inputs that the board has received since the start of its history.
    pub(super) inputs_delivered: usize,
    pub(super) accesses: RefCell<Vec<BusAccess>>,
    /// The registers before the last step, for watchpoints on registers.
    pub(super) registers_before: Registers,
    /// The memory that the last step read and wrote; `None` after other commands.
    pub(super) step_addresses: Option<StepAddresses>,
    /// `true` during a reverse search, while the state is not to be shown.
    pub(super) in_reverse_search: bool,
    origin: Option<Snapshot>,
    /// The panes that the program has added.
    pub(super) panes: Vec<Box<dyn CustomPane>>,
    /// Loads the program again, if it comes from a file.
    pub(super) reload: Option<Reload>,
    /// The target, if there is one; `board` is its twin then.
    pub(super) target: Option<Box<Target>>,
}

impl Debugger {
    /// Creates a debugger for a simulated board; the history begins now.
    pub fn new(board: BoardModel<QueueLine>, code: CodeMap) -> Self {
        let mut debugger = Self {
            board,
            code,
            stops: StopPoints::default(),
            history: History::new(),
            step_count: 0,
            counts: ReverseStepCounts::default(),
            replayed_steps: 0,
            recorded_output: Vec::new(),
            calls: CallStack::default(),
            interrupted_pc: None,
            breakpoint_already_hit: false,
            inputs_delivered: 0,
            accesses: RefCell::new(Vec::new()),
            registers_before: Registers::default(),
            step_addresses: None,
            in_reverse_search: false,
            origin: None,
            panes: Vec::new(),
            reload: None,
            target: None,
        };
        let origin = debugger.snapshot();
        debugger.origin = Some(origin);
        debugger
    }

    /// Creates a debugger for a target; `twin` is a simulated board in the same state.
    pub(super) fn on_target(twin: BoardModel<QueueLine>, code: CodeMap, target: Target) -> Self {
        let mut debugger = Self::new(twin, code);
        debugger.target = Some(Box::new(target));
        debugger
    }

    /// Makes the command `restart` load the program again if its sources have changed.
    pub fn set_reload(&mut self, reload: Reload) {
        self.reload = Some(reload);
    }

    /// The source lines and symbols of the programs.
    pub fn code(&self) -> &CodeMap {
        &self.code
    }

    /// The target, unless its twin is shown.
    pub(super) fn live_target(&self) -> Option<&Target> {
        self.target.as_deref().filter(|target| target.twin.present.is_none())
    }

    fn live_target_mut(&mut self) -> Option<&mut Target> {
        self.target.as_deref_mut().filter(|target| target.twin.present.is_none())
    }

    /// Returns `true` if the state shown is that of a target's simulated twin.
    pub fn is_twin(&self) -> bool {
        self.target.is_some() && self.live_target().is_none()
    }

    /// Returns `true` for a target: a board on a serial line.
    pub(super) fn has_target(&self) -> bool {
        self.target.is_some()
    }

    /// The last error of the target.
    pub fn last_error(&self) -> Option<String> {
        self.target.as_ref().and_then(|target| target.last_error())
    }

    /// Checks that a breakpoint can be set at an address.
    ///
    /// # Errors
    /// Returns the reason if not: on a target, breakpoints need RAM.
    pub fn can_set_breakpoint(&self, address: u16) -> Result<(), String> {
        self.live_target().map_or(Ok(()), |target| target.can_set_breakpoint(address))
    }

    /// Checks that watchpoints are supported.
    ///
    /// # Errors
    /// Returns the reason if not: a target has none.
    pub fn can_set_watchpoint(&self) -> Result<(), String> {
        let problem = "the debug kernel does not support watchpoints; `lastchange` finds the \
                       last change of a byte on the simulated twin";
        self.live_target().map_or(Ok(()), |_| Err(problem.to_owned()))
    }

    /// Checks that registers and memory can be modified now.
    ///
    /// # Errors
    /// Returns the reason if not: the history of a twin is read-only.
    pub fn can_modify(&self) -> Result<(), String> {
        let problem = "the history of the simulated twin is read-only: run forward to the present \
                       first";
        if self.is_twin() { Err(problem.to_owned()) } else { Ok(()) }
    }

    /// The registers of the processor.
    pub fn registers(&self) -> Registers {
        self.live_target().map_or_else(|| self.board.registers(), Target::registers)
    }

    /// T-states since power-up; on a target, the program's, measured by the line's clock.
    pub fn clock(&self) -> u64 {
        self.live_target().map_or_else(|| self.board.clock(), Target::clock)
    }

    /// Processor clock in Hz.
    pub fn clock_hz(&self) -> u64 {
        self.board.clock_hz()
    }

    /// Executed instructions and waits since the debugger was created.
    pub fn step_count(&self) -> u64 {
        self.step_count
    }

    /// Instructions and waits that reverse commands have replayed so far, which their time depends
    /// on: at most the distance between two snapshots for `back`, whatever its count.
    pub fn replayed_steps(&self) -> u64 {
        self.replayed_steps
    }

    /// Returns whether interrupts are enabled, and the interrupt mode; of a target only the first
    /// is known.
    pub fn interrupt_state(&self) -> (bool, Option<u8>) {
        match self.live_target() {
            Some(target) => (target.enables_interrupts(), None),
            None => {
                let (enabled, mode) = self.board.interrupt_state();
                (enabled, Some(mode))
            }
        }
    }

    /// Enables or disables interrupts, or sets the interrupt mode, on the simulated board.
    ///
    /// # Errors
    /// Returns a message on a target.
    pub(super) fn set_interrupt_state(&mut self, enabled: bool, mode: u8) -> Result<(), String> {
        if self.live_target().is_some() {
            return Err("the debug kernel sets neither IFF nor IM".to_owned());
        }
        self.change_simulated(|board| board.set_interrupt_state(enabled, mode));
        Ok(())
    }

    /// A byte of memory, read without a bus cycle.
    pub fn peek(&self, address: u16) -> u8 {
        self.live_target()
            .map_or_else(|| self.board.bus().peek(address), |target| target.peek(address))
    }

    /// The word at an address, low byte first.
    pub fn peek_word(&self, address: u16) -> u16 {
        u16::from_le_bytes([self.peek(address), self.peek(address.wrapping_add(1))])
    }

    /// Returns `count` bytes of memory, wrapping at FFFFH.
    pub fn dump(&self, address: u16, count: usize) -> Vec<u8> {
        match self.live_target() {
            Some(target) => target.dump(address, count),
            None => self.board.bus().dump(address, count),
        }
    }

    /// Returns `true` during a reverse search, while the state is not to be shown.
    pub fn is_searching(&self) -> bool {
        self.in_reverse_search
    }

    /// Sets the registers. Discards the history, as [`Self::poke`] does.
    pub fn set_registers(&mut self, registers: &Registers) {
        match self.live_target_mut() {
            Some(target) => target.set_registers(registers),
            None => self.change_simulated(|board| board.set_registers(registers)),
        }
    }

    /// Writes to memory, ROM included. Discards the history, which does not lead to the new state.
    pub fn poke(&mut self, address: u16, bytes: &[u8]) {
        match self.live_target_mut() {
            Some(target) => target.poke(address, bytes),
            None => self.change_simulated(|board| board.bus_mut().load(address, bytes)),
        }
    }

    /// Modifies the simulated board and discards the history.
    pub(super) fn change_simulated(&mut self, change: impl FnOnce(&mut BoardModel<QueueLine>)) {
        change(&mut self.board);
        self.history.clear();
        self.inputs_delivered = 0;
        self.forget_later_output();
    }

    /// Sends bytes to the board. After a reverse command this discards the input recorded later.
    ///
    /// # Errors
    /// Returns the bytes during a reverse search and while a twin is shown, when there is no input.
    pub fn send<'b>(&mut self, bytes: &'b [u8]) -> Result<(), &'b [u8]> {
        if self.in_reverse_search || self.is_twin() {
            return Err(bytes);
        }
        match self.live_target_mut() {
            Some(target) => target.send(bytes),
            None => self.send_simulated(bytes),
        }
        Ok(())
    }

    /// Sends bytes to the simulated board.
    pub(super) fn send_simulated(&mut self, bytes: &[u8]) {
        self.history.record_input(self.step_count, self.inputs_delivered, bytes);
        self.forget_later_output();
    }

    /// Forgets the output that was recorded after the present, which may now turn out otherwise.
    fn forget_later_output(&mut self) {
        self.recorded_output.truncate(self.board.line().from_board.len());
    }

    /// All output of the board since the debugger was created, up to the current step.
    pub fn output(&self) -> &[u8] {
        self.target.as_ref().map_or(&self.board.line().from_board, |target| target.output())
    }

    /// The open calls, innermost first: those observed, then those guessed from the stack.
    pub fn calls(&self) -> Vec<OpenCall> {
        match self.live_target() {
            Some(_) => self.list_calls(&CallStack::default()),
            None => self.list_calls(&self.calls),
        }
    }

    fn list_calls(&self, calls: &CallStack) -> Vec<OpenCall> {
        calls.list(self.registers().sp, &self.code, &|at| self.peek(at))
    }

    /// The number of open calls that were observed.
    pub(super) fn call_depth(&self) -> usize {
        self.calls.depth()
    }

    /// Restores the state in which the debugger was created. Breakpoints stay.
    pub fn restart(&mut self) {
        self.stops.reset_hit_counts();
        if let Some(target) = &mut self.target {
            target.restart();
        }
        if let Some(origin) = self.origin.take() {
            self.restore(&origin);
            self.origin = Some(origin);
            self.history = History::new();
            self.forget_later_output();
        }
    }

    /// Returns the messages that breakpoints have logged since the last call.
    pub fn take_log(&mut self) -> Vec<String> {
        self.stops.take_log()
    }

    /// Returns the reason to halt after a step, if there is one. Counts the hit of a breakpoint.
    pub(super) fn halt_reason(&mut self, outcome: StepOutcome) -> Option<HaltReason> {
        if outcome != StepOutcome::Executed {
            return None;
        }
        if self.stops.is_empty() {
            return None;
        }
        let hit = self.with_stops(|debugger, stops| {
            stops.record_watch_hit(&debugger.step_trace(), &|at| debugger.peek(at))
        });
        if let Some(hit) = hit {
            return Some(HaltReason::Watchpoint(hit));
        }
        let stops = !self.breakpoint_already_hit && self.is_stopped_by_breakpoint();
        stops.then_some(HaltReason::Breakpoint)
    }

    /// Returns `true` if a breakpoint at PC stops the board. Counts the hit.
    pub(super) fn is_stopped_by_breakpoint(&mut self) -> bool {
        let registers = self.registers();
        self.with_stops(|debugger, stops| stops.record_arrival(&registers, &|at| debugger.peek(at)))
    }

    /// The commands of the breakpoint at PC, separated by `;`.
    pub(super) fn commands_at_pc(&self) -> Option<String> {
        let pc = self.registers().pc;
        let mut here = self.stops.breakpoints().filter(|(_, breakpoint)| breakpoint.address == pc);
        here.find_map(|(_, breakpoint)| breakpoint.commands.clone())
    }

    /// Lends the breakpoints and watchpoints, to be changed while the debugger is read.
    fn with_stops<T>(&mut self, f: impl FnOnce(&Self, &mut StopPoints) -> T) -> T {
        let mut stops = std::mem::take(&mut self.stops);
        let result = f(self, &mut stops);
        self.stops = stops;
        result
    }

    /// The watchpoint that the last step accessed, whatever its hit count.
    pub(super) fn watch_hit(&self) -> Option<WatchHit> {
        self.stops.watch_hit(&self.step_trace(), &|at| self.peek(at))
    }

    fn step_trace(&self) -> StepTrace<'_> {
        let after = self.registers();
        StepTrace { accesses: self.accesses.borrow(), before: self.registers_before, after }
    }

    /// The length of the instruction at an address, in bytes; 1 if there is none.
    pub(crate) fn instruction_length(&self, address: u16) -> u16 {
        tdlasm::isa::decode(&self.dump(address, 4)).map_or(1, |found| found.length as u16)
    }
}
