//! Reads what stands before the operands of a statement in Zilog's notation: labels, the name that
//! a directive defines, and the operator.

use super::super::Cursor;
use super::{Directive, code_length, is_operator, split_operands, symbol};
use crate::source::Span;

/// What a word before the operands is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// A label, and whether it is exported.
    Label(bool),
    /// A name, and the directive behind it that defines it, with its place.
    Defined(Directive, Span),
    /// An instruction, directive or macro, or an unknown word.
    Operator,
}

/// Reads the next word of a statement, with its colons or the directive that defines it; `None` if
/// something else follows. `begins_line` is `true` at the beginning of the line.
pub fn field<'t>(
    cursor: &mut Cursor<'t>,
    begins_line: bool,
    is_macro: impl FnOnce(&[u8]) -> bool,
) -> Option<(&'t [u8], Span, Field)> {
    let before = cursor.offset();
    cursor.skip_blanks();
    let (start, word) = (cursor.offset(), symbol(cursor.rest()));
    if word.is_empty() {
        return None;
    }
    cursor.advance(word.len());
    let span = cursor.since(start);
    let colons = usize::from(cursor.eat(b':')) + usize::from(cursor.eat(b':'));
    let is_at_margin = begins_line && start == before;
    let may_be_label = is_at_margin || colons > 0;
    let field = match defining_directive(cursor, may_be_label) {
        Some((directive, place)) => Field::Defined(directive, place),
        None if colons > 0 => Field::Label(colons == 2),
        None if is_operator(word) || is_macro(word) => Field::Operator,
        None if may_be_label || is_before_operator(cursor) => Field::Label(false),
        None => Field::Operator,
    };
    Some((word, span, field))
}

/// Reads `EQU`, `DEFL`, `=`, `SET` or `MACRO`, which define the name before them, and returns the
/// place. `SET` is also an instruction, which has two operands.
pub fn defining_directive(cursor: &mut Cursor<'_>, may_be_set: bool) -> Option<(Directive, Span)> {
    let mut ahead = cursor.clone();
    ahead.skip_blanks();
    let (start, rest) = (ahead.offset(), ahead.rest());
    let word = symbol(rest);
    let is_set = || {
        let code = &rest[word.len()..code_length(rest)];
        word.eq_ignore_ascii_case(b"SET") && split_operands(code, false).len() == 1
    };
    let directive = match Directive::from_word(word) {
        Some(directive) => directive,
        None if rest.starts_with(b"=") => Directive::Variable,
        None if may_be_set && is_set() => Directive::Variable,
        None => return None,
    };
    if !matches!(directive, Directive::Constant | Directive::Variable | Directive::Macro) {
        return None;
    }
    ahead.advance(word.len().max(1));
    *cursor = ahead;
    Some((directive, cursor.since(start)))
}

/// Returns `true` before an instruction or directive: the word before the cursor is then a label.
fn is_before_operator(cursor: &Cursor<'_>) -> bool {
    let mut ahead = cursor.clone();
    ahead.skip_blanks();
    is_operator(symbol(ahead.rest()))
}
