//! Commands for breakpoints and watchpoints.

use super::Effect;
use crate::debugger::Debugger;
use crate::expression::{BoundExpression, LogMessage};
use crate::location::{self, Location};
use crate::render;
use crate::stops::{HitCondition, Stop, StopId, StopKind, WatchTarget, Watchpoint};
use z80_core::parse_number;

/// Maximum number of breakpoints with commands that commands of breakpoints set in turn.
const MAX_NESTED_COMMANDS: usize = 8;

/// What a user has written about a stop beside its place.
#[derive(Default)]
pub(crate) struct StopText {
    pub(crate) condition: Option<String>,
    pub(crate) hits: Option<String>,
    pub(crate) log: Option<String>,
    pub(crate) commands: Option<String>,
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
        (place, Self { condition, hits, log, commands })
    }

    /// Parses it for a kind of stop. Local labels are those of a breakpoint's address, or of PC.
    fn parse(&self, debugger: &Debugger, kind: StopKind) -> Result<Stop, String> {
        let at = match kind {
            StopKind::Breakpoint(address) => Some(address),
            StopKind::Watchpoint(_) if self.log.is_some() || self.commands.is_some() => {
                return Err("log and do are for breakpoints".to_owned());
            }
            StopKind::Watchpoint(_) => Some(debugger.registers().pc),
        };
        let code = debugger.code();
        let condition = |text: &String| BoundExpression::parse_at(text, code, at);
        let condition = self.condition.as_ref().map(condition).transpose();
        let condition = condition.map_err(|error| error.to_string())?;
        let log = self.log.as_ref().map(|text| LogMessage::parse(text, code, at)).transpose();
        let log = log.map_err(|error| error.to_string())?;
        let hits = self.hits.as_deref().map_or(Ok(HitCondition::Every), HitCondition::parse)?;
        if let Some(commands) = &self.commands {
            if commands.matches(" do ").count() > MAX_NESTED_COMMANDS {
                return Err("commands that set commands are nested too deeply".to_owned());
            }
            super::check(debugger, commands)?;
        }
        let parts = [
            ("if", &self.condition),
            ("hits", &self.hits),
            ("log", &self.log),
            ("do", &self.commands),
        ];
        let parts = parts.into_iter().filter_map(|(word, text)| Some([word, text.as_ref()?]));
        let written = parts.flatten().collect::<Vec<_>>().join(" ");
        Ok(Stop { kind, condition, hits, log, commands: self.commands.clone(), written })
    }

    /// Adds a breakpoint or watchpoint for each kind, or none; returns their numbers.
    pub(crate) fn add(
        &self,
        debugger: &mut Debugger,
        kinds: &[StopKind],
    ) -> Result<Vec<StopId>, String> {
        kinds.iter().try_for_each(|kind| debugger.can_set(*kind))?;
        let Some(first) = kinds.first() else { return Ok(Vec::new()) };
        let template = self.parse(debugger, *first)?;
        let stop = |kind: &StopKind| Stop { kind: *kind, ..template.clone() };
        Ok(kinds.iter().map(|kind| debugger.stops.add(stop(kind))).collect())
    }
}

/// Parses `PLACE [if CONDITION] [hits N] [log TEXT | do COMMANDS]`; the place defaults to PC.
pub(super) fn set_break(debugger: &Debugger, line: &str) -> Result<Effect, String> {
    let (place, text) = StopText::split(line);
    let pc = debugger.registers().pc;
    let Location { addresses, adjusted } = match place {
        "" => Location { addresses: vec![pc], adjusted: None },
        place => location::resolve(debugger, place)?,
    };
    let kinds: Vec<StopKind> = addresses.iter().copied().map(StopKind::Breakpoint).collect();
    text.parse(debugger, kinds.first().copied().unwrap_or(StopKind::Breakpoint(pc)))?;
    Ok(Box::new(move |debugger| {
        let mut messages: Vec<String> = adjusted.into_iter().collect();
        for (id, address) in text.add(debugger, &kinds)?.into_iter().zip(addresses) {
            let place = debugger.code().describe_address(address);
            messages.push(format!("breakpoint {id} at {place}"));
        }
        Ok(messages.join("; "))
    }))
}

