//! The symbol table of a linked program. The symbols of modules are shared instead of copied, since
//! programs have hundreds of thousands of them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use smol_str::SmolStr;

use super::error::{Errors, LinkError, Site};
use super::layout::Layout;
use super::placement::Placement;
use crate::module::{Base, Binding, Module, Place, SectionKind, Symbol, SymbolValue, Target};

/// A symbol with its final value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkedSymbol<'a> {
    /// The name, in capitals.
    pub name: &'a str,
    /// The address or number.
    pub value: u16,
    /// The module that defines it; `None` if the layout does.
    pub module: Option<&'a str>,
    /// Its visibility.
    pub binding: Binding,
    /// `true` for an address, `false` for a plain number.
    pub is_address: bool,
    /// The source line of the definition.
    pub place: Option<&'a Place>,
}

/// All symbols of a program, in the order of the modules.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SymbolTable {
    /// Symbols defined by the linker: the layout's symbols and the areas that modules share.
    linker_symbols: Vec<LinkerSymbol>,
    modules: Vec<ModuleSymbols>,
    exported: HashMap<SmolStr, Exported>,
}

/// A symbol that is not defined by a module.
#[derive(Debug, Clone, PartialEq, Eq)]
struct LinkerSymbol {
    name: SmolStr,
    value: u16,
    is_address: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct ModuleSymbols {
    name: String,
    symbols: Arc<Vec<Symbol>>,
    /// The addresses of `.PROG.`, `.DATA.` and `.BLNK.`.
    bases: [u16; 3],
}

/// An exported symbol: value, and indexes of its module and symbol unless the layout's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Exported {
    value: u16,
    owner: Option<(usize, usize)>,
}

impl SymbolTable {
    pub(super) fn new(
        modules: &[Module],
        layout: &Layout,
        placement: &Placement,
        errors: &mut Errors,
    ) -> Self {
        let mut table = Self::default();
        for (name, &value) in &layout.symbols {
            table.linker_symbols.push(LinkerSymbol { name: name.into(), value, is_address: false });
            table.exported.insert(name.into(), Exported { value, owner: None });
        }
        for (number, module) in modules.iter().enumerate() {
            table.modules.push(ModuleSymbols::new(number, module, placement));
            for (at, symbol) in module.symbols.iter().enumerate() {
                if symbol.binding != Binding::Local {
                    table.export(number, at, errors);
                }
            }
        }
        table.add_commons(placement.commons());
        table
    }

    /// Returns the value of a name: the exported symbol, or else the first local one.
    pub fn value(&self, name: &str) -> Option<u16> {
        let exported = self.exported.get(name).map(|found| found.value);
        exported.or_else(|| self.iter().find(|symbol| symbol.name == name).map(|one| one.value))
    }

    /// Returns all symbols: those defined by the linker, then those of the modules.
    pub fn iter(&self) -> impl Iterator<Item = LinkedSymbol<'_>> {
        let linker_symbols = self.linker_symbols.iter().map(|linker_symbols| LinkedSymbol {
            name: &linker_symbols.name,
            value: linker_symbols.value,
            module: None,
            binding: Binding::Global,
            is_address: linker_symbols.is_address,
            place: None,
        });
        linker_symbols.chain(self.modules.iter().flat_map(ModuleSymbols::iter))
    }

    /// Returns the nearest address symbol at or below an address, and the distance from it.
    pub fn nearest(&self, address: u16) -> Option<(LinkedSymbol<'_>, u16)> {
        let below = self.iter().filter(|symbol| symbol.is_address && symbol.value <= address);
        below.max_by_key(|symbol| symbol.value).map(|symbol| (symbol, address - symbol.value))
    }

    /// Returns the position of an address, with the nearest label of the module at or before it.
    pub(super) fn site(&self, module: usize, address: u16) -> Site {
        let module = &self.modules[module];
        let labels = module.iter().filter(|one| one.is_address && one.value <= address);
        let nearest = labels.max_by_key(|one| one.value);
        Site {
            module: module.name.clone(),
            label: nearest.map(|one| (one.name.to_owned(), address - one.value)),
            address,
        }
    }

    /// Returns the value of a symbol as seen by one of the modules.
    pub(super) fn resolve(&self, module: usize, index: usize) -> Option<u16> {
        let module = &self.modules[module];
        let symbol = &module.symbols[index];
        module
            .value(symbol)
            .or_else(|| self.exported.get(symbol.name.as_str()).map(|found| found.value))
    }

    fn export(&mut self, module: usize, index: usize, errors: &mut Errors) {
        let symbol = &self.modules[module].symbols[index];
        let Some(value) = self.modules[module].value(symbol) else { return };
        if let Some(first) = self.exported.get(symbol.name.as_str()) {
            errors.push(|| LinkError::Duplicate {
                name: symbol.name.to_string(),
                first: self.description(first.owner),
                second: self.description(Some((module, index))),
            });
            return;
        }
        let exported = Exported { value, owner: Some((module, index)) };
        self.exported.insert(symbol.name.clone(), exported);
    }

    /// Returns module and source line of a definition.
    fn description(&self, owner: Option<(usize, usize)>) -> (String, Option<Place>) {
        owner.map_or(("of the layout".into(), None), |(module, index)| {
            let module = &self.modules[module];
            (module.name.clone(), module.symbols[index].place.clone())
        })
    }

    fn add_commons(&mut self, commons: &BTreeMap<String, u16>) {
        for (name, &value) in commons {
            if !self.exported.contains_key(name.as_str()) {
                self.linker_symbols.push(LinkerSymbol {
                    name: name.into(),
                    value,
                    is_address: true,
                });
                self.exported.insert(name.into(), Exported { value, owner: None });
            }
        }
    }
}

impl ModuleSymbols {
    fn new(number: usize, module: &Module, placement: &Placement) -> Self {
        let kinds = [SectionKind::Prog, SectionKind::Data, SectionKind::Blank];
        let bases = kinds.map(|kind| placement.address(number, kind).unwrap_or(0));
        Self { name: module.name.clone(), symbols: Arc::clone(&module.symbols), bases }
    }

    /// Returns the value of a symbol that this module defines.
    fn value(&self, symbol: &Symbol) -> Option<u16> {
        match symbol.value {
            SymbolValue::Absolute(value) => Some(value),
            SymbolValue::InSection(kind, offset) => Some(self.base(kind).wrapping_add(offset)),
            SymbolValue::Undefined | SymbolValue::Common { .. } => None,
        }
    }

    fn base(&self, kind: SectionKind) -> u16 {
        match kind {
            SectionKind::Absolute => 0,
            SectionKind::Prog => self.bases[0],
            SectionKind::Data => self.bases[1],
            SectionKind::Blank => self.bases[2],
        }
    }

    fn iter(&self) -> impl Iterator<Item = LinkedSymbol<'_>> {
        self.symbols.iter().filter_map(|symbol| {
            Some(LinkedSymbol {
                name: &symbol.name,
                value: self.value(symbol)?,
                module: Some(&self.name),
                binding: symbol.binding,
                is_address: matches!(symbol.value, SymbolValue::InSection(..)),
                place: symbol.place.as_ref(),
            })
        })
    }
}

pub(super) fn value_of(
    module: usize,
    target: Target,
    placement: &Placement,
    symbols: &SymbolTable,
) -> Option<u16> {
    let base = match target.base {
        Base::Absolute => 0,
        Base::Section(kind) => placement.address(module, kind)?,
        Base::Symbol(index) => symbols.resolve(module, index)?,
    };
    Some(base.wrapping_add(target.addend as u16))
}
