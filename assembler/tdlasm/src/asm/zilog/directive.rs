//! Directives of M80 and pasmo.

use super::super::assembler::Assembler;
use super::super::code_buffer::Field;
use super::super::directive::location;
use super::super::input::InputChange;
use super::super::statement_end::StatementResult;
use super::super::symbol::SymbolKind;
use super::super::value::{BaseId, Value};
use super::{Operand, assign, blocks, code, constant, operands, value};
use crate::diag::DiagnosticCode;
use crate::references::ReferenceRole;
use crate::source::{Origin, Span};
use crate::syntax::Cursor;
use crate::syntax::expr::Intern;
use crate::syntax::zilog::{self, Directive, quoted, symbol};

pub(super) fn directive(
    asm: &mut Assembler<'_>,
    directive: Directive,
    cursor: &mut Cursor<'_>,
) -> StatementResult {
    match directive {
        Directive::Bytes => bytes(asm, cursor),
        Directive::Words => words(asm, cursor),
        Directive::MarkedText => marked_text(asm, cursor),
        Directive::Reserve => reserve(asm, cursor),
        Directive::Align => align(asm, cursor),
        Directive::Origin => origin(asm, cursor),
        Directive::Segment(section) => select_section(asm, section),
        Directive::Common => common(asm, cursor),
        Directive::External | Directive::Global => symbols(asm, directive, cursor),
        Directive::ConstantBehind => constant_behind(asm, cursor),
        Directive::Include => include(asm, cursor),
        Directive::IncludeBinary => include_binary(asm, cursor),
        Directive::End => end(asm, cursor),
        Directive::Error => user_error(asm, cursor),
        Directive::If(test, wanted) => blocks::conditional(asm, test, wanted, cursor),
        Directive::Else => blocks::skip_else(asm, cursor),
        Directive::EndIf => blocks::end_if(asm),
        Directive::Macro => blocks::define_macro(asm, None, cursor),
        Directive::Repeat(repetition) => return blocks::repeat(asm, repetition, cursor),
        Directive::ExitMacro => blocks::exit_macro(asm, cursor),
        Directive::Constant | Directive::Variable => {
            asm.operator_error(DiagnosticCode::Operand, "the name of the symbol is missing");
            cursor.skip_to_line_end();
        }
        Directive::EndMacro => {
            asm.operator_error(DiagnosticCode::MacroForm, "there is no MACRO, REPT or IRP to end");
        }
        // The symbols were found when the macro was defined.
        Directive::Local | Directive::Ignored => cursor.skip_to_line_end(),
    }
    Ok(())
}

/// Returns the bytes of an operand that is a text as a whole.
fn text_of(operand: Operand<'_>) -> Option<Vec<u8>> {
    let (bytes, length) = quoted(operand.text)?;
    (length == operand.text.len()).then_some(bytes)
}

/// Reads the operands, of which there must be one.
fn required<'t>(asm: &mut Assembler<'_>, cursor: &mut Cursor<'t>) -> Vec<Operand<'t>> {
    let operands = operands(cursor);
    if operands.is_empty() {
        asm.operator_error(DiagnosticCode::MissingOperand, "an operand is missing");
    }
    operands
}

fn bytes(asm: &mut Assembler<'_>, cursor: &mut Cursor<'_>) {
    for operand in required(asm, cursor) {
        match text_of(operand) {
            Some(text) => drop(asm.code.write(&text)),
            None => field(asm, Field::Byte, operand),
        }
    }
}

fn words(asm: &mut Assembler<'_>, cursor: &mut Cursor<'_>) {
    asm.recorder.statement.words = true;
    for operand in required(asm, cursor) {
        field(asm, Field::Word, operand);
    }
}

fn field(asm: &mut Assembler<'_>, field: Field, operand: Operand<'_>) {
    let value = value(asm, operand).unwrap_or_default();
    asm.emit(field, value, operand.span());
}

fn marked_text(asm: &mut Assembler<'_>, cursor: &mut Cursor<'_>) {
    for operand in required(asm, cursor) {
        match text_of(operand) {
            Some(mut text) => {
                if let Some(last) = text.last_mut() {
                    *last |= 0x80;
                }
                asm.code.write(&text);
            }
            None => asm.error(DiagnosticCode::Operand, operand.span(), "DC takes texts in quotes"),
        }
    }
}

/// Reserves room, or fills it with a second operand.
fn reserve(asm: &mut Assembler<'_>, cursor: &mut Cursor<'_>) {
    let operands = required(asm, cursor);
    let Some(size) = operands.first().and_then(|size| constant(asm, *size)) else { return };
    match operands.get(1) {
        Some(filler) => fill(asm, size, *filler),
        None if asm.code.reserve(size, 1) => {
            let message = "the location counter passes FFFFH here";
            asm.error(DiagnosticCode::Size, operands[0].span(), message);
        }
        None => {}
    }
}

fn fill(asm: &mut Assembler<'_>, size: u16, filler: Operand<'_>) {
    let Some(byte) = constant(asm, filler) else { return };
    asm.code.write(&vec![byte as u8; size.into()]);
}

fn align(asm: &mut Assembler<'_>, cursor: &mut Cursor<'_>) {
    let operands = required(asm, cursor);
    let Some(unit) = operands.first().and_then(|unit| constant(asm, *unit)) else { return };
    let beyond = asm.code.counter().checked_rem(unit).unwrap_or(0);
    let room = if beyond == 0 { 0 } else { unit - beyond };
    match operands.get(1) {
        Some(filler) => fill(asm, room, *filler),
        None => drop(asm.code.reserve(room, 1)),
    }
}

