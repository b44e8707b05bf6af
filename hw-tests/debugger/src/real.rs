//! A board at the end of a line, on which the debug kernel holds a program.
//!
//! While the program is held its memory is fetched as it is looked at, and kept until the program
//! goes on. A board has no past: steps back are those of a twin (`twin`).

mod kernel;
mod motion;
mod next;
mod start;
mod twin;

use std::cell::RefCell;
use std::collections::BTreeMap;

use board_simulator::Registers;
use firmware_wire::{Cause, HeldState};
use host_platform::time::Instant;

pub use kernel::{Kernel, KernelError};
use start::Subject;
pub use start::{BoardError, examining_on, program_on};
pub(super) use twin::Twin;

/// Bytes that are fetched at once: a row of a memory pane needs no more, and a line takes them in
/// some milliseconds.
const BLOCK: u16 = 64;
/// The first address of the kernel's memory.
const KERNEL: u16 = 0xF000;

/// The way to stop a program that runs: zeros on the line make its service return to a place, where
/// it is held (`firmware/z80/place.asm`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BreakIn {
    /// The place: PLACE.
    pub(super) place: u16,
    /// The address of the address at which the program was: FOUND.
    pub(super) found: u16,
    /// The byte to be cleared, so that it may be called again: ASKED.
    pub(super) asked: u16,
}

/// A board with the kernel.
pub(super) struct RealBoard {
    kernel: RefCell<Box<dyn Kernel>>,
    subject: Subject,
    held: HeldState,
    /// Whether the program runs.
    running: bool,
    since: Instant,
    /// T-states that the program has run, by the line's clock.
    t_states: u64,
    clock_hz: u64,
    memory: RefCell<BTreeMap<u16, Vec<u8>>>,
    /// All that the program has said.
    said: Vec<u8>,
    /// The bytes that it is to get when it goes on.
    unsent: Vec<u8>,
    /// The last thing that went wrong.
    problem: RefCell<Option<String>>,
    pub(super) twin: Twin,
}

impl RealBoard {
    pub(super) fn registers(&self) -> Registers {
        registers(&self.held)
    }

    pub(super) fn set_registers(&mut self, to: &Registers) {
        self.held = with_registers(&self.held, to);
        let set = self.kernel.borrow_mut().set(&self.held);
        self.note(set);
        self.twin.registers_set(to);
    }

    /// Bytes of memory; zeros while the program runs, since nobody can look then.
    pub(super) fn dump(&self, address: u16, count: usize) -> Vec<u8> {
        (0..count).map(|at| self.peek(address.wrapping_add(at as u16))).collect()
    }

    pub(super) fn peek(&self, address: u16) -> u8 {
        let block = address & !(BLOCK - 1);
        let byte = |bytes: &Vec<u8>| bytes[usize::from(address - block)];
        if let Some(bytes) = self.memory.borrow().get(&block) {
            return byte(bytes);
        }
        if self.running {
            return 0;
        }
        match self.kernel.borrow_mut().read(block, BLOCK.into()) {
            Ok(bytes) => {
                let found = byte(&bytes);
                self.memory.borrow_mut().insert(block, bytes);
                found
            }
            Err(error) => {
                *self.problem.borrow_mut() = Some(error.to_string());
                0
            }
        }
    }

    pub(super) fn poke(&mut self, address: u16, bytes: &[u8]) {
        let written = self.kernel.borrow_mut().write(address, bytes);
        self.note(written);
        self.memory.borrow_mut().clear();
        self.twin.poked(address, bytes);
    }

    /// Sends to the program that runs, or as soon as it does.
    pub(super) fn send(&mut self, bytes: &[u8]) {
        if self.running {
            let sent = self.kernel.borrow_mut().send(bytes);
            self.note(sent);
            self.twin.sent(bytes);
        } else {
            self.unsent.extend(bytes);
        }
    }

    pub(super) fn said(&self) -> &[u8] {
        &self.said
    }

