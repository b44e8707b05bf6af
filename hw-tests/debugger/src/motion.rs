//! Moving a board: by instruction, by line, over calls, out of routines, or on; forward and back.
//!
//! A caller is asked again and again whether to stop, in every motion at any depth: a program that
//! hangs freezes nothing.

use board_simulator::{Registers, Turn};

use super::debugger::{Debugger, Halt, is_call, is_return};
use super::stops::{Break, Watch, WatchEvent, WatchHit};

/// Turns between two questions to the caller: well below a millisecond.
const ASK_EVERY: u64 = 2_048;

/// A way of moving the board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Motion {
    /// One instruction; interrupts that come are served at once.
    Step,
    /// One instruction, a call and what repeats itself as one.
    Over,
    /// To the beginning of another line, over calls.
    Line,
    /// To the beginning of another line, into calls.
    LineInto,
    /// Until the routine that is running has returned.
    Out,
    /// On, until there is a reason to stop.
    Go,
    /// On to an address, or a reason to stop before it.
    To(u16),
    /// Back one instruction, over interrupt service.
    Back,
    /// Back to the beginning of the line that was run before this one, into calls.
    BackLine,
    /// Back to the last moment at which there was a reason to stop.
    BackGo,
    /// Back to the last passage of an address, whatever the breakpoints.
    BackTo(u16),
    /// Back to before the last instruction that gave this byte of memory another value.
    BackToChange(u16),
}

impl Motion {
    fn is_back(self) -> bool {
        match self {
            Self::Back | Self::BackLine | Self::BackGo => true,
            Self::BackTo(_) | Self::BackToChange(_) => true,
            Self::Step | Self::Over | Self::Line | Self::LineInto | Self::Out | Self::Go => false,
            Self::To(_) => false,
        }
    }
}

/// Asked now and then while the board moves; `true` stops it. It is given the debugger to look at,
/// and to set breakpoints and send bytes.
pub type Ask<'a> = &'a mut dyn FnMut(&mut Debugger) -> bool;

impl Debugger {
    /// Moves the board, and asks `ask` meanwhile whether to stop. A real board goes forward only;
    /// back goes its twin.
    pub fn run(&mut self, motion: Motion, ask: Ask<'_>) -> Halt {
        if self.on_board().is_some() {
            if !motion.is_back() {
                return self.run_real(motion, ask);
            }
            if let Err(halt) = self.turn_to_twin(ask) {
                return halt;
            }
        }
        let halt = self.run_simulated(motion, ask);
        self.turn_from_twin(halt)
    }

    fn run_simulated(&mut self, motion: Motion, ask: Ask<'_>) -> Halt {
        let mut mover = Mover { debugger: self, ask, asked: 0 };
        match motion {
            Motion::Step => mover.step(),
            Motion::Over => mover.step_over(),
            Motion::Line => mover.step_line(false),
            Motion::LineInto => mover.step_line(true),
            Motion::Out => mover.step_out(),
            Motion::Go => mover.until(|_, _| false),
            Motion::To(address) => mover.go_to(address),
            Motion::Back => mover.step_back(),
            Motion::BackLine => mover.step_line_back(),
            Motion::BackGo => mover.go_back(),
            Motion::BackTo(address) => mover.go_back_to(address),
            Motion::BackToChange(address) => mover.go_back_to_change(address),
        }
    }

    /// The line that is running, by file and number.
    pub(super) fn line(&self) -> Option<(&str, u32)> {
        let line = self.code().line_at(self.registers().pc)?;
        Some((&line.place.file, line.place.line))
    }

    pub(super) fn at_line_start(&self) -> bool {
        let pc = self.registers().pc;
        self.code().line_at(pc).is_some_and(|line| line.address == pc)
    }
}

/// A debugger on its way.
struct Mover<'a, 'b> {
    debugger: &'a mut Debugger,
    ask: Ask<'b>,
    /// Turns since the caller was asked.
    asked: u64,
}

impl Mover<'_, '_> {
    /// One turn; `None` if the caller wants to stop instead.
    fn turn(&mut self) -> Option<Turn> {
        if self.debugger.is_at_present() {
            return None;
        }
        self.asked += 1;
        if self.asked >= ASK_EVERY {
            self.asked = 0;
            if (self.ask)(self.debugger) {
                return None;
            }
        }
        Some(self.debugger.advance())
    }

