//! Writes linked programs as ELF executables.

use object::write::elf::{ProgramHeader, SectionHeader, SinglePhase, Sym, Writer};
use object::{Endianness, elf};

use super::dwarf::debug_sections;
use super::elf::{file_header, symbol as elf_symbol, write_data, write_section_headers};
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
    let mut headers = Vec::new();
    for run in program.image.runs() {
        let plain = write_data(&mut writer, &run.bytes);
        let sh_flags = elf::SHF_ALLOC | elf::SHF_EXECINSTR;
        let header = SectionHeader { sh_flags, sh_addr: run.address.into(), ..plain };
        headers.push(header);
    }
    let loads: Vec<ProgramHeader> = headers.iter().map(load).collect();
    let debug = debug_sections(program);
    headers.extend(debug.iter().map(|(_, data)| write_data(&mut writer, data)));
    let locals = write_symbols(&mut writer, program);
    let names = names.iter().map(String::as_str).chain(debug.iter().map(|(name, _)| *name));
    let names = names.map(|name| writer.add_section_name(name.as_bytes()));
    let headers: Vec<_> = names.zip(headers).collect();
    let _ = writer.write_strtab();
    write_section_headers(&mut writer, &headers);
    // The header of the symbol table contains the index of its string table.
    writer.write_strtab_section_header();
    writer.write_symtab_section_header(locals);
    writer.write_shstrtab_section_header();
    let _ = writer.write_headers_to(&mut header, &loads);
    drop(writer);
    buffer[..header.len()].copy_from_slice(&header);
    buffer
}

fn load(section: &SectionHeader) -> ProgramHeader {
    ProgramHeader {
        p_type: elf::PT_LOAD,
        p_flags: elf::PF_R | elf::PF_X,
        p_offset: section.sh_offset,
        p_vaddr: section.sh_addr,
        p_paddr: section.sh_addr,
        p_filesz: section.sh_size,
        p_memsz: section.sh_size,
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
