//! Conversion of the assembler's diagnostics to those of the protocol.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lsp_types::{
    Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Location, NumberOrString,
    PublishDiagnosticsParams,
};
use tdlasm::diag::{self, render};
use tdlasm::source::Span;

use super::analysis::Analysis;
use super::positions::LineIndex;
use super::uri;
use super::workspace::Workspace;

const DIAGNOSTIC_SOURCE: &str = "tdlasm";

/// The diagnostics published last, by file.
#[derive(Debug, Default)]
pub(super) struct PublishedDiagnostics {
    files: BTreeMap<PathBuf, PublishDiagnosticsParams>,
}

impl PublishedDiagnostics {
    /// Removes a file that is opened again, so that its diagnostics are published again.
    pub(super) fn forget(&mut self, path: &Path) {
        self.files.remove(path);
    }

    /// Returns the diagnostics that changed, of all programs with an open file; empty ones clear.
    pub(super) fn take_changed(&mut self, workspace: &Workspace) -> Vec<PublishDiagnosticsParams> {
        let mut all = collect(workspace);
        for path in self.files.keys().filter(|path| !workspace.documents.open.contains_key(*path)) {
            all.entry(path.clone()).or_default();
        }
        let mut news = Vec::new();
        let mut files = BTreeMap::new();
        for (path, diagnostics) in all {
            let open = workspace.documents.open.get(&path);
            let version = open.map(|document| document.version);
            let Some(uri) = workspace.uri(&path) else { continue };
            let one = PublishDiagnosticsParams { uri, diagnostics, version };
            if self.files.get(&path) != Some(&one) {
                news.push(one.clone());
            }
            if open.is_some() || !one.diagnostics.is_empty() {
                files.insert(path, one);
            }
        }
        self.files = files;
        news
    }
}

/// Returns the diagnostics of each open file, and of other files of their programs that have some.
fn collect(workspace: &Workspace) -> BTreeMap<PathBuf, Vec<Diagnostic>> {
    let mut found: BTreeMap<PathBuf, Vec<Diagnostic>> = BTreeMap::new();
    for path in workspace.documents.open.keys() {
        found.insert(path.clone(), Vec::new());
    }
    for program in workspace.programs() {
        let open = |file: &PathBuf| workspace.documents.open.contains_key(file);
        if program.files.iter().any(open) {
            for (path, message) in DiagnosticConverter::new(program).messages() {
                let messages = found.entry(path).or_default();
                if !messages.contains(&message) {
                    messages.push(message);
                }
            }
        }
    }
    for (path, message) in workspace.projects.errors() {
        found.entry(path).or_default().push(project_diagnostic(message));
    }
    found
}

/// Returns the diagnostic for an error in a project file; its text contains the position.
fn project_diagnostic(message: String) -> Diagnostic {
    Diagnostic {
        severity: Some(DiagnosticSeverity::ERROR),
        source: Some(DIAGNOSTIC_SOURCE.into()),
        message,
        ..Diagnostic::default()
    }
}

pub(super) struct DiagnosticConverter<'a> {
    program: &'a Analysis,
    lines: BTreeMap<u32, LineIndex<'a>>,
}

impl<'a> DiagnosticConverter<'a> {
    pub(super) fn new(program: &'a Analysis) -> Self {
        Self { program, lines: BTreeMap::new() }
    }

    fn messages(mut self) -> Vec<(PathBuf, Diagnostic)> {
        let all = &self.program.assembly.diagnostics;
        all.iter().filter_map(|one| self.message(one)).collect()
    }

    /// Converts a diagnostic to that of the protocol; also returns its file.
    pub(super) fn message(&mut self, one: &diag::Diagnostic) -> Option<(PathBuf, Diagnostic)> {
        let sources = &self.program.assembly.sources;
        let place = render::in_file(one.span, sources);
        let (path, location) = self.location(place)?;
        let mut related = Vec::new();
        if place != one.span
            && let Some(written) = self.program.written(one.span)
        {
            related.push((
                written.span,
                format!("in the macro {}", sources.source_at(one.span.start).name),
            ));
        }
        let labels = one.labels.iter();
        related
            .extend(labels.map(|label| (render::in_file(label.span, sources), label.text.clone())));
        let related = related.into_iter().filter_map(|(span, message)| {
            let (_, location) = self.location(span)?;
            Some(DiagnosticRelatedInformation { location, message })
        });
        let related: Vec<_> = related.collect();
        let help = one.help.as_ref().map(|help| format!("\nhelp: {help}")).unwrap_or_default();
        let diagnostic = Diagnostic {
            range: location.range,
            severity: Some(if one.is_error() {
                DiagnosticSeverity::ERROR
            } else {
                DiagnosticSeverity::WARNING
            }),
            code: Some(NumberOrString::String(one.code.id().into())),
            source: Some(DIAGNOSTIC_SOURCE.into()),
            message: format!("{}{help}", one.message),
            related_information: Some(related).filter(|all| !all.is_empty()),
            ..Diagnostic::default()
        };
        Some((path, diagnostic))
    }

    fn location(&mut self, span: Span) -> Option<(PathBuf, Location)> {
        let (file, stretch) = self.program.in_file(span)?;
        let lines =
            self.lines.entry(file).or_insert_with(|| LineIndex::new(self.program.text(file)));
        let path = self.program.files[file as usize].clone();
        let location = Location { uri: uri::from_path(&path)?, range: lines.range(stretch) };
        Some((path, location))
    }
}
