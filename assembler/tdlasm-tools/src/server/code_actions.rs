//! Code actions: the fixes that diagnostics suggest, as edits.

use std::collections::HashMap;

use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, NumberOrString, Range, TextEdit, WorkspaceEdit,
};
use tdlasm::diag::{self, DiagnosticCode};
use tdlasm::source::Span;

use super::analysis::Analysis;
use super::diagnostics::DiagnosticConverter;
use super::workspace::File;

/// The relative jumps and their absolute counterparts, in TDL and in Zilog's notation.
const ABSOLUTE: [(&str, &str); 6] =
    [("JMPR", "JMP"), ("JRZ", "JZ"), ("JRNZ", "JNZ"), ("JRC", "JC"), ("JRNC", "JNC"), ("JR", "JP")];

/// Returns the fixes suggested by diagnostics in a range of a file.
pub(super) fn actions(file: &File<'_>, range: Range) -> Vec<CodeActionOrCommand> {
    let mut found: Vec<CodeAction> = Vec::new();
    for program in file.programs() {
        for message in &program.assembly.diagnostics {
            if let Some((place, action)) = action(file, program, message)
                && touches(place, range)
                && !found.contains(&action)
            {
                found.push(action);
            }
        }
    }
    found.into_iter().map(CodeActionOrCommand::CodeAction).collect()
}

fn touches(one: Range, other: Range) -> bool {
    one.start <= other.end && other.start <= one.end
}

/// Returns the fix that a diagnostic suggests in a file, and the place of the diagnostic.
fn action(
    file: &File<'_>,
    program: &Analysis,
    message: &diag::Diagnostic,
) -> Option<(Range, CodeAction)> {
    let (shown_in, shown) = DiagnosticConverter::new(program).message(message)?;
    let fix = suggested(program, message).or_else(|| absolute_jump(file, program, message));
    let (title, span, text) = fix?;
    let (index, range) = program.in_file(span)?;
    if program.files[index as usize] != file.path {
        return None;
    }
    let edit = TextEdit::new(file.lines().range(range), text);
    // The diagnostic may be at the call of the macro in which the fix is.
    let place = if shown_in == file.path { shown.range } else { edit.range };
    let undefined = NumberOrString::String(DiagnosticCode::Undefined.id().into());
    #[expect(clippy::mutable_key_type, reason = "the protocol's type has URIs as keys")]
    let changes = HashMap::from([(file.uri()?, vec![edit])]);
    let action = CodeAction {
        title,
        kind: Some(CodeActionKind::QUICKFIX),
        is_preferred: Some(shown.code != Some(undefined)),
        diagnostics: Some(vec![shown]),
        edit: Some(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }),
        ..CodeAction::default()
    };
    Some((place, action))
}

/// Returns the title of the fix that a diagnostic suggests, and the text for a place.
fn suggested(program: &Analysis, message: &diag::Diagnostic) -> Option<(String, Span, String)> {
    let fix = message.fix.as_ref()?;
    let written = program.written(fix.span);
    // Text that a macro joins from parts has no place in a file.
    let span = written.filter(|written| written.whole).map_or(fix.span, |written| written.span);
    let title = match fix.text.trim() {
        ".END" => "Add .END".to_owned(),
        "" => "Remove the colon".to_owned(),
        new => format!("Write {new}"),
    };
    Some((title, span, fix.text.clone()))
}

/// Returns the fix that replaces a relative jump out of range by an absolute one.
fn absolute_jump(
    file: &File<'_>,
    program: &Analysis,
    message: &diag::Diagnostic,
) -> Option<(String, Span, String)> {
    let (DiagnosticCode::Range | DiagnosticCode::TooFar | DiagnosticCode::Relocation) =
        message.code
    else {
        return None;
    };
    let (_, range) = program.in_file(message.span)?;
    let operator = file.statement_at(range.start)?.operator;
    let word = file.text.get(operator.clone())?;
    let (_, new) =
        ABSOLUTE.iter().find(|(relative, _)| word.eq_ignore_ascii_case(relative.as_bytes()))?;
    let is_lowercase = word.first().is_some_and(u8::is_ascii_lowercase);
    let new = if is_lowercase { new.to_ascii_lowercase() } else { (*new).to_owned() };
    let base = message.span.start - range.start as u32;
    let span = Span::new(base + operator.start as u32, base + operator.end as u32);
    Some((format!("Write {new}"), span, new))
}
