//! The symbols and macros of a module.

use std::collections::VecDeque;
use std::sync::Arc;

use super::macro_definition::Macro;
use super::name_table::NameId;
use super::name_table::{Definition, NameTable};
use super::value::Value;
use crate::syntax::expr::Intern;

pub(super) struct ModuleScope {
    pub(super) names: NameTable,
    long_symbols: bool,
    /// The externals, in the order of their base numbers.
    pub(super) externals: Vec<NameId>,
    pub(super) macros: Vec<Arc<Macro>>,
    created: u32,
    pub(super) module_name: Option<String>,
    /// Whether the source assigns to the location counter. Each use of it is then an error.
    pub(super) is_location_counter_assigned: bool,
    /// What the first pass found in each module, for the second pass.
    first_pass: VecDeque<FirstPassScope>,
}

struct FirstPassScope {
    names: NameTable,
    macros: Vec<Arc<Macro>>,
    externals: Vec<NameId>,
}

impl ModuleScope {
    pub(super) fn new(long_symbols: bool) -> Self {
        Self {
            names: NameTable::new(long_symbols),
            long_symbols,
            externals: Vec::new(),
            macros: Vec::new(),
            created: 0,
            module_name: None,
            is_location_counter_assigned: false,
            first_pass: VecDeque::new(),
        }
    }

    pub(super) fn predefine(&mut self, defines: &[(String, u16)]) {
        for (name, number) in defines {
            let id = self.names.intern(name.as_bytes());
            self.names[id].state = Some(Value::absolute(*number));
            self.names[id].definition = Definition::Fixed;
            self.names[id].place = u32::MAX;
        }
    }

    pub(super) fn save_for_second_pass(&mut self) {
        let names = std::mem::replace(&mut self.names, NameTable::new(self.long_symbols));
        let macros = std::mem::take(&mut self.macros);
        let externals = std::mem::take(&mut self.externals);
        self.first_pass.push_back(FirstPassScope { names, macros, externals });
    }

    pub(super) fn begin_second_pass(&mut self) {
        self.module_name = None;
        self.restore_first_pass();
    }

    pub(super) fn begin_module(&mut self, second: bool, defines: &[(String, u16)]) {
        let first_pass = std::mem::take(&mut self.first_pass);
        *self = Self { first_pass, ..Self::new(self.long_symbols) };
        self.predefine(defines);
        if second {
            self.restore_first_pass();
        }
    }

    fn restore_first_pass(&mut self) {
        self.created = 0;
        if let Some(found) = self.first_pass.pop_front() {
            self.names = found.names;
            self.macros = found.macros;
            self.externals = found.externals;
            self.names.restart_scopes();
        }
    }

    /// Returns a new local symbol for a macro call: `..0001` and so on.
    pub(super) fn created_symbol(&mut self) -> Vec<u8> {
        self.created += 1;
        format!("..{:04}", self.created).into_bytes()
    }
}
