//! The state of a run.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};

use super::code_buffer::{CodeBuffer, CodeCheckpoint};
use super::console::Console;
use super::diagnostics::DiagnosticSink;
use super::flow::Flow;
use super::input::{Frame, FrameKind, InputStack, StatementPlace};
use super::name_table::{NameId, NameTable};
use super::options::{Notation, Options};
use super::pass::{Pass, PassComparison};
use super::reading::Reading;
use super::recorder::Recorder;
use super::value::{BaseId, Value};
use crate::diag::{Diagnostic, DiagnosticCode};
use crate::listing::Listing;
use crate::module::{Lines, Module, ObjectForm, ProgramId};
use crate::references::References;
use crate::source::{Loader, Origin, SourceMap, Span, visible};
use crate::syntax::{lex, zilog};

/// Reads the statements of the source into modules.
pub(super) struct Assembler<'a> {
    pub(super) loader: &'a dyn Loader,
    pub(super) options: &'a Options,
    pub(super) pass: Pass,
    pub(super) sources: SourceMap,
    pub(super) files: Vec<PathBuf>,
    pub(super) input: InputStack,
    pub(super) console: Console<'a>,
    pub(super) sink: DiagnosticSink,
    pub(super) recorder: Recorder,
    /// Positions of the files' statements in the first pass, and where the second pass differs.
    pub(super) pass_comparison: PassComparison,
    pub(super) names: NameTable,
    pub(super) reading: Reading,
    /// The names of each module and what was read of it, from the first pass for the second.
    pub(super) first_pass: VecDeque<(NameTable, Reading)>,
    pub(super) code: CodeBuffer,
    /// The line table of the module, if requested.
    pub(super) lines: Lines,
    pub(super) module: ModuleState,
    pub(super) statement: StatementState,
    pub(super) modules: Vec<Module>,
    pub(super) object_form: ObjectForm,
}

/// What the statements of a module set, other than its symbols and code.
#[derive(Default)]
pub(super) struct ModuleState {
    /// The radix of numbers without suffix.
    pub(super) radix: u8,
    /// Whether instructions that the 8080 lacks are errors (`.I8080`).
    pub(super) only_8080: bool,
    pub(super) wrap_reported: bool,
    /// Whether instructions have Zilog's mnemonics (`.ZOP`).
    pub(super) has_zilog_mnemonics: bool,
    /// Whether the directives of M80 are read, too (`.EPOP`).
    pub(super) has_zilog_directives: bool,
    /// The section that `CSEG` and the like select, which `ORG` stays in.
    pub(super) zilog_section: Option<BaseId>,
    /// Symbols that the second pass used before their definitions, with offset and value.
    pub(super) early_uses: Vec<(NameId, u32, Value)>,
    /// The operand of `.END`.
    pub(super) start_address: Option<Value>,
    /// The form of the module's TDL object.
    pub(super) form: ObjectForm,
    /// The operands of PASM's `.PROGID`.
    pub(super) program: ProgramId,
    pub(super) flow: Flow,
}

impl ModuleState {
    fn new() -> Self {
        Self { radix: 10, ..Self::default() }
    }
}

/// The statement that is read.
#[derive(Debug, Default)]
pub(super) struct StatementState {
    /// Its file and line.
    pub(super) place: StatementPlace,
    /// The word of its instruction, directive or macro.
    pub(super) operator: Span,
    /// The code before it.
    pub(super) start: CodeCheckpoint,
    /// The value of `.`: the location counter at its start.
    pub(super) location: Value,
    /// Whether a parenthesis is open at the end of its line.
    pub(super) continues: bool,
}

impl<'a> Assembler<'a> {
    pub(super) fn new(loader: &'a dyn Loader, options: &'a Options) -> Self {
        Self {
            loader,
            options,
            pass: Pass::First,
            sources: SourceMap::default(),
            files: Vec::new(),
            input: InputStack::default(),
            console: Console::new(&options.console_replies),
            sink: DiagnosticSink::new(options),
            recorder: Recorder::new(options, Pass::First),
            pass_comparison: PassComparison::default(),
            names: NameTable::new(options),
            reading: Reading::default(),
            first_pass: VecDeque::new(),
            code: CodeBuffer::new(options.absolute_prog),
            lines: Lines::default(),
            module: ModuleState::new(),
            statement: StatementState::default(),
            modules: Vec::new(),
            object_form: ObjectForm::default(),
        }
    }

    /// Keeps the symbols and macros of the first pass, and resets everything else.
    pub(super) fn begin_second_pass(&mut self) {
        self.pass = Pass::Second;
        self.sources.begin_second_pass();
        self.input.restart();
        self.sink.begin_second_pass(self.options);
        self.recorder = Recorder::new(self.options, Pass::Second);
        self.pass_comparison.restart();
        self.begin_next_module();
        self.statement = StatementState::default();
        self.object_form = ObjectForm::default();
    }

    pub(super) fn begin_next_module(&mut self) {
        self.code = CodeBuffer::new(self.options.absolute_prog);
        self.lines = Lines::default();
        self.module = ModuleState::new();
        let known = match self.pass {
            Pass::First => None,
            Pass::Second => self.first_pass.pop_front(),
        };
        (self.names, self.reading) =
            known.unwrap_or_else(|| (NameTable::new(self.options), Reading::default()));
        self.names.begin_pass();
    }

