//! Formats diagnostics: human-readable, or one line each.

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};

use super::{Diagnostic, Severity};
use crate::source::{Location, Origin, SourceMap, Span};

/// Longer lines are shortened.
const MAX_SHOWN: usize = 160;
/// If there are more macro calls, only their number is shown.
const MAX_CALLS: usize = 8;

/// Formats diagnostics with the source lines that they are about. `colour` adds terminal colours.
pub fn human(diagnostics: &[Diagnostic], sources: &SourceMap, colour: bool) -> String {
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    let shown = diagnostics.iter().map(|one| renderer.render(&groups(one, sources)) + "\n");
    shown.collect::<Vec<_>>().join("\n")
}

/// Formats each diagnostic on one line: `file:line:column: severity[code]: message`. For macro text
/// the position is that of the call in a file, where an editor can go.
pub fn short(diagnostics: &[Diagnostic], sources: &SourceMap) -> String {
    let line = |one: &Diagnostic| {
        let place = in_file(one.span, sources);
        let Location { source, line, column } = sources.location(place.start);
        let severity = one.severity.name();
        let code = one.code.id();
        let through = match place == one.span {
            true => String::new(),
            false => {
                format!(" (in the macro {})", sources.source_at(one.span.start).escaped_name())
            }
        };
        let name = source.escaped_name();
        format!("{name}:{line}:{column}: {severity}[{code}]: {}{through}\n", one.message)
    };
    diagnostics.iter().map(line).collect()
}

/// Returns the span itself, or for macro text the outermost call: the last line of a call of
/// several lines, where ZASM puts the error.
pub fn in_file(span: Span, sources: &SourceMap) -> Span {
    let mut found = span;
    while let Origin::Macro(call) = sources.source_at(found.start).origin {
        found = call;
    }
    if found == span {
        return span;
    }
    let last = found.end.saturating_sub(1).max(found.start);
    let source = sources.source_at(last);
    let line_start = source.base + source.line_start(source.line(last - source.base));
    Span::new(found.start.max(line_start), found.end)
}

fn groups<'a>(diagnostic: &'a Diagnostic, sources: &SourceMap) -> Vec<Group<'a>> {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mut group = level
        .primary_title(diagnostic.message.as_str())
        .id(diagnostic.code.id())
        .element(snippet(diagnostic.span, None, sources, AnnotationKind::Primary));
    for label in &diagnostic.labels {
        let kind = AnnotationKind::Context;
        group = group.element(snippet(label.span, Some(&label.text), sources, kind));
    }
    for note in macro_calls(diagnostic.span, sources) {
        group = group.element(Level::NOTE.message(note));
    }
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    vec![group]
}

/// Returns the line that contains the start of a span, and marks the span.
fn snippet<'a>(
    span: Span,
    label: Option<&'a str>,
    sources: &SourceMap,
    kind: AnnotationKind,
) -> Snippet<'a, Annotation<'a>> {
    let Location { source, line, column } = sources.location(span.start);
    let start = source.line_start(line) as usize;
    let rest = &source.text[start..];
    let line_end = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
    let column = column as usize - 1;
    let from =
        if column > MAX_SHOWN / 2 && line_end > MAX_SHOWN { column - MAX_SHOWN / 2 } else { 0 };
    let shown = &rest[from..line_end.min(from + MAX_SHOWN)];
    let mark = column.min(line_end) - from;
    let end = (mark + (span.end - span.start) as usize).clamp(mark, shown.len().max(mark));
    // Bytes that are not UTF-8 become one character each, so that the marks stay below their
    // positions.
    let before = printable(&shown[..mark.min(shown.len())]);
    let marked = printable(&shown[mark.min(shown.len())..end.min(shown.len())]);
    let after = printable(&shown[end.min(shown.len())..]);
    let place = before.len()..before.len() + marked.len();
    Snippet::source(format!("{before}{marked}{after}"))
        .line_start(line as usize)
        .path(source.escaped_name())
        .annotation(kind.span(place).label(label.map(str::to_owned)))
}

fn printable(bytes: &[u8]) -> String {
    let shown = |byte: &u8| match byte {
        b'\t' => ' ',
        0x20..0x7F => char::from(*byte),
        _ => '\u{FFFD}',
    };
    bytes.iter().map(shown).collect()
}

/// Returns the macro calls and inclusions that lead to a span, innermost first.
pub fn macro_calls(span: Span, sources: &SourceMap) -> Vec<String> {
    let mut notes = Vec::new();
    let mut source = sources.source_at(span.start);
    let mut skipped = 0;
    while let Origin::Macro(call) | Origin::Insert(call) = source.origin {
        let place = sources.location(call.start);
        let what = if matches!(source.origin, Origin::Macro(_)) { "in the macro" } else { "in" };
        if notes.len() < MAX_CALLS {
            let from = place.source.escaped_name();
            notes.push(format!(
                "{what} {}, from {from}:{}:{}",
                source.escaped_name(),
                place.line,
                place.column
            ));
        } else {
            skipped += 1;
        }
        source = place.source;
    }
    if skipped > 0 {
        notes.push(format!("and {skipped} more calls"));
    }
    notes
}
