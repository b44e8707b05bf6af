//! Completion of the word at the cursor.

use std::collections::BTreeMap;

use crate::mnemonics::{Language, SECTIONS};
use lsp_types::{
    CompletionItem, CompletionItemKind, CompletionResponse, CompletionTextEdit, TextEdit,
};
use tdlasm::references::NameKind;

use super::analysis::Analysis;
use super::words::{Field, Place, place_at};
use super::workspace::File;

/// Returns the completions at an offset of a file; the editor filters them by the word there.
pub(super) fn completion(file: &File<'_>, offset: usize) -> CompletionResponse {
    let none = CompletionResponse::Array(Vec::new());
    let Some(Place { field, word, statement }) = place_at(file, offset) else { return none };
    let operator = &file.text[statement.operator.clone()];
    let mut found = match field {
        Field::Comment => return none,
        Field::Operands => operands(statement.language, operator),
        Field::Name | Field::Operator => operators(statement.language),
    };
    let mut symbols = BTreeMap::new();
    for program in file.programs() {
        add_symbols(&mut symbols, program, file, field);
    }
    found.extend(symbols.into_values());
    let range = file.lines().range(word.start..offset.max(word.start));
    for one in &mut found {
        let edit = TextEdit::new(range, one.label.clone());
        one.text_edit = Some(CompletionTextEdit::Edit(edit));
    }
    CompletionResponse::Array(found)
}

/// Adds a program's symbols, as defined or declared, that are valid in a field; local symbols of
/// this file only.
fn add_symbols<'w>(
    found: &mut BTreeMap<&'w [u8], CompletionItem>,
    program: &'w Analysis,
    file: &File<'_>,
    field: Field,
) {
    let here = program.file(&file.path);
    for place in program.definitions() {
        let name = program.name(place.name);
        let stands = field == Field::Operands || name.kind == NameKind::Macro;
        if !place.whole
            || !stands
            || matches!(name.kind, NameKind::Language | NameKind::Undefined)
            || (name.local && Some(place.file) != here)
        {
            continue;
        }
        let value = name.value.filter(|_| name.kind != NameKind::Macro);
        let detail = value.map_or_else(String::new, |value| format!("{:04X}H", value.number));
        let spelling = &program.text(place.file)[place.range()];
        let label = String::from_utf8_lossy(spelling);
        found.insert(spelling, item(&label, item_kind(name.kind), detail));
    }
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

fn operators(language: Language) -> Vec<CompletionItem> {
    let keyword = |name, detail| item(name, CompletionItemKind::KEYWORD, detail);
    let instructions = language.instructions().into_iter();
    let instructions = instructions.map(|(name, patterns)| keyword(name, patterns.join(" | ")));
    let directives = language.directives().into_iter();
    instructions.chain(directives.map(|name| keyword(name, "directive".into()))).collect()
}

fn operands(language: Language, operator: &[u8]) -> Vec<CompletionItem> {
    let register = |name| item(name, CompletionItemKind::CONSTANT, "register".into());
    let section = |name| item(name, CompletionItemKind::MODULE, "section".into());
    let sections = SECTIONS.into_iter().filter(|_| !language.is_zilog).map(section);
    language.registers(operator).into_iter().map(register).chain(sections).collect()
}

fn item_kind(kind: NameKind) -> CompletionItemKind {
    match kind {
        NameKind::Macro => CompletionItemKind::SNIPPET,
        NameKind::Constant => CompletionItemKind::CONSTANT,
        NameKind::Variable | NameKind::Parameter => CompletionItemKind::VARIABLE,
        _ => CompletionItemKind::FUNCTION,
    }
}
