//! The debugger: a simulated board that stops where one wants, and goes back.

use std::cell::RefCell;

use super::code::CodeMap;
use super::history::History;
use super::stops::{Stops, WatchId};
use crate::sim::{Access, QueueLine, Registers, SimBoard, Turn};

/// EI: what comes right after it can't be copied exactly.
const EI: u8 = 0xFB;
/// SCF and CCF: what comes right before them can't.
const FLAG_READERS: [u8; 2] = [0x37, 0x3F];
/// Turns that one command may take: more than a minute of the board's time.
const PATIENCE: u64 = 100_000_000;

/// Why the board has stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Halt {
    /// A step is done.
    Step,
    /// It is at a breakpoint.
    Breakpoint,
    /// The last instruction touched what is watched; going back, the next one will.
    Watchpoint(WatchId, Access),
    /// It waits in HALT, and nothing is on its way that could wake it.
    Idle,
    /// It is where its known past begins.
    Start,
    /// It was asked to stop, or has run for too long.
    Paused,
}

/// A board under a debugger. Steps pass over interrupt service unless they begin in it.
pub struct Debugger {
    board: SimBoard<QueueLine>,
    code: CodeMap,
    /// Where to stop.
    pub stops: Stops,
    history: History,
    turn: u64,
    /// Instructions for which EI may still matter.
    shadow: u8,
    seen: RefCell<Vec<Access>>,
}

impl Debugger {
    /// Takes a board; its past begins now.
    #[must_use]
    pub fn new(board: SimBoard<QueueLine>, code: CodeMap) -> Self {
        let (stops, history) = (Stops::default(), History::new());
        let seen = RefCell::new(Vec::new());
        Self { board, code, stops, history, turn: 0, shadow: 0, seen }
    }

    /// What is known of the programs.
    #[must_use]
    pub fn code(&self) -> &CodeMap {
        &self.code
    }

    /// The registers.
    #[must_use]
    pub fn registers(&self) -> Registers {
        self.board.registers()
    }

    /// T-states since power came on.
    #[must_use]
    pub fn clock(&self) -> u64 {
        self.board.clock()
    }

    /// Instructions and waits since the debugger took the board.
    #[must_use]
    pub fn turn(&self) -> u64 {
        self.turn
    }

    /// A byte of memory, without a bus cycle that a device would notice.
    #[must_use]
    pub fn peek(&self, address: u16) -> u8 {
        self.board.bus().peek(address)
    }

    /// Bytes of memory, wrapping at FFFFH.
    #[must_use]
    pub fn dump(&self, address: u16, count: usize) -> Vec<u8> {
        self.board.bus().dump(address, count)
    }

    /// Changes the registers. The past before it is forgotten, as by [`Self::poke`].
    pub fn set_registers(&mut self, registers: &Registers) {
        self.board.set_registers(registers);
        self.history.forget();
    }

    /// Changes memory, ROM as well.
    pub fn poke(&mut self, address: u16, bytes: &[u8]) {
        self.board.bus_mut().load(address, bytes);
        self.history.forget();
    }

    /// What the board has sent, from the start of the session or from where it began to be taken.
    pub fn sent(&mut self) -> &[u8] {
        &self.board.line_mut().from_board
    }

    /// Runs one instruction; interrupts that come are served at once.
    pub fn step(&mut self) -> Halt {
        let in_service = self.board.in_service();
        let mut turn = self.advance();
        while turn != Turn::Idle
            && (turn == Turn::Waited || (!in_service && self.board.in_service()))
        {
            if let Some(halt) = self.reason(turn) {
                return halt;
            }
            turn = self.advance();
        }
        if turn == Turn::Idle { Halt::Idle } else { self.reason(turn).unwrap_or(Halt::Step) }
    }

    /// The same, but a call and what repeats itself are one step.
    pub fn step_over(&mut self) -> Halt {
        let Registers { pc, sp, .. } = self.registers();
        let next = pc.wrapping_add(self.length(pc));
        let halt = self.step();
        let now = self.registers();
        let entered = now.sp == sp.wrapping_sub(2) && is_call(self.peek(pc));
        if halt != Halt::Step || !(entered || now.pc == pc) {
            return halt;
        }
        self.until(|debugger, _| {
            let now = debugger.registers();
            (now.pc == next && now.sp == sp) || now.sp > sp
        })
    }

    /// Runs until the routine that is running has returned.
    pub fn step_out(&mut self) -> Halt {
        let sp = self.registers().sp;
        self.until(|debugger, opcode| debugger.registers().sp > sp && is_return(opcode))
    }

    /// Steps, over calls or into them, to the beginning of another line.
    pub fn step_line(&mut self, into: bool) -> Halt {
        let began = self.line();
        for _ in 0..PATIENCE {
            let halt = if into { self.step() } else { self.step_over() };
            if halt != Halt::Step {
                return halt;
            }
            let line = self.line();
            if line.is_some() && (line != began || self.at_line_start()) {
                return Halt::Step;
            }
        }
        Halt::Paused
    }

    /// Runs on until there is a reason to stop, or `paused` says so; it is asked now and then.
    pub fn go(&mut self, mut paused: impl FnMut() -> bool) -> Halt {
        loop {
            for _ in 0..10_000 {
                let turn = self.advance();
                if turn == Turn::Idle {
                    return Halt::Idle;
                }
                if let Some(halt) = self.reason(turn) {
                    return halt;
                }
            }
            if paused() {
                return Halt::Paused;
            }
        }
    }

