//! Identifies the symbol under the cursor in all programs. Names denote the same symbol if they are
//! defined at the same place, as in a file that several programs include, or if they are linked
//! between modules.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use smol_str::SmolStr;
use tdlasm::references::{Name, NameKind, ReferenceRole};

use super::analysis::{Analysis, FileReference};
use super::workspace::{File, Workspace};

/// A symbol, identified across programs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct SymbolIdentity {
    /// The places of its definitions: files and offsets.
    definitions: BTreeSet<(PathBuf, u32)>,
    /// The names under which modules share it.
    shared: BTreeSet<SmolStr>,
    /// Names that are not defined: the program and the index.
    others: BTreeSet<(PathBuf, u32)>,
}

/// A reference to a symbol, and the program that contains it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Occurrence<'w> {
    pub(super) program: &'w Analysis,
    pub(super) place: &'w FileReference,
}

impl<'w> Occurrence<'w> {
    pub(super) fn path(&self) -> &'w Path {
        &self.program.files[self.place.file as usize]
    }

    pub(super) fn text(&self) -> &'w [u8] {
        &self.program.text(self.place.file)[self.place.range()]
    }

    pub(super) fn name(&self) -> &'w Name {
        self.program.name(self.place.name)
    }
}

/// Returns the symbol at an offset of a file; `None` if there is none.
pub(super) fn identify_at(file: &File<'_>, offset: usize) -> Option<SymbolIdentity> {
    let mut target = SymbolIdentity::default();
    for program in file.programs() {
        for place in program.references_at(&file.path, offset) {
            target.add(program, place.name);
        }
    }
    let mut known = SymbolIdentity::default();
    while known != target {
        known = target.clone();
        for program in file.workspace.programs() {
            for name in known.names(program) {
                target.add(program, name);
            }
        }
    }
    (known != SymbolIdentity::default()).then_some(known)
}

/// Returns all references to the symbol at an offset of a file.
pub(super) fn occurrences_at<'w>(file: &File<'w>, offset: usize) -> Vec<Occurrence<'w>> {
    identify_at(file, offset).map_or_else(Vec::new, |symbol| symbol.places(file.workspace))
}

impl SymbolIdentity {
    /// Returns `true` if any file defines the symbol.
    pub(super) fn is_defined(&self) -> bool {
        !self.definitions.is_empty()
    }

    fn add(&mut self, program: &Analysis, index: u32) {
        let name = program.name(index);
        if is_linked(name) {
            self.shared.insert(name.spelling.clone());
        }
        let places = program.file_references().iter().filter(|place| place.name == index);
        let mut defined = false;
        for place in places.filter(|place| place.role == ReferenceRole::Definition) {
            defined = true;
            let path = program.files[place.file as usize].clone();
            self.definitions.insert((path, place.start));
        }
        if !defined {
            self.others.insert((program.root.clone(), index));
        }
    }

    /// Returns the indices of a program's names that denote this symbol.
    pub(super) fn names(&self, program: &Analysis) -> BTreeSet<u32> {
        let defines = |place: &&FileReference| {
            place.role == ReferenceRole::Definition
                && program.is_symbol(place.name)
                && self
                    .definitions
                    .contains(&(program.files[place.file as usize].clone(), place.start))
        };
        let mut names: BTreeSet<u32> =
            program.file_references().iter().filter(defines).map(|place| place.name).collect();
        let others = self.others.iter().filter(|(root, _)| *root == program.root);
        names.extend(others.map(|(_, name)| *name));
        if !self.shared.is_empty() {
            let all = (0..).zip(&program.references().names);
            let shared =
                all.filter(|(_, name)| is_linked(name) && self.shared.contains(&name.spelling));
            names.extend(shared.map(|(index, _)| index));
        }
        names
    }

    pub(super) fn places<'w>(&self, workspace: &'w Workspace) -> Vec<Occurrence<'w>> {
        let mut found = Vec::new();
        for program in workspace.programs() {
            let names = self.names(program);
            let places =
                program.file_references().iter().filter(|place| names.contains(&place.name));
            found.extend(places.map(|place| Occurrence { program, place }));
        }
        let key =
            |one: &Occurrence<'w>| (one.path(), one.place.start, one.place.end, one.place.role);
        found.sort_by(|one, other| key(one).cmp(&key(other)));
        // The same place may be read by several programs, or several times by one.
        found.dedup_by(|one, other| key(one) == key(other) && one.place.whole == other.place.whole);
        found
    }
}

/// Returns `true` if a name is exported or external.
fn is_linked(name: &Name) -> bool {
    name.exported || name.kind == NameKind::External
}
