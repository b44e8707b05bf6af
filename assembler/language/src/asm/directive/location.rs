//! Directives about place, radix and the source's end.

use crate::diag::Code;
use crate::listing::Control;
use crate::source::{Origin, Span};
use crate::syntax::{Cursor, lex};

use super::super::reader::Jump;
use super::super::statement::Ending;
use super::super::{Assembler, Interrupt, Step};
use super::Directive;

/// Files inserted deeper than this insert each other.
const MAX_INSERT_DEPTH: usize = 32;

impl Assembler<'_> {
    pub(super) fn location(&mut self, span: Span, cursor: &mut Cursor<'_>) -> Step<Ending> {
        self.emission.output.leave();
        self.parse_expression(0, cursor);
        if self.operands[0].ops.is_empty() {
            self.error(Code::Operand, span, "a location is missing; 0 is used");
        }
        let value = self.evaluate_now(0)?;
        self.record.line.value = Some(value.listed());
        self.emission.output.set_location(value);
        Ok(Ending::Open)
    }

    /// `.BLKB` and `.BLKW`. The original marks a size that overflows, and a counter that wraps.
    pub(super) fn reserve(
        &mut self,
        unit: u8,
        span: Span,
        cursor: &mut Cursor<'_>,
    ) -> Step<Ending> {
        self.parse_expression(0, cursor);
        if self.operands[0].ops.is_empty() {
            self.error(Code::Short, span, "a size is missing; 0 is used");
        }
        let value = self.evaluate_now(0)?;
        if !value.is_absolute() {
            let message = "a size must be a constant, but this moves with a section";
            self.error(Code::Relocation, self.operands[0].span, message);
        }
        // The original reserves nothing for a size that moves.
        let count = if value.is_absolute() { value.number } else { 0 };
        self.record.line.value = Some(self.emission.output.here().listed());
        let size = u32::from(count) * u32::from(unit);
        if size > 0xFFFF {
            let message = "the size is more than 65535 bytes, taken modulo 65536";
            self.error(Code::Size, self.operands[0].span, message);
        }
        if self.emission.output.reserve(size as u16) {
            let message = "the location counter passes FFFFH here; a negative size moves it back";
            self.error(Code::Size, self.operands[0].span, message);
        }
        Ok(Ending::Open)
    }

    /// `.RADIX`. Its operand is a plain number, always decimal unless a suffix says otherwise.
    pub(super) fn set_radix(&mut self, span: Span, cursor: &mut Cursor<'_>) -> Step<Ending> {
        cursor.skip_blanks();
        if cursor.at_statement_end() {
            self.error(Code::Short, span, "a radix is missing");
            return Ok(Ending::Open);
        }
        let start = cursor.offset();
        let message = "a radix is 2, 8, 10 or 16";
        match cursor.take(|rest| lex::number(rest, 10)).map(|number| number.value) {
            Some(radix @ (2 | 8 | 10 | 16)) => self.radix = radix as u8,
            Some(_) => self.error(Code::Operand, cursor.since(start), message),
            None => self.error(Code::Operand, cursor.here(), message),
        }
        Ok(Ending::Open)
    }

    /// `.END` and `.PRGEND`.
    pub(super) fn end(&mut self, directive: Directive, cursor: &mut Cursor<'_>) -> Step<Ending> {
        self.parse_expression(0, cursor);
        if !self.operands[0].ops.is_empty() {
            let span = self.operands[0].span;
            let evaluated = self.evaluate(0)?;
            self.emission.start = Some((evaluated, span));
            self.record.line.start = true;
        }
        self.end_statement(Code::Extra, cursor);
        if directive == Directive::ProgramEnd {
            self.next_module()?;
        } else {
            self.input.ended = true;
            self.input.jump = Some(Jump::End);
        }
        Ok(Ending::Complete)
    }

    /// `.INSERT file`: read as if it stood here.
    pub(super) fn insert(&mut self, span: Span, cursor: &mut Cursor<'_>) -> Step<Ending> {
        cursor.skip_blanks();
        let rest = cursor.rest();
        let length =
            rest.iter().position(|byte| matches!(byte, b'\n' | b'\r' | b';')).unwrap_or(rest.len());
        let name = String::from_utf8_lossy(rest[..length].trim_ascii()).into_owned();
        let at = Span::new(cursor.offset(), cursor.offset() + name.len() as u32);
        cursor.advance(length);
        if name.is_empty() {
            self.error(Code::File, span, "the name of the file is missing");
        } else if self.input.insert_depth() >= MAX_INSERT_DEPTH {
            self.error(Code::File, at, "files are inserted too deep");
        } else {
            self.insert_named(&name, at);
        }
        Ok(Ending::Open)
    }

    fn insert_named(&mut self, name: &str, at: Span) {
        let Some(path) = self.input.find_insert(name) else {
            let message = format!("cannot find {name}, nor {name}.ASM");
            let diagnostic = crate::diag::Diagnostic::new(Code::File, at, message);
            return self.report(diagnostic.help("-I FOLDER adds a folder to search"));
        };
        let shown = path.display().to_string();
        if self.input.is_open(&shown) {
            return self.error(Code::File, at, format!("{name} inserts itself"));
        }
        let frame = self.open_file(&path, Origin::Insert(at), at);
        self.input.jump = frame.map(Jump::Into);
    }

    /// `.PRGEND` ends a module, and the next begins with a clean table.
    fn next_module(&mut self) -> Step {
        self.finish_module();
        if self.reports.ends_only_pass() {
            return Err(Interrupt::TwoPasses);
        }
        self.reset_module();
        self.input.forget_blocks();
        Ok(())
    }

    /// `.IDENT name`.
    pub(super) fn ident(&mut self, span: Span, cursor: &mut Cursor<'_>) -> Step<Ending> {
        cursor.skip_blanks();
        match cursor.take(lex::symbol) {
            Some(name) => {
                let name = String::from_utf8_lossy(name).to_ascii_uppercase();
                self.control(Control::Ident(name.clone()));
                self.record.line.control = false;
                self.naming.module_name = Some(name);
            }
            None if cursor.at_statement_end() => {
                self.error(Code::Short, span, "the name of the module is missing");
            }
            None => self.error(Code::Operand, cursor.here(), "a name begins with no digit"),
        }
        Ok(Ending::Open)
    }
}
