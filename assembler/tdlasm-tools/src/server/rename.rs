//! Renaming: all references to a name change, and no bytes or other names.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::mnemonics::{is_section, tdl_forms, tdl_register};
use lsp_types::{PrepareRenameResponse, TextEdit, Uri, WorkspaceEdit};
use tdlasm::references::{NameKind, ReferenceRole, References};
use tdlasm::source::Loader;
use tdlasm::syntax::directive::Directive;
use tdlasm::syntax::lex;

use super::analysis::Analysis;
use super::documents::Overlay;
use super::positions::LineIndex;
use super::symbol_identity::{self, Occurrence, SymbolIdentity};
use super::words::{WordKind, scan, word_at};
use super::workspace::{File, Workspace};

/// The ranges of a name, by file.
type EditRanges = BTreeMap<PathBuf, BTreeSet<(usize, usize)>>;

/// Returns the range of the name under the cursor, if it can be renamed.
pub(super) fn prepare(file: &File<'_>, offset: usize) -> Result<PrepareRenameResponse, String> {
    let (_, places) = places(file, offset)?;
    let range = file.lines().range(word_at(file, offset));
    let placeholder = String::from_utf8_lossy(places[0].text()).into_owned();
    Ok(PrepareRenameResponse::RangeWithPlaceholder { range, placeholder })
}

/// Returns all references to the name at an offset; each can be edited.
fn places<'w>(
    file: &File<'w>,
    offset: usize,
) -> Result<(SymbolIdentity, Vec<Occurrence<'w>>), String> {
    let target =
        symbol_identity::identify_at(file, offset).ok_or("no symbol or macro at the cursor")?;
    let places = target.places(file.workspace);
    let first = places.first().ok_or("no symbol or macro at the cursor")?;
    let name = &first.name().spelling;
    if !target.is_defined() {
        return Err(format!("{name} is not defined in a file, so it cannot be renamed"));
    }
    if let Some(joined) = places.iter().find(|one| !one.place.whole) {
        let line =
            LineIndex::new(joined.program.text(joined.place.file)).line(joined.place.range().start);
        let file = joined.path().display();
        return Err(format!("a macro joins {name} from parts at {file}, line {}", line + 1));
    }
    Ok((target, places))
}

/// Returns the edits that rename the name at an offset.
pub(super) fn rename(file: &File<'_>, offset: usize, new: &str) -> Result<WorkspaceEdit, String> {
    let workspace = file.workspace;
    let (target, places) = places(file, offset)?;
    check_name(&places[0], new)?;
    let mut ranges = EditRanges::new();
    for one in &places {
        let range = one.place.range();
        ranges.entry(one.path().to_owned()).or_default().insert((range.start, range.end));
    }
    add_inactive_references(workspace, (&target, &places), &mut ranges);
    check_program(workspace, &target, &ranges, new)?;
    Ok(edit(workspace, &ranges, new))
}

/// Checks that the new name is valid and of the same kind.
fn check_name(old: &Occurrence<'_>, new: &str) -> Result<(), String> {
    let word = new.as_bytes();
    let is_symbol = lex::symbol(word).is_ok_and(|(rest, _)| rest.is_empty()) && new != ".";
    if !is_symbol {
        return Err(format!(
            "invalid symbol '{new}': expected letters, digits, $, % and ., and no digit in front"
        ));
    }
    if tdl_register(word).is_some() || is_section(word) {
        return Err(format!("{new} is a register or section"));
    }
    if !tdl_forms(word).is_empty() || Directive::from_word(word).is_some() {
        return Err(format!("{new} is an instruction or directive"));
    }
    let begins = |with: &str| (new.starts_with(with), old.text().starts_with(with.as_bytes()));
    let local = begins("..");
    let created = begins("%");
    if local.0 != local.1 {
        return Err("symbols that begin with .. are local, others are not".into());
    }
    if old.name().kind == NameKind::Parameter && created.0 != created.1 {
        return Err("arguments that begin with % become new symbols, others do not".into());
    }
    Ok(())
}

/// Assembles all changed programs and checks that each name denotes the same symbol as before.
fn check_program(
    workspace: &Workspace,
    target: &SymbolIdentity,
    ranges: &EditRanges,
    new: &str,
) -> Result<(), String> {
    let texts = ranges.iter().map(|(path, ranges)| {
        let text = workspace.documents.load(path).unwrap_or_default();
        (path.clone(), renamed(&text, ranges, new))
    });
    let changed = Overlay { documents: &workspace.documents, texts: texts.collect() };
    for before in workspace.programs() {
        if !before.files.iter().any(|file| ranges.contains_key(file)) {
            continue;
        }
        let after = before.with_texts(&changed);
        let same = same_names(before.references(), after.references());
        if !same || !same_bytes(before, &after) {
            let clash = clash(workspace, before, target, new).unwrap_or_default();
            return Err(format!(
                "{new} would change the meaning of {}{clash}",
                before.root.display()
            ));
        }
    }
    Ok(())
}

/// Describes the existing name with which the new one collides.
fn clash(
    workspace: &Workspace,
    program: &Analysis,
    target: &SymbolIdentity,
    new: &str,
) -> Option<String> {
    let long = workspace.options(&program.root).long_symbols;
    let significant = if long { new } else { &new[..new.len().min(6)] };
    let own = target.names(program);
    let names = (0..).zip(&program.references().names);
    let mut others = names.filter(|(index, name)| {
        !own.contains(index) && !matches!(name.kind, NameKind::Undefined | NameKind::Language)
    });
    let (_, name) = others.find(|(_, name)| name.spelling.eq_ignore_ascii_case(significant))?;
    let counts = if significant == new { "" } else { ", and six characters count" };
    Some(format!(": {} already exists{counts}", name.spelling))
}

