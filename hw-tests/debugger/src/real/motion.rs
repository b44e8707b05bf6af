//! Moving a board that the debug kernel holds: RST 6 goes to where it is to be held next.

use std::time::Duration;

use super::kernel::KernelError;
use super::next::{Tried, try_next};
use super::no_ram;
use crate::debugger::{Debugger, Halt, is_call};
use crate::motion::{Ask, Motion};
use board_simulator::Registers;
use firmware_wire::{HeldState, MAX_HELD};

/// The time between two questions to the caller.
const LOOK: Duration = Duration::from_millis(20);
/// RST 6, which a program may have of its own.
const RESTART: u8 = 0xF7;

impl Debugger {
    /// Moves the board at the end of the line.
    pub(crate) fn run_real(&mut self, motion: Motion, ask: Ask<'_>) -> Halt {
        if let Some(real) = &self.real {
            *real.problem.borrow_mut() = None;
        }
        let mut mover = RealMover { debugger: self, ask };
        let halt = match motion {
            Motion::Step => mover.step(),
            Motion::Over => mover.step_over(),
            Motion::Line => mover.step_line(false),
            Motion::LineInto => mover.step_line(true),
            Motion::Out => mover.step_out(),
            Motion::To(address) => mover.go(Some(address)),
            _ => mover.go(None),
        };
        match halt {
            Ok(halt) | Err(halt) => halt,
        }
    }
}

/// A debugger of a real board on its way.
struct RealMover<'a, 'b> {
    debugger: &'a mut Debugger,
    ask: Ask<'b>,
}

/// A stretch of a motion, which goes on after `Ok` and is over after `Err`.
type Moved<T> = Result<T, Halt>;

impl RealMover<'_, '_> {
    fn registers(&self) -> Registers {
        self.debugger.registers()
    }

    fn fail(&self, problem: impl Into<String>) -> Halt {
        if let Some(real) = &self.debugger.real {
            real.fail(problem);
        }
        Halt::Failed
    }

    /// The addresses of all breakpoints.
    fn breaks(&self) -> Vec<u16> {
        self.debugger.stops.breaks().map(|(_, one)| one.address).collect()
    }

    /// Tries the instruction at PC. RST 6 of the program's own is passed over.
    fn tried(&mut self) -> Tried {
        let registers = self.registers();
        if self.debugger.peek(registers.pc) == RESTART {
            let next = registers.pc.wrapping_add(1);
            let registers = Registers { pc: next, ..registers };
            return Tried { next, registers };
        }
        try_next(&registers, &|at| self.debugger.peek(at))
    }

    /// One instruction. Breakpoints in a service that comes meanwhile stop the board.
    fn step(&mut self) -> Moved<Halt> {
        let at = self.registers().pc;
        self.leave(at)?;
        let is_break = self.debugger.stops.has_break(self.registers().pc);
        Ok(if is_break && self.debugger.stands_at_break() { Halt::Breakpoint } else { Halt::Step })
    }

    /// Runs the instruction at `at`, where the board is held.
    fn leave(&mut self, at: u16) -> Moved<()> {
        let Tried { next, registers } = self.tried();
        let own = self.debugger.peek(at) == RESTART;
        if next == at || own {
            // A place can't be waited for by the instruction that is there.
            self.debugger.set_registers(&registers);
            return Ok(());
        }
        loop {
            let mut places = self.breaks();
            places.retain(|place| *place != at);
            places.push(next);
            self.travel(&places)?;
            if self.registers().pc == next {
                return Ok(());
            }
            if self.debugger.stands_at_break() {
                return Err(Halt::Breakpoint);
            }
            // A breakpoint in a service, whose condition does not hold.
            let inside = self.registers().pc;
            self.leave(inside)?;
        }
    }

    /// Runs until a breakpoint stops the board, or to an address.
    fn go(&mut self, to: Option<u16>) -> Moved<Halt> {
        self.until(to, |_| true)
    }

    /// Runs until a breakpoint stops the board, or to an address where `done` holds.
    fn until(&mut self, to: Option<u16>, done: impl Fn(&Registers) -> bool) -> Moved<Halt> {
        loop {
            let places: Vec<u16> = self.breaks().into_iter().chain(to).collect();
            let at = self.registers().pc;
            let is_held = self.debugger.real.as_ref().is_some_and(|real| !real.running);
            let is_waiting = is_held && (places.contains(&at) || self.debugger.peek(at) == RESTART);
            if is_waiting {
                self.leave(at)?;
            }
            if !is_waiting || !places.contains(&self.registers().pc) {
                self.travel(&places)?;
            }
            let now = self.registers();
            let is_break = self.debugger.stops.has_break(now.pc);
            if is_break && self.debugger.stands_at_break() {
                return Ok(Halt::Breakpoint);
            }
            if to == Some(now.pc) && done(&now) {
                return Ok(Halt::Step);
            }
            if self.debugger.peek(now.pc) == RESTART && !is_break {
                return Ok(Halt::Breakpoint);
            }
        }
    }

