//! The breakpoints that a client has set: each request replaces those of its kind.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::answer::{Answer, body, reference, source_name, source_of};
use super::types::{Breakpoint, BreakpointLocations, SetBreakpoints, Wanted};
use crate::commands::parse_watch;
use crate::place::{self, Place};
use crate::{Break, BreakId, Condition, Debugger, Halt, Hits, Watch, WatchId};

/// Most lines of one request for locations.
const MOST_LINES: u32 = 10_000;

/// The breakpoints of a client, by the kind of request; those of lines by their file.
#[derive(Debug, Default)]
pub(super) struct Marks {
    breaks: HashMap<Kind, Vec<BreakId>>,
    watches: Vec<WatchId>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Kind {
    Lines(String),
    Functions,
    Instructions,
}

/// The conditions of a breakpoint.
struct Rules {
    condition: Option<Condition>,
    hits: Hits,
}

impl Rules {
    fn of(debugger: &Debugger, wanted: &Wanted) -> Result<Self, String> {
        let given = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
        let parse = |text: String| {
            Condition::parse(&text, debugger.code()).map_err(|error| error.to_string())
        };
        let condition = given(&wanted.condition).map(parse).transpose()?;
        let hits = given(&wanted.hit_condition).map(|text| Hits::parse(&text)).transpose()?;
        Ok(Self { condition, hits: hits.unwrap_or_default() })
    }
}

impl Marks {
    pub(super) fn set_lines(&mut self, debugger: &mut Debugger, wanted: &SetBreakpoints) -> Answer {
        let file = source_name(debugger, &wanted.source).ok_or("which source?")?;
        // Two ways to name a file are one file, whose breakpoints replace each other.
        let file = debugger.code().file_named(&file).map_or(file.clone(), str::to_owned);
        self.clear(debugger, &Kind::Lines(file.clone()));
        let mut set = |one| self.set_line(debugger, &file, one).unwrap_or_else(Breakpoint::refused);
        let answers: Vec<Breakpoint> = wanted.breakpoints.iter().map(&mut set).collect();
        Ok(json!({ "breakpoints": body(&answers)? }))
    }

    fn set_line(
        &mut self,
        debugger: &mut Debugger,
        file: &str,
        wanted: &Wanted,
    ) -> Result<Breakpoint, String> {
        let rules = Rules::of(debugger, wanted)?;
        let line = wanted.line.unwrap_or(0).max(1);
        let Place { addresses, moved } = place::on_line(debugger, file, line)?;
        addresses.iter().try_for_each(|at| debugger.check_break(*at))?;
        let id = self.set(debugger, Kind::Lines(file.to_owned()), &addresses, &rules);
        let first = addresses.first().copied();
        let line = first.and_then(|at| Some(debugger.code().line_at(at)?.place.line));
        let source = Some(source_of(debugger, file));
        let instruction_reference = first.map(reference);
        let at = Breakpoint { id, source, line, instruction_reference, ..Breakpoint::default() };
        Ok(Breakpoint { verified: true, message: moved, ..at })
    }

    pub(super) fn set_functions(
        &mut self,
        debugger: &mut Debugger,
        wanted: &SetBreakpoints,
    ) -> Answer {
        self.set_named(debugger, wanted, &Kind::Functions, |one| one.name.as_deref())
    }

    pub(super) fn set_instructions(
        &mut self,
        debugger: &mut Debugger,
        wanted: &SetBreakpoints,
    ) -> Answer {
        self.set_named(debugger, wanted, &Kind::Instructions, |one| {
            one.instruction_reference.as_deref()
        })
    }

    /// Breakpoints on labels or addresses.
    fn set_named(
        &mut self,
        debugger: &mut Debugger,
        wanted: &SetBreakpoints,
        kind: &Kind,
        name: fn(&Wanted) -> Option<&str>,
    ) -> Answer {
        self.clear(debugger, kind);
        let mut answers = Vec::new();
        for one in &wanted.breakpoints {
            let set = self.set_at(debugger, kind, name(one).unwrap_or_default(), one);
            answers.push(set.unwrap_or_else(Breakpoint::refused));
        }
        Ok(json!({ "breakpoints": body(&answers)? }))
    }

