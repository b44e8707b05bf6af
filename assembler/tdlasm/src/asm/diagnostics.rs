//! Collects diagnostics, and the error flags that ZASM prints in each listing row.

use std::iter;

use super::options::Options;
use super::pass::Pass;
use crate::diag::{Diagnostic, DiagnosticCode, LintLevels, Severity, render};
use crate::source::{SourceMap, Span};

/// Errors beyond this number are dropped.
const MAX_ERRORS: usize = 100;
/// Warnings beyond this number are dropped.
const MAX_WARNINGS: usize = 100;
/// ZASM prints at most this many error flags in a row.
const MAX_FLAGS_PER_ROW: usize = 2;

/// The lints about the straight path of execution.
const FLOW_LINTS: [DiagnosticCode; 3] =
    [DiagnosticCode::Unreachable, DiagnosticCode::Unbalanced, DiagnosticCode::ZilogJump];

/// Collects the diagnostics of a run, and the error flags of the current listing row.
#[derive(Debug, Default)]
pub(super) struct DiagnosticSink {
    lint_levels: LintLevels,
    /// Whether a listing is requested.
    lists: bool,
    /// Whether a lint about the path of execution is wanted.
    pub(super) follows_path: bool,
    pass: Pass,
    diagnostics: Vec<Diagnostic>,
    counts: Counts,
    row: FlagRow,
    /// The flags that ZASM's listing shows, if there is one.
    pub(super) listed_flags: Vec<(DiagnosticCode, Span)>,
    /// Whether the first pass has found an error that ZASM reports in that pass.
    pub(super) first_pass_error: bool,
    /// The counts before the first message of the statement, if it has one, and the numbers of
    /// diagnostics and listed flags.
    before_statement: Option<(Counts, usize, usize)>,
}

/// The error flags of a listing row.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct FlagRow {
    flags: usize,
    /// Whether one of the flags shown is an error.
    has_error: bool,
    /// Whether the row has errors that its flags do not show.
    overflowed: bool,
}

/// How much has been reported.
#[derive(Debug, Default, Clone, Copy)]
struct Counts {
    errors: usize,
    warnings: usize,
    /// The number of error flags that ZASM counts, including those that a full row does not show.
    flags: usize,
}

impl DiagnosticSink {
    pub(super) fn new(options: &Options) -> Self {
        let lint_levels = options.lint_levels.clone();
        let is_wanted = |code: &DiagnosticCode| lint_levels.severity(*code).is_some();
        let follows_path = FLOW_LINTS.iter().any(is_wanted);
        Self { lint_levels, follows_path, lists: options.listing, ..Self::default() }
    }

    pub(super) fn begin_second_pass(&mut self, options: &Options) {
        let first_pass_error = self.first_pass_error;
        *self = Self { pass: Pass::Second, first_pass_error, ..Self::new(options) };
    }

    pub(super) fn next_row(&mut self) {
        self.row = FlagRow::default();
    }

    /// Adds a diagnostic. The first pass reports nothing.
    pub(super) fn add(&mut self, diagnostic: Diagnostic) {
        self.add_counted(diagnostic, 1);
    }

    /// Adds a diagnostic for which ZASM raises `count` equal error flags.
    pub(super) fn add_counted(&mut self, diagnostic: Diagnostic, count: usize) {
        let reported = (self.counts, self.diagnostics.len(), self.listed_flags.len());
        self.before_statement.get_or_insert(reported);
        if self.pass == Pass::First {
            self.first_pass_error |= matches!(diagnostic.code.error_flag(), Some('I' | 'M'));
            return;
        }
        if diagnostic.code.error_flag().is_none() {
            return self.push(diagnostic);
        }
        self.counts.flags += count;
        if self.lists {
            self.listed_flags.extend(iter::repeat_n((diagnostic.code, diagnostic.span), count));
        }
        let shown = self.row.flags < MAX_FLAGS_PER_ROW;
        self.row.flags += count;
        if shown {
            self.row.has_error |= self.is_error(diagnostic.code);
            return self.push(diagnostic);
        }
        // Without this the flags of a row could all be warnings although the row has an error.
        if self.is_error(diagnostic.code) && !self.row.has_error && !self.row.overflowed {
            self.row.overflowed = true;
            let message =
                format!("{} as well; this row has two error flags already", diagnostic.message);
            self.push(Diagnostic { code: DiagnosticCode::MoreErrors, message, ..diagnostic });
        }
    }

