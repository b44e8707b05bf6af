//! Modules in source order, as TDL objects and TDL listings show them.

use smol_str::SmolStr;

use super::{Module, ObjectForm, Place};

/// A number and its relocation base: 0 for none, 1 `.PROG.`, 2 `.DATA.`, 3 `.BLNK.`, and from 4 on
/// the externals in the order of their declaration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RelocValue {
    /// The number, as if every section began at 0.
    pub number: u16,
    /// The relocation base.
    pub base: u32,
}

/// A module in the order in which it was assembled.
///
/// [`Module::sections`](super::Module::sections) contains the same code sorted by address. The
/// records of a TDL object follow the source instead: a `.LOC` begins a new record, and later bytes
/// overwrite earlier ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceOrderModule {
    /// The operand of `.IDENT`.
    pub ident: Option<String>,
    /// The symbols in the order of their first definition or declaration, then undefined ones. Does
    /// not contain `..locals`.
    pub symbols: Vec<TableSymbol>,
    /// The code. A new chunk begins wherever the location counter was set or moved.
    pub code: Vec<CodeChunk>,
    /// High-water marks in bytes by base, 0..=65536. The entry for base 0 has no meaning.
    pub sizes: Vec<u32>,
    /// The operand of `.END`; absolute 0 if there is none.
    pub start: RelocValue,
    /// The form that the module's own directives select; `binary` has no meaning.
    pub form: ObjectForm,
    /// What PASM writes of the program; ZASM has no such record.
    pub program: Option<ProgramId>,
}

/// The operands of PASM's `.PROGID`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of the operands")]
pub struct ProgramId {
    pub name: Vec<u8>,
    pub version: u8,
    pub revision: u8,
}

impl SourceOrderModule {
    /// Returns the size of a base's section or area, 0 if it is empty.
    pub fn size(&self, base: u32) -> u32 {
        self.sizes.get(base as usize).copied().unwrap_or(0)
    }
}

/// A symbol of ZASM's symbol table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TableSymbol {
    /// The name in capitals.
    pub name: SmolStr,
    /// The value. For an external, its base and the size of its area.
    pub value: RelocValue,
    /// Whether it is declared external.
    pub external: bool,
    /// Whether it is exported.
    pub exported: bool,
    /// Whether it is a library entry point.
    pub entry: bool,
    /// Whether it has no definition.
    pub undefined: bool,
    /// Whether it has two different definitions.
    pub multiply_defined: bool,
}

/// Consecutive bytes of one base.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CodeChunk {
    /// The first byte's address.
    pub start: RelocValue,
    /// The bytes. Those under a relocated word or byte are 0.
    pub bytes: Vec<u8>,
    /// The relocated words in ascending order: the index of the first byte, and the value.
    pub words: Vec<(u32, RelocValue)>,
    /// The bytes that PASM relocates: the index, and the value whose low byte is meant.
    pub low_bytes: Vec<(u32, RelocValue)>,
}

impl CodeChunk {
    /// Returns what is relocated: the words, then the bytes.
    pub(crate) fn words_and_bytes(&self) -> impl Iterator<Item = &(u32, RelocValue)> {
        self.words.iter().chain(&self.low_bytes)
    }
}

/// Error returned by [`Module::check_areas`]: an external area that is not only reserved. TDL
/// objects can contain such areas; ELF objects and the linker cannot.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AreaError {
    /// The area contains bytes.
    #[error(
        "module {module} puts bytes into the area of {symbol}{}, which is external: \
         reserve it with .BLKB, or write a TDL object (.rel)", declared(.place)
    )]
    Filled {
        /// The module's name.
        module: String,
        /// The external.
        symbol: String,
        /// The source line of the declaration.
        place: Option<Place>,
    },
    /// A symbol in the area is exported.
    #[error(
        "module {module} exports {symbol}, which moves with an external: \
         export the external itself, or write a TDL object (.rel)"
    )]
    Exported {
        /// The module's name.
        module: String,
        /// The exported symbol.
        symbol: String,
    },
}

fn declared(place: &Option<Place>) -> String {
    place.as_ref().map_or(String::new(), |place| format!(" ({}:{})", place.file, place.line))
}

impl Module {
    /// Checks that external areas are only reserved, as ELF objects and the linker require.
    ///
    /// # Errors
    ///
    /// Returns [`AreaError`] for the first area that contains bytes or an exported symbol.
    pub fn check_areas(&self) -> Result<(), AreaError> {
        let Some(assembled) = &self.source_order else { return Ok(()) };
        let externals = || assembled.symbols.iter().filter(|symbol| symbol.external);
        let is_area = |base: u32| externals().any(|external| external.value.base == base);
        let module = || self.name.clone();
        for chunk in &assembled.code {
            let area = externals().find(|external| external.value.base == chunk.start.base);
            if let Some(external) = area {
                let known = self.symbols.iter().find(|symbol| symbol.name == external.name);
                let place = known.and_then(|symbol| symbol.place.clone());
                let symbol = external.name.to_string();
                return Err(AreaError::Filled { module: module(), symbol, place });
            }
        }
        let mut exported = assembled.symbols.iter().filter(|one| one.exported && !one.external);
        match exported.find(|one| is_area(one.value.base)) {
            Some(one) => {
                Err(AreaError::Exported { module: module(), symbol: one.name.to_string() })
            }
            None => Ok(()),
        }
    }
}