    /// T-states that the program has run, as far as the line's clock tells.
    pub(super) fn clock(&self) -> u64 {
        self.t_states + if self.running { self.t_states_since() } else { 0 }
    }

    fn t_states_since(&self) -> u64 {
        let time = self.kernel.borrow().now().saturating_duration_since(self.since);
        (time.as_secs_f64() * self.clock_hz as f64) as u64
    }

    /// Whether RST 6 can stand at an address.
    pub(super) fn check_break(&self, address: u16) -> Result<(), String> {
        if address >= KERNEL {
            return Err(format!("{address:04X}H is the debug kernel's own"));
        }
        if self.running {
            return Ok(()); // GO will tell
        }
        let there = self.peek(address);
        let mut kernel = self.kernel.borrow_mut();
        let kept = kernel.write(address, &[!there]);
        match kernel.write(address, &[there]).and(kept) {
            Err(KernelError::NoRam(_)) => Err(no_ram(address)),
            other => other.map_err(|error| error.to_string()),
        }
    }

    /// Starts the program anew, by way of the monitor.
    pub(super) fn restart(&mut self) {
        if self.running {
            *self.problem.borrow_mut() = Some("the program runs: stop it first".to_owned());
            return;
        }
        let begun = self.subject.start(self.kernel.get_mut().as_mut());
        let started = begun.map(|held| {
            self.take(held);
            (self.t_states, self.unsent) = (0, Vec::new());
            self.said.clear();
            self.twin = Twin::default();
        });
        self.note(started);
    }

    /// Takes the state of a program that was just held.
    fn take(&mut self, held: HeldState) {
        if self.running {
            self.t_states += self.t_states_since();
        }
        self.running = false;
        self.held = held;
        self.memory.get_mut().clear();
        self.hear();
    }

    /// Takes over what the program has said.
    fn hear(&mut self) {
        let said = self.kernel.get_mut().take_said();
        self.said.extend(said);
    }

    fn note<E: std::fmt::Display>(&self, done: Result<(), E>) {
        if let Err(error) = done {
            *self.problem.borrow_mut() = Some(error.to_string());
        }
    }

    /// The last thing that went wrong.
    pub(super) fn problem(&self) -> Option<String> {
        self.problem.borrow().clone()
    }

    fn fail(&self, problem: impl Into<String>) {
        *self.problem.borrow_mut() = Some(problem.into());
    }

    /// Whether the program was stopped by zeros; where it was is then where it stands.
    fn was_called(&mut self) -> Result<bool, KernelError> {
        let Some(BreakIn { place, found, asked }) = self.subject.break_in else {
            return Ok(false);
        };
        if self.held.cause != Cause::Restart || self.registers().pc != place {
            return Ok(false);
        }
        let kernel = self.kernel.get_mut();
        let at = kernel.read(found, 2)?;
        kernel.write(asked, &[0])?;
        self.held.words[1] = u16::from_le_bytes([at[0], at[1]]);
        kernel.set(&self.held)?;
        Ok(true)
    }
}

fn no_ram(address: u16) -> String {
    format!(
        "{address:04X}H keeps no RST: it is ROM, or no memory is there; the kernel stops programs \
         in RAM"
    )
}

/// The registers of a program that is held.
fn registers(held: &HeldState) -> Registers {
    let [sp, pc, af, bc, de, hl, ix, iy, af_alt, bc_alt, de_alt, hl_alt] = held.words;
    let HeldState { i, r, .. } = *held;
    Registers { af, bc, de, hl, ix, iy, sp, pc, af_alt, bc_alt, de_alt, hl_alt, i, r }
}

/// The state with other registers.
fn with_registers(held: &HeldState, to: &Registers) -> HeldState {
    let Registers { af, bc, de, hl, ix, iy, sp, pc, af_alt, bc_alt, de_alt, hl_alt, i, r } = *to;
    let words = [sp, pc, af, bc, de, hl, ix, iy, af_alt, bc_alt, de_alt, hl_alt];
    HeldState { words, i, r, ..*held }
}
