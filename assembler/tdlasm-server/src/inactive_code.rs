//! Finds names in inactive code: false branches of conditionals and macros that are never called.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};

use tdlasm::references::{NameKind, ReferenceRole};

use super::analysis::Analysis;
use super::symbol_identity::{Occurrence, SymbolIdentity};
use super::word_scan::{WordKind, scan};
use super::workspace::Workspace;

/// Adds the ranges of a name in inactive code to its references. The same name there would be the
/// same symbol: a macro's argument is always active, and a local symbol is searched only in its
/// scope.
pub(super) fn add_inactive_references(
    workspace: &Workspace,
    (target, places): (&SymbolIdentity, &[Occurrence<'_>]),
    ranges: &mut BTreeMap<PathBuf, BTreeSet<(usize, usize)>>,
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
    let Some(text) = workspace.text(path) else { return Vec::new() };
    let Some(statements) = workspace.statements(path, &text) else { return Vec::new() };
    let within = if name.name().local { scope(name) } else { 0..text.len() };
    let read: BTreeSet<u32> = workspace
        .programs_including(path)
        .flat_map(|program| program.file_references().iter().map(move |place| (program, place)))
        .filter(|(program, place)| program.files[place.file as usize] == path)
        .map(|(_, place)| place.start)
        .collect();
    let wanted = &name.name().spelling;
    let long_symbols = workspace.options(path).long_symbols;
    let is_name = |word: &[u8]| {
        let counts = if long_symbols { word.len() } else { word.len().min(6) };
        word[..counts].eq_ignore_ascii_case(wanted.as_bytes())
    };
    let words = scan(&statements).into_iter().filter(|(range, kind)| {
        !matches!(kind, WordKind::Text | WordKind::Comment)
            && within.contains(&range.start)
            && !read.contains(&(range.start as u32))
            && is_name(&text[range.clone()])
    });
    words.map(|(range, _)| (range.start, range.end)).collect()
}

/// Returns the scope of a local symbol: from one new global symbol to the next.
fn scope(local: &Occurrence<'_>) -> Range<usize> {
    let program = local.program;
    let file = local.place.file;
    let begins = program.file_references().iter().filter(|place| {
        let name = program.name(place.name);
        place.file == file && place.role == ReferenceRole::Definition && !name.local
    });
    let starts: Vec<usize> = begins.map(|place| place.start as usize).collect();
    let next = starts.partition_point(|start| *start <= local.place.start as usize);
    let start = next.checked_sub(1).map_or(0, |before| starts[before]);
    start..starts.get(next).copied().unwrap_or(usize::MAX)
}
