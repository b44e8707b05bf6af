//! COFF of GNU as and ld for the Z80, with stabs for source lines of executables.
//!
//! The crate `object` reads the COFF of Windows, in which values of symbols are relative to sections
//! and there is no start address. Sources: the headers `coff/internal.h`, `coff/z80.h` and
//! `aout/stab.def` of GNU binutils 2.40.

mod object;

pub(crate) use object::read_object;

use std::sync::Arc;

use tdlasm::image::{Image, ImageRun};
use tdlasm::object::ObjectError;

use crate::debug_info::{DebugInfo, SourceLine, Symbol, SymbolKind};
use crate::{DebugInfoError, ProgramError};

const MAGIC: u16 = 0x805A;
const HEADER: usize = 20;
const SECTION: usize = 40;
const SYMBOL: usize = 18;
const STAB: usize = 12;
/// The flag of a file that is linked.
const EXECUTABLE: u16 = 2;
/// Where the header of an executable has the start address.
const ENTRY: usize = 16;

/// Flags of sections: code, data, memory without bytes.
const TEXT: u32 = 0x20;
const DATA: u32 = 0x40;
const BSS: u32 = 0x80;

/// Storage classes of symbols.
const EXTERNAL: u8 = 2;
const STATIC: u8 = 3;
const LABEL: u8 = 6;
const ABSOLUTE: i16 = -1;

/// Types of stabs: the source file, an included one, a line.
const N_UNDF: u8 = 0;
const N_SO: u8 = 0x64;
const N_SOL: u8 = 0x84;
const N_SLINE: u8 = 0x44;

/// Returns `true` for a file that begins as COFF for the Z80 does.
pub(crate) fn is_coff(content: &[u8]) -> bool {
    let file = Bytes(content);
    let sections = file.half(2).map_or(0, usize::from);
    file.half(0) == Ok(MAGIC) && (1..100).contains(&sections) && content.len() > HEADER + SECTION
}

/// Returns `true` for a file that is linked.
pub(crate) fn is_linked(content: &[u8]) -> bool {
    Bytes(content).half(18).is_ok_and(|flags| flags & EXECUTABLE != 0)
}

/// Returns symbols and lines of an executable.
pub(crate) fn debug_info(content: &[u8]) -> Result<DebugInfo, DebugInfoError> {
    let wrong = |error: ProgramError| ObjectError::Format(error.to_string()).into();
    read(content).map(|(_, _, debug)| debug).map_err(wrong)
}

/// Reads an executable.
pub(crate) fn read(content: &[u8]) -> Result<(Image, Option<u16>, DebugInfo), ProgramError> {
    let file = Bytes(content);
    if !is_linked(content) {
        return Err(ProgramError::Unlinked);
    }
    let sections = sections(&file)?;
    let mut image = Vec::new();
    let mut debug = DebugInfo { format: "a COFF executable", ..DebugInfo::default() };
    for section in &sections {
        if section.flags & (TEXT | DATA) != 0 && section.size > 0 {
            let bytes = section.bytes(&file)?.to_vec();
            let address = u16::try_from(section.load_address).ok();
            let fits = address.is_some_and(|at| usize::from(at) + bytes.len() <= 0x1_0000);
            let address = address.filter(|_| fits);
            let too_high = ObjectError::TooHigh(section.load_address.into());
            image.push(ImageRun { address: address.ok_or(too_high)?, bytes });
        }
        if section.flags & (DATA | BSS) != 0 {
            debug.add_area(&section.name, section.address.into(), section.size as i64);
            debug.areas.iter_mut().for_each(|area| area.is_writable = true);
        }
    }
    debug.symbols = symbols(&file)?;
    debug.lines = lines(&file, &sections)?;
    let has_entry = file.half(16)? as usize >= ENTRY + 4;
    let entry = if has_entry { file.word(HEADER + ENTRY)? } else { 0 };
    let entry = u16::try_from(entry).ok().filter(|entry| *entry != 0);
    Ok((Image::new(image), entry, debug))
}

/// A file whose numbers are read at offsets.
struct Bytes<'d>(&'d [u8]);

impl<'d> Bytes<'d> {
    fn slice(&self, offset: usize, length: usize) -> Result<&'d [u8], ProgramError> {
        let end = offset.checked_add(length);
        let found = end.and_then(|end| self.0.get(offset..end));
        found.ok_or(ProgramError::Coff(offset, "the file ends"))
    }

    fn half(&self, offset: usize) -> Result<u16, ProgramError> {
        let bytes = self.slice(offset, 2)?;
        Ok(u16::from_le_bytes([bytes[0], bytes[1]]))
    }

    fn word(&self, offset: usize) -> Result<u32, ProgramError> {
        let bytes = self.slice(offset, 4)?;
        Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    fn text(&self, offset: usize) -> Result<String, ProgramError> {
        let rest = self.slice(offset, self.0.len().saturating_sub(offset))?;
        let end = rest.iter().position(|byte| *byte == 0).unwrap_or(rest.len());
        Ok(String::from_utf8_lossy(&rest[..end]).into_owned())
    }
}

