//! Zilog's notation, as M80, pasmo and the assemblers of today write it: words, numbers, texts and
//! directives.

mod directive;
mod expr;
mod field;

pub use directive::{Directive, Repetition};
pub use expr::{operator, parse};
pub use field::{Field, defining_directive, field};

use super::lex;
use crate::isa::zilog::{Given, forms, index_prefix, is_operand};

/// Returns `true` if a symbol may contain this byte.
pub fn is_symbol(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'?' | b'@')
}

/// Returns the symbol at the start of the text; empty if there is none.
pub fn symbol(text: &[u8]) -> &[u8] {
    let length = text.iter().take_while(|byte| is_symbol(**byte)).count();
    if text.first().is_some_and(u8::is_ascii_digit) { b"" } else { &text[..length] }
}

/// Returns `true` if a word is an instruction or directive.
pub fn is_operator(word: &[u8]) -> bool {
    !forms(word).is_empty() || Directive::from_word(word).is_some()
}

/// A number as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Number<'t> {
    /// Its digits.
    pub digits: &'t [u8],
    /// The digits with the letter of the radix behind them.
    pub run: &'t [u8],
    /// The radix.
    pub radix: u8,
    /// The number of bytes with the mark of the radix.
    pub length: usize,
}

impl Number<'_> {
    /// Returns the value, or `None` if a digit is not of the radix or it has more than 16 bits.
    pub fn value(&self) -> Option<u16> {
        let is_plain = self.digits.iter().all(u8::is_ascii_alphanumeric);
        let digits = str::from_utf8(self.digits).ok().filter(|_| is_plain)?;
        u16::from_str_radix(digits, self.radix.into()).ok()
    }
}

/// Returns the number at the start of the text: `0FFH`, `0xFF`, `$FF`, `#FF`, `&HFF`, `%101`,
/// `0b101`, `101B`, `17Q`, `10`.
pub fn number(text: &[u8]) -> Option<Number<'_>> {
    let run_behind = |skipped: usize| {
        let rest = &text[skipped..];
        &rest[..rest.iter().take_while(|byte| is_symbol(**byte)).count()]
    };
    let (skipped, radix) = match text {
        [b'$' | b'#', digit, ..] if digit.is_ascii_hexdigit() => (1, Some(16)),
        [b'&', b'H' | b'h', ..] => (2, Some(16)),
        [b'%', b'0' | b'1', ..] => (1, Some(2)),
        [b'0', b'x' | b'X', ..] => (2, Some(16)),
        [b'0', b'b' | b'B', b'0' | b'1', ..]
            if !matches!(run_behind(0).last(), Some(b'h' | b'H')) =>
        {
            (2, Some(2))
        }
        [b'0'..=b'9', ..] => (0, None),
        _ => return None,
    };
    let run = run_behind(skipped);
    let (digits, radix) = match (radix, run.split_last()) {
        (Some(radix), _) => (run, radix),
        (None, Some((last, digits))) if last.is_ascii_alphabetic() => {
            lex::radix_of(*last).map_or((run, 10), |radix| (digits, radix))
        }
        _ => (run, 10),
    };
    Some(Number { digits, run, radix, length: skipped + run.len() })
}

/// Returns the bytes of the quoted text at the start, and its length in the source. A doubled quote
/// stands for itself; in double quotes a backslash begins an escape, as in C and pasmo.
pub fn quoted(text: &[u8]) -> Option<(Vec<u8>, usize)> {
    let (&quote, rest) = text.split_first().filter(|(quote, _)| matches!(quote, b'\'' | b'"'))?;
    let mut bytes = Vec::new();
    let mut at = 0;
    loop {
        match *rest.get(at..)? {
            [byte, again, ..] if byte == quote && again == quote => {
                bytes.push(quote);
                at += 2;
            }
            [byte, ..] if byte == quote => return Some((bytes, at + 2)),
            [b'\\', ref behind @ ..] if quote == b'"' => {
                let (byte, length) = escape(behind)?;
                bytes.push(byte);
                at += 1 + length;
            }
            [b'\n' | b'\r', ..] | [] => return None,
            [byte, ..] => {
                bytes.push(byte);
                at += 1;
            }
        }
    }
}

/// Returns the name of a file in an operand, without the quotes that it may have.
pub fn file_name(operand: &[u8]) -> &[u8] {
    match operand.trim_ascii() {
        [b'"', name @ .., b'"'] | [b'\'', name @ .., b'\''] | [b'<', name @ .., b'>'] => name,
        name => name,
    }
}

/// Returns the byte of an escape, and its length without the backslash.
fn escape(text: &[u8]) -> Option<(u8, usize)> {
    let plain = |byte| Some((byte, 1));
    match *text {
        [b'n', ..] => plain(b'\n'),
        [b'r', ..] => plain(b'\r'),
        [b't', ..] => plain(b'\t'),
        [b'a', ..] => plain(7),
        [b'e', ..] => plain(0x1B),
        [b'x', high, low, ..] => {
            let digit = |byte: u8| char::from(byte).to_digit(16);
            Some(((digit(high)? << 4 | digit(low)?) as u8, 3))
        }
        [b'0'..=b'7', ..] => {
            let length = text.iter().take(3).take_while(|byte| matches!(byte, b'0'..=b'7')).count();
            let add = |value: u16, byte: &u8| value << 3 | u16::from(byte - b'0');
            Some((text[..length].iter().fold(0, add) as u8, length))
        }
        [byte, ..] if !matches!(byte, b'\n' | b'\r') => plain(byte),
        _ => None,
    }
}

