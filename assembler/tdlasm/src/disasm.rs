//! The disassembler. Its output assembles to the same bytes.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;

use crate::image::Image;
use crate::isa::{Decoded, FORMS, Register, Slot, decode};
use crate::syntax::lex;

/// Bytes per `.BYTE` line.
const BYTES_A_LINE: usize = 8;

/// Disassembles an image. `names` are symbols for addresses, in addition to the labels generated
/// for jump targets. Of several names for an address the first is used. Names that are not valid
/// symbols, that are part of the language, or whose first six characters are those of another name
/// are ignored.
///
/// Bytes that are not an instruction become `.BYTE`. Every line shows its address and bytes in a
/// comment.
pub fn disassemble(image: &Image, names: &[(u16, String)]) -> String {
    let lines = lines(image);
    let labels = labels(&lines, names);
    let mut text = String::new();
    for (address, name) in &labels {
        if lines.binary_search_by_key(address, |line| line.address).is_err() {
            let _ = writeln!(text, "{name} == {}", hex(*address));
        }
    }
    let mut next = None;
    for line in &lines {
        if next != Some(u32::from(line.address)) {
            let _ = writeln!(text, "\t.LOC\t{}", hex(line.address));
        }
        next = Some(u32::from(line.address) + line.bytes.len() as u32);
        write_line(&mut text, line, &labels);
    }
    text.push_str("\t.END\n");
    text
}

/// The bytes of a source line.
struct Line<'i> {
    address: u16,
    bytes: &'i [u8],
    /// `None` for plain bytes.
    instruction: Option<Decoded>,
}

fn lines(image: &Image) -> Vec<Line<'_>> {
    let mut lines: Vec<Line<'_>> = Vec::new();
    for run in image.runs() {
        let mut at = 0;
        while at < run.bytes.len() {
            let instruction = decode(&run.bytes[at..]);
            let length = instruction.map_or(1, |found| found.length);
            let address = run.address.wrapping_add(at as u16);
            match lines.last_mut() {
                Some(last) if instruction.is_none() && joins(last, address) => {
                    let start = at - last.bytes.len();
                    last.bytes = &run.bytes[start..=at];
                }
                _ => lines.push(Line { address, bytes: &run.bytes[at..at + length], instruction }),
            }
            at += length;
        }
    }
    lines
}

/// Returns `true` if a plain byte at `address` fits on the same line.
fn joins(line: &Line<'_>, address: u16) -> bool {
    let end = line.address.wrapping_add(line.bytes.len() as u16);
    line.instruction.is_none() && line.bytes.len() < BYTES_A_LINE && end == address
}

/// Returns the given names, and a label for each target of a jump or call at the start of a line.
fn labels(lines: &[Line<'_>], names: &[(u16, String)]) -> BTreeMap<u16, String> {
    let mut labels = BTreeMap::new();
    let mut taken = HashSet::new();
    for (address, name) in names {
        let name = name.to_ascii_uppercase();
        let free = !labels.contains_key(address) && is_usable(&name);
        if free && taken.insert(significant(&name).to_owned()) {
            labels.insert(*address, name);
        }
    }
    for line in lines {
        let target = line.instruction.as_ref().and_then(|found| found.target(line.address));
        let Some(target) = target else { continue };
        let name = format!("L{target:04X}");
        if lines.binary_search_by_key(&target, |line| line.address).is_ok()
            && !taken.contains(&name)
        {
            labels.entry(target).or_insert(name);
        }
    }
    labels
}

fn significant(name: &str) -> &str {
    &name[..name.len().min(6)]
}

/// Returns `true` if a name can be a global label, and is not a word of the language.
fn is_usable(name: &str) -> bool {
    let whole = lex::symbol(name.as_bytes()).is_ok_and(|(rest, _)| rest.is_empty());
    whole && !name.starts_with('.') && {
        let name = significant(name);
        FORMS.iter().all(|form| form.mnemonic != name)
            && Register::NAMES.iter().all(|(register, _)| *register != name)
    }
}

fn write_line(text: &mut String, line: &Line<'_>, labels: &BTreeMap<u16, String>) {
    if let Some(label) = labels.get(&line.address) {
        let _ = write!(text, "{label}:");
    }
    let statement = match &line.instruction {
        Some(decoded) => instruction(decoded, line.address, |value| labels.get(&value).cloned()),
        None => {
            let values: Vec<String> = line.bytes.iter().map(|byte| hex((*byte).into())).collect();
            format!(".BYTE\t{}", values.join(","))
        }
    };
    let bytes = hex::encode_upper(line.bytes);
    let _ = writeln!(text, "\t{statement:<24}; {:04X}  {bytes}", line.address);
}

/// Formats an instruction as TDL source, a tab after the mnemonic; `name` returns labels.
pub fn instruction(
    decoded: &Decoded,
    address: u16,
    name: impl Fn(u16) -> Option<String>,
) -> String {
    let name = |value: u16| name(value).unwrap_or_else(|| hex(value));
    let operands: Vec<String> = decoded
        .form
        .slots
        .iter()
        .zip(decoded.registers)
        .filter(|(slot, _)| **slot != Slot::None)
        .map(|(slot, register)| match slot {
            Slot::Bit | Slot::Restart => decoded.value.to_string(),
            Slot::Byte => hex(decoded.value),
            Slot::Word => name(decoded.value),
            Slot::Relative => name(address.wrapping_add(decoded.value)),
            Slot::Index => {
                format!("{}({})", decoded.displacement, register.map_or("X", Register::name))
            }
            _ => register.map_or("", Register::name).to_owned(),
        })
        .collect();
    if operands.is_empty() {
        decoded.form.mnemonic.to_owned()
    } else {
        format!("{}\t{}", decoded.form.mnemonic, operands.join(","))
    }
}

fn hex(value: u16) -> String {
    lex::hexadecimal(&format!("{value:X}"))
}
