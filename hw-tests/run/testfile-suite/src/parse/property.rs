//! Reads properties.

use std::ops::RangeInclusive;

use cli_support::text::Escape;

use crate::model::{GeneratedBlock, Generator, Judge, Property, WrittenCall};
use crate::reader::{Entry, Fields, FileError};
use crate::written::inline;

use super::heading;
use super::interrupts::limit_sweeps;
use super::step::step;
use super::values::{Context, output, register, width};

/// The default number of inputs.
const CASES: u32 = 256;
/// The maximum number of inputs.
const MAX_CASES: i64 = 100_000_000;
/// The maximum number of inputs that are all tried.
const MAX_SPACE: u64 = 1 << 24;

/// Keys that only properties have, and those that a case of one input has other values for.
const REWRITTEN: [&str; 15] = [
    "name",
    "call",
    "in",
    "memory",
    "expect",
    "check",
    "args",
    "arrays",
    "assume",
    "same_as",
    "outputs",
    "reference",
    "cases",
    "seed",
    "exhaustive",
];

pub(super) fn property(entry: &Entry<'_>, context: &Context<'_>) -> Result<Property, FileError> {
    let fields = entry.fields("a table: [[property]]")?;
    let (heading, step) = (heading(&fields)?, step(&fields, context)?);
    limit_sweeps(std::slice::from_ref(&step), 0, fields.get("interrupt"))?;
    let property = Property {
        heading,
        step,
        written: written(&fields),
        args: args(&fields, context)?,
        blocks: blocks(&fields, context)?,
        assume: fields.get("assume").map(|entry| context.condition(&entry)).transpose()?,
        judge: judge(&fields, context)?,
        cases: fields
            .get("cases")
            .map_or(Ok(CASES), |entry| entry.integer(1..MAX_CASES).map(|cases| cases as u32))?,
        seed: fields
            .get("seed")
            .map(|entry| entry.integer(0..i64::MAX).map(|seed| seed as u64))
            .transpose()?,
        exhaustive: fields.get("exhaustive").map_or(Ok(false), |entry| entry.boolean())?,
    };
    fields.finish()?;
    if property.args.is_empty() && property.blocks.is_empty() {
        return Err(entry.error("nothing is generated: expected args = { A = \"u8\" }"));
    }
    if property.exhaustive && !property.blocks.is_empty() {
        return Err(entry.error("exhaustive is for args alone: remove 'arrays'"));
    }
    let sizes = property.args.iter().map(|(_, generator)| generator.size());
    let size = sizes.fold(1u64, |all, size| all.saturating_mul(size));
    if property.exhaustive && size > MAX_SPACE {
        let message = format!("{size} inputs are too many to try all: expected up to {MAX_SPACE}");
        return Err(entry.error(message));
    }
    let is_judged = ["check", "expect"].into_iter().any(|key| fields.get(key).is_some());
    if !is_judged && matches!(property.judge, Judge::Expectations) {
        let message = "nothing is judged: expected check, same_as, reference or expect";
        return Err(entry.error(message));
    }
    Ok(property)
}

/// Returns what a case that repeats the call has in common with a property.
fn written(fields: &Fields<'_>) -> WrittenCall {
    let pairs = |entry: Option<Entry<'_>>| -> Vec<(String, String)> {
        let fields = entry.and_then(|entry| entry.as_fields());
        let fields = fields.into_iter().flat_map(|fields| fields.all());
        fields.map(|field| (field.key.to_owned(), inline(&field))).collect()
    };
    let items = |entry: Option<Entry<'_>>| -> Vec<String> {
        let items = entry.and_then(|entry| entry.as_items()).unwrap_or_default();
        items.iter().map(inline).collect()
    };
    let expect = fields.get("expect");
    let expected_memory = expect.and_then(|expect| expect.as_fields()?.get("memory"));
    let others = fields.all().filter(|field| !REWRITTEN.contains(&field.key));
    WrittenCall {
        fields: others.map(|field| (field.key.to_owned(), inline(&field))).collect(),
        inputs: pairs(fields.get("in")),
        memory: items(fields.get("memory")),
        expect: pairs(expect),
        expected_memory: items(expected_memory),
    }
}

fn args(
    fields: &Fields<'_>,
    context: &Context<'_>,
) -> Result<Vec<(&'static str, Generator)>, FileError> {
    let Some(entry) = fields.get("args") else { return Ok(Vec::new()) };
    let table = entry.fields("a table such as { A = \"u8\", HL = \"0..1000\" }")?;
    let one = |entry: Entry<'_>| {
        let register = register(&entry, entry.key)?;
        Ok((register, generator(&entry, width(register), context)?))
    };
    table.all().map(one).collect()
}