struct Section {
    name: String,
    load_address: u32,
    address: u32,
    size: usize,
    offset: usize,
    /// The offset and number of relocations.
    relocations: (usize, usize),
    flags: u32,
}

impl Section {
    fn bytes<'d>(&self, file: &Bytes<'d>) -> Result<&'d [u8], ProgramError> {
        file.slice(self.offset, self.size)
    }
}

fn sections(file: &Bytes<'_>) -> Result<Vec<Section>, ProgramError> {
    let first = HEADER + usize::from(file.half(16)?);
    let section = |number: usize| {
        let at = first + number * SECTION;
        let name = file.slice(at, 8)?;
        let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
        Ok(Section {
            name: String::from_utf8_lossy(&name[..end]).into_owned(),
            load_address: file.word(at + 8)?,
            address: file.word(at + 12)?,
            size: file.word(at + 16)? as usize,
            offset: file.word(at + 20)? as usize,
            relocations: (file.word(at + 24)? as usize, file.half(at + 32)?.into()),
            flags: file.word(at + 36)?,
        })
    };
    (0..usize::from(file.half(2)?)).map(section).collect()
}

/// An entry of the symbol table.
struct FileSymbol {
    /// The index in the table, by which relocations name it.
    index: usize,
    name: String,
    value: u32,
    /// The number of the section from 1, 0 for a symbol that is not defined, or [`ABSOLUTE`].
    section: i16,
    class: u8,
    /// Whether more entries describe it, as those of a section or a file.
    has_more: bool,
}

fn file_symbols(file: &Bytes<'_>) -> Result<Vec<FileSymbol>, ProgramError> {
    let first = file.word(8)? as usize;
    let count = file.word(12)? as usize;
    let strings = first.saturating_add(count.saturating_mul(SYMBOL));
    let mut found = Vec::new();
    let mut index = 0;
    while index < count {
        let at = first + index * SYMBOL;
        let entry = file.slice(at, SYMBOL)?;
        let more = usize::from(entry[17]);
        let name = match file.word(at)? {
            0 => file.text(strings.saturating_add(file.word(at + 4)? as usize))?,
            _ => {
                let end = entry[..8].iter().position(|byte| *byte == 0).unwrap_or(8);
                String::from_utf8_lossy(&entry[..end]).into_owned()
            }
        };
        found.push(FileSymbol {
            index,
            name,
            value: file.word(at + 8)?,
            section: i16::from_le_bytes([entry[12], entry[13]]),
            class: entry[16],
            has_more: more > 0,
        });
        index += 1 + more;
    }
    Ok(found)
}

fn symbols(file: &Bytes<'_>) -> Result<Vec<Symbol>, ProgramError> {
    let is_name = |symbol: &FileSymbol| {
        matches!(symbol.class, EXTERNAL | STATIC | LABEL) && !symbol.has_more && symbol.section != 0
    };
    let symbol = |symbol: FileSymbol| {
        let is_constant = symbol.section == ABSOLUTE;
        Symbol {
            name: symbol.name,
            value: symbol.value.cast_signed().into(),
            kind: if is_constant { SymbolKind::Constant } else { SymbolKind::Address },
            exported: symbol.class == EXTERNAL,
            page: None,
        }
    };
    let mut symbols: Vec<_> = file_symbols(file)?.into_iter().filter(is_name).map(symbol).collect();
    // What begins where a section does is better known by the program's own name.
    symbols.sort_by_key(|symbol| is_section_bound(&symbol.name));
    Ok(symbols)
}

/// Returns `true` for the names of the linker, such as `__Ltext` and `__Htext`.
fn is_section_bound(name: &str) -> bool {
    let section = name.strip_prefix("__L").or_else(|| name.strip_prefix("__H"));
    section.is_some_and(|section| matches!(section, "text" | "data" | "bss" | "abs"))
}

/// Returns the lines of the stabs of GNU as, option -gstabs.
fn lines(file: &Bytes<'_>, sections: &[Section]) -> Result<Vec<SourceLine>, ProgramError> {
    let named = |name: &str| sections.iter().find(|section| section.name == name);
    let (Some(stabs), Some(strings)) = (named(".stab"), named(".stabstr")) else {
        return Ok(Vec::new());
    };
    let (stabs, strings) = (stabs.bytes(file)?, Bytes(strings.bytes(file)?));
    let mut lines = Vec::new();
    let mut source: Arc<str> = Arc::from("");
    // Each unit has strings of its own.
    let (mut unit, mut next_unit) = (0usize, 0usize);
    for stab in stabs.chunks_exact(STAB) {
        let stab = Bytes(stab);
        let (name, kind, line, value) =
            (stab.word(0)? as usize, stab.0[4], stab.half(6)?, stab.word(8)?);
        match kind {
            N_UNDF => {
                unit = next_unit;
                next_unit = next_unit.saturating_add(value as usize);
            }
            N_SO | N_SOL if name > 0 => {
                source = Arc::from(strings.text(unit.saturating_add(name))?);
            }
            N_SLINE => lines.extend(u16::try_from(value).ok().map(|address| SourceLine {
                address,
                file: Arc::clone(&source),
                line: line.into(),
                page: None,
                is_data: false,
            })),
            _ => {}
        }
    }
    Ok(lines)
}
