//! The code of a module: its bytes and line table.

use super::code_buffer::{CodeBuffer, CodeCheckpoint};
use super::name_table::NameId;
use super::value::Value;
use crate::module::{Files, LineRows, ObjectForm};

pub(super) struct CodeState {
    pub(super) output: CodeBuffer,
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
    pub(super) start_address: Option<Value>,
    /// The form of the module's TDL object.
    pub(super) form: ObjectForm,
}

impl CodeState {
    pub(super) fn new(absolute: bool) -> Self {
        Self {
            output: CodeBuffer::new(absolute),
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
}
