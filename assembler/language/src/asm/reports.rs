//! The messages of a run: which are kept, and which letters each row of the original's listing has.

use crate::diag::{Code, Diagnostic, Levels, Severity};
use crate::source::Span;

use super::Pass;

/// After this many errors the rest is left out.
const MAX_ERRORS: usize = 100;
/// After this many warnings the rest is left out.
const MAX_WARNINGS: usize = 100;
/// The original prints no more letters than these in one row.
const LETTERS_A_ROW: usize = 2;

/// Everything that is reported, and what the present row of the listing has of it.
#[derive(Debug)]
pub(super) struct Reports<'a> {
    levels: &'a Levels,
    pass: Pass,
    kept: Vec<Diagnostic>,
    errors: usize,
    warnings: usize,
    /// The letters that the original would count, those beyond the second of a row included.
    letters: usize,
    row: Row,
    /// Whether the only pass met something that two passes may see otherwise.
    pub(super) wants_two: bool,
}

/// The letters of one row of the listing.
#[derive(Debug, Default, Clone, Copy)]
struct Row {
    letters: usize,
    /// Whether one of the letters shown is an error.
    has_error: bool,
    /// Whether more is wrong than the letters show.
    overflowed: bool,
}

/// Lengths to go back to when a statement is read again.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    kept: usize,
    errors: usize,
    warnings: usize,
    letters: usize,
    row: Row,
}

impl<'a> Reports<'a> {
    pub(super) fn new(levels: &'a Levels, pass: Pass) -> Self {
        Self {
            levels,
            pass,
            kept: Vec::new(),
            errors: 0,
            warnings: 0,
            letters: 0,
            row: Row::default(),
            wants_two: false,
        }
    }

    /// Begins the pass that reports.
    pub(super) fn restart(&mut self, pass: Pass) {
        *self = Self::new(self.levels, pass);
    }

    /// Begins a row of the listing.
    #[inline]
    pub(super) fn next_row(&mut self) {
        self.row = Row::default();
    }

    /// Adds a message. The first of two passes reports nothing, and the only one has the text read
    /// twice instead: in the second the messages come in the original's order.
    pub(super) fn add(&mut self, diagnostic: Diagnostic) {
        self.add_counted(diagnostic, 1);
    }

    /// Adds a message for which the original raises `count` equal letters.
    #[cold]
    pub(super) fn add_counted(&mut self, diagnostic: Diagnostic, count: usize) {
        if self.pass == Pass::First {
            return;
        }
        if diagnostic.code.letter().is_none() {
            return self.keep(diagnostic);
        }
        if self.pass == Pass::Only {
            self.wants_two = true;
            return;
        }
        self.letters += count;
        let shown = self.row.letters < LETTERS_A_ROW;
        self.row.letters += count;
        if shown {
            self.row.has_error |= self.is_error(diagnostic.code);
            return self.keep(diagnostic);
        }
        // A row whose letters are warnings would hide that it is wrong.
        if self.is_error(diagnostic.code) && !self.row.has_error && !self.row.overflowed {
            self.row.overflowed = true;
            let message =
                format!("{} as well; this row has two letters already", diagnostic.message);
            self.keep(Diagnostic { code: Code::More, message, ..diagnostic });
        }
    }

    fn is_error(&self, code: Code) -> bool {
        self.levels.severity(code) == Some(Severity::Error)
    }

    fn keep(&mut self, mut diagnostic: Diagnostic) {
        let Some(severity) = self.levels.severity(diagnostic.code) else { return };
        diagnostic.severity = severity;
        if !diagnostic.is_error() {
            self.warnings += 1;
            if self.warnings <= MAX_WARNINGS {
                self.kept.push(diagnostic);
            }
            return;
        }
        self.errors += 1;
        if self.errors <= MAX_ERRORS {
            self.kept.push(diagnostic);
        } else if self.errors == MAX_ERRORS + 1 {
            let message = format!("more than {MAX_ERRORS} errors; the rest is left out");
            self.kept.push(Diagnostic::new(Code::TooMany, diagnostic.span, message));
        }
    }

    /// Whether a message of a code that the original has a letter for is kept: what would only be
    /// thrown away need not be explained.
    pub(super) fn hears(&self, code: Code) -> bool {
        let has_room = match self.levels.severity(code) {
            Some(Severity::Error) => self.errors < MAX_ERRORS,
            Some(Severity::Warning) => self.warnings < MAX_WARNINGS,
            None => false,
        };
        self.pass == Pass::Second && has_room
    }

    /// The number of errors in the row, if the letters of all of them are shown.
    pub(super) fn shown_in_row(&self) -> Option<u16> {
        let letters = self.row.letters;
        (letters <= LETTERS_A_ROW).then_some(letters as u16)
    }

    pub(super) fn mark(&self) -> Mark {
        Mark {
            kept: self.kept.len(),
            errors: self.errors,
            warnings: self.warnings,
            letters: self.letters,
            row: self.row,
        }
    }

    /// Forgets what was reported since `mark`.
    pub(super) fn rewind(&mut self, mark: Mark) {
        self.kept.truncate(mark.kept);
        self.errors = mark.errors;
        self.warnings = mark.warnings;
        self.letters = mark.letters;
        self.row = mark.row;
    }

    /// Whether the letters changed since `mark`.
    pub(super) fn raised_since(&self, mark: Mark) -> bool {
        self.letters != mark.letters || self.wants_two
    }

    /// Returns the messages sorted by place, and the number of letters that the original counts.
    pub(super) fn finish(mut self) -> (Vec<Diagnostic>, usize) {
        self.kept.sort_by_key(|found| (found.span.start, found.severity == Severity::Warning));
        self.kept.dedup();
        (self.kept, self.letters)
    }
}

impl super::Assembler<'_> {
    pub(super) fn error(&mut self, code: Code, span: Span, message: impl Into<String>) {
        self.reports.add(Diagnostic::new(code, span, message));
    }

    /// Reports what the original marks with `count` equal letters.
    pub(super) fn error_counted(&mut self, code: Code, span: Span, message: &str, count: usize) {
        self.reports.add_counted(Diagnostic::new(code, span, message), count);
    }

    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        self.reports.add(diagnostic);
    }
}
