//! Conditionals, macros and repetitions in Zilog's notation, which end with words on lines of their
//! own.

use std::borrow::Cow;
use std::sync::Arc;

use super::super::arguments::Argument;
use super::super::assembler::Assembler;
use super::super::macro_definition::{Macro, Parameter};
use super::super::macros::{argument_values, enter_text};
use super::super::name_table::NameId;
use super::super::pass::Pass;
use super::super::statement_end::StatementResult;
use super::body::split_body;
use super::{Operand, code, constant, separate};
use crate::diag::DiagnosticCode;
use crate::references::ReferenceRole;
use crate::source::Span;
use crate::syntax::Cursor;
use crate::syntax::directive::Test;
use crate::syntax::expr::Intern;
use crate::syntax::zilog::{self, Directive, Repetition, directive_of};

/// Reads the condition of `IF` and the like, and skips the lines unless it has the wanted result.
pub(super) fn conditional(
    asm: &mut Assembler<'_>,
    test: Test,
    wanted: bool,
    cursor: &mut Cursor<'_>,
) {
    let at = asm.statement.operator.start;
    let holds = holds(asm, test, cursor) == wanted;
    if holds || skip_branch(asm, true, cursor) == Some(Directive::Else) {
        asm.input.open_block(at);
    }
}

fn holds(asm: &mut Assembler<'_>, test: Test, cursor: &mut Cursor<'_>) -> bool {
    let (code, at) = code(cursor);
    let arguments = separate(code, at, true);
    let number =
        |asm: &mut Assembler<'_>| constant(asm, Operand::trimmed(code, at)).unwrap_or(0) as i16;
    let text = |index: usize| arguments.get(index).map_or(&b""[..], |one| unbracketed(one.text));
    match test {
        Test::Zero => number(asm) == 0,
        Test::Positive => number(asm) > 0,
        Test::Negative => number(asm) < 0,
        Test::FirstPass => asm.pass == Pass::First,
        Test::Defined => is_defined(asm, text(0)),
        Test::Blank => text(0).is_empty(),
        Test::Identical => text(0) == text(1),
    }
}

fn is_defined(asm: &mut Assembler<'_>, word: &[u8]) -> bool {
    let name = asm.names.intern(word);
    let entry = asm.names[name];
    entry.symbol.is_defined() || entry.macro_index.is_some()
}

/// Skips lines up to the `ENDIF` of the block, or its `ELSE`; returns what was found.
fn skip_branch(
    asm: &mut Assembler<'_>,
    until_else: bool,
    cursor: &mut Cursor<'_>,
) -> Option<Directive> {
    let mut depth = 0;
    cursor.skip_line();
    while !cursor.rest().is_empty() {
        let directive = directive_of(cursor.rest()).map(|(directive, _)| directive);
        match directive {
            Some(Directive::If(..)) => depth += 1,
            Some(Directive::EndIf) if depth > 0 => depth -= 1,
            Some(Directive::EndIf) => {
                cursor.skip_to_line_end();
                return directive;
            }
            Some(Directive::Else) if depth == 0 && until_else => {
                cursor.skip_to_line_end();
                return directive;
            }
            _ => {}
        }
        cursor.skip_line();
    }
    asm.operator_error(DiagnosticCode::Unterminated, "this conditional has no ENDIF");
    None
}

/// Skips the lines behind an `ELSE` whose conditional holds.
pub(super) fn skip_else(asm: &mut Assembler<'_>, cursor: &mut Cursor<'_>) {
    end_if(asm);
    skip_branch(asm, false, cursor);
}

pub(super) fn end_if(asm: &mut Assembler<'_>) {
    if asm.input.innermost_block().is_none() {
        return asm.operator_error(DiagnosticCode::Operand, "there is no IF before this");
    }
    asm.input.close_block();
}

