//! The places of parameters in the text of a macro in Zilog's notation.

use super::super::macro_definition::{BodyPart, BodySplitter, Parameter};
use crate::syntax::zilog;

/// Splits a body, which begins at an offset of the source map, at its parameters.
///
/// A `&` beside a parameter, or pasmo's `##`, joins it to its neighbour and disappears. In quotes
/// only a parameter behind a `&` is replaced; comments with two semicolons are dropped.
pub(super) fn split_body(
    text: &[u8],
    base: u32,
    parameters: &[Parameter],
    case_sensitive: bool,
) -> Vec<BodyPart> {
    let index = |word: &[u8]| {
        parameters.iter().position(|one| match case_sensitive {
            true => one.name == word,
            false => one.name.eq_ignore_ascii_case(word),
        })
    };
    let mut splitter = BodySplitter::new(base);
    let mut quote = None;
    let mut at = 0;
    while let Some(byte) = text.get(at).copied() {
        let word = zilog::symbol(&text[at..]);
        let joins = [&b"&"[..], b"##"].into_iter().find(|sign| text[at..].starts_with(sign));
        if !word.is_empty() {
            if let Some(parameter) = index(word).filter(|_| quote.is_none()) {
                splitter.argument(at, at + word.len(), parameter);
            }
            at += word.len();
        } else if let Some(sign) = joins {
            let behind = at + sign.len();
            let next = zilog::symbol(&text[behind..]);
            match index(next) {
                Some(parameter) => {
                    splitter.drop(at, behind);
                    splitter.argument(behind, behind + next.len(), parameter);
                    at = behind + next.len();
                }
                None if splitter.just_after(at) && !next.is_empty() => {
                    splitter.drop(at, behind);
                    at = behind;
                }
                None => at = behind,
            }
        } else if text[at..].starts_with(b";;") && quote.is_none() {
            let end = memchr::memchr2(b'\n', b'\r', &text[at..]).unwrap_or(text.len() - at);
            splitter.drop(at, at + end);
            at += end;
        } else if byte == b';' && quote.is_none() {
            at += memchr::memchr2(b'\n', b'\r', &text[at..]).unwrap_or(text.len() - at);
        } else {
            quote = match quote {
                Some(open) if byte == open || byte == b'\n' => None,
                None if matches!(byte, b'\'' | b'"') && zilog::quote_length(text, at) > 1 => {
                    Some(byte)
                }
                other => other,
            };
            at += 1;
        }
    }
    splitter.finish(text.len())
}