    /// Goes back one instruction, over interrupt service as [`Self::step`] does.
    pub fn step_back(&mut self) -> Halt {
        let in_service = self.board.in_service();
        let now = self.turn;
        // The last turn before this one that begins an instruction outside of service.
        let mut found = None;
        let mut end = now;
        while found.is_none() {
            let Some(begin) = self.rewind(end.saturating_sub(1)) else { break };
            while self.turn < end {
                let at = self.turn;
                let served = self.board.in_service() && !in_service;
                if self.advance() == Turn::Ran && !served && !self.board.accepted_interrupt() {
                    found = Some(at);
                }
            }
            end = begin;
        }
        self.arrive(found)
    }

    /// Goes back to the beginning of the line that was run before this one, into calls.
    pub fn step_line_back(&mut self) -> Halt {
        let began = self.line();
        let mut halt = self.step_back();
        while halt == Halt::Step
            && (self.line().is_none() || (self.line() == began && !self.at_line_start()))
        {
            halt = self.step_back();
        }
        while halt == Halt::Step && !self.at_line_start() {
            halt = self.step_back();
        }
        halt
    }

    /// Goes back to the last moment at which there was a reason to stop.
    pub fn go_back(&mut self) -> Halt {
        let mut end = self.turn;
        while let Some(begin) = self.rewind(end.saturating_sub(1)).filter(|_| end > 0) {
            let mut found = None;
            while self.turn < end {
                let at = self.turn;
                let here = self.breakpoint().then_some(Halt::Breakpoint);
                let turn = self.advance();
                let watched = self.stops.touched(&self.seen.borrow());
                let watched = watched.filter(|_| turn == Turn::Ran);
                let touched = watched.map(|(id, access)| Halt::Watchpoint(id, access));
                // A waiting processor stands at its breakpoint turn after turn.
                if let Some(halt) = touched.or(here.filter(|_| turn == Turn::Ran)) {
                    found = Some((at, halt));
                }
            }
            if let Some((at, halt)) = found {
                self.arrive(Some(at));
                return halt;
            }
            end = begin;
        }
        self.arrive(None)
    }

    /// Runs until `done` says so after an instruction, whose first byte it is given, outside of service that came meanwhile.
    fn until(&mut self, done: impl Fn(&Self, u8) -> bool) -> Halt {
        let in_service = self.board.in_service();
        for _ in 0..PATIENCE {
            let opcode = self.peek(self.registers().pc);
            let turn = self.advance();
            if turn == Turn::Idle {
                return Halt::Idle;
            }
            if let Some(halt) = self.reason(turn) {
                return halt;
            }
            if turn == Turn::Ran && (in_service || !self.board.in_service()) && done(self, opcode) {
                return Halt::Step;
            }
        }
        Halt::Paused
    }

    /// Why to stop after a turn.
    fn reason(&self, turn: Turn) -> Option<Halt> {
        if turn != Turn::Ran {
            return None;
        }
        let touched = self.stops.touched(&self.seen.borrow());
        let touched = touched.map(|(id, access)| Halt::Watchpoint(id, access));
        touched.or_else(|| self.breakpoint().then_some(Halt::Breakpoint))
    }

    /// Whether the next instruction is at a breakpoint whose condition holds.
    fn breakpoint(&self) -> bool {
        let registers = self.registers();
        self.stops.breaks(&registers, &|at| self.peek(at))
    }

    /// One turn, with a copy of the board before it if it is time for one.
    fn advance(&mut self) -> Turn {
        let opcode = self.peek(self.registers().pc);
        if self.shadow == 0
            && self.history.wants(self.turn)
            && !FLAG_READERS.contains(&opcode)
            && let Some(copy) = self.board.duplicate()
        {
            self.history.keep(self.turn, copy);
        }
        let turn = self.board.watched_turn(&self.seen);
        if turn != Turn::Idle {
            self.turn += 1;
        }
        self.shadow = if opcode == EI { 2 } else { self.shadow.saturating_sub(1) };
        turn
    }

    /// Puts the board where it was at the last copy before or at `turn`; returns that turn.
    fn rewind(&mut self, turn: u64) -> Option<u64> {
        let moment = self.history.before(turn)?;
        let (board, turn) = (moment.board.duplicate()?, moment.turn);
        (self.board, self.turn, self.shadow) = (board, turn, 0);
        Some(turn)
    }

    /// Ends a way back: at a turn that was found, or else where the past begins.
    fn arrive(&mut self, turn: Option<u64>) -> Halt {
        let Some(start) = self.history.start() else { return Halt::Start };
        let target = turn.unwrap_or(start);
        if self.rewind(target).is_some() {
            while self.turn < target && self.advance() != Turn::Idle {}
        }
        if turn.is_some() { Halt::Step } else { Halt::Start }
    }

    /// The line that is running, by file and number, and in which program.
    fn line(&self) -> Option<(String, u32)> {
        let line = self.code.line_at(self.registers().pc)?;
        Some((line.place.file.to_string(), line.place.line))
    }

    fn at_line_start(&self) -> bool {
        let pc = self.registers().pc;
        self.code.line_at(pc).is_some_and(|line| line.address == pc)
    }

    /// Bytes of the instruction at an address; 1 for what is none.
    pub(crate) fn length(&self, address: u16) -> u16 {
        tdlasm::isa::decode(&self.dump(address, 4)).map_or(1, |found| found.length as u16)
    }
}

/// CALL, CALL on condition, RST.
#[must_use]
pub(crate) fn is_call(opcode: u8) -> bool {
    opcode == 0xCD || matches!(opcode & 0xC7, 0xC4 | 0xC7)
}

/// RET, RET on condition, and the prefix of RETI and RETN.
fn is_return(opcode: u8) -> bool {
    opcode == 0xC9 || opcode & 0xC7 == 0xC0 || opcode == 0xED
}