    /// Returns `true` if the source is in TDL's notation as PASM reads it.
    pub(super) fn is_pasm(&self) -> bool {
        self.options.notation == Notation::Pasm
    }

    pub(super) fn warn_no_end(&mut self) {
        if let Some(end) = self.end_of_files() {
            let message = "the program does not end with .END";
            let diagnostic = Diagnostic::new(DiagnosticCode::NoEnd, end, message);
            let text = &self.sources.source_at(end.start.saturating_sub(1)).text;
            let line = if text.is_empty() || text.ends_with(b"\n") { "" } else { "\n" };
            let diagnostic = diagnostic.help("add a line with .END");
            self.report(diagnostic.fix(end, format!("{line}        .END\n")));
        }
    }

    /// Reads a file into the source map. An error is reported at `at`.
    pub(super) fn open_file(&mut self, path: &Path, origin: Origin, at: Span) -> Option<Frame> {
        let name = path.display().to_string();
        let kind = if origin == Origin::File { FrameKind::File } else { FrameKind::Insert };
        match self.input.load(self.loader, path) {
            Ok((text, removed)) => {
                let index = self.sources.add_without_end(name.as_str().into(), origin, text);
                if index.is_none() {
                    let message = "the sources are larger than 4 GB together";
                    self.error(DiagnosticCode::SourcesTooLarge, at, message);
                }
                if let (Some(removed), Some(index)) = (removed, index) {
                    let at = self.sources.get(index).base;
                    let message = format!("this file is not plain text: {removed}");
                    self.error(DiagnosticCode::FileText, Span::new(at, at), message);
                }
                index.map(|index| Frame::new(kind, &self.sources, index))
            }
            Err(error) => {
                let name = visible(&name);
                let at = if kind == FrameKind::File { self.add_placeholder(&name) } else { at };
                self.unreadable(&name, &error, at);
                None
            }
        }
    }

    /// Reports that a file can't be read.
    pub(super) fn unreadable(&mut self, name: &str, error: &io::Error, at: Span) {
        let message = format!("cannot read {name}: {error}");
        self.error(DiagnosticCode::File, at, message);
    }

    pub(super) fn error(&mut self, code: DiagnosticCode, span: Span, message: impl Into<String>) {
        self.sink.add(Diagnostic::new(code, span, message));
    }

    /// Reports an error, and what to do.
    pub(super) fn error_with_help(
        &mut self,
        code: DiagnosticCode,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.sink.add(Diagnostic::new(code, span, message).help(help));
    }

    /// Reports an error at the operator of the statement.
    pub(super) fn operator_error(&mut self, code: DiagnosticCode, message: impl Into<String>) {
        self.error(code, self.statement.operator, message);
    }

    /// Creates a diagnostic about a symbol or macro, whose name begins the message.
    pub(super) fn about_symbol(
        &self,
        code: DiagnosticCode,
        name: NameId,
        span: Span,
        message: &str,
    ) -> Diagnostic {
        let spelling = self.names.spelling(name);
        let diagnostic = Diagnostic::new(code, span, format!("{spelling} {message}"));
        Diagnostic { symbol: Some(spelling), ..diagnostic }
    }

    pub(super) fn symbol_error(
        &mut self,
        code: DiagnosticCode,
        name: NameId,
        span: Span,
        message: &str,
    ) {
        self.report(self.about_symbol(code, name, span, message));
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
        let is_symbol = match self.options.notation {
            Notation::Zilog => zilog::is_symbol,
            _ => lex::is_symbol,
        };
        let length = rest.iter().take_while(|byte| is_symbol(**byte)).count();
        Span::new(at, at + length as u32)
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

    pub(super) fn into_assembly(mut self) -> Assembly {
        let mut listing = self.recorder.listing;
        listing.first_pass_error = self.sink.first_pass_error;
        listing.flags = std::mem::take(&mut self.sink.listed_flags);
        let (diagnostics, zasm_error_count) = self.sink.finish(&self.sources);
        Assembly {
            modules: self.modules,
            object_form: self.object_form,
            listing,
            diagnostics,
            zasm_error_count,
            sources: self.sources,
            messages: self.console.messages,
            references: self.recorder.references,
        }
    }
}

/// The result of an assembly, with or without errors.
#[derive(Debug, Default)]
pub struct Assembly {
    /// The modules; more than one only if the source uses `.PRGEND`. After errors, these are the
    /// modules that ZASM would have written.
    pub modules: Vec<Module>,
    /// The form of TDL object file that the source selects for all modules.
    pub object_form: ObjectForm,
    /// The listing. Empty unless [`Options::listing`](super::Options::listing) is set.
    pub listing: Listing,
    /// Errors and warnings, sorted by position.
    pub diagnostics: Vec<Diagnostic>,
    /// The number that ZASM prints as `n ERRORS WERE DETECTED`.
    pub zasm_error_count: usize,
    /// All source texts that were read.
    pub sources: SourceMap,
    /// The console output: texts of `.PRNTX`, and prompts with their replies.
    pub messages: Vec<String>,
    /// Definitions and uses of names, if [`Options::references`](super::Options::references).
    pub references: References,
}

impl Assembly {
    /// Returns `true` if at least one diagnostic is an error.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }
}
