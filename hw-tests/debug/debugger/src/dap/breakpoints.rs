//! The breakpoints set by a client; each request replaces those of its kind.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::response::{ResponseBody, memory_reference, source_name, source_of, to_body};
use super::types::{
    BreakpointLocationsArguments, BreakpointStatus, RequestedBreakpoint, SetBreakpointsArguments,
};
use crate::commands::parse_watch;
use crate::expression::LogMessage;
use crate::location::{self, Location};
use crate::{
    BoundExpression, Breakpoint, BreakpointId, Debugger, HaltReason, HitCondition, Watchpoint,
    WatchpointId,
};

/// Maximum number of lines in one `breakpointLocations` request.
const MAX_LOCATION_LINES: u32 = 10_000;

/// The breakpoints of a client by kind of request; line breakpoints also by file.
#[derive(Debug, Default)]
pub(super) struct ClientBreakpoints {
    breaks: HashMap<Kind, Vec<BreakpointId>>,
    watches: Vec<WatchpointId>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Kind {
    Lines(String),
    Functions,
    Instructions,
}

/// The parsed conditions of a breakpoint.
#[derive(Clone)]
struct BreakpointRules {
    condition: Option<BoundExpression>,
    hits: HitCondition,
    log: Option<LogMessage>,
}

impl BreakpointRules {
    /// Parses the rules of a breakpoint at an address, or of a watchpoint.
    fn of(
        debugger: &Debugger,
        requested: &RequestedBreakpoint,
        at: Option<u16>,
    ) -> Result<Self, String> {
        let given = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
        let parse = |text: String| BoundExpression::parse_at(&text, debugger.code(), at);
        let condition = given(&requested.condition).map(parse).transpose();
        let hits =
            given(&requested.hit_condition).map(|text| HitCondition::parse(&text)).transpose()?;
        let parse = |text: String| LogMessage::parse(&text, debugger.code(), at);
        let log = given(&requested.log_message).map(parse).transpose();
        Ok(Self {
            condition: condition.map_err(|error| error.to_string())?,
            hits: hits.unwrap_or_default(),
            log: log.map_err(|error| error.to_string())?,
        })
    }
}

impl ClientBreakpoints {
    pub(super) fn set_lines(
        &mut self,
        debugger: &mut Debugger,
        arguments: &SetBreakpointsArguments,
    ) -> ResponseBody {
        let file = source_name(debugger, &arguments.source).ok_or("no source given")?;
        // Two paths of one file share its breakpoints.
        let file = debugger.code().find_file(&file).map_or(file.clone(), str::to_owned);
        self.clear(debugger, &Kind::Lines(file.clone()));
        let mut set = |requested| {
            self.set_line(debugger, &file, requested).unwrap_or_else(BreakpointStatus::refused)
        };
        let answers: Vec<BreakpointStatus> = arguments.breakpoints.iter().map(&mut set).collect();
        Ok(json!({ "breakpoints": to_body(&answers)? }))
    }

    fn set_line(
        &mut self,
        debugger: &mut Debugger,
        file: &str,
        requested: &RequestedBreakpoint,
    ) -> Result<BreakpointStatus, String> {
        let line = requested.line.unwrap_or(0).max(1);
        let Location { addresses, adjusted } = location::resolve_line(debugger, file, line)?;
        let rules = BreakpointRules::of(debugger, requested, addresses.first().copied())?;
        addresses.iter().try_for_each(|at| debugger.can_set_breakpoint(*at))?;
        let id = self.set(debugger, Kind::Lines(file.to_owned()), &addresses, &rules);
        let first = addresses.first().copied();
        let line = first.and_then(|at| Some(debugger.code().line_at(at)?.place.line));
        let source = Some(source_of(debugger, file));
        let instruction_reference = first.map(memory_reference);
        let at = BreakpointStatus {
            id,
            source,
            line,
            instruction_reference,
            ..BreakpointStatus::default()
        };
        Ok(BreakpointStatus { verified: true, message: adjusted, ..at })
    }

    pub(super) fn set_functions(
        &mut self,
        debugger: &mut Debugger,
        arguments: &SetBreakpointsArguments,
    ) -> ResponseBody {
        self.set_named(debugger, arguments, &Kind::Functions, |requested| requested.name.as_deref())
    }

    pub(super) fn set_instructions(
        &mut self,
        debugger: &mut Debugger,
        arguments: &SetBreakpointsArguments,
    ) -> ResponseBody {
        self.set_named(debugger, arguments, &Kind::Instructions, |requested| {
            requested.instruction_reference.as_deref()
        })
    }

