//! Selects the diagnostics to report: none that follows from another one.

use std::collections::{HashMap, HashSet};

use tdlasm::diag::{Diagnostic, DiagnosticCode};
use tdlasm::source::{Origin, Span};

use super::analysis::Analysis;

/// A diagnostic, and the places of the same one that are not reported by themselves.
pub(super) struct Reported<'a> {
    pub(super) diagnostic: &'a Diagnostic,
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
        .map(|one| (one.symbol(), one.span.start))
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
            DiagnosticCode::Doubled => redefined.contains(&diagnostic.symbol()),
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
    one: &'a Diagnostic,
) -> Option<(DiagnosticCode, Span, &'a str)> {
    let source = program.assembly.sources.source_at(one.span.start);
    let is_macro = matches!(source.origin, Origin::Macro(_));
    let written = program.written(one.span).filter(|_| is_macro)?;
    Some((one.code, written.span, one.message.as_str()))
}

/// Identifies an undefined symbol in a file. Local names stand for another symbol in each routine.
fn undefined_key<'a>(program: &Analysis, one: &'a Diagnostic) -> Option<(u32, &'a str)> {
    let is_global = one.symbol().is_some_and(|symbol| !symbol.starts_with(".."));
    let is_counted = one.code == DiagnosticCode::Undefined && is_global;
    let written = program.written(one.span).filter(|_| is_counted)?;
    let (file, _) = program.in_file(written.span)?;
    Some((file, one.message.as_str()))
}
