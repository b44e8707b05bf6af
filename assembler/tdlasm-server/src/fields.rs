//! Finds the field and word of a statement at an offset.

use std::ops::Range;
use std::path::Path;

use tdlasm::syntax::lex;
use tdlasm_rewrite::fmt::{StatementParts, Statements};

use super::workspace::Workspace;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    /// A label, or the name that is assigned a value.
    Name,
    Operator,
    Operands,
    Comment,
}

pub(super) fn statement_at(statements: &Statements, offset: usize) -> Option<&StatementParts> {
    let after = statements.list.partition_point(|(start, _)| *start <= offset);
    statements.list[after.checked_sub(1)?].1.as_ref()
}

/// Returns the field and the word at an offset; the word may be empty.
pub(super) fn field_at(
    workspace: &Workspace,
    path: &Path,
    text: &[u8],
    offset: usize,
) -> Option<(Field, Range<usize>)> {
    let statements = workspace.statements(path, text)?;
    let parts = statement_at(&statements, offset)?;
    Some((field(parts, offset), word_at(text, offset)))
}

fn field(parts: &StatementParts, offset: usize) -> Field {
    let before = parts.labels.last().map_or(0, |(name, _)| name.end);
    if !parts.comment.is_empty() && offset > parts.comment.start {
        Field::Comment
    } else if parts.assigned.contains(&offset) || offset <= before {
        Field::Name
    } else if parts.operator.is_empty() || offset <= parts.operator.end {
        Field::Operator
    } else {
        Field::Operands
    }
}

/// Returns the symbol that contains an offset or ends there.
pub(super) fn word_at(text: &[u8], offset: usize) -> Range<usize> {
    let offset = offset.min(text.len());
    let before = text[..offset].iter().rev().take_while(|byte| lex::is_symbol(**byte)).count();
    let behind = text[offset..].iter().take_while(|byte| lex::is_symbol(**byte)).count();
    offset - before..offset + behind
}
