//! Renaming: all references to a name change, and no bytes or other names.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::fmt::Overlay;
use crate::mnemonics::{Language, WordClass, is_section};
use lsp_types::{PrepareRenameResponse, TextEdit, Uri, WorkspaceEdit};
use tdlasm::references::{NameKind, ReferenceRole, References};
use tdlasm::source::Loader;

use super::analysis::Analysis;
use super::positions::LineIndex;
use super::symbol_identity::{self, Occurrence, SymbolIdentity};
use super::words::{ScannedWord, WordKind, scan};
use super::workspace::{File, Workspace};

/// The ranges of a name, by file.
type EditRanges = BTreeMap<PathBuf, BTreeSet<(usize, usize)>>;

/// Returns the range of the name under the cursor, if it can be renamed.
pub(super) fn prepare(file: &File<'_>, offset: usize) -> Result<PrepareRenameResponse, String> {
    let (_, places) = places(file, offset)?;
    let is_here = |one: &&Occurrence<'_>| {
        let Range { start, end } = one.place.range();
        one.path() == file.path && (start..=end).contains(&offset)
    };
    let one = places.iter().find(is_here).unwrap_or(&places[0]);
    let range = file.lines().range(own_range(one));
    let placeholder = String::from_utf8_lossy(own_text(one)).into_owned();
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
    check_name(file, &places[0], new)?;
    let mut ranges = EditRanges::new();
    let mut add = |one: &Occurrence<'_>, range: Range<usize>| {
        ranges.entry(one.path().to_owned()).or_default().insert((range.start, range.end));
    };
    for one in &places {
        add(one, own_range(one));
    }
    for one in qualified_locals(workspace, &target, &places[0]) {
        add(&one, one.place.range().start..own_range(&one).start);
    }
    add_inactive_references(workspace, (&target, &places), &mut ranges);
    check_program(workspace, &target, &ranges, new)?;
    Ok(edit(workspace, &ranges, new))
}

/// Returns the range of a name without the global symbol before it: in Zilog's notation
/// `GLOBAL.LOCAL` names a local.
fn own_range(one: &Occurrence<'_>) -> Range<usize> {
    let Range { start, end } = one.place.range();
    let is_qualified = one.name().local && !one.text().starts_with(b".");
    let point = one.text().iter().rposition(|byte| *byte == b'.').filter(|_| is_qualified);
    start + point.unwrap_or(0)..end
}

fn own_text<'w>(one: &Occurrence<'w>) -> &'w [u8] {
    &one.program.text(one.place.file)[own_range(one)]
}

/// Returns the references to locals with this global symbol before them.
fn qualified_locals<'w>(
    workspace: &'w Workspace,
    target: &SymbolIdentity,
    global: &Occurrence<'_>,
) -> Vec<Occurrence<'w>> {
    let mut found = Vec::new();
    for program in workspace.programs().filter(|program| !target.names(program).is_empty()) {
        let all = program.file_references().iter().map(|place| Occurrence { program, place });
        found.extend(all.filter(|one| {
            let qualifier = &one.text()[..own_range(one).start - one.place.range().start];
            !global.name().local && qualifier.eq_ignore_ascii_case(global.text())
        }));
    }
    found
}

/// Checks that the new name is valid and of the same kind.
fn check_name(file: &File<'_>, old: &Occurrence<'_>, new: &str) -> Result<(), String> {
    let language = file.language();
    let is_symbol = new.bytes().all(|byte| language.is_symbol(byte));
    if new.is_empty() || new == "." || new.as_bytes()[0].is_ascii_digit() || !is_symbol {
        let others = if language.is_zilog { "_, ., ? and @" } else { "$, % and ." };
        return Err(format!(
            "invalid symbol '{new}': expected letters, digits, {others}, and no digit in front"
        ));
    }
    let what = match language.class(new.as_bytes()) {
        Some(WordClass::Instruction | WordClass::Directive) => "an instruction or directive",
        None if !is_section(new.as_bytes()) => "",
        _ => "a register or section",
    };
    if !what.is_empty() {
        return Err(format!("{new} is {what}"));
    }
    let begins = |with: &str| (new.starts_with(with), own_text(old).starts_with(with.as_bytes()));
    let mark = if language.is_zilog { "." } else { ".." };
    let local = begins(mark);
    let created = begins("%");
    if local.0 != local.1 {
        return Err(format!("symbols that begin with {mark} are local, others are not"));
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
        (path.clone(), renamed(text, ranges, new))
    });
    let changed = Overlay { loader: &workspace.documents, texts: texts.collect() };
    let is_changed = |one: &&Analysis| one.files.iter().any(|file| ranges.contains_key(file));
    for before in workspace.programs().filter(is_changed) {
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
    let long = workspace.file(program.root.clone())?.options().long_symbols;
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

fn renamed(mut text: Vec<u8>, ranges: &BTreeSet<(usize, usize)>, new: &str) -> Vec<u8> {
    for (start, end) in ranges.iter().rev() {
        text.splice(*start..*end, new.bytes());
    }
    text
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
    let outcome = |Analysis { assembly, .. }: &Analysis| -> (Vec<_>, Vec<_>) {
        let lines = assembly.listing.lines();
        let code = lines.map(|line| (line.address, line.bytes.to_vec(), line.value));
        (assembly.diagnostics.iter().map(|one| one.code).collect(), code.collect())
    };
    outcome(before) == outcome(after)
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
    let mut defined = places.iter().filter(|one| one.place.role == ReferenceRole::Definition);
    let Some(first) = defined.next().filter(|one| one.name().kind != NameKind::Parameter) else {
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
    let places = file.programs().flat_map(|program| program.references_in(path));
    let read: BTreeSet<u32> = places.map(|place| place.start).collect();
    let wanted = &name.name().spelling;
    let options = file.options();
    let is_name = |word: &[u8]| {
        let counts = if options.long_symbols { word.len() } else { word.len().min(6) };
        match options.case_sensitive {
            true => word == wanted.as_bytes(),
            false => word[..counts].eq_ignore_ascii_case(wanted.as_bytes()),
        }
    };
    let words =
        scan(&statements, &within).into_iter().filter(|ScannedWord { range, kind, .. }| {
            !matches!(kind, WordKind::Text | WordKind::Comment)
                && within.contains(&range.start)
                && !read.contains(&(range.start as u32))
                && is_name(&file.text[range.clone()])
        });
    words.map(|word| (word.range.start, word.range.end)).collect()
}

/// Returns the scope of a local symbol: from one new global symbol to the next, in Zilog's notation
/// from one label to the next.
fn scope(local: &Occurrence<'_>) -> Range<usize> {
    let program = local.program;
    let is_zilog = program.language(local.path()) == Some(Language::ZILOG);
    let begins = program.references_in(local.path()).iter().filter(|place| {
        let name = program.name(place.name);
        let begins = !name.local && (!is_zilog || name.kind == NameKind::Label);
        begins && place.role == ReferenceRole::Definition
    });
    let starts: Vec<usize> = begins.map(|place| place.start as usize).collect();
    let next = starts.partition_point(|start| *start <= local.place.start as usize);
    let start = next.checked_sub(1).map_or(0, |before| starts[before]);
    start..starts.get(next).copied().unwrap_or(usize::MAX)
}
