//! Directives about place, radix and the source's end.

use crate::diag::Code;
use crate::listing::Control;
use crate::source::{Origin, Span};
use crate::syntax::{Cursor, lex};

use super::super::reader::Jump;
use super::super::{Assembler, Interrupt, Step};
use super::Directive;

/// Files inserted deeper than this insert each other.
const MAX_INSERT_DEPTH: usize = 32;

impl Assembler<'_> {
    /// Reads one expression; says so if there is none.
    fn required_expression(&mut self, span: Span, cursor: &mut Cursor<'_>) -> bool {
        self.parse_expression(0, cursor);
        let missing = self.operands[0].ops.is_empty();
        if missing {
            self.error(Code::Expression, span, "a value is missing");
        }
        !missing
    }

    pub(super) fn location(&mut self, span: Span, cursor: &mut Cursor<'_>) -> Step {
        if self.required_expression(span, cursor)
            && let Some(value) = self.known_value(0, "a location")?
        {
            self.line.value = Some(value.listed());
            self.output.set_location(value);
        }
        Ok(())
    }

    pub(super) fn reserve(&mut self, unit: u8, span: Span, cursor: &mut Cursor<'_>) -> Step {
        if self.required_expression(span, cursor)
            && let Some(count) = self.known_operand(0, "a size")?
        {
            self.output.reserve(i32::from(count) * i32::from(unit));
        }
        Ok(())
    }

    /// The operand of `.RADIX` is always decimal.
    pub(super) fn set_radix(&mut self, span: Span, cursor: &mut Cursor<'_>) -> Step {
        let radix = std::mem::replace(&mut self.radix, 10);
        let found = self.required_expression(span, cursor);
        self.radix = radix;
        if !found {
            return Ok(());
        }
        match self.known_operand(0, "a radix")? {
            Some(radix @ (2 | 8 | 10 | 16)) => self.radix = radix as u8,
            Some(_) => {
                let span = self.operands[0].span;
                self.error(Code::Operand, span, "a radix is 2, 8, 10 or 16");
            }
            None => {}
        }
        Ok(())
    }

    /// `.END` and `.PRGEND`.
    pub(super) fn end(&mut self, directive: Directive, cursor: &mut Cursor<'_>) -> Step {
        self.parse_expression(0, cursor);
        if !self.operands[0].ops.is_empty() {
            let span = self.operands[0].span;
            let evaluated = self.evaluate(0)?;
            self.start = Some((evaluated, span));
        }
        if directive == Directive::ProgramEnd {
            self.next_module()?;
        } else {
            self.ended = true;
            self.jump = Some(Jump::End);
        }
        Ok(())
    }

    /// `.INSERT file`: read as if it stood here.
    pub(super) fn insert(&mut self, span: Span, cursor: &mut Cursor<'_>) -> Step {
        cursor.skip_blanks();
        let rest = cursor.rest();
        let length =
            rest.iter().position(|byte| matches!(byte, b'\n' | b'\r' | b';')).unwrap_or(rest.len());
        let name = String::from_utf8_lossy(rest[..length].trim_ascii()).into_owned();
        let at = Span::new(cursor.offset(), cursor.offset() + name.len() as u32);
        cursor.advance(length);
        if name.is_empty() {
            self.error(Code::File, span, "the name of the file is missing");
        } else if self.reader.insert_depth() >= MAX_INSERT_DEPTH {
            self.error(Code::File, at, "files are inserted too deep");
        } else {
            self.insert_named(&name, at);
        }
        Ok(())
    }

    fn insert_named(&mut self, name: &str, at: Span) {
        let Some(path) = self.find_insert(name) else {
            let message = format!("cannot find {name}, nor {name}.ASM");
            let diagnostic = crate::diag::Diagnostic::new(Code::File, at, message);
            return self.report(diagnostic.help("-I FOLDER adds a folder to search"));
        };
        let shown = path.display().to_string();
        if self.reader.open_sources().any(|open| *self.sources.get(open).name == *shown) {
            return self.error(Code::File, at, format!("{name} inserts itself"));
        }
        let frame = self.open_file(&path, Origin::Insert(at), at);
        self.jump = frame.map(Jump::Into);
    }

    /// `.PRGEND` ends a module, and the next begins with a clean table.
    fn next_module(&mut self) -> Step {
        if self.guessed_wrong() {
            return Err(Interrupt::TwoPasses);
        }
        self.finish_module();
        self.reset_module();
        Ok(())
    }

    /// `.IDENT name`.
    pub(super) fn ident(&mut self, span: Span, cursor: &mut Cursor<'_>) -> Step {
        cursor.skip_blanks();
        match cursor.take(lex::symbol) {
            Some(name) => {
                let name = String::from_utf8_lossy(name).to_ascii_uppercase();
                self.control(Control::Ident(name.clone()));
                self.line.control = false;
                self.module_name = Some(name);
            }
            None => self.error(Code::Operand, span, "the name of the module is missing"),
        }
        Ok(())
    }
}
