//! Reads ELF relocatable objects, as written by this crate or by GNU as for the Z80.

#![deny(clippy::cast_possible_truncation)]

use std::collections::HashMap;
use std::sync::Arc;

use object::elf::{self, FileHeader32};
use object::read::elf::ElfFile;
use object::{
    Endianness, Object, ObjectSection, ObjectSymbol, RelocationFlags, RelocationTarget, SymbolIndex,
};

use super::elf::{RELOCATIONS, TDL_SECTION, addend_bias, section_kind};
use super::tdl::{TdlError, looks_like_tdl, read_tdl};
use super::tdl_section::{self, SymbolNote, TdlSection, names_check};
use crate::module::{
    Base, Binding, Lines, Module, Reloc, Section, SectionKind, SectionRun, Symbol, SymbolValue,
    Target,
};

type Elf<'d> = ElfFile<'d, FileHeader32<Endianness>>;

/// Error returned for an object file that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ObjectError {
    /// Not a 32-bit ELF file, or a damaged one.
    #[error("not a readable ELF object: {0}")]
    Format(String),
    /// An ELF file for another processor, or not a relocatable object.
    #[error("not a relocatable object for the Z80")]
    Kind,
    /// An ELF file for another processor, or not an executable.
    #[error("not an executable for the Z80")]
    NotExecutable,
    /// A section, segment or symbol passes FFFFH.
    #[error("what is at {0:X}H passes address FFFFH")]
    TooHigh(u64),
    /// Two sections or segments have bytes for the same address.
    #[error("two parts of the file have bytes for {0:04X}H")]
    Overlap(u16),
    /// A section is too large, or its header does not match its contents.
    #[error("the content of section {0} does not fit its description")]
    Section(String),
    /// A loaded section that modules cannot contain.
    #[error("section {0} is not .text, .data or .bss; its {1} bytes would be lost")]
    Unknown(String, u64),
    /// A relocation type that is not supported.
    #[error("section {section} has a relocation of type {number}, which is not supported")]
    Relocation {
        /// The section.
        section: String,
        /// The relocation type.
        number: u32,
    },
    /// The section `.tdl` is damaged.
    #[error("section .tdl is damaged: {0}")]
    TdlSection(String),
    /// A TDL object that is damaged or contains what a module cannot.
    #[error(transparent)]
    Tdl(#[from] TdlError),
}

impl From<object::read::Error> for ObjectError {
    fn from(error: object::read::Error) -> Self {
        Self::Format(error.to_string())
    }
}

/// Reads a relocatable object, ELF or TDL. `name` is the name of modules whose file contains none.
///
/// # Errors
///
/// Returns [`ObjectError`] if the file is neither an ELF object for the Z80 nor a TDL object, is
/// damaged, or uses features that the linker does not support.
pub fn read_modules(data: &[u8], name: &str) -> Result<Vec<Module>, ObjectError> {
    if looks_like_tdl(data) {
        return Ok(read_tdl(data, name)?);
    }
    Ok(vec![read_object(data, name)?])
}

/// Reads an ELF relocatable object. `name` is the name of the module if the file contains none.
///
/// # Errors
///
/// Returns [`ObjectError`] if the file is not an ELF object for the Z80, is damaged, or uses
/// features that the linker does not support.
pub fn read_object(data: &[u8], name: &str) -> Result<Module, ObjectError> {
    let file = Elf::parse(data)?;
    let header = file.elf_header();
    let endian = file.endian();
    let kind = (header.e_machine.get(endian), header.e_type.get(endian), endian);
    if kind != (elf::EM_Z80, elf::ET_REL, Endianness::Little) {
        return Err(ObjectError::Kind);
    }
    let notes = read_notes(&file)?;
    let (symbols, numbers) = read_symbols(&file, notes.as_ref())?;
    let sections = read_sections(&file, notes.as_ref(), &numbers)?;
    let (name, lines, start) = match notes {
        Some(TdlSection { name, files, rows, start, .. }) => (name, Lines { files, rows }, start),
        None => (name.to_owned(), Lines::default(), None),
    };
    let symbols = Arc::new(symbols);
    Ok(Module { name, sections, symbols, start, lines, source_order: None })
}

