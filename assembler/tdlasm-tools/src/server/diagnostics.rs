//! Conversion of the assembler's diagnostics to those of the protocol.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use lsp_types::{
    Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Location, NumberOrString,
    PublishDiagnosticsParams,
};
use tdlasm::diag::{self, DiagnosticCode, render};
use tdlasm::module::{Binding, Place, Symbol, SymbolValue};
use tdlasm::source::{Origin, Span, normalize_path};

use super::analysis::Analysis;
use super::documents;
use super::positions::LineIndex;
use super::workspace::Workspace;

const DIAGNOSTIC_SOURCE: &str = "tdlasm";
/// The maximum number of other places that a diagnostic lists.
const MAX_RELATED: usize = 16;

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
    let open = &workspace.documents.open;
    // The text of a project file's error contains the position.
    let errors = workspace.projects.errors().into_iter();
    let mut all: Vec<_> = errors.map(|(path, message)| (path, error(message))).collect();
    for program in workspace.programs() {
        let is_open = |one: &Analysis| one.files.iter().any(|file| open.contains_key(file));
        let modules = workspace.linked_modules(program);
        if modules.iter().any(|one| is_open(one)) {
            all.extend(missing_exports(&modules));
        }
        if is_open(program) {
            all.extend(DiagnosticConverter::new(program).messages());
        }
    }
    let mut found: BTreeMap<_, Vec<_>> = open.keys().map(|path| (path.clone(), vec![])).collect();
    for (path, message) in all {
        let messages = found.entry(path).or_default();
        if !messages.contains(&message) {
            messages.push(message);
        }
    }
    found
}

/// Returns the externals of the modules of a list in the project file that none of them exports. A
/// list without an entry is no program, and errors may hide exports.
fn missing_exports(modules: &[&Analysis]) -> Vec<(PathBuf, Diagnostic)> {
    let all = || modules.iter().flat_map(|one| &one.assembly.modules);
    let is_program = all().any(|module| module.start.is_some());
    if !is_program || modules.iter().any(|one| one.assembly.has_errors()) {
        return Vec::new();
    }
    let is_defined = |symbol: &&Symbol| {
        symbol.binding != Binding::Local && symbol.value != SymbolValue::Undefined
    };
    let exported: HashSet<&str> = all()
        .flat_map(|module| module.symbols.iter().filter(is_defined))
        .map(|symbol| symbol.name.as_str())
        .collect();
    let mut missing = Vec::new();
    for program in modules {
        let symbols = program.assembly.modules.iter().flat_map(|module| module.symbols.iter());
        missing.extend(symbols.filter_map(|symbol| {
            let is_external = symbol.value == SymbolValue::Undefined;
            let is_missing = is_external && !exported.contains(symbol.name.as_str());
            is_missing.then(|| missing_export(program, symbol))?
        }));
    }
    missing
}

fn missing_export(program: &Analysis, symbol: &Symbol) -> Option<(PathBuf, Diagnostic)> {
    let Place { file, line } = symbol.place.as_ref()?;
    let path = normalize_path(Path::new(&**file));
    let lines = LineIndex::new(program.text(program.file(&path)?));
    let line = line.saturating_sub(1) as usize;
    let text = String::from_utf8_lossy(lines.get(line)).to_ascii_uppercase();
    let start = lines.start(line) + text.find(symbol.name.as_str()).unwrap_or(0);
    let diagnostic = Diagnostic {
        range: lines.range(start..start + symbol.name.len()),
        code: Some(NumberOrString::String(DiagnosticCode::Undefined.id().into())),
        ..error(format!("no module of the list in tdl.toml exports {}", symbol.name))
    };
    Some((path, diagnostic))
}

