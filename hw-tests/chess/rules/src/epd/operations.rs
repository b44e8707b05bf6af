//! Splits the text after the fields into segments, and segments into words.

use crate::FenError;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Segment<'a> {
    pub(super) text: &'a str,
    /// Its words, quotes removed.
    pub(super) words: Vec<Word>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) is_quoted: bool,
}

impl Segment<'_> {
    /// Returns `true` if it has the form of an operation: a name, then operands.
    pub(super) fn is_operation(&self) -> bool {
        self.words.first().is_some_and(|word| {
            let mut letters = word.text.chars();
            let begins =
                letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_');
            !word.is_quoted
                && begins
                && letters.all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
        })
    }
}

/// Splits a text at semicolons outside strings; `column` is that of its first character.
pub(super) fn segments(text: &str, column: usize) -> Result<Vec<Segment<'_>>, FenError> {
    let mut found = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let skipped = text.len() - rest.len();
        let column = column + text[..skipped].chars().count();
        let (segment, length) = segment(rest, column)?;
        if !segment.text.is_empty() {
            found.push(segment);
        }
        rest = &rest[length..];
    }
    Ok(found)
}

/// Reads up to a semicolon; the length includes it.
fn segment(text: &str, column: usize) -> Result<(Segment<'_>, usize), FenError> {
    let mut words: Vec<Word> = Vec::new();
    let mut open: Option<usize> = None;
    let mut is_new = true;
    let mut end = text.len();
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        match (letter, open) {
            ('\\', Some(_)) => {
                // A backslash escapes only quotes and backslashes; before others it is text.
                let escaped = letters.next_if(|(_, next)| ['"', '\\'].contains(next));
                push(&mut words, escaped.map_or('\\', |(_, next)| next));
            }
            ('"', Some(_)) => {
                open = None;
                is_new = true;
            }
            (_, Some(_)) => push(&mut words, letter),
            (';', None) => {
                end = at;
                break;
            }
            ('"', None) if is_new => {
                open = Some(at);
                words.push(Word { text: String::new(), is_quoted: true });
            }
            (blank, None) if blank.is_whitespace() => is_new = true,
            (_, None) => {
                if is_new {
                    words.push(Word { text: String::new(), is_quoted: false });
                }
                is_new = false;
                push(&mut words, letter);
            }
        }
    }
    if let Some(at) = open {
        let column = Some(column + text[..at].chars().count());
        return Err(FenError { column, problem: "unterminated string".to_owned() });
    }
    let segment = Segment { text: text[..end].trim(), words };
    Ok((segment, text.len().min(end + 1)))
}

fn push(words: &mut [Word], letter: char) {
    if let Some(word) = words.last_mut() {
        word.text.push(letter);
    }
}
