//! Predicts whether an edited program needs two passes, to avoid a single pass that fails. A wrong
//! prediction only costs time.

use std::collections::BTreeSet;
use std::ops::Range;

use memchr::memmem;
use tdlasm::asm::{self, Assembly, Options};
use tdlasm::diag::DiagnosticCode;
use tdlasm::source::MemoryLoader;
use tdlasm::syntax::lex;

/// Bytes of a change that are examined. Longer ones are pasted text, which usually has definitions.
const MAX_CHANGE_BYTES: usize = 4096;

/// Undefined names of changed lines that are searched for in the text.
const MAX_CHECKED_NAMES: usize = 16;
/// Two-pass runs of a program after which a single pass is tried again.
const RETRY_SINGLE_PASS_AFTER: u8 = 16;

/// The number of passes with which a program is assembled next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct PassPlan {
    passes: Passes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Passes {
    /// A single pass is tried.
    #[default]
    One,
    /// Two, because of an error that only two passes report correctly.
    TwoForError,
    /// Two, because a single pass failed without an error; the remaining number of times.
    Two(u8),
}

impl PassPlan {
    /// Creates the plan that repeats the passes of an assembly.
    pub(super) fn from_assembly(outcome: &Assembly) -> Self {
        let passes = if outcome.used_two_passes { Passes::TwoForError } else { Passes::One };
        Self { passes }
    }

    pub(super) fn starts_with_two(self) -> bool {
        self.passes != Passes::One
    }

    /// Returns the plan after an edit that probably needs two passes.
    pub(super) fn expect_two(self) -> Self {
        match self.passes {
            Passes::One => Self { passes: Passes::TwoForError },
            _ => self,
        }
    }

    /// Returns the next plan, given the result of this one.
    pub(super) fn after(self, outcome: &Assembly) -> Self {
        let messages = &outcome.diagnostics;
        let is_faulty = messages.iter().any(|one| one.code.needs_two_passes());
        let passes = match self.passes {
            _ if !outcome.used_two_passes => Passes::One,
            _ if is_faulty => Passes::TwoForError,
            Passes::One => Passes::Two(RETRY_SINGLE_PASS_AFTER),
            Passes::Two(0) | Passes::TwoForError => Passes::One,
            Passes::Two(left) => Passes::Two(left - 1),
        };
        Self { passes }
    }
}

/// Returns the range of the whole lines that a range of a text touches.
pub(super) fn touched_lines(text: &str, range: Range<usize>) -> Range<usize> {
    let bytes = text.as_bytes();
    let start = memchr::memrchr2(b'\n', b'\r', &bytes[..range.start]).map_or(0, |end| end + 1);
    let rest = &bytes[range.end..];
    let end = memchr::memchr2(b'\n', b'\r', rest).map_or(text.len(), |end| range.end + end);
    start..end
}

/// Returns `true` if a text probably needs two passes after a change of these lines.
pub(super) fn likely_needs_two_passes(before: &str, after: &str, text: &str) -> bool {
    let is_long = before.len() > MAX_CHANGE_BYTES || after.len() > MAX_CHANGE_BYTES;
    is_long
        || adds_duplicate_definition(before, after, text.as_bytes())
        || has_two_pass_error(after, text.as_bytes())
}

/// Returns `true` if a change adds a definition of a name that seems to be defined elsewhere.
fn adds_duplicate_definition(before: &str, after: &str, text: &[u8]) -> bool {
    let (old, new) = (defined_names(before), defined_names(after));
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

fn defined_names(lines: &str) -> BTreeSet<&[u8]> {
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

/// Returns `true` if lines assembled alone have an error that needs two passes. Undefined names do
/// not count if the rest of the text contains them.
fn has_two_pass_error(lines: &str, text: &[u8]) -> bool {
    let outcome = assemble_lines(lines, Vec::new());
    if !outcome.used_two_passes {
        return false;
    }
    let undefined = outcome.diagnostics.iter().filter(|one| one.code == DiagnosticCode::Undefined);
    let names = undefined.map(|one| outcome.sources.slice(one.span));
    let known = names.take(MAX_CHECKED_NAMES).filter(|name| occurs_twice(text, name));
    let known: Vec<_> = known.map(|name| (String::from_utf8_lossy(name).into(), 0)).collect();
    let outcome = if known.is_empty() { outcome } else { assemble_lines(lines, known) };
    outcome.used_two_passes && outcome.diagnostics.iter().any(|one| one.code.error_flag().is_some())
}

/// Assembles lines alone.
fn assemble_lines(lines: &str, defines: Vec<(String, u16)>) -> Assembly {
    const NAME: &str = "lines";
    let loader = MemoryLoader::new().with(NAME, format!("{lines}\n .END\n"));
    let options = Options { defines, single_pass_diagnostics: true, ..Options::default() };
    asm::run(&loader, &[NAME.into()], &options)
}

/// Returns `true` if a text contains a name more than once.
fn occurs_twice(text: &[u8], name: &[u8]) -> bool {
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
    fn a_change_needs_two_passes_if_its_lines_do() {
        let text = "\t.DEFINE TWICE[X]=[X\nX]\nHERE:\tNOP\nVALUE == 5\n";
        for (before, after, expect_two_passes) in [
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
            assert_eq!(
                likely_needs_two_passes(before, after, &text),
                expect_two_passes,
                "{before} -> {after}"
            );
        }
    }

    #[test]
    fn the_lines_of_a_change_are_whole() {
        assert_eq!(touched_lines("one\ntwo\r\nthree", 5..6), 4..7);
        assert_eq!(touched_lines("one\ntwo\r\nthree", 3..4), 0..7);
        assert_eq!(touched_lines("", 0..0), 0..0);
    }
}
