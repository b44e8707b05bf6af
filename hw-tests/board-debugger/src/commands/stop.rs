//! Commands for breakpoints and watchpoints.

use crate::debugger::Debugger;
use crate::expression::Condition;
use crate::location::{self, Location};
use crate::stops::{Breakpoint, HitCondition, WatchTarget, Watchpoint};
use z80_core::parse_number;

/// Executes `PLACE [if CONDITION] [hits N]`; the place defaults to PC.
pub(super) fn set_break(debugger: &mut Debugger, text: &str) -> Result<String, String> {
    let (text, hits) = split_at_word(text, "hits");
    let (place, condition) = split_at_word(text, "if");
    let hits = hits.map_or(Ok(HitCondition::Every), HitCondition::parse)?;
    let parse = |text| Condition::parse(text, debugger.code()).map_err(|error| error.to_string());
    let condition = condition.map(parse).transpose()?;
    let Location { addresses, adjusted } = match place {
        "" => Location { addresses: vec![debugger.registers().pc], adjusted: None },
        text => location::resolve(debugger, text)?,
    };
    addresses.iter().try_for_each(|at| debugger.can_set_breakpoint(*at))?;
    let mut messages: Vec<String> = adjusted.into_iter().collect();
    for at in addresses {
        let condition = condition.clone();
        let id =
            debugger.stops.add_breakpoint(Breakpoint { condition, hits, ..Breakpoint::at(at) });
        messages.push(format!("breakpoint {id} at {}", debugger.code().describe_address(at)));
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

/// Executes `ADDRESS[,N] [r|w|rw]`, `port P[,N] [r|w|rw]`, or `REGISTER`.
pub(super) fn set_watch(debugger: &mut Debugger, text: &str) -> Result<String, String> {
    let watch = parse_watch(debugger, text)?;
    let id = debugger.stops.add_watchpoint(watch);
    Ok(format!("watchpoint {id} on {}", text.trim()))
}

/// Parses a watchpoint; without `r`, `w` or `rw` it watches writes.
pub(crate) fn parse_watch(debugger: &Debugger, text: &str) -> Result<Watchpoint, String> {
    let text = text.trim();
    if let Some(watch) = Watchpoint::register(text) {
        return Ok(watch);
    }
    let (what, access) = match text.rsplit_once(char::is_whitespace) {
        Some((what, access @ ("r" | "w" | "rw"))) => (what, access),
        _ => (text, "w"),
    };
    let port = what.strip_prefix("port ");
    let (first, count) = split_count(port.unwrap_or(what))?;
    let first = location::resolve_address(debugger, first)?;
    let end = u32::from(first) + u32::from(count);
    if port.is_some() && end > 0x100 {
        return Err("invalid port: expected 0 to 0FFH".to_owned());
    }
    if end > 0x1_0000 {
        return Err(format!("{count} bytes from {first:04X}H extend beyond 0FFFFH"));
    }
    let what = if port.is_some() { WatchTarget::Ports } else { WatchTarget::Memory };
    let reads = access.contains('r');
    Ok(Watchpoint { target: what, first, count, reads, writes: access.contains('w') })
}

fn split_count(text: &str) -> Result<(&str, u16), String> {
    let Some((first, count)) = text.split_once(',') else { return Ok((text, 1)) };
    let bytes = parse_number(count.trim()).filter(|count| *count > 0);
    let bytes = bytes
        .ok_or_else(|| format!("invalid number of bytes '{}': expected 1 or more", count.trim()))?;
    Ok((first, bytes))
}

/// Deletes by number, at a location, or `all`.
pub(super) fn delete(debugger: &mut Debugger, text: &str) -> Result<String, String> {
    if text == "all" {
        debugger.stops.clear();
        return Ok("all breakpoints and watchpoints deleted".to_owned());
    }
    let stops = &mut debugger.stops;
    if let Ok(id) = text.parse() {
        return if stops.remove_breakpoint(id) || stops.remove_watchpoint(id) {
            Ok(format!("{id} deleted"))
        } else {
            Err(format!("no breakpoint or watchpoint {id}; B lists them"))
        };
    }
    let place = location::resolve(debugger, text)?;
    if !place.addresses.iter().any(|at| debugger.stops.has_breakpoint(*at)) {
        return Err(format!("no breakpoint at {text}; B lists them"));
    }
    place.addresses.iter().for_each(|at| debugger.stops.remove_breakpoints_at(*at));
    Ok(format!("breakpoint at {text} deleted"))
}
