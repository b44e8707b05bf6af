//! Code actions: the fixes that diagnostics suggest, as edits.

use std::collections::HashMap;
use std::ops;

use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, Diagnostic, NumberOrString, Range, TextEdit,
    Uri, WorkspaceEdit,
};
use tdlasm::diag::{self, DiagnosticCode};
use tdlasm::source::Span;

use super::analysis::Analysis;
use super::diagnostics::DiagnosticConverter;
use super::words::statement_at;
use super::workspace::File;

/// The relative jumps and their absolute counterparts.
const ABSOLUTE: [(&str, &str); 5] =
    [("JMPR", "JMP"), ("JRZ", "JZ"), ("JRNZ", "JNZ"), ("JRC", "JC"), ("JRNC", "JNC")];

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
    let (title, edit) =
        fix(file, program, message).or_else(|| absolute_jump(file, program, message))?;
    // The diagnostic may be at the call of the macro in which the fix is.
    let place = if shown_in == file.path { shown.range } else { edit.range };
    Some((place, code_action(file.uri()?, title, edit, shown)))
}

fn code_action(uri: Uri, title: String, edit: TextEdit, shown: Diagnostic) -> CodeAction {
    #[expect(clippy::mutable_key_type, reason = "the protocol's type has URIs as keys")]
    let changes = HashMap::from([(uri, vec![edit])]);
    CodeAction {
        title,
        kind: Some(CodeActionKind::QUICKFIX),
        is_preferred: Some(
            shown.code != Some(NumberOrString::String(DiagnosticCode::Undefined.id().into())),
        ),
        diagnostics: Some(vec![shown]),
        edit: Some(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }),
        ..CodeAction::default()
    }
}

fn fix(
    file: &File<'_>,
    program: &Analysis,
    message: &diag::Diagnostic,
) -> Option<(String, TextEdit)> {
    let fix = message.fix.as_ref()?;
    let written = program.written(fix.span);
    // Text that a macro joins from parts has no place in a file.
    let span = written.filter(|written| written.whole).map_or(fix.span, |written| written.span);
    let range = range_in(file, program, span)?;
    let title = match fix.text.trim() {
        ".END" => "Add .END".to_owned(),
        "" => "Remove the colon".to_owned(),
        new => format!("Write {new}"),
    };
    Some((title, TextEdit::new(file.lines().range(range), fix.text.clone())))
}

/// Returns a range of the source map as a range in a file; `None` if it is in another file.
fn range_in(file: &File<'_>, program: &Analysis, span: Span) -> Option<ops::Range<usize>> {
    let (index, range) = program.in_file(span)?;
    (program.files[index as usize] == file.path).then_some(range)
}

/// Returns the fix that replaces a relative jump out of range by an absolute one.
fn absolute_jump(
    file: &File<'_>,
    program: &Analysis,
    message: &diag::Diagnostic,
) -> Option<(String, TextEdit)> {
    if !matches!(
        message.code,
        DiagnosticCode::Range | DiagnosticCode::TooFar | DiagnosticCode::Relocation
    ) {
        return None;
    }
    let range = range_in(file, program, message.span)?;
    let statements = file.statements()?;
    let parts = statement_at(&statements, range.start)?;
    let word = &file.text[parts.operator.clone()];
    let (_, new) =
        ABSOLUTE.iter().find(|(relative, _)| word.eq_ignore_ascii_case(relative.as_bytes()))?;
    let is_lowercase = word.first().is_some_and(u8::is_ascii_lowercase);
    let new = if is_lowercase { new.to_ascii_lowercase() } else { (*new).to_owned() };
    let range = file.lines().range(parts.operator.clone());
    Some((format!("Write {new}"), TextEdit::new(range, new)))
}