/// Reports the conditional that is open at the end of the program.
pub(in super::super) fn report_open(asm: &mut Assembler<'_>) {
    if let Some(at) = asm.input.innermost_block() {
        let message = "this conditional has no ENDIF";
        asm.error(DiagnosticCode::Unterminated, asm.symbol_span(at), message);
    }
}

/// Defines a macro: `NAME MACRO PARAMETERS`, or `MACRO NAME,PARAMETERS`.
pub(super) fn define_macro(
    asm: &mut Assembler<'_>,
    name: Option<(NameId, Span)>,
    cursor: &mut Cursor<'_>,
) {
    let mut words = parameter_words(cursor);
    let named = name.or_else(|| {
        let first = (!words.is_empty()).then(|| words.remove(0))?;
        Some((asm.names.intern(first.text), first.span()))
    });
    let parameters = words.iter().map(|word| parameter(*word, false)).collect();
    let Some((name, place)) = named else {
        return asm.operator_error(DiagnosticCode::Operand, "the name of the macro is missing");
    };
    asm.recorder.reference(name, place, ReferenceRole::Definition);
    let spelling = Arc::from(asm.names.spelling(name).as_str());
    if let Some(definition) = body(asm, spelling, parameters, place, cursor) {
        let scope = asm.names.scope;
        asm.add_macro(name, definition);
        asm.names.scope = scope;
    }
}

fn parameter(word: Operand<'_>, created: bool) -> Parameter {
    Parameter { name: word.text.to_vec(), place: word.span(), default: Vec::new(), created }
}

/// Reads words between commas or blanks, without a mark before them.
fn parameter_words<'t>(cursor: &mut Cursor<'t>) -> Vec<Operand<'t>> {
    let (code, at) = code(cursor);
    let mut words = Vec::new();
    let mut start = 0;
    while start < code.len() {
        let text = zilog::symbol(&code[start..]);
        if !text.is_empty() {
            words.push(Operand { text, at: at + start as u32 });
        }
        start += text.len().max(1);
    }
    words
}

/// Reads the lines up to `ENDM`, with the symbols that `LOCAL` names as further parameters.
fn body(
    asm: &mut Assembler<'_>,
    name: Arc<str>,
    mut parameters: Vec<Parameter>,
    place: Span,
    cursor: &mut Cursor<'_>,
) -> Option<Macro> {
    asm.next_line(cursor);
    let start = cursor.offset();
    let mut depth = 0;
    let end = loop {
        if cursor.rest().is_empty() {
            let message = "this macro or repetition has no ENDM";
            asm.operator_error(DiagnosticCode::Unterminated, message);
            return None;
        }
        match directive_of(cursor.rest()) {
            Some((Directive::Macro | Directive::Repeat(_), _)) => depth += 1,
            Some((Directive::EndMacro, at)) if depth == 0 => {
                // A label may stand before the end.
                let is_alone = cursor.rest()[..at].trim_ascii().is_empty();
                break cursor.offset() + if is_alone { 0 } else { at as u32 };
            }
            Some((Directive::EndMacro, _)) => depth -= 1,
            Some((Directive::Local, at)) if depth == 0 => {
                cursor.advance(at + zilog::symbol(&cursor.rest()[at..]).len());
                let words = parameter_words(cursor);
                parameters.extend(words.iter().map(|word| parameter(*word, true)));
            }
            _ => {}
        }
        cursor.skip_line();
    };
    cursor.skip_to_line_end();
    let is_case_sensitive = asm.options.case_sensitive;
    let text = asm.sources.slice(Span::new(start, end));
    let parts = split_body(text, start, &parameters, is_case_sensitive);
    let source = asm.sources.source_at(start);
    let (text, base) = (Arc::clone(&source.text), source.base);
    Some(Macro { name, parameters, text, base, parts, place })
}

