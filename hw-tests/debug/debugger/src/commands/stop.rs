//! Commands for breakpoints and watchpoints.

use crate::debugger::Debugger;
use crate::expression::{BoundExpression, LogMessage};
use crate::location::{self, Location};
use crate::render;
use crate::stops::{HitCondition, Stop, StopId, StopKind, WatchTarget, Watchpoint};
use z80_core::parse_number;

/// What a user has written about a stop beside its place.
#[derive(Default)]
pub(crate) struct StopText {
    pub(crate) condition: Option<String>,
    pub(crate) hits: Option<String>,
    pub(crate) log: Option<String>,
    pub(crate) commands: Option<String>,
    /// All of it, as a command has it.
    pub(crate) written: String,
}

impl StopText {
    /// Splits `PLACE [if CONDITION] [hits N] [log TEXT | do COMMANDS]` at the end of the place. The
    /// text of a log, or the commands, are the rest of the line, with any words in them.
    fn split(line: &str) -> (&str, Self) {
        let (text, log, commands) = match [split_at_word(line, "log"), split_at_word(line, "do")] {
            [(before, Some(log)), (other, _)] if before.len() <= other.len() => {
                (before, Some(log), None)
            }
            [_, (before, commands)] => (before, None, commands),
        };
        let (text, hits) = split_at_word(text, "hits");
        let (place, condition) = split_at_word(text, "if");
        let [condition, hits, log, commands] =
            [condition, hits, log, commands].map(|part| part.map(str::to_owned));
        let written = line.strip_prefix(place).unwrap_or_default().trim().to_owned();
        (place, Self { condition, hits, log, commands, written })
    }

    /// Adds a breakpoint or watchpoint for each kind, or none; returns their numbers. Local labels
    /// are those of the first breakpoint, or else of PC.
    pub(crate) fn add(
        &self,
        debugger: &mut Debugger,
        kinds: &[StopKind],
    ) -> Result<Vec<StopId>, String> {
        kinds.iter().try_for_each(|kind| debugger.can_set(*kind))?;
        let at = match kinds.first() {
            Some(StopKind::Breakpoint(address)) => Some(*address),
            _ => Some(debugger.registers().pc),
        };
        let code = debugger.code();
        let condition = self.condition.as_ref();
        let condition = condition.map(|text| BoundExpression::parse_at(text, code, at));
        let condition = condition.transpose().map_err(|error| error.to_string())?;
        let log = self.log.as_ref().map(|text| LogMessage::parse(text, code, at));
        let log = log.transpose().map_err(|error| error.to_string())?;
        let hits = self.hits.as_deref().map_or(Ok(HitCondition::Every), HitCondition::parse)?;
        let (commands, written) = (self.commands.clone(), self.written.clone());
        let template = Stop { condition, hits, log, commands, written, ..Stop::at(0) };
        let stop = |kind: &StopKind| Stop { kind: *kind, ..template.clone() };
        Ok(kinds.iter().map(|kind| debugger.stops.add(stop(kind))).collect())
    }
}

/// Executes `PLACE [if CONDITION] [hits N] [log TEXT | do COMMANDS]`; the place defaults to PC.
pub(super) fn set_break(debugger: &mut Debugger, line: &str) -> Result<String, String> {
    let (place, text) = StopText::split(line);
    let Location { addresses, adjusted } = match place {
        "" => Location { addresses: vec![debugger.registers().pc], adjusted: None },
        place => location::resolve(debugger, place)?,
    };
    let kinds: Vec<StopKind> = addresses.iter().copied().map(StopKind::Breakpoint).collect();
    let mut messages: Vec<String> = adjusted.into_iter().collect();
    for (id, address) in text.add(debugger, &kinds)?.into_iter().zip(addresses) {
        messages.push(format!("breakpoint {id} at {}", debugger.code().describe_address(address)));
    }
    Ok(messages.join("; "))
}

