//! State shared by all parts of a run: options, pass, sources, diagnostics and recordings.

use std::path::PathBuf;

use super::diagnostics::DiagnosticSink;
use super::input::StatementPlace;
use super::name_table::NameId;
use super::options::Options;
use super::pass::Pass;
use super::pass_comparison::PassComparison;
use super::recorder::Recorder;
use crate::diag::{Diagnostic, DiagnosticCode};
use crate::listing::{
    BYTES_A_ROW, ListedCode, ListingControl, ListingDirective, RelocValue, RowBreak, Statement,
};
use crate::references::{Expansion, ReferenceRole, TextOrigin};
use crate::source::{Origin, SourceMap, Span};
use crate::syntax::lex;

/// State that every part of the assembler reads or reports to.
pub(super) struct Context<'a> {
    pub(super) options: &'a Options,
    pub(super) pass: Pass,
    pub(super) sources: SourceMap,
    pub(super) files: Vec<PathBuf>,
    /// The file and line of the statement.
    pub(super) statement_place: StatementPlace,
    /// Positions of the files' statements in the first pass, and where the second pass differs.
    pub(super) pass_comparison: PassComparison,
    pub(super) sink: DiagnosticSink<'a>,
    pub(super) recorder: Recorder,
}

impl<'a> Context<'a> {
    pub(super) fn new(options: &'a Options) -> Self {
        Self {
            options,
            pass: Pass::First,
            sources: SourceMap::default(),
            files: Vec::new(),
            statement_place: StatementPlace::default(),
            pass_comparison: PassComparison::default(),
            sink: DiagnosticSink::new(options, Pass::First),
            recorder: Recorder::default(),
        }
    }

    pub(super) fn begin_second_pass(&mut self) {
        self.pass = Pass::Second;
        self.sources.begin_second_pass();
        self.pass_comparison.restart();
        self.sink.restart(Pass::Second);
        self.recorder.restart();
    }

    /// Returns the number stored in names that the current pass defines.
    pub(super) fn pass_number(&self) -> u8 {
        if self.pass == Pass::Second { 2 } else { 1 }
    }

    pub(super) fn error(&mut self, code: DiagnosticCode, span: Span, message: impl Into<String>) {
        self.sink.add(Diagnostic::new(code, span, message));
    }

    /// Reports an error that ZASM marks with `count` equal error flags.
    pub(super) fn error_counted(
        &mut self,
        code: DiagnosticCode,
        span: Span,
        message: &str,
        count: usize,
    ) {
        self.sink.add_counted(Diagnostic::new(code, span, message), count);
    }

    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        self.sink.add(diagnostic);
    }

    /// Returns the span of the symbol that starts at an offset.
    pub(super) fn symbol_span(&self, at: u32) -> Span {
        let source = self.sources.source_at(at);
        let rest = &source.text[(at - source.base) as usize..];
        let length = rest.iter().take_while(|byte| lex::is_symbol(**byte)).count();
        Span::new(at, at + length as u32)
    }

    pub(super) fn control(&mut self, control: ListingControl) {
        if self.options.listing {
            // ZASM lists `.SLIST` unless another listing directive follows it.
            self.recorder.line.control =
                !matches!(control, ListingControl::Directive(ListingDirective::Save));
            let statements = self.recorder.listing.statements.len() as u32;
            self.recorder.listing.controls.push((statements, control));
        }
    }

    /// Records `.LINK` or `.XLINK`, which also change the page headings.
    pub(super) fn linkage_control(&mut self, linkage: bool) {
        if self.options.listing {
            let place = self.recorder.listing.statements.len() as u32;
            self.recorder.listing.controls.push((place, ListingControl::Linkage(linkage)));
        }
    }

    /// Records the rows of a text that produces bytes, since the listing shows the bytes of each
    /// line beside it. ZASM writes a byte when it has found the next one.
    pub(super) fn record_text(&mut self, start: u32, text: &[u8], before: u32) {
        if !self.options.listing {
            return;
        }
        for (at, byte) in (0..).zip(text) {
            let (offset, bytes) = (start + at, before + at);
            self.record_byte(offset, bytes.saturating_sub(1), BYTES_A_ROW);
            let ends = match byte {
                b'\r' => text.get(at as usize + 1) == Some(&b'\n'),
                b'\n' => !text[..at as usize].ends_with(b"\r"),
                _ => false,
            };
            if ends {
                self.record_break(offset, bytes, false);
            }
        }
    }

    /// Records the offset at which byte number `index` of the statement is written, if it begins a
    /// row.
    #[inline]
    pub(super) fn record_byte(&mut self, offset: u32, index: u32, bytes_a_row: u32) {
        let in_row = index.saturating_sub(self.recorder.line.row_start);
        if self.options.listing && in_row > 0 && in_row.is_multiple_of(bytes_a_row) {
            self.record_break(offset, index, true);
        }
    }

    fn record_break(&mut self, offset: u32, bytes: u32, is_full: bool) {
        let statement = self.recorder.listing.statements.len() as u32;
        self.recorder.listing.breaks.push(RowBreak { statement, offset, bytes, is_full });
        self.recorder.line.row_start = bytes;
    }

    pub(super) fn record_statement(
        &mut self,
        span: Span,
        address: RelocValue,
        code: ListedCode,
        depth: u32,
        module: u32,
    ) {
        let line = self.recorder.line;
        self.recorder.listing.statements.push(Statement {
            span,
            address,
            code,
            module,
            value: line.value,
            start: line.start,
            clocks: line.clocks,
            words: line.words,
            labelled: line.labelled,
            control: line.control,
            depth,
        });
    }

    #[inline]
    pub(super) fn records_references(&self) -> bool {
        self.options.references && self.pass == Pass::Second
    }

    /// Records the pieces that the text of a macro call consists of.
    pub(super) fn record_expansion(&mut self, base: u32, pieces: &[TextOrigin]) {
        let references = &mut self.recorder.references;
        let first = references.pieces.len() as u32;
        references.pieces.extend_from_slice(pieces);
        references.expansions.push(Expansion { base, first });
    }

    #[inline]
    pub(super) fn record_reference(&mut self, name: NameId, span: Span, role: ReferenceRole) {
        if self.records_references() {
            self.recorder.unnumbered.push((name, span, role));
        }
    }

    /// Adds an empty source, as the position of messages about a file that cannot be read.
    pub(super) fn add_placeholder(&mut self, name: &str) -> Span {
        let index = self.sources.add(name.into(), Origin::File, Vec::new());
        let start = index.map_or(0, |index| self.sources.get(index).base);
        Span::new(start, start)
    }

    /// Returns the end of the last file of the run.
    pub(super) fn end_of_files(&self) -> Option<Span> {
        let mut files = self.sources.iter().filter(|source| source.origin == Origin::File);
        let last = files.next_back()?;
        let end = last.base + last.text.len() as u32;
        Some(Span::new(end, end))
    }
}
