//! The meaning of the name under the cursor, in all programs: names are the same if they are
//! defined at the same place, as in a file that several programs insert, or if modules share them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use smol_str::SmolStr;

use tdlasm::references::{Name, NameKind, ReferenceRole};

use super::analysis::{Analysis, Place};
use super::workspace::Workspace;

/// The meaning of a name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Target {
    /// The places of its definitions: files and offsets.
    definitions: BTreeSet<(PathBuf, u32)>,
    /// Under which names modules share it.
    shared: BTreeSet<SmolStr>,
    /// Names that are not defined: the program and the index.
    others: BTreeSet<(PathBuf, u32)>,
}

/// A place of a target, and the program that has it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found<'w> {
    pub(super) program: &'w Analysis,
    pub(super) place: &'w Place,
}

impl<'w> Found<'w> {
    pub(super) fn path(&self) -> &'w Path {
        &self.program.files[self.place.file as usize]
    }

    /// The name as it is written there.
    pub(super) fn text(&self) -> &'w [u8] {
        &self.program.text(self.place.file)[self.place.stretch()]
    }

    pub(super) fn name(&self) -> &'w Name {
        self.program.name(self.place.name)
    }
}

/// Returns the name at an offset of a file; `None` if no name of the program's does.
pub(super) fn at(workspace: &Workspace, path: &Path, offset: usize) -> Option<Target> {
    let mut target = Target::default();
    for program in workspace.readers(path) {
        for place in program.at(path, offset) {
            target.add(program, place.name);
        }
    }
    let mut known = Target::default();
    while known != target {
        known = target.clone();
        for program in workspace.programs() {
            for name in known.names(program) {
                target.add(program, name);
            }
        }
    }
    (known != Target::default()).then_some(known)
}

impl Target {
    /// Whether any file gives it its meaning.
    pub(super) fn is_defined(&self) -> bool {
        !self.definitions.is_empty()
    }

    fn add(&mut self, program: &Analysis, index: u32) {
        let name = program.name(index);
        if is_shared(name) {
            self.shared.insert(name.spelling.clone());
        }
        let places = program.places().iter().filter(|place| place.name == index);
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

    /// The indices of the names of a program that stand for this.
    pub(super) fn names(&self, program: &Analysis) -> BTreeSet<u32> {
        let files: Vec<_> = program.files.iter().collect();
        let defines = |place: &&Place| {
            place.role == ReferenceRole::Definition
                && program.is_symbol(place.name)
                && self.definitions.contains(&(files[place.file as usize].clone(), place.start))
        };
        let mut names: BTreeSet<u32> =
            program.places().iter().filter(defines).map(|place| place.name).collect();
        let others = self.others.iter().filter(|(root, _)| *root == program.root);
        names.extend(others.map(|(_, name)| *name));
        if !self.shared.is_empty() {
            let all = (0..).zip(&program.references().names);
            let shared =
                all.filter(|(_, name)| is_shared(name) && self.shared.contains(&name.spelling));
            names.extend(shared.map(|(index, _)| index));
        }
        names
    }

    /// All places where it stands.
    pub(super) fn places<'w>(&self, workspace: &'w Workspace) -> Vec<Found<'w>> {
        let mut found = Vec::new();
        for program in workspace.programs() {
            let names = self.names(program);
            let places = program.places().iter().filter(|place| names.contains(&place.name));
            found.extend(places.map(|place| Found { program, place }));
        }
        let key = |one: &Found<'w>| (one.path(), one.place.start, one.place.end, one.place.role);
        found.sort_by(|one, other| key(one).cmp(&key(other)));
        // The same place may be read by several programs, or several times by one.
        found.dedup_by(|one, other| key(one) == key(other) && one.place.whole == other.place.whole);
        found
    }
}

/// Whether modules share a name.
fn is_shared(name: &Name) -> bool {
    name.exported || name.kind == NameKind::External
}
