//! Definitions and references.

use std::collections::BTreeMap;
use std::ops;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use lsp_types::{
    CallHierarchyIncomingCall, CallHierarchyItem, CallHierarchyOutgoingCall, DocumentHighlight,
    DocumentHighlightKind, Location, Range, SymbolKind,
};
use tdlasm::isa::{Form, Slot};
use tdlasm::references::{NameKind, ReferenceRole};

use super::analysis::FileReference;
use super::symbol_identity::{Occurrence, occurrences_at};
use super::workspace::{File, Workspace};

/// Returns the occurrences with their locations.
fn located<'f>(workspace: &Workspace, found: &[Occurrence<'f>]) -> Vec<(Occurrence<'f>, Location)> {
    let mut located = Vec::new();
    for group in found.chunk_by(|one, other| one.path().as_os_str() == other.path().as_os_str()) {
        let Some(file) = workspace.file(group[0].path().to_owned()) else { continue };
        let Some(uri) = file.uri() else { continue };
        let lines = file.lines();
        located.extend(group.iter().map(|one| {
            let range = lines.range(one.place.range());
            (*one, Location { uri: uri.clone(), range })
        }));
    }
    located
}

fn locations(workspace: &Workspace, found: &[Occurrence<'_>]) -> Vec<Location> {
    let mut all: Vec<_> =
        located(workspace, found).into_iter().map(|(_, location)| location).collect();
    all.dedup();
    all
}

/// Returns the definition of the symbol at an offset; for the name of an included file, the file.
pub(super) fn definition(file: &File<'_>, offset: usize) -> Vec<Location> {
    if let Some(included) = file.programs().find_map(|one| one.included_file_at(&file.path, offset))
    {
        let location = |uri| Location { uri, range: Range::default() };
        return file.workspace.uri(included).map(location).into_iter().collect();
    }
    let found = occurrences_at(file, offset);
    let with_role = |role| -> Vec<Occurrence<'_>> {
        found.iter().filter(|one| one.place.role == role).copied().collect()
    };
    let mut definitions = with_role(ReferenceRole::Definition);
    if definitions.is_empty() {
        definitions = with_role(ReferenceRole::Declaration);
    }
    locations(file.workspace, &definitions)
}

/// Returns all references to the symbol at an offset; definitions are included only on request.
pub(super) fn references(file: &File<'_>, offset: usize, with_definitions: bool) -> Vec<Location> {
    let mut found = occurrences_at(file, offset);
    found.retain(|one| with_definitions || one.place.role == ReferenceRole::Use);
    locations(file.workspace, &found)
}

/// Returns the references in the same file.
pub(super) fn highlights(file: &File<'_>, offset: usize) -> Vec<DocumentHighlight> {
    let mut found = occurrences_at(file, offset);
    found.retain(|one| one.path() == file.path);
    let shown = located(file.workspace, &found).into_iter().map(|(one, location)| {
        let kind = match one.place.role {
            ReferenceRole::Use => DocumentHighlightKind::READ,
            ReferenceRole::Definition | ReferenceRole::Declaration => DocumentHighlightKind::WRITE,
        };
        DocumentHighlight { range: location.range, kind: Some(kind) }
    });
    shown.collect()
}

/// The kind of control transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CallKind {
    Call,
    Jump,
}

/// Returns the kind of an instruction; `None` if it is neither a call nor a jump.
fn call_kind(form: &Form) -> Option<CallKind> {
    match (form.slots[0], form.opcode & 0xC7) {
        (Slot::Word, 0xC4 | 0xC5) => Some(CallKind::Call),
        (Slot::Word, 0xC2 | 0xC3) => Some(CallKind::Jump),
        (Slot::Relative, _) => (form.mnemonic != "DJNZ").then_some(CallKind::Jump),
        _ => None,
    }
}

/// A file whose labels begin routines.
struct FileRoutines<'w> {
    file: File<'w>,
    routines: Vec<Occurrence<'w>>,
}

/// A cache of the routines of files.
struct RoutineIndex<'w> {
    workspace: &'w Workspace,
    files: BTreeMap<PathBuf, Option<Rc<FileRoutines<'w>>>>,
}

impl<'w> RoutineIndex<'w> {
    fn new(workspace: &'w Workspace) -> Self {
        Self { workspace, files: BTreeMap::new() }
    }

    fn of(&mut self, path: &Path) -> Option<Rc<FileRoutines<'w>>> {
        let read = || FileRoutines::new(self.workspace.file(path.to_owned())?).map(Rc::new);
        self.files.entry(path.to_owned()).or_insert_with(read).clone()
    }

    /// Returns the routine whose name is at an offset, and the routines of its file.
    fn named_at(
        &mut self,
        file: &File<'w>,
        offset: usize,
    ) -> Option<(Rc<FileRoutines<'w>>, Occurrence<'w>)> {
        let found = occurrences_at(file, offset);
        let mut defined = found.iter().filter(|one| one.place.role == ReferenceRole::Definition);
        defined.find_map(|one| {
            let routines = self.of(one.path())?;
            let routine = routines.routines.iter().find(|own| own.place.start == one.place.start);
            routine.copied().map(|routine| (Rc::clone(&routines), routine))
        })
    }
}

/// Returns how the operand at an offset is called or jumped to.
fn call_kind_at(file: &File<'_>, offset: usize) -> Option<CallKind> {
    let parts = file.statement_at(offset).filter(|parts| parts.operands.contains(&offset))?;
    let forms = parts.language.forms(&file.text[parts.operator]);
    forms.into_iter().find_map(call_kind)
}