/// Splits a text at a word that is delimited by spaces.
fn split_at_word<'t>(text: &'t str, word: &str) -> (&'t str, Option<&'t str>) {
    if let Some(rest) = text.strip_prefix(word).filter(|rest| rest.starts_with(' ')) {
        return ("", Some(rest.trim()));
    }
    match text.split_once(&format!(" {word} ")) {
        Some((before, after)) => (before.trim(), Some(after.trim())),
        None => (text.trim(), None),
    }
}

/// Executes `ADDRESS[,N] [r|w|rw]`, `port P[,N] [r|w|rw]`, or `REGISTER`; each with `[if X]
/// [hits N]`.
pub(super) fn set_watch(debugger: &mut Debugger, line: &str) -> Result<String, String> {
    let (what, text) = StopText::split(line);
    if text.log.is_some() || text.commands.is_some() {
        return Err("log and do are for breakpoints".to_owned());
    }
    let watch = parse_watch(debugger, what)?;
    let ids = text.add(debugger, &[StopKind::Watchpoint(watch)])?;
    Ok(format!("watchpoint {}: {}", ids[0], render::watched(debugger, &watch)))
}

/// Parses a watchpoint; without `r`, `w` or `rw` it watches writes. `[x]` and `{x}` are the byte
/// and the word at x.
pub(crate) fn parse_watch(debugger: &Debugger, text: &str) -> Result<Watchpoint, String> {
    let text = text.trim();
    let (what, access) = match text.rsplit_once(char::is_whitespace) {
        Some((what, access @ ("r" | "w" | "rw"))) => (what.trim(), Some(access)),
        _ => (text, None),
    };
    if let Some(watch) = Watchpoint::register(what) {
        return match access {
            None | Some("w") => Ok(watch),
            Some(_) => Err(format!("reads of {what} can't be watched, only changes")),
        };
    }
    let port = what.strip_prefix("port ");
    let (first, count) = split_count(port.unwrap_or(what))?;
    let operand =
        location::parse(debugger, first).ok().and_then(|expression| expression.memory_operand());
    let (first, width) = match operand.filter(|_| port.is_none()) {
        Some((at, width)) => (at.value(&debugger.boards), width),
        None => (super::instruction_address(debugger, first)?, 1),
    };
    let count = count.unwrap_or(width);
    let end = u32::from(first) + u32::from(count);
    if port.is_some() && end > 0x100 {
        return Err("invalid port: expected 0 to 0FFH".to_owned());
    }
    if end > 0x1_0000 {
        return Err(format!("{count} bytes from {first:04X}H extend beyond 0FFFFH"));
    }
    let target = if port.is_some() { WatchTarget::Ports } else { WatchTarget::Memory };
    let access = access.unwrap_or("w");
    let (reads, writes) = (access.contains('r'), access.contains('w'));
    Ok(Watchpoint { target, first, count, reads, writes })
}

fn split_count(text: &str) -> Result<(&str, Option<u16>), String> {
    let Some((first, count)) = text.rsplit_once(',') else { return Ok((text, None)) };
    let bytes = parse_number(count.trim()).filter(|count| *count > 0);
    let bytes = bytes
        .ok_or_else(|| format!("invalid number of bytes '{}': expected 1 or more", count.trim()))?;
    Ok((first, Some(bytes)))
}

/// Deletes by number, at a location, or `all`.
pub(super) fn delete(debugger: &mut Debugger, text: &str) -> Result<String, String> {
    if text == "all" {
        debugger.stops.clear();
        return Ok("all breakpoints and watchpoints deleted".to_owned());
    }
    let stops = &mut debugger.stops;
    if let Ok(id) = text.parse() {
        let none = || format!("no breakpoint or watchpoint {id}; B lists them");
        return stops.remove(id).then(|| format!("{id} deleted")).ok_or_else(none);
    }
    let place = location::resolve(debugger, text)?;
    if !place.addresses.iter().any(|at| debugger.stops.has_breakpoint(*at)) {
        return Err(format!("no breakpoint at {text}; B lists them"));
    }
    place.addresses.iter().for_each(|at| debugger.stops.remove_breakpoints_at(*at));
    Ok(format!("breakpoint at {text} deleted"))
}
