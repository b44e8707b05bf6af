//! The state of a board under a debugger, and one turn of it.

use std::cell::RefCell;

use super::calls::{Call, CallStack};
use super::history::{History, Moment};
use super::real::RealBoard;
use super::stops::{Seen, Stops, WatchHit};
use board_simulator::{Access, QueueLine, Registers, SimBoard, Turn};
use firmware::code::CodeMap;

/// Reason for which the board is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Halt {
    /// A step is done.
    Step,
    /// It is at a breakpoint.
    Breakpoint,
    /// The last instruction touched what is watched; going back, the next one will.
    Watchpoint(WatchHit),
    /// It waits in HALT, and nothing is on its way that could wake it.
    Idle,
    /// It is where its known past begins.
    Start,
    /// The caller asked it to stop.
    Paused,
    /// The twin of a real board has come to where the board is held.
    Present,
    /// A real board could not be moved; [`Debugger::problem`] says why.
    Failed,
}

/// A board under a debugger. Steps pass over interrupt service unless they begin in it.
pub struct Debugger {
    pub(super) board: SimBoard<QueueLine>,
    code: CodeMap,
    /// The breakpoints and watchpoints.
    pub stops: Stops,
    pub(super) history: History,
    pub(super) turn: u64,
    calls: CallStack,
    /// The address to which an interrupt service returns, whose breakpoint has been looked at.
    interrupted: Option<u16>,
    /// Whether the breakpoint at PC was looked at before the interrupt.
    pub(super) resumed: bool,
    /// The number of parcels of bytes that the board was sent, on the way from the beginning of its
    /// past.
    delivered: usize,
    pub(super) seen: RefCell<Vec<Access>>,
    /// The registers before the last turn, kept while a register is watched.
    pub(super) before: Registers,
    /// Whether the board is on its way through its past, so that its state is nobody's yet.
    pub(super) searching: bool,
    origin: Option<Moment>,
    /// The board at the end of a line, if it is one; the simulated board is its twin then.
    pub(super) real: Option<Box<RealBoard>>,
}

impl Debugger {
    /// Takes a board; its past begins now.
    #[must_use]
    pub fn new(board: SimBoard<QueueLine>, code: CodeMap) -> Self {
        let mut debugger = Self {
            board,
            code,
            stops: Stops::default(),
            history: History::new(),
            turn: 0,
            calls: CallStack::default(),
            interrupted: None,
            resumed: false,
            delivered: 0,
            seen: RefCell::new(Vec::new()),
            before: Registers::default(),
            searching: false,
            origin: None,
            real: None,
        };
        debugger.origin = Some(debugger.moment());
        debugger
    }

    /// The lines and names of the programs.
    #[must_use]
    pub fn code(&self) -> &CodeMap {
        &self.code
    }

    /// The real board, unless its twin is looked at.
    pub(super) fn on_board(&self) -> Option<&RealBoard> {
        self.real.as_deref().filter(|real| real.twin.present.is_none())
    }

    fn on_board_mut(&mut self) -> Option<&mut RealBoard> {
        self.real.as_deref_mut().filter(|real| real.twin.present.is_none())
    }

    /// Whether what is looked at is the simulated twin of a real board.
    #[must_use]
    pub fn is_twin(&self) -> bool {
        self.real.is_some() && self.on_board().is_none()
    }

    /// The last thing that went wrong with a real board.
    #[must_use]
    pub fn problem(&self) -> Option<String> {
        self.real.as_ref().and_then(|real| real.problem())
    }

    /// Whether there can be a breakpoint at an address.
    ///
    /// # Errors
    /// The reason for which there can be none: on a real board, ROM.
    pub fn check_break(&self, address: u16) -> Result<(), String> {
        self.on_board().map_or(Ok(()), |real| real.check_break(address))
    }

    /// Whether something can be watched.
    ///
    /// # Errors
    /// The reason for which nothing can be.
    pub fn check_watch(&self) -> Result<(), String> {
        let problem = "the kernel on a board can't watch memory, ports or registers; `who` finds \
                       the last change of a byte on the board's twin";
        self.on_board().map_or(Ok(()), |_| Err(problem.to_owned()))
    }

    /// Whether registers and memory can be changed now.
    ///
    /// # Errors
    /// The reason for which they can't.
    pub fn check_change(&self) -> Result<(), String> {
        let problem = "this is the past of the board's twin: go on to the present, which can be \
                       changed";
        if self.is_twin() { Err(problem.to_owned()) } else { Ok(()) }
    }

