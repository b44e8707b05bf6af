//! Selects the modules of libraries that a program needs.

use std::collections::{HashMap, HashSet, VecDeque};

use super::{Library, Member};
use crate::link::Layout;
use crate::module::{Binding, Module, Symbol, SymbolValue};

/// Adds the library modules that define undefined symbols to `modules`, until no more are found. Of
/// several definitions, the one in the first library and member is used.
pub fn pull(mut modules: Vec<Module>, libraries: &[Library], layout: &Layout) -> Vec<Module> {
    let offers = offers(libraries);
    let mut needs =
        Needs { defined: layout.symbols.keys().cloned().collect(), wanted: VecDeque::new() };
    needs.note(&modules);
    while let Some(name) = needs.next() {
        if let Some(member) = offers.get(name.as_str()) {
            needs.note(&member.modules);
            modules.extend(member.modules.iter().cloned());
        }
    }
    modules
}

/// Maps symbols to the members that define them.
fn offers(libraries: &[Library]) -> HashMap<&str, &Member> {
    let mut offers = HashMap::new();
    for member in libraries.iter().flat_map(|library| &library.members) {
        for symbol in member.modules.iter().flat_map(|module| module.symbols.iter()) {
            if defines(symbol) && (symbol.binding == Binding::Entry || !member.by_entry) {
                offers.entry(symbol.name.as_str()).or_insert(member);
            }
        }
    }
    offers
}

/// Returns `true` if the symbol has a value for other modules.
fn defines(symbol: &Symbol) -> bool {
    !symbol.value.is_external() && symbol.binding != Binding::Local
}

/// The symbols that the selected modules define and use.
struct Needs {
    defined: HashSet<String>,
    wanted: VecDeque<String>,
}

impl Needs {
    fn note(&mut self, modules: &[Module]) {
        for symbol in modules.iter().flat_map(|module| module.symbols.iter()) {
            if defines(symbol) {
                self.defined.insert(symbol.name.to_string());
            } else if symbol.value == SymbolValue::Undefined {
                self.wanted.push_back(symbol.name.to_string());
            }
        }
    }

    fn next(&mut self) -> Option<String> {
        let defined = &self.defined;
        let at = self.wanted.iter().position(|name| !defined.contains(name))?;
        self.wanted.drain(..=at).next_back()
    }
}