/// Returns an error at the beginning of a file.
fn error(message: String) -> Diagnostic {
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
        let all = without_follow_on(self.program);
        all.iter().filter_map(|one| self.reported(one)).collect()
    }

    /// Converts a diagnostic; the other places of the same one are related information.
    fn reported(&mut self, one: &Reported<'_>) -> Option<(PathBuf, Diagnostic)> {
        let (path, mut diagnostic) = self.message(one.diagnostic)?;
        let others = one.others.iter().take(MAX_RELATED);
        let others = others.map(|span| (*span, one.diagnostic.message.clone()));
        if let Some(others) = self.related(others.collect()) {
            diagnostic.related_information.get_or_insert_default().extend(others);
        }
        Some((path, diagnostic))
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
            let name = &sources.source_at(one.span.start).name;
            related.push((written.span, format!("in the macro {name}")));
        }
        for label in &one.labels {
            related.push((render::in_file(label.span, sources), label.text.clone()));
        }
        let help = one.help.as_ref().map(|help| format!("\nhelp: {help}")).unwrap_or_default();
        let mut diagnostic = Diagnostic {
            range: location.range,
            code: Some(NumberOrString::String(one.code.id().into())),
            related_information: self.related(related),
            ..error(format!("{}{help}", one.message))
        };
        if !one.is_error() {
            diagnostic.severity = Some(DiagnosticSeverity::WARNING);
        }
        Some((path, diagnostic))
    }

    fn related(
        &mut self,
        places: Vec<(Span, String)>,
    ) -> Option<Vec<DiagnosticRelatedInformation>> {
        let places = places.into_iter().filter_map(|(span, message)| {
            let (_, location) = self.location(span)?;
            Some(DiagnosticRelatedInformation { location, message })
        });
        Some(places.collect::<Vec<_>>()).filter(|all| !all.is_empty())
    }

    fn location(&mut self, span: Span) -> Option<(PathBuf, Location)> {
        let (file, range) = self.program.in_file(span)?;
        let lines =
            self.lines.entry(file).or_insert_with(|| LineIndex::new(self.program.text(file)));
        let path = self.program.files[file as usize].clone();
        let location = Location { uri: documents::from_path(&path)?, range: lines.range(range) };
        Some((path, location))
    }
}

/// A diagnostic, and the places of the same one that are not reported by themselves.
pub(super) struct Reported<'a> {
    pub(super) diagnostic: &'a diag::Diagnostic,
    pub(super) others: Vec<Span>,
}

/// Returns the diagnostics of a program without those that follow from others:
///
/// - further uses of an undefined symbol in a file,
/// - errors of a macro's definition at further calls,
/// - uses of a symbol whose second definition is an error, and that this keeps the first value,
/// - the missing field of a missing operand.
pub(super) fn without_follow_on(program: &Analysis) -> Vec<Reported<'_>> {
    let all = &program.assembly.diagnostics;
    let (redefined, redefinitions): (HashSet<Option<&str>>, HashSet<u32>) = all
        .iter()
        .filter(|one| matches!(one.code, DiagnosticCode::Redefined | DiagnosticCode::Register))
        .map(|one| (one.symbol.as_deref(), one.span.start))
        .unzip();
    let without_operand: HashSet<_> = all
        .iter()
        .filter(|one| one.code == DiagnosticCode::Operand)
        .map(|one| line(program, one.span))
        .collect();
    let mut found: Vec<Reported<'_>> = Vec::new();
    let mut undefined = HashMap::new();
    let mut in_macros = HashSet::new();
    for diagnostic in all {
        let is_follow_on = match diagnostic.code {
            DiagnosticCode::Doubled => redefined.contains(&diagnostic.symbol.as_deref()),
            DiagnosticCode::AssignmentIgnored => redefinitions.contains(&diagnostic.span.start),
            DiagnosticCode::MissingOperand => {
                without_operand.contains(&line(program, diagnostic.span))
            }
            _ => false,
        };
        let is_repeated = macro_key(program, diagnostic).is_some_and(|key| !in_macros.insert(key));
        if is_follow_on || is_repeated {
            continue;
        }
        if let Some(key) = undefined_key(program, diagnostic) {
            let first = *undefined.entry(key).or_insert(found.len());
            if let Some(first) = found.get_mut(first) {
                first.others.extend(program.written(diagnostic.span).map(|one| one.span));
                continue;
            }
        }
        found.push(Reported { diagnostic, others: Vec::new() });
    }
    found
}

/// Identifies the line of a span: its text in the source map, and its number there.
fn line(program: &Analysis, span: Span) -> (u32, u32) {
    let source = program.assembly.sources.source_at(span.start);
    (source.base, source.line(span.start - source.base))
}

/// Identifies an error in the text of a macro by where that was written; `None` for others, and
/// for errors in the arguments of a call.
fn macro_key<'a>(
    program: &Analysis,
    one: &'a diag::Diagnostic,
) -> Option<(DiagnosticCode, Span, &'a str)> {
    let source = program.assembly.sources.source_at(one.span.start);
    let is_macro = matches!(source.origin, Origin::Macro(_));
    let written = program.written(one.span).filter(|_| is_macro)?;
    Some((one.code, written.span, one.message.as_str()))
}

/// Identifies an undefined symbol in a file. Local names stand for another symbol in each routine.
fn undefined_key<'a>(program: &Analysis, one: &'a diag::Diagnostic) -> Option<(u32, &'a str)> {
    let is_global = one.symbol.as_ref().is_some_and(|symbol| !symbol.starts_with(".."));
    let is_counted = one.code == DiagnosticCode::Undefined && is_global;
    let written = program.written(one.span).filter(|_| is_counted)?;
    let (file, _) = program.in_file(written.span)?;
    Some((file, one.message.as_str()))
}
