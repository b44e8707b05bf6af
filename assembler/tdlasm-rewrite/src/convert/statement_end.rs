//! Finds the end of a statement that is copied unchanged and may span lines.

use tdlasm::source::Source;
use tdlasm::syntax::directive::{Directive, OperandKind};
use tdlasm::syntax::{Cursor, lex};

/// The end of the last line of the statement whose operator ends at `from`.
pub(super) fn statement_end(source: &Source, operator: &[u8], from: usize) -> usize {
    let text = &source.text[..];
    let last = match Directive::from_word(operator).map(Directive::operands) {
        Some(OperandKind::Macro) => definition(source, from),
        Some(OperandKind::Texts) => texts(text, from, usize::MAX),
        Some(OperandKind::Text) => texts(text, from, 1),
        Some(OperandKind::Condition | OperandKind::TextCondition(_)) => conditional(source, from),
        Some(OperandKind::Expressions | OperandKind::File) | None => bracketed(source, from),
    };
    line_end(text, last)
}

/// Returns the number of open brackets after a text, given the number before it.
///
/// Brackets in comments and quotes are ignored, as in assembled text. In skipped text they would
/// count, but only the assembler knows which text is skipped.
pub(crate) fn bracket_depth(text: &[u8], depth: usize) -> usize {
    if memchr::memchr2(b'[', b']', text).is_none() {
        return depth;
    }
    lex::live_brackets(text).fold(depth, |depth, (_, bracket)| match bracket {
        b'[' => depth + 1,
        _ => depth.saturating_sub(1),
    })
}

/// The end of the line that holds the byte at `at`.
pub(crate) fn line_end(text: &[u8], at: usize) -> usize {
    memchr::memchr2(b'\n', b'\r', &text[at..]).map_or(text.len(), |length| at + length)
}

fn cursor(text: &[u8], at: usize) -> Cursor<'_> {
    Cursor::new(&text[at..], text.len() as u32)
}

fn closing(source: &Source, open: usize) -> Option<usize> {
    source.closing_bracket(open as u32).map(|close| close as usize)
}

/// `NAME[A,B]=` and, perhaps after empty lines, `[text]`.
fn definition(source: &Source, from: usize) -> usize {
    let mut cursor = cursor(&source.text, from);
    cursor.skip_blanks();
    cursor.take(lex::symbol);
    cursor.skip_blanks();
    let mut at = cursor.offset() as usize;
    if cursor.peek() == Some(b'[') {
        let Some(close) = closing(source, at) else { return at };
        cursor.move_to(close as u32 + 1);
        cursor.skip_blanks();
        at = close;
    }
    if !cursor.eat(b'=') {
        return at;
    }
    cursor.skip_blanks();
    while matches!(cursor.peek(), Some(b'\n' | b'\r' | b';')) {
        cursor.skip_line();
        cursor.skip_blanks();
    }
    let open = cursor.offset() as usize;
    if cursor.peek() == Some(b'[') { closing(source, open).unwrap_or(at) } else { at }
}

/// Up to `most` delimited texts, and bytes in brackets between them.
fn texts(text: &[u8], from: usize, most: usize) -> usize {
    let mut cursor = cursor(text, from);
    let mut count = 0;
    while count < most {
        cursor.skip_blanks();
        if cursor.at_statement_end() {
            break;
        }
        if cursor.peek() == Some(b'[') {
            let rest = cursor.rest();
            match memchr::memchr3(b']', b'\n', b'\r', rest) {
                Some(close) if rest[close] == b']' => cursor.advance(close + 1),
                _ => break,
            }
        } else if cursor.take(lex::delimited_text).is_none() {
            break;
        } else {
            count += 1;
        }
    }
    cursor.offset() as usize
}

/// Only its first line if at most a comment follows the bracket that the line leaves open: the
/// lines of the text are then separate statements.
fn conditional(source: &Source, from: usize) -> usize {
    let text = &source.text[..];
    let end = line_end(text, from);
    let mut open = Vec::new();
    for at in memchr::memchr2_iter(b'[', b']', &text[from..end]).map(|at| from + at) {
        if text[at] == b'[' {
            open.push(at);
        } else {
            open.pop();
        }
    }
    let (Some(first), Some(last)) = (open.first(), open.last()) else { return from };
    let mut behind = cursor(text, last + 1);
    behind.skip_blanks();
    if behind.at_statement_end() { from } else { closing(source, *first).unwrap_or(from) }
}

/// The arguments of a macro call may be in brackets.
fn bracketed(source: &Source, from: usize) -> usize {
    let mut cursor = cursor(&source.text, from);
    cursor.skip_blanks();
    if cursor.peek() == Some(b'[') {
        closing(source, cursor.offset() as usize).unwrap_or(from)
    } else {
        from
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tdlasm::source::{Origin, SourceMap};

    /// The lines of the first statement, whose operator is the first word.
    fn extent(text: &str) -> &str {
        let mut map = SourceMap::default();
        let index = map.add("x".into(), Origin::File, text.as_bytes().to_vec()).unwrap();
        let operator = text.split([' ', '[']).next().unwrap();
        &text[..statement_end(map.get(index), operator.as_bytes(), operator.len())]
    }

    #[test]
    fn a_definition_reaches_to_the_bracket_that_closes_its_text() {
        assert_eq!(
            extent(".DEFINE M[A]=\n; x\n[\n NOP [1]\n] ;e\n NOP"),
            ".DEFINE M[A]=\n; x\n[\n NOP [1]\n] ;e"
        );
        assert_eq!(extent(".DEFINE M\n NOP"), ".DEFINE M");
    }

    #[test]
    fn texts_reach_to_their_delimiter_and_brackets_to_their_partner() {
        assert_eq!(extent(".ASCII 'a'[13] /b\nc/ ;x\n NOP"), ".ASCII 'a'[13] /b\nc/ ;x");
        assert_eq!(extent(".REMARK /a\nb/ 'c\n NOP"), ".REMARK /a\nb/ 'c");
        assert_eq!(extent("CALLED [a,\nb]\n NOP"), "CALLED [a,\nb]");
    }

    #[test]
    fn brackets_in_comments_and_quotes_do_not_count() {
        assert_eq!(bracket_depth(b" .IFE 0,[ ; ]\n .BYTE ']' ; [\n", 0), 1);
        assert_eq!(bracket_depth(b" MVI A,'['\n]\n", 1), 0);
        assert_eq!(bracket_depth(b" JR'CC [\n", 0), 1);
    }

    #[test]
    fn a_conditional_is_one_line_if_its_text_has_lines_of_its_own() {
        assert_eq!(extent(".IFE A,[ ; then\n NOP\n]"), ".IFE A,[ ; then");
        assert_eq!(extent(".IFE A,[NOP\n NOP\n]\n NOP"), ".IFE A,[NOP\n NOP\n]");
        assert_eq!(extent(".IFIDN [a][b],[NOP]\n NOP"), ".IFIDN [a][b],[NOP]");
    }
}