/// Calls a macro.
pub(super) fn call(
    asm: &mut Assembler<'_>,
    index: u32,
    cursor: &mut Cursor<'_>,
) -> StatementResult {
    let span = asm.statement.operator;
    let definition = Arc::clone(&asm.names.macros[index as usize]);
    if asm.recorder.keeps_references {
        let name = asm.names.intern(definition.name.as_bytes());
        asm.recorder.reference(name, span, ReferenceRole::Use);
    }
    let (code, at) = code(cursor);
    let given = arguments(asm, separate(code, at, true));
    let values = all_values(asm, &definition, given);
    enter_text(asm, &definition, &[values], None, span, cursor)
}

fn arguments<'t>(asm: &mut Assembler<'_>, operands: Vec<Operand<'t>>) -> Vec<Argument<'t>> {
    let argument = |operand: Operand<'t>| {
        // In today's assemblers `%101` is a binary number.
        if let Some(number) = operand.text.strip_prefix(b"%")
            && zilog::number(operand.text).is_none()
            && let Some(value) = constant(asm, operand.part(number))
        {
            return Argument::made(value.to_string().into_bytes());
        }
        let text = unbracketed(operand.text);
        let place = Some(operand.part(text).span());
        Argument { text: Cow::Borrowed(text), place }
    };
    operands.into_iter().map(argument).collect()
}

/// Returns an argument without the angle brackets around it.
fn unbracketed(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"<").and_then(|rest| rest.strip_suffix(b">")).unwrap_or(text)
}

/// Returns the values of all parameters: further arguments are dropped, missing ones empty, and
/// symbols of `LOCAL` new.
fn all_values<'t>(
    asm: &mut Assembler<'_>,
    definition: &'t Macro,
    mut given: Vec<Argument<'t>>,
) -> Vec<Argument<'t>> {
    let own = definition.parameters.iter().filter(|one| !one.created).count();
    given.truncate(own);
    given.resize(own, Argument::made(Vec::new()));
    argument_values(asm, definition, given)
}

/// Reads `REPT`, `IRP` or `IRPC` and the lines up to `ENDM`, and repeats these.
pub(super) fn repeat(
    asm: &mut Assembler<'_>,
    repetition: Repetition,
    cursor: &mut Cursor<'_>,
) -> StatementResult {
    let span = asm.statement.operator;
    let (head, at) = code(cursor);
    let mut operands = separate(head, at, true);
    let mut parameters = Vec::new();
    if repetition != Repetition::Count && !operands.is_empty() {
        parameters.push(parameter(operands.remove(0), false));
    }
    let lists = match (repetition, operands.first()) {
        (Repetition::Count, Some(count)) => {
            vec![Vec::new(); constant(asm, *count).unwrap_or(0).into()]
        }
        (Repetition::Arguments, Some(first)) => {
            let list = unbracketed(first.text);
            // pasmo's list has no brackets.
            let items = match operands.len() {
                1 => separate(list, first.part(list).at, true),
                _ => operands,
            };
            arguments(asm, items).into_iter().map(|one| vec![one]).collect()
        }
        (Repetition::Characters, Some(first)) => {
            let letters = unbracketed(first.text).iter();
            letters.map(|byte| vec![Argument::made(vec![*byte])]).collect()
        }
        (_, None) => {
            asm.operator_error(DiagnosticCode::MissingOperand, "an operand is missing");
            Vec::new()
        }
    };
    let Some(definition) = body(asm, "REPT".into(), parameters, span, cursor) else {
        return Ok(());
    };
    let calls: Vec<_> = lists.into_iter().map(|list| all_values(asm, &definition, list)).collect();
    match calls.is_empty() || definition.parts.is_empty() {
        true => Ok(()),
        false => enter_text(asm, &definition, &calls, None, span, cursor),
    }
}

/// Leaves the text of the innermost macro or repetition, and the conditionals in it.
pub(super) fn exit_macro(asm: &mut Assembler<'_>, cursor: &mut Cursor<'_>) {
    if asm.input.macro_depth() == 0 {
        let message = "EXITM is outside of a macro or repetition";
        return asm.operator_error(DiagnosticCode::MacroForm, message);
    }
    cursor.advance_lines(cursor.rest().len());
    asm.input.leave_blocks();
}
