//! A guess whether a changed text has to be read twice: the assembler tries to read it once, and
//! that is lost time if it has a fault. A wrong guess costs time and nothing else.

use std::collections::BTreeSet;
use std::ops::Range;

use memchr::memmem;

use tdlasm::asm::{self, Assembly, Options};
use tdlasm::diag::{Code, Diagnostic, render};
use tdlasm::source::MemoryLoader;
use tdlasm::syntax::lex;

/// Longer changes are pasted, and likely to define something.
const MAX_LINES: usize = 4096;

/// The way in which a program is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Foresight {
    passes: Passes,
    /// Whether names are noted at once, since messages about the texts of macros need them.
    pub(super) notes_names: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Passes {
    /// One is tried.
    #[default]
    One,
    /// Two, for the sake of a fault.
    Faulty,
    /// Two, as the program asks for that without a fault.
    Two,
}

/// Messages that a change of a text makes likely.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Doubt {
    /// Faults that it had not.
    pub(super) faulty: bool,
    /// Messages about the texts of macros.
    pub(super) in_macro: bool,
}

impl Doubt {
    pub(super) fn add(&mut self, other: Self) {
        self.faulty |= other.faulty;
        self.in_macro |= other.in_macro;
    }
}

impl Foresight {
    /// The way in which a program was read.
    pub(super) fn of(outcome: &Assembly) -> Self {
        let passes = if outcome.read_twice { Passes::Faulty } else { Passes::One };
        Self { passes, notes_names: false }
    }

    pub(super) fn begins_with_two(self) -> bool {
        self.passes != Passes::One
    }

    /// The same, when a change of the text is doubtful.
    pub(super) fn doubted(self, doubt: Doubt) -> Self {
        let passes = match self.passes {
            Passes::One if doubt.faulty => Passes::Faulty,
            passes => passes,
        };
        Self { passes, notes_names: self.notes_names || doubt.in_macro }
    }

    /// The way for the next time, when this one has had a result.
    pub(super) fn after(self, outcome: &Assembly) -> Self {
        let messages = &outcome.diagnostics;
        let is_faulty = messages.iter().any(|one| one.code.letter().is_some());
        let passes = match self.passes {
            _ if !outcome.read_twice => Passes::One,
            Passes::Two => Passes::Two,
            _ if is_faulty => Passes::Faulty,
            // One was tried in vain, and not because of a fault.
            Passes::One => Passes::Two,
            Passes::Faulty => Passes::One,
        };
        let is_in_macro =
            |one: &Diagnostic| render::in_file(one.span, &outcome.sources) != one.span;
        Self { passes, notes_names: messages.iter().any(is_in_macro) }
    }
}

/// The whole lines that a stretch of a text touches.
pub(super) fn lines(text: &str, stretch: Range<usize>) -> Range<usize> {
    let bytes = text.as_bytes();
    let start = memchr::memrchr2(b'\n', b'\r', &bytes[..stretch.start]).map_or(0, |end| end + 1);
    let rest = &bytes[stretch.end..];
    let end = memchr::memchr2(b'\n', b'\r', rest).map_or(text.len(), |end| stretch.end + end);
    start..end
}

/// The messages that are likely about a text now that these lines of it, which begin at `start`,
/// have changed.
pub(super) fn doubt(before: &str, after: &str, text: &str, start: usize) -> Doubt {
    let is_long = before.len() > MAX_LINES || after.len() > MAX_LINES;
    let faulty = is_long || names(before) != names(after) || is_faulty(after, text.as_bytes());
    Doubt { faulty, in_macro: faulty && is_enclosed(&text.as_bytes()[..start]) }
}

/// Whether a bracket is open behind a text.
fn is_enclosed(text: &[u8]) -> bool {
    let brackets = memchr::memchr2_iter(b'[', b']', text);
    let depth = brackets.fold(0usize, |depth, at| match text[at] {
        b'[' => depth + 1,
        _ => depth.saturating_sub(1),
    });
    depth > 0
}

/// The names that lines define.
fn names(lines: &str) -> BTreeSet<&[u8]> {
    let mut found = BTreeSet::new();
    for line in lines.as_bytes().split(|byte| matches!(byte, b'\n' | b'\r' | b';')) {
        for at in memchr::memchr2_iter(b':', b'=', line) {
            let before = line[..at].trim_ascii_end();
            let length = before.iter().rev().take_while(|byte| lex::is_symbol(**byte)).count();
            found.insert(&before[before.len() - length..]);
        }
    }
    found
}

/// Whether lines are wrong as they stand, in a text that may define what they use.
fn is_faulty(lines: &str, text: &[u8]) -> bool {
    const NAME: &str = "lines";
    let loader = MemoryLoader::new().with(NAME, format!("{lines}\n .END\n"));
    let options = Options { two_passes: true, ..Options::default() };
    let outcome = asm::run(&loader, &[NAME.into()], &options);
    let is_fault = |one: &Diagnostic| {
        let word = outcome.sources.slice(one.span);
        one.code.letter().is_some() && !is_known(text, one.code, word)
    };
    outcome.diagnostics.iter().any(is_fault)
}

/// Whether a text seems to define the word that a message about a part of it is about.
fn is_known(text: &[u8], code: Code, word: &[u8]) -> bool {
    let mut places = memmem::find_iter(text, word);
    let is_whole = |at: usize| at == 0 || !lex::is_symbol(text[at - 1]);
    match code {
        Code::Undefined => places.any(|at| {
            let behind = text[at + word.len()..].iter().find(|byte| !lex::is_blank(**byte));
            is_whole(at) && matches!(behind, Some(b':' | b'='))
        }),
        Code::Operator => places.any(|at| text[..at].trim_ascii_end().ends_with(b".DEFINE")),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_doubtful_if_its_lines_are_wrong_or_define_something_else() {
        let text = "\t.DEFINE TWICE[X]=[X\nX]\nHERE:\tNOP\nVALUE == 5\n";
        for (before, after, doubtful) in [
            ("\tMVI A,5", "\tMVI A,55", false),
            ("\tMVI A,5", "\tMVI ,5", true),
            ("\tJMP HERE", "\tJMP HER", true),
            ("\tJMP HER", "\tJMP HERE", false),
            ("\tMVI A,0", "\tMVI A,VALUE", false),
            ("\tNOP ; a: b", "\tNOP ; a=b", false),
            ("", "\tTWICE NOP", false),
            ("", "\tTWICF NOP", true),
            ("\tNOP", "THERE:\tNOP", true),
            ("THERE:\tNOP", "THERE:\tHLT", false),
        ] {
            assert_eq!(doubt(before, after, text, 0).faulty, doubtful, "{before} -> {after}");
        }
    }

    #[test]
    fn the_lines_of_a_change_are_whole() {
        assert_eq!(lines("one\ntwo\r\nthree", 5..6), 4..7);
        assert_eq!(lines("one\ntwo\r\nthree", 3..4), 0..7);
        assert_eq!(lines("", 0..0), 0..0);
    }

    #[test]
    fn a_doubtful_line_within_brackets_may_be_in_a_macro() {
        let text = "\t.DEFINE TWICE[X]=[X\nX\n]\n";
        let within = text.rfind('X').unwrap_or(0);
        assert!(doubt("", "OOPS", text, within).in_macro);
        assert!(!doubt("", "OOPS", text, text.len()).in_macro);
        assert!(!doubt("", "\tNOP", text, within).in_macro);
    }
}
