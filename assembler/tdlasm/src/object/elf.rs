//! Names and numbers of the Z80 ELF ABI, which reading and writing share.

use object::elf;
use object::write::StringId;
use object::write::elf::{FileHeader, SectionHeader, SinglePhase, Sym, Writer};

use crate::module::{RelocKind, SectionKind};

/// `e_flags` of plain Z80 code: EF_Z80_MACH_Z80 in binutils' `include/elf/z80.h`.
const FLAGS_Z80: u32 = 1;

pub(super) const TDL_SECTION: &str = ".tdl";

/// The relocation types of binutils' `include/elf/z80.h`.
pub(super) const RELOCATIONS: [(RelocKind, u32); 6] = [
    (RelocKind::Abs8, 1),
    (RelocKind::Disp8, 2),
    (RelocKind::Rel8, 3),
    (RelocKind::Word, 4),
    (RelocKind::Low, 7),
    (RelocKind::High, 8),
];

/// Returns the difference between an ELF addend and a module's: `R_Z80_8_PCREL` is relative to the
/// field, `Rel8` to the byte after it.
pub(super) fn addend_bias(kind: RelocKind) -> i64 {
    if kind == RelocKind::Rel8 { -1 } else { 0 }
}

pub(super) fn section_kind(name: &str) -> Option<SectionKind> {
    match name.starts_with(".abs.") {
        true => Some(SectionKind::Absolute),
        false => SectionKind::from_name(name).filter(|kind| kind.elf_name() == name),
    }
}

/// Returns the header of a file of this type.
pub(super) fn file_header(e_type: elf::FileType, entry: u16) -> FileHeader {
    FileHeader {
        os_abi: elf::ELFOSABI_NONE,
        abi_version: 0,
        e_type,
        e_machine: elf::EM_Z80,
        e_entry: entry.into(),
        e_flags: elf::FileFlags(FLAGS_Z80),
    }
}

/// Writes the content of a section that is not loaded, and returns its header.
pub(super) fn write_data(writer: &mut Writer<'_, SinglePhase>, bytes: &[u8]) -> SectionHeader {
    let offset = writer.write_align(1);
    writer.write(bytes);
    plain_section(offset, bytes.len() as u64)
}

/// Writes the names that were added, and the headers of the sections.
pub(super) fn write_section_headers(
    writer: &mut Writer<'_, SinglePhase>,
    headers: &[(StringId, SectionHeader)],
) {
    // The sizes fit, so writing to memory cannot fail.
    let _ = writer.write_shstrtab();
    writer.write_null_section_header();
    for (name, header) in headers {
        let sh_name = writer.section_name_offset(Some(*name));
        writer.write_section_header(&SectionHeader { sh_name, ..header.clone() });
    }
}

/// Returns the header of a section that is not loaded. Its name is known when all are written.
pub(super) fn plain_section(sh_offset: u64, sh_size: u64) -> SectionHeader {
    let sh_type = elf::SHT_PROGBITS;
    SectionHeader { sh_type, sh_offset, sh_size, sh_addralign: 1, ..SectionHeader::default() }
}

/// Returns an entry of the symbol table with a value and no size.
pub(super) fn symbol(section: Option<u32>, info: elf::SymbolInfo, value: u16) -> Sym {
    Sym {
        section,
        st_name: 0,
        st_info: info,
        st_other: elf::SymbolOther(0),
        st_shndx: elf::SymbolSection(0),
        st_value: value.into(),
        st_size: 0,
    }
}
