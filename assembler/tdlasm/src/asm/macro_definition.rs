//! Definitions of macros.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use crate::source::Span;
use crate::syntax::lex;

#[derive(Debug, Clone, Copy)]
pub(super) enum BodyPart {
    /// A range of the source map.
    Text(Span),
    Argument(usize),
}

#[derive(Debug, Clone)]
pub(super) struct Parameter {
    pub(super) name: Vec<u8>,
    pub(super) place: Span,
    pub(super) default: Vec<u8>,
    /// Whether a missing argument is replaced by a new local symbol (`%` before the name).
    pub(super) created: bool,
}

#[derive(Debug, Clone)]
pub(super) struct Macro {
    pub(super) name: Arc<str>,
    pub(super) parameters: Vec<Parameter>,
    /// The text that has the definition, and its offset in the source map.
    pub(super) text: Arc<Vec<u8>>,
    pub(super) base: u32,
    pub(super) parts: Vec<BodyPart>,
    pub(super) place: Span,
}

impl Macro {
    pub(super) fn text_of(&self, piece: Span) -> &[u8] {
        &self.text[(piece.start - self.base) as usize..(piece.end - self.base) as usize]
    }
}

/// Splits a body, which begins at an offset of the source map, at its parameters. Removes joining
/// quotes and comments with two semicolons. Also returns the uses of the parameters.
pub(super) fn split_body(
    text: &[u8],
    base: u32,
    parameters: &[Parameter],
    significant: impl Fn(&[u8]) -> SmolStr,
) -> (Vec<BodyPart>, Vec<(usize, Span)>) {
    // Of two equal names the last one counts.
    let names = parameters.iter().map(|one| significant(&one.name));
    let index: FxHashMap<SmolStr, usize> = names.zip(0..).collect();
    let argument = |word: &[u8]| match index.is_empty() {
        true => None,
        false => index.get(&significant(word)).copied(),
    };
    let mut used = Vec::new();
    let mut splitter = BodySplitter::new(base);
    let mut at = 0;
    while at < text.len() {
        // Only whole words are replaced: a parameter A is not found within another symbol. As
        // in ZASM, comments and strings are searched as well; a quote next to a parameter is
        // removed.
        let word = lex::symbol(&text[at..]).map_or(&[][..], |(_, word)| word);
        if !word.is_empty() {
            if let Some(index) = argument(word) {
                splitter.argument(at, at + word.len(), index);
                let start = base + at as u32;
                used.push((index, Span::new(start, start + word.len() as u32)));
            }
            at += word.len();
        } else if text[at] == b'\''
            && (splitter.just_after(at) || starts_argument(text, at + 1, argument))
        {
            splitter.drop(at, at + 1);
            at += 1;
        } else if text[at..].starts_with(b";;") {
            let length = memchr::memchr2(b'\n', b'\r', &text[at..]).unwrap_or(text.len() - at);
            splitter.drop(at, at + length);
            at += length;
        } else {
            at += 1;
        }
    }
    (splitter.finish(text.len()), used)
}

/// Returns `true` if a parameter name begins at `at`.
fn starts_argument(text: &[u8], at: usize, argument: impl Fn(&[u8]) -> Option<usize>) -> bool {
    text.get(at..)
        .and_then(|rest| lex::symbol(rest).ok())
        .is_some_and(|(_, word)| argument(word).is_some())
}

/// Collects the parts of a macro body.
pub(super) struct BodySplitter {
    parts: Vec<BodyPart>,
    base: u32,
    /// The start of the text that is not yet in a piece.
    from: usize,
    /// Whether the last piece is a parameter.
    joined: bool,
}

impl BodySplitter {
    /// Creates a splitter of a body that begins at an offset of the source map.
    pub(super) fn new(base: u32) -> Self {
        Self { parts: Vec::new(), base, from: 0, joined: false }
    }

    fn text(&mut self, end: usize) {
        if self.from < end {
            let span = Span::new(self.base + self.from as u32, self.base + end as u32);
            self.parts.push(BodyPart::Text(span));
        }
    }

    pub(super) fn argument(&mut self, start: usize, end: usize, index: usize) {
        self.drop(start, end);
        self.parts.push(BodyPart::Argument(index));
        self.joined = true;
    }

    pub(super) fn drop(&mut self, start: usize, end: usize) {
        self.text(start);
        (self.from, self.joined) = (end, false);
    }

    /// Returns `true` if a parameter ended right before `at`.
    pub(super) fn just_after(&self, at: usize) -> bool {
        self.joined && self.from == at
    }

    pub(super) fn finish(mut self, end: usize) -> Vec<BodyPart> {
        self.text(end);
        self.parts
    }
}
