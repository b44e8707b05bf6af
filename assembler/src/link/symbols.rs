//! What every name of the program stands for.

use std::collections::{BTreeMap, HashMap};

use crate::module::{Binding, Module, Place, SymbolValue};

use super::error::LinkError;
use super::layout::Layout;
use super::place::Placement;

/// A symbol with its final value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkedSymbol {
    /// The name, in capitals.
    pub name: String,
    /// The address or number.
    pub value: u16,
    /// The module that defines it; `None` when the layout does.
    pub module: Option<String>,
    /// Who may see it.
    pub binding: Binding,
    /// Whether it is an address in a section that was placed, not a plain number.
    pub is_address: bool,
    /// Where the source defines it.
    pub place: Option<Place>,
}

/// All symbols of a program, in the order of the modules.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SymbolTable {
    symbols: Vec<LinkedSymbol>,
    exported: HashMap<String, usize>,
}

impl SymbolTable {
    pub(super) fn new(
        modules: &[Module],
        layout: &Layout,
        placement: &Placement,
        errors: &mut Vec<LinkError>,
    ) -> Self {
        let mut table = Self::default();
        for (name, &value) in &layout.symbols {
            table.insert(LinkedSymbol::of_layout(name, value), errors);
        }
        for (number, module) in modules.iter().enumerate() {
            for symbol in &module.symbols {
                let (value, is_address) = match symbol.value {
                    SymbolValue::Absolute(value) => (value, false),
                    SymbolValue::InSection(kind, offset) => {
                        let base = placement.address(number, kind).unwrap_or(0);
                        (base.wrapping_add(offset), true)
                    }
                    SymbolValue::Undefined | SymbolValue::Common { .. } => continue,
                };
                let module = Some(module.name.clone());
                let (name, place) = (symbol.name.clone(), symbol.place.clone());
                let binding = symbol.binding;
                let symbol = LinkedSymbol { name, value, module, binding, is_address, place };
                table.insert(symbol, errors);
            }
        }
        table.add_commons(placement.commons());
        table
    }

    /// The value of a name: the exported symbol, or else the first local one.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<u16> {
        let exported = self.exported.get(name).map(|&index| &self.symbols[index]);
        exported.or_else(|| self.symbols.iter().find(|s| s.name == name)).map(|s| s.value)
    }

    /// The value that a name has within one module.
    #[must_use]
    pub fn value_in(&self, module: &str, name: &str) -> Option<u16> {
        let is_it = |s: &&LinkedSymbol| s.name == name && s.module.as_deref() == Some(module);
        self.symbols.iter().find(is_it).map(|s| s.value)
    }

    /// Every symbol.
    pub fn iter(&self) -> impl Iterator<Item = &LinkedSymbol> {
        self.symbols.iter()
    }

    /// The address symbol nearest at or below an address, and the distance from it.
    #[must_use]
    pub fn nearest(&self, address: u16) -> Option<(&LinkedSymbol, u16)> {
        let below = self.symbols.iter().filter(|s| s.is_address && s.value <= address);
        below.max_by_key(|s| s.value).map(|s| (s, address - s.value))
    }

    /// The value of a symbol as one of the modules means it.
    pub(super) fn resolve(
        &self,
        module: &Module,
        placed_at: impl Fn(crate::module::SectionKind) -> Option<u16>,
        index: usize,
    ) -> Option<u16> {
        let symbol = &module.symbols[index];
        match symbol.value {
            SymbolValue::Absolute(value) => Some(value),
            SymbolValue::InSection(kind, offset) => Some(placed_at(kind)?.wrapping_add(offset)),
            SymbolValue::Undefined | SymbolValue::Common { .. } => {
                self.exported.get(&symbol.name).map(|&index| self.symbols[index].value)
            }
        }
    }

    fn insert(&mut self, symbol: LinkedSymbol, errors: &mut Vec<LinkError>) {
        if symbol.binding != Binding::Local {
            match self.exported.get(&symbol.name) {
                Some(&first) => {
                    let owner = |s: &LinkedSymbol| {
                        (
                            s.module.clone().unwrap_or_else(|| "of the layout".into()),
                            s.place.clone(),
                        )
                    };
                    errors.push(LinkError::Duplicate {
                        name: symbol.name.clone(),
                        first: owner(&self.symbols[first]),
                        second: owner(&symbol),
                    });
                }
                None => {
                    self.exported.insert(symbol.name.clone(), self.symbols.len());
                }
            }
        }
        self.symbols.push(symbol);
    }

    fn add_commons(&mut self, commons: &BTreeMap<String, u16>) {
        for (name, &address) in commons {
            if !self.exported.contains_key(name) {
                let mut symbol = LinkedSymbol::of_layout(name, address);
                symbol.is_address = true;
                self.exported.insert(name.clone(), self.symbols.len());
                self.symbols.push(symbol);
            }
        }
    }
}

impl LinkedSymbol {
    fn of_layout(name: &str, value: u16) -> Self {
        let (name, binding) = (name.to_owned(), Binding::Global);
        Self { name, value, module: None, binding, is_address: false, place: None }
    }
}
