//! Reads definitions and calls of macros.

use std::borrow::Cow;
use std::sync::Arc;

use super::arguments::{self, Argument, closing_parenthesis};
use super::assembler::Assembler;
use super::code_buffer::UNKNOWN_OPERATOR;
use super::input::{Frame, FrameKind, InputChange, MacroCall, StatementPlace};
use super::macro_definition::{BodyPart, Macro, Parameter, split_body};
use super::name_table::NameId;
use super::options::Notation;
use super::statement_end::{StatementAbort, StatementEnd, StatementResult};
use crate::diag::DiagnosticCode;
use crate::references::{self, NameKind, ReferenceRole};
use crate::source::{Origin, Span, line_starts};
use crate::syntax::expr::Intern;
use crate::syntax::{Cursor, lex};

const MACRO_FORM: &str =
    "a macro has the form .DEFINE NAME[PARAMETERS]=[TEXT], a constant NAME = VALUE";

/// The maximum depth of nested calls; deeper ones are endless recursion.
const MAX_DEPTH: usize = 4096;
/// The maximum size of all macro texts of a run, in bytes. Each call counts [`CALL_COST`] more.
const MAX_TEXT: usize = 1 << 26;
const CALL_COST: usize = 128;
/// The maximum size in bytes of the macro texts open at a time, which can grow at every level.
const MAX_OPEN: usize = 1 << 21;

/// Reads `.DEFINE NAME[A,B]=[text]`.
pub(super) fn define_macro(asm: &mut Assembler<'_>, cursor: &mut Cursor<'_>) -> StatementEnd {
    cursor.skip_blanks();
    let start = cursor.offset();
    let Some(word) = cursor.take(lex::symbol) else {
        asm.operator_error(DiagnosticCode::Operand, "the name of the macro is missing");
        return StatementEnd::CheckRest;
    };
    let place = cursor.since(start);
    let name = asm.names.intern(word);
    let Some(parameters) = parameters(asm, cursor) else { return StatementEnd::CheckRest };
    let Some(body) = macro_body(asm, cursor) else { return StatementEnd::LineDone };
    let significant = |word: &[u8]| asm.names.significant(word);
    let (parts, used) = split_body(asm.sources.slice(body), body.start, &parameters, significant);
    if asm.recorder.keeps_references {
        asm.recorder.reference(name, place, ReferenceRole::Definition);
        let declared: Vec<Span> = parameters.iter().map(|one| one.place).collect();
        record_parameters(asm, &declared, &used);
    }
    let name_text = asm.names.spelling(name).into();
    let source = asm.sources.source_at(body.start);
    let (text, base) = (Arc::clone(&source.text), source.base);
    asm.add_macro(name, Macro { name: name_text, parameters, text, base, parts, place });
    StatementEnd::CheckRest
}

/// Records the parameters of a macro: their declarations and, by index, their uses.
fn record_parameters(asm: &mut Assembler<'_>, declared: &[Span], used: &[(usize, Span)]) {
    let references = &mut asm.recorder.references;
    let first = references.names.len() as u32;
    for span in declared {
        let spelling = asm.names.significant(asm.sources.slice(*span));
        let module = asm.modules.len() as u32;
        let kind = NameKind::Parameter;
        let value = None;
        let name = references::Name { spelling, kind, value, exported: false, local: true, module };
        references.names.push(name);
    }
    let role = ReferenceRole::Definition;
    let declared = (first..).zip(declared).map(|(name, span)| (name, *span, role));
    let used = used.iter().map(|(at, span)| (first + *at as u32, *span, ReferenceRole::Use));
    let entries =
        declared.chain(used).map(|(name, span, role)| references::Reference { name, span, role });
    references.entries.extend(entries);
}

fn parameters(asm: &mut Assembler<'_>, cursor: &mut Cursor<'_>) -> Option<Vec<Parameter>> {
    cursor.skip_blanks();
    let mut parameters = Vec::new();
    if cursor.peek() != Some(b'[') {
        return Some(parameters);
    }
    let Some(close) = asm.closing_bracket(cursor) else {
        asm.unclosed(cursor);
        return None;
    };
    cursor.advance(1);
    while cursor.offset() < close {
        cursor.skip_blanks();
        let start = cursor.offset();
        let Some(name) = cursor.take(lex::symbol) else {
            if cursor.offset() != close {
                let message = "the name of an argument is missing";
                asm.error(DiagnosticCode::MacroForm, cursor.here(), message);
            }
            break;
        };
        let place = cursor.since(start);
        let default = default_text(asm, cursor);
        let created = name.starts_with(b"%");
        parameters.push(Parameter { name: name.to_vec(), place, default, created });
        cursor.skip_blanks();
        if !cursor.eat(b',') {
            break;
        }
    }
    if cursor.offset() != close {
        let message = "a comma or a closing bracket is missing";
        asm.error(DiagnosticCode::MacroForm, cursor.here(), message);
    }
    cursor.move_to(close + 1);
    Some(parameters)
}

