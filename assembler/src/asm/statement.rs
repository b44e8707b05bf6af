//! One statement: labels, assignment or operator, comment.

use std::rc::Rc;

use crate::diag::{Code, Diagnostic};
use crate::isa::Clocks;
use crate::listing::{Code as CodePlace, Control, Listed, Statement};
use crate::references::Role;
use crate::source::Span;
use crate::syntax::expr::{Expr, Intern};
use crate::syntax::{Cursor, lex};

use super::names::{Definition, NameId, Operator, State};
use super::output::{Field, Made};
use super::reader::Jump;
use super::{Assembler, Interrupt, Step};

/// Words are shown up to this length in messages.
const MAX_SHOWN: usize = 40;

/// What the listing says of a statement besides its bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LineInfo {
    pub(super) clocks: Option<Clocks>,
    /// The value of an assignment or `.LOC`.
    pub(super) value: Option<Listed>,
    pub(super) words: bool,
    pub(super) labelled: bool,
    pub(super) control: bool,
}

impl Assembler<'_> {
    /// Reads all frames that are open.
    pub(super) fn read_frames(&mut self) -> Step {
        while let Some(frame) = self.reader.top() {
            if frame.pos >= frame.end {
                self.reader.pop();
                continue;
            }
            let text = Rc::clone(&frame.text);
            let (base, end) = (frame.base, frame.end);
            let mut cursor = Cursor::new(&text[frame.pos..end], base + end as u32);
            while self.jump.is_none() && !cursor.rest().is_empty() {
                self.statement(&mut cursor)?;
            }
            if let Some(frame) = self.reader.top() {
                frame.pos = (cursor.offset() - base) as usize;
            }
            self.follow_jump();
            if self.too_many_errors() {
                return Err(Interrupt::Stop);
            }
        }
        Ok(())
    }

    fn follow_jump(&mut self) {
        match self.jump.take() {
            Some(Jump::Into(frame)) => self.reader.push(frame),
            Some(Jump::ExitMacro) => self.reader.exit_macro(),
            Some(Jump::End) => self.reader.exit_file(),
            None => {}
        }
    }

    /// Reads one line, or more if a text or block spans several.
    fn statement(&mut self, cursor: &mut Cursor<'_>) -> Step {
        if self.too_many_errors() {
            return Err(Interrupt::Stop);
        }
        if !self.options.listing && !self.options.lines {
            return self.fields(cursor);
        }
        let (start, here, mark) = (cursor.offset(), self.output.here(), self.output.mark());
        let depth = self.reader.macro_depth();
        self.line = LineInfo::default();
        self.fields(cursor)?;
        let written = self.output.written_since(mark);
        if let (true, Some((site, count))) = (self.options.lines, written) {
            let is_code = self.line.clocks.is_some();
            self.output.made.push(Made { site, count, start, is_code });
        }
        if !self.options.listing {
            return Ok(());
        }
        let code = written.map_or(CodePlace::NONE, |(site, count)| CodePlace::Emitted {
            run: site.run,
            at: site.at,
            count,
        });
        self.listing.statements.push(Statement {
            span: cursor.since(start),
            address: here.listed(),
            code,
            module: self.modules.len() as u32,
            value: self.line.value,
            clocks: self.line.clocks,
            words: self.line.words,
            labelled: self.line.labelled,
            control: self.line.control,
            depth: depth as u32,
        });
        Ok(())
    }

    /// Keeps what the source wants of the listing.
    pub(super) fn control(&mut self, control: Control) {
        if self.options.listing {
            self.line.control = true;
            self.listing.controls.push((self.listing.statements.len() as u32, control));
        }
    }

    fn fields(&mut self, cursor: &mut Cursor<'_>) -> Step {
        loop {
            cursor.skip_blanks();
            let start = cursor.offset();
            if cursor.at_statement_end() {
                cursor.skip_line();
                return Ok(());
            }
            let Some(word) = cursor.take(lex::symbol) else {
                self.stray(cursor);
                return Ok(());
            };
            let span = cursor.since(start);
            let name = self.names.intern(word);
            cursor.skip_blanks();
            match cursor.peek() {
                Some(b':') => self.label(name, span, cursor),
                Some(b'=') => {
                    return self.replaying(start, cursor, |asm, cursor| {
                        asm.assignment(name, span, cursor)
                    });
                }
                _ => {
                    return self
                        .replaying(start, cursor, |asm, cursor| asm.operator(name, span, cursor));
                }
            }
        }
    }

    fn stray(&mut self, cursor: &mut Cursor<'_>) {
        let at = cursor.here();
        let byte = cursor.peek().unwrap_or(0);
        let shown = if byte.is_ascii_graphic() {
            format!("`{}`", char::from(byte))
        } else {
            format!("byte {byte:02X}H")
        };
        self.error(
            Code::Stray,
            at,
            format!("{shown} cannot begin a label, an operator or a comment"),
        );
        cursor.skip_line();
    }

    /// Runs the rest of a statement; if a macro turns up in its operands, puts the macro's text in
    /// and has the statement read again.
    fn replaying(
        &mut self,
        start: u32,
        cursor: &mut Cursor<'_>,
        rest: impl FnOnce(&mut Self, &mut Cursor<'_>) -> Step,
    ) -> Step {
        self.here = self.output.here();
        let (mark, before) = (self.output.mark(), cursor.clone());
        match rest(self, cursor) {
            Err(Interrupt::Expand(name, at)) => {
                self.output.rewind(mark);
                *cursor = before;
                self.expand_in_operand(name, Span::new(start, at), cursor)?;
                self.end_statement(cursor);
                Ok(())
            }
            Err(interrupt) => Err(interrupt),
            Ok(()) => {
                self.end_statement(cursor);
                Ok(())
            }
        }
    }

    /// Checks that nothing but a comment follows, and moves to the next line.
    fn end_statement(&mut self, cursor: &mut Cursor<'_>) {
        cursor.skip_blanks();
        if !cursor.at_statement_end() {
            let at = cursor.here();
            self.error(Code::Extra, at, "the rest of the line is ignored");
        }
        cursor.skip_line();
        if self.output.wrapped && !self.wrap_reported {
            self.wrap_reported = true;
            let at = cursor.since(cursor.offset().saturating_sub(1));
            self.error(Code::Wrap, at, "the location counter passed FFFFH and went on at 0");
        }
    }

    fn label(&mut self, name: NameId, span: Span, cursor: &mut Cursor<'_>) {
        cursor.advance(1);
        self.line.labelled = true;
        let export = cursor.eat(b':');
        self.define(name, State::Value(self.output.here()), Definition::Label, span);
        self.names[name].exported |= export;
    }

    fn assignment(&mut self, name: NameId, span: Span, cursor: &mut Cursor<'_>) -> Step {
        cursor.advance(1);
        let mut kind = Definition::Variable;
        if cursor.eat(b'\\') {
            let export = cursor.eat(b':');
            return self.ask(name, span, export, cursor);
        }
        if cursor.eat(b'=') {
            kind = Definition::Fixed;
        }
        let export = cursor.eat(b':');
        let state = self.assigned_value(cursor)?;
        if let State::Value(value) = state {
            self.line.value = Some(value.listed());
        }
        self.define(name, state, kind, span);
        self.names[name].exported |= export;
        Ok(())
    }

    /// `=\`: the value comes from the options, as there is no console.
    fn ask(&mut self, name: NameId, span: Span, export: bool, cursor: &mut Cursor<'_>) -> Step {
        cursor.skip_blanks();
        self.mention(name, span, Role::Definition);
        let prompt =
            if cursor.at_statement_end() { None } else { cursor.take(lex::delimited_text) };
        self.names[name].exported |= export;
        if self.names[name].definition == Definition::None {
            let asked = prompt.map(String::from_utf8_lossy).unwrap_or_default();
            let spelling = self.names.spelling(name);
            let message = format!("the source asks for the value of {spelling}: {asked}");
            let help = format!("give the answer with --define {spelling}=VALUE");
            self.report(Diagnostic::new(Code::Undefined, span, message).help(help));
        }
        Ok(())
    }

    fn operator(&mut self, name: NameId, span: Span, cursor: &mut Cursor<'_>) -> Step {
        let entry = self.names[name];
        if let Some(index) = entry.macro_index() {
            self.mention(name, span, Role::Use);
            return self.call_macro(index, span, cursor);
        }
        match entry.operator {
            Some(Operator::Instruction(form)) => self.instruction(form, span, cursor),
            Some(Operator::Directive(directive)) => self.directive(directive, span, cursor),
            None if entry.state != State::Undefined => {
                self.mention(name, span, Role::Use);
                self.value_word(name, span)
            }
            None => {
                let rest = cursor.rest();
                cursor.skip_to_line_end();
                self.unknown_operator(span, &rest[..rest.len() - cursor.rest().len()]);
                Ok(())
            }
        }
    }

    /// A symbol in the operator field assembles to its value.
    fn value_word(&mut self, name: NameId, span: Span) -> Step {
        self.line.words = true;
        let expr = Expr::symbol(name, span);
        self.emit_expression(&expr, Field::Word)
    }

    fn unknown_operator(&mut self, span: Span, rest: &[u8]) {
        let word = self.sources.slice(span);
        let shown = &word[..word.len().min(MAX_SHOWN)];
        let word =
            String::from_utf8_lossy(shown).into_owned() + if shown == word { "" } else { "..." };
        let mut diagnostic = Diagnostic::new(
            Code::Operator,
            span,
            format!("{word} is no instruction, directive or macro"),
        );
        let operands = &rest[..memchr::memchr(b';', rest).unwrap_or(rest.len())];
        if let Some(help) = super::symbols::operator_hint(&word, operands) {
            diagnostic = diagnostic.help(help);
        }
        self.report(diagnostic);
    }
}