impl<'w> FileRoutines<'w> {
    fn new(file: File<'w>) -> Option<Self> {
        let program = file.programs().next()?;
        let places = program.references_in(&file.path);
        let is_called = |place: &&FileReference| {
            place.role == ReferenceRole::Use
                && call_kind_at(&file, place.start as usize) == Some(CallKind::Call)
        };
        let called: Vec<u32> = places.iter().filter(is_called).map(|one| one.name).collect();
        let routines = places.iter().filter(|place| {
            let name = program.name(place.name);
            let is_label = name.kind == NameKind::Label
                && place.role == ReferenceRole::Definition
                && place.whole;
            is_label && (name.exported || called.contains(&place.name))
        });
        let routines = routines.map(|place| Occurrence { program, place }).collect();
        Some(Self { routines, file })
    }

    /// Returns the routine that contains an offset.
    fn routine(&self, offset: usize) -> Option<Occurrence<'w>> {
        let after = self.routines.partition_point(|one| one.place.start as usize <= offset);
        self.routines.get(after.checked_sub(1)?).copied()
    }

    fn range(&self, routine: &Occurrence<'_>) -> ops::Range<usize> {
        let next = self.routines.iter().find(|one| one.place.start > routine.place.start);
        let end = next.map_or(self.file.text.len(), |one| one.place.start as usize);
        routine.place.start as usize..end
    }

    fn item(&self, routine: &Occurrence<'_>) -> Option<CallHierarchyItem> {
        let lines = self.file.lines();
        Some(CallHierarchyItem {
            name: String::from_utf8_lossy(routine.text()).into_owned(),
            kind: SymbolKind::FUNCTION,
            tags: None,
            detail: routine.path().file_name().map(|name| name.to_string_lossy().into_owned()),
            uri: self.file.uri()?,
            range: lines.range(self.range(routine)),
            selection_range: lines.range(routine.place.range()),
            data: None,
        })
    }

    /// Returns `true` if an operand calls `target`; a jump within a routine does not.
    fn calls(&self, place: &Occurrence<'_>, target: &Occurrence<'w>) -> bool {
        let at = place.place.start as usize;
        let start_of = |one: &Occurrence<'w>| (one.path(), one.place.start);
        match call_kind_at(&self.file, at) {
            Some(CallKind::Call) => true,
            Some(CallKind::Jump) => {
                self.routine(at).as_ref().map(start_of) != Some(start_of(target))
            }
            None => false,
        }
    }
}

/// The other ends of calls, by file and offset, each with the ranges of the calls.
type Calls = BTreeMap<(PathBuf, u32), (CallHierarchyItem, Vec<Range>)>;

fn add_call(calls: &mut Calls, of: &FileRoutines<'_>, routine: &Occurrence<'_>, range: Range) {
    let Some(item) = of.item(routine) else { return };
    let key = (routine.path().to_owned(), routine.place.start);
    let ranges = &mut calls.entry(key).or_insert((item, Vec::new())).1;
    if !ranges.contains(&range) {
        ranges.push(range);
    }
}

/// Handles `prepareCallHierarchy`: returns the routine whose name is at an offset.
pub(super) fn prepare(file: &File<'_>, offset: usize) -> Vec<CallHierarchyItem> {
    let named = RoutineIndex::new(file.workspace).named_at(file, offset);
    named.and_then(|(of, routine)| of.item(&routine)).into_iter().collect()
}

/// Returns the callers of the routine named at an offset, each with the places of its calls.
pub(super) fn incoming(file: &File<'_>, offset: usize) -> Vec<CallHierarchyIncomingCall> {
    let mut index = RoutineIndex::new(file.workspace);
    let mut calls = Calls::new();
    let Some((_, routine)) = index.named_at(file, offset) else { return Vec::new() };
    for one in occurrences_at(file, offset) {
        if one.place.role == ReferenceRole::Use
            && let Some(of) = index.of(one.path())
            && let Some(caller) = of.routine(one.place.start as usize)
            && of.calls(&one, &routine)
        {
            add_call(&mut calls, &of, &caller, of.file.lines().range(one.place.range()));
        }
    }
    let calls = calls.into_values();
    calls.map(|(from, from_ranges)| CallHierarchyIncomingCall { from, from_ranges }).collect()
}

/// Returns the routines called by the one named at an offset, with the places of the calls.
pub(super) fn outgoing(file: &File<'_>, offset: usize) -> Vec<CallHierarchyOutgoingCall> {
    let mut index = RoutineIndex::new(file.workspace);
    let mut calls = Calls::new();
    let Some((of, routine)) = index.named_at(file, offset) else { return Vec::new() };
    let range = of.range(&routine);
    let lines = of.file.lines();
    let program = routine.program;
    for place in program.references_in(routine.path()) {
        let at = place.start as usize;
        let one = Occurrence { program, place };
        if place.role == ReferenceRole::Use
            && range.contains(&at)
            && program.is_symbol(place.name)
            && call_kind_at(&of.file, at).is_some()
            && let Some((other, callee)) = index.named_at(&of.file, at)
            && of.calls(&one, &callee)
        {
            add_call(&mut calls, &other, &callee, lines.range(place.range()));
        }
    }
    let calls = calls.into_values();
    calls.map(|(to, from_ranges)| CallHierarchyOutgoingCall { to, from_ranges }).collect()
}
