//! The call hierarchy: routines and their callers, by CALL or jump.
//!
//! A routine reaches from a label that is exported or called to the next one in its file. A call is
//! a use of its name in a CALL, or in a jump from another routine, which returns for both.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use lsp_types::{
    CallHierarchyIncomingCall, CallHierarchyItem, CallHierarchyOutgoingCall, Range, SymbolKind,
};
use tdlasm::references::{NameKind, ReferenceRole};
use tdlasm_rewrite::fmt::Statements;

use super::analysis::Analysis;
use super::fields::statement_at;
use super::positions::LineIndex;
use super::symbol_identity::{self, Occurrence};
use super::workspace::Workspace;

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
