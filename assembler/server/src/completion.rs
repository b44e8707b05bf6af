//! Completion of the word at the cursor.

use std::collections::BTreeMap;
use std::path::Path;

use lsp_types::{CompletionItem, CompletionItemKind, CompletionTextEdit, TextEdit};

use tdlasm::isa::{FORMS, Form, Register};
use tdlasm::references::{Kind, Role};

use super::analysis::Analysis;
use super::text::Lines;
use super::words::{Field, field_at};
use super::workspace::Workspace;

/// Everything that can stand at an offset of a file; the editor chooses what begins like the word
/// there.
pub(super) fn completion(workspace: &Workspace, path: &Path, offset: usize) -> Vec<CompletionItem> {
    let Some(text) = workspace.text(path) else { return Vec::new() };
    let Some((field, word)) = field_at(workspace, path, &text, offset) else { return Vec::new() };
    let mut found = Vec::new();
    match field {
        Field::Comment => return found,
        Field::Name | Field::Operator => operators(&mut found),
        Field::Operands => registers(&mut found),
    }
    let names: BTreeMap<String, (Kind, String)> =
        workspace.readers(path).flat_map(|program| names(program, path)).collect();
    for (name, (kind, detail)) in names {
        if field == Field::Operands || kind == Kind::Macro {
            found.push(item(&name, item_kind(kind), detail));
        }
    }
    let range = Lines::new(&text).range(word.start..offset.max(word.start));
    for one in &mut found {
        let edit = TextEdit::new(range, one.label.clone());
        one.text_edit = Some(CompletionTextEdit::Edit(edit));
    }
    found
}

fn item(label: &str, kind: CompletionItemKind, detail: String) -> CompletionItem {
    let detail = Some(detail).filter(|detail| !detail.is_empty());
    CompletionItem {
        label: label.to_owned(),
        kind: Some(kind),
        detail,
        ..CompletionItem::default()
    }
}

fn operators(found: &mut Vec<CompletionItem>) {
    for forms in FORMS.chunk_by(|one, other| one.mnemonic == other.mnemonic) {
        let patterns: Vec<String> = forms.iter().map(Form::pattern).collect();
        found.push(item(forms[0].mnemonic, CompletionItemKind::KEYWORD, patterns.join(" | ")));
    }
    for name in tdlasm::asm::directive_names() {
        found.push(item(name, CompletionItemKind::KEYWORD, "directive".into()));
    }
}

fn registers(found: &mut Vec<CompletionItem>) {
    for (name, _) in Register::NAMES {
        found.push(item(name, CompletionItemKind::CONSTANT, "register".into()));
    }
    for name in [".PROG.", ".DATA.", ".BLNK."] {
        found.push(item(name, CompletionItemKind::MODULE, "section".into()));
    }
}

/// The names of a program, as their definitions or else declarations write them; local ones of this
/// file only.
fn names<'a>(
    program: &'a Analysis,
    path: &Path,
) -> impl Iterator<Item = (String, (Kind, String))> + 'a {
    let here = program.file(path);
    let places = program.places().iter().filter(move |place| {
        let name = program.name(place.name);
        place.role != Role::Use
            && place.whole
            && !matches!(name.kind, Kind::Language | Kind::Undefined)
            && (!name.local || Some(place.file) == here)
    });
    places.map(|place| {
        let name = program.name(place.name);
        let spelling = &program.text(place.file)[place.stretch()];
        let value = name.value.filter(|_| name.kind != Kind::Macro);
        let detail = value.map_or_else(String::new, |value| format!("{:04X}H", value.number));
        (String::from_utf8_lossy(spelling).into_owned(), (name.kind, detail))
    })
}

fn item_kind(kind: Kind) -> CompletionItemKind {
    match kind {
        Kind::Macro => CompletionItemKind::SNIPPET,
        Kind::Constant => CompletionItemKind::CONSTANT,
        Kind::Variable | Kind::Parameter => CompletionItemKind::VARIABLE,
        _ => CompletionItemKind::FUNCTION,
    }
}
