//! One statement: labels, assignment or operator, comment.

use std::sync::Arc;

use crate::diag::{Code, Diagnostic};
use crate::listing::{Code as CodePlace, Listed, Statement};
use crate::module::LineRow;
use crate::references::Role;
use crate::source::Span;
use crate::syntax::expr::{Expr, Intern};
use crate::syntax::{Cursor, lex};

use super::build::kind_of;
use super::names::{Definition, NameId, Operator, State};
use super::output::{Field, Site};
use super::reader::FrameKind;
use super::value::Value;
use super::{Assembler, Interrupt, Pass, Step, output, record, reports};

/// Words are shown up to this length in messages.
const MAX_SHOWN: usize = 40;
/// The original assembles so many zeros for an operator that it does not know, to leave room for a
/// patch.
const UNKNOWN_OPERATOR: [u8; 4] = [0; 4];

impl Assembler<'_> {
    /// Reads all frames that are open.
    pub(super) fn read_frames(&mut self) -> Step {
        while let Some(frame) = self.input.top() {
            if frame.pos >= frame.text.len() {
                self.input.pop();
                continue;
            }
            let text = Arc::clone(&frame.text);
            let base = frame.base;
            let mut cursor = Cursor::new(&text[frame.pos..], base + text.len() as u32);
            while self.input.jump.is_none() && !cursor.rest().is_empty() {
                self.statement(&mut cursor)?;
            }
            if let Some(frame) = self.input.top() {
                frame.pos = (cursor.offset() - base) as usize;
            }
            self.input.follow_jump();
        }
        Ok(())
    }

    /// Reads one line, or more if a text or block spans several.
    fn statement(&mut self, cursor: &mut Cursor<'_>) -> Step {
        if self.pass != Pass::Only {
            self.note_place(cursor);
        }
        if !self.options.listing && !self.options.lines {
            self.fields(cursor)?;
            return self.check_passes();
        }
        let start = cursor.offset();
        let mark = self.emission.output.mark();
        self.record.line = record::LineInfo::default();
        // .PRGEND begins the next module, but belongs to the one it ends.
        let listed = self.options.listing.then(|| {
            let here = self.emission.output.here();
            (here, self.input.macro_depth(), self.modules.len() as u32)
        });
        self.fields(cursor)?;
        self.check_passes()?;
        let written = self.emission.output.written_since(mark);
        if let (true, Some((site, count))) = (self.options.lines, written) {
            self.add_row(start, site, count);
        }
        let Some((here, depth, module)) = listed else { return Ok(()) };
        let code = written.map_or(CodePlace::NONE, |(site, count)| CodePlace::Emitted {
            run: site.run,
            at: site.at,
            count,
        });
        let span = cursor.since(start);
        self.record_statement(span, here.listed(), code, depth as u32, module);
        Ok(())
    }

    /// Keeps which line made bytes, unless they are in the area of an external.
    fn add_row(&mut self, start: u32, site: Site, size: u32) {
        let run = &self.emission.output.runs[site.run as usize];
        let Some(section) = kind_of(run.base, self.emission.output.fixed) else { return };
        let (source, line) = self.input.sources.file_line(start);
        let file = self.emission.files.number(&source.name);
        let offset = run.start.wrapping_add(site.at as u16);
        let is_code = self.record.line.clocks.is_some();
        self.emission.rows.push(&LineRow { section, is_code, offset, size, file, line });
    }

    /// Keeps where the passes meet the statements of files: a label that moves is explained by the
    /// first statement behind which they part.
    fn note_place(&mut self, cursor: &Cursor<'_>) {
        let Some(frame) = self.input.top() else { return };
        if frame.kind == FrameKind::Macro {
            return;
        }
        let offset = cursor.offset() - frame.base;
        let counter = self.emission.output.counter();
        match self.pass {
            Pass::First => self.input.places.note(offset, counter),
            _ => self.input.places.compare(offset, counter, cursor.offset()),
        }
    }

    fn record_statement(
        &mut self,
        span: Span,
        address: Listed,
        code: CodePlace,
        depth: u32,
        module: u32,
    ) {
        let line = self.record.line;
        self.record.listing.statements.push(Statement {
            span,
            address,
            code,
            module,
            value: line.value,
            later: line.later,
            start: line.start,
            clocks: line.clocks,
            words: line.words,
            labelled: line.labelled,
            control: line.control,
            depth,
        });
    }

    /// Ends the only pass as soon as it meets what two passes may see otherwise.
    #[inline]
    fn check_passes(&self) -> Step {
        match self.reports.ends_only_pass() {
            true => Err(Interrupt::TwoPasses),
            false => Ok(()),
        }
    }

    fn fields(&mut self, cursor: &mut Cursor<'_>) -> Step {
        if std::mem::take(&mut self.input.exited) {
            // After .EXIT the rest of the call's line is no statement.
            self.end_statement(Code::Extra, cursor);
            return Ok(());
        }
        loop {
            cursor.skip_blanks();
            let start = cursor.offset();
            if cursor.at_statement_end() {
                self.next_line(cursor);
                return Ok(());
            }
            let Some(word) = cursor.take(lex::symbol) else {
                if cursor.peek() == Some(b']') && self.input.in_block() {
                    cursor.advance(1);
                    self.close_block(cursor);
                } else {
                    self.stray(cursor);
                }
                continue;
            };
            let span = cursor.since(start);
            cursor.skip_blanks();
            let name = self.naming.names.intern(word);
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

    /// Reports a character that begins nothing. The original goes on after it, on the same line.
    fn stray(&mut self, cursor: &mut Cursor<'_>) {
        let at = cursor.here();
        let byte = cursor.peek().unwrap_or(0);
        let shown = if byte.is_ascii_graphic() {
            format!("`{}`", char::from(byte))
        } else {
            format!("byte {byte:02X}H")
        };
        let message = format!("{shown} cannot begin a label, an operator or a comment");
        self.error(Code::Stray, at, message);
        cursor.advance(1);
    }

    /// Runs the rest of a statement; if a macro turns up in its operands, puts the macro's text in
    /// and has the statement read again.
    fn replaying(
        &mut self,
        start: u32,
        cursor: &mut Cursor<'_>,
        rest: impl FnOnce(&mut Self, &mut Cursor<'_>) -> Step<Ending>,
    ) -> Step {
        self.emission.here = self.emission.output.here();
        // Without macros no statement is read again.
        let before = (!self.naming.macros.is_empty()).then(|| Before {
            written: self.emission.output.mark(),
            reported: self.reports.mark(),
            cursor: cursor.clone(),
        });
        self.input.spliced = std::mem::take(&mut self.input.splices_next);
        match rest(self, cursor) {
            Err(Interrupt::Expand(name, at)) => {
                let Some(before) = before else { return Ok(()) };
                self.emission.output.rewind(before.written);
                self.reports.rewind(before.reported);
                *cursor = before.cursor;
                self.input.splices_next = true;
                self.expand_in_operand(name, Span::new(start, at), cursor)
            }
            Err(interrupt) => Err(interrupt),
            Ok(Ending::Open) => {
                self.end_statement(Code::Extra, cursor);
                Ok(())
            }
            Ok(Ending::List) => {
                self.end_statement(Code::Expression, cursor);
                Ok(())
            }
            Ok(Ending::Complete) => Ok(()),
        }
    }

    /// Checks that nothing but a comment follows, and moves to the next line. A `]` that closes a
    /// block may stand between; what follows it is ignored like anything else, with the letter of
    /// `code`.
    pub(super) fn end_statement(&mut self, code: Code, cursor: &mut Cursor<'_>) {
        self.run_on(cursor);
        loop {
            cursor.skip_blanks();
            if cursor.at_statement_end() {
                break;
            }
            if cursor.peek() == Some(b']') && self.input.in_block() {
                cursor.advance(1);
                self.close_block(cursor);
                continue;
            }
            let message = match code {
                Code::Extra => "the rest of the line is ignored",
                _ => "a comma or an operator is missing here",
            };
            self.error(code, cursor.here(), message);
            break;
        }
        self.next_line(cursor);
        if self.emission.output.wrapped && !self.emission.wrap_reported {
            self.emission.wrap_reported = true;
            let at = cursor.since(cursor.offset().saturating_sub(1));
            self.error(Code::Wrap, at, "the location counter passed FFFFH and went on at 0");
        }
    }

    /// Reads over the next line if a parenthesis of this one is open: the original takes the line's
    /// end for what closes it, and the text below for the rest of the statement.
    #[inline]
    fn run_on(&mut self, cursor: &mut Cursor<'_>) {
        if std::mem::take(&mut self.input.runs_on) && cursor.at_statement_end() {
            self.lose_line(cursor);
        }
    }

    #[cold]
    fn lose_line(&mut self, cursor: &mut Cursor<'_>) {
        self.next_line(cursor);
        if !cursor.rest().is_empty() {
            let message = "this line is lost, as the parenthesis in the one above is not closed";
            let at = Span::new(cursor.offset(), cursor.offset());
            self.error(Code::Continued, at, message);
            cursor.skip_to_line_end();
        }
    }

    /// Moves to the next line, which is the next row of the listing.
    #[inline]
    pub(super) fn next_line(&mut self, cursor: &mut Cursor<'_>) {
        cursor.skip_line();
        self.reports.next_row();
    }

    fn label(&mut self, name: NameId, span: Span, cursor: &mut Cursor<'_>) {
        cursor.advance(1);
        self.record.line.labelled = true;
        let export = cursor.eat(b':');
        let here = State::Value(self.emission.output.here());
        self.define(name, here, Definition::Label, span);
        if export {
            self.export(name, span, false);
        }
    }

    fn assignment(&mut self, name: NameId, span: Span, cursor: &mut Cursor<'_>) -> Step<Ending> {
        cursor.advance(1);
        if cursor.eat_behind_blanks(b'\\') {
            let export = cursor.eat(b':');
            self.ask(name, span, cursor);
            if let State::Value(value) = self.naming.names[name].state {
                self.record.line.value = Some(value.listed());
            }
            if export {
                self.export(name, span, false);
            }
            return Ok(Ending::Open);
        }
        let fixed = cursor.eat_behind_blanks(b'=');
        let export = cursor.eat_behind_blanks(b':');
        let kind = if fixed { Definition::Fixed } else { Definition::Variable };
        if !self.check_assignable(name, kind, span) {
            cursor.skip_blanks();
            let fixed_later = self.naming.names[name].definition == Definition::Fixed;
            if export || !fixed_later || !cursor.at_statement_end() {
                // What it should be assigned is not looked at.
                self.error(Code::Kept, span, "the symbol keeps its first value");
                cursor.skip_to_line_end();
            }
            return Ok(Ending::Open);
        }
        let state = self.assigned_value(cursor)?;
        match state {
            State::Value(value) => self.record.line.value = Some(value.listed()),
            State::Deferred(expression) => {
                self.record.line.later = Some(expression);
                // Two passes take 0 for it in the first, and mark that it moves.
                self.reports.wants_two |= fixed;
            }
            State::Undefined => {}
        }
        self.define(name, state, kind, span);
        if export {
            self.export(name, span, false);
        }
        Ok(Ending::Open)
    }

    /// `=\`: the value is asked for, once.
    fn ask(&mut self, name: NameId, span: Span, cursor: &mut Cursor<'_>) {
        let prompt = self.text(cursor);
        self.record.mention(self.options, self.pass, name, span, Role::Definition);
        let entry = self.naming.names[name];
        let predefined = entry.place == u32::MAX && entry.definition == Definition::Fixed;
        if predefined {
            return;
        }
        if entry.definition != Definition::None || entry.special.is_some() {
            // The second pass meets the question that the first one asked.
            let again = !entry.asked || entry.pass == self.pass_number();
            if again {
                self.naming.names[name].doubled = true;
            }
            if again || entry.doubled {
                self.report_redefinition(name, &entry, span);
            }
            if !again && self.console.lacks(&self.naming.names.spelling(name)) {
                self.report_unanswered(name, &prompt, span);
            }
            self.define(name, entry.state, entry.definition, span);
            return;
        }
        let spelling = self.naming.names.spelling(name);
        let reply = self.console.ask(&spelling, &prompt);
        if reply.is_none() {
            self.report_unanswered(name, &prompt, span);
        }
        let value = State::Value(Value::absolute(reply.unwrap_or(0)));
        self.define(name, value, Definition::Fixed, span);
        self.naming.names[name].asked = true;
    }

    fn report_unanswered(&mut self, name: NameId, prompt: &str, span: Span) {
        let spelling = self.naming.names.spelling(name);
        let message = format!("the source asks for the value of {spelling}: {prompt}");
        let help = format!("give the reply with --answer {spelling}=VALUE");
        self.report(Diagnostic::new(Code::Unanswered, span, message).help(help));
    }

    fn operator(&mut self, name: NameId, span: Span, cursor: &mut Cursor<'_>) -> Step<Ending> {
        let entry = &self.naming.names[name];
        if let Some(index) = entry.macro_index() {
            self.mention(name, span, Role::Use);
            self.call_macro(index, span, cursor)?;
            return Ok(Ending::Complete);
        }
        match entry.operator {
            Some(Operator::Instruction(form)) => self.instruction(form, span, cursor),
            Some(Operator::Directive(directive)) => self.directive(directive, span, cursor),
            None if entry.is_here() => {
                self.value_word(name, Expr::here(span))?;
                Ok(Ending::Open)
            }
            None if entry.state != State::Undefined || entry.special.is_some() => {
                self.mention(name, span, Role::Use);
                self.value_word(name, Expr::symbol(name, span))?;
                Ok(Ending::Open)
            }
            // An operand has named it: the original has it in its table, with the value 0.
            None if entry.missed => {
                self.record.line.words = true;
                self.emission.output.write(&[0; 2]);
                Ok(Ending::Open)
            }
            None => {
                // Two passes may know it in the second.
                self.naming.assumed_undefined.push(name);
                let rest = cursor.rest();
                let from = cursor.offset();
                cursor.skip_to_line_end();
                let rest = &rest[..rest.len() - cursor.rest().len()];
                self.unknown_operator(span, rest, from);
                self.emission.output.write(&UNKNOWN_OPERATOR);
                Ok(Ending::Open)
            }
        }
    }

    /// A symbol in the operator field assembles to its value.
    fn value_word(&mut self, name: NameId, value: Expr) -> Step {
        self.record.line.words = true;
        // The original does not mark the use of a symbol that is defined twice here.
        let doubled = std::mem::take(&mut self.naming.names[name].doubled);
        let done = self.emit_expression(&value, Field::Word);
        self.naming.names[name].doubled = doubled;
        done
    }

    /// Reports an unknown operator, and the rest of its line, which begins at `from`.
    fn unknown_operator(&mut self, span: Span, rest: &[u8], from: u32) {
        let word = self.input.sources.slice(span);
        let shown = &word[..word.len().min(MAX_SHOWN)];
        let word =
            String::from_utf8_lossy(shown).into_owned() + if shown == word { "" } else { "..." };
        let message = format!("{word} is no instruction, directive or macro");
        let mut diagnostic = Diagnostic::new(Code::Operator, span, message);
        let operands = &rest[..memchr::memchr(b';', rest).unwrap_or(rest.len())];
        let known = match self.reports.hears(Code::Operator) {
            true => super::hints::operator_guess(&word, operands, self.options.translate),
            false => None,
        };
        let foreign = super::hints::is_foreign(&word);
        let label = if foreign { None } else { self.label_guess(&word, operands) };
        if let Some(guess) = label.or(known) {
            diagnostic = guess.add_to(diagnostic, span, from);
        }
        self.report(diagnostic);
    }
}

/// The state to go back to when a statement is read again.
struct Before<'t> {
    written: output::Mark,
    reported: reports::Mark,
    cursor: Cursor<'t>,
}

/// The state of the line when a statement has been read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// The rest of the line is to be checked.
    Open,
    /// The same, after a list: what follows is a fault of the list.
    List,
    /// The line is read to its end, or goes on in another text.
    Complete,
}