fn default_text(asm: &mut Assembler<'_>, cursor: &mut Cursor<'_>) -> Vec<u8> {
    cursor.skip_blanks();
    if cursor.peek() != Some(b'(') {
        return Vec::new();
    }
    let text = cursor.rest();
    let Some(end) = closing_parenthesis(text) else {
        asm.error(DiagnosticCode::MacroForm, cursor.here(), "this parenthesis is not closed");
        return Vec::new();
    };
    cursor.advance_lines(end + 1);
    text[1..end].to_vec()
}

/// Reads the text in brackets after the `=`, which may be on a later line. If the bracket is
/// missing ZASM continues to search, over any text in between.
fn macro_body(asm: &mut Assembler<'_>, cursor: &mut Cursor<'_>) -> Option<Span> {
    let before = cursor.here();
    let line_end = memchr::memchr2(b'\n', b'\r', cursor.rest()).unwrap_or(usize::MAX);
    let equals = memchr::memchr(b'=', cursor.rest()).unwrap_or(0);
    let Some(bracket) = memchr::memchr(b'[', &cursor.rest()[equals..]) else {
        let message = "the macro's text in brackets is missing";
        asm.error_with_help(DiagnosticCode::Unterminated, before, message, MACRO_FORM);
        cursor.advance_lines(cursor.rest().len());
        return None;
    };
    let open = equals + bracket;
    if !only_comments_after_equals(cursor.rest()[..open].trim_ascii()) {
        let message = "the macro's text in brackets is missing here; the next bracket is used";
        asm.error_with_help(DiagnosticCode::MacroGap, before, message, MACRO_FORM);
    }
    cursor.advance_lines(open);
    if open > line_end {
        asm.sink.next_row();
    }
    let start = cursor.offset() + 1;
    let Some(close) = asm.closing_bracket(cursor) else {
        asm.unclosed(cursor);
        return None;
    };
    cursor.move_to(close + 1);
    let body = Span::new(start, close);
    asm.warn_of_brackets(body);
    if memchr::memchr2(b'\n', b'\r', asm.sources.slice(body)).is_some() {
        asm.sink.next_row();
    }
    Some(body)
}

/// Expands a macro call in an operand, and reads the statement again with the macro's text.
pub(super) fn expand_in_operand(
    asm: &mut Assembler<'_>,
    name: NameId,
    head: Span,
    cursor: &mut Cursor<'_>,
) -> StatementResult {
    let Some(index) = asm.names[name].macro_index else { return Ok(()) };
    let span = asm.symbol_span(head.end);
    cursor.move_to(span.end);
    expand(asm, index, Some(head), span, cursor)
}

/// Makes the text of a macro the next input, after the `head` of the calling statement.
pub(super) fn expand(
    asm: &mut Assembler<'_>,
    index: u32,
    head: Option<Span>,
    span: Span,
    cursor: &mut Cursor<'_>,
) -> StatementResult {
    let arguments = arguments::arguments(asm, cursor)?;
    let definition = Arc::clone(&asm.names.macros[index as usize]);
    let given = arguments.len();
    let values = argument_values(asm, &definition, arguments);
    if !asm.is_pasm() {
        check_created(asm, &definition, given, cursor);
    }
    enter_text(asm, &definition, &[values], head, span, cursor)
}

