//! The breakpoints set by a client; each request replaces those of its kind.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::response::{ResponseBody, memory_reference, source_name, source_of};
use super::types::{Arguments, RequestedBreakpoint};
use crate::commands::{StopText, parse_watch};
use crate::{Debugger, StopKind, Watchpoint, location};

/// Maximum number of lines in one `breakpointLocations` request.
const MAX_LOCATION_LINES: u32 = 10_000;

/// The numbers of a client's breakpoints and watchpoints.
#[derive(Debug, Default)]
pub(super) struct ClientBreakpoints(HashMap<Kind, Vec<u32>>);

/// What a request replaces.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// Those in a file.
    Lines(String),
    Functions,
    Instructions,
    Data,
}

impl Kind {
    /// The lines of a file. Two paths of one file share its breakpoints.
    pub(super) fn lines(debugger: &Debugger, arguments: &Arguments) -> Result<Self, String> {
        let file = source_name(debugger, &arguments.source)?;
        Ok(Self::Lines(debugger.code().find_file(&file).map_or(file.clone(), str::to_owned)))
    }
}

impl ClientBreakpoints {
    /// Sets the requested breakpoints of a kind.
    pub(super) fn set(
        &mut self,
        debugger: &mut Debugger,
        kind: Kind,
        requested: &[RequestedBreakpoint],
    ) -> ResponseBody {
        let ids = self.0.entry(kind.clone()).or_default();
        ids.drain(..).for_each(|id| _ = debugger.stops.remove(id));
        let mut set = |requested| {
            let (new, status) = set_one(debugger, &kind, requested)?;
            ids.extend(new);
            Ok(status)
        };
        let refused =
            |message: String| json!({ "verified": false, "message": message, "reason": "failed" });
        let answers = requested.iter().map(|one| set(one).unwrap_or_else(refused));
        Ok(json!({ "breakpoints": answers.collect::<Vec<Value>>() }))
    }

    /// The protocol's stop reason for the kind of breakpoint that halted the board.
    pub(super) fn reason(&self, debugger: &Debugger) -> &'static str {
        let halting: Vec<u32> = debugger.stops.halting().map(|(id, _)| id).collect();
        let ids = |kind: &Kind| self.0.get(kind).into_iter().flatten();
        let has_halted = |kind: &Kind| ids(kind).any(|id| halting.contains(id));
        let kinds = [
            (Kind::Functions, "function breakpoint"),
            (Kind::Instructions, "instruction breakpoint"),
        ];
        let reason = kinds.into_iter().find(|(kind, _)| has_halted(kind));
        reason.map_or("breakpoint", |(_, reason)| reason)
    }
}

/// Sets a breakpoint or watchpoint. Returns its numbers, of which the client uses the first, and
/// its status.
fn set_one(
    debugger: &mut Debugger,
    kind: &Kind,
    requested: &RequestedBreakpoint,
) -> Result<(Vec<u32>, Value), String> {
    let given = |text: &'_ String| (!text.trim().is_empty()).then(|| text.clone());
    let text = StopText {
        condition: given(&requested.condition),
        hits: given(&requested.hit_condition),
        log: given(&requested.log_message),
        ..StopText::default()
    };
    let at = |place: &str| {
        let at = location::resolve_address(debugger, place)?;
        Ok::<_, String>(vec![StopKind::Breakpoint(at.wrapping_add(requested.offset as u16))])
    };
    let (kinds, adjusted) = match kind {
        Kind::Lines(file) => {
            let found = location::resolve_line(debugger, file, requested.line.max(1))?;
            (found.addresses.into_iter().map(StopKind::Breakpoint).collect(), found.adjusted)
        }
        Kind::Functions => (at(&requested.name)?, None),
        Kind::Instructions => (at(&requested.instruction_reference)?, None),
        Kind::Data => {
            let watch = parse_watch(debugger, &requested.data_id)?;
            let access = requested.access_type.as_deref().unwrap_or("write");
            let (reads, writes) = (access != "write", access != "read");
            (vec![StopKind::Watchpoint(Watchpoint { reads, writes, ..watch })], None)
        }
    };
    let ids = text.add(debugger, &kinds)?;
    let address = kinds.first().and_then(|kind| kind.address());
    let line = address.and_then(|at| debugger.code().line_at(at));
    let status = json!({
        "id": ids.first(), "verified": true, "message": adjusted,
        "source": line.map(|line| source_of(debugger, &line.place.file)),
        "line": line.map(|line| line.place.line),
        "instructionReference": address.map(memory_reference)
    });
    Ok((ids, status))
}

/// Handles `breakpointLocations`: the lines of a range that have instructions.
pub(super) fn locations(debugger: &Debugger, arguments: &Arguments) -> ResponseBody {
    let file = source_name(debugger, &arguments.source)?;
    let most = arguments.line.saturating_add(MAX_LOCATION_LINES);
    let last = arguments.end_line.unwrap_or(arguments.line).min(most);
    let code = debugger.code();
    let file = code.find_file(&file).map_err(|error| error.to_string())?;
    let has_code =
        |line: &u32| code.breakpoint_line(file, *line).is_some_and(|(at, _)| at == *line);
    let lines = (arguments.line..=last).filter(has_code);
    let lines: Vec<Value> = lines.map(|line| json!({ "line": line })).collect();
    Ok(json!({ "breakpoints": lines }))
}
