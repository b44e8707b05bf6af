//! The parts that the writers of both dialects share: names, known values, and where assemblers
//! disagree.

use std::borrow::Cow;

use tdlasm::syntax::expr::BinaryOp;

use super::expr::Node;
use super::facts::Facts;
use super::names::Names;
use super::program::{Read, Reason};
use super::target::Target;

/// The facts that a statement is written with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Context<'a> {
    pub(super) names: &'a Names,
    pub(super) facts: &'a Facts,
    /// The scope of local symbols.
    pub(super) scope: u32,
    /// The radix of the place, for a reader of TDL.
    pub(super) radix: Option<u8>,
    /// The place that a refusal points to.
    pub(super) at: usize,
    /// The assembler that is written for.
    pub(super) target: Option<Target>,
    /// Whether bytes or an origin stand above.
    pub(super) placed: bool,
    /// The facts of the statement if it is an assignment.
    pub(super) assigned: Assigned,
    /// Whether mnemonics are written in small letters.
    pub(super) small: bool,
}

/// Facts of an assignment for assemblers that read a source once.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Assigned {
    /// Whether its value has symbols that are defined further below.
    pub(super) looks_ahead: bool,
    /// Whether the symbol has no other value.
    pub(super) is_only: bool,
    /// Whether its value depends on the symbol itself.
    pub(super) in_ring: bool,
}

impl Context<'_> {
    /// The reason why the statement stays as it is.
    pub(super) fn fail<T>(&self, message: impl Into<Cow<'static, str>>) -> Read<T> {
        Reason::fail(self.at, message)
    }

    /// The spelling of a symbol in the dialect that is written.
    pub(super) fn name(&self, name: &[u8]) -> Read<Vec<u8>> {
        if self.facts.is_altered(name) {
            return self.fail(format!(
                "{} stands for a macro or has been given another meaning",
                String::from_utf8_lossy(name)
            ));
        }
        Ok(self.names.spelling(name, self.scope))
    }

    /// Letters in the case of the statement.
    pub(super) fn cased(&self, word: &str) -> String {
        if self.small { word.to_ascii_lowercase() } else { word.to_owned() }
    }

    /// Whether a value is natural: see [`Node::is_natural`].
    pub(super) fn is_natural(&self, node: &Node<'_>) -> bool {
        node.is_natural(&mut |name| self.names.worth(name, self.scope))
    }

    /// Whether an operand must be natural for the operation to have the same result everywhere.
    pub(super) fn needs_natural(op: BinaryOp, side: usize) -> bool {
        match op {
            BinaryOp::Divide | BinaryOp::Remainder => true,
            BinaryOp::ShiftRight => side == 0,
            _ => false,
        }
    }

    /// Refuses shifts by unknown counts and divisions by what may be zero, whose results differ.
    pub(super) fn check_right_side(&self, op: BinaryOp, right: &Node<'_>) -> Read<()> {
        let value = right.exact(&mut |name| self.names.worth(name, self.scope).value);
        // Zero to one that counts with 16 bits is enough to refuse.
        let zero = value.is_none_or(|value| value & 0xFFFF == 0);
        match (op, value) {
            (BinaryOp::ShiftLeft | BinaryOp::ShiftRight, Some(0..=15)) => Ok(()),
            (BinaryOp::ShiftLeft | BinaryOp::ShiftRight, _) => {
                self.fail("only shifts by a constant from 0 to 15 mean the same everywhere")
            }
            (BinaryOp::Divide | BinaryOp::Remainder, _) if zero => {
                self.fail("only TDL divides by zero, and this may be zero")
            }
            _ => Ok(()),
        }
    }
}
