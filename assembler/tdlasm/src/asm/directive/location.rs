//! Directives for the location counter, the radix, included files and the end of the source.

use super::super::directive_table::Directive;
use super::super::input::InputChange;
use super::super::pass::{StatementEnd, StatementResult};
use super::reader::DirectiveReader;
use crate::diag::DiagnosticCode;
use crate::listing::ListingControl;
use crate::source::{Origin, Span};
use crate::syntax::{Cursor, lex};

/// The maximum depth of `.INSERT`; deeper ones are endless recursion.
const MAX_INSERT_DEPTH: usize = 32;

impl DirectiveReader<'_, '_> {
    pub(super) fn location(
        &mut self,
        span: Span,
        cursor: &mut Cursor<'_>,
    ) -> StatementResult<StatementEnd> {
        self.asm.module.code.output.record_high_water();
        self.asm.module.parse_expression(0, cursor);
        if self.asm.module.operands[0].ops.is_empty() {
            self.asm.error(DiagnosticCode::Operand, span, "a location is missing; 0 is used");
        }
        let value = self.asm.module.evaluate(0)?;
        self.asm.module.context.recorder.line.value = Some(value.reloc_value());
        self.asm.module.lint_decimal_address();
        self.asm.module.code.output.set_location(value);
        Ok(StatementEnd::Open)
    }

    /// Executes `.BLKB` or `.BLKW`. ZASM marks a size that overflows, and a counter that wraps.
    pub(super) fn reserve(
        &mut self,
        unit: u8,
        span: Span,
        cursor: &mut Cursor<'_>,
    ) -> StatementResult<StatementEnd> {
        self.asm.module.parse_expression(0, cursor);
        if self.asm.module.operands[0].ops.is_empty() {
            self.asm.error(DiagnosticCode::MissingOperand, span, "a size is missing; 0 is used");
        }
        let value = self.asm.module.evaluate(0)?;
        if !value.is_absolute() {
            let message = "a size must be a constant, but this value is relocatable";
            self.asm.error(DiagnosticCode::Relocation, self.asm.module.operands[0].span, message);
        }
        // ZASM reserves nothing for a relocatable size.
        let count = if value.is_absolute() { value.number } else { 0 };
        self.asm.module.context.recorder.line.value =
            Some(self.asm.module.code.output.location().reloc_value());
        let size = u32::from(count) * u32::from(unit);
        if size > 0xFFFF {
            let message = "the size is more than 65535 bytes, taken modulo 65536";
            self.asm.error(DiagnosticCode::Size, self.asm.module.operands[0].span, message);
        }
        if self.asm.module.code.output.reserve(size as u16) {
            let message = "the location counter passes FFFFH here; a negative size moves it back";
            self.asm.error(DiagnosticCode::Size, self.asm.module.operands[0].span, message);
        }
        Ok(StatementEnd::Open)
    }

    /// Executes `.RADIX`. Its operand is a number, always decimal unless it has a suffix.
    pub(super) fn set_radix(
        &mut self,
        span: Span,
        cursor: &mut Cursor<'_>,
    ) -> StatementResult<StatementEnd> {
        cursor.skip_blanks();
        if cursor.at_statement_end() {
            self.asm.error(DiagnosticCode::MissingOperand, span, "a radix is missing");
            return Ok(StatementEnd::Open);
        }
        let start = cursor.offset();
        let message = "a radix is 2, 8, 10 or 16";
        match cursor.take(|rest| lex::number(rest, 10)).map(|number| number.value) {
            Some(radix @ (2 | 8 | 10 | 16)) => self.asm.module.radix = radix as u8,
            Some(_) => self.asm.error(DiagnosticCode::Operand, cursor.since(start), message),
            None => self.asm.error(DiagnosticCode::Operand, cursor.here(), message),
        }
        Ok(StatementEnd::Open)
    }

    /// Executes `.END` or `.PRGEND`.
    pub(super) fn end(
        &mut self,
        directive: Directive,
        cursor: &mut Cursor<'_>,
    ) -> StatementResult<StatementEnd> {
        self.asm.module.parse_expression(0, cursor);
        if !self.asm.module.operands[0].ops.is_empty() {
            self.asm.module.code.start_address = Some(self.asm.module.evaluate(0)?);
            self.asm.module.context.recorder.line.start = true;
        }
        self.asm.end_statement(DiagnosticCode::TrailingText, cursor);
        if directive == Directive::ProgramEnd {
            self.next_module();
        } else {
            self.asm.input.ended = true;
            self.asm.input.pending_change = Some(InputChange::End);
        }
        Ok(StatementEnd::Complete)
    }

    pub(super) fn insert(
        &mut self,
        span: Span,
        cursor: &mut Cursor<'_>,
    ) -> StatementResult<StatementEnd> {
        cursor.skip_blanks();
        let rest = cursor.rest();
        let length =
            rest.iter().position(|byte| matches!(byte, b'\n' | b'\r' | b';')).unwrap_or(rest.len());
        let name = String::from_utf8_lossy(rest[..length].trim_ascii()).into_owned();
        let at = Span::new(cursor.offset(), cursor.offset() + name.len() as u32);
        cursor.advance(length);
        if name.is_empty() {
            self.asm.error(DiagnosticCode::File, span, "the name of the file is missing");
        } else if self.asm.input.insert_depth() >= MAX_INSERT_DEPTH {
            self.asm.error(DiagnosticCode::File, at, "files are nested too deep");
        } else {
            self.insert_named(&name, at);
        }
        Ok(StatementEnd::Open)
    }

    fn insert_named(&mut self, name: &str, at: Span) {
        let Some(path) = self.asm.input.find_insert(&self.asm.module.context.sources, name) else {
            let message = format!("cannot find {name}, nor {name}.ASM");
            let diagnostic = crate::diag::Diagnostic::new(DiagnosticCode::File, at, message);
            return self.asm.report(diagnostic.help("-I FOLDER adds a folder to search"));
        };
        let shown = path.display().to_string();
        if self.asm.input.is_open(&self.asm.module.context.sources, &shown) {
            return self.asm.error(DiagnosticCode::File, at, format!("{name} includes itself"));
        }
        let frame = self.asm.open_file(&path, Origin::Insert(at), at);
        self.asm.input.pending_change = frame.map(InputChange::Into);
    }

    /// Ends the module and begins the next, for `.PRGEND`.
    fn next_module(&mut self) {
        self.asm.finish_module();
        self.asm.module.begin_next();
        self.asm.input.reset_blocks();
    }

    pub(super) fn ident(
        &mut self,
        span: Span,
        cursor: &mut Cursor<'_>,
    ) -> StatementResult<StatementEnd> {
        cursor.skip_blanks();
        match cursor.take(lex::symbol) {
            Some(name) => {
                let name = String::from_utf8_lossy(name).to_ascii_uppercase();
                self.asm.module.context.control(ListingControl::Ident(name.clone()));
                self.asm.module.context.recorder.line.control = false;
                self.asm.module.symbols.module_name = Some(name);
            }
            None if cursor.at_statement_end() => {
                self.asm.error(
                    DiagnosticCode::MissingOperand,
                    span,
                    "the name of the module is missing",
                );
            }
            None => self.asm.error(
                DiagnosticCode::Operand,
                cursor.here(),
                "a name cannot begin with a digit",
            ),
        }
        Ok(StatementEnd::Open)
    }
}
