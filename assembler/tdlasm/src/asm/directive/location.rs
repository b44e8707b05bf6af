//! Directives for the location counter, the radix, included files and the end of the source.

use std::path::{Path, PathBuf};

use super::super::assembler::Assembler;
use super::super::input::InputChange;
use super::super::lints;
use super::super::slips;
use super::super::statement_end::{StatementEnd, StatementResult};
use super::misses_operand;
use crate::diag::DiagnosticCode;
use crate::listing::ListingControl;
use crate::source::{Origin, Span, find_inserted};
use crate::syntax::directive::Directive;
use crate::syntax::{Cursor, lex};

/// The maximum depth of `.INSERT`; deeper ones are endless recursion.
const MAX_INSERT_DEPTH: usize = 32;

pub(super) fn location(asm: &mut Assembler<'_>, cursor: &mut Cursor<'_>) -> StatementResult {
    asm.code.record_high_water();
    let expr = asm.parse_expression(cursor);
    if expr.count == 0 {
        asm.operator_error(DiagnosticCode::Operand, "a location is missing; 0 is used");
    }
    let value = asm.evaluate(&expr)?;
    asm.recorder.statement.value = Some(value.reloc_value());
    lints::lint_decimal_address(asm, &expr);
    asm.code.set_location(value);
    Ok(())
}

/// Executes `.BLKB` or `.BLKW`. ZASM marks a size that overflows, and a counter that wraps.
pub(super) fn reserve(
    asm: &mut Assembler<'_>,
    unit: u8,
    cursor: &mut Cursor<'_>,
) -> StatementResult {
    let expr = asm.parse_expression(cursor);
    if expr.count == 0 {
        asm.operator_error(DiagnosticCode::MissingOperand, "a size is missing; 0 is used");
    }
    let value = asm.evaluate(&expr)?;
    if !value.is_absolute() {
        let message = "a size must be a constant, but this value is relocatable";
        asm.error(DiagnosticCode::Relocation, expr.span, message);
    }
    // ZASM reserves nothing for a relocatable size.
    let count = if value.is_absolute() { value.number } else { 0 };
    asm.recorder.statement.value = Some(asm.code.location().reloc_value());
    let size = u32::from(count) * u32::from(unit);
    if size > 0xFFFF {
        let message = "the size is more than 65535 bytes, taken modulo 65536";
        asm.error(DiagnosticCode::Size, expr.span, message);
    }
    if asm.code.reserve(size as u16, unit) {
        let message = "the location counter passes FFFFH here; a negative size moves it back";
        asm.error(DiagnosticCode::Size, expr.span, message);
    }
    Ok(())
}

/// Executes `.RADIX`. Its operand is a number, always decimal unless it has a suffix.
pub(super) fn set_radix(asm: &mut Assembler<'_>, cursor: &mut Cursor<'_>) {
    if misses_operand(asm, cursor, "a radix is missing") {
        return;
    }
    let start = cursor.offset();
    let message = "a radix is 2, 8, 10 or 16";
    match cursor.take(|rest| lex::number(rest, 10)).map(|number| number.value) {
        Some(radix @ (2 | 8 | 10 | 16)) => asm.module.radix = radix as u8,
        Some(_) => asm.error(DiagnosticCode::Operand, cursor.since(start), message),
        None => asm.error(DiagnosticCode::Operand, cursor.here(), message),
    }
}

/// Executes `.END` or `.PRGEND`.
pub(super) fn end(
    asm: &mut Assembler<'_>,
    directive: Directive,
    cursor: &mut Cursor<'_>,
) -> StatementResult<StatementEnd> {
    let expr = asm.parse_expression(cursor);
    if expr.count > 0 {
        asm.module.start_address = Some(asm.evaluate(&expr)?);
        asm.recorder.statement.start = true;
    }
    asm.end_statement(DiagnosticCode::TrailingText, cursor);
    slips::lint_open_block(asm);
    if directive == Directive::ProgramEnd {
        asm.finish_module();
        asm.begin_next_module();
        asm.input.reset_blocks();
    } else {
        slips::lint_after_end(asm, cursor);
        asm.input.ended = true;
        asm.input.pending_change = Some(InputChange::End);
    }
    Ok(StatementEnd::LineDone)
}

pub(super) fn insert(asm: &mut Assembler<'_>, cursor: &mut Cursor<'_>) {
    cursor.skip_blanks();
    let text = cursor.rest_of_statement();
    let name = String::from_utf8_lossy(text.trim_ascii()).into_owned();
    let at = Span::new(cursor.offset(), cursor.offset() + name.len() as u32);
    cursor.advance(text.len());
    match name.is_empty() {
        true => asm.operator_error(DiagnosticCode::File, "the name of the file is missing"),
        false => insert_named(asm, &name, at),
    }
}

/// Makes a file the next input.
pub(in super::super) fn insert_named(asm: &mut Assembler<'_>, name: &str, at: Span) {
    if asm.input.insert_depth() >= MAX_INSERT_DEPTH {
        return asm.error(DiagnosticCode::File, at, "files are nested too deep");
    }
    let Some(path) = find_file(asm, name, at) else { return };
    let shown = path.display().to_string();
    if asm.input.is_open(&asm.sources, &shown) {
        return asm.error(DiagnosticCode::File, at, format!("{name} includes itself"));
    }
    let frame = asm.open_file(&path, Origin::Insert(at), at);
    asm.input.pending_change = frame.map(InputChange::Into);
}

/// Finds a file that the source names; `None` after reporting that there is none.
pub(in super::super) fn find_file(
    asm: &mut Assembler<'_>,
    name: &str,
    at: Span,
) -> Option<PathBuf> {
    let include_dirs = asm.options.include_dirs.iter().map(PathBuf::as_path);
    let folders: Vec<&Path> =
        asm.input.folder(&asm.sources).into_iter().chain(include_dirs).collect();
    let found = find_inserted(asm.loader, &folders, name).map(|(_, path)| path);
    if found.is_none() {
        let message = format!("cannot find {name}, nor {name}.ASM");
        let help = "-I FOLDER adds a folder to search";
        asm.error_with_help(DiagnosticCode::File, at, message, help);
    }
    found
}

pub(super) fn ident(asm: &mut Assembler<'_>, cursor: &mut Cursor<'_>) {
    cursor.skip_blanks();
    match cursor.take(lex::symbol) {
        Some(name) => {
            let name = String::from_utf8_lossy(name).to_ascii_uppercase();
            asm.recorder.control(ListingControl::Ident(name.clone()));
            asm.recorder.statement.control = false;
            asm.names.module_name = Some(name);
        }
        None if cursor.at_statement_end() => {
            let message = "the name of the module is missing";
            asm.operator_error(DiagnosticCode::MissingOperand, message);
        }
        None => {
            asm.error(DiagnosticCode::Operand, cursor.here(), "a name cannot begin with a digit")
        }
    }
}