    /// The registers.
    #[must_use]
    pub fn registers(&self) -> Registers {
        self.on_board().map_or_else(|| self.board.registers(), RealBoard::registers)
    }

    /// T-states since power came on; of a real board, those that the program has run, as far as
    /// the line's clock tells.
    #[must_use]
    pub fn clock(&self) -> u64 {
        self.on_board().map_or_else(|| self.board.clock(), RealBoard::clock)
    }

    /// Processor clock in Hz.
    #[must_use]
    pub fn clock_hz(&self) -> u64 {
        self.board.clock_hz()
    }

    /// Instructions and waits since the debugger took the board.
    #[must_use]
    pub fn turn(&self) -> u64 {
        self.turn
    }

    /// A byte of memory, without a bus cycle that a device would notice.
    #[must_use]
    pub fn peek(&self, address: u16) -> u8 {
        self.on_board().map_or_else(|| self.board.bus().peek(address), |real| real.peek(address))
    }

    /// The word at an address, low byte first.
    #[must_use]
    pub fn peek_word(&self, address: u16) -> u16 {
        u16::from_le_bytes([self.peek(address), self.peek(address.wrapping_add(1))])
    }

    /// Bytes of memory, wrapping at FFFFH.
    #[must_use]
    pub fn dump(&self, address: u16, count: usize) -> Vec<u8> {
        match self.on_board() {
            Some(real) => real.dump(address, count),
            None => self.board.bus().dump(address, count),
        }
    }

    /// Whether the board is on its way through its past, so that its state is not the one that will
    /// be shown.
    #[must_use]
    pub fn is_searching(&self) -> bool {
        self.searching
    }

    /// Changes the registers. The past before it is forgotten, as by [`Self::poke`].
    pub fn set_registers(&mut self, registers: &Registers) {
        match self.on_board_mut() {
            Some(real) => real.set_registers(registers),
            None => self.change_simulated(|board| board.set_registers(registers)),
        }
    }

    /// Changes memory, ROM as well. The past before it is forgotten: nothing in it leads to this
    /// state.
    pub fn poke(&mut self, address: u16, bytes: &[u8]) {
        match self.on_board_mut() {
            Some(real) => real.poke(address, bytes),
            None => self.change_simulated(|board| board.bus_mut().load(address, bytes)),
        }
    }

    /// Changes the simulated board by hand.
    pub(super) fn change_simulated(&mut self, change: impl FnOnce(&mut SimBoard<QueueLine>)) {
        change(&mut self.board);
        self.history.forget();
        self.delivered = 0;
    }

