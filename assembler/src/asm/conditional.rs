//! Conditional assembly: `.IFx argument,[true text] [false text]` and the form on one line.

use crate::diag::{Code, Diagnostic};
use crate::references::Role;
use crate::source::Span;
use crate::syntax::expr::Intern;
use crate::syntax::{Cursor, lex};

use super::brackets::lone_bracket;
use super::directive::Condition;
use super::names::Definition;
use super::reader::{Frame, FrameKind, Jump};
use super::{Assembler, Interrupt, Pass, Step};

impl Assembler<'_> {
    pub(super) fn conditional(
        &mut self,
        condition: Condition,
        span: Span,
        cursor: &mut Cursor<'_>,
    ) -> Step {
        // A condition that cannot be judged leaves both texts out.
        let holds = self.judge(condition, span, cursor)?;
        cursor.skip_blanks();
        if !cursor.eat(b',') {
            self.error(Code::Operand, cursor.here(), "a comma is missing behind the condition");
        }
        cursor.skip_blanks();
        if cursor.peek() == Some(b'[') {
            return self.blocks(holds, cursor);
        }
        if holds != Some(true) {
            cursor.skip_to_line_end();
            return Ok(());
        }
        let end = cursor.offset() + line_length(cursor.rest()) as u32;
        let frame = self.block_frame(Span::new(cursor.offset(), end));
        self.jump = frame.map(Jump::Into);
        cursor.skip_to_line_end();
        Ok(())
    }

    fn judge(
        &mut self,
        condition: Condition,
        span: Span,
        cursor: &mut Cursor<'_>,
    ) -> Step<Option<bool>> {
        match condition {
            Condition::Equal => self.judge_number(cursor, |number| number == 0),
            Condition::NotEqual => self.judge_number(cursor, |number| number != 0),
            Condition::Greater => self.judge_number(cursor, |number| number > 0),
            Condition::GreaterEqual => self.judge_number(cursor, |number| number >= 0),
            Condition::Less => self.judge_number(cursor, |number| number < 0),
            Condition::LessEqual => self.judge_number(cursor, |number| number <= 0),
            Condition::FirstPass | Condition::SecondPass => self.judge_pass(condition),
            Condition::Defined => Ok(self.judge_defined(cursor, span)),
            Condition::NotDefined => Ok(self.judge_defined(cursor, span).map(|defined| !defined)),
            Condition::Blank => Ok(self.judge_blank(cursor)),
            Condition::NotBlank => Ok(self.judge_blank(cursor).map(|blank| !blank)),
            Condition::Identical => Ok(self.judge_identical(cursor)),
            Condition::Different => Ok(self.judge_identical(cursor).map(|same| !same)),
        }
    }

    /// A blank argument counts as zero. The number is signed.
    fn judge_number(
        &mut self,
        cursor: &mut Cursor<'_>,
        test: fn(i16) -> bool,
    ) -> Step<Option<bool>> {
        self.parse_expression(0, cursor);
        if self.operands[0].ops.is_empty() {
            return Ok(Some(test(0)));
        }
        let value = self.known_operand(0, "the condition")?;
        Ok(value.map(|number| test(number as i16)))
    }

    fn judge_pass(&mut self, condition: Condition) -> Step<Option<bool>> {
        match self.pass {
            Pass::Only => Err(Interrupt::TwoPasses),
            pass => Ok(Some((pass == Pass::First) == (condition == Condition::FirstPass))),
        }
    }

    fn judge_defined(&mut self, cursor: &mut Cursor<'_>, span: Span) -> Option<bool> {
        cursor.skip_blanks();
        let Some(word) = cursor.take(lex::symbol) else {
            self.error(Code::Operand, span, "a symbol is missing");
            return None;
        };
        let name = self.names.intern(word);
        self.mention(name, cursor.since(cursor.offset() - word.len() as u32), Role::Use);
        let entry = self.names[name];
        let defined = entry.definition != Definition::None || entry.special.is_some();
        if !defined && self.pass == Pass::Only {
            self.assumed_undefined.push(name);
        }
        Some(defined)
    }

    fn judge_blank(&mut self, cursor: &mut Cursor<'_>) -> Option<bool> {
        let text = self.text_argument(cursor)?;
        Some(self.sources.slice(text).iter().all(|byte| lex::is_blank(*byte)))
    }

    /// Trailing blanks do not count, leading ones do.
    fn judge_identical(&mut self, cursor: &mut Cursor<'_>) -> Option<bool> {
        let (one, other) = (self.text_argument(cursor)?, self.text_argument(cursor)?);
        let trimmed = |span| {
            let text = self.sources.slice(span);
            let blank = text.iter().rev().take_while(|byte| lex::is_blank(**byte)).count();
            &text[..text.len() - blank]
        };
        Some(trimmed(one) == trimmed(other))
    }

    /// A text in brackets or between two equal delimiters; its span without them.
    fn text_argument(&mut self, cursor: &mut Cursor<'_>) -> Option<Span> {
        cursor.skip_blanks();
        let start = cursor.offset();
        let end = match cursor.peek() {
            Some(b'[') => self.closing_bracket(cursor),
            Some(byte) if !matches!(byte, b'\n' | b'\r' | b';' | b',') => {
                cursor.take(lex::delimited_text).map(|_| cursor.offset() - 1)
            }
            _ => None,
        };
        let Some(end) = end else {
            self.error(
                Code::Unterminated,
                cursor.here(),
                "a text in brackets or quotes is missing or not closed",
            );
            return None;
        };
        cursor.move_to(end + 1);
        Some(Span::new(start + 1, end))
    }

    /// The offset of the `]` that closes the `[` at the cursor, if it is in the text being read.
    pub(super) fn closing_bracket(&self, cursor: &Cursor<'_>) -> Option<u32> {
        let source = self.sources.source_at(cursor.offset());
        let close = source.closing_bracket(cursor.offset() - source.base)? + source.base;
        (close < cursor.offset() + cursor.rest().len() as u32).then_some(close)
    }

    /// Moves past the true text and the false text, and has the chosen one read.
    fn blocks(&mut self, holds: Option<bool>, cursor: &mut Cursor<'_>) -> Step {
        let Some(yes) = self.block(cursor) else { return Ok(()) };
        let mut ahead = cursor.clone();
        skip_to_next_block(&mut ahead);
        let mut no = None;
        if ahead.peek() == Some(b'[') {
            *cursor = ahead;
            no = self.block(cursor);
        }
        let chosen = match holds {
            Some(true) => Some(yes),
            Some(false) => no,
            None => None,
        };
        self.jump = chosen.and_then(|span| self.block_frame(span)).map(Jump::Into);
        Ok(())
    }

    /// The text in the brackets at the cursor.
    fn block(&mut self, cursor: &mut Cursor<'_>) -> Option<Span> {
        let start = cursor.offset() + 1;
        let Some(end) = self.closing_bracket(cursor) else {
            let at = cursor.here();
            self.error(Code::Unterminated, at, "this bracket is not closed");
            cursor.advance(cursor.rest().len());
            return None;
        };
        cursor.move_to(end + 1);
        self.warn_of_brackets(Span::new(start, end));
        Some(Span::new(start, end))
    }

    /// Warns of a bracket that may end a text early. What stands in another text was looked at with that one.
    pub(super) fn warn_of_brackets(&mut self, text: Span) {
        let outermost = self
            .reader
            .top()
            .is_some_and(|top| matches!(top.kind, FrameKind::File | FrameKind::Insert));
        let found = if outermost { lone_bracket(self.sources.slice(text)) } else { None };
        if let Some(at) = found {
            let start = text.start + at as u32;
            let message = "a bracket in a comment or quote counts and can end the text early";
            let diagnostic = Diagnostic::new(Code::Bracket, Span::new(start, start + 1), message);
            self.report(diagnostic.help("leave it out, or put its partner into the same comment"));
        }
    }

    /// A frame that reads a stretch of the text that is being read.
    fn block_frame(&mut self, span: Span) -> Option<Frame> {
        let top = self.reader.top()?;
        let (pos, end) = ((span.start - top.base) as usize, (span.end - top.base) as usize);
        Some(Frame { kind: FrameKind::Block, pos, end, ..top.clone() })
    }
}

fn line_length(text: &[u8]) -> usize {
    memchr::memchr2(b'\n', b'\r', text).unwrap_or(text.len())
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
