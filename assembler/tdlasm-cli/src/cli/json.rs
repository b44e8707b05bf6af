//! Messages as JSON, one object a line, as `docs/message.schema.json` describes them.

use cli_support::text::MessageKind;
use serde_json::{Value, json};
use tdlasm::diag::Diagnostic;
use tdlasm::diag::render::{in_file, macro_calls};
use tdlasm::source::{SourceMap, Span};

/// Formats diagnostics. Positions are in files.
pub(super) fn diagnostics(diagnostics: &[Diagnostic], sources: &SourceMap) -> String {
    let line = |one: &Diagnostic| {
        let labels = one.labels.iter().map(|label| {
            let mut place = place(label.span, sources);
            place["text"] = label.text.as_str().into();
            place
        });
        let mut object = object(one.severity.name(), Some(one.code.id()), &one.message);
        object["name"] = one.code.group().into();
        object["place"] = place(one.span, sources);
        object["labels"] = labels.collect();
        object["notes"] = macro_calls(one.span, sources).into();
        object["help"] = one.help.as_deref().into();
        if let Some(fix) = &one.fix {
            object["fix"] = json!({ "place": place(fix.span, sources), "text": fix.text });
        }
        format!("{object}\n")
    };
    diagnostics.iter().map(line).collect()
}

/// Formats a message of the command itself, which has no position.
pub(super) fn message(kind: MessageKind, code: Option<&str>, text: &str) -> String {
    object(kind.name(), code, text).to_string()
}

fn object(severity: &str, code: Option<&str>, message: &str) -> Value {
    json!({
        "code": code,
        "name": null,
        "severity": severity,
        "message": message,
        "place": null,
        "labels": [],
        "notes": [],
        "help": null,
        "fix": null,
    })
}

fn place(span: Span, sources: &SourceMap) -> Value {
    let span = in_file(span, sources);
    let start = sources.location(span.start);
    let end = sources.location(span.end);
    json!({
        "file": &*start.source.name,
        "line": start.line,
        "column": start.column,
        "end_line": end.line,
        "end_column": end.column,
    })
}