/// Parses `NUMBER [if CONDITION] [hits N] [log TEXT | do COMMANDS]`, which replaces what the stop
/// has of these.
pub(super) fn change(debugger: &Debugger, line: &str) -> Result<Effect, String> {
    let (number, text) = StopText::split(line);
    let id = number.parse().map_err(|_| format!("invalid number '{number}'; B lists them"))?;
    text.parse(debugger, StopKind::Breakpoint(debugger.registers().pc))?;
    Ok(Box::new(move |debugger| {
        let none = || format!("no breakpoint or watchpoint {id}; B lists them");
        let kind = debugger.stops.get(id).map(|stop| stop.kind).ok_or_else(none)?;
        debugger.stops.replace(id, text.parse(debugger, kind)?);
        let number = format!("{id}:");
        let shown = render::stops(debugger).into_iter().find(|line| line.starts_with(&number));
        Ok(shown.unwrap_or_default())
    }))
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

/// Parses `ADDRESS[,N] [r|w|rw]`, `port P[,N] [r|w|rw]`, or `REGISTER`; each with `[if X] [hits N]`.
pub(super) fn set_watch(debugger: &Debugger, line: &str) -> Result<Effect, String> {
    let (what, text) = StopText::split(line);
    let watch = parse_watch(debugger, what)?;
    text.parse(debugger, StopKind::Watchpoint(watch))?;
    Ok(Box::new(move |debugger| {
        let ids = text.add(debugger, &[StopKind::Watchpoint(watch)])?;
        Ok(format!("watchpoint {}: {}", ids[0], render::watched(debugger, &watch)))
    }))
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

pub(super) fn split_count(text: &str) -> Result<(&str, Option<u16>), String> {
    let Some((first, count)) = text.rsplit_once(',') else { return Ok((text, None)) };
    let bytes = parse_number(count.trim()).filter(|count| *count > 0);
    let bytes = bytes
        .ok_or_else(|| format!("invalid number of bytes '{}': expected 1 or more", count.trim()))?;
    Ok((first, Some(bytes)))
}

/// Deletes by number, by what `break` and `watch` take, or `all`.
pub(super) fn delete(debugger: &Debugger, text: &str) -> Result<Effect, String> {
    if text == "all" {
        return Ok(Box::new(|debugger| {
            debugger.stops.clear();
            Ok("all breakpoints and watchpoints deleted".to_owned())
        }));
    }
    let text = text.to_owned();
    if let Ok(id) = text.parse() {
        let none = move || format!("no breakpoint or watchpoint {id}; B lists them");
        return Ok(Box::new(move |debugger| {
            debugger.stops.remove(id).then(|| format!("{id} deleted")).ok_or_else(none)
        }));
    }
    let (what, _) = StopText::split(&text);
    let watch = parse_watch(debugger, what).ok();
    let places = match location::resolve(debugger, what) {
        Err(problem) if watch.is_none() => return Err(problem),
        location => location.map(|found| found.addresses).unwrap_or_default(),
    };
    Ok(Box::new(move |debugger| {
        let is_meant = |stop: &Stop| match stop.kind {
            StopKind::Breakpoint(address) => places.contains(&address),
            // Whatever accesses it watches.
            StopKind::Watchpoint(Watchpoint { reads, writes, .. }) => watch.is_some_and(|watch| {
                stop.kind == StopKind::Watchpoint(Watchpoint { reads, writes, ..watch })
            }),
        };
        let found = debugger.stops.iter().filter(|(_, stop)| is_meant(stop));
        let ids: Vec<StopId> = found.map(|(id, _)| id).collect();
        ids.iter().for_each(|id| _ = debugger.stops.remove(*id));
        let none = || format!("no breakpoint or watchpoint at {text}; B lists them");
        (!ids.is_empty()).then(|| format!("{text} deleted")).ok_or_else(none)
    }))
}