/// Reads a generator: `u8`, `u16`, a range, or an array of values.
fn generator(entry: &Entry<'_>, width: u16, context: &Context<'_>) -> Result<Generator, FileError> {
    if entry.is_array() {
        let items = entry.items("values")?;
        let values = items.iter().map(|item| context.number(item, width));
        let values: Vec<u16> = values.collect::<Result<_, _>>()?;
        return match values.is_empty() {
            true => Err(entry.error("expected at least one value")),
            false => Ok(Generator::OneOf(values)),
        };
    }
    let text = entry.text("\"u8\", \"0..1000\" or \"1..=6\"")?;
    let most: u16 = if width == 1 { 0xFF } else { 0xFFFF };
    let range = match text {
        "u8" => Some(0..=0xFF),
        "u16" => Some(0..=0xFFFF),
        _ => range(text),
    };
    match range {
        Some(range) if *range.end() <= most.into() => {
            Ok(Generator::Range(*range.start() as u16..=*range.end() as u16))
        }
        Some(_) => Err(entry.error(format!(
            "{}: '{}' does not fit in {width} byte{}",
            entry.key.escaped(),
            text.escaped(),
            if width == 1 { "" } else { "s" }
        ))),
        None => Err(entry.error(format!(
            "'{}' is not a range: expected u8, u16, 0..1000 (without 1000) or 1..=6",
            text.escaped()
        ))),
    }
}

/// Parses a range as in Rust: `0..10` ends before 10, `0..=9` at 9.
pub(super) fn range(text: &str) -> Option<RangeInclusive<u64>> {
    let (first, last) = text.split_once("..")?;
    let (last, excluded) = match last.strip_prefix('=') {
        Some(last) => (last, 0),
        None => (last, 1),
    };
    let number = |text: &str| match text.trim() {
        text if text.bytes().all(|byte| byte.is_ascii_digit()) => text.parse().ok(),
        text => z80_core::parse_number(text).map(u64::from),
    };
    let range = number(first)?..=number(last)?.checked_sub(excluded)?;
    (!range.is_empty()).then_some(range)
}

fn blocks(fields: &Fields<'_>, context: &Context<'_>) -> Result<Vec<GeneratedBlock>, FileError> {
    let Some(entry) = fields.get("arrays") else { return Ok(Vec::new()) };
    let example = "arrays such as [{ at = \"BUFFER\", length = \"1..=64\", byte = \"u8\" }]";
    let mut blocks = Vec::new();
    for item in entry.items(example)? {
        let fields = item.fields(example)?;
        let at = fields.require("at", "at = \"BUFFER\"")?;
        let address = context.number(&at, 2)?;
        let length = fields.require("length", "length = \"1..=64\"")?;
        let bytes = fields.get("byte").map(|byte| generator(&byte, 1, context)).transpose()?;
        let count = fields.get("count_in");
        let count = count.map(|count| register(&count, count.text("\"BC\"")?)).transpose()?;
        fields.finish()?;
        let Generator::Range(length) = generator(&length, 2, context)? else {
            return Err(length.expected("a range such as \"1..=64\""));
        };
        blocks.push(GeneratedBlock {
            name: at.as_text().map_or_else(|| format!("{address:04X}H"), str::to_owned),
            address,
            length,
            byte: bytes.unwrap_or(Generator::Range(0..=0xFF)),
            count_in: count,
        });
    }
    Ok(blocks)
}

fn judge(fields: &Fields<'_>, context: &Context<'_>) -> Result<Judge, FileError> {
    let same = fields.get("same_as");
    let reference = fields.get("reference");
    let outputs = fields.get("outputs");
    match (same, reference) {
        (Some(same), Some(_)) => Err(same.error("give either same_as or reference")),
        (Some(same), None) => {
            let outputs = outputs.ok_or_else(|| {
                same.error("'outputs' is missing: expected outputs = [\"HL\", \"FC\"]")
            })?;
            let names = outputs.items("an array such as [\"HL\", \"FC\"]")?;
            let names = names.iter().map(output).collect::<Result<_, _>>()?;
            let name = same.text("\"MULSLOW\"")?.to_owned();
            Ok(Judge::SameAs(context.number(&same, 2)?, name, names))
        }
        (None, Some(reference)) => {
            let words = reference.texts("[\"python3\", \"mul.py\"]")?;
            match words.is_empty() {
                true => {
                    Err(reference.error("expected a program such as [\"python3\", \"mul.py\"]"))
                }
                false => Ok(Judge::Reference(words, reference.line())),
            }
        }
        (None, None) => Ok(Judge::Expectations),
    }
}
