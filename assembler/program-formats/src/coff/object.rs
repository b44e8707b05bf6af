//! COFF objects of GNU as, which are not linked.

use std::collections::HashMap;
use std::sync::Arc;

use tdlasm::module::{
    Base, Binding, Lines, Module, Reloc, RelocKind, Section, SectionKind, SectionRun, Symbol,
    SymbolValue, Target,
};

use super::{ABSOLUTE, BSS, Bytes, DATA, EXTERNAL, FileSymbol, LABEL, STATIC, TEXT, file_symbols};
use crate::ProgramError;

/// The size of a relocation: address, symbol, distance from it, type, and a mark.
const RELOCATION: usize = 16;
/// The relocation types of binutils' `coff/internal.h`, and the fields that they patch.
const RELOCATIONS: [(u16, RelocKind); 5] = [
    (0x01, RelocKind::Word),
    (0x22, RelocKind::Abs8),
    (0x32, RelocKind::Disp8),
    (0x34, RelocKind::Low),
    (0x35, RelocKind::High),
];

/// Reads an object as a module for the linker.
pub(crate) fn read_object(content: &[u8], name: &str) -> Result<Module, ProgramError> {
    let file = Bytes(content);
    let from_file = super::sections(&file)?;
    let kinds: Vec<Option<SectionKind>> = from_file.iter().map(kind).collect();
    let (symbols, bases) = symbols(&file, &kinds)?;
    let mut sections: Vec<Section> = Vec::new();
    for (section, kind) in from_file.iter().zip(kinds) {
        let Some(kind) = kind.filter(|_| section.size > 0) else { continue };
        let is_known = sections.iter().any(|known| known.kind == kind);
        let size = u32::try_from(section.size).ok().filter(|size| *size <= 0x1_0000 && !is_known);
        let size = size.ok_or(ProgramError::Coff(section.offset, "a section that does not fit"))?;
        let relocs = relocations(&file, section.relocations, &bases)?;
        let mut runs = Vec::new();
        if kind != SectionKind::Blank {
            let bytes = bytes_without_fields(section.bytes(&file)?, &relocs);
            let beyond = ProgramError::Coff(section.offset, "a relocation beyond its section");
            runs.push(SectionRun { offset: 0, bytes: bytes.ok_or(beyond)? });
        }
        sections.push(Section { kind, size, runs, relocs });
    }
    sections.sort_by_key(|section| section.kind);
    let (name, symbols) = (name.to_owned(), Arc::new(symbols));
    let lines = Lines::default();
    Ok(Module { name, sections, symbols, start: None, lines, source_order: None })
}

fn kind(section: &super::Section) -> Option<SectionKind> {
    match section.flags & (TEXT | DATA | BSS) {
        TEXT => Some(SectionKind::Prog),
        DATA => Some(SectionKind::Data),
        BSS => Some(SectionKind::Blank),
        _ => None,
    }
}

/// Returns the symbols, and the meaning of each index of the file's table.
fn symbols(
    file: &Bytes<'_>,
    kinds: &[Option<SectionKind>],
) -> Result<(Vec<Symbol>, HashMap<usize, Base>), ProgramError> {
    let mut symbols = Vec::new();
    let mut bases = HashMap::new();
    for FileSymbol { index, name, value, section, class, has_more } in file_symbols(file)? {
        let number = usize::try_from(section).ok().and_then(|section| section.checked_sub(1));
        let kind = number.and_then(|number| kinds.get(number).copied().flatten());
        let value = (value & 0xFFFF) as u16;
        let value = match (section, kind) {
            (_, Some(kind)) if has_more => {
                bases.insert(index, Base::Section(kind));
                continue;
            }
            (_, Some(kind)) => SymbolValue::InSection(kind, value),
            (ABSOLUTE, _) => SymbolValue::Absolute(value),
            (0, _) => SymbolValue::Undefined,
            _ => continue,
        };
        if matches!(class, EXTERNAL | STATIC | LABEL) && !has_more {
            let binding = if class == EXTERNAL { Binding::Global } else { Binding::Local };
            bases.insert(index, Base::Symbol(symbols.len()));
            symbols.push(Symbol { name: name.into(), value, binding, place: None });
        }
    }
    Ok((symbols, bases))
}

fn relocations(
    file: &Bytes<'_>,
    (offset, count): (usize, usize),
    bases: &HashMap<usize, Base>,
) -> Result<Vec<Reloc>, ProgramError> {
    let relocation = |number: usize| {
        let at = offset.saturating_add(number * RELOCATION);
        let wrong = |what| ProgramError::Coff(at, what);
        let symbol = file.word(at.saturating_add(4))? as usize;
        let addend = file.word(at.saturating_add(8))?.cast_signed();
        let number = file.half(at.saturating_add(12))?;
        let known = RELOCATIONS.iter().find(|(known, _)| *known == number);
        let (_, kind) = known.ok_or(wrong("a relocation of an unknown type"))?;
        let base = *bases.get(&symbol).ok_or(wrong("a relocation to an unknown symbol"))?;
        let offset = u16::try_from(file.word(at)?).map_err(|_| wrong("an offset beyond FFFFH"))?;
        Ok(Reloc { offset, kind: *kind, target: Target { base, addend } })
    };
    let mut relocs = (0..count).map(relocation).collect::<Result<Vec<_>, ProgramError>>()?;
    relocs.sort_by_key(|reloc| reloc.offset);
    Ok(relocs)
}

/// Returns the bytes with zeros where fields are; `None` if one is beyond the end.
fn bytes_without_fields(bytes: &[u8], relocs: &[Reloc]) -> Option<Vec<u8>> {
    let mut bytes = bytes.to_vec();
    for reloc in relocs {
        let start = usize::from(reloc.offset);
        bytes.get_mut(start..start + reloc.kind.size())?.fill(0);
    }
    Some(bytes)
}
