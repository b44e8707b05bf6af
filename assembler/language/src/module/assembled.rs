//! A module in the order of its source, as TDL's own objects and listings show it.

use smol_str::SmolStr;

use super::{Module, Place};

/// A number and the relocation base that it moves with: 0 none, 1 `.PROG.`, 2 `.DATA.`, 3 `.BLNK.`,
/// and from 4 on the externals in the order of their declaration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Listed {
    /// The number, as if every section began at 0.
    pub number: u16,
    /// The base that it moves with.
    pub base: u32,
}

/// A module in the order in which it was assembled.
///
/// [`Module::sections`](super::Module::sections) holds the same code sorted by address. The records
/// of a TDL object follow the source instead: a `.LOC` begins a new one, and later bytes overwrite
/// earlier ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Assembled {
    /// The operand of `.IDENT`.
    pub ident: Option<String>,
    /// The symbols in the order in which the source first mentions them, undefined ones too,
    /// `..locals` not.
    pub symbols: Vec<TableSymbol>,
    /// The code, a new stretch wherever the location counter was set or moved.
    pub code: Vec<Stretch>,
    /// High-water marks in bytes by base, 0..=65536; that of base 0 has no meaning.
    pub sizes: Vec<u32>,
    /// The operand of `.END`, absolute 0 if there is none.
    pub start: Listed,
}

impl Assembled {
    /// The size of a base's section or area, 0 if nothing was put there.
    #[must_use]
    pub fn size(&self, base: u32) -> u32 {
        self.sizes.get(base as usize).copied().unwrap_or(0)
    }
}

/// A symbol of the table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TableSymbol {
    /// The name in capitals.
    pub name: SmolStr,
    /// The value; of an external its base and the size of its area.
    pub value: Listed,
    /// Whether it is declared external.
    pub external: bool,
    /// Whether other modules may use it.
    pub exported: bool,
    /// Whether it pulls its module out of a library.
    pub entry: bool,
    /// Whether no definition was found.
    pub undefined: bool,
    /// Whether two definitions disagree.
    pub doubled: bool,
}

/// Consecutive bytes of one base.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stretch {
    /// The first byte's address.
    pub start: Listed,
    /// The bytes; those under a relocated word hold 0.
    pub bytes: Vec<u8>,
    /// The relocated words in ascending order: the index of the first byte, and the value.
    pub words: Vec<(u32, Listed)>,
}

/// Error for an external area that a module does more with than reserve room: TDL's own objects
/// hold that, neither ELF objects nor the linker do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AreaError {
    /// Bytes in the area.
    #[error(
        "module {module} puts bytes into the area of {symbol}{}, which is external: \
         reserve it with .BLKB, or write a TDL object (.rel)", declared(.place)
    )]
    Filled {
        /// The module's name.
        module: String,
        /// The external.
        symbol: String,
        /// The place of the declaration.
        place: Option<Place>,
    },
    /// An exported place in the area.
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
    /// Checks that external areas are only reserved, as ELF objects and the linker need it.
    ///
    /// # Errors
    /// Returns the first area that the module fills or exports a place of.
    pub fn check_areas(&self) -> Result<(), AreaError> {
        let Some(assembled) = &self.assembled else { return Ok(()) };
        let externals = || assembled.symbols.iter().filter(|symbol| symbol.external);
        let is_area = |base: u32| externals().any(|external| external.value.base == base);
        let module = || self.name.clone();
        for stretch in &assembled.code {
            let area = externals().find(|external| external.value.base == stretch.start.base);
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