    fn step(&mut self) -> Halt {
        // A service that begins meanwhile is not what the user steps through, unless the step began
        // inside one. Breakpoints in it still stop: `reason` is asked before.
        let in_service = self.debugger.board.in_service();
        loop {
            let Some(turn) = self.turn() else { return Halt::Paused };
            if turn == Turn::Idle {
                return Halt::Idle;
            }
            if let Some(halt) = self.debugger.reason(turn) {
                return halt;
            }
            let is_served = !in_service && self.debugger.board.in_service();
            // After a service the interrupted instruction is still to be run: that is the step.
            if turn == Turn::Ran && !is_served && !self.debugger.resumed {
                return Halt::Step;
            }
        }
    }

    fn step_over(&mut self) -> Halt {
        let Registers { pc, sp, .. } = self.debugger.registers();
        let next = pc.wrapping_add(self.debugger.length(pc));
        let calls = is_call(self.debugger.peek(pc));
        // The call is stepped into like any instruction, and only then it shows whether it was
        // taken: a conditional one may not be, and a breakpoint on the routine's first instruction
        // still counts.
        let halt = self.step();
        let now = self.debugger.registers();
        let entered = calls && now.sp == sp.wrapping_sub(2);
        // LDIR and its like stay at their address until they are done.
        let repeats = now.pc == pc && self.is_repeated(pc);
        if halt != Halt::Step || !(entered || repeats) {
            return halt;
        }
        // A routine that drops its return address never comes back to the next instruction.
        self.until(|debugger, _| {
            let now = debugger.registers();
            (now.pc == next && now.sp == sp) || now.sp > sp
        })
    }

    /// Whether the instruction at an address is LDIR, CPIR or one of their like.
    fn is_repeated(&self, at: u16) -> bool {
        let prefix = self.debugger.peek(at);
        prefix == 0xED && self.debugger.peek(at.wrapping_add(1)) & 0xF4 == 0xB0
    }

    fn step_out(&mut self) -> Halt {
        let sp = self.debugger.registers().sp;
        let depth = self.debugger.depth();
        // The calls that were seen say best when the routine has returned; of a routine that was
        // entered before the debugger came, only a return to a higher stack does.
        if depth > 0 {
            return self.until(|debugger, _| debugger.depth() < depth);
        }
        self.until(|debugger, opcode| debugger.registers().sp > sp && is_return(opcode))
    }

    fn step_line(&mut self, into: bool) -> Halt {
        let began = self.line();
        loop {
            let halt = if into { self.step() } else { self.step_over() };
            if halt != Halt::Step {
                return halt;
            }
            let line = self.line();
            if line.is_some() && (line != began || self.debugger.at_line_start()) {
                return Halt::Step;
            }
        }
    }

    /// The line that is running, kept beyond the next step.
    fn line(&self) -> Option<(String, u32)> {
        self.debugger.line().map(|(file, line)| (file.to_owned(), line))
    }

    fn go_to(&mut self, address: u16) -> Halt {
        self.until(|debugger, _| debugger.registers().pc == address && !debugger.resumed)
    }

    /// Runs until `done` holds after an instruction, whose first byte it is given, outside of a
    /// service that came meanwhile.
    fn until(&mut self, done: impl Fn(&Debugger, u8) -> bool) -> Halt {
        let in_service = self.debugger.board.in_service();
        loop {
            let opcode = self.debugger.peek(self.debugger.registers().pc);
            let Some(turn) = self.turn() else { return Halt::Paused };
            if turn == Turn::Idle {
                return Halt::Idle;
            }
            if let Some(halt) = self.debugger.reason(turn) {
                return halt;
            }
            let is_served = !in_service && self.debugger.board.in_service();
            if turn == Turn::Ran && !is_served && done(self.debugger, opcode) {
                return Halt::Step;
            }
        }
    }

    fn step_back(&mut self) -> Halt {
        let in_service = self.debugger.board.in_service();
        self.search(|_, before| {
            let is_served = before.in_service && !in_service;
            (!is_served && !before.resumed).then_some(Halt::Step)
        })
    }

    fn step_line_back(&mut self) -> Halt {
        let began = self.line();
        let mut halt = self.step_back();
        while halt == Halt::Step
            && (self.line().is_none() || (self.line() == began && !self.debugger.at_line_start()))
        {
            halt = self.step_back();
        }
        // By now the board is at the last instruction of an earlier line, or at the start of this
        // one. On to where the line begins, which is where stepping forward stops, too.
        while halt == Halt::Step && !self.debugger.at_line_start() {
            halt = self.step_back();
        }
        halt
    }