/// Makes a text the next input that has the body of a macro once for each list of arguments.
pub(super) fn enter_text(
    asm: &mut Assembler<'_>,
    definition: &Macro,
    calls: &[Vec<Argument<'_>>],
    head: Option<Span>,
    span: Span,
    cursor: &mut Cursor<'_>,
) -> StatementResult {
    let length = |values: &Vec<Argument<'_>>| {
        let parts = definition.parts.iter().map(|part| match *part {
            BodyPart::Text(place) => (place.end - place.start) as usize,
            BodyPart::Argument(at) => values[at].text.len(),
        });
        parts.sum::<usize>()
    };
    let length: usize = calls.iter().map(length).sum();
    let call = Span::new(span.start, cursor.offset().max(span.end));
    check_size(asm, call, length)?;
    let mut expansion = Expansion {
        text: Vec::with_capacity(length),
        keeps_origins: asm.recorder.keeps_references,
        origins: Vec::new(),
        tail: None,
    };
    if let Some(head) = head {
        expansion.add(asm.sources.slice(head), Some(head));
    }
    for (piece, values) in
        calls.iter().flat_map(|values| definition.parts.iter().map(move |part| (part, values)))
    {
        match *piece {
            BodyPart::Text(place) => expansion.add(definition.text_of(place), Some(place)),
            BodyPart::Argument(at) => expansion.add(&values[at].text, values[at].place),
        }
    }
    let place = place_of_call(asm, call, cursor);
    add_tail(asm, &mut expansion, cursor);
    let count = u16::try_from(definition.parameters.len()).ok();
    enter(asm, Arc::clone(&definition.name), call, place, expansion, count)
}

/// Appends the rest of the calling line to the macro text: it continues the last statement,
/// unless that ends with its line.
fn add_tail(asm: &mut Assembler<'_>, expansion: &mut Expansion, cursor: &mut Cursor<'_>) {
    let ends_line = matches!(expansion.text.last(), Some(b'\n' | b'\r'));
    let mut after = cursor.clone();
    after.skip_blanks();
    let is_first = asm.input.macro_calls == 0;
    asm.input.macro_calls += 1;
    if ends_line && is_first && after.peek() == Some(b']') && !asm.is_pasm() {
        let message = "ZASM marks the bracket after the first call of a macro";
        asm.error(DiagnosticCode::TrailingText, after.here(), message);
    }
    if !ends_line {
        let (start, text) = (cursor.offset(), cursor.rest());
        cursor.skip_line();
        let tail = cursor.since(start);
        expansion.tail = Some(expansion.text.len());
        expansion.add(&text[..text.len() - cursor.rest().len()], Some(tail));
    }
}

/// If all arguments are given, ZASM assembles the parameter list behind the first `%`: it marks
/// each character of a default, and each further `%`. A small letter is an unknown operator, so
/// that the rest of the list is skipped.
fn check_created(asm: &mut Assembler<'_>, definition: &Macro, given: usize, cursor: &Cursor<'_>) {
    let parameters = &definition.parameters[..];
    let Some(first) = parameters.iter().position(|one| one.created) else { return };
    if given < parameters.len() {
        return;
    }
    let rest = &parameters[first + 1..];
    let is_operator = |one: &Parameter| one.default.iter().any(u8::is_ascii_lowercase);
    let operator = rest.iter().position(is_operator);
    let read = &rest[..operator.map_or(rest.len(), |at| at + 1)];
    let letters = |one: &Parameter| one.default.len() + usize::from(one.created);
    let count: usize = read.iter().map(letters).sum();
    if count > 0 {
        let message = match operator {
            Some(_) => "this call emits four zero bytes: a default follows a parameter with %",
            None => "a parameter with a default or a % follows one with %",
        };
        let at = cursor.since(cursor.offset().saturating_sub(1));
        asm.error_counted(DiagnosticCode::AfterCreated, at, message, count);
    }
    if operator.is_some() {
        asm.code.write(&UNKNOWN_OPERATOR);
    }
}

pub(super) fn argument_values<'t>(
    asm: &mut Assembler<'_>,
    definition: &'t Macro,
    mut values: Vec<Argument<'t>>,
) -> Vec<Argument<'t>> {
    values.truncate(definition.parameters.len());
    for parameter in &definition.parameters[values.len()..] {
        values.push(Argument::made(match parameter.created {
            true => Cow::Owned(asm.names.created_symbol()),
            false => Cow::Borrowed(&parameter.default[..]),
        }));
    }
    values
}

/// Stops endless recursion: reports a text of this length that would be too much.
fn check_size(asm: &mut Assembler<'_>, call: Span, length: usize) -> StatementResult {
    let nested = asm.input.macro_depth() >= MAX_DEPTH || asm.input.open_text + length > MAX_OPEN;
    if nested || asm.input.macro_text + length + CALL_COST > MAX_TEXT {
        let (file, line) = asm.sources.file_line(call.start);
        let message =
            format!("macros call each other endlessly, here from {}, line {line}", file.name);
        asm.error(DiagnosticCode::MacroLimit, call, message);
        return Err(StatementAbort::Stop);
    }
    Ok(())
}

