//! Reads memory and ports: what is written before a call, and what is expected.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use cli_support::text::Escape;

use crate::block::Block;
use crate::matcher::Matcher;
use crate::model::ExpectedMemory;
use crate::reader::{Entry, Fields, FileError};

use super::values::Context;

/// Reads memory to be written.
pub(super) fn blocks(fields: &Fields<'_>, context: &Context<'_>) -> Result<Vec<Block>, FileError> {
    fields.get("memory").map_or(Ok(Vec::new()), |entry| blocks_of(&entry, context))
}

/// Reads the blocks of an array.
pub(super) fn blocks_of(entry: &Entry<'_>, context: &Context<'_>) -> Result<Vec<Block>, FileError> {
    let example = "memory such as [{ at = \"BUFFER\", bytes = [1, 2] }]";
    let mut all = Vec::new();
    for item in entry.items(example)? {
        let fields = item.fields(example)?;
        let address = context.number(&fields.require("at", "at = \"BUFFER\"")?, 2)?;
        let (width, elements) = elements(&fields, &item, context)?;
        let value = |matcher: &Matcher| matcher.value().ok_or_else(|| item.error(NO_OPERATORS));
        let values = elements.iter().map(value).collect::<Result<Vec<_>, _>>()?;
        let bytes = values.iter().flat_map(|v| v.to_le_bytes().into_iter().take(width.into()));
        all.push(Block { address, bytes: bytes.collect() });
    }
    Ok(all)
}

const NO_OPERATORS: &str = "operators are for expected values: expected numbers here";

/// Reads the contents of a block of memory: the width of its elements, and these.
fn elements(
    fields: &Fields<'_>,
    item: &Entry<'_>,
    context: &Context<'_>,
) -> Result<(u16, Vec<Matcher>), FileError> {
    let mut found = Vec::new();
    let equal = |bytes: &[u8]| bytes.iter().map(|b| Matcher::equal((*b).into())).collect();
    for (name, width) in [("bytes", 1), ("words", 2)] {
        if let Some(entry) = fields.get(name) {
            let items = entry.items("an array such as [1, 2]")?;
            let all = items.iter().map(|one| context.matcher(one, width));
            found.push((width, all.collect::<Result<Vec<_>, _>>()?));
        }
    }
    if let Some(entry) = fields.get("text") {
        found.push((1, equal(entry.text("\"HELLO\"")?.as_bytes())));
    }
    if let Some(entry) = fields.get("file") {
        let path = context.folder.join(entry.text("\"input.bin\"")?);
        let bytes = crate::program::read(entry.document.loader, &path)
            .map_err(|message| entry.error(message))?;
        if bytes.len() > 0x1_0000 {
            return Err(entry.error("the file is larger than 64 KiB"));
        }
        found.push((1, equal(&bytes)));
    }
    let size = fields.get("size");
    if let Some(entry) = fields.get("fill") {
        let value = Matcher::equal(context.number(&entry, 1)?.into());
        let size = size.ok_or_else(|| entry.error("'size' is missing: fill = 0, size = 256"))?;
        let size = size.integer(1..0x1_0001)?;
        found.push((1, vec![value; size as usize]));
    }
    fields.finish()?;
    match <[_; 1]>::try_from(found) {
        Ok([one]) => Ok(one),
        Err(_) => Err(item.error("expected one of bytes, words, text, file, or fill with size")),
    }
}

pub(super) fn expected_memory(
    entry: &Entry<'_>,
    context: &Context<'_>,
) -> Result<Vec<ExpectedMemory>, FileError> {
    let example = "memory such as [{ at = \"BUFFER\", bytes = [1, 2] }]";
    let mut all = Vec::new();
    for item in entry.items(example)? {
        let fields = item.fields(example)?;
        let at = fields.require("at", "at = \"BUFFER\"")?;
        let address = context.number(&at, 2)?;
        let name = at.as_text().map_or_else(|| format!("{address:04X}H"), str::to_owned);
        let (width, elements) = elements(&fields, &item, context)?;
        all.push(ExpectedMemory { name, address, width, elements });
    }
    Ok(all)
}

pub(super) fn ranges(
    entry: &Entry<'_>,
    context: &Context<'_>,
) -> Result<Vec<RangeInclusive<u16>>, FileError> {
    let last = |(first, size): (u16, usize)| first..=first.saturating_add((size - 1) as u16);
    Ok(reads(entry, context)?.into_iter().map(last).collect())
}

/// Reads addresses with numbers of bytes, 1 by default.
pub(super) fn reads(
    entry: &Entry<'_>,
    context: &Context<'_>,
) -> Result<Vec<(u16, usize)>, FileError> {
    let example = "memory such as [{ at = \"BUFFER\", size = 16 }]";
    let one = |item: Entry<'_>| {
        let fields = item.fields(example)?;
        let first = context.number(&fields.require("at", "at = \"BUFFER\"")?, 2)?;
        let size = fields.get("size").map_or(Ok(1), |size| size.integer(1..0x1_0001))?;
        fields.finish()?;
        Ok((first, size as usize))
    };
    entry.items(example)?.into_iter().map(one).collect()
}

pub(super) fn ports(
    entry: &Entry<'_>,
    context: &Context<'_>,
) -> Result<BTreeMap<u8, Vec<u8>>, FileError> {
    let mut ports = BTreeMap::new();
    for port in entry.fields("a table of ports such as { 10H = [1, 2] }")?.all() {
        let number = z80_core::parse_number(port.key).and_then(|port| u8::try_from(port).ok());
        let wrong = || port.error(format!("'{}': expected a port such as 10H", port.key.escaped()));
        let number = number.ok_or_else(wrong)?;
        let items = port.items("an array of bytes")?;
        let bytes = items.iter().map(|item| context.number(item, 1).map(|byte| byte as u8));
        ports.insert(number, bytes.collect::<Result<_, _>>()?);
    }
    Ok(ports)
}