fn renamed(text: &[u8], ranges: &BTreeSet<(usize, usize)>, new: &str) -> Vec<u8> {
    let mut renamed = Vec::with_capacity(text.len());
    let mut at = 0;
    for (start, end) in ranges {
        renamed.extend_from_slice(&text[at..*start]);
        renamed.extend_from_slice(new.as_bytes());
        at = *end;
    }
    renamed.extend_from_slice(&text[at..]);
    renamed
}

/// Returns `true` if the references denote the same symbols at the same places.
fn same_names(before: &References, after: &References) -> bool {
    let mut forth: HashMap<u32, u32> = HashMap::new();
    let mut back: HashMap<u32, u32> = HashMap::new();
    let pairs = before.entries.iter().zip(&after.entries);
    let same = pairs.into_iter().all(|(one, other)| {
        one.role == other.role
            && *forth.entry(one.name).or_insert(other.name) == other.name
            && *back.entry(other.name).or_insert(one.name) == one.name
    });
    same && before.entries.len() == after.entries.len()
}

fn same_bytes(before: &Analysis, after: &Analysis) -> bool {
    let code = |analysis: &Analysis| -> Vec<_> {
        let lines = analysis.assembly.listing.lines();
        lines.map(|line| (line.address, line.bytes.to_vec(), line.value)).collect()
    };
    let messages = |analysis: &Analysis| -> Vec<_> {
        analysis.assembly.diagnostics.iter().map(|one| one.code).collect()
    };
    messages(before) == messages(after) && code(before) == code(after)
}

fn edit(workspace: &Workspace, ranges: &EditRanges, new: &str) -> WorkspaceEdit {
    let edits = ranges.iter().filter_map(|(path, ranges)| {
        let file = workspace.file(path.clone())?;
        let lines = file.lines();
        let edit = |(start, end): &(usize, usize)| {
            TextEdit::new(lines.range(*start..*end), new.to_owned())
        };
        Some((file.uri()?, ranges.iter().map(edit).collect()))
    });
    #[expect(clippy::mutable_key_type, reason = "the protocol's type has URIs as keys")]
    let changes: HashMap<Uri, Vec<TextEdit>> = edits.collect();
    WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }
}

/// Adds the ranges of a name in inactive code to its references. The same name there would be the
/// same symbol: a macro's argument is always active, and a local symbol is searched only in its
/// scope.
fn add_inactive_references(
    workspace: &Workspace,
    (target, places): (&SymbolIdentity, &[Occurrence<'_>]),
    ranges: &mut EditRanges,
) {
    let Some(first) = places.first().filter(|one| one.name().kind != NameKind::Parameter) else {
        return;
    };
    let files: BTreeSet<PathBuf> = match first.name().local {
        true => BTreeSet::from([first.path().to_owned()]),
        // A program may contain the name in inactive code only.
        false => {
            let has_name = |program: &&Analysis| !target.names(program).is_empty();
            workspace.programs().filter(has_name).flat_map(|one| one.files.clone()).collect()
        }
    };
    for path in files {
        let found = ranges_in_inactive_code(workspace, &path, first);
        if !found.is_empty() {
            ranges.entry(path).or_default().extend(found);
        }
    }
}

fn ranges_in_inactive_code(
    workspace: &Workspace,
    path: &Path,
    name: &Occurrence<'_>,
) -> Vec<(usize, usize)> {
    let Some(file) = workspace.file(path.to_owned()) else { return Vec::new() };
    let Some(statements) = file.statements() else { return Vec::new() };
    let within = if name.name().local { scope(name) } else { 0..file.text.len() };
    let places = file.programs().filter_map(|one| Some(one.file_references_in(one.file(path)?)));
    let read: BTreeSet<u32> = places.flatten().map(|place| place.start).collect();
    let wanted = &name.name().spelling;
    let long_symbols = workspace.options(path).long_symbols;
    let is_name = |word: &[u8]| {
        let counts = if long_symbols { word.len() } else { word.len().min(6) };
        word[..counts].eq_ignore_ascii_case(wanted.as_bytes())
    };
    let words = scan(&statements, &within).into_iter().filter(|(range, kind)| {
        !matches!(kind, WordKind::Text | WordKind::Comment)
            && within.contains(&range.start)
            && !read.contains(&(range.start as u32))
            && is_name(&file.text[range.clone()])
    });
    words.map(|(range, _)| (range.start, range.end)).collect()
}

/// Returns the scope of a local symbol: from one new global symbol to the next.
fn scope(local: &Occurrence<'_>) -> Range<usize> {
    let program = local.program;
    let file = local.place.file;
    let begins = program
        .file_references_in(file)
        .iter()
        .filter(|place| place.role == ReferenceRole::Definition && !program.name(place.name).local);
    let starts: Vec<usize> = begins.map(|place| place.start as usize).collect();
    let next = starts.partition_point(|start| *start <= local.place.start as usize);
    let start = next.checked_sub(1).map_or(0, |before| starts[before]);
    start..starts.get(next).copied().unwrap_or(usize::MAX)
}
