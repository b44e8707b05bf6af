//! Formats diagnostics as SARIF 2.1.0 (OASIS, "Static Analysis Results Interchange Format"), which
//! code scanning services read.

use serde_json::{Value, json};

use tdlasm::diag::render::in_file;
use tdlasm::diag::{Diagnostic, DiagnosticCode};
use tdlasm::source::{SourceMap, Span};

/// Formats diagnostics as a SARIF log with one run. Columns are in bytes.
pub(super) fn sarif(diagnostics: &[Diagnostic], sources: &SourceMap) -> String {
    let rules: Vec<Value> = DiagnosticCode::ALL
        .iter()
        .map(|code| {
            json!({
                "id": code.id(),
                "name": code.group(),
                "fullDescription": { "text": code.explain() },
                "defaultConfiguration": { "level": code.severity().name() },
            })
        })
        .collect();
    let results: Vec<Value> = diagnostics.iter().map(|one| result(one, sources)).collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {
                "driver": {
                    "name": "tdlasm",
                    "version": env!("CARGO_PKG_VERSION"),
                    "rules": rules,
                },
            },
            "results": results,
        }],
    });
    format!("{log}\n")
}

fn result(one: &Diagnostic, sources: &SourceMap) -> Value {
    let help = one.help.as_ref().map(|help| format!("\n{help}")).unwrap_or_default();
    let mut result = json!({
        "ruleId": one.code.id(),
        "level": one.severity.name(),
        "message": { "text": format!("{}{help}", one.message) },
        "locations": [{ "physicalLocation": location(one.span, sources) }],
    });
    let labels = one.labels.iter().map(|label| {
        json!({
            "message": { "text": label.text },
            "physicalLocation": location(label.span, sources),
        })
    });
    result["relatedLocations"] = labels.collect();
    // The text of a macro has no place of its own in a file.
    if let Some(fix) = one.fix.as_ref().filter(|fix| in_file(fix.span, sources) == fix.span) {
        let place = location(fix.span, sources);
        let replacement =
            json!({ "deletedRegion": place["region"], "insertedContent": { "text": fix.text } });
        result["fixes"] = json!([{
            "artifactChanges": [{
                "artifactLocation": place["artifactLocation"],
                "replacements": [replacement],
            }],
        }]);
    }
    result
}

fn location(span: Span, sources: &SourceMap) -> Value {
    let span = in_file(span, sources);
    let start = sources.location(span.start);
    let end = sources.location(span.end);
    json!({
        "artifactLocation": { "uri": uri(&start.source.name) },
        "region": {
            "startLine": start.line,
            "startColumn": start.column,
            "endLine": end.line,
            "endColumn": end.column,
        },
    })
}

/// Returns a file name as a URI reference (RFC 3986).
fn uri(name: &str) -> String {
    let name = name.replace('\\', "/");
    let encoded = name.bytes().fold(String::new(), |mut text, byte| {
        match byte {
            b'/' | b'-' | b'.' | b'_' | b'~' => text.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => text.push(char::from(byte)),
            _ => text += &format!("%{byte:02X}"),
        }
        text
    });
    if name.starts_with('/') { format!("file://{encoded}") } else { encoded }
}
