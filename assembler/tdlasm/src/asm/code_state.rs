//! The code of a module: its bytes, deferred expressions and line table.

use super::code_buffer::{CodeBuffer, CodeCheckpoint};
use super::deferred::{Deferred, Evaluated};
use super::name_hash::NameId;
use super::value::Value;
use crate::module::{Files, LineRows, ObjectForm};
use crate::source::Span;

/// Estimated source bytes per statement, to reserve memory.
const BYTES_PER_STATEMENT: usize = 16;
/// Estimated source bytes per fixup.
const BYTES_PER_FIXUP: usize = 96;
/// Estimated source bytes per relocated word.
const BYTES_PER_RELOC: usize = 48;
/// Estimated source bytes per operation of a deferred expression.
const BYTES_PER_OPERATION: usize = 40;

pub(super) struct CodeState {
    pub(super) output: CodeBuffer,
    pub(super) deferred: Deferred,
    /// The line table, if requested, and the names of its files.
    pub(super) rows: LineRows,
    pub(super) files: Files,
    /// The source of the last row, and the number of its file.
    pub(super) row_file: Option<(u32, u32)>,
    /// The state before the statement.
    pub(super) statement_start: CodeCheckpoint,
    /// The value of `.`: the location counter at the start of the statement.
    pub(super) statement_location: Value,
    /// The operand stack of the evaluator; the buffer is reused.
    pub(super) value_stack: Vec<Value>,
    /// Whether instructions that the 8080 lacks are errors (`.I8080`).
    pub(super) only_8080: bool,
    pub(super) wrap_reported: bool,
    /// Symbols that the second pass used before their definitions, with offset and value.
    pub(super) early_uses: Vec<(NameId, u32, Value)>,
    /// The operand of `.END`.
    pub(super) start_address: Option<(Evaluated, Span)>,
    /// The form of the module's TDL object.
    pub(super) form: ObjectForm,
}

impl CodeState {
    pub(super) fn new(absolute: bool) -> Self {
        Self {
            output: CodeBuffer::new(absolute),
            deferred: Deferred::default(),
            rows: LineRows::default(),
            files: Files::default(),
            row_file: None,
            statement_start: CodeCheckpoint::default(),
            statement_location: Value::default(),
            value_stack: Vec::new(),
            only_8080: false,
            wrap_reported: false,
            early_uses: Vec::new(),
            start_address: None,
            form: ObjectForm::default(),
        }
    }

    /// Reserves memory for a source of this length. Reserved memory that stays unused costs
    /// nothing, while a vector that grows is copied.
    pub(super) fn expect_text(&mut self, length: usize, lines: bool) {
        self.output.fixups.reserve(length / BYTES_PER_FIXUP);
        self.output.relocs.reserve(length / BYTES_PER_RELOC);
        self.deferred.ops.reserve(length / BYTES_PER_OPERATION);
        self.deferred.expressions.reserve(length / BYTES_PER_FIXUP);
        if lines {
            self.rows.reserve(length / BYTES_PER_STATEMENT);
        }
    }
}
