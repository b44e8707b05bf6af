//! The messages of a run: which are kept, and which letters each row of the original's listing has.

use std::iter;

use crate::diag::{Code, Diagnostic, Severity};
use crate::source::Span;

use super::{Options, Pass};

/// After this many errors the rest is left out.
const MAX_ERRORS: usize = 100;
/// After this many warnings the rest is left out.
const MAX_WARNINGS: usize = 100;
/// The original prints no more letters than these in one row.
const LETTERS_A_ROW: usize = 2;

/// Everything that is reported, and what the present row of the listing has of it.
#[derive(Debug)]
pub(super) struct Reports<'a> {
    options: &'a Options,
    pass: Pass,
    kept: Vec<Diagnostic>,
    errors: usize,
    warnings: usize,
    /// The letters that the original would count, those beyond the second of a row included.
    letters: usize,
    row: Row,
    /// The row of each letter that the only pass raised where it read the row, ascending.
    early: Vec<u32>,
    /// The row of each letter that it raised at the end of a module, in a field that waited.
    late: Vec<u32>,
    /// Whether such fields are being filled.
    is_late: bool,
    /// Whether the only pass met something that two passes may see otherwise.
    pub(super) wants_two: bool,
}

/// The letters of one row of the listing.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Row {
    number: u32,
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
    early: usize,
}

impl<'a> Reports<'a> {
    pub(super) fn new(options: &'a Options, pass: Pass) -> Self {
        Self {
            options,
            pass,
            kept: Vec::new(),
            errors: 0,
            warnings: 0,
            letters: 0,
            row: Row::default(),
            early: Vec::new(),
            late: Vec::new(),
            is_late: false,
            wants_two: false,
        }
    }

    /// Begins the pass that reports.
    pub(super) fn restart(&mut self, pass: Pass) {
        *self = Self::new(self.options, pass);
    }

    /// Begins a row of the listing.
    #[inline]
    pub(super) fn next_row(&mut self) {
        self.row = Row { number: self.row.number.wrapping_add(1), ..Row::default() };
    }

    /// The number of the row, by which a field that waits is known to belong to it.
    #[inline]
    pub(super) fn row(&self) -> u32 {
        self.row.number
    }

    /// Adds a message. The first of two passes reports nothing, and the only one has the text read
    /// twice instead if the message may depend on what the first of two finds further below.
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
        if self.pass == Pass::Only && !self.note_letters(diagnostic.code, count) {
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

    /// Notes letters of the only pass; `false` if it takes two passes to raise them rightly.
    fn note_letters(&mut self, code: Code, count: usize) -> bool {
        let is_early = code == Code::Undefined && !self.is_late;
        let needs_two = !self.options.faults_in_one || code.needs_two_passes() || is_early;
        let rows = if self.is_late { &mut self.late } else { &mut self.early };
        rows.extend(iter::repeat_n(self.row.number, count));
        !needs_two
    }

    /// Begins to fill fields that waited; returns the row to come back to.
    pub(super) fn begin_late(&mut self) -> Row {
        self.is_late = true;
        self.row
    }

    /// Goes back to the row of a field that waited until the end of the module.
    pub(super) fn go_to_row(&mut self, number: u32) {
        self.row = Row { number, ..Row::default() };
    }

    /// Ends the filling of fields that waited. Two passes raise their letters where they read the
    /// rows: it has to be the same which of them are shown.
    pub(super) fn end_late(&mut self, row: Row) {
        self.is_late = false;
        self.row = row;
        let rows = || self.late.chunk_by(|one, other| one == other);
        let is_crowded = rows().any(|row| row.len() > LETTERS_A_ROW);
        let is_mixed = rows().any(|row| self.early.binary_search(&row[0]).is_ok());
        let is_cut =
            self.warnings > MAX_WARNINGS || (self.errors > MAX_ERRORS && !self.early.is_empty());
        self.wants_two |= is_crowded || is_mixed || (is_cut && !self.late.is_empty());
    }

    fn is_error(&self, code: Code) -> bool {
        self.options.levels.severity(code) == Some(Severity::Error)
    }

    fn keep(&mut self, mut diagnostic: Diagnostic) {
        let Some(severity) = self.options.levels.severity(diagnostic.code) else { return };
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
        let has_room = match self.options.levels.severity(code) {
            Some(Severity::Error) => self.errors < MAX_ERRORS,
            Some(Severity::Warning) => self.warnings < MAX_WARNINGS,
            None => false,
        };
        self.pass != Pass::First && has_room
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
            early: self.early.len(),
        }
    }

    /// Forgets what was reported since `mark`.
    pub(super) fn rewind(&mut self, mark: Mark) {
        self.kept.truncate(mark.kept);
        self.errors = mark.errors;
        self.warnings = mark.warnings;
        self.letters = mark.letters;
        self.row = mark.row;
        self.early.truncate(mark.early);
    }

    /// Whether this is the only pass, and has met something that two passes may see otherwise.
    #[inline]
    pub(super) fn ends_only_pass(&self) -> bool {
        self.wants_two && self.pass == Pass::Only
    }

    /// Whether the letters changed since `mark`.
    pub(super) fn raised_since(&self, mark: Mark) -> bool {
        self.letters != mark.letters || self.ends_only_pass()
    }

    /// Returns the messages sorted by place, and the number of letters that the original counts.
    pub(super) fn finish(mut self) -> (Vec<Diagnostic>, usize) {
        // A message about a whole module comes before those about its first byte.
        self.kept.sort_by_key(|found| {
            let about_module = found.code == Code::Overwrite;
            (found.span.start, !about_module, found.severity == Severity::Warning)
        });
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