    fn set_named(
        &mut self,
        debugger: &mut Debugger,
        arguments: &SetBreakpointsArguments,
        kind: &Kind,
        name: fn(&RequestedBreakpoint) -> Option<&str>,
    ) -> ResponseBody {
        self.clear(debugger, kind);
        let mut answers = Vec::new();
        for requested in &arguments.breakpoints {
            let name = name(requested).unwrap_or_default();
            let status = self.set_at(debugger, kind, name, requested);
            answers.push(status.unwrap_or_else(BreakpointStatus::refused));
        }
        Ok(json!({ "breakpoints": to_body(&answers)? }))
    }

    fn set_at(
        &mut self,
        debugger: &mut Debugger,
        kind: &Kind,
        name: &str,
        requested: &RequestedBreakpoint,
    ) -> Result<BreakpointStatus, String> {
        let at = location::resolve_address(debugger, name)?.wrapping_add(requested.offset as u16);
        let rules = BreakpointRules::of(debugger, requested, Some(at))?;
        debugger.can_set_breakpoint(at)?;
        let id = self.set(debugger, kind.clone(), &[at], &rules);
        let line = debugger.code().line_at(at);
        Ok(BreakpointStatus {
            id,
            verified: true,
            source: line.map(|line| source_of(debugger, &line.place.file)),
            line: line.map(|line| line.place.line),
            instruction_reference: Some(memory_reference(at)),
            ..BreakpointStatus::default()
        })
    }

    pub(super) fn set_data(
        &mut self,
        debugger: &mut Debugger,
        arguments: &SetBreakpointsArguments,
    ) -> ResponseBody {
        for id in std::mem::take(&mut self.watches) {
            debugger.stops.remove_watchpoint(id);
        }
        let mut set =
            |requested| self.watch(debugger, requested).unwrap_or_else(BreakpointStatus::refused);
        let answers: Vec<BreakpointStatus> = arguments.breakpoints.iter().map(&mut set).collect();
        Ok(json!({ "breakpoints": to_body(&answers)? }))
    }

    fn watch(
        &mut self,
        debugger: &mut Debugger,
        requested: &RequestedBreakpoint,
    ) -> Result<BreakpointStatus, String> {
        let BreakpointRules { condition, hits, .. } =
            BreakpointRules::of(debugger, requested, None)?;
        debugger.can_set_watchpoint()?;
        let watch = parse_watch(debugger, requested.data_id.as_deref().unwrap_or_default())?;
        let kind = requested.access_type.as_deref().unwrap_or("write");
        let reads = kind != "write";
        let writes = kind != "read";
        let watch = Watchpoint { reads, writes, ..watch };
        let id = debugger.stops.add_watchpoint_if(watch, condition, hits);
        self.watches.push(id);
        Ok(BreakpointStatus { id: Some(id), verified: true, ..BreakpointStatus::default() })
    }

    /// Handles `breakpointLocations`: the lines of a range that have instructions.
    pub(super) fn locations(
        debugger: &Debugger,
        arguments: &BreakpointLocationsArguments,
    ) -> ResponseBody {
        let file = source_name(debugger, &arguments.source).ok_or("no source given")?;
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

    fn clear(&mut self, debugger: &mut Debugger, kind: &Kind) {
        for id in self.breaks.remove(kind).unwrap_or_default() {
            debugger.stops.remove_breakpoint(id);
        }
    }

    /// Sets a breakpoint at each address; the client uses the id of the first for all.
    fn set(
        &mut self,
        debugger: &mut Debugger,
        kind: Kind,
        addresses: &[u16],
        rules: &BreakpointRules,
    ) -> Option<BreakpointId> {
        let ids = self.breaks.entry(kind).or_default();
        let mut first = None;
        for at in addresses {
            let BreakpointRules { condition, hits, log } = rules.clone();
            let breakpoint = Breakpoint { condition, hits, log, ..Breakpoint::at(*at) };
            let id = debugger.stops.add_breakpoint(breakpoint);
            ids.push(id);
            first = first.or(Some(id));
        }
        first
    }

    /// The protocol's stop reason for the kind of breakpoint that halted the board.
    pub(super) fn reason(&self, debugger: &Debugger) -> &'static str {
        let is_of = |kind: &Kind| {
            let ids = self.breaks.get(kind);
            let mut halting = debugger.stops.halting();
            ids.is_some_and(|ids| halting.any(|(id, _)| ids.contains(&id)))
        };
        if is_of(&Kind::Functions) {
            "function breakpoint"
        } else if is_of(&Kind::Instructions) {
            "instruction breakpoint"
        } else {
            "breakpoint"
        }
    }
}

pub(super) fn hit_ids(debugger: &Debugger, halt: HaltReason) -> Vec<u32> {
    match halt {
        HaltReason::Breakpoint => debugger.stops.halting().map(|(id, _)| id).collect(),
        HaltReason::Watchpoint(hit) => vec![hit.id],
        _ => Vec::new(),
    }
}
