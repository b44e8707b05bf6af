//! Object files: [`Module`](crate::module::Module)s to ELF or TDL relocatable objects and back, and
//! executables.
//!
//! In ELF, `.PROG.` is `.text`, `.DATA.` is `.data`, `.BLNK.` is `.bss`, each flat from its start;
//! every run of absolute bytes is a section `.abs.XXXX` at its address. Relocations are those of
//! the Z80 ELF ABI as GNU binutils define them. The facts that ELF has no room for (which bytes of
//! a section were reserved only, library entry points, source places, the start address of a
//! relocatable module) is in a section `.tdl`, which other tools pass over.

mod dwarf;
mod executable;
mod load;
mod notes;
mod read;
mod tdl;
mod write;

pub use executable::write_executable;
pub use load::{Executable, read_executable};
pub use read::{ObjectError, read_modules, read_object};
pub(crate) use tdl::looks_like_tdl;
pub use tdl::{TdlError, TdlProblem, TdlWriteError, read_tdl, tdl_losses, write_tdl};
pub use write::write_object;

use crate::module::{RelocKind, SectionKind};

/// `e_flags` of plain Z80 code: EF_Z80_MACH_Z80 in binutils' `include/elf/z80.h`.
const FLAGS_Z80: u32 = 1;

/// The section that holds what ELF has no room for.
const NOTES: &str = ".tdl";

/// The relocation numbers of binutils' `include/elf/z80.h`.
const RELOCATIONS: [(RelocKind, u32); 6] = [
    (RelocKind::Abs8, 1),
    (RelocKind::Disp8, 2),
    (RelocKind::Rel8, 3),
    (RelocKind::Word, 4),
    (RelocKind::Low, 7),
    (RelocKind::High, 8),
];

/// The excess of an ELF addend over ours: `R_Z80_8_PCREL` counts from the field, `Rel8` from the
/// byte after it.
fn addend_bias(kind: RelocKind) -> i64 {
    if kind == RelocKind::Rel8 { -1 } else { 0 }
}

/// The name of a section in ELF.
fn section_name(kind: SectionKind) -> &'static str {
    match kind {
        SectionKind::Absolute => ".abs",
        SectionKind::Prog => ".text",
        SectionKind::Data => ".data",
        SectionKind::Blank => ".bss",
    }
}

/// The section that an ELF name means, if it is one of ours.
fn section_kind(name: &str) -> Option<SectionKind> {
    match name {
        ".text" => Some(SectionKind::Prog),
        ".data" => Some(SectionKind::Data),
        ".bss" => Some(SectionKind::Blank),
        _ if name.starts_with(".abs.") => Some(SectionKind::Absolute),
        _ => None,
    }
}
