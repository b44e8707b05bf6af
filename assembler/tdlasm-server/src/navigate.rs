//! Definitions and references.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use lsp_types::{
    CallHierarchyIncomingCall, CallHierarchyItem, CallHierarchyOutgoingCall, DocumentHighlight,
    DocumentHighlightKind, Location, Range, SymbolKind,
};
use tdlasm::references::{NameKind, ReferenceRole};
use tdlasm_rewrite::fmt::Statements;

use super::analysis::Analysis;
use super::positions::LineIndex;
use super::symbol_identity::{self, Occurrence};
use super::words::statement_at;
use super::workspace::Workspace;

/// Converts offsets of files to locations of the protocol.
pub(super) struct Locator<'w> {
    workspace: &'w Workspace,
    texts: BTreeMap<PathBuf, Vec<u8>>,
}

impl<'w> Locator<'w> {
    pub(super) fn new(workspace: &'w Workspace) -> Self {
        Self { workspace, texts: BTreeMap::new() }
    }

    pub(super) fn located<'f>(
        &mut self,
        found: &[Occurrence<'f>],
    ) -> Vec<(Occurrence<'f>, Location)> {
        let mut located = Vec::new();
        for group in found.chunk_by(|one, other| one.path().as_os_str() == other.path().as_os_str())
        {
            let path = group[0].path();
            let Some(uri) = self.workspace.uri(path) else { continue };
            let workspace = self.workspace;
            let read = || workspace.text(path).unwrap_or_default();
            let lines = LineIndex::new(self.texts.entry(path.to_owned()).or_insert_with(read));
            located.extend(group.iter().map(|one| {
                let range = lines.range(one.place.range());
                (*one, Location { uri: uri.clone(), range })
            }));
        }
        located
    }

    fn locations(&mut self, found: &[Occurrence<'_>]) -> Vec<Location> {
        let mut all: Vec<_> =
            self.located(found).into_iter().map(|(_, location)| location).collect();
        all.dedup();
        all
    }
}

/// Returns the definition of the symbol at an offset; for the name of an included file, the file.
pub(super) fn definition(workspace: &Workspace, path: &Path, offset: usize) -> Vec<Location> {
    for program in workspace.programs_including(path) {
        if let Some(file) = program.included_file_at(path, offset) {
            let location = |uri| Location { uri, range: Range::default() };
            return workspace.uri(file).map(location).into_iter().collect();
        }
    }
    let Some(target) = symbol_identity::identify_at(workspace, path, offset) else {
        return Vec::new();
    };
    let places = target.places(workspace);
    let with = |role| -> Vec<Occurrence<'_>> {
        places.iter().filter(|one| one.place.role == role).copied().collect()
    };
    let mut found = with(ReferenceRole::Definition);
    if found.is_empty() {
        found = with(ReferenceRole::Declaration);
    }
    Locator::new(workspace).locations(&found)
}

/// Returns all references to the symbol at an offset; definitions are included only on request.
pub(super) fn references(
    workspace: &Workspace,
    path: &Path,
    offset: usize,
    wanted: bool,
) -> Vec<Location> {
    let Some(target) = symbol_identity::identify_at(workspace, path, offset) else {
        return Vec::new();
    };
    let mut found = target.places(workspace);
    found.retain(|one| wanted || one.place.role == ReferenceRole::Use);
    Locator::new(workspace).locations(&found)
}

