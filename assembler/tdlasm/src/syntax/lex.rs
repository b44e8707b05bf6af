//! Lexer: nom parsers over bytes, since sources need not be UTF-8.

use std::iter::{from_fn, once};
use std::ops::Range;

use nom::branch::alt;
use nom::bytes::complete::{tag, take_while, take_while1};
use nom::character::complete::{char, one_of};
use nom::combinator::recognize;
use nom::multi::many0_count;
use nom::sequence::{delimited, preceded};
use nom::{IResult, Parser};

use super::work;

/// The result of a parser. A mismatch needs no reason, since the caller knows what it expected.
pub type Parsed<'t, T> = IResult<&'t [u8], T, ()>;

/// The codes of the characters of symbols in TDL's 40-character set: 0 for all others, `.` is 39.
pub static RADIX40: [u8; 256] = radix40();

const fn radix40() -> [u8; 256] {
    let mut codes = [0; 256];
    let mut i = 0;
    while i < 10 {
        codes[b'0' as usize + i] = 1 + i as u8;
        i += 1;
    }
    i = 0;
    while i < 26 {
        codes[b'A' as usize + i] = 11 + i as u8;
        codes[b'a' as usize + i] = 11 + i as u8;
        i += 1;
    }
    codes[b'$' as usize] = 37;
    codes[b'%' as usize] = 38;
    codes[b'.' as usize] = 39;
    codes
}

/// Returns `true` if a byte can be part of a symbol.
#[inline]
pub fn is_symbol(byte: u8) -> bool {
    RADIX40[usize::from(byte)] != 0
}

/// Returns `true` for space, tab and form feed.
#[inline]
pub fn is_blank(byte: u8) -> bool {
    byte <= b' ' && matches!(byte, b' ' | b'\t' | 0x0C)
}

/// The end of a line: CR LF, LF or CR.
pub fn line_end(input: &[u8]) -> Parsed<'_, ()> {
    alt((tag("\r\n"), tag("\n"), tag("\r"))).map(|_: &[u8]| ()).parse_complete(input)
}

/// A symbol: letters, digits, `$`, `%` and `.`, not beginning with a digit.
#[inline]
pub fn symbol(input: &[u8]) -> Parsed<'_, &[u8]> {
    let length = input.iter().take_while(|byte| is_symbol(**byte)).count();
    if length == 0 || input[0].is_ascii_digit() {
        return Err(nom::Err::Error(()));
    }
    let (name, rest) = input.split_at(length);
    Ok((rest, name))
}

/// Returns the code of the first six characters of a symbol: their codes in [`RADIX40`] are its
/// digits, padded with 0 at the end. The case of letters is ignored.
pub fn packed(name: &[u8]) -> u32 {
    let code = |at| name.get(at).map_or(0, |byte| RADIX40[usize::from(*byte)]);
    (0..6).fold(0, |packed, at| packed * 40 + u32::from(code(at)))
}

/// A quoted constant: the text between the quotes, in which the quote itself is doubled.
pub fn quoted(input: &[u8]) -> Parsed<'_, &[u8]> {
    fn within<'t>(quote: &'static str, end: char) -> impl Fn(&'t [u8]) -> Parsed<'t, &'t [u8]> {
        move |input| {
            let plain =
                take_while1(move |byte| byte != end as u8 && !matches!(byte, b'\n' | b'\r'));
            let text = recognize(many0_count(alt((plain, tag(quote)))));
            delimited(char(end), text, char(end)).parse_complete(input)
        }
    }
    alt((within("''", '\''), within("\"\"", '"'))).parse_complete(input)
}

/// A text between two equal delimiters of any kind, which can contain line ends.
pub fn delimited_text(input: &[u8]) -> Parsed<'_, &[u8]> {
    let delimiter = *input.first().ok_or(nom::Err::Error(()))?;
    let end = memchr::memchr(delimiter, &input[1..]);
    work::count(end.unwrap_or(input.len()));
    let end = end.ok_or(nom::Err::Error(()))?;
    Ok((&input[end + 2..], &input[1..=end]))
}

/// Returns the ranges of the comments and quoted constants of a text.
pub fn comments_and_quotes(text: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    from_fn(move || {
        while let Some(byte) = text.get(at).copied() {
            let (start, rest) = (at, &text[at..]);
            work::count(1);
            at += match byte {
                b';' => memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len()),
                b'\'' | b'"' => quoted(rest).map_or(1, |(behind, _)| rest.len() - behind.len()),
                _ => 1,
            };
            if at > start + 1 {
                return Some(start..at);
            }
        }
        None
    })
}

/// Returns the brackets outside of comments and quoted constants, with their offsets.
pub fn live_brackets(text: &[u8]) -> impl Iterator<Item = (usize, u8)> {
    let end = text.len();
    let mut from = 0;
    comments_and_quotes(text).chain(once(end..end)).flat_map(move |skipped| {
        let start = std::mem::replace(&mut from, skipped.end);
        let code = &text[start..skipped.start];
        memchr::memchr2_iter(b'[', b']', code).map(move |at| (start + at, code[at]))
    })
}