    fn go_back(&mut self) -> Halt {
        self.search(|debugger, before| {
            let touched = debugger.touched().map(Halt::Watchpoint);
            touched.or(before.at_break.then_some(Halt::Breakpoint))
        })
    }

    fn go_back_to(&mut self, address: u16) -> Halt {
        let stops = std::mem::take(&mut self.debugger.stops);
        self.debugger.stops.add_break(Break::at(address));
        let halt = self.go_back();
        self.debugger.stops = stops;
        if halt == Halt::Breakpoint { Halt::Step } else { halt }
    }

    fn go_back_to_change(&mut self, address: u16) -> Halt {
        let stops = std::mem::take(&mut self.debugger.stops);
        self.debugger.stops.add_watch(Watch::writes(address, 1));
        let mut halt = self.go_back();
        // A write of the value that is there already is no change.
        while let Halt::Watchpoint(hit) = halt {
            let WatchEvent::Access(access) = hit.event else { break };
            if self.debugger.peek(address) != access.value {
                break;
            }
            halt = self.go_back();
        }
        self.debugger.stops = stops;
        match halt {
            // The watchpoint was ours alone, and has no number that a person could know.
            Halt::Watchpoint(hit) => Halt::Watchpoint(WatchHit { id: 0, ..hit }),
            other => other,
        }
    }

    /// Goes back to the last turn before this one for which `found` has a reason to stop. It is
    /// asked after a turn in which the processor did something, and is given the state before it,
    /// where the board will stand.
    ///
    /// The past is searched stretch by stretch from copy to copy, the youngest first. In a stretch
    /// one can only go forward, so that the last hit counts. If the caller stops the search, the
    /// board goes where it came from.
    fn search(&mut self, found: impl Fn(&Debugger, &Before) -> Option<Halt>) -> Halt {
        let now = self.debugger.turn;
        let mut end = now;
        self.debugger.searching = true;
        let halt = loop {
            // `end - 1`, not `end`: a copy may have been taken right at `end`, and the stretch from
            // there would be empty for ever.
            let begin = if end == 0 { None } else { self.debugger.rewind(end - 1) };
            let Some(begin) = begin else { break self.arrive(None, Halt::Start) };
            match self.search_stretch(end, &found) {
                Err(Stopped) => break self.arrive(Some(now), Halt::Paused),
                Ok(Some((turn, halt))) => break self.arrive(Some(turn), halt),
                Ok(None) => end = begin,
            }
        };
        self.debugger.searching = false;
        halt
    }

    /// The last hit from here to the turn `end`.
    fn search_stretch(
        &mut self,
        end: u64,
        found: &impl Fn(&Debugger, &Before) -> Option<Halt>,
    ) -> Result<Option<(u64, Halt)>, Stopped> {
        let mut last = None;
        while self.debugger.turn < end {
            let at = self.debugger.turn;
            let before = Before::of(self.debugger);
            let turn = self.turn().ok_or(Stopped)?;
            // A waiting processor stands at its place turn after turn, and has arrived there once.
            let halt = if turn == Turn::Ran { found(self.debugger, &before) } else { None };
            if let Some(halt) = halt {
                last = Some((at, halt));
            }
            // Nothing can follow: the board waited here for what it was sent later by hand.
            if turn == Turn::Idle {
                break;
            }
        }
        Ok(last)
    }

    /// Ends a way back: at a turn, or else where the past begins. The way from the last copy is
    /// short, and nobody is asked on it: a board in between would be nowhere.
    fn arrive(&mut self, turn: Option<u64>, halt: Halt) -> Halt {
        let Some(start) = self.debugger.history.start() else { return Halt::Start };
        let target = turn.unwrap_or(start);
        if self.debugger.rewind(target).is_some() {
            while self.debugger.turn < target && self.debugger.advance() != Turn::Idle {}
        }
        halt
    }
}

/// The caller wants to stop.
struct Stopped;

/// The state before a turn of the past.
struct Before {
    in_service: bool,
    resumed: bool,
    at_break: bool,
}

impl Before {
    fn of(debugger: &Debugger) -> Self {
        let registers = debugger.registers();
        let holds = debugger.stops.holds(&registers, &|at| debugger.peek(at));
        let resumed = debugger.resumed;
        Self { in_service: debugger.board.in_service(), resumed, at_break: holds && !resumed }
    }
}
