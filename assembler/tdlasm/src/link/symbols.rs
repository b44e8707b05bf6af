//! The symbol table of a linked program.

use std::collections::HashMap;
use std::sync::Arc;

use smol_str::SmolStr;

use super::error::Errors;
use super::layout::Layout;
use super::placement::Placement;
use crate::module::{Base, Binding, Module, Place, SymbolValue, Target};

/// A symbol with its final value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkedSymbol {
    /// The name, in capitals.
    pub name: SmolStr,
    /// The address or number.
    pub value: u16,
    /// The module that defines it; `None` if the linker does: a symbol of the layout, or an area
    /// that modules share.
    pub module: Option<Arc<str>>,
    /// Its visibility.
    pub binding: Binding,
    /// `true` for an address, `false` for a plain number.
    pub is_address: bool,
    /// The source line of the definition.
    pub place: Option<Place>,
}

/// All symbols of a program: those that the linker defines, then those of the modules in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SymbolTable {
    symbols: Vec<LinkedSymbol>,
    exported: HashMap<SmolStr, u16>,
    /// The names of the modules, which their symbols share.
    modules: Vec<Arc<str>>,
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
            table.define(name, value, false);
        }
        let linker_symbols = table.symbols.len();
        for (number, module) in modules.iter().enumerate() {
            let name: Arc<str> = module.name.as_str().into();
            for symbol in module.symbols.iter() {
                let Some(value) = placement.value(number, symbol.value) else { continue };
                table.add(
                    LinkedSymbol {
                        name: symbol.name.clone(),
                        value,
                        module: Some(Arc::clone(&name)),
                        binding: symbol.binding,
                        is_address: matches!(symbol.value, SymbolValue::InSection(..)),
                        place: symbol.place.clone(),
                    },
                    errors,
                );
            }
            table.modules.push(name);
        }
        let defined = table.symbols.split_off(linker_symbols);
        for (name, &value) in placement.commons() {
            if !table.exported.contains_key(name.as_str()) {
                table.define(name, value, true);
            }
        }
        table.symbols.extend(defined);
        table
    }

    /// Adds a symbol that the linker defines.
    fn define(&mut self, name: &str, value: u16, is_address: bool) {
        let (name, binding) = (SmolStr::from(name), Binding::Global);
        self.exported.insert(name.clone(), value);
        let symbol = LinkedSymbol { name, value, module: None, binding, is_address, place: None };
        self.symbols.push(symbol);
    }

    fn add(&mut self, symbol: LinkedSymbol, errors: &mut Errors) {
        if symbol.binding != Binding::Local {
            if self.exported.contains_key(&symbol.name) {
                let is_first =
                    |one: &&LinkedSymbol| one.name == symbol.name && one.binding != Binding::Local;
                errors.push("L002", || {
                    let first = definition(self.symbols.iter().find(is_first));
                    let second = definition(Some(&symbol));
                    format!(
                        "{} is defined twice: {first} and {second}; export it from one of them only",
                        symbol.name
                    )
                });
            } else {
                self.exported.insert(symbol.name.clone(), symbol.value);
            }
        }
        self.symbols.push(symbol);
    }

    /// Returns the value of a name: the exported symbol, or else the first local one.
    pub fn value(&self, name: &str) -> Option<u16> {
        let exported = self.exported.get(name).copied();
        exported.or_else(|| self.iter().find(|symbol| symbol.name == name).map(|one| one.value))
    }

    /// Returns all symbols: those defined by the linker, then those of the modules.
    pub fn iter(&self) -> impl Iterator<Item = &LinkedSymbol> {
        self.symbols.iter()
    }

    /// Returns the nearest address symbol at or below an address, and the distance from it.
    pub fn nearest(&self, address: u16) -> Option<(&LinkedSymbol, u16)> {
        nearest(self.iter(), address)
    }

    /// Describes an address by its module, and the nearest label of that at or before it.
    pub(super) fn site(&self, module: usize, address: u16) -> String {
        let module = &self.modules[module];
        let is_own = |one: &&LinkedSymbol| {
            one.module.as_ref().is_some_and(|owner| Arc::ptr_eq(owner, module))
        };
        let label = match nearest(self.iter().filter(is_own), address) {
            Some((label, 0)) => format!(", at {}", label.name),
            Some((label, distance)) => format!(", at {}+{distance}", label.name),
            None => String::new(),
        };
        format!("module {module}{label} ({address:04X}H)")
    }

    /// Returns the value of a relocation of a module; `None` if no module defines its symbol.
    pub(super) fn value_of(
        &self,
        target: Target,
        module: (usize, &Module),
        placement: &Placement,
    ) -> Option<u16> {
        let (number, module) = module;
        let base = match target.base {
            Base::Absolute => 0,
            Base::Section(kind) => placement.address(number, kind)?,
            Base::Symbol(index) => {
                let symbol = &module.symbols[index];
                let own = placement.value(number, symbol.value);
                own.or_else(|| self.exported.get(&symbol.name).copied())?
            }
        };
        Some(base.wrapping_add(target.addend as u16))
    }
}

fn nearest<'s>(
    symbols: impl Iterator<Item = &'s LinkedSymbol>,
    address: u16,
) -> Option<(&'s LinkedSymbol, u16)> {
    let below = symbols.filter(|symbol| symbol.is_address && symbol.value <= address);
    below.max_by_key(|symbol| symbol.value).map(|symbol| (symbol, address - symbol.value))
}

/// Describes a definition by its module and source line.
fn definition(symbol: Option<&LinkedSymbol>) -> String {
    let module = symbol.and_then(|symbol| symbol.module.as_deref()).unwrap_or("of the layout");
    match symbol.and_then(|symbol| symbol.place.as_ref()) {
        Some(place) => format!("{}:{} (module {module})", place.file, place.line),
        None => format!("module {module}"),
    }
}
