//! Reads ELF executables for the Z80, for the disassembler: image, entry point and symbols.

#![deny(clippy::cast_possible_truncation)]

use object::elf::{self, FileHeader32};
use object::read::elf::{ElfFile, SectionHeader as _};
use object::{Endianness, Object, ObjectSection, ObjectSegment, ObjectSymbol, SymbolSection};

use super::ObjectError;
use crate::image::{Image, ImageRun};

/// The contents of an executable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Executable {
    /// The bytes that are loaded, at their load addresses.
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
/// Returns [`ObjectError`] if the file is not an ELF executable for the Z80, is damaged, passes
/// address FFFFH, or has two bytes for an address.
pub fn read_executable(data: &[u8]) -> Result<Executable, ObjectError> {
    let file = ElfFile::<FileHeader32<Endianness>>::parse(data)?;
    let header = file.elf_header();
    let endian = file.endian();
    let kind = (header.e_machine.get(endian), header.e_type.get(endian), endian);
    if kind != (elf::EM_Z80, elf::ET_EXEC, Endianness::Little) {
        return Err(ObjectError::NotExecutable);
    }
    let image = image(&file)?;
    let places = file.symbols().filter(|one| matches!(one.section(), SymbolSection::Section(_)));
    let symbols = places
        .filter(|symbol| symbol.kind() != object::SymbolKind::Section)
        .map(|symbol| {
            let address = symbol.address();
            let address = u16::try_from(address).map_err(|_| ObjectError::TooHigh(address))?;
            Ok((address, symbol.name()?.to_owned()))
        })
        .collect::<Result<_, ObjectError>>()?;
    let entry = u16::try_from(file.entry()).ok().filter(|entry| *entry != 0);
    Ok(Executable { image, symbols, entry })
}

/// Returns the bytes of the sections that are loaded; of the segments, if there are no sections.
///
/// The segments of GNU ld contain more: by default the first begins with the header of the file, at
/// the address 0 if `-Ttext` is below 64 KiB.
fn image(file: &ElfFile<'_, FileHeader32<Endianness>>) -> Result<Image, ObjectError> {
    let endian = file.endian();
    let mut pieces: Vec<(u64, &[u8])> = Vec::new();
    for section in file.sections() {
        let header = section.elf_section_header();
        let is_loaded = header.sh_flags(endian).contains(elf::SHF_ALLOC);
        if is_loaded && let Some((offset, _)) = section.file_range() {
            let address = load_address(file, offset).unwrap_or(section.address());
            pieces.push((address, section.data()?));
        }
    }
    if pieces.is_empty() {
        for segment in file.segments() {
            let address = segment.elf_program_header().p_paddr.get(endian);
            pieces.push((address.into(), segment.data()?));
        }
    }
    pieces.retain(|(_, bytes)| !bytes.is_empty());
    pieces.sort_by_key(|(address, _)| *address);
    let mut runs: Vec<ImageRun> = Vec::new();
    for (address, bytes) in pieces {
        let fits = address + bytes.len() as u64 <= 0x1_0000;
        let first = u16::try_from(address).ok().filter(|_| fits);
        let first = first.ok_or(ObjectError::TooHigh(address))?;
        if runs.last().is_some_and(|last| last.end() > first.into()) {
            return Err(ObjectError::Overlap(first));
        }
        runs.push(ImageRun { address: first, bytes: bytes.to_vec() });
    }
    Ok(Image::new(runs))
}

/// Returns where a byte of the file is loaded, before the program moves any.
fn load_address(file: &ElfFile<'_, FileHeader32<Endianness>>, offset: u64) -> Option<u64> {
    file.segments().find_map(|segment| {
        let (start, size) = segment.file_range();
        let within = offset.checked_sub(start).filter(|within| *within < size)?;
        let address = segment.elf_program_header().p_paddr.get(file.endian());
        Some(u64::from(address) + within)
    })
}
