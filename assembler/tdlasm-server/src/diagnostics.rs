//! The assembler's messages as the editor shows them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lsp_types::{
    Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Location, NumberOrString,
    PublishDiagnosticsParams,
};

use tdlasm::diag::{self, render};
use tdlasm::source::Span;

use super::analysis::Analysis;
use super::text::Lines;
use super::uri;
use super::workspace::Workspace;

/// The source of the messages, as editors show it.
const SOURCE: &str = "tdlasm";

/// The messages that were published last.
#[derive(Debug, Default)]
pub(super) struct Published {
    files: BTreeMap<PathBuf, PublishDiagnosticsParams>,
}

impl Published {
    /// Forgets what was told about a file that is opened: the editor may have forgotten it, too.
    pub(super) fn forget(&mut self, path: &Path) {
        self.files.remove(path);
    }

    /// The messages about all programs that the editor has a file of open, and the end of those
    /// that are no more; only those that the editor does not have yet.
    pub(super) fn news(&mut self, workspace: &Workspace) -> Vec<PublishDiagnosticsParams> {
        let mut all = current(workspace);
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

/// The messages about each open file, and about others of the same programs that have some.
fn current(workspace: &Workspace) -> BTreeMap<PathBuf, Vec<Diagnostic>> {
    let mut found: BTreeMap<PathBuf, Vec<Diagnostic>> = BTreeMap::new();
    for path in workspace.documents.open.keys() {
        found.insert(path.clone(), Vec::new());
    }
    for program in workspace.programs() {
        let open = |file: &PathBuf| workspace.documents.open.contains_key(file);
        if program.files.iter().any(open) {
            for (path, message) in Shown::new(program).messages() {
                let messages = found.entry(path).or_default();
                if !messages.contains(&message) {
                    messages.push(message);
                }
            }
        }
    }
    for (path, message) in workspace.projects.mistakes() {
        found.entry(path).or_default().push(about_project(message));
    }
    found
}

/// A message about a project file, which says itself where it is wrong.
fn about_project(message: String) -> Diagnostic {
    Diagnostic {
        severity: Some(DiagnosticSeverity::ERROR),
        source: Some(SOURCE.into()),
        message,
        ..Diagnostic::default()
    }
}

/// A program whose messages are shown.
pub(super) struct Shown<'a> {
    program: &'a Analysis,
    /// The starts of the lines of those files that have messages.
    lines: BTreeMap<u32, Lines<'a>>,
}

impl<'a> Shown<'a> {
    pub(super) fn new(program: &'a Analysis) -> Self {
        Self { program, lines: BTreeMap::new() }
    }

    fn messages(mut self) -> Vec<(PathBuf, Diagnostic)> {
        let all = &self.program.outcome.diagnostics;
        all.iter().filter_map(|one| self.message(one)).collect()
    }

    /// A message as the editor shows it, and the file.
    pub(super) fn message(&mut self, one: &diag::Diagnostic) -> Option<(PathBuf, Diagnostic)> {
        let sources = &self.program.outcome.sources;
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
            source: Some(SOURCE.into()),
            message: format!("{}{help}", one.message),
            related_information: Some(related).filter(|all| !all.is_empty()),
            ..Diagnostic::default()
        };
        Some((path, diagnostic))
    }

    fn location(&mut self, span: Span) -> Option<(PathBuf, Location)> {
        let (file, stretch) = self.program.in_file(span)?;
        let lines = self.lines.entry(file).or_insert_with(|| Lines::new(self.program.text(file)));
        let path = self.program.files[file as usize].clone();
        let location = Location { uri: uri::from_path(&path)?, range: lines.range(stretch) };
        Some((path, location))
    }
}