    fn is_error(&self, code: DiagnosticCode) -> bool {
        self.lint_levels.severity(code) == Some(Severity::Error)
    }

    fn push(&mut self, mut diagnostic: Diagnostic) {
        let Some(severity) = self.lint_levels.severity(diagnostic.code) else { return };
        diagnostic.severity = severity;
        if !diagnostic.is_error() {
            self.counts.warnings += 1;
            if self.counts.warnings <= MAX_WARNINGS {
                self.diagnostics.push(diagnostic);
            }
            return;
        }
        self.counts.errors += 1;
        if self.counts.errors <= MAX_ERRORS {
            self.diagnostics.push(diagnostic);
        } else if self.counts.errors == MAX_ERRORS + 1 {
            let message = format!("more than {MAX_ERRORS} errors; the rest is left out");
            let code = DiagnosticCode::TooMany;
            self.diagnostics.push(Diagnostic::new(code, diagnostic.span, message));
        }
    }

    /// Returns `true` if a diagnostic with this code would be stored. If not, callers can skip the
    /// search for suggestions.
    pub(super) fn accepts(&self, code: DiagnosticCode) -> bool {
        let has_room = match self.lint_levels.severity(code) {
            Some(Severity::Error) => self.counts.errors < MAX_ERRORS,
            Some(Severity::Warning) => self.counts.warnings < MAX_WARNINGS,
            None => false,
        };
        self.pass != Pass::First && has_room
    }

    /// Returns the number of flags that ZASM shows in the row.
    pub(super) fn shown_flags_in_row(&self) -> usize {
        self.row.flags.min(MAX_FLAGS_PER_ROW)
    }

    /// Returns the number of errors in the row, if all of their flags are shown.
    pub(super) fn flags_in_row(&self) -> Option<u16> {
        let flags = self.row.flags;
        (flags <= MAX_FLAGS_PER_ROW).then_some(flags as u16)
    }

    /// Begins a statement. Returns the row, to [`roll_back`](Self::roll_back) what it reports.
    pub(super) fn begin_statement(&mut self) -> FlagRow {
        self.before_statement = None;
        self.row
    }

    /// Drops what the statement reported, so that it can be read again.
    pub(super) fn roll_back(&mut self, row: FlagRow) {
        self.row = row;
        let Some((counts, diagnostics, listed_flags)) = self.before_statement.take() else {
            return;
        };
        self.counts = counts;
        self.diagnostics.truncate(diagnostics);
        self.listed_flags.truncate(listed_flags);
    }

    /// Returns the number of flags that ZASM counts so far.
    pub(super) fn flags(&self) -> usize {
        self.counts.flags
    }

    /// Returns the diagnostics that no comment allows, sorted by position, and the number of flags
    /// that ZASM counts.
    pub(super) fn finish(mut self, sources: &SourceMap) -> (Vec<Diagnostic>, usize) {
        // A message about a whole module precedes those about its first byte.
        self.diagnostics.sort_by_key(|found| {
            let about_module = found.code == DiagnosticCode::Overwrite;
            (found.span.start, !about_module, found.severity == Severity::Warning)
        });
        self.diagnostics.dedup();
        self.diagnostics.retain(|one| !is_allowed(one, sources));
        (self.diagnostics, self.counts.flags)
    }
}

/// Returns `true` if a comment on the line of a lint, or alone on the line above, allows it.
pub(super) fn is_allowed(diagnostic: &Diagnostic, sources: &SourceMap) -> bool {
    if diagnostic.code.error_flag().is_some() {
        return false;
    }
    let start = render::in_file(diagnostic.span, sources).start;
    let place = sources.location(start);
    let line = |number: u32| {
        let at = place.source.base + place.source.line_start(number);
        sources.slice(sources.rest_of_line(at)).trim_ascii()
    };
    let names = |line: &[u8]| {
        let comment =
            line.iter().rposition(|byte| *byte == b';').map_or(&line[..0], |at| &line[at + 1..]);
        let text = String::from_utf8_lossy(comment).to_ascii_lowercase();
        let mut words = text.split([' ', '\t', ',']).filter(|word| !word.is_empty());
        words.next() == Some("allow")
            && words.any(|word| {
                word == diagnostic.code.group() || word.eq_ignore_ascii_case(diagnostic.code.id())
            })
    };
    let above = (place.line > 1).then(|| line(place.line - 1));
    names(line(place.line)) || above.is_some_and(|line| line.starts_with(b";") && names(line))
}
