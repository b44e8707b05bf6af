//! What the first pass has read of the statements: their names and expressions, which the second
//! pass takes from here.
//!
//! Both passes read the same texts in the same order, unless conditionals differ, and what begins
//! at an offset is the same in both. Only `..locals` are looked up again, since their meaning
//! depends on the scope.

use rustc_hash::FxHashMap;

use super::name_table::{NameId, NameTable};
use crate::syntax::Cursor;
use crate::syntax::expr::{Expr, Intern, LOCAL, Op};

/// The labels, operators and expressions of the statements of a module.
#[derive(Debug, Default)]
pub(super) struct Reading {
    names: ByOffset<NameId>,
    expressions: ByOffset<KnownExpr>,
    /// The operations of the expressions.
    pub(super) ops: Vec<Op>,
    /// Whether the first pass has read the module.
    pub(super) is_complete: bool,
}

/// An expression whose operations are the same in both passes; no other has operations here.
#[derive(Debug, Clone, Copy, Default)]
struct KnownExpr {
    first: u32,
    length: u16,
    count: u8,
    radix: u8,
}

impl KnownExpr {
    fn new(expr: &Expr, radix: u8) -> Self {
        let length = u16::try_from(expr.span.end - expr.span.start);
        match (expr.is_context_free, length, u8::try_from(expr.count)) {
            (true, Ok(length), Ok(count)) => Self { first: expr.first, length, count, radix },
            _ => Self::default(),
        }
    }
}

impl Reading {
    /// Reserves what a text of this length usually needs. To move what has grown takes longer than
    /// memory that stays unused.
    pub(super) fn reserve(&mut self, length: usize) {
        self.names.items.reserve(length / 16);
        self.expressions.items.reserve(length / 24);
        self.ops.reserve(length / 16);
    }

    /// Returns the name of a label or operator that begins at an offset.
    pub(super) fn name(&mut self, word: &[u8], start: u32, table: &mut NameTable) -> NameId {
        if word.starts_with(LOCAL) {
            return table.intern(word);
        }
        if self.is_complete
            && let Some(name) = self.names.find(start)
        {
            return name;
        }
        let name = table.intern(word);
        if !self.is_complete {
            self.names.items.push((start, name));
        }
        name
    }

    /// Reads an expression, and the blanks before and after it.
    pub(super) fn expression(
        &mut self,
        cursor: &mut Cursor<'_>,
        radix: u8,
        table: &mut NameTable,
    ) -> Expr {
        cursor.skip_blanks();
        let start = cursor.offset();
        if self.is_complete
            && let Some(KnownExpr { first, length, count: count @ 1.., radix: known }) =
                self.expressions.find(start)
            && known == radix
        {
            cursor.advance(length.into());
            let span = cursor.since(start);
            cursor.skip_blanks();
            return Expr { first, count: count.into(), span, is_context_free: true };
        }
        let expr = Expr::parse(cursor, radix, table, &mut self.ops);
        if !self.is_complete {
            self.expressions.items.push((start, KnownExpr::new(&expr, radix)));
        }
        expr
    }
}

/// Items in the order in which the first pass read them, each after the offset at which it begins.
#[derive(Debug, Default)]
struct ByOffset<T> {
    items: Vec<(u32, T)>,
    /// The index after the item that was found last.
    next: usize,
    /// The index of each item, if one was looked for out of order.
    indexes: Option<FxHashMap<u32, usize>>,
}

impl<T: Copy> ByOffset<T> {
    #[inline]
    fn find(&mut self, offset: u32) -> Option<T> {
        if self.items.get(self.next).is_none_or(|item| item.0 != offset) {
            self.next = self.index(offset)?;
        }
        self.next += 1;
        Some(self.items[self.next - 1].1)
    }

    #[cold]
    fn index(&mut self, offset: u32) -> Option<usize> {
        let by_offset = || self.items.iter().map(|item| item.0).zip(0..).collect();
        self.indexes.get_or_insert_with(by_offset).get(&offset).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::super::options::Options;
    use super::*;

    /// Reads an expression of a text that begins at offset 0, and returns its operations.
    fn read(reading: &mut Reading, text: &str, radix: u8) -> Vec<Op> {
        let mut names = NameTable::new(&Options::default());
        let mut cursor = Cursor::new(text.as_bytes(), text.len() as u32);
        let expr = reading.expression(&mut cursor, radix, &mut names);
        assert_eq!(cursor.rest(), b",", "{text}");
        expr.operations(&reading.ops).to_vec()
    }

    #[test]
    fn a_second_pass_takes_the_expressions_of_the_first_instead_of_reading_the_text() {
        for (first, second, is_known) in [
            (("10 ,", 10), ("99 ,", 10), true),
            // Another radix, another symbol of a scope, an error that is reported in each pass.
            (("10 ,", 10), ("99 ,", 16), false),
            (("..L ,", 10), ("..M ,", 10), false),
            (("8Q9 ,", 10), ("777 ,", 10), false),
        ] {
            let mut reading = Reading::default();
            let known = read(&mut reading, first.0, first.1);
            reading.is_complete = true;
            let again = read(&mut reading, second.0, second.1);
            let fresh = read(&mut Reading::default(), second.0, second.1);
            assert_eq!(again, if is_known { known } else { fresh }, "{second:?}");
        }
    }

    #[test]
    fn names_are_found_in_the_order_of_the_first_pass_and_out_of_it() {
        let mut names = NameTable::new(&Options::default());
        let mut reading = Reading::default();
        let ids = [0, 9, 5].map(|at| reading.name(&[b'A' + at as u8], at, &mut names));
        reading.is_complete = true;
        for (at, expected) in [(0, ids[0]), (9, ids[1]), (0, ids[0]), (5, ids[2]), (9, ids[1])] {
            assert_eq!(reading.name(b"OTHER", at, &mut names), expected);
        }
        assert_eq!(reading.name(b"A", 7, &mut names), ids[0], "the first pass read nothing there");
    }
}
