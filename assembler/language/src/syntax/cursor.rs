//! A place in a source text that parsers move forward.

use crate::source::Span;

use super::lex::{self, Parsed};
use super::work;

/// The unread rest of a text, which remembers where in the source map it is.
#[derive(Debug, Clone)]
pub struct Cursor<'t> {
    rest: &'t [u8],
    end: u32,
}

impl<'t> Cursor<'t> {
    /// A cursor at the start of `text`, whose last byte is just before offset `end` of the map.
    pub fn new(text: &'t [u8], end: u32) -> Self {
        Self { rest: text, end }
    }

    /// Returns what is not yet read.
    pub fn rest(&self) -> &'t [u8] {
        self.rest
    }

    /// The offset in the source map.
    #[inline]
    pub fn offset(&self) -> u32 {
        self.end - self.rest.len() as u32
    }

    /// The span from `start` to here.
    pub fn since(&self, start: u32) -> Span {
        Span::new(start, self.offset())
    }

    /// The span of the next byte, empty at the end of the text.
    pub fn here(&self) -> Span {
        let start = self.offset();
        Span::new(start, start + u32::from(!self.rest.is_empty()))
    }

    /// The next byte.
    #[inline]
    pub fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    /// Moves past `count` bytes or to the end.
    #[inline]
    pub fn advance(&mut self, count: usize) {
        let count = count.min(self.rest.len());
        work::count(count);
        self.rest = &self.rest[count..];
    }

    /// Moves past the next byte if it is `byte`.
    #[inline]
    pub fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.advance(usize::from(found));
        found
    }

    /// Moves past blanks and `byte` behind them; if that does not come next, nothing moves.
    #[inline]
    pub fn eat_behind_blanks(&mut self, byte: u8) -> bool {
        // Mostly something else comes at once.
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

    /// Runs a parser; without a match nothing moves.
    #[inline]
    pub fn take<T>(&mut self, parser: impl FnOnce(&'t [u8]) -> Parsed<'t, T>) -> Option<T> {
        let (rest, found) = parser(self.rest).ok()?;
        work::count(self.rest.len() - rest.len());
        self.rest = rest;
        Some(found)
    }

    /// Moves past blanks.
    #[inline]
    pub fn skip_blanks(&mut self) {
        while self.peek().is_some_and(lex::is_blank) {
            self.advance(1);
        }
    }

    /// Whether only a comment, the line's end or the text's end follows.
    #[inline]
    pub fn at_statement_end(&self) -> bool {
        matches!(self.peek(), None | Some(b'\n' | b'\r' | b';'))
    }

    /// Moves to the end of this line.
    #[inline]
    pub fn skip_to_line_end(&mut self) {
        // Most statements are followed by nothing, for which a search would take its time.
        if !matches!(self.peek(), Some(b'\n' | b'\r')) {
            let end = memchr::memchr2(b'\n', b'\r', self.rest).unwrap_or(self.rest.len());
            self.advance(end);
        }
    }

    /// Moves to the start of the next line.
    #[inline]
    pub fn skip_line(&mut self) {
        self.skip_to_line_end();
        self.eat(b'\r');
        self.eat(b'\n');
    }

    /// Moves to `offset` of the source map, which is not before the present one.
    pub fn move_to(&mut self, offset: u32) {
        self.advance(offset.saturating_sub(self.offset()) as usize);
    }
}
