//! The assembled code: the sections, the values that wait for symbols, the place of the statement.

use crate::module::{Files, Rows};
use crate::source::Span;

use super::eval::{Deferred, Evaluated};
use super::names::NameId;
use super::output::Output;
use super::value::Value;

/// Few programs have more statements than one in so many bytes.
const BYTES_A_STATEMENT: usize = 16;
/// The same for fields that wait for what is defined below.
const BYTES_A_FIXUP: usize = 96;
/// The same for the operations of these.
const BYTES_AN_OPERATION: usize = 40;

/// The code of the module that is being assembled.
pub(super) struct Emission {
    pub(super) output: Output,
    pub(super) deferred: Deferred,
    /// The lines that made bytes, if they are wanted, and the files that these are of.
    pub(super) rows: Rows,
    pub(super) files: Files,
    /// `.`: the location counter at the start of the statement.
    pub(super) here: Value,
    /// The stack of an evaluation; kept from one to the next.
    pub(super) values: Vec<Value>,
    /// Whether instructions that the 8080 lacks are to be marked.
    pub(super) intel_only: bool,
    pub(super) wrap_reported: bool,
    /// The symbols that the second pass used above their definitions, with their places and values.
    pub(super) early: Vec<(NameId, u32, Value)>,
    /// The operand of `.END`.
    pub(super) start: Option<(Evaluated, Span)>,
}

impl Emission {
    pub(super) fn new(absolute: bool) -> Self {
        Self {
            output: Output::new(absolute),
            deferred: Deferred::default(),
            rows: Rows::default(),
            files: Files::default(),
            here: Value::default(),
            values: Vec::new(),
            intel_only: false,
            wrap_reported: false,
            early: Vec::new(),
            start: None,
        }
    }

    /// Makes room for what a text of this length is likely to have. Room that stays unused costs
    /// nothing; a table that moves as it grows costs the time to copy it.
    pub(super) fn expect_text(&mut self, length: usize, lines: bool) {
        self.output.fixups.reserve(length / BYTES_A_FIXUP);
        self.deferred.ops.reserve(length / BYTES_AN_OPERATION);
        self.deferred.expressions.reserve(length / BYTES_A_FIXUP);
        if lines {
            self.rows.reserve(length / BYTES_A_STATEMENT);
        }
    }
}
