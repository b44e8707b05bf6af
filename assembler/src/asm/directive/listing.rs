//! Directives about the listing: kept in order for whoever shows it.

use crate::listing::{Control, Wish};
use crate::syntax::expr::Intern;
use crate::syntax::{Cursor, lex};

use super::super::names::Operator;
use super::super::{Assembler, Step};
use super::Directive;

impl Assembler<'_> {
    /// `.TITLE` and `.SBTTL`.
    pub(super) fn heading(&mut self, directive: Directive, cursor: &mut Cursor<'_>) -> Step {
        let text = self.text(cursor);
        self.control(match directive {
            Directive::Title => Control::Title(text),
            _ => Control::Subtitle(text),
        });
        Ok(())
    }

    /// The directives without operand. Another may follow on the line of `.SLIST`, and PASM's `.PAGE` takes a size.
    pub(super) fn listing_wish(&mut self, wish: Wish, cursor: &mut Cursor<'_>) -> Step {
        let mut next = Some(wish);
        while let Some(wish) = next {
            self.control(Control::Wish(wish));
            if wish == Wish::Page {
                cursor.skip_to_line_end();
            }
            next = self.next_wish(cursor);
        }
        Ok(())
    }

    /// The directive about the listing that comes next, if one does.
    fn next_wish(&mut self, cursor: &mut Cursor<'_>) -> Option<Wish> {
        cursor.skip_blanks();
        let mut ahead = cursor.clone();
        let name = ahead.take(lex::symbol).map(|word| self.names.intern(word))?;
        let Some(Operator::Directive(Directive::Listing(wish))) = self.names[name].operator else {
            return None;
        };
        *cursor = ahead;
        Some(wish)
    }
}