/// Returns the references in the same file.
pub(super) fn highlights(
    workspace: &Workspace,
    path: &Path,
    offset: usize,
) -> Vec<DocumentHighlight> {
    let Some(target) = symbol_identity::identify_at(workspace, path, offset) else {
        return Vec::new();
    };
    let mut found = target.places(workspace);
    found.retain(|one| one.path() == path);
    let shown = Locator::new(workspace).located(&found).into_iter().map(|(one, location)| {
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

/// Returns the kind of an operator; `None` if it is neither a call nor a jump.
fn call_kind(operator: &[u8]) -> Option<CallKind> {
    const CALLS: [&str; 11] =
        ["CALL", "CNZ", "CZ", "CNC", "CC", "CPO", "CPE", "CNO", "CO", "CP", "CM"];
    const JUMPS: [&str; 16] = [
        "JMP", "JNZ", "JZ", "JNC", "JC", "JPO", "JPE", "JNO", "JO", "JP", "JM", "JMPR", "JRZ",
        "JRNZ", "JRC", "JRNC",
    ];
    let is =
        |names: &[&str]| names.iter().any(|name| operator.eq_ignore_ascii_case(name.as_bytes()));
    if is(&CALLS) { Some(CallKind::Call) } else { is(&JUMPS).then_some(CallKind::Jump) }
}

/// The routines of a file, and its text for finding calls.
struct FileRoutines<'w> {
    text: Vec<u8>,
    statements: Rc<Statements>,
    routines: Vec<Occurrence<'w>>,
}

/// A cache of the routines of files.
struct RoutineIndex<'w> {
    workspace: &'w Workspace,
    files: BTreeMap<PathBuf, Option<FileRoutines<'w>>>,
}

impl<'w> RoutineIndex<'w> {
    fn new(workspace: &'w Workspace) -> Self {
        Self { workspace, files: BTreeMap::new() }
    }

    fn of(&mut self, path: &Path) -> Option<&FileRoutines<'w>> {
        let workspace = self.workspace;
        let shape =
            self.files.entry(path.to_owned()).or_insert_with(|| file_routines(workspace, path));
        shape.as_ref()
    }
}

fn file_routines<'w>(workspace: &'w Workspace, path: &Path) -> Option<FileRoutines<'w>> {
    let text = workspace.text(path)?;
    let statements = workspace.statements(path, &text)?;
    let program = workspace.programs().find(|one| one.includes_file(path))?;
    let file = program.file(path)?;
    let is_called = |place: &&super::analysis::FileReference| {
        place.file == file
            && place.role == ReferenceRole::Use
            && call_kind_at(&statements, &text, place.start as usize) == Some(CallKind::Call)
    };
    let called: Vec<u32> =
        program.file_references().iter().filter(is_called).map(|one| one.name).collect();
    let routines = program.file_references().iter().filter(|place| {
        let name = program.name(place.name);
        let is_label =
            name.kind == NameKind::Label && place.role == ReferenceRole::Definition && place.whole;
        place.file == file && is_label && (name.exported || called.contains(&place.name))
    });
    let routines = routines.map(|place| Occurrence { program, place }).collect();
    Some(FileRoutines { text, statements, routines })
}

fn call_kind_at(statements: &Statements, text: &[u8], offset: usize) -> Option<CallKind> {
    let parts = statement_at(statements, offset)?;
    parts.operands.contains(&offset).then(|| call_kind(&text[parts.operator.clone()]))?
}

impl<'w> FileRoutines<'w> {
    /// Returns the routine that contains an offset.
    fn routine(&self, offset: usize) -> Option<Occurrence<'w>> {
        let after = self.routines.partition_point(|one| one.place.start as usize <= offset);
        self.routines.get(after.checked_sub(1)?).copied()
    }

    fn range(&self, routine: &Occurrence<'_>) -> std::ops::Range<usize> {
        let next = self.routines.iter().find(|one| one.place.start > routine.place.start);
        let end = next.map_or(self.text.len(), |one| one.place.start as usize);
        routine.place.start as usize..end
    }

    fn item(&self, workspace: &Workspace, routine: &Occurrence<'_>) -> Option<CallHierarchyItem> {
        let lines = LineIndex::new(&self.text);
        Some(CallHierarchyItem {
            name: String::from_utf8_lossy(routine.text()).into_owned(),
            kind: SymbolKind::FUNCTION,
            tags: None,
            detail: routine.path().file_name().map(|name| name.to_string_lossy().into_owned()),
            uri: workspace.uri(routine.path())?,
            range: lines.range(self.range(routine)),
            selection_range: lines.range(routine.place.range()),
            data: None,
        })
    }

    /// Returns how the name at a place is called; `None` for a jump within its routine.
    fn call(&self, place: &Occurrence<'_>, target: &Occurrence<'_>) -> Option<CallKind> {
        let at = place.place.start as usize;
        let way = call_kind_at(&self.statements, &self.text, at)?;
        let is_within = || {
            self.routine(at).is_some_and(|one| {
                one.path() == target.path() && one.place.start == target.place.start
            })
        };
        (way == CallKind::Call || !is_within()).then_some(way)
    }
}

/// Handles `prepareCallHierarchy`: returns the routine whose name is at an offset.
pub(super) fn prepare(workspace: &Workspace, path: &Path, offset: usize) -> Vec<CallHierarchyItem> {
    let mut shapes = RoutineIndex::new(workspace);
    let Some(routine) = routine_named(workspace, &mut shapes, path, offset) else {
        return Vec::new();
    };
    let shape = shapes.of(routine.path());
    shape.and_then(|shape| shape.item(workspace, &routine)).into_iter().collect()
}

