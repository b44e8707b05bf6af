//! The calls that are open: those that were seen, and those that the stack seems to hold.

use board_simulator::Registers;

use super::debugger::{Debugger, is_call};

/// Words of the stack that are looked through for callers that were not seen.
const STACK_WORDS: u16 = 24;
/// Most calls kept; a program that pushes return addresses without end loses the outermost ones.
const MOST: usize = 4096;

/// A routine that was entered and has not returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// The routine's first instruction.
    pub routine: u16,
    /// The instruction that called it, or the one that was interrupted.
    pub site: u16,
    /// Whether it is an interrupt's service.
    pub is_service: bool,
    /// Whether the call was seen, not guessed from the stack.
    pub was_seen: bool,
    /// The stack pointer inside, at the return address.
    sp: u16,
}

/// The open calls that were seen, the innermost last.
#[derive(Debug, Clone, Default)]
pub(super) struct CallStack {
    open: Vec<Call>,
}

impl CallStack {
    pub(super) fn depth(&self) -> usize {
        self.open.len()
    }

    /// Takes note of an instruction, or of the acceptance of an interrupt.
    pub(super) fn note(&mut self, before: &Registers, now: &Registers, opcode: u8, accepted: bool) {
        while self.open.pop_if(|call| now.sp > call.sp).is_some() {}
        let pushed = now.sp == before.sp.wrapping_sub(2);
        if pushed && (accepted || is_call(opcode)) {
            if self.open.len() == MOST {
                self.open.remove(0);
            }
            self.open.push(Call {
                routine: now.pc,
                site: before.pc,
                is_service: accepted,
                was_seen: true,
                sp: now.sp,
            });
        }
    }

    /// The innermost first. Below those that were seen, words of the stack that follow a CALL count
    /// as return addresses, since nothing better is known of the time before.
    pub(super) fn list(&self, debugger: &Debugger) -> Vec<Call> {
        let seen = self.open.iter().rev().copied();
        let outermost = self.open.first().map(|call| call.sp.wrapping_add(2));
        let sp = outermost.unwrap_or(debugger.registers().sp);
        let words = (0..STACK_WORDS).map(|word| sp.wrapping_add(2 * word));
        let guessed = words.filter_map(|at| {
            let site = debugger.peek_word(at).wrapping_sub(3);
            let is_code = debugger.code().line_at(site).is_some_and(|line| line.is_code);
            let calls = is_code && is_call(debugger.peek(site));
            let routine = debugger.peek_word(site.wrapping_add(1));
            calls.then_some(Call { routine, site, is_service: false, was_seen: false, sp: at })
        });
        seen.chain(guessed).collect()
    }
}