fn read_notes(file: &Elf<'_>) -> Result<Option<TdlSection>, ObjectError> {
    let Some(section) = file.section_by_name(TDL_SECTION) else { return Ok(None) };
    let data = section.data().map_err(|error| ObjectError::TdlSection(error.to_string()))?;
    tdl_section::read(data).map(Some).map_err(ObjectError::TdlSection)
}

/// Returns the symbols, and the meaning of each index of the file's symbol table.
fn read_symbols(
    file: &Elf<'_>,
    notes: Option<&TdlSection>,
) -> Result<(Vec<Symbol>, HashMap<SymbolIndex, Base>), ObjectError> {
    let mut numbers = HashMap::new();
    let mut found = Vec::new();
    for symbol in file.symbols() {
        let section = symbol.section_index().and_then(|index| file.section_by_index(index).ok());
        let kind = section.as_ref().and_then(|one| section_kind(one.name().ok()?));
        if symbol.kind() == object::SymbolKind::Section {
            numbers.extend(kind.map(|kind| (symbol.index(), Base::Section(kind))));
            continue;
        }
        let name = symbol.name()?;
        // GNU as writes negative constants with 32 bits; all values are modulo 65536.
        let value = (symbol.address() & 0xFFFF) as u16;
        let value = match kind {
            _ if symbol.is_common() => {
                let size = u16::try_from(symbol.size());
                let too_large = |_| ObjectError::Section(name.to_owned());
                SymbolValue::Common { size: size.map_err(too_large)? }
            }
            _ if symbol.is_undefined() => SymbolValue::Undefined,
            Some(kind) if kind != SectionKind::Absolute => SymbolValue::InSection(kind, value),
            _ if symbol.kind() == object::SymbolKind::File => continue,
            _ => SymbolValue::Absolute(value),
        };
        let binding = if symbol.is_local() { Binding::Local } else { Binding::Global };
        found.push((symbol.index(), Symbol { name: name.into(), value, binding, place: None }));
    }
    if let Some(notes) = notes {
        found = apply_notes(found, notes)?;
    }
    for (at, (index, _)) in found.iter().enumerate() {
        numbers.insert(*index, Base::Symbol(at));
    }
    Ok((found.into_iter().map(|(_, symbol)| symbol).collect(), numbers))
}

/// Sorts symbols into the module's order, and adds their source lines and entry points.
fn apply_notes(
    found: Vec<(SymbolIndex, Symbol)>,
    notes: &TdlSection,
) -> Result<Vec<(SymbolIndex, Symbol)>, ObjectError> {
    let names = found.iter().flat_map(|(_, symbol)| symbol.name.bytes().chain([0]));
    let names: Vec<u8> = names.collect();
    if names_check(&names) != notes.check || found.len() != notes.symbols.len() {
        let changed = "another program has changed the symbols; it can be removed, and what ELF \
                       has no room for is lost with it (objcopy --remove-section .tdl)";
        return Err(ObjectError::TdlSection(changed.to_owned()));
    }
    let numbers: Vec<usize> = found.iter().map(|(index, _)| index.0).collect();
    let mut found: Vec<Option<_>> = found.into_iter().map(Some).collect();
    let take = |note: &SymbolNote| {
        let at = numbers.binary_search(&note.number).ok()?;
        let (index, mut symbol) = found[at].take()?;
        if note.is_entry {
            symbol.binding = Binding::Entry;
        }
        if let (SymbolValue::Absolute(address), true) = (symbol.value, note.is_label) {
            symbol.value = SymbolValue::InSection(SectionKind::Absolute, address);
        }
        symbol.place = notes.place(note);
        Some((index, symbol))
    };
    let ordered: Option<Vec<_>> = notes.symbols.iter().map(take).collect();
    ordered.ok_or_else(|| ObjectError::TdlSection("a symbol has the number of another".to_owned()))
}

