//! A guess whether a changed text has to be read twice: the assembler tries to read it once, and
//! that is lost time if it has a fault that only two readings report rightly. A wrong guess costs
//! time and nothing else.

use std::collections::BTreeSet;
use std::ops::Range;

use memchr::memmem;

use tdlasm::asm::{self, Assembly, Options};
use tdlasm::diag::Code;
use tdlasm::source::MemoryLoader;
use tdlasm::syntax::lex;

/// Longer changes are pasted, and likely to define something.
const MAX_LINES: usize = 4096;

/// So many undefined names of changed lines are sought in the text.
const MAX_NAMES: usize = 16;
/// After so many readings of a program that asked for two, one is tried again.
const PATIENCE: u8 = 16;

/// The way in which a program is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Foresight {
    passes: Passes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Passes {
    /// One is tried.
    #[default]
    One,
    /// Two, for the sake of a fault.
    Faulty,
    /// Two, as one was tried in vain; so many times more.
    Two(u8),
}

impl Foresight {
    /// The way in which a program was read.
    pub(super) fn of(outcome: &Assembly) -> Self {
        let passes = if outcome.used_two_passes { Passes::Faulty } else { Passes::One };
        Self { passes }
    }

    pub(super) fn begins_with_two(self) -> bool {
        self.passes != Passes::One
    }

    /// The same, when a change of the text is doubtful.
    pub(super) fn doubted(self) -> Self {
        match self.passes {
            Passes::One => Self { passes: Passes::Faulty },
            _ => self,
        }
    }

    /// The way for the next time, when this one has had a result.
    pub(super) fn after(self, outcome: &Assembly) -> Self {
        let messages = &outcome.diagnostics;
        let is_faulty = messages.iter().any(|one| one.code.needs_two_passes());
        let passes = match self.passes {
            _ if !outcome.used_two_passes => Passes::One,
            _ if is_faulty => Passes::Faulty,
            Passes::One => Passes::Two(PATIENCE),
            Passes::Two(0) | Passes::Faulty => Passes::One,
            Passes::Two(left) => Passes::Two(left - 1),
        };
        Self { passes }
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

/// Whether a text is likely to have a fault that takes two readings, now that these lines of it
/// have changed.
pub(super) fn is_doubtful(before: &str, after: &str, text: &str) -> bool {
    let is_long = before.len() > MAX_LINES || after.len() > MAX_LINES;
    is_long || doubles(before, after, text.as_bytes()) || is_faulty(after, text.as_bytes())
}

/// Whether lines define a name that they did not before, and that another line of the text seems to
/// define, too.
fn doubles(before: &str, after: &str, text: &[u8]) -> bool {
    let (old, new) = (names(before), names(after));
    let mut added = new.difference(&old).filter(|name| !name.is_empty());
    added.any(|name| definitions(text, name).nth(1).is_some())
}

/// The places where a text seems to define a name.
fn definitions<'t>(text: &'t [u8], name: &'t [u8]) -> impl Iterator<Item = usize> {
    memmem::find_iter(text, name).filter(move |&at| {
        let behind = text[at + name.len()..].iter().find(|byte| !lex::is_blank(**byte));
        let is_whole = at == 0 || !lex::is_symbol(text[at - 1]);
        is_whole && matches!(behind, Some(b':' | b'='))
    })
}

/// The names that lines define.
fn names(lines: &str) -> BTreeSet<&[u8]> {
    let mut found = BTreeSet::new();
    for line in lines.as_bytes().split(|byte| matches!(byte, b'\n' | b'\r')) {
        let line = &line[..memchr::memchr(b';', line).unwrap_or(line.len())];
        for at in memchr::memchr2_iter(b':', b'=', line) {
            let before = line[..at].trim_ascii_end();
            let length = before.iter().rev().take_while(|byte| lex::is_symbol(**byte)).count();
            found.insert(&before[before.len() - length..]);
        }
    }
    found
}

/// Whether lines have a fault that takes two readings as they stand, in a text that may define what
/// they use.
fn is_faulty(lines: &str, text: &[u8]) -> bool {
    let outcome = read(lines, Vec::new());
    if !outcome.used_two_passes {
        return false;
    }
    let undefined = outcome.diagnostics.iter().filter(|one| one.code == Code::Undefined);
    let names = undefined.map(|one| outcome.sources.slice(one.span));
    let known = names.take(MAX_NAMES).filter(|name| is_elsewhere(text, name));
    let known: Vec<_> = known.map(|name| (String::from_utf8_lossy(name).into(), 0)).collect();
    let outcome = if known.is_empty() { outcome } else { read(lines, known) };
    outcome.used_two_passes && outcome.diagnostics.iter().any(|one| one.code.letter().is_some())
}

/// Reads lines by themselves.
fn read(lines: &str, defines: Vec<(String, u16)>) -> Assembly {
    const NAME: &str = "lines";
    let loader = MemoryLoader::new().with(NAME, format!("{lines}\n .END\n"));
    let options = Options { defines, single_pass_diagnostics: true, ..Options::default() };
    asm::run(&loader, &[NAME.into()], &options)
}

/// Whether a name that lines of a text use stands in the text once more.
fn is_elsewhere(text: &[u8], name: &[u8]) -> bool {
    let is_part = |at: usize| text.get(at).is_some_and(|byte| lex::is_symbol(*byte));
    let is_whole =
        |at: &usize| !at.checked_sub(1).is_some_and(is_part) && !is_part(at + name.len());
    let mut places = memmem::find_iter(text, name).filter(is_whole);
    places.nth(1).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_doubtful_if_its_lines_need_two_readings() {
        let text = "\t.DEFINE TWICE[X]=[X\nX]\nHERE:\tNOP\nVALUE == 5\n";
        for (before, after, doubtful) in [
            ("\tMVI A,5", "\tMVI A,55", false),
            ("\tMVI A,5", "\tMVI ,5", false),
            ("\tJMP HERE", "\tJMP HER", false),
            ("\tMOV A,VALUE", "\tMOV A,VALU", true),
            ("\tMOV A,VALU", "\tMOV A,VALUE", false),
            ("\tMVI A,VALUE", "\tMVI A,VALUE+", false),
            ("\tNOP ; a: b", "\tNOP ; HERE=b", false),
            ("", "\tTWICE NOP", false),
            ("\tNOP", "THERE:\tNOP", false),
            ("\tNOP", "HERE:\tNOP", true),
            ("HERE:\tNOP", "HERE:\tHLT", false),
            ("", ".REGS = 1\nHERE = 2", true),
            ("", "A = 1", true),
        ] {
            let text = format!("{text}{after}\n");
            assert_eq!(is_doubtful(before, after, &text), doubtful, "{before} -> {after}");
        }
    }

    #[test]
    fn the_lines_of_a_change_are_whole() {
        assert_eq!(lines("one\ntwo\r\nthree", 5..6), 4..7);
        assert_eq!(lines("one\ntwo\r\nthree", 3..4), 0..7);
        assert_eq!(lines("", 0..0), 0..0);
    }
}
