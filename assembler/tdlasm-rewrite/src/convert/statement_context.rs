//! What the writers of both dialects share: names, values, and where assemblers disagree.

use std::borrow::Cow;

use tdlasm::syntax::expr::BinaryOp;

use super::expr::{Node, Number};
use super::program::{ConvertResult, Unconverted};
use super::source_scan::SourceScan;
use super::symbol_spelling::SpellingMap;
use super::target::Target;

/// A statement in the other dialect: its operator and operands.
#[derive(Debug, Default)]
pub(super) struct ConvertedStatement {
    pub(super) operator: String,
    pub(super) operands: Vec<u8>,
}

/// The facts that a statement is written with.
#[derive(Debug, Clone, Copy)]
pub(super) struct StatementContext<'a> {
    pub(super) names: &'a SpellingMap,
    pub(super) scan: &'a SourceScan,
    pub(super) scope: u32,
    /// The radix of the place, for a reader of TDL.
    pub(super) radix: Option<u8>,
    /// The offset that an [`Unconverted`] refers to.
    pub(super) at: usize,
    /// The assembler that is written for.
    pub(super) target: Option<Target>,
    /// `true` if bytes or an origin come before the statement.
    pub(super) placed: bool,
    pub(super) assigned: AssignmentFacts,
    /// Whether mnemonics are written in small letters.
    pub(super) is_lowercase: bool,
}

/// Facts of an assignment for assemblers that read a source once.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct AssignmentFacts {
    /// Whether its value has symbols that are defined further below.
    pub(super) looks_ahead: bool,
    /// Whether the symbol has no other value.
    pub(super) is_only: bool,
    /// Whether its value depends on the symbol itself.
    pub(super) is_cyclic: bool,
}

impl StatementContext<'_> {
    /// Returns the reason why the statement is copied unchanged.
    pub(super) fn unconverted<T>(&self, message: impl Into<Cow<'static, str>>) -> ConvertResult<T> {
        Unconverted::fail(self.at, message)
    }

    /// The spelling of a symbol in the dialect that is written.
    pub(super) fn name(&self, name: &[u8]) -> ConvertResult<Vec<u8>> {
        if self.scan.is_redefined(name) {
            return self.unconverted(format!(
                "{} is a macro or has been redefined",
                String::from_utf8_lossy(name)
            ));
        }
        Ok(self.names.spelling(name, self.scope))
    }

    pub(super) fn match_case(&self, word: &str) -> String {
        if self.is_lowercase { word.to_ascii_lowercase() } else { word.to_owned() }
    }

    /// Returns `true` if the target takes the syntax of ASxxxx.
    pub(super) fn is_asxxxx(&self) -> bool {
        self.target.is_some_and(Target::is_asxxxx)
    }

    /// A number as Zilog's side spells it.
    pub(super) fn number(&self, number: &Number<'_>) -> String {
        if self.is_asxxxx() { number.prefixed() } else { number.spelling() + number.suffix() }
    }

    pub(super) fn is_portable(&self, node: &Node<'_>) -> bool {
        node.is_portable(&mut |name| self.names.value_facts(name, self.scope))
    }

    /// Returns `true` if the operation is portable only with a portable operand on this side.
    pub(super) fn needs_portable_operand(op: BinaryOp, side: usize) -> bool {
        match op {
            BinaryOp::Divide | BinaryOp::Remainder => true,
            BinaryOp::ShiftRight => side == 0,
            _ => false,
        }
    }

    /// Refuses shifts by unknown counts and divisions by what may be zero, whose results differ.
    pub(super) fn check_right_side(&self, op: BinaryOp, right: &Node<'_>) -> ConvertResult<()> {
        let value = right.exact_value(&mut |name| self.names.value_facts(name, self.scope).value);
        // A divisor that is 0 modulo 65536 is enough to refuse: some count with 16 bits.
        let zero = value.is_none_or(|value| value & 0xFFFF == 0);
        match (op, value) {
            (BinaryOp::ShiftLeft | BinaryOp::ShiftRight, Some(0..=15)) => Ok(()),
            (BinaryOp::ShiftLeft | BinaryOp::ShiftRight, _) => {
                self.unconverted("only shifts by a constant from 0 to 15 mean the same everywhere")
            }
            (BinaryOp::Divide | BinaryOp::Remainder, _) if zero => {
                self.unconverted("only TDL divides by zero, and this may be zero")
            }
            _ => Ok(()),
        }
    }
}
