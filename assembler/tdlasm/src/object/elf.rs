//! Names and numbers of the Z80 ELF ABI, which reading and writing share.

use crate::module::{RelocKind, SectionKind};

/// `e_flags` of plain Z80 code: EF_Z80_MACH_Z80 in binutils' `include/elf/z80.h`.
pub(super) const FLAGS_Z80: u32 = 1;

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

pub(super) fn section_name(kind: SectionKind) -> &'static str {
    match kind {
        SectionKind::Absolute => ".abs",
        SectionKind::Prog => ".text",
        SectionKind::Data => ".data",
        SectionKind::Blank => ".bss",
    }
}

pub(super) fn section_kind(name: &str) -> Option<SectionKind> {
    match name {
        ".text" => Some(SectionKind::Prog),
        ".data" => Some(SectionKind::Data),
        ".bss" => Some(SectionKind::Blank),
        _ if name.starts_with(".abs.") => Some(SectionKind::Absolute),
        _ => None,
    }
}
