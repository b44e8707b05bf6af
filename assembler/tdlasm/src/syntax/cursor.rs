//! A cursor over a source text, which parsers advance.

use super::lex::{self, Parsed};
use super::work;
use crate::source::{Span, line_ends};

/// The unread rest of a text, with its position in the source map.
#[derive(Debug, Clone)]
pub struct Cursor<'t> {
    rest: &'t [u8],
    end: u32,
    /// The number of line ends before the cursor.
    lines: u32,
}

impl<'t> Cursor<'t> {
    /// Creates a cursor at the start of `text`, which ends at offset `end` of the map.
    pub fn new(text: &'t [u8], end: u32) -> Self {
        Self { rest: text, end, lines: 0 }
    }

    /// Sets the number of line ends before the cursor.
    pub(crate) fn with_lines(self, lines: u32) -> Self {
        Self { lines, ..self }
    }

    /// Returns the number of line ends before the cursor.
    #[inline]
    pub(crate) fn lines(&self) -> u32 {
        self.lines
    }

    /// Returns the unread text.
    pub fn rest(&self) -> &'t [u8] {
        self.rest
    }

    /// Returns the offset in the source map.
    #[inline]
    pub fn offset(&self) -> u32 {
        self.end - self.rest.len() as u32
    }

    /// Returns the span from `start` to the cursor.
    pub fn since(&self, start: u32) -> Span {
        Span::new(start, self.offset())
    }

    /// Returns the span of the next byte; empty at the end of the text.
    pub fn here(&self) -> Span {
        let start = self.offset();
        Span::new(start, start + u32::from(!self.rest.is_empty()))
    }

    /// Returns the empty span before the next byte, where something is missing.
    pub fn gap(&self) -> Span {
        Span::new(self.offset(), self.offset())
    }

    /// Returns the next byte.
    #[inline]
    pub fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    /// Advances by `count` bytes within a line, at most to the end.
    #[inline]
    pub fn advance(&mut self, count: usize) {
        let count = count.min(self.rest.len());
        work::count(count);
        self.rest = &self.rest[count..];
    }

    /// Advances by `count` bytes, at most to the end, over any number of lines.
    pub fn advance_lines(&mut self, count: usize) {
        let count = count.min(self.rest.len());
        self.lines += line_ends(self.rest, count).count() as u32;
        self.advance(count);
    }

    /// Skips the next byte if it is `byte`.
    #[inline]
    pub fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.advance(usize::from(found));
        found
    }

    /// Skips blanks followed by `byte`; if something else follows, the cursor does not move.
    #[inline]
    pub fn eat_behind_blanks(&mut self, byte: u8) -> bool {
        // The most frequent case: something else follows directly.
        if !self.peek().is_some_and(|next| next == byte || lex::is_blank(next)) {
            return false;
        }
        let mut behind = self.clone();
        behind.skip_blanks();
        let found = behind.eat(byte);
        if found {
            *self = behind;
        }
        found
    }

    /// Runs a parser that reads within a line. Without a match the cursor does not move.
    #[inline]
    pub fn take<T>(&mut self, parser: impl FnOnce(&'t [u8]) -> Parsed<'t, T>) -> Option<T> {
        let (rest, found) = parser(self.rest).ok()?;
        work::count(self.rest.len() - rest.len());
        self.rest = rest;
        Some(found)
    }

    /// Runs a parser that reads any number of lines. Without a match the cursor does not move.
    pub fn take_lines<T>(&mut self, parser: impl FnOnce(&'t [u8]) -> Parsed<'t, T>) -> Option<T> {
        let (rest, found) = parser(self.rest).ok()?;
        self.advance_lines(self.rest.len() - rest.len());
        Some(found)
    }

    /// Skips blanks.
    #[inline]
    pub fn skip_blanks(&mut self) {
        while let [blank, rest @ ..] = self.rest
            && lex::is_blank(*blank)
        {
            work::count(1);
            self.rest = rest;
        }
    }

    /// Returns `true` if only a comment, the end of the line or the end of the text follows.
    #[inline]
    pub fn at_statement_end(&self) -> bool {
        matches!(self.peek(), None | Some(b'\n' | b'\r' | b';'))
    }

    /// Returns the unread text up to a semicolon or the end of the line.
    pub fn rest_of_statement(&self) -> &'t [u8] {
        let ends = |byte: &u8| matches!(byte, b'\n' | b'\r' | b';');
        let end = self.rest.iter().position(ends).unwrap_or(self.rest.len());
        &self.rest[..end]
    }

    /// Moves to the end of this line.
    #[inline]
    pub fn skip_to_line_end(&mut self) {
        // Most statements are followed directly by the line end, so that no search is needed.
        if !matches!(self.peek(), Some(b'\n' | b'\r')) {
            let end = memchr::memchr2(b'\n', b'\r', self.rest).unwrap_or(self.rest.len());
            self.advance(end);
        }
    }

    /// Moves to the start of the next line.
    #[inline]
    pub fn skip_line(&mut self) {
        self.skip_to_line_end();
        let is_return = self.eat(b'\r');
        self.lines += u32::from(self.eat(b'\n') || is_return);
    }

    /// Returns the empty span at the start of the next line.
    pub fn next_line(&self) -> Span {
        let mut after = self.clone();
        after.skip_line();
        after.gap()
    }

    /// Moves forward to `offset` of the source map.
    pub fn move_to(&mut self, offset: u32) {
        self.advance_lines(offset.saturating_sub(self.offset()) as usize);
    }
}
