//! What the straight path of instructions does, for lints.

use crate::isa::{Form, Prefix, Register, Slot};
use crate::source::Span;

/// A depth that no pushes make positive: SP was set, or its top changed.
const ANOTHER_STACK: i32 = i32::MIN / 2;
/// How many instructions a jump to `.+n` may skip.
const SKIPPED_BY_JUMP: u8 = 3;

/// What the straight path of instructions since the last label or directive has done.
#[derive(Debug, Default)]
pub(super) struct Flow {
    /// Whether the last instruction was an unconditional jump or return.
    after_jump: bool,
    /// Whether the one before it was one, too: a table of jumps.
    in_table: bool,
    sign: Sign,
    /// The number of instructions that an earlier jump to `.+n` may still reach.
    skippable_instructions: u8,
    /// The number of pushes less that of pops.
    depth: i32,
    /// The last push.
    pub(super) pushed: Span,
    /// The opcode of the last instruction.
    opcode: u8,
    /// The open texts and blocks.
    nesting: (usize, usize),
}

/// What the path says about the sign flag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Sign {
    /// The path begins here: whoever jumps here may have set it.
    #[default]
    Unknown,
    /// Instructions were executed, of which none sets or reads a flag.
    Unset,
    Set,
}

/// What is probably a mistake in an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FlowFault {
    /// It follows a jump or return, and no label leads to it.
    Unreachable,
    /// It returns to what was pushed.
    Unbalanced,
    /// It is `JP`, a jump if the sign is plus, and nothing sets the sign.
    SignUnset,
}

impl Flow {
    /// A label or directive: others may jump here, or bytes of any meaning follow.
    pub(super) fn restart(&mut self) {
        *self = Self::default();
    }

    /// Follows the path over an instruction at `span`, whose first operand is a register or
    /// contains `.`. `nesting` are the numbers of open texts and blocks.
    pub(super) fn follow(
        &mut self,
        form: &Form,
        register: Option<Register>,
        uses_location: bool,
        span: Span,
        nesting: (usize, usize),
    ) -> Option<FlowFault> {
        if self.nesting != nesting {
            *self = Self { nesting, ..Self::default() };
        }
        let after_jump = std::mem::take(&mut self.after_jump);
        let is_dead = after_jump && self.skippable_instructions == 0 && !self.in_table;
        self.skippable_instructions = self.skippable_instructions.saturating_sub(1);
        let last = std::mem::replace(&mut self.opcode, form.opcode);
        // Tables of jumps, and room for patches.
        let is_table = matches!(form.opcode, 0xC3 | 0x18 | 0xC9 | 0x00);
        let mut fault = (is_dead && !is_table).then_some(FlowFault::Unreachable);
        let is_base = matches!(form.prefix, Prefix::None | Prefix::X | Prefix::Y);
        if form.opcode == 0xF2 && form.prefix == Prefix::None && self.sign == Sign::Unset {
            fault = Some(FlowFault::SignUnset);
        }
        self.sign = match () {
            () if sets_or_reads_sign(form, register) => Sign::Set,
            () if self.sign == Sign::Unknown => Sign::Unset,
            () => self.sign,
        };
        match form.opcode {
            // The address of a later return is pushed as well, mostly right behind its LXI.
            0xC5 | 0xE5 if is_base => {
                let is_address = matches!(last, 0x01 | 0x21);
                self.depth = if is_address { ANOTHER_STACK } else { self.depth + 1 };
                self.pushed = span;
            }
            0xC1 | 0xE1 if is_base => self.depth -= 1,
            0xF9 | 0xE3 if is_base => self.depth = ANOTHER_STACK,
            0x7B if form.prefix == Prefix::Ed => self.depth = ANOTHER_STACK,
            _ if register == Some(Register::Sp) => self.depth = ANOTHER_STACK,
            0xE9 if is_base => (self.after_jump, self.depth) = (true, 0),
            0xC3 | 0x18 if form.prefix == Prefix::None => (self.after_jump, self.depth) = (true, 0),
            0xC9 | 0x45 | 0x4D if is_return(form) => {
                self.after_jump = true;
                if std::mem::take(&mut self.depth) > 0 && !matches!(last, 0xC5 | 0xE5) {
                    fault = Some(FlowFault::Unbalanced);
                }
            }
            _ => {}
        }
        if matches!(form.slots[0], Slot::Word | Slot::Relative) && uses_location {
            self.skippable_instructions = SKIPPED_BY_JUMP;
        }
        self.in_table = after_jump && self.after_jump;
        if self.after_jump {
            self.sign = Sign::Unknown;
        }
        fault
    }
}

/// Returns `true` for an instruction after which the sign flag may have a meaning: those that set
/// it, calls, and conditional jumps and returns, which take it as known.
fn sets_or_reads_sign(form: &Form, register: Option<Register>) -> bool {
    if matches!(form.prefix, Prefix::Cb | Prefix::Ed) || register == Some(Register::Psw) {
        return true;
    }
    let opcode = form.opcode;
    matches!(opcode, 0x80..=0xBF | 0xCD | 0x27 | 0x08 | 0x20 | 0x28 | 0x30 | 0x38)
        || matches!(opcode & 0xC7, 0x04 | 0x05 | 0xC0 | 0xC2 | 0xC4 | 0xC6 | 0xC7)
}

/// Returns `true` for RET, RETN and RETI.
fn is_return(form: &Form) -> bool {
    matches!((form.prefix, form.opcode), (Prefix::None, 0xC9) | (Prefix::Ed, 0x45 | 0x4D))
}
