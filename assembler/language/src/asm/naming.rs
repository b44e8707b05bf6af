//! The meanings of names: the table of names, the externals, the macros, and assumptions about
//! them.

use std::collections::VecDeque;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::source::Span;
use crate::syntax::expr::Intern;

use super::hints::Guess;
use super::macros::Macro;
use super::names::{Definition, NameId, Names, State};
use super::value::Value;

/// The names of the module that is being assembled.
pub(super) struct Naming {
    pub(super) names: Names,
    long_symbols: bool,
    /// The external symbols in the order of their base numbers.
    pub(super) externals: Vec<NameId>,
    pub(super) macros: Vec<Arc<Macro>>,
    /// The number of symbols that macro calls made.
    created: u32,
    /// Names that a conditional found undefined, or that were unknown as operators.
    pub(super) assumed_undefined: Vec<NameId>,
    /// Names that were no symbols when their built-in meaning was taken for a value.
    pub(super) taken_as_built_in: Vec<NameId>,
    /// The guesses at what undefined names were meant to be.
    pub(super) guesses: FxHashMap<NameId, Option<Guess>>,
    pub(super) module_name: Option<String>,
    /// Whether the source assigns to the location counter: each use of it is marked then.
    pub(super) here_doubled: bool,
    /// The places that export a name.
    pub(super) export_uses: Vec<(NameId, Span)>,
    /// The findings of the first pass about each module, for the second.
    first_pass: VecDeque<Findings>,
}

/// Findings of the first pass about a module.
struct Findings {
    names: Names,
    macros: Vec<Arc<Macro>>,
    externals: Vec<NameId>,
}

impl Naming {
    pub(super) fn new(long_symbols: bool) -> Self {
        Self {
            names: Names::new(long_symbols),
            long_symbols,
            externals: Vec::new(),
            macros: Vec::new(),
            created: 0,
            assumed_undefined: Vec::new(),
            taken_as_built_in: Vec::new(),
            guesses: FxHashMap::default(),
            module_name: None,
            here_doubled: false,
            export_uses: Vec::new(),
            first_pass: VecDeque::new(),
        }
    }

    /// Defines the symbols that the options give.
    pub(super) fn predefine(&mut self, defines: &[(String, u16)]) {
        for (name, number) in defines {
            let id = self.names.intern(name.as_bytes());
            self.names[id].state = State::Value(Value::absolute(*number));
            self.names[id].definition = Definition::Fixed;
            self.names[id].place = u32::MAX;
        }
    }

    /// Puts the findings about a module aside for the second pass.
    pub(super) fn keep_for_second_pass(&mut self) {
        let names = std::mem::replace(&mut self.names, Names::new(self.long_symbols));
        let macros = std::mem::take(&mut self.macros);
        let externals = std::mem::take(&mut self.externals);
        self.first_pass.push_back(Findings { names, macros, externals });
    }

    pub(super) fn begin_second_pass(&mut self) {
        self.export_uses.clear();
        self.assumed_undefined.clear();
        self.taken_as_built_in.clear();
        self.module_name = None;
        self.recall();
    }

    /// Begins the next module of the same file, with clean tables.
    pub(super) fn begin_module(&mut self, second: bool, defines: &[(String, u16)]) {
        let first_pass = std::mem::take(&mut self.first_pass);
        *self = Self { first_pass, ..Self::new(self.long_symbols) };
        self.predefine(defines);
        if second {
            self.recall();
        }
    }

    /// Takes up the findings of the first pass about the module that begins.
    fn recall(&mut self) {
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

    /// Whether a name was found without a meaning, or with its built-in one, that has another
    /// further below.
    pub(super) fn assumed_wrongly(&self) -> bool {
        let has_meaning = |name: &NameId| {
            let name = &self.names[*name];
            let is_operator = name.operator.is_some() || name.macro_index().is_some();
            name.definition != Definition::None || name.missed || is_operator
        };
        let is_symbol = |name: &NameId| self.names[*name].definition != Definition::None;
        self.assumed_undefined.iter().any(has_meaning)
            || self.taken_as_built_in.iter().any(is_symbol)
    }
}