fn enter(
    asm: &mut Assembler<'_>,
    name: Arc<str>,
    call: Span,
    place: StatementPlace,
    expansion: Expansion,
    parameter_count: Option<u16>,
) -> StatementResult {
    check_size(asm, call, expansion.text.len())?;
    asm.input.macro_text += expansion.text.len() + CALL_COST;
    let Expansion { text, origins, tail, .. } = expansion;
    let tail = tail.unwrap_or(text.len());
    let sources = &mut asm.sources;
    let Some(index) = sources.add_without_end(name, Origin::Macro(call), Arc::new(text)) else {
        return Err(StatementAbort::Stop);
    };
    if asm.recorder.keeps_references {
        let base = asm.sources.get(index).base;
        asm.recorder.references.expansions.push(references::Expansion { base, origins });
    }
    let mut frame = Frame::new(FrameKind::Macro, &asm.sources, index);
    frame.call = Some(place);
    frame.resume_at = tail;
    let call =
        |parameter_count| MacroCall { source: index as u32, parameter_count, temporaries: 0 };
    frame.macro_call = parameter_count.filter(|_| asm.is_pasm()).map(call);
    if asm.options.notation == Notation::Zilog {
        frame.outer_scope = Some(asm.names.begin_macro_scope(index));
    }
    frame.bracket_follows_call = memchr::memchr(b']', &frame.text[tail..]).is_some();
    asm.input.pending_change = Some(InputChange::Into(frame));
    Ok(())
}

/// Returns file and line of the end of a call, or of that around it. The cursor is behind it.
fn place_of_call(asm: &mut Assembler<'_>, call: Span, cursor: &Cursor<'_>) -> StatementPlace {
    let statement = asm.statement.place;
    let is_in_macro = asm.input.top().is_some_and(|frame| frame.call.is_some());
    if is_in_macro || cursor.lines() == statement.lines {
        return statement;
    }
    let end = call.end.saturating_sub(1).max(call.start);
    let (_, line) = asm.sources.file_line(end);
    StatementPlace { lines: line - 1, ..statement }
}

#[derive(Debug)]
struct Expansion {
    text: Vec<u8>,
    /// The offset at which the rest of the calling line begins.
    tail: Option<usize>,
    keeps_origins: bool,
    /// Where each part of the text was written.
    origins: Vec<references::TextOrigin>,
}

impl Expansion {
    fn add(&mut self, part: &[u8], origin: Option<Span>) {
        if self.keeps_origins {
            let at = self.text.len() as u32;
            self.origins.push(references::TextOrigin { at, origin });
        }
        self.text.extend_from_slice(part);
    }
}

/// Returns `true` if the text between name and bracket is an `=` followed only by comments.
fn only_comments_after_equals(between: &[u8]) -> bool {
    let Some(after) = between.strip_prefix(b"=") else { return false };
    let mut lines = after.split(|byte| matches!(byte, b'\n' | b'\r'));
    lines.all(|line| line.trim_ascii().is_empty() || line.trim_ascii().starts_with(b";"))
}

/// Executes PASM's `.GOTO LABEL`: continues behind `LABEL>` in the text of the innermost macro.
pub(super) fn goto(
    asm: &mut Assembler<'_>,
    cursor: &mut Cursor<'_>,
) -> StatementResult<StatementEnd> {
    cursor.skip_blanks();
    let start = cursor.offset();
    let wanted = cursor.take(lex::symbol).map(lex::packed);
    let span = cursor.since(start);
    // Each jump counts like a call, so that endless ones end.
    check_size(asm, span, 0)?;
    asm.input.macro_text += CALL_COST;
    let target = asm.input.macro_text_read().and_then(|text| jump_target(text, wanted?));
    match target {
        Some(pos) => asm.input.pending_change = Some(InputChange::Goto(pos)),
        None => {
            let message = "the macro has no line LABEL> of this name";
            asm.error(DiagnosticCode::Undefined, span, message);
            return Ok(StatementEnd::CheckRest);
        }
    }
    Ok(StatementEnd::LineDone)
}

/// Returns the offset behind `LABEL>` at the beginning of a line.
fn jump_target(text: &[u8], wanted: u32) -> Option<usize> {
    line_starts(text).into_iter().find_map(|start| {
        let mut cursor = Cursor::new(&text[start as usize..], text.len() as u32);
        cursor.skip_blanks();
        let is_wanted = cursor.take(lex::symbol).is_some_and(|word| lex::packed(word) == wanted);
        (is_wanted && cursor.eat_behind_blanks(b'>')).then(|| cursor.offset() as usize)
    })
}
