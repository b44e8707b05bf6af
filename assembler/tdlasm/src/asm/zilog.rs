//! Reads statements in Zilog's notation: labels with and without colon, assignments, operators.
//!
//! The statements are the same as TDL's and the instructions are the forms of the one table; only
//! how they are written differs. `.ZOP` and `.EPOP` let TDL's statements have such operators, with
//! TDL's expressions in their operands.

mod blocks;
mod body;
mod directive;
mod instruction;

pub(super) use blocks::report_open;

use super::assembler::Assembler;
use super::name_table::NameId;
use super::options::Notation;
use super::statement_end::{StatementAbort, StatementEnd, StatementResult};
use super::symbol::{Symbol, SymbolKind};
use super::value::Value;
use crate::diag::DiagnosticCode;
use crate::isa::zilog::forms;
use crate::source::Span;
use crate::syntax::Cursor;
use crate::syntax::expr::Intern;
use crate::syntax::zilog::{
    self, Directive, Field, code_length, defining_directive, field, split_operands,
};

/// An operand: its text without blanks around it, and its offset in the source map.
#[derive(Debug, Clone, Copy)]
struct Operand<'t> {
    text: &'t [u8],
    at: u32,
}

impl<'t> Operand<'t> {
    /// Creates an operand of a text at an offset, without the blanks around it.
    fn trimmed(text: &'t [u8], at: u32) -> Self {
        let blanks = text.len() - text.trim_ascii_start().len();
        Self { text: text.trim_ascii(), at: at + blanks as u32 }
    }

    fn span(self) -> Span {
        Span::new(self.at, self.at + self.text.len() as u32)
    }

    /// Returns a part of the operand that its text contains.
    fn part(self, part: &'t [u8]) -> Self {
        let offset = part.as_ptr() as usize - self.text.as_ptr() as usize;
        Self { text: part, at: self.at + offset as u32 }
    }
}

/// Reads one statement and the rest of its line.
pub(super) fn fields(asm: &mut Assembler<'_>, cursor: &mut Cursor<'_>) -> StatementResult {
    let mut begins_line = true;
    loop {
        let is_macro = |word: &[u8]| macro_of(asm, word).is_some();
        let Some((word, span, field)) = field(cursor, begins_line, is_macro) else {
            if !cursor.at_statement_end() {
                let message = "no label or operator begins like this";
                asm.error(DiagnosticCode::Stray, cursor.here(), message);
                cursor.skip_to_line_end();
            }
            break;
        };
        begins_line = false;
        match field {
            Field::Label(exported) => {
                label(asm, word, span, exported);
                continue;
            }
            Field::Defined(directive, _) => {
                let name = asm.names.intern(word);
                asm.statement.operator = span;
                define(asm, name, span, directive, cursor);
            }
            Field::Operator => {
                asm.statement.operator = span;
                asm.statement.location = asm.code.location();
                operator(asm, word, cursor)?;
            }
        }
        break;
    }
    cursor.skip_blanks();
    if asm.input.pending_change.is_none() && cursor.at_statement_end() {
        asm.next_line(cursor);
    }
    Ok(())
}

/// Executes an operator of Zilog's notation in TDL's, as far as `.ZOP` and `.EPOP` permit; `None` if
/// the word is none.
pub(super) fn operator_in_tdl(
    asm: &mut Assembler<'_>,
    name: NameId,
    span: Span,
    cursor: &mut Cursor<'_>,
) -> StatementResult<Option<StatementEnd>> {
    let word = asm.sources.slice(span).to_vec();
    if asm.module.has_zilog_directives
        && let Some((directive, _)) = defining_directive(cursor, true)
    {
        define(asm, name, span, directive, cursor);
    } else if asm.module.has_zilog_mnemonics && !forms(&word).is_empty() {
        instruction::instruction(asm, &word, cursor);
    } else if asm.module.has_zilog_directives
        && !word.starts_with(b".")
        && let Some(directive) = Directive::from_word(&word)
    {
        directive::directive(asm, directive, cursor)?;
    } else {
        return Ok(None);
    }
    match asm.input.pending_change {
        None => Ok(Some(StatementEnd::CheckRest)),
        Some(_) => Ok(Some(StatementEnd::LineDone)),
    }
}

/// Defines a name by the directive behind it.
fn define(
    asm: &mut Assembler<'_>,
    name: NameId,
    span: Span,
    directive: Directive,
    cursor: &mut Cursor<'_>,
) {
    match directive {
        Directive::Macro => blocks::define_macro(asm, Some((name, span)), cursor),
        Directive::Constant => assign(asm, name, span, SymbolKind::Constant, cursor),
        _ => assign(asm, name, span, SymbolKind::Variable, cursor),
    }
}

