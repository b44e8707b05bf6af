//! Selects the modules of libraries that a program needs.

use std::collections::{HashMap, HashSet, VecDeque};

use super::Member;
use crate::link::Layout;
use crate::module::{Binding, Module, Symbol, SymbolValue};

/// Adds the modules of libraries that define undefined symbols to `modules`, until no more are
/// found. Of several definitions, the one in the first member is used.
pub fn pull(mut modules: Vec<Module>, members: &[Member], layout: &Layout) -> Vec<Module> {
    let offers = offers(members);
    let mut defined: HashSet<String> = layout.symbols.keys().cloned().collect();
    let mut wanted = VecDeque::new();
    note(&modules, &mut defined, &mut wanted);
    while let Some(name) = wanted.pop_front() {
        if defined.contains(&name) {
            continue;
        }
        if let Some(member) = offers.get(name.as_str()) {
            note(&member.modules, &mut defined, &mut wanted);
            modules.extend(member.modules.iter().cloned());
        }
    }
    modules
}

/// Adds the symbols that modules define, and those that they want from others.
fn note(modules: &[Module], defined: &mut HashSet<String>, wanted: &mut VecDeque<String>) {
    for symbol in modules.iter().flat_map(|module| module.symbols.iter()) {
        if defines(symbol) {
            defined.insert(symbol.name.to_string());
        } else if symbol.value == SymbolValue::Undefined {
            wanted.push_back(symbol.name.to_string());
        }
    }
}

/// Maps symbols to the members that define them.
fn offers(members: &[Member]) -> HashMap<&str, &Member> {
    let mut offers = HashMap::new();
    for member in members {
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