fn read_sections(
    file: &Elf<'_>,
    notes: Option<&TdlSection>,
    numbers: &HashMap<SymbolIndex, Base>,
) -> Result<Vec<Section>, ObjectError> {
    let mut sections: Vec<Section> = Vec::new();
    for found in file.sections() {
        let name = found.name()?;
        let Some(kind) = section_kind(name) else {
            if is_loaded(&found) {
                return Err(ObjectError::Unknown(name.to_owned(), found.size()));
            }
            continue;
        };
        let damaged = || ObjectError::Section(name.to_owned());
        let data = found.data().map_err(|_| damaged())?;
        let address = if kind == SectionKind::Absolute { found.address() } else { 0 };
        if found.size() == 0 || address + found.size() > 0x10000 {
            if found.size() == 0 && kind != SectionKind::Absolute {
                continue;
            }
            return Err(damaged());
        }
        let offset = u16::try_from(address).map_err(|_| damaged())?;
        let size = u32::try_from(address + found.size()).map_err(|_| damaged())?;
        let relocs = read_relocs(&found, name, offset, numbers)?;
        if kind == SectionKind::Absolute {
            let run = SectionRun { offset, bytes: data.to_vec() };
            add_absolute(&mut sections, size, run, relocs);
            continue;
        }
        if sections.iter().any(|section| section.kind == kind) {
            return Err(damaged()); // a module has one section of a kind
        }
        let runs = match notes.and_then(|notes| notes.runs(kind)) {
            Some(runs) => noted_runs(runs, data).ok_or_else(damaged)?,
            None if data.is_empty() => Vec::new(),
            None => vec![SectionRun { offset: 0, bytes: data.to_vec() }],
        };
        sections.push(Section { kind, size, runs, relocs });
    }
    if let (Some(size), Some(absolute)) =
        (notes.and_then(|notes| notes.absolute_size), sections.first_mut())
        && absolute.kind == SectionKind::Absolute
    {
        absolute.size = size.max(absolute.size).min(0x10000);
    }
    sections.sort_by_key(|section| section.kind);
    Ok(sections)
}

/// Returns `true` if a section is loaded into memory.
fn is_loaded<'data>(section: &impl ObjectSection<'data>) -> bool {
    let object::SectionFlags::Elf { sh_flags, .. } = section.flags() else { return false };
    section.size() > 0 && (sh_flags & elf::SHF_ALLOC) == elf::SHF_ALLOC
}

/// Adds a run to the absolute section, which comes first.
fn add_absolute(sections: &mut Vec<Section>, size: u32, run: SectionRun, relocs: Vec<Reloc>) {
    if sections.first().is_none_or(|first| first.kind != SectionKind::Absolute) {
        let runs = Vec::new();
        let relocs = Vec::new();
        sections.insert(0, Section { kind: SectionKind::Absolute, size: 0, runs, relocs });
    }
    let absolute = &mut sections[0];
    absolute.size = absolute.size.max(size);
    absolute.runs.push(run);
    absolute.runs.sort_by_key(|run| run.offset);
    absolute.relocs.extend(relocs);
    absolute.relocs.sort_by_key(|reloc| reloc.offset);
}

fn noted_runs(noted: &[(u16, u32)], data: &[u8]) -> Option<Vec<SectionRun>> {
    let mut end = 0;
    noted
        .iter()
        .map(|(offset, length)| {
            let start = usize::from(*offset);
            let bytes = data.get(start..start.checked_add(*length as usize)?)?;
            let in_order = start >= end;
            end = start + bytes.len();
            in_order.then(|| SectionRun { offset: *offset, bytes: bytes.to_vec() })
        })
        .collect()
}

fn read_relocs<'d>(
    section: &impl ObjectSection<'d>,
    name: &str,
    address: u16,
    numbers: &HashMap<SymbolIndex, Base>,
) -> Result<Vec<Reloc>, ObjectError> {
    let mut relocs = Vec::new();
    for (at, found) in section.relocations() {
        let RelocationFlags::Elf { r_type } = found.flags() else { continue };
        let unknown = || ObjectError::Relocation { section: name.to_owned(), number: r_type.0 };
        let kind =
            RELOCATIONS.iter().find(|(_, number)| *number == r_type.0).ok_or_else(unknown)?.0;
        let base = match found.target() {
            RelocationTarget::Symbol(index) => *numbers.get(&index).ok_or_else(unknown)?,
            RelocationTarget::Absolute => Base::Absolute,
            _ => return Err(unknown()),
        };
        let damaged = || ObjectError::Section(name.to_owned());
        if at + kind.size() as u64 > section.size() {
            return Err(damaged());
        }
        let addend = i32::try_from(found.addend() - addend_bias(kind)).map_err(|_| damaged())?;
        let offset = u16::try_from(u64::from(address) + at).map_err(|_| damaged())?;
        relocs.push(Reloc { offset, kind, target: Target { base, addend } });
    }
    relocs.sort_by_key(|reloc| reloc.offset);
    Ok(relocs)
}