/// The definition of the routine whose name is at an offset.
fn routine_named<'w>(
    workspace: &'w Workspace,
    shapes: &mut RoutineIndex<'w>,
    path: &Path,
    offset: usize,
) -> Option<Occurrence<'w>> {
    let target = symbol_identity::identify_at(workspace, path, offset)?;
    let definitions = target.places(workspace);
    let mut definitions =
        definitions.iter().filter(|one| one.place.role == ReferenceRole::Definition);
    definitions.find_map(|one| {
        let shape = shapes.of(one.path())?;
        shape.routines.iter().find(|routine| routine.place.start == one.place.start).copied()
    })
}

/// Returns the callers of the routine named at an offset, each with the places of its calls.
pub(super) fn incoming(
    workspace: &Workspace,
    path: &Path,
    offset: usize,
) -> Vec<CallHierarchyIncomingCall> {
    let mut shapes = RoutineIndex::new(workspace);
    let Some(target) = symbol_identity::identify_at(workspace, path, offset) else {
        return Vec::new();
    };
    let Some(routine) = routine_named(workspace, &mut shapes, path, offset) else {
        return Vec::new();
    };
    let mut found: BTreeMap<(PathBuf, u32), (CallHierarchyItem, Vec<Range>)> = BTreeMap::new();
    for use_of in target.places(workspace).iter().filter(|one| one.place.role == ReferenceRole::Use)
    {
        let Some(shape) = shapes.of(use_of.path()) else { continue };
        let caller = shape.routine(use_of.place.start as usize);
        let (Some(_), Some(caller)) = (shape.call(use_of, &routine), caller) else { continue };
        let Some(item) = shape.item(workspace, &caller) else { continue };
        let range = LineIndex::new(&shape.text).range(use_of.place.range());
        let key = (caller.path().to_owned(), caller.place.start);
        let ranges = &mut found.entry(key).or_insert((item, Vec::new())).1;
        if !ranges.contains(&range) {
            ranges.push(range);
        }
    }
    let calls = found.into_values();
    calls.map(|(from, from_ranges)| CallHierarchyIncomingCall { from, from_ranges }).collect()
}

/// Returns the routines called by the one named at an offset, with the places of the calls.
pub(super) fn outgoing(
    workspace: &Workspace,
    path: &Path,
    offset: usize,
) -> Vec<CallHierarchyOutgoingCall> {
    let mut shapes = RoutineIndex::new(workspace);
    let Some(routine) = routine_named(workspace, &mut shapes, path, offset) else {
        return Vec::new();
    };
    let Some(shape) = shapes.of(routine.path()) else { return Vec::new() };
    let range = shape.range(&routine);
    let program: &Analysis = routine.program;
    let uses = program.file_references().iter().filter(|place| {
        place.file == routine.place.file
            && place.role == ReferenceRole::Use
            && range.contains(&(place.start as usize))
            && program.is_symbol(place.name)
            && call_kind_at(&shape.statements, &shape.text, place.start as usize).is_some()
    });
    let uses: Vec<_> = uses.map(|place| Occurrence { program, place }).collect();
    let lines = LineIndex::new(&shape.text);
    let ranges: Vec<Range> = uses.iter().map(|one| lines.range(one.place.range())).collect();
    let mut found: BTreeMap<(PathBuf, u32), (CallHierarchyItem, Vec<Range>)> = BTreeMap::new();
    for (use_of, range) in uses.iter().zip(ranges) {
        let at = use_of.place.start as usize;
        let Some(callee) = routine_named(workspace, &mut shapes, routine.path(), at) else {
            continue;
        };
        let is_call =
            shapes.of(routine.path()).is_some_and(|one| one.call(use_of, &callee).is_some());
        let Some(shape) = shapes.of(callee.path()).filter(|_| is_call) else { continue };
        let Some(item) = shape.item(workspace, &callee) else { continue };
        let key = (callee.path().to_owned(), callee.place.start);
        let known = &mut found.entry(key).or_insert((item, Vec::new())).1;
        if !known.contains(&range) {
            known.push(range);
        }
    }
    let calls = found.into_values();
    calls.map(|(to, from_ranges)| CallHierarchyOutgoingCall { to, from_ranges }).collect()
}
