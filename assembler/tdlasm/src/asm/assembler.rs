//! The state of a run.

use std::path::Path;

use super::assembly::Assembly;
use super::console::Console;
use super::input::{Frame, FrameKind, InputStack};
use super::lints::is_allowed;
use super::module_assembler::ModuleAssembler;
use super::options::Options;
use crate::diag::{Diagnostic, DiagnosticCode};
use crate::module::{Module, ObjectForm};
use crate::source::{Loader, Origin, Span, visible};

/// Reads the statements of the source into modules.
pub(super) struct Assembler<'a> {
    pub(super) input: InputStack<'a>,
    pub(super) module: ModuleAssembler<'a>,
    pub(super) console: Console<'a>,
    pub(super) modules: Vec<Module>,
    pub(super) object_form: ObjectForm,
}

impl<'a> Assembler<'a> {
    pub(super) fn new(loader: &'a dyn Loader, options: &'a Options) -> Self {
        Self {
            input: InputStack::new(loader, &options.include_dirs),
            module: ModuleAssembler::new(options),
            console: Console::new(&options.console_replies),
            modules: Vec::new(),
            object_form: ObjectForm::default(),
        }
    }

    /// Keeps the symbols and macros of the first pass, and resets everything else.
    pub(super) fn begin_second_pass(&mut self) {
        self.input.restart();
        self.module.begin_second_pass();
        self.modules.clear();
        self.object_form = ObjectForm::default();
    }

    pub(super) fn error(&mut self, code: DiagnosticCode, span: Span, message: impl Into<String>) {
        self.module.context.error(code, span, message);
    }

    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        self.module.context.report(diagnostic);
    }

    pub(super) fn finish_module(&mut self) {
        self.modules.extend(self.module.finish());
    }

    pub(super) fn warn_no_end(&mut self) {
        if let Some(end) = self.module.context.end_of_files() {
            let message = "the program does not end with .END";
            let diagnostic = Diagnostic::new(DiagnosticCode::NoEnd, end, message);
            let text = &self.module.context.sources.source_at(end.start.saturating_sub(1)).text;
            let line = if text.is_empty() || text.ends_with(b"\n") { "" } else { "\n" };
            let diagnostic = diagnostic.help("add a line with .END");
            self.report(diagnostic.fix(end, format!("{line}        .END\n")));
        }
    }

    /// Reads a file into the source map. An error is reported at `at`.
    pub(super) fn open_file(&mut self, path: &Path, origin: Origin, at: Span) -> Option<Frame> {
        let name = path.display().to_string();
        let kind = if origin == Origin::File { FrameKind::File } else { FrameKind::Insert };
        match self.input.load(path) {
            Ok((text, removed)) => {
                let index =
                    self.module.context.sources.add_without_end(name.as_str().into(), origin, text);
                if index.is_none() {
                    self.error(
                        DiagnosticCode::SourcesTooLarge,
                        at,
                        "the sources are larger than 4 GB together",
                    );
                }
                if let (Some(removed), Some(index)) = (removed, index) {
                    let at = self.module.context.sources.get(index).base;
                    let message = format!("this file is not plain text: {removed}");
                    self.error(DiagnosticCode::FileText, Span::new(at, at), message);
                }
                index.map(|index| Frame::new(kind, &self.module.context.sources, index))
            }
            Err(error) => {
                let name = visible(&name);
                let at = if kind == FrameKind::File {
                    self.module.context.add_placeholder(&name)
                } else {
                    at
                };
                let message = format!("cannot read {name}: {error}");
                self.report(Diagnostic::new(DiagnosticCode::File, at, message));
                None
            }
        }
    }

    pub(super) fn into_assembly(mut self) -> Assembly {
        let mut listing = self.module.context.recorder.listing;
        listing.first_pass_error = self.module.context.sink.first_pass_error;
        listing.flags = std::mem::take(&mut self.module.context.sink.listed_flags);
        let (mut diagnostics, zasm_error_count) = self.module.context.sink.finish();
        diagnostics.retain(|one| !is_allowed(one, &self.module.context.sources));
        Assembly {
            modules: self.modules,
            object_form: self.object_form,
            listing,
            diagnostics,
            zasm_error_count,
            sources: self.module.context.sources,
            messages: self.console.messages,
            references: self.module.context.recorder.references,
        }
    }
}
