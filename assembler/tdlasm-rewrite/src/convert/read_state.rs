//! The state that unchanged lines pass on to the lines after them: the radix, and open brackets.

use tdlasm::source::Source;
use tdlasm::syntax::directive::Directive;
use tdlasm::syntax::{Cursor, lex};

use super::program::TextRange;
use super::source_scan::has_radix;
use super::statement_end;

/// The state in which the following lines are read.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReadState {
    /// The radix of numbers without a radix letter in TDL; unknown after a `.RADIX` that may be
    /// inactive.
    pub(super) radix: Option<u8>,
    /// The number of open brackets of conditionals.
    pub(super) depth: usize,
}

impl ReadState {
    pub(super) fn new() -> Self {
        Self { radix: Some(10), depth: 0 }
    }

    /// Returns the end of a statement that is copied unchanged, and the macro that it defines.
    pub(super) fn keep<'t>(
        &mut self,
        source: &'t Source,
        start: usize,
        operator: TextRange,
    ) -> (usize, Option<&'t [u8]>) {
        let word = &source.text[operator.start..operator.end];
        let end = statement_end::statement_end(source, word, operator.end);
        let kept = &source.text[start..end];
        let mut behind = Cursor::new(&source.text[operator.end..end], end as u32);
        behind.skip_blanks();
        let directive = Directive::from_word(word);
        if directive == Some(Directive::Radix) {
            self.radix = Some(behind.rest()).filter(|_| self.depth == 0).and_then(radix);
        } else if has_radix(kept) {
            self.radix = None;
        }
        if word.is_empty() || matches!(directive, Some(Directive::If(_))) {
            self.depth = statement_end::bracket_depth(kept, self.depth);
        }
        let is_macro = directive == Some(Directive::Define);
        let defines = if is_macro { behind.take(lex::symbol) } else { None };
        (end, defines)
    }
}

/// The operand of `.RADIX`, which is decimal.
fn radix(operand: &[u8]) -> Option<u8> {
    let length = operand.iter().take_while(|byte| !matches!(byte, b';' | b' ' | b'\t')).count();
    match &operand[..length] {
        b"2" => Some(2),
        b"8" => Some(8),
        b"10" => Some(10),
        b"16" => Some(16),
        _ => None,
    }
}
