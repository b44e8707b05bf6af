//! The arguments of macro calls.

use crate::diag::Code;
use crate::source::Span;
use crate::syntax::Cursor;

use super::{Assembler, Step};

/// The text that a call puts in the place of a parameter.
#[derive(Debug, Clone)]
pub(super) struct Argument {
    pub(super) text: Vec<u8>,
    /// Its place, if it stands in the source as it is.
    pub(super) place: Option<Span>,
}

impl Argument {
    /// One that does not stand in the source as it is.
    pub(super) fn made(text: Vec<u8>) -> Self {
        Self { text, place: None }
    }
}

impl Assembler<'_> {
    /// The arguments of a call, each as the text that goes into the body.
    pub(super) fn arguments(&mut self, cursor: &mut Cursor<'_>) -> Step<Vec<Argument>> {
        cursor.skip_blanks();
        let bracketed = cursor.eat(b'[');
        let mut arguments = Vec::new();
        let none = if bracketed { cursor.peek() == Some(b']') } else { cursor.at_statement_end() };
        if !none {
            self.argument_list(cursor, bracketed, &mut arguments)?;
        }
        if bracketed && !cursor.eat(b']') {
            // The original ends the arguments with their line, bracket or not.
            cursor.skip_blanks();
        }
        Ok(arguments)
    }

    fn argument_list(
        &mut self,
        cursor: &mut Cursor<'_>,
        bracketed: bool,
        list: &mut Vec<Argument>,
    ) -> Step {
        let mut plain = false;
        loop {
            let is_first = list.is_empty();
            // The original looks for the closing bracket only once it has read plain text.
            let seeks = cursor.peek() != Some(b'(') && cursor.peek() != Some(b'\\');
            let unsought = !plain;
            plain |= seeks;
            list.push(self.argument(cursor, bracketed, is_first, unsought)?);
            if !cursor.eat(b',') {
                return Ok(());
            }
        }
    }

    fn argument(
        &mut self,
        cursor: &mut Cursor<'_>,
        bracketed: bool,
        is_first: bool,
        unsought: bool,
    ) -> Step<Argument> {
        if is_first && !bracketed {
            cursor.skip_blanks();
        }
        if cursor.eat(b'\\') {
            return self.number_argument(cursor, unsought).map(Argument::made);
        }
        Ok(self.text_of_argument(cursor, bracketed))
    }

    /// An argument that is text: as it stands, or without the parentheses around it.
    fn text_of_argument(&mut self, cursor: &mut Cursor<'_>, bracketed: bool) -> Argument {
        if let Some(argument) = self.argument_in_parentheses(cursor) {
            return argument;
        }
        let text = cursor.rest();
        let length = argument_length(text, bracketed || self.input.is_enclosed());
        let place = Span::new(cursor.offset(), cursor.offset() + length as u32);
        cursor.advance(length);
        Argument { text: text[..length].to_vec(), place: Some(place) }
    }

    /// An argument in parentheses, which go away. It may span lines, and ends with its parenthesis:
    /// whatever follows but a comma ends the call.
    fn argument_in_parentheses(&mut self, cursor: &mut Cursor<'_>) -> Option<Argument> {
        if cursor.peek() != Some(b'(') {
            return None;
        }
        let Some(length) = closing_parenthesis(cursor.rest()) else {
            let message = "the parenthesis that begins this argument is not closed";
            self.error(Code::Unterminated, cursor.here(), message);
            cursor.advance(cursor.rest().len());
            self.input.ended = true;
            return Some(Argument::made(Vec::new()));
        };
        let text = cursor.rest()[1..length].to_vec();
        let start = cursor.offset() + 1;
        cursor.advance(length + 1);
        cursor.skip_blanks();
        if memchr::memchr2(b'\n', b'\r', &text).is_some() {
            self.reports.next_row();
        }
        let place = Span::new(start, start + text.len() as u32);
        Some(Argument { text, place: Some(place) })
    }

    /// `\expression`: the digits of its value in the current radix. Where the closing bracket is
    /// not sought, what follows up to the next comma is a part of the text.
    fn number_argument(&mut self, cursor: &mut Cursor<'_>, unsought: bool) -> Step<Vec<u8>> {
        self.parse_expression(0, cursor);
        if self.operands[0].ops.is_empty() {
            self.error(Code::Expression, cursor.here(), "a value is missing; 0 is used");
        }
        let value = self.evaluate_now(0)?;
        if !value.is_absolute() {
            let message = "the argument must be a constant, but this moves with a section";
            self.error(Code::Relocation, self.operands[0].span, message);
        }
        let mut text = in_radix(value.number, self.radix);
        if unsought && cursor.peek() == Some(b']') {
            text.extend(self.text_of_argument(cursor, false).text);
        }
        Ok(text)
    }
}

/// The index of the parenthesis that closes the one at the start.
pub(super) fn closing_parenthesis(text: &[u8]) -> Option<usize> {
    let mut depth = 0usize;
    text.iter().position(|byte| {
        match byte {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    })
}

/// The length of an argument: to a comma, a comment, the line's end or the closing bracket.
/// Parentheses count at the start of an argument only.
fn argument_length(text: &[u8], until_bracket: bool) -> usize {
    let mut open_brackets = 0usize;
    text.iter()
        .position(|byte| {
            match byte {
                b',' | b';' | b'\n' | b'\r' => return true,
                b'[' => open_brackets += 1,
                b']' if until_bracket => {
                    if open_brackets == 0 {
                        return true;
                    }
                    open_brackets -= 1;
                }
                _ => {}
            }
            false
        })
        .unwrap_or(text.len())
}

fn in_radix(number: u16, radix: u8) -> Vec<u8> {
    let mut digits = Vec::new();
    let mut rest = number;
    loop {
        digits.push(b"0123456789ABCDEF"[usize::from(rest % u16::from(radix))]);
        rest /= u16::from(radix);
        if rest == 0 {
            break;
        }
    }
    digits.reverse();
    digits
}