    /// Sends bytes to the board. What was sent later, before a way back, has not happened then; a
    /// board that is on its way through its past takes nothing, and the bytes are handed back.
    ///
    /// # Errors
    /// The bytes, if the board can't take them now.
    pub fn send<'b>(&mut self, bytes: &'b [u8]) -> Result<(), &'b [u8]> {
        if self.searching || self.is_twin() {
            return Err(bytes);
        }
        match self.on_board_mut() {
            Some(real) => real.send(bytes),
            None => self.send_simulated(bytes),
        }
        Ok(())
    }

    /// Sends bytes to the simulated board.
    pub(super) fn send_simulated(&mut self, bytes: &[u8]) {
        self.history.send(self.turn, self.delivered, bytes);
    }

    /// All that the board has sent since the debugger took it, up to where it is.
    #[must_use]
    pub fn sent(&self) -> &[u8] {
        self.real.as_ref().map_or(&self.board.line().from_board, |real| real.said())
    }

    /// The calls that are open, the innermost first: those that were seen, then those that the
    /// stack seems to hold.
    #[must_use]
    pub fn calls(&self) -> Vec<Call> {
        match self.on_board() {
            Some(_) => CallStack::default().list(self),
            None => self.calls.list(self),
        }
    }

    /// Returns the number of open calls that were seen.
    pub(super) fn depth(&self) -> usize {
        self.calls.depth()
    }

    /// Puts the board back to where the debugger took it. Breakpoints stay.
    pub fn restart(&mut self) {
        self.stops.forget_hits();
        if let Some(real) = &mut self.real {
            real.restart();
        }
        if let Some(origin) = self.origin.take() {
            self.restore(&origin);
            self.origin = Some(origin);
            self.history = History::new();
        }
    }

    /// One turn, with a copy of the board before it if it is time for one.
    pub(super) fn advance(&mut self) -> Turn {
        let registers = self.registers();
        let opcode = self.peek(registers.pc);
        if self.history.wants(self.turn) {
            self.history.keep(self.moment());
        }
        // In the past the board gets again what it was sent then, before the same turn: else it
        // would take another way than the one that is being replayed. After the copy, since a copy
        // counts what was delivered before it.
        while let Some(bytes) = self.history.due(self.turn, self.delivered) {
            self.board.line_mut().to_board.extend(bytes);
            self.delivered += 1;
        }
        let was_served = self.board.in_service();
        let turn = self.board.watched_turn(&self.seen);
        // An idle board waits for the outside, and its turns do not count: what is sent to it later
        // would else come at another turn in a replay.
        if turn != Turn::Idle {
            self.turn += 1;
        }
        self.before = registers;
        if turn == Turn::Ran {
            self.note_calls(&registers, opcode, was_served);
        }
        turn
    }

    fn note_calls(&mut self, before: &Registers, opcode: u8, was_served: bool) {
        let now = self.registers();
        let accepted = self.board.accepted_interrupt();
        if accepted && !was_served {
            self.interrupted = Some(before.pc);
        }
        // The instruction that was interrupted has not run: arriving at it again is no second
        // passage.
        let returned = was_served && !self.board.in_service();
        self.resumed = returned && self.interrupted.take_if(|at| *at == now.pc).is_some();
        self.calls.note(before, &now, opcode, accepted);
    }

    /// A copy of the state.
    fn moment(&self) -> Moment {
        Moment {
            turn: self.turn,
            board: self.board.clone(),
            calls: self.calls.clone(),
            interrupted: self.interrupted,
            resumed: self.resumed,
            delivered: self.delivered,
        }
    }

    fn restore(&mut self, moment: &Moment) {
        self.board = moment.board.clone();
        self.turn = moment.turn;
        self.calls = moment.calls.clone();
        self.interrupted = moment.interrupted;
        self.resumed = moment.resumed;
        self.delivered = moment.delivered;
    }

    /// Puts the board where it was at the last copy before or at `turn`; returns that turn.
    pub(super) fn rewind(&mut self, turn: u64) -> Option<u64> {
        // Taken out, since restoring borrows all of the debugger; nothing else looks at it
        // meanwhile.
        let history = std::mem::take(&mut self.history);
        let moment = history.before(turn);
        let found = moment.map(|moment| {
            self.restore(moment);
            moment.turn
        });
        self.history = history;
        found
    }

    /// Returns the reason to stop after a turn, if any. Counts a breakpoint's passage.
    pub(super) fn reason(&mut self, turn: Turn) -> Option<Halt> {
        if turn != Turn::Ran {
            return None;
        }
        if let Some(hit) = self.touched() {
            return Some(Halt::Watchpoint(hit));
        }
        let stops = !self.resumed && self.stands_at_break();
        stops.then_some(Halt::Breakpoint)
    }

    /// Whether a breakpoint stops the board where it stands. Counts the passage.
    pub(super) fn stands_at_break(&mut self) -> bool {
        let registers = self.registers();
        let mut stops = std::mem::take(&mut self.stops);
        let is_stopped = stops.arrives(&registers, &|at| self.peek(at));
        self.stops = stops;
        is_stopped
    }

    /// The watchpoint that the last turn touched.
    pub(super) fn touched(&self) -> Option<WatchHit> {
        let seen = self.seen.borrow();
        let after = self.registers();
        self.stops.touched(&Seen { accesses: &seen, before: &self.before, after: &after })
    }

    /// Bytes of the instruction at an address; 1 for what is none.
    pub(crate) fn length(&self, address: u16) -> u16 {
        tdlasm::isa::decode(&self.dump(address, 4)).map_or(1, |found| found.length as u16)
    }
}

/// Whether an opcode is CALL, CALL on condition, or RST.
#[must_use]
pub(crate) fn is_call(opcode: u8) -> bool {
    opcode == 0xCD || matches!(opcode & 0xC7, 0xC4 | 0xC7)
}

/// Whether an opcode is RET, RET on condition, or the prefix of RETI and RETN.
pub(super) fn is_return(opcode: u8) -> bool {
    opcode == 0xC9 || opcode & 0xC7 == 0xC0 || opcode == 0xED
}