    fn set_at(
        &mut self,
        debugger: &mut Debugger,
        kind: &Kind,
        name: &str,
        wanted: &Wanted,
    ) -> Result<Breakpoint, String> {
        let rules = Rules::of(debugger, wanted)?;
        let at = place::address(debugger, name)?.wrapping_add(wanted.offset as u16);
        debugger.check_break(at)?;
        let id = self.set(debugger, kind.clone(), &[at], &rules);
        let made = debugger.code().line_at(at);
        Ok(Breakpoint {
            id,
            verified: true,
            source: made.map(|line| source_of(debugger, &line.place.file)),
            line: made.map(|line| line.place.line),
            instruction_reference: Some(reference(at)),
            ..Breakpoint::default()
        })
    }

    pub(super) fn set_data(&mut self, debugger: &mut Debugger, wanted: &SetBreakpoints) -> Answer {
        for id in std::mem::take(&mut self.watches) {
            debugger.stops.remove_watch(id);
        }
        let mut set = |one| self.watch(debugger, one).unwrap_or_else(Breakpoint::refused);
        let answers: Vec<Breakpoint> = wanted.breakpoints.iter().map(&mut set).collect();
        Ok(json!({ "breakpoints": body(&answers)? }))
    }

    fn watch(&mut self, debugger: &mut Debugger, wanted: &Wanted) -> Result<Breakpoint, String> {
        if wanted.condition.is_some() || wanted.hit_condition.is_some() {
            return Err("a data breakpoint takes no condition".to_owned());
        }
        debugger.check_watch()?;
        let watch = parse_watch(debugger, wanted.data_id.as_deref().unwrap_or_default())?;
        let kind = wanted.access_type.as_deref().unwrap_or("write");
        let reads = kind != "write";
        let writes = kind != "read";
        let id = debugger.stops.add_watch(Watch { reads, writes, ..watch });
        self.watches.push(id);
        Ok(Breakpoint { id: Some(id), verified: true, ..Breakpoint::default() })
    }

    /// The lines of a range that have instructions.
    pub(super) fn locations(debugger: &Debugger, wanted: &BreakpointLocations) -> Answer {
        let file = source_name(debugger, &wanted.source).ok_or("which source?")?;
        let most = wanted.line.saturating_add(MOST_LINES);
        let last = wanted.end_line.unwrap_or(wanted.line).min(most);
        let code = debugger.code();
        let has_code = |line: &u32| code.breakable(&file, *line).is_some_and(|(at, _)| at == *line);
        let lines = (wanted.line..=last).filter(has_code);
        let lines: Vec<Value> = lines.map(|line| json!({ "line": line })).collect();
        Ok(json!({ "breakpoints": lines }))
    }

    fn clear(&mut self, debugger: &mut Debugger, kind: &Kind) {
        for id in self.breaks.remove(kind).unwrap_or_default() {
            debugger.stops.remove_break(id);
        }
    }

    /// Sets a breakpoint at each of the addresses; returns the number of the first, by which the
    /// client knows them.
    fn set(
        &mut self,
        debugger: &mut Debugger,
        kind: Kind,
        addresses: &[u16],
        rules: &Rules,
    ) -> Option<BreakId> {
        let ids = self.breaks.entry(kind).or_default();
        let mut first = None;
        for at in addresses {
            let condition = rules.condition.clone();
            let one = Break { condition, hits: rules.hits, ..Break::at(*at) };
            let id = debugger.stops.add_break(one);
            ids.push(id);
            first = first.or(Some(id));
        }
        first
    }

    /// The protocol's reason for a stop at a breakpoint, by the kind of it.
    pub(super) fn reason(&self, debugger: &Debugger) -> &'static str {
        let here = here(debugger);
        let is_of = |kind: &Kind| {
            let ids = self.breaks.get(kind);
            ids.is_some_and(|ids| ids.iter().any(|id| here.contains(id)))
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

/// The numbers of the breakpoints that stopped the board.
pub(super) fn hits(debugger: &Debugger, halt: Halt) -> Vec<u32> {
    match halt {
        Halt::Breakpoint => here(debugger),
        Halt::Watchpoint(hit) => vec![hit.id],
        _ => Vec::new(),
    }
}

/// The breakpoints where the board stands.
fn here(debugger: &Debugger) -> Vec<BreakId> {
    let pc = debugger.registers().pc;
    debugger.stops.breaks().filter(|(_, one)| one.address == pc).map(|(id, _)| id).collect()
}
