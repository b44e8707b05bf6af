//! The simulated twin of a real board: it began as the board did, gets what the board gets, and
//! goes where the board went as soon as somebody wants to go back from there.

use board_simulator::{Registers, Turn};

use crate::debugger::{Debugger, Halt};
use crate::motion::Ask;

/// T-states in which the twin must come to where the board was held: a minute of its own time.
const PATIENCE: u64 = 442_368_000;
/// Turns between two questions to the caller.
const ASK_EVERY: u64 = 2_048;

/// The message about a twin that was lost.
const ASTRAY: &str = "the twin does not come to where the board is held, by what it was sent; it \
                      has the board's memory now, and its past begins here";

/// Something that happened to the board and not yet to its twin.
enum Leg {
    /// It got bytes while it ran.
    Sent(Vec<u8>),
    /// It was held with these registers.
    Held(Registers),
    /// Its registers were changed by hand.
    Registers(Registers),
    /// Its memory was.
    Poked(u16, Vec<u8>),
}

/// The part of the board's way that the twin has not made, and its place.
#[derive(Default)]
pub(crate) struct Twin {
    legs: Vec<Leg>,
    /// The turn at which it is where the board is held, while somebody looks at the twin.
    pub(crate) present: Option<u64>,
}

/// The reason for which a twin is not where the board is.
enum Lost {
    /// The caller wants no more.
    Stopped,
    /// It does not come there.
    Astray,
}

impl Twin {
    pub(super) fn sent(&mut self, bytes: &[u8]) {
        self.legs.push(Leg::Sent(bytes.to_vec()));
    }

    pub(super) fn held(&mut self, registers: &Registers) {
        self.legs.push(Leg::Held(*registers));
    }

    pub(super) fn registers_set(&mut self, to: &Registers) {
        self.legs.push(Leg::Registers(*to));
    }

    pub(super) fn poked(&mut self, address: u16, bytes: &[u8]) {
        self.legs.push(Leg::Poked(address, bytes.to_vec()));
    }
}

impl Debugger {
    /// Whether a twin is where the board is held, and goes no further by itself.
    pub(crate) fn is_at_present(&self) -> bool {
        let present = self.real.as_ref().and_then(|real| real.twin.present);
        !self.searching && present.is_some_and(|turn| self.turn >= turn)
    }

    /// Looks at the twin from now on, once it is where the board is held.
    pub(crate) fn turn_to_twin(&mut self, ask: Ask<'_>) -> Result<(), Halt> {
        let Some(real) = &mut self.real else { return Ok(()) };
        if real.running {
            real.fail("the program runs: stop it first");
            return Err(Halt::Failed);
        }
        real.twin.present = Some(u64::MAX);
        self.searching = true;
        let followed = self.follow(ask);
        self.searching = false;
        let turn = self.turn;
        let Some(real) = &mut self.real else { return Ok(()) };
        real.twin.present = followed.is_ok().then_some(turn);
        match followed {
            Ok(()) => Ok(()),
            Err(Lost::Stopped) => Err(Halt::Paused),
            Err(Lost::Astray) => {
                self.feed_twin();
                if let Some(real) = &self.real {
                    real.fail(ASTRAY);
                }
                Err(Halt::Failed)
            }
        }
    }

    /// Looks at the board again if the twin has come to where it is held.
    pub(crate) fn turn_from_twin(&mut self, halt: Halt) -> Halt {
        if !self.is_at_present() {
            return halt;
        }
        if let Some(real) = &mut self.real {
            real.twin.present = None;
        }
        if halt == Halt::Paused { Halt::Present } else { halt }
    }

    /// Lets the twin go where the board is held.
    fn follow(&mut self, ask: Ask<'_>) -> Result<(), Lost> {
        let legs = self.real.as_mut().map(|real| std::mem::take(&mut real.twin.legs));
        let mut legs = legs.unwrap_or_default().into_iter();
        let mut outcome = Ok(());
        for leg in legs.by_ref() {
            outcome = self.follow_leg(&leg, &mut *ask);
            if outcome.is_err() {
                // The way there is made once more, from where the twin has come to.
                if let Some(real) = &mut self.real {
                    real.twin.legs.push(leg);
                }
                break;
            }
        }
        if let Some(real) = &mut self.real {
            real.twin.legs.extend(legs);
        }
        outcome
    }

    fn follow_leg(&mut self, leg: &Leg, ask: Ask<'_>) -> Result<(), Lost> {
        match leg {
            Leg::Sent(bytes) => self.send_simulated(bytes),
            Leg::Registers(to) => self.change_simulated(|board| board.set_registers(to)),
            Leg::Poked(address, bytes) => {
                self.change_simulated(|board| board.bus_mut().load(*address, bytes));
            }
            Leg::Held(registers) => return self.follow_to(registers, ask),
        }
        Ok(())
    }

    /// Runs until the registers are these.
    fn follow_to(&mut self, to: &Registers, ask: Ask<'_>) -> Result<(), Lost> {
        let end = self.board.clock() + PATIENCE;
        let mut asked = 0;
        loop {
            let now = self.board.registers();
            if now.pc == to.pc && is_same(&now, to) {
                return Ok(());
            }
            asked += 1;
            if asked % ASK_EVERY == 0 && (ask)(self) {
                return Err(Lost::Stopped);
            }
            let turn = self.advance();
            if turn == Turn::Idle {
                // In HALT, which a board leaves to be held behind it.
                let woken = Registers { pc: now.pc.wrapping_add(1), ..now };
                return if is_same(&woken, to) { Ok(()) } else { Err(Lost::Astray) };
            }
            if self.board.clock() >= end {
                return Err(Lost::Astray);
            }
        }
    }

    /// Gives the twin the board's state, for want of a way there: its past begins now.
    fn feed_twin(&mut self) {
        let Some(mut real) = self.real.take() else { return };
        for block in real.subject.ram.clone().step_by(super::BLOCK.into()) {
            let bytes = real.dump(block, super::BLOCK.into());
            self.board.bus_mut().load(block, &bytes);
        }
        let registers = real.registers();
        self.change_simulated(|board| board.set_registers(&registers));
        real.twin.legs.clear();
        self.real = Some(real);
    }
}

/// Whether two sets of registers are the same, but for R, which counts instructions.
fn is_same(one: &Registers, other: &Registers) -> bool {
    *one == Registers { r: one.r, ..*other }
}
