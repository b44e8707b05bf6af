//! Rows of tables in program text: `("FEN", "move", 100, true),` and the like.

use super::fields::{Field, of_table};

/// A row whose FEN is a string of a program.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TableRow<'a> {
    /// The string, which holds the FEN, and perhaps `| move | value`.
    pub(crate) string: &'a str,
    /// The column of its first character, from 1.
    pub(crate) column: usize,
    /// The fields after the string.
    pub(crate) fields: Vec<Field>,
    /// Whether the row ends on its line.
    pub(crate) is_closed: bool,
}

impl<'a> TableRow<'a> {
    /// Reads a line. `None` if it has no string that begins like a FEN, or begins otherwise.
    pub(crate) fn read(line: &'a str) -> Option<Self> {
        let quote = line.find(['"', '\''])?;
        let mark = if line[quote..].starts_with('"') { '"' } else { '\'' };
        let text = &line[quote + 1..];
        let board = text.split_whitespace().next()?;
        if board.matches('/').count() < 3 || line[..quote].contains('/') {
            return None;
        }
        let end = text.find(mark)?;
        let column = line[..=quote].chars().count() + 1;
        let after = column + text[..=end].chars().count();
        let (fields, is_closed) = of_table(&text[end + 1..], after);
        Some(Self { string: &text[..end], column, fields, is_closed })
    }
}

/// Returns whether a line of program text has nothing but brackets and separators.
pub(crate) fn is_only_brackets(line: &str) -> bool {
    line.trim().chars().all(|c| "()[]{},; ".contains(c))
}
