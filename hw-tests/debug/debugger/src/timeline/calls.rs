//! The open calls: those observed, and those guessed from the stack.

use board_simulator::Registers;
use firmware::code_map::CodeMap;
use z80_core::is_call;

use crate::expression::MachineState;

/// Stack words searched for return addresses of calls that were not observed.
const STACK_WORDS: u16 = 24;
/// Maximum number of recorded calls; beyond it the outermost is dropped.
const MAX_OPEN_CALLS: usize = 4096;

/// A routine that was entered and has not returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenCall {
    /// The address of the routine's first instruction.
    pub routine: u16,
    /// The address of the calling or the interrupted instruction.
    pub site: u16,
    /// Whether it is an interrupt service routine.
    pub is_service: bool,
    /// Whether the call was observed rather than guessed from the stack.
    pub was_seen: bool,
    /// The address of the return address on the stack.
    pub sp: u16,
}

/// The observed open calls, innermost last.
#[derive(Debug, Clone, Default)]
pub(crate) struct CallStack {
    open: Vec<OpenCall>,
}

impl CallStack {
    /// Records an instruction or an accepted interrupt.
    pub(super) fn record(
        &mut self,
        before: &Registers,
        now: &Registers,
        opcode: u8,
        accepted: bool,
    ) {
        while self.open.pop_if(|call| now.sp > call.sp).is_some() {}
        if now.sp == before.sp.wrapping_sub(2) && (accepted || is_call(opcode)) {
            if self.open.len() == MAX_OPEN_CALLS {
                self.open.remove(0);
            }
            self.open.push(OpenCall {
                routine: now.pc,
                site: before.pc,
                is_service: accepted,
                was_seen: true,
                sp: now.sp,
            });
        }
    }

    /// Returns the open calls, innermost first. Below the first observed call, each stack word that
    /// points behind a CALL instruction is taken for a return address.
    pub(crate) fn list(&self, code: &CodeMap, state: &dyn MachineState) -> Vec<OpenCall> {
        let read_word =
            |at: u16| u16::from_le_bytes([state.peek(at), state.peek(at.wrapping_add(1))]);
        let seen = self.open.iter().rev().copied();
        let outermost = self.open.first().map(|call| call.sp.wrapping_add(2));
        let sp = outermost.unwrap_or(state.registers().sp);
        let words = (0..STACK_WORDS).map(|word| sp.wrapping_add(2 * word));
        let guessed = words.filter_map(|at| {
            let site = read_word(at).wrapping_sub(3);
            let is_code = code.line_at(site).is_some_and(|line| line.is_code);
            let calls = is_code && is_call(state.peek(site));
            let routine = read_word(site.wrapping_add(1));
            calls.then_some(OpenCall { routine, site, is_service: false, was_seen: false, sp: at })
        });
        seen.chain(guessed).collect()
    }
}
