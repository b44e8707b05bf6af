//! One assembled module: the data that the assembler produces and that object files hold.

mod assembled;
mod rows;

use std::sync::Arc;

use smol_str::SmolStr;

pub use assembled::{AreaError, Assembled, Listed, Stretch, TableSymbol};
pub use rows::Rows;
pub(crate) use rows::{KINDS, ROW_BYTES, Told, number_of};

/// One assembled module: what an object file holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Module {
    /// The name that `.IDENT` gave, or the source file's stem.
    pub name: String,
    /// The sections that hold something, at most one of each kind.
    pub sections: Vec<Section>,
    /// Every symbol of the source except `..locals`.
    pub symbols: Arc<Vec<Symbol>>,
    /// The operand of `.END`.
    pub start: Option<Target>,
    /// Which line made which bytes; empty unless it was asked for.
    pub lines: Lines,
    /// The same in the order of the source, for [`write_tdl`](crate::object::write_tdl); `None` if
    /// the module was read from a file, or the options left it out. Code that changes a module sets
    /// it to `None`.
    pub assembled: Option<Arc<Assembled>>,
}

impl Module {
    /// The module's section of a kind, if it holds anything.
    #[must_use]
    pub fn section(&self, kind: SectionKind) -> Option<&Section> {
        self.sections.iter().find(|section| section.kind == kind)
    }
}

/// The address space of a section until it is placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SectionKind {
    /// Fixed addresses; the runs' offsets are addresses.
    Absolute,
    /// `.PROG.`, in ELF `.text`.
    Prog,
    /// `.DATA.`, in ELF `.data`.
    Data,
    /// `.BLNK.`, in ELF `.bss`.
    Blank,
}

impl SectionKind {
    /// The name that TDL source uses; absolute code has none.
    #[must_use]
    pub fn tdl_name(self) -> &'static str {
        match self {
            Self::Absolute => "absolute code",
            Self::Prog => ".PROG.",
            Self::Data => ".DATA.",
            Self::Blank => ".BLNK.",
        }
    }

    /// The relocatable section of a TDL or ELF name, such as `.PROG.` or `.text`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            ".PROG." | ".text" => Some(Self::Prog),
            ".DATA." | ".data" => Some(Self::Data),
            ".BLNK." | ".bss" => Some(Self::Blank),
            _ => None,
        }
    }
}

/// The content of one section; bytes that no run covers were reserved, not written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Which section this is.
    pub kind: SectionKind,
    /// High-water mark in bytes, 0..=65536.
    pub size: u32,
    /// The written bytes: sorted by offset, not overlapping.
    pub runs: Vec<Run>,
    /// The fields to patch when the section is placed, sorted by offset.
    pub relocs: Vec<Reloc>,
}

/// Consecutive bytes of a section. Bytes under a relocation hold 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// Distance from the section's start; the address in [`SectionKind::Absolute`].
    pub offset: u16,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// A field whose value is known only when the sections are placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reloc {
    /// The start of the field, in the terms of [`Run::offset`].
    pub offset: u16,
    /// The field's form.
    pub kind: RelocKind,
    /// The value to put there.
    pub target: Target,
}

/// The forms of a relocated field; the names in brackets are those of the Z80 ELF ABI.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RelocKind {
    /// One byte, the value itself (`R_Z80_8`).
    Abs8,
    /// One byte, an index displacement (`R_Z80_8_DIS`).
    Disp8,
    /// One byte, measured from the byte after the field (`R_Z80_8_PCREL`).
    Rel8,
    /// Two bytes, low byte first (`R_Z80_16`).
    Word,
    /// The low byte of the value (`R_Z80_BYTE0`).
    Low,
    /// The high byte of the value (`R_Z80_BYTE1`).
    High,
}

/// A value `base + addend`, modulo 65536.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    /// The base that the value moves with.
    pub base: Base,
    /// The distance from the base.
    pub addend: i32,
}

