//! Assembled modules: the data that the assembler produces and that object files contain.

mod overlay;
mod source_order;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

pub(crate) use overlay::Overlay;
pub use source_order::{
    AreaError, CodeChunk, ProgramId, RelocValue, SourceOrderModule, TableSymbol,
};

/// An assembled module.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Module {
    /// The name from `.IDENT`, or the file stem of the source.
    pub name: String,
    /// The sections that are not empty, at most one of each kind.
    pub sections: Vec<Section>,
    /// Every symbol of the source except `..locals`. Shared, since programs have many symbols.
    pub symbols: Arc<Vec<Symbol>>,
    /// The start address, from the operand of `.END`.
    pub start: Option<Target>,
    /// The line table. Empty unless [`Options::lines`](crate::Options::lines) was set.
    pub lines: Lines,
    /// The module in source order, for [`write_tdl`](crate::object::write_tdl). `None` if the
    /// module was read from an ELF object. Code that changes a module must set this to `None`.
    pub source_order: Option<Arc<SourceOrderModule>>,
}

impl Module {
    /// Returns the module's section of a kind.
    pub fn section(&self, kind: SectionKind) -> Option<&Section> {
        self.sections.iter().find(|section| section.kind == kind)
    }
}

/// The number of the first external as a relocation base; smaller numbers are sections.
pub(crate) const FIRST_EXTERNAL: u8 = 4;

/// A section, which is an address space of its own until it is placed.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum SectionKind {
    /// Absolute code; the offsets of its runs are addresses.
    #[default]
    Absolute,
    /// `.PROG.`, in ELF `.text`.
    Prog,
    /// `.DATA.`, in ELF `.data`.
    Data,
    /// `.BLNK.`, in ELF `.bss`.
    Blank,
}

impl SectionKind {
    /// All kinds, by their [`base`](Self::base).
    pub(crate) const ALL: [Self; 4] = [Self::Absolute, Self::Prog, Self::Data, Self::Blank];

    /// Returns the number of the section as a relocation base, as in [`RelocValue::base`].
    pub(crate) fn base(self) -> u8 {
        self as u8
    }

    /// Returns the section with this number as a relocation base.
    pub(crate) fn from_base(base: u32) -> Option<Self> {
        Self::ALL.get(base as usize).copied()
    }

    /// The names in TDL source, where absolute code has none, and in ELF, by their [`base`](Self::base).
    const NAMES: [(&str, &str); 4] =
        [("absolute code", ".abs"), (".PROG.", ".text"), (".DATA.", ".data"), (".BLNK.", ".bss")];

    /// Returns the name in TDL source; absolute code has none.
    #[must_use]
    pub fn tdl_name(self) -> &'static str {
        Self::NAMES[self as usize].0
    }

    /// Returns the name in ELF; absolute code has a section for each run.
    pub(crate) fn elf_name(self) -> &'static str {
        Self::NAMES[self as usize].1
    }

    /// Returns the relocatable section with a TDL or ELF name, such as `.PROG.` or `.text`.
    pub fn from_name(name: &str) -> Option<Self> {
        let is_named = |kind: &Self| [kind.tdl_name(), kind.elf_name()].contains(&name);
        Self::ALL.into_iter().skip(1).find(is_named)
    }
}

/// The contents of a section. Bytes that no run covers are reserved space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// The kind of section.
    pub kind: SectionKind,
    /// The high-water mark in bytes, 0..=65536.
    pub size: u32,
    /// The written bytes, sorted by offset and not overlapping.
    pub runs: Vec<SectionRun>,
    /// The fields to patch when the section is placed, sorted by offset.
    pub relocs: Vec<Reloc>,
}

/// Consecutive bytes of a section. Bytes under a relocation hold 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SectionRun {
    /// The distance from the start of the section; the address in [`SectionKind::Absolute`].
    pub offset: u16,
    /// The bytes.
    pub bytes: Vec<u8>,
}

impl SectionRun {
    /// Returns the offset after the last byte.
    pub fn end(&self) -> u32 {
        u32::from(self.offset) + self.bytes.len() as u32
    }
}

/// A field whose value is known only when the sections are placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reloc {
    /// The offset of the field, in the same terms as [`SectionRun::offset`].
    pub offset: u16,
    /// The encoding of the field.
    pub kind: RelocKind,
    /// The value of the field.
    pub target: Target,
}

