//! Completion of the word at the cursor.

use std::collections::BTreeMap;

use crate::mnemonics::{Language, SECTIONS};
use lsp_types::{
    CompletionItem, CompletionItemKind, CompletionList, CompletionResponse, CompletionTextEdit,
    TextEdit,
};
use tdlasm::listing::RelocValue;
use tdlasm::references::NameKind;

use super::analysis::Analysis;
use super::words::{Field, Place, place_at};
use super::workspace::File;

/// The maximum number of symbols in a reply; the list is incomplete beyond it.
const MAX_COMPLETIONS: usize = 400;

/// Returns the completions at an offset of a file; the editor filters them by the word there. If
/// there are more than [`MAX_COMPLETIONS`] symbols, only those that match the word, nearest first.
pub(super) fn completion(file: &File<'_>, offset: usize) -> CompletionResponse {
    let none = CompletionResponse::Array(Vec::new());
    let Some(Place { field, word, statement }) = place_at(file, offset) else { return none };
    let operator = &file.text[statement.operator.clone()];
    let mut found = match field {
        Field::Comment => return none,
        Field::Operands => operands(statement.language, operator),
        Field::Name | Field::Operator => operators(statement.language),
    };
    let mut names = SymbolCandidates { field, found: BTreeMap::new() };
    for program in file.programs() {
        names.add(program, file, offset);
    }
    let typed = &file.text[word.start..offset.clamp(word.start, word.end)];
    let is_incomplete = names.found.len() > MAX_COMPLETIONS;
    found.extend(if is_incomplete { names.matching(typed) } else { names.all() });
    let range = file.lines().range(word.start..offset.max(word.start));
    for one in &mut found {
        let edit = TextEdit::new(range, one.label.clone());
        one.text_edit = Some(CompletionTextEdit::Edit(edit));
    }
    match is_incomplete {
        true => CompletionResponse::List(CompletionList { is_incomplete, items: found }),
        false => CompletionResponse::Array(found),
    }
}

/// The symbols that are valid in a field.
struct SymbolCandidates<'w> {
    field: Field,
    found: BTreeMap<&'w [u8], Candidate>,
}

/// A symbol that may be completed.
#[derive(Clone, Copy)]
struct Candidate {
    kind: NameKind,
    value: Option<RelocValue>,
    /// The distance in bytes of its nearest definition from the cursor; `None` in other files.
    distance: Option<usize>,
}

impl<'w> SymbolCandidates<'w> {
    /// Adds a program's symbols as defined or declared; local symbols of this file only.
    fn add(&mut self, program: &'w Analysis, file: &File<'_>, offset: usize) {
        let here = program.file(&file.path);
        for place in program.definitions() {
            let name = program.name(place.name);
            let stands = self.field == Field::Operands || name.kind == NameKind::Macro;
            let is_here = Some(place.file) == here;
            if !place.whole
                || !stands
                || matches!(name.kind, NameKind::Language | NameKind::Undefined)
                || (name.local && !is_here)
            {
                continue;
            }
            let value = name.value.filter(|_| name.kind != NameKind::Macro);
            let distance = is_here.then(|| offset.abs_diff(place.start as usize));
            let one = Candidate { kind: name.kind, value, distance };
            let spelling = &program.text(place.file)[place.range()];
            let known = self.found.entry(spelling).or_insert(one);
            let nearest = [known.distance, distance].into_iter().flatten().min();
            *known = Candidate { distance: nearest, ..one };
        }
    }

    fn all(&self) -> Vec<CompletionItem> {
        self.found.iter().map(|(spelling, one)| one.item(spelling)).collect()
    }

    /// Returns the symbols that match `typed`: first those with this prefix, then those with its
    /// letters in order; nearest first.
    fn matching(&self, typed: &[u8]) -> Vec<CompletionItem> {
        let like = self.found.iter().filter_map(|(spelling, one)| {
            let rank = match_rank(spelling, typed)?;
            Some((rank, one.distance.unwrap_or(usize::MAX), *spelling, one))
        });
        let mut like: Vec<_> = like.collect();
        like.sort_unstable_by_key(|(rank, distance, spelling, _)| (*rank, *distance, *spelling));
        like.truncate(MAX_COMPLETIONS);
        let items = like.iter().enumerate().map(|(at, (_, _, spelling, one))| {
            // Editors sort equally good matches by this.
            CompletionItem { sort_text: Some(format!("{at:03}")), ..one.item(spelling) }
        });
        items.collect()
    }
}

impl Candidate {
    fn item(&self, spelling: &[u8]) -> CompletionItem {
        let detail = self.value.map_or_else(String::new, |value| format!("{:04X}H", value.number));
        item(&String::from_utf8_lossy(spelling), item_kind(self.kind), detail)
    }
}

/// Returns the rank of a match, best first; `None` if the name does not match.
fn match_rank(name: &[u8], typed: &[u8]) -> Option<u8> {
    if name.get(..typed.len()).is_some_and(|start| start.eq_ignore_ascii_case(typed)) {
        return Some(0);
    }
    let mut letters = name.iter();
    let has = |wanted: &u8| letters.any(|letter| letter.eq_ignore_ascii_case(wanted));
    typed.iter().all(has).then_some(1)
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

#[cfg(test)]
mod tests {
    use super::match_rank;

    #[test]
    fn names_that_begin_as_typed_come_before_those_that_have_its_letters() {
        assert_eq!(match_rank(b"LOOP", b"lo"), Some(0));
        assert_eq!(match_rank(b"LOOP", b""), Some(0));
        assert_eq!(match_rank(b"LOOP", b"lp"), Some(1));
        assert_eq!(match_rank(b"LOOP", b"pl"), None);
        assert_eq!(match_rank(b"LO", b"LOOP"), None);
    }
}
