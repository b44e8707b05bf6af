//! Writes linked programs as ELF executables.

use object::write::elf::{ProgramHeader, SectionHeader, SinglePhase, Sym, Writer};
use object::{Endianness, elf};

use super::dwarf::debug_sections;
use super::elf::{file_header, plain_section, symbol as elf_symbol};
use crate::image::ImageRun;
use crate::link::Program;
use crate::module::Binding;

/// Returns an ELF executable: one segment and one section for each run of the image, the symbols,
/// and DWARF if the program has a line table.
pub fn write_executable(program: &Program) -> Vec<u8> {
    let names: Vec<String> =
        program.image.runs().iter().map(|run| format!(".mem.{:04X}", run.address)).collect();
    let mut buffer = Vec::new();
    let mut header = Vec::new();
    let mut writer = Writer::new_single_phase(Endianness::Little, false, &mut buffer);
    // The sizes fit, so writing to memory cannot fail.
    let entry = program.entry.unwrap_or(0);
    let _ = writer.write_file_header(&file_header(elf::ET_EXEC, entry));
    // Program headers precede the data but contain its offsets: they are reserved here and written
    // at the end.
    writer.write_program_headers_placeholder(names.len() as u32);
    let mut segments = Vec::new();
    for run in program.image.runs() {
        let offset = write_data(&mut writer, &run.bytes);
        segments.push((offset, u64::from(run.address), run.bytes.len() as u64));
    }
    let debug = debug_sections(program);
    let debug_at: Vec<u64> = debug.iter().map(|(_, data)| write_data(&mut writer, data)).collect();
    let locals = write_symbols(&mut writer, program);
    let ids: Vec<_> = names.iter().map(|name| writer.add_section_name(name.as_bytes())).collect();
    let debug_ids: Vec<_> =
        debug.iter().map(|(name, _)| writer.add_section_name(name.as_bytes())).collect();
    let _ = writer.write_strtab();
    let _ = writer.write_shstrtab();
    writer.write_null_section_header();
    for (id, (sh_offset, sh_addr, sh_size)) in ids.into_iter().zip(&segments) {
        let sh_name = writer.section_name_offset(Some(id));
        let sh_addr = *sh_addr;
        let sh_offset = *sh_offset;
        let sh_size = *sh_size;
        let sh_flags = elf::SHF_ALLOC | elf::SHF_EXECINSTR;
        let plain = plain_section(sh_name, sh_offset, sh_size);
        writer.write_section_header(&SectionHeader { sh_flags, sh_addr, ..plain });
    }
    for ((id, sh_offset), (_, data)) in debug_ids.into_iter().zip(debug_at).zip(&debug) {
        let sh_name = writer.section_name_offset(Some(id));
        writer.write_section_header(&plain_section(sh_name, sh_offset, data.len() as u64));
    }
    // The header of the symbol table contains the index of its string table.
    writer.write_strtab_section_header();
    writer.write_symtab_section_header(locals);
    writer.write_shstrtab_section_header();
    let loads: Vec<ProgramHeader> = segments.into_iter().map(load).collect();
    let _ = writer.write_headers_to(&mut header, &loads);
    drop(writer);
    buffer[..header.len()].copy_from_slice(&header);
    buffer
}

/// Writes bytes and returns their offset.
fn write_data(writer: &mut Writer<'_, SinglePhase>, bytes: &[u8]) -> u64 {
    let offset = writer.write_align(1);
    writer.write(bytes);
    offset
}

fn load((offset, address, size): (u64, u64, u64)) -> ProgramHeader {
    ProgramHeader {
        p_type: elf::PT_LOAD,
        p_flags: elf::PF_R | elf::PF_X,
        p_offset: offset,
        p_vaddr: address,
        p_paddr: address,
        p_filesz: size,
        p_memsz: size,
        p_align: 1,
    }
}

/// Returns the index of the section that contains an address.
fn section_of(program: &Program, address: u16) -> Option<u32> {
    let within = |run: &ImageRun| (u32::from(run.address)..run.end()).contains(&u32::from(address));
    program.image.runs().iter().position(within).map(|at| at as u32 + 1)
}

/// Writes all symbols, local ones first, and returns the number of local ones. Symbols that are not
/// the address of a byte of the program are absolute.
fn write_symbols<'a>(writer: &mut Writer<'a, SinglePhase>, program: &'a Program) -> u32 {
    writer.write_null_symbol();
    let mut locals = 1;
    for local in [true, false] {
        for symbol in program.symbols.iter().filter(|one| (one.binding == Binding::Local) == local)
        {
            let name = writer.add_string(symbol.name.as_bytes());
            let section = if symbol.is_address { section_of(program, symbol.value) } else { None };
            let binding = if local { elf::STB_LOCAL } else { elf::STB_GLOBAL };
            let info = elf::SymbolInfo::new(binding, elf::STT_NOTYPE);
            let st_shndx = if section.is_some() { elf::SymbolSection(0) } else { elf::SHN_ABS };
            let st_name = writer.string_offset(Some(name));
            let sym = Sym { st_name, st_shndx, ..elf_symbol(section, info, symbol.value) };
            writer.write_symbol(&sym);
            locals += u32::from(local);
        }
    }
    locals
}
