//! Conditional assembly: `.IFx argument,[true text] [false text]` and the form on one line.
//!
//! Text that is assembled is read statement by statement, so that brackets in comments and strings
//! are inert in it. In text that is skipped every bracket counts.

use crate::diag::{Code, Diagnostic};
use crate::references::Role;
use crate::source::Span;
use crate::syntax::expr::Intern;
use crate::syntax::{Cursor, lex};

use super::brackets::lone_bracket;
use super::directive::Condition;
use super::names::{Definition, State};
use super::statement::Ending;
use super::{Assembler, Interrupt, Pass, Step};

impl Assembler<'_> {
    pub(super) fn conditional(
        &mut self,
        condition: Condition,
        cursor: &mut Cursor<'_>,
    ) -> Step<Ending> {
        let holds = self.judge(condition, cursor)?;
        if !self.condition_comma(cursor) {
            self.next_line(cursor);
            return Ok(Ending::Complete);
        }
        cursor.skip_blanks();
        if cursor.at_statement_end() {
            let message = "a text in brackets or a statement is missing after the comma";
            let help = "the [ stands on the line of the condition";
            let diagnostic = Diagnostic::new(Code::Operand, cursor.here(), message);
            self.report(diagnostic.help(help));
            return Ok(Ending::Open);
        }
        if cursor.peek() == Some(b'[') {
            return Ok(self.enter_blocks(holds, cursor));
        }
        if !holds {
            self.next_line(cursor);
        }
        Ok(Ending::Complete)
    }

    /// Moves past the comma after the argument; without one the line is ignored.
    fn condition_comma(&mut self, cursor: &mut Cursor<'_>) -> bool {
        cursor.skip_blanks();
        if cursor.eat(b',') {
            return true;
        }
        let here = cursor.here();
        let message = "a comma is missing after the condition";
        let line = cursor.rest();
        let length = memchr::memchr2(b'\n', b'\r', line).unwrap_or(line.len());
        let length = memchr::memchr(b';', &line[..length]).unwrap_or(length);
        match memchr::memchr(b',', &line[..length]) {
            Some(at) => {
                self.error(Code::Operand, here, message);
                cursor.advance(at + 1);
                true
            }
            None => {
                self.error(Code::Operand, here, message);
                false
            }
        }
    }

    fn judge(&mut self, condition: Condition, cursor: &mut Cursor<'_>) -> Step<bool> {
        match condition {
            Condition::Equal => self.judge_number(cursor, |number| number == 0),
            Condition::NotEqual => self.judge_number(cursor, |number| number != 0),
            Condition::Greater => self.judge_number(cursor, |number| number > 0),
            Condition::GreaterEqual => self.judge_number(cursor, |number| number >= 0),
            Condition::Less => self.judge_number(cursor, |number| number < 0),
            Condition::LessEqual => self.judge_number(cursor, |number| number <= 0),
            Condition::FirstPass | Condition::SecondPass => self.judge_pass(condition),
            Condition::Defined => Ok(self.judge_defined(cursor)),
            Condition::NotDefined => Ok(!self.judge_defined(cursor)),
            Condition::Blank => Ok(self.judge_blank(cursor)),
            Condition::NotBlank => Ok(!self.judge_blank(cursor)),
            Condition::Identical => Ok(self.judge_identical(cursor)),
            Condition::Different => Ok(!self.judge_identical(cursor)),
        }
    }

    /// A blank argument counts as zero. The number is signed.
    fn judge_number(&mut self, cursor: &mut Cursor<'_>, test: fn(i16) -> bool) -> Step<bool> {
        cursor.skip_blanks();
        if cursor.peek() == Some(b',') {
            return Ok(test(0));
        }
        self.parse_expression(0, cursor);
        let value = self.evaluate_now(0)?;
        if !value.is_absolute() {
            let message = "a condition must be a constant, but this moves with a section";
            self.error(Code::Operand, self.operands[0].span, message);
        }
        Ok(test(value.number as i16))
    }

    fn judge_pass(&mut self, condition: Condition) -> Step<bool> {
        match self.pass {
            Pass::Only => Err(Interrupt::TwoPasses),
            pass => Ok((pass == Pass::First) == (condition == Condition::FirstPass)),
        }
    }

    fn judge_defined(&mut self, cursor: &mut Cursor<'_>) -> bool {
        cursor.skip_blanks();
        let rest = cursor.rest();
        let length = rest.iter().take_while(|byte| lex::is_symbol(**byte)).count();
        let word = &rest[..length];
        cursor.advance(length);
        // Nothing and a number are no symbols, so that they are not defined.
        if word.first().is_none_or(u8::is_ascii_digit) {
            return false;
        }
        if word == b"." {
            return true;
        }
        let name = self.naming.names.intern(word);
        self.mention(name, cursor.since(cursor.offset() - word.len() as u32), Role::Use);
        let entry = self.naming.names[name];
        let defined = entry.definition != Definition::None
            || entry.state != State::Undefined
            || entry.special.is_some()
            || entry.operator.is_some()
            || entry.macro_index().is_some();
        if !defined && self.pass == Pass::Only {
            self.naming.assumed_undefined.push(name);
        }
        defined
    }

    /// A text that is left out is blank.
    fn judge_blank(&mut self, cursor: &mut Cursor<'_>) -> bool {
        cursor.skip_blanks();
        if cursor.peek() == Some(b',') {
            return true;
        }
        let Some(text) = self.text_argument(cursor) else { return true };
        self.input.sources.slice(text).iter().all(|byte| lex::is_blank(*byte))
    }

    /// Trailing blanks do not count, leading ones do.
    fn judge_identical(&mut self, cursor: &mut Cursor<'_>) -> bool {
        let one = self.text_argument(cursor);
        cursor.skip_blanks();
        // A text that is left out is like no other, not even an empty one.
        let left_out = cursor.peek() == Some(b',');
        let other = if left_out { None } else { self.text_argument(cursor) };
        let (Some(one), Some(other)) = (one, other) else { return false };
        let trimmed = |span| {
            let text = self.input.sources.slice(span);
            let blank = text.iter().rev().take_while(|byte| lex::is_blank(**byte)).count();
            &text[..text.len() - blank]
        };
        trimmed(one) == trimmed(other)
    }

    /// Reads a text in brackets or between two equal delimiters; returns its span without them.
    fn text_argument(&mut self, cursor: &mut Cursor<'_>) -> Option<Span> {
        cursor.skip_blanks();
        let start = cursor.offset();
        let end = match cursor.peek() {
            // Brackets do not nest here.
            Some(b'[') => memchr::memchr(b']', cursor.rest()).map(|length| start + length as u32),
            Some(byte) if !matches!(byte, b'\n' | b'\r' | b';') => {
                cursor.take(lex::delimited_text).map(|_| cursor.offset() - 1)
            }
            _ => None,
        };
        let Some(end) = end else {
            let message = "a text in brackets or quotes is missing or not closed";
            self.error(Code::Unterminated, cursor.here(), message);
            return None;
        };
        cursor.move_to(end + 1);
        Some(Span::new(start + 1, end))
    }

    /// Returns the offset of the `]` that closes the `[` at the cursor, if the text has it.
    pub(super) fn closing_bracket(&self, cursor: &Cursor<'_>) -> Option<u32> {
        let source = self.input.sources.source_at(cursor.offset());
        source.closing_bracket(cursor.offset() - source.base).map(|close| close + source.base)
    }

    /// Begins the text for the condition, with the `[` of the true one at the cursor.
    fn enter_blocks(&mut self, holds: bool, cursor: &mut Cursor<'_>) -> Ending {
        if holds {
            cursor.advance(1);
            self.input.open_block();
            return Ending::Complete;
        }
        if !self.skip_block(cursor) {
            return Ending::Complete;
        }
        let mut ahead = cursor.clone();
        skip_to_next_block(&mut ahead);
        // Looked for on a copy: without a second text the cursor must stay after the first, where
        // blanks and line ends still mean something.
        if ahead.peek() == Some(b'[') {
            let gap = Span::new(cursor.offset(), ahead.offset());
            *cursor = ahead;
            cursor.advance(1);
            self.input.open_block();
            if self.spans_lines(gap) {
                self.reports.next_row();
            }
            return Ending::Complete;
        }
        // What follows a text that was skipped is a statement of its own.
        Ending::Complete
    }

    /// Moves past a text that is not assembled; `false` if it never ends, which was reported.
    fn skip_block(&mut self, cursor: &mut Cursor<'_>) -> bool {
        match self.closing_bracket(cursor) {
            Some(close) => {
                let start = cursor.offset();
                cursor.move_to(close + 1);
                // The text was passed by its brackets alone, without a look at statements: a
                // bracket in a comment may have ended it too early, which nothing but this warning
                // would show.
                self.warn_of_brackets(Span::new(start + 1, close));
                if self.spans_lines(cursor.since(start)) {
                    self.reports.next_row();
                }
                true
            }
            None => {
                self.unclosed(cursor);
                false
            }
        }
    }

    /// Warns of a bracket in a comment or string of a text in which brackets are only counted. What
    /// stands in a macro's text was looked at when the macro was defined.
    pub(super) fn warn_of_brackets(&mut self, text: Span) {
        if self.input.macro_depth() > 0 {
            return;
        }
        if let Some(at) = lone_bracket(self.input.sources.slice(text)) {
            let start = text.start + at as u32;
            let message = "a bracket in a comment or quote counts here and can end the text early";
            let diagnostic = Diagnostic::new(Code::Bracket, Span::new(start, start + 1), message);
            self.report(diagnostic.help("leave it out, or put its partner into the same comment"));
        }
    }

    fn spans_lines(&self, span: Span) -> bool {
        memchr::memchr2(b'\n', b'\r', self.input.sources.slice(span)).is_some()
    }

    /// Reports a bracket that is not closed; nothing of the text is left to read then.
    pub(super) fn unclosed(&mut self, cursor: &mut Cursor<'_>) {
        self.error(Code::Unterminated, cursor.here(), "this bracket is not closed");
        cursor.advance(cursor.rest().len());
        // No .END can be found behind it.
        self.input.ended = true;
    }

    /// Leaves the text that is being assembled, after its `]`, and skips the text in brackets that
    /// may follow; `true` if one did.
    pub(super) fn close_block(&mut self, cursor: &mut Cursor<'_>) -> bool {
        if self.input.is_surplus() {
            let at = cursor.since(cursor.offset().saturating_sub(1));
            let message = "this bracket closes nothing; it is read over, as on the original";
            self.error(Code::Surplus, at, message);
        }
        self.input.close_block();
        let mut ahead = cursor.clone();
        skip_to_next_block(&mut ahead);
        let skips = ahead.peek() == Some(b'[');
        if skips {
            *cursor = ahead;
            self.skip_block(cursor);
        }
        skips
    }
}

/// Between the two texts there may be blanks, comments and empty lines.
fn skip_to_next_block(cursor: &mut Cursor<'_>) {
    loop {
        cursor.skip_blanks();
        match cursor.peek() {
            Some(b'\n' | b'\r' | b';') => cursor.skip_line(),
            _ => return,
        }
    }
}