/// A radix operator: `^` and one of B O Q D H.
pub fn radix_prefix(input: &[u8]) -> Parsed<'_, u8> {
    preceded(char('^'), one_of("bBoOqQdDhH"))
        .map(|letter| radix_of(letter as u8).unwrap_or(10))
        .parse_complete(input)
}

/// Returns hexadecimal digits as a number, which begins with a decimal digit.
pub fn hexadecimal(digits: &str) -> String {
    let zero = if digits.starts_with(|first: char| first.is_ascii_digit()) { "" } else { "0" };
    format!("{zero}{digits}H")
}

/// Returns the radix of a radix letter or point.
pub fn radix_of(letter: u8) -> Option<u8> {
    match letter.to_ascii_uppercase() {
        b'B' => Some(2),
        b'O' | b'Q' => Some(8),
        b'D' | b'.' => Some(10),
        b'H' => Some(16),
        _ => None,
    }
}

/// A number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Number {
    /// The value modulo 65536.
    pub value: u16,
    /// Whether it has a digit that the radix lacks. The value is that of the digits before it.
    pub has_invalid_digit: bool,
}

/// A number: a digit, then letters, digits and points, of which the last may name the radix.
///
/// Digits are read up to the first one that the radix lacks. That is no error if it is a letter
/// that names the current radix (`10.5` is 10): ZASM ignores what follows such a letter.
pub fn number(input: &[u8], radix: u8) -> Parsed<'_, Number> {
    if !input.first().is_some_and(u8::is_ascii_digit) {
        return Err(nom::Err::Error(()));
    }
    let length = input.iter().position(|byte| !in_number(*byte)).unwrap_or(input.len());
    let (run, rest) = input.split_at(length);
    let (digits, radix) = split_radix(run, radix);
    Ok((rest, value_of(digits, radix)))
}

/// Returns the digits of a number and its radix, which its last letter may name instead of `radix`.
#[inline]
pub fn split_radix(number: &[u8], radix: u8) -> (&[u8], u8) {
    let Some((last, digits)) = number.split_last() else { return (number, radix) };
    let digits_too = radix == 16 && matches!(last | 0x20, b'b' | b'd');
    match radix_of(*last).filter(|_| !digits_too) {
        Some(named) => (digits, named),
        None => (number, radix),
    }
}

fn in_number(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'.'
}

#[inline]
fn value_of(run: &[u8], radix: u8) -> Number {
    let mut value = 0u16;
    for byte in run {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'.' => u8::MAX,
            letter => (letter | 0x20) - b'a' + 10,
        };
        if digit >= radix {
            return Number { value, has_invalid_digit: radix_of(*byte) != Some(radix) };
        }
        value = value.wrapping_mul(u16::from(radix)).wrapping_add(u16::from(digit));
    }
    Number { value, has_invalid_digit: false }
}

/// Blanks, perhaps none.
pub fn blanks(input: &[u8]) -> Parsed<'_, &[u8]> {
    take_while(is_blank).parse_complete(input)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_symbol_does_not_begin_with_a_digit() {
        assert_eq!(symbol(b"O.O%1 x"), Ok((&b" x"[..], &b"O.O%1"[..])));
        assert!(symbol(b"1A").is_err());
    }

    #[test]
    fn a_letter_is_a_digit_in_radix_16_and_a_suffix_elsewhere() {
        let value = |text: &'static str, radix| number(text.as_bytes(), radix).unwrap().1.value;
        assert_eq!((value("10B", 10), value("10B", 16)), (2, 0x10B));
        assert_eq!((value("19D", 8), value("0BDH", 16)), (19, 0xBD));
        assert_eq!((value("10.", 16), value("70000", 10)), (10, 0x1170));
    }

    #[test]
    fn what_follows_the_letter_of_the_radix_in_use_is_swallowed() {
        let number = |text: &'static str, radix| number(text.as_bytes(), radix).unwrap().1;
        for (text, radix, value) in [("100B101B", 10, 4), ("10.5", 10, 10), ("1..", 10, 1)] {
            assert_eq!(number(text, radix), Number { value, has_invalid_digit: false }, "{text}");
        }
        for (text, radix, value) in [("14B", 10, 1), ("101B1", 10, 101), ("10.5", 16, 16)] {
            assert_eq!(number(text, radix), Number { value, has_invalid_digit: true }, "{text}");
        }
    }

    #[test]
    fn a_doubled_quote_stands_for_itself() {
        assert_eq!(quoted(b"'A''B'+1"), Ok((&b"+1"[..], &b"A''B"[..])));
        assert_eq!(quoted(b"''''"), Ok((&b""[..], &b"''"[..])));
        assert!(quoted(b"'A\n'").is_err());
    }

    #[test]
    fn a_delimited_text_ends_at_the_next_delimiter() {
        assert_eq!(delimited_text(b"/a\nb/c/"), Ok((&b"c/"[..], &b"a\nb"[..])));
    }
}