/// The encodings of a relocated field, with the relocation types of the Z80 ELF ABI.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RelocKind {
    /// One byte: the value (`R_Z80_8`).
    Abs8,
    /// One byte: an index displacement (`R_Z80_8_DIS`).
    Disp8,
    /// One byte: the distance from the byte after the field (`R_Z80_8_PCREL`).
    Rel8,
    /// Two bytes, low byte first (`R_Z80_16`).
    Word,
    /// The low byte of the value (`R_Z80_BYTE0`).
    Low,
    /// The high byte of the value (`R_Z80_BYTE1`).
    High,
}

impl RelocKind {
    /// Returns the size of the field in bytes.
    pub fn size(self) -> usize {
        if self == Self::Word { 2 } else { 1 }
    }
}

/// A value `base + addend`, modulo 65536.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// The base.
    pub base: Base,
    /// The distance from the base.
    pub addend: i32,
}

/// The relocation base of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Base {
    /// None: the value is final.
    Absolute,
    /// The start of a section of this module.
    Section(SectionKind),
    /// A symbol, by its index in [`Module::symbols`].
    Symbol(usize),
}

/// A named value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// The name, in capitals.
    pub name: SmolStr,
    /// The value.
    pub value: SymbolValue,
    /// The visibility.
    pub binding: Binding,
    /// The source line of the definition or declaration.
    pub place: Option<Place>,
}

/// The value of a symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SymbolValue {
    /// Declared by `.EXTERN` and defined by another module.
    Undefined,
    /// An external area that `.LOC` extends, shared by modules.
    Common {
        /// The size in this module, in bytes.
        size: u16,
    },
    /// A plain number.
    Absolute(u16),
    /// An address in a section of this module; absolute in [`SectionKind::Absolute`].
    InSection(SectionKind, u16),
}

impl SymbolValue {
    /// Returns `true` if the symbol has no value of its own in this module.
    pub(crate) fn is_external(self) -> bool {
        matches!(self, Self::Undefined | Self::Common { .. })
    }
}

/// The visibility of a symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Binding {
    /// Visible in this module only.
    Local,
    /// Exported by `.INTERN` or `NAME::`. Externals are global as well.
    Global,
    /// Exported by `.ENTRY`: also selects its module from a library.
    Entry,
}

/// A line of a source file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file name, as given by the caller.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: u32,
}

/// A line table: which source line produced which bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lines {
    /// The file names, as given by the caller.
    pub files: Vec<Arc<str>>,
    /// The rows, in the order of assembly.
    pub rows: Vec<LineRow>,
}

impl Lines {
    /// Returns the source line of a row.
    ///
    /// # Panics
    ///
    /// Panics if the row is not from this table.
    pub fn place(&self, row: &LineRow) -> Place {
        Place { file: Arc::clone(&self.files[row.file as usize]), line: row.line }
    }

    /// Returns the index of a file, which is added if it is a new one.
    pub(crate) fn file_index(&mut self, name: &Arc<str>) -> u32 {
        let index = Self::index_among(&self.files, name);
        if index as usize == self.files.len() {
            self.files.push(Arc::clone(name));
        }
        index
    }

    /// Returns the index of a file among others, or the first unused index.
    pub(crate) fn index_among(files: &[Arc<str>], name: &Arc<str>) -> u32 {
        let known = files.iter().rposition(|file| Arc::ptr_eq(file, name) || file == name);
        known.unwrap_or(files.len()) as u32
    }
}

/// Consecutive bytes of a section that one source line produced.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineRow {
    /// The section.
    pub section: SectionKind,
    /// The offset of the first byte, in the same terms as [`SectionRun::offset`].
    pub offset: u16,
    /// The number of bytes, at least 1.
    pub size: u32,
    /// The index of the file in [`Lines::files`].
    pub file: u32,
    /// The line. For code from a macro, the line of the outermost call.
    pub line: u32,
    /// `true` for an instruction, `false` for data.
    pub is_code: bool,
}

/// The form of a TDL object file, or of a module in it, as the source selects it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ObjectForm {
    /// Plain bytes (`.PBIN`) instead of hexadecimal digits (`.PHEX`).
    pub binary: bool,
    /// Code as Intel HEX (`.PABS`) instead of relocatable code (`.PREL`).
    pub hex: bool,
    /// Include names and sizes (`.LINK`) instead of code only (`.XLINK`).
    pub linkage: bool,
    /// Include all symbols (`.PSYM`) instead of exported ones only (`.XPSYM`).
    pub symbols: bool,
}

impl Default for ObjectForm {
    fn default() -> Self {
        Self { binary: false, hex: false, linkage: true, symbols: false }
    }
}