fn label(asm: &mut Assembler<'_>, word: &[u8], span: Span, exported: bool) {
    let name = asm.names.intern(word);
    asm.recorder.statement.labelled = true;
    if exported {
        asm.export(name, span, false);
    }
    asm.define(name, asm.code.location(), SymbolKind::Label, span);
}

/// Gives a symbol a value. One of `EQU` may depend on symbols from further below, so that only the
/// second pass knows it.
fn assign(
    asm: &mut Assembler<'_>,
    name: NameId,
    span: Span,
    kind: SymbolKind,
    cursor: &mut Cursor<'_>,
) {
    asm.statement.location = asm.code.location();
    let [operand] = operands(cursor)[..] else {
        return asm.operator_error(DiagnosticCode::Operand, "one value is expected here");
    };
    let Some(value) = value(asm, operand) else { return };
    let entry = asm.names[name];
    let is_again = match entry.symbol {
        Symbol::Undefined => false,
        Symbol::Label(_) | Symbol::External(_) => true,
        Symbol::Variable(known) | Symbol::Constant(known) => {
            kind == SymbolKind::Constant && entry.is_defined_in(asm.pass) && known != value
        }
    };
    if is_again {
        return asm.report_redefinition(name, &entry, span);
    }
    let scope = asm.names.scope;
    asm.define(name, value, SymbolKind::Variable, span);
    asm.names.scope = scope;
    asm.recorder.statement.value = Some(value.reloc_value());
}

/// Returns the index of the macro with this name.
fn macro_of(asm: &mut Assembler<'_>, word: &[u8]) -> Option<u32> {
    let name = asm.names.intern(word);
    asm.names[name].macro_index
}

fn operator(asm: &mut Assembler<'_>, word: &[u8], cursor: &mut Cursor<'_>) -> StatementResult {
    if let Some(index) = macro_of(asm, word) {
        return blocks::call(asm, index, cursor);
    }
    if !forms(word).is_empty() {
        instruction::instruction(asm, word, cursor);
        return Ok(());
    }
    if let Some(directive) = Directive::from_word(word) {
        return directive::directive(asm, directive, cursor);
    }
    cursor.skip_to_line_end();
    let operator = asm.statement.operator;
    asm.unknown_operator(operator, b"", operator.end);
    Ok(())
}

/// Reads the operands, up to a comment.
fn operands<'t>(cursor: &mut Cursor<'t>) -> Vec<Operand<'t>> {
    let (code, at) = code(cursor);
    separate(code, at, false)
}

/// Reads the rest of the line up to a comment; also returns its offset.
fn code<'t>(cursor: &mut Cursor<'t>) -> (&'t [u8], u32) {
    let (rest, at) = (cursor.rest(), cursor.offset());
    let code = &rest[..code_length(rest)];
    cursor.advance(code.len());
    (code, at)
}

fn separate(code: &[u8], at: u32, angles: bool) -> Vec<Operand<'_>> {
    let operand = |(start, length): (usize, usize)| {
        Operand::trimmed(&code[start..start + length], at + start as u32)
    };
    split_operands(code, angles).into_iter().map(operand).collect()
}

/// Returns the value of an operand, or `None` after reporting that it has none.
fn value(asm: &mut Assembler<'_>, operand: Operand<'_>) -> Option<Value> {
    let mut cursor = Cursor::new(operand.text, operand.span().end);
    let expr = match asm.options.notation {
        Notation::Tdl | Notation::Pasm => asm.parse_expression(&mut cursor),
        Notation::Zilog => match zilog::parse(&mut cursor, &mut asm.names, &mut asm.reading.ops) {
            Ok(expr) => expr,
            Err((span, message)) => {
                asm.error(DiagnosticCode::Expression, span, message);
                return None;
            }
        },
    };
    if expr.count == 0 || !cursor.rest().is_empty() {
        let message = "a comma or an operator is missing here";
        asm.error(DiagnosticCode::Expression, cursor.gap(), message);
        return None;
    }
    if asm.recorder.keeps_references && asm.options.notation == Notation::Zilog {
        asm.record_operand_references(&expr);
    }
    match asm.evaluate(&expr) {
        Ok(value) => Some(value),
        Err(StatementAbort::Expand(name, at)) => {
            let span = asm.symbol_span(at);
            asm.symbol_error(DiagnosticCode::Operand, name, span, "is a macro and has no value");
            None
        }
        Err(StatementAbort::Stop) => None,
    }
}

/// Returns the value of an operand that must not be relocatable.
fn constant(asm: &mut Assembler<'_>, operand: Operand<'_>) -> Option<u16> {
    let value = value(asm, operand)?;
    if !value.is_absolute() {
        let message = "a constant is expected here, but this value is relocatable";
        asm.error(DiagnosticCode::Relocation, operand.span(), message);
        return None;
    }
    Some(value.number)
}