/// Sets the address: an absolute one, until `CSEG` or the like selects a section.
fn origin(asm: &mut Assembler<'_>, cursor: &mut Cursor<'_>) {
    let operands = required(asm, cursor);
    asm.code.record_high_water();
    let Some(mut address) = operands.first().and_then(|address| value(asm, *address)) else {
        return;
    };
    if let (Some(section), true) = (asm.module.zilog_section, address.is_absolute()) {
        address = asm.code.address_in(section, address.number);
    }
    asm.recorder.statement.value = Some(address.reloc_value());
    asm.code.set_location(address);
}

fn select_section(asm: &mut Assembler<'_>, section: u8) {
    let section = BaseId(section.into());
    asm.code.record_high_water();
    asm.module.zilog_section = Some(section);
    asm.code.set_location(asm.code.area_end(section));
}

/// Selects a common area, whose name is between slashes.
fn common(asm: &mut Assembler<'_>, cursor: &mut Cursor<'_>) {
    let (code, at) = code(cursor);
    let trimmed = code.trim_ascii();
    let name = trimmed.strip_prefix(b"/").and_then(|rest| rest.strip_suffix(b"/"));
    let name = name.map_or(trimmed, <[u8]>::trim_ascii);
    let span = Span::new(at, at + code.len() as u32);
    let name = asm.names.intern(if name.is_empty() { b".BLNK." } else { name });
    asm.declare_external(name, span);
    asm.code.record_high_water();
    if let Some(area) = asm.names[name].symbol.value() {
        asm.module.zilog_section = Some(area.base);
        asm.code.set_location(Value::in_base(area.base, 0));
    }
}

fn symbols(asm: &mut Assembler<'_>, directive: Directive, cursor: &mut Cursor<'_>) {
    for operand in required(asm, cursor) {
        let span = operand.span();
        if operand.text.is_empty() || symbol(operand.text).len() != operand.text.len() {
            asm.error(DiagnosticCode::Operand, span, "a symbol is expected here");
            continue;
        }
        let name = asm.names.intern(operand.text);
        if directive == Directive::External {
            asm.recorder.reference(name, span, ReferenceRole::Declaration);
            asm.declare_external(name, span);
        } else {
            asm.recorder.reference(name, span, ReferenceRole::Use);
            let scope = asm.names.scope;
            asm.export_declared(name, span, false);
            asm.names.scope = scope;
        }
    }
}

/// Reads `DEFC NAME = value`.
fn constant_behind(asm: &mut Assembler<'_>, cursor: &mut Cursor<'_>) {
    cursor.skip_blanks();
    let start = cursor.offset();
    let word = symbol(cursor.rest());
    cursor.advance(word.len());
    let span = cursor.since(start);
    if word.is_empty() || !cursor.eat_behind_blanks(b'=') {
        cursor.skip_to_line_end();
        return asm.operator_error(DiagnosticCode::Operand, "the form is DEFC NAME = VALUE");
    }
    let name = asm.names.intern(word);
    assign(asm, name, span, SymbolKind::Constant, cursor);
}

/// Reads the name of a file.
fn file_name(asm: &mut Assembler<'_>, cursor: &mut Cursor<'_>) -> Option<(String, Span)> {
    let (code, at) = code(cursor);
    let span = Span::new(at, at + code.len() as u32);
    let name = String::from_utf8_lossy(zilog::file_name(code)).into_owned();
    if name.is_empty() {
        asm.operator_error(DiagnosticCode::File, "the name of the file is missing");
        return None;
    }
    Some((name, span))
}

fn include(asm: &mut Assembler<'_>, cursor: &mut Cursor<'_>) {
    if let Some((name, at)) = file_name(asm, cursor) {
        asm.next_line(cursor);
        location::insert_named(asm, &name, at);
    }
}

fn include_binary(asm: &mut Assembler<'_>, cursor: &mut Cursor<'_>) {
    let Some((name, at)) = file_name(asm, cursor) else { return };
    let Some(path) = location::find_file(asm, &name, at) else { return };
    match asm.loader.load(&path) {
        Ok(bytes) if bytes.len() <= 0x10000 => {
            // Without a text, to be among the files of the program.
            let shown = path.display().to_string();
            asm.sources.add(shown.as_str().into(), Origin::Insert(at), Vec::new());
            asm.code.write(&bytes);
        }
        Ok(_) => asm.error(DiagnosticCode::File, at, format!("{name} is larger than 64 KB")),
        Err(error) => asm.unreadable(&name, &error, at),
    }
}

fn end(asm: &mut Assembler<'_>, cursor: &mut Cursor<'_>) {
    if let Some(start) = operands(cursor).first()
        && let Some(value) = value(asm, *start)
    {
        asm.module.start_address = Some(value);
        asm.recorder.statement.start = true;
    }
    blocks::report_open(asm);
    asm.input.ended = true;
    asm.input.pending_change = Some(InputChange::End);
}

fn user_error(asm: &mut Assembler<'_>, cursor: &mut Cursor<'_>) {
    let (code, _) = code(cursor);
    let text = quoted(code.trim_ascii()).map_or_else(|| code.trim_ascii().to_vec(), |text| text.0);
    asm.operator_error(DiagnosticCode::User, String::from_utf8_lossy(&text).into_owned());
}
