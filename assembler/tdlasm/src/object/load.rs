//! Reads ELF executables for the Z80, for the disassembler: image, entry point and symbols.

#![deny(clippy::cast_possible_truncation)]

use object::elf::{self, FileHeader32};
use object::read::elf::ElfFile;
use object::{Endianness, Object, ObjectSegment, ObjectSymbol, SymbolSection};

use super::ObjectError;
use crate::image::{Image, Run};

/// The contents of an executable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Executable {
    /// The bytes of its segments, at their load addresses.
    pub image: Image,
    /// The symbols that are addresses in its sections, in the order of the file.
    pub symbols: Vec<(u16, String)>,
    /// The start address. 0 in the file means none.
    pub entry: Option<u16>,
}

/// Reads an ELF executable, as written by this crate or by GNU ld.
///
/// # Errors
///
/// Returns [`ObjectError`] if the file is not an ELF executable for the Z80, is damaged, or passes
/// address FFFFH.
pub fn read_executable(data: &[u8]) -> Result<Executable, ObjectError> {
    let wrong = |error: object::read::Error| ObjectError::Format(error.to_string());
    let file = ElfFile::<FileHeader32<Endianness>>::parse(data).map_err(wrong)?;
    let header = file.elf_header();
    let endian = file.endian();
    let kind = (header.e_machine.get(endian), header.e_type.get(endian), endian);
    if kind != (elf::EM_Z80, elf::ET_EXEC, Endianness::Little) {
        return Err(ObjectError::NotExecutable);
    }
    let mut runs = Vec::new();
    for segment in file.segments() {
        let bytes = segment.data().map_err(wrong)?.to_vec();
        let address = u64::from(segment.elf_program_header().p_paddr.get(endian));
        match u16::try_from(address) {
            Ok(first) if address + bytes.len() as u64 <= 0x1_0000 => {
                runs.push(Run { address: first, bytes });
            }
            _ => return Err(ObjectError::TooHigh(address)),
        }
    }
    let places = file.symbols().filter(|one| matches!(one.section(), SymbolSection::Section(_)));
    let symbols = places
        .filter(|symbol| symbol.kind() != object::SymbolKind::Section)
        .filter_map(|symbol| {
            let address = u16::try_from(symbol.address()).ok()?;
            Some((address, symbol.name().ok()?.to_owned()))
        })
        .collect();
    let entry = u16::try_from(file.entry()).ok().filter(|entry| *entry != 0);
    Ok(Executable { image: Image::new(runs), symbols, entry })
}