/// Returns the directive of a line, which may be behind a label, and its offset in the line.
pub fn directive_of(line: &[u8]) -> Option<(Directive, usize)> {
    let code = &line[..code_length(line)];
    let mut at = 0;
    for is_behind_label in [false, true] {
        at += code[at..].iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b':')).count();
        let word = symbol(&code[at..]);
        if let Some(directive) = Directive::from_word(word) {
            return Some((directive, at));
        }
        if word.is_empty() || is_behind_label || !forms(word).is_empty() {
            return None;
        }
        at += word.len();
    }
    None
}

/// Returns what the choice of an instruction's form depends on in an operand, and the text of the
/// value in it. The number of a value is left to the caller.
pub fn operand(text: &[u8]) -> (Given<'_>, Option<&[u8]>) {
    if is_operand(text) {
        return (Given::Word(text), None);
    }
    let Some(inner) = inside_parentheses(text) else { return (Given::Value(None), Some(text)) };
    let inner = inner.trim_ascii();
    if is_operand(inner) {
        return (Given::Indirect(inner), None);
    }
    let word = symbol(inner);
    let displacement = inner[word.len()..].trim_ascii_start();
    match index_prefix(word) {
        Some(prefix) if matches!(displacement.first(), Some(b'+' | b'-')) => {
            (Given::Index(prefix), Some(displacement))
        }
        _ => (Given::Memory, Some(inner)),
    }
}

/// Returns the length of the part of a line before its comment.
pub fn code_length(line: &[u8]) -> usize {
    let mut ends = outside_quotes(line).filter(|(_, byte)| matches!(byte, b';' | b'\n' | b'\r'));
    ends.next().map_or(line.len(), |(at, _)| at)
}

/// Returns the bytes that are outside of quotes, with their offsets.
fn outside_quotes(line: &[u8]) -> impl Iterator<Item = (usize, u8)> {
    let mut next = 0;
    std::iter::from_fn(move || {
        while let Some(b'\'' | b'"') = line.get(next) {
            next += quote_length(line, next);
        }
        let at = next;
        next += 1;
        Some((at, *line.get(at)?))
    })
}

/// Returns the length of the text in quotes at an offset of a line, or 1 for the prime of `AF'` and
/// for a quote that is not closed.
pub fn quote_length(line: &[u8], at: usize) -> usize {
    let is_prime = line[..at].to_ascii_uppercase().ends_with(b"AF");
    quoted(&line[at..]).filter(|_| !is_prime).map_or(1, |(_, length)| length)
}

/// Returns the parts of an operand list, separated by commas outside of quotes, parentheses and
/// angle brackets if `angles`, as offset and length.
pub fn split_operands(code: &[u8], angles: bool) -> Vec<(usize, usize)> {
    let mut parts = Vec::new();
    if code.trim_ascii().is_empty() {
        return parts;
    }
    let (mut start, mut depth) = (0, 0usize);
    for (at, byte) in outside_quotes(code) {
        match byte {
            b'<' if angles => depth += 1,
            b'>' if angles => depth = depth.saturating_sub(1),
            b'(' if !angles => depth += 1,
            b')' if !angles => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                parts.push((start, at - start));
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push((start, code.len() - start));
    parts
}

/// Returns the inner part of an operand that is one parenthesis as a whole.
fn inside_parentheses(operand: &[u8]) -> Option<&[u8]> {
    let inner = operand.strip_prefix(b"(")?.strip_suffix(b")")?;
    let mut depth = 0usize;
    for (_, byte) in outside_quotes(inner) {
        match byte {
            b'(' => depth += 1,
            b')' => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    Some(inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_marks_of_all_assemblers() {
        let value = |text: &'static str| number(text.as_bytes()).and_then(|number| number.value());
        for (text, expected) in [
            ("0FFH", 255),
            ("0xfe", 254),
            ("$1F", 31),
            ("#10", 16),
            ("&H20", 32),
            ("%101", 5),
            ("0b11", 3),
            ("0B1H", 0xB1),
            ("101b", 5),
            ("17q", 15),
            ("12D", 12),
            ("09", 9),
        ] {
            assert_eq!(value(text), Some(expected), "{text}");
        }
        assert_eq!([value("0FG"), value("65536"), value("102B"), value("$")], [None; 4]);
    }

    #[test]
    fn double_quotes_have_escapes_and_single_ones_do_not() {
        assert_eq!(quoted(br#""a\n\x41\0""b" ,"#), Some((b"a\nA\0\"b".to_vec(), 14)));
        assert_eq!(quoted(br"'it''s\n'"), Some((br"it's\n".to_vec(), 9)));
        assert_eq!(quoted(b"'a\n'"), None);
    }

    #[test]
    fn operands_end_at_commas_outside_of_quotes_and_parentheses() {
        assert_eq!(split_operands(b"af,af'", false), [(0, 2), (3, 3)]);
        assert_eq!(split_operands(b" (1,2),';'", false), [(0, 6), (7, 3)]);
        assert_eq!(split_operands(b"<1,2>,3", true), [(0, 5), (6, 1)]);
        assert_eq!(code_length(b"db ';',1 ; x"), 9);
        assert_eq!(inside_parentheses(b"(ix+1)"), Some(&b"ix+1"[..]));
        assert_eq!(inside_parentheses(b"(1)+(2)"), None);
    }
}