/// The base that a relocatable value moves with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Base {
    /// Nothing: the value is final.
    Absolute,
    /// The place of a section of this module.
    Section(SectionKind),
    /// A symbol, by its index in [`Module::symbols`].
    Symbol(usize),
}

/// A named value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// The name, in capitals.
    pub name: SmolStr,
    /// The meaning of the name.
    pub value: SymbolValue,
    /// The modules that see it.
    pub binding: Binding,
    /// The place of the definition or declaration in the source.
    pub place: Option<Place>,
}

/// The meaning of a symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SymbolValue {
    /// Declared by `.EXTERN`; another module defines it.
    Undefined,
    /// An external area that `.LOC` continued; modules share it.
    Common {
        /// Its size here, in bytes.
        size: u16,
    },
    /// A plain number.
    Absolute(u16),
    /// A place in a section of this module; in [`SectionKind::Absolute`] the number is the address.
    InSection(SectionKind, u16),
}

/// The modules that see a symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Binding {
    /// This module alone.
    Local,
    /// Exported by `.INTERN` or `NAME::`; an external is global as well.
    Global,
    /// Exported by `.ENTRY`: pulls its module out of a library.
    Entry,
}

/// A line of a source file, for map files and messages about symbols.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file as it was named.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: u32,
}

/// Which line of which file made which bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lines {
    /// The files, as they were named.
    pub files: Vec<Arc<str>>,
    /// The lines, in the order of assembly.
    pub rows: Rows,
}

impl Lines {
    /// Returns the place of a row.
    ///
    /// # Panics
    /// If the row is none of these lines.
    #[must_use]
    pub fn place(&self, row: &LineRow) -> Place {
        Place { file: Arc::clone(&self.files[row.file as usize]), line: row.line }
    }
}

/// Files as they come to be numbered.
#[derive(Debug, Default)]
pub(crate) struct Files {
    /// The names, by number.
    pub(crate) names: Vec<Arc<str>>,
    last: u32,
}

impl Files {
    /// Returns the number of a file, which is added if it is new.
    pub(crate) fn number(&mut self, name: &Arc<str>) -> u32 {
        // Most lines are of the file of the line before, however many files there are.
        if self.names.get(self.last as usize).is_some_and(|last| Arc::ptr_eq(last, name)) {
            return self.last;
        }
        self.last = number_among(&self.names, name);
        if self.last as usize == self.names.len() {
            self.names.push(Arc::clone(name));
        }
        self.last
    }
}

/// Returns the number of a file among others, or the first one that is free.
pub(crate) fn number_among(files: &[Arc<str>], name: &Arc<str>) -> u32 {
    let known = files.iter().rposition(|file| Arc::ptr_eq(file, name) || file == name);
    known.unwrap_or(files.len()) as u32
}

/// Consecutive bytes of a section that one line of source made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineRow {
    /// The place of the bytes.
    pub section: SectionKind,
    /// The first one, in the terms of [`Run::offset`].
    pub offset: u16,
    /// The number, at least 1.
    pub size: u32,
    /// The file, by its number in [`Lines::files`].
    pub file: u32,
    /// The line of the file, an inserted one too; for what a macro made, that of the outermost
    /// call.
    pub line: u32,
    /// Whether they are an instruction, not data.
    pub is_code: bool,
}

/// The way a TDL object file is written; the source's own directives decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ObjectForm {
    /// Plain bytes (`.PBIN`), not hexadecimal digits (`.PHEX`).
    pub binary: bool,
    /// Code as Intel HEX (`.PABS`), not with its relocations (`.PREL`).
    pub hex: bool,
    /// With names and sizes (`.LINK`), not with the code alone (`.XLINK`).
    pub linkage: bool,
    /// With all symbols (`.PSYM`), not with those that modules share alone (`.XPSYM`).
    pub symbols: bool,
}

impl Default for ObjectForm {
    fn default() -> Self {
        Self { binary: false, hex: false, linkage: true, symbols: false }
    }
}
