//! Reads statements: labels, assignment or operator, comment.

use std::sync::Arc;

use super::assembler::Assembler;
use super::code_buffer::{Field, UNKNOWN_OPERATOR};
use super::input::{Frame, FrameKind, StatementPlace};
use super::name_table::NameId;
use super::name_table::Operator;
use super::options::Notation;
use super::pass::Pass;
use super::statement_end::{StatementAbort, StatementEnd, StatementResult};
use super::suggestions::{foreign, suggest_label, suggest_operator, suggest_zilog_operator};
use super::symbol::{Symbol, SymbolKind};
use super::value::Value;
use super::{directive, instruction, lints, macros, zilog};
use crate::diag::{Diagnostic, DiagnosticCode};
use crate::listing::ListingLine;
use crate::references::ReferenceRole;
use crate::source::Span;
use crate::syntax::expr::{Expr, Op};
use crate::syntax::{Cursor, lex};

/// Words in messages are cut to this length.
const MAX_SHOWN: usize = 40;

impl Assembler<'_> {
    pub(super) fn read_frames(&mut self) -> StatementResult {
        while let Some(frame) = self.input.top() {
            if frame.pos >= frame.text.len() {
                if let Some(scope) = self.input.pop().and_then(|frame| frame.outer_scope) {
                    self.names.scope = scope;
                }
                continue;
            }
            let text = Arc::clone(&frame.text);
            let Frame { base, source, call, macro_call, .. } = *frame;
            self.names.macro_call = macro_call;
            let end = base + text.len() as u32;
            let mut cursor = Cursor::new(&text[frame.pos..], end).with_lines(frame.lines);
            while self.input.pending_change.is_none() && !cursor.rest().is_empty() {
                let here = StatementPlace { source: source as u32, lines: cursor.lines() };
                self.statement.place = call.unwrap_or(here);
                self.statement(&mut cursor)?;
            }
            if let Some(frame) = self.input.top() {
                frame.pos = (cursor.offset() - base) as usize;
                frame.lines = cursor.lines();
            }
            self.input.apply_change();
        }
        Ok(())
    }

    /// Reads one statement, which can span lines.
    fn statement(&mut self, cursor: &mut Cursor<'_>) -> StatementResult {
        self.compare_passes(cursor);
        let checkpoint = self.code.checkpoint();
        self.statement.start = checkpoint;
        let is_recorded = self.options.listing || self.options.lines;
        if self.pass == Pass::First || !is_recorded {
            return self.fields(cursor);
        }
        let start = cursor.offset();
        let place = self.statement.place;
        // Without a listing only the line table needs it: whether the bytes are an instruction's.
        self.recorder.statement.clocks = None;
        if self.options.listing {
            self.recorder.statement = ListingLine {
                address: self.code.location().reloc_value(),
                // `.PRGEND` belongs to the module that it ends.
                module: self.modules.len() as u32,
                depth: self.input.macro_depth() as u32,
                ..ListingLine::default()
            };
            self.recorder.row_start = 0;
        }
        self.fields(cursor)?;
        if let (true, Some((pos, count))) =
            (self.options.lines, self.code.written_since(checkpoint))
        {
            self.add_row(place, pos, count);
        }
        if self.options.listing {
            let mut line = std::mem::take(&mut self.recorder.statement);
            line.span = cursor.since(start);
            (line.bytes, line.relocs) = self.code.listed_since(checkpoint);
            self.recorder.listing.lines.push(line);
        }
        Ok(())
    }

    /// Compares the position of a statement between the passes: a phase error is explained by the
    /// first statement after which they differ.
    fn compare_passes(&mut self, cursor: &Cursor<'_>) {
        let Some(frame) = self.input.top() else { return };
        if frame.kind == FrameKind::Macro {
            return;
        }
        let offset = cursor.offset() - frame.base;
        let counter = self.code.counter();
        match self.pass {
            Pass::First => self.pass_comparison.note(offset, counter),
            _ => self.pass_comparison.compare(offset, counter, cursor.offset()),
        }
    }

    fn fields(&mut self, cursor: &mut Cursor<'_>) -> StatementResult {
        if std::mem::take(&mut self.input.left_macro_by_exit) {
            // After `.EXIT` the rest of the calling line is not a statement.
            self.end_statement(DiagnosticCode::TrailingText, cursor);
            return Ok(());
        }
        if self.options.notation == Notation::Zilog {
            return zilog::fields(self, cursor);
        }
        loop {
            cursor.skip_blanks();
            let start = cursor.offset();
            if cursor.at_statement_end() {
                self.next_line(cursor);
                return Ok(());
            }
            let word = cursor.take(lex::symbol);
            let temporary = match word {
                None => self.names.take_temporary(cursor),
                Some(_) => None,
            };
            let Some(name) = temporary
                .or_else(|| word.map(|word| self.reading.name(word, start, &mut self.names)))
            else {
                if cursor.peek() == Some(b']') && self.input.in_block() {
                    cursor.advance(1);
                    self.close_block(cursor);
                    self.update_place(cursor);
                } else {
                    self.report_stray(cursor);
                }
                continue;
            };
            let span = cursor.since(start);
            cursor.skip_blanks();
            if cursor.peek() == Some(b':') {
                self.label(name, span, cursor);
                continue;
            }
            if self.is_pasm() && self.input.macro_depth() > 0 && cursor.eat(b'>') {
                continue; // The target of a `.GOTO`.
            }
            let is_assignment = cursor.peek() == Some(b'=');
            return self.retry_after_macro(start, cursor, |asm, cursor| match is_assignment {
                true => asm.assignment(name, span, cursor),
                false => asm.operator(name, span, cursor),
            });
        }
    }

    /// Updates the line for what follows in the same statement, after a part that can span lines.
    pub(super) fn update_place(&mut self, cursor: &Cursor<'_>) {
        if self.input.top().is_some_and(|frame| frame.call.is_none()) {
            self.statement.place.lines = cursor.lines();
        }
    }

    /// Reports a character that cannot begin a statement; ZASM continues after it.
    fn report_stray(&mut self, cursor: &mut Cursor<'_>) {
        let at = cursor.here();
        let byte = cursor.peek().unwrap_or(0);
        let shown = if byte.is_ascii_graphic() {
            format!("`{}`", char::from(byte))
        } else {
            format!("byte {byte:02X}H")
        };
        let message = format!("{shown} cannot begin a label, an operator or a comment");
        let help = match byte {
            b'/' | b'*' => "a comment begins with a semicolon",
            b'#' => "there is no preprocessor: write NAME = VALUE, and .INSERT NAME for a file",
            b'=' => "an assignment has no colon: NAME = VALUE; .LOC sets the address",
            b'0'..=b'9' => "a label begins with a letter; local ones with two periods: ..1:",
            _ => "statements have the form LABEL: OPERATOR OPERANDS ; COMMENT",
        };
        self.error_with_help(DiagnosticCode::Stray, at, message, help);
        cursor.advance(1);
    }

    /// Runs the rest of a statement. If its operands contain a macro call, inserts the macro text
    /// and reads the statement again.
    fn retry_after_macro(
        &mut self,
        start: u32,
        cursor: &mut Cursor<'_>,
        rest: impl FnOnce(&mut Self, &mut Cursor<'_>) -> StatementResult<StatementEnd>,
    ) -> StatementResult {
        self.statement.location = self.code.location();
        // Without macros no statement is read twice.
        let before =
            (!self.names.macros.is_empty()).then(|| (self.sink.begin_statement(), cursor.clone()));
        self.input.has_macro_text = std::mem::take(&mut self.input.next_has_macro_text);
        match rest(self, cursor) {
            Err(StatementAbort::Expand(name, at)) => {
                let Some((row, at_start)) = before else { return Ok(()) };
                self.code.roll_back(self.statement.start);
                self.sink.roll_back(row);
                *cursor = at_start;
                self.input.next_has_macro_text = true;
                macros::expand_in_operand(self, name, Span::new(start, at), cursor)
            }
            Err(interrupt) => Err(interrupt),
            Ok(StatementEnd::CheckRest) => {
                self.end_statement(DiagnosticCode::TrailingText, cursor);
                Ok(())
            }
            Ok(StatementEnd::CheckList) => {
                self.end_statement(DiagnosticCode::Expression, cursor);
                Ok(())
            }
            Ok(StatementEnd::LineDone) => Ok(()),
        }
    }

    fn label(&mut self, name: NameId, span: Span, cursor: &mut Cursor<'_>) {
        cursor.advance(1);
        self.module.flow.restart();
        self.recorder.statement.labelled = true;
        if cursor.eat_behind_blanks(b':') {
            self.export(name, span, false);
        }
        self.define(name, self.code.location(), SymbolKind::Label, span);
        if let Some(Operator::Instruction(form)) = self.names[name].operator {
            lints::lint_instruction_as_label(self, form, span, cursor);
        }
    }

    fn assignment(
        &mut self,
        name: NameId,
        span: Span,
        cursor: &mut Cursor<'_>,
    ) -> StatementResult<StatementEnd> {
        cursor.advance(1);
        if cursor.eat_behind_blanks(b'\\') {
            let export = cursor.eat(b':');
            self.ask_console(name, span, cursor);
            if let Some(value) = self.names[name].symbol.value() {
                self.recorder.statement.value = Some(value.reloc_value());
            }
            if export {
                self.export(name, span, false);
            }
            return Ok(StatementEnd::CheckRest);
        }
        let fixed = cursor.eat_behind_blanks(b'=');
        let export = cursor.eat_behind_blanks(b':');
        let kind = if fixed { SymbolKind::Constant } else { SymbolKind::Variable };
        if !self.check_assignable(name, kind, span) {
            cursor.skip_blanks();
            let fixed_later = matches!(self.names[name].symbol, Symbol::Constant(_));
            if export || !fixed_later || !cursor.at_statement_end() {
                // ZASM does not read the assigned value.
                self.assignment_ignored(span);
                cursor.skip_to_line_end();
            }
            return Ok(StatementEnd::CheckRest);
        }
        let value = self.assigned_value(cursor)?;
        let flags_before = self.sink.flags();
        self.define(name, value, kind, span);
        // ZASM lists no value of a second definition.
        if self.sink.flags() == flags_before {
            self.recorder.statement.value = Some(value.reloc_value());
        }
        if export {
            self.export(name, span, false);
        }
        Ok(StatementEnd::CheckRest)
    }

    /// Reads a value from the console, once (`NAME =\`).
    fn ask_console(&mut self, name: NameId, span: Span, cursor: &mut Cursor<'_>) {
        let prompt = self.text(cursor);
        self.recorder.reference(name, span, ReferenceRole::Definition);
        let entry = self.names[name];
        let predefined = entry.place.is_none() && matches!(entry.symbol, Symbol::Constant(_));
        if predefined {
            return;
        }
        if entry.symbol.is_defined() || entry.built_in.is_some() {
            // The second pass meets the prompt of the first again.
            let again = !entry.is_console_reply || entry.is_defined_in(self.pass);
            if again {
                self.names[name].is_multiply_defined = true;
            }
            if again || entry.is_multiply_defined {
                self.report_redefinition(name, &entry, span);
            }
            if !again && self.console.lacks(&self.names.spelling(name)) {
                self.report_unanswered(name, &prompt, span);
            }
            match (entry.symbol.kind(), entry.symbol.value()) {
                (Some(kind), Some(value)) => self.define(name, value, kind, span),
                _ => self.redefine(name, &entry, SymbolKind::Constant, span),
            }
            return;
        }
        let spelling = self.names.spelling(name);
        let reply = self.console.ask_console(&spelling, &prompt);
        if reply.is_none() {
            self.report_unanswered(name, &prompt, span);
        }
        let value = Value::absolute(reply.unwrap_or(0));
        self.define(name, value, SymbolKind::Constant, span);
        self.names[name].is_console_reply = true;
    }

    fn report_unanswered(&mut self, name: NameId, prompt: &str, span: Span) {
        let spelling = self.names.spelling(name);
        let message = format!("the source asks for the value of {spelling}: {prompt}");
        let help = format!("give the reply with --answer {spelling}=VALUE");
        self.error_with_help(DiagnosticCode::Unanswered, span, message, help);
    }

    fn operator(
        &mut self,
        name: NameId,
        span: Span,
        cursor: &mut Cursor<'_>,
    ) -> StatementResult<StatementEnd> {
        self.statement.operator = span;
        if (self.module.has_zilog_mnemonics || self.module.has_zilog_directives)
            && let Some(end) = zilog::operator_in_tdl(self, name, span, cursor)?
        {
            return Ok(end);
        }
        let entry = &self.names[name];
        if let Some(index) = entry.macro_index {
            self.recorder.reference(name, span, ReferenceRole::Use);
            macros::expand(self, index, None, span, cursor)?;
            return Ok(StatementEnd::LineDone);
        }
        match entry.operator {
            Some(Operator::Instruction(form)) => {
                return instruction::instruction(self, form, cursor);
            }
            Some(Operator::Directive(directive)) => {
                return directive::directive(self, directive, cursor);
            }
            None if entry.is_location_counter() => self.value_word(name, Op::Here, span)?,
            None if entry.symbol.is_defined() || entry.built_in.is_some() => {
                self.recorder.reference(name, span, ReferenceRole::Use);
                lints::lint_symbol_as_operator(self, name, span, cursor.rest());
                self.value_word(name, Op::Symbol(name, span.start), span)?;
            }
            // An operand has used it before: ZASM has it in its table, with the value 0.
            None if entry.has_undefined_use => {
                lints::lint_symbol_as_operator(self, name, span, cursor.rest());
                self.recorder.statement.words = true;
                self.code.write(&[0; 2]);
            }
            None => {
                let rest = cursor.rest();
                let from = cursor.offset();
                cursor.skip_to_line_end();
                let rest = &rest[..rest.len() - cursor.rest().len()];
                self.unknown_operator(span, rest, from);
                self.code.write(&UNKNOWN_OPERATOR);
            }
        }
        Ok(StatementEnd::CheckRest)
    }

    /// Assembles a symbol in the operator field, which writes its value as a word.
    fn value_word(&mut self, name: NameId, value: Op, span: Span) -> StatementResult {
        self.recorder.statement.words = true;
        // ZASM does not mark a multiply defined symbol here.
        let is_multiply_defined = std::mem::take(&mut self.names[name].is_multiply_defined);
        let first = self.reading.ops.len() as u32;
        self.reading.ops.push(value);
        let value = Expr { first, count: 1, span, ..Expr::default() };
        let done = self.emit_expression(&value, Field::Word);
        self.names[name].is_multiply_defined = is_multiply_defined;
        done
    }

    /// Reports an unknown operator. The rest of its line begins at offset `from`.
    pub(super) fn unknown_operator(&mut self, span: Span, rest: &[u8], from: u32) {
        let word = self.sources.slice(span);
        let shown = &word[..word.len().min(MAX_SHOWN)];
        let word =
            String::from_utf8_lossy(shown).into_owned() + if shown == word { "" } else { "..." };
        let message = format!("{word} is not an instruction, directive or macro");
        let mut diagnostic = Diagnostic::new(DiagnosticCode::Operator, span, message);
        let operands = &rest[..memchr::memchr(b';', rest).unwrap_or(rest.len())];
        let known = match self.sink.accepts(DiagnosticCode::Operator) {
            true if self.options.notation == Notation::Zilog => Some(suggest_zilog_operator(&word)),
            true => suggest_operator(&word, operands, self.options.translate),
            false => None,
        };
        let label = match foreign(&word) {
            Some(_) => None,
            None => suggest_label(&mut self.names, &word, operands),
        };
        if let Some(suggestion) = label.or(known) {
            diagnostic = suggestion.add_to(diagnostic, span, from);
        }
        self.report(diagnostic);
    }
}
