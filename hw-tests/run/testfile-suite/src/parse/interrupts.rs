//! Reads how a routine is entered, and the interrupts during a call.

use crate::machine::{Entry, Interrupt};
use crate::model::{Step, Sweep};
use crate::reader::{Entry as Value, Fields, FileError};

use super::property::range;
use super::step::MAX_TIMEOUT;
use super::values::Context;

/// The default byte on the data bus: RST 7 in mode 0, as of a bus without a device.
const BUS: u8 = 0xFF;
const ONE_SWEEP: &str =
    "only one interrupt, and only of a case, can be at several T-states: expected at = 100";

/// Reads `as` and `until`.
pub(super) fn entry(fields: &Fields<'_>, context: &Context<'_>) -> Result<Entry, FileError> {
    let until = fields.get("until");
    let Some(kind) = fields.get("as") else {
        let address = until.map(|until| context.number(&until, 2)).transpose()?;
        return Ok(address.map_or(Entry::Call, Entry::Until));
    };
    if until.is_some() {
        return Err(kind.error("give either as or until"));
    }
    match kind.text("\"interrupt\"")? {
        "interrupt" => Ok(Entry::Interrupt),
        "nmi" => Ok(Entry::NonMaskable),
        _ => Err(kind.error("as: expected \"interrupt\" or \"nmi\"")),
    }
}

/// Reads `interrupt` into a call.
pub(super) fn interrupts(
    step: &mut Step,
    fields: &Fields<'_>,
    context: &Context<'_>,
) -> Result<(), FileError> {
    let Some(entry) = fields.get("interrupt") else { return Ok(()) };
    let example = "an array of tables such as [{ at = 100, handler = \"ISR\" }]";
    for item in entry.items(example)? {
        let table = item.fields("a table such as { at = 100, handler = \"ISR\" }")?;
        let at = table.require("at", "at = 100")?;
        let times = times(&at)?;
        let single = times.filter(|(first, last)| first == last);
        if single.is_none() {
            if step.sweep.is_some() {
                return Err(at.error(ONE_SWEEP));
            }
            step.sweep = Some(Sweep { interrupt: step.interrupts.len(), times });
        }
        let time = |entry: Value<'_>| entry.integer(1..MAX_TIMEOUT).map(|time| time as u64);
        let bus = table.get("bus").map(|bus| context.number(&bus, 1)).transpose()?;
        step.interrupts.push(Interrupt {
            at: single.map_or(0, |(first, _)| first),
            period: table.get("period").map(time).transpose()?,
            non_maskable: match table.get("kind") {
                Some(kind) => is_non_maskable(&kind)?,
                None => false,
            },
            bus: bus.map_or(BUS, |bus| bus as u8),
            handler: table.get("handler").map(|at| context.number(&at, 2)).transpose()?,
        });
        table.finish()?;
    }
    Ok(())
}

/// Reads the first and last of T-states: a number, or a range; `None` for `all` up to the return.
fn times(entry: &Value<'_>) -> Result<Option<(u64, u64)>, FileError> {
    if let Some(time) = entry.as_integer(0..MAX_TIMEOUT) {
        let time = time? as u64;
        return Ok(Some((time, time)));
    }
    let text = entry.as_text();
    if text == Some("all") {
        return Ok(None);
    }
    let range = text.and_then(range).filter(|range| *range.end() < MAX_TIMEOUT as u64);
    let range =
        range.ok_or_else(|| entry.expected("T-states such as 100, \"0..200\" or \"all\""))?;
    Ok(Some(range.into_inner()))
}

fn is_non_maskable(kind: &Value<'_>) -> Result<bool, FileError> {
    match kind.text("\"nmi\"")? {
        "int" => Ok(false),
        "nmi" => Ok(true),
        _ => Err(kind.error("kind: expected \"int\" or \"nmi\"")),
    }
}

/// Returns an error if more than `most` of these calls have an interrupt at several T-states.
pub(super) fn limit_sweeps(
    steps: &[Step],
    most: usize,
    entry: Option<Value<'_>>,
) -> Result<(), FileError> {
    let sweeps = steps.iter().filter(|step| step.sweep.is_some()).count();
    match entry {
        Some(entry) if sweeps > most => Err(entry.error(ONE_SWEEP)),
        _ => Ok(()),
    }
}