    fn step_over(&mut self) -> Moved<Halt> {
        let Registers { pc, sp, .. } = self.registers();
        let opcode = self.debugger.peek(pc);
        if !is_call(opcode) || opcode == RESTART {
            return self.step();
        }
        let next = pc.wrapping_add(self.debugger.length(pc));
        self.until(Some(next), |now| now.sp >= sp)
    }

    /// To the address that the innermost call that the stack seems to hold returns to.
    fn step_out(&mut self) -> Moved<Halt> {
        let sp = self.registers().sp;
        let calls = self.debugger.calls();
        let back = calls.first().map(|call| call.site.wrapping_add(3));
        let back = back.ok_or_else(|| self.fail("the stack seems to hold no return address"))?;
        self.until(Some(back), |now| now.sp > sp)
    }

    fn step_line(&mut self, into: bool) -> Moved<Halt> {
        let line = |debugger: &Debugger| debugger.line().map(|(file, at)| (file.to_owned(), at));
        let began = line(self.debugger);
        loop {
            let halt = if into { self.step()? } else { self.step_over()? };
            if halt != Halt::Step {
                return Ok(halt);
            }
            let now = line(self.debugger);
            if now.is_some() && (now != began || self.debugger.at_line_start()) {
                return Ok(Halt::Step);
            }
            if (self.ask)(self.debugger) {
                return Err(Halt::Paused);
            }
        }
    }

    /// Lets the program go until it comes to one of the places, or is stopped.
    fn travel(&mut self, places: &[u16]) -> Moved<()> {
        loop {
            self.set_out(places)?;
            loop {
                match self.wait(LOOK)? {
                    Some(held) if self.arrive(held)? => break, // a fault on the line called
                    Some(_) => return Ok(()),
                    None => {}
                }
                if (self.ask)(self.debugger) {
                    return self.break_in();
                }
            }
        }
    }

    /// Has the kernel let the program go, unless it runs already.
    fn set_out(&mut self, places: &[u16]) -> Moved<()> {
        let Some(real) = &mut self.debugger.real else { return Err(Halt::Failed) };
        if real.running {
            return Ok(());
        }
        let mut places = places.to_vec();
        places.extend(real.subject.break_in.map(|one| one.place));
        places.sort_unstable();
        places.dedup();
        if places.len() > MAX_HELD {
            let problem = format!("the kernel has room for {MAX_HELD} places, not for {places:?}");
            return Err(self.fail(problem));
        }
        match real.kernel.get_mut().go(real.held.number, &places) {
            Ok(()) => {}
            Err(KernelError::NoRam(at)) => return Err(self.fail(no_ram(at))),
            Err(error) => return Err(self.fail(error.to_string())),
        }
        real.since = real.kernel.get_mut().now();
        real.running = true;
        let unsent = std::mem::take(&mut real.unsent);
        if unsent.is_empty() {
            return Ok(());
        }
        let paused = real.kernel.get_mut().pause();
        real.send(&unsent);
        paused.map_err(|error| self.fail(error.to_string()))
    }

    fn wait(&mut self, time: Duration) -> Moved<Option<HeldState>> {
        let Some(real) = &mut self.debugger.real else { return Err(Halt::Failed) };
        let held = real.kernel.get_mut().wait(time);
        real.hear();
        held.map_err(|error| self.fail(error.to_string()))
    }

    /// Takes the state of the program that was held; returns whether zeros had called.
    fn arrive(&mut self, held: HeldState) -> Moved<bool> {
        let Some(real) = &mut self.debugger.real else { return Err(Halt::Failed) };
        real.take(held);
        let called = real.was_called();
        let registers = real.registers();
        real.twin.held(&registers);
        called.map_err(|error| self.fail(error.to_string()))
    }

    /// Stops the program by zeros on the line.
    fn break_in(&mut self) -> Moved<()> {
        let Some(real) = &mut self.debugger.real else { return Err(Halt::Failed) };
        if real.subject.break_in.is_none() {
            return Err(self.fail(
                "this program has no service that stops it (firmware/z80/place.asm): set a \
                 breakpoint where it comes by, or press reset on the board",
            ));
        }
        let called = real.kernel.get_mut().call();
        match called {
            Ok(Some(held)) => {
                self.arrive(held)?;
                Err(Halt::Paused)
            }
            Ok(None) => Err(self.fail(
                "the program runs on: it takes no interrupts; press reset on the board, or go on \
                 waiting for a breakpoint",
            )),
            Err(error) => Err(self.fail(error.to_string())),
        }
    }
}
