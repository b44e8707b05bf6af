//! Directives about the listing: kept in order for whoever shows it.

use crate::diag::Code;
use crate::listing::{Break, Control, Wish};
use crate::syntax::expr::Intern;
use crate::syntax::{Cursor, lex};

use super::super::names::Operator;
use super::super::statement::Ending;
use super::super::{Assembler, Step};
use super::Directive;

/// The characters of a title that are printed.
const TITLE_KEPT: usize = 80;
/// The characters of a title that raise no error.
const TITLE_ROOM: usize = 78;

impl Assembler<'_> {
    /// `.TITLE` and `.SBTTL`.
    pub(super) fn heading(
        &mut self,
        directive: Directive,
        cursor: &mut Cursor<'_>,
    ) -> Step<Ending> {
        let text = self.title(cursor);
        self.control(match directive {
            Directive::Title => Control::Title(text),
            _ => Control::Subtitle(text),
        });
        Ok(Ending::Open)
    }

    /// Reads a delimited text without its line ends; the characters that no heading has room for
    /// are reported one by one, and after the last that is kept the rest of the line is skipped, as
    /// the original does.
    fn title(&mut self, cursor: &mut Cursor<'_>) -> String {
        cursor.skip_blanks();
        if matches!(cursor.peek(), None | Some(b';')) {
            return String::new();
        }
        if cursor.at_statement_end() {
            return self.title_below(cursor);
        }
        let start = cursor.here();
        let close = cursor.peek();
        cursor.advance(1);
        let mut text = Vec::new();
        while let Some(byte) = cursor.peek() {
            let at = cursor.offset();
            cursor.advance(1);
            if Some(byte) == close {
                return String::from_utf8_lossy(&text).into_owned();
            }
            if matches!(byte, b'\r' | b'\n') {
                continue;
            }
            text.push(byte);
            if text.len() > TITLE_ROOM {
                let message = "a title has room for 78 characters";
                self.error(Code::Heading, cursor.since(at), message);
            }
            if text.len() == TITLE_KEPT {
                cursor.skip_to_line_end();
                return String::from_utf8_lossy(&text).into_owned();
            }
        }
        self.error(Code::Unterminated, start, "the text that begins here is not closed");
        String::new()
    }

    /// Reads the line below as the title: the line's end is the delimiter then.
    fn title_below(&mut self, cursor: &mut Cursor<'_>) -> String {
        cursor.skip_line();
        let line = cursor.rest();
        cursor.skip_to_line_end();
        let line = &line[..line.len() - cursor.rest().len()];
        if !line.trim_ascii().is_empty() {
            let message = "this line is taken for the title, as the one above has none";
            self.error(Code::LostLine, cursor.since(cursor.offset() - line.len() as u32), message);
        }
        String::from_utf8_lossy(&line[..line.len().min(TITLE_KEPT)]).into_owned()
    }

    /// Notes `.LINK` and `.XLINK`, which also change the headings.
    pub(super) fn linkage_control(&mut self, linkage: bool) {
        if self.options.listing {
            let place = self.record.listing.statements.len() as u32;
            self.record.listing.controls.push((place, Control::Linkage(linkage)));
        }
    }

    /// Notes the line ends in a text that makes bytes: the listing shows the bytes of each line
    /// beside it.
    pub(super) fn note_breaks(&mut self, start: u32, text: &[u8], before: u32) {
        if !self.options.listing {
            return;
        }
        let statement = self.record.listing.statements.len() as u32;
        for at in memchr::memchr_iter(b'\n', text) {
            let end = if text[..at].ends_with(b"\r") { at - 1 } else { at };
            let offset = start + end as u32;
            let bytes = before + end as u32;
            self.record.listing.breaks.push(Break { statement, offset, bytes });
        }
    }

    /// The directives without operand. Another may follow on the line of `.SLIST`.
    pub(super) fn listing_wish(&mut self, wish: Wish, cursor: &mut Cursor<'_>) -> Step<Ending> {
        let mut next = Some(wish);
        while let Some(wish) = next {
            self.control(Control::Wish(wish));
            next = if wish == Wish::Save { self.next_wish(cursor) } else { None };
        }
        Ok(Ending::Open)
    }

    /// The directive about the listing that comes next, if one does.
    fn next_wish(&mut self, cursor: &mut Cursor<'_>) -> Option<Wish> {
        cursor.skip_blanks();
        let mut ahead = cursor.clone();
        let name = ahead.take(lex::symbol).map(|word| self.naming.names.intern(word))?;
        let Some(Operator::Directive(Directive::Listing(wish))) = self.naming.names[name].operator
        else {
            return None;
        };
        *cursor = ahead;
        Some(wish)
    }
}
