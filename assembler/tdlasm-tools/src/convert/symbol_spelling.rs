//! Symbols: the spelling that each has in the other dialect.
//!
//! TDL's symbols are made of letters, digits, `.`, `$` and `%`; the other side's of letters, digits
//! and `_` as far as all assemblers agree. `.` and `_` stand for each other. A local `..L` becomes
//! `__L`, or `G__L` after its global symbol G if the same local name has several definitions.

mod scopes;
mod spelling;

use rustc_hash::{FxHashMap, FxHashSet};

use super::expr::ValueFacts;
use super::options::Dialect;
use super::program::{Body, Label, Statement, Unconverted};
use crate::source_scan::SourceScan;

pub(super) use scopes::{Scope, Scopes};

use scopes::Role;

/// The new spelling of a symbol, and its value.
#[derive(Debug, Clone, Default)]
struct TargetSymbol {
    spelling: Vec<u8>,
    facts: ValueFacts,
}

#[derive(Debug)]
pub(super) struct SpellingMap {
    from: Dialect,
    significant: usize,
    targets: FxHashMap<(Vec<u8>, Scope), TargetSymbol>,
    /// Names in TDL's spelling as far as they count, to find those that become one.
    short: FxHashMap<Vec<u8>, Vec<u8>>,
    used: FxHashSet<(Vec<u8>, Scope)>,
    pub(super) notes: Vec<Unconverted>,
}

impl SpellingMap {
    pub(super) fn new(
        from: Dialect,
        program: &[Statement<'_>],
        scopes: &Scopes,
        scan: &SourceScan,
        long_symbols: bool,
    ) -> Self {
        let significant = if long_symbols { usize::MAX } else { 6 };
        let mut names = Self {
            from,
            significant,
            targets: FxHashMap::default(),
            short: FxHashMap::default(),
            used: FxHashSet::default(),
            notes: Vec::new(),
        };
        let spellings = names.preferred_spellings(program, scopes);
        scopes::walk(program, scopes, |name, at, scope, _| {
            let scope = scopes.scope_of(&names.key(name), scope);
            names.assign(name, &spellings, scopes, scope, at);
        });
        names.find_value_facts(program, scopes, scan);
        names
    }

    /// A name of the source as far as it counts there.
    fn key(&self, name: &[u8]) -> Vec<u8> {
        key(self.from, self.significant, name)
    }

    /// For names that have several spellings: that of the definition, or the first.
    fn preferred_spellings(
        &self,
        program: &[Statement<'_>],
        scopes: &Scopes,
    ) -> FxHashMap<Vec<u8>, Vec<u8>> {
        let mut spellings = FxHashMap::default();
        for is_definition in [true, false] {
            scopes::walk(program, scopes, |name, _, _, role| {
                if (role != Role::Use) == is_definition {
                    spellings.entry(self.key(name)).or_insert_with(|| name.to_vec());
                }
            });
        }
        spellings
    }

    fn assign(
        &mut self,
        name: &[u8],
        spellings: &FxHashMap<Vec<u8>, Vec<u8>>,
        scopes: &Scopes,
        scope: Scope,
        at: usize,
    ) {
        let key = self.key(name);
        if self.targets.contains_key(&(key.clone(), scope)) {
            return;
        }
        let preferred = spellings.get(&key).map_or(name, Vec::as_slice);
        let mut wanted = match scopes.local_part(&key, preferred, scope) {
            Some(rest) => spelling::local(self.from, rest),
            None => spelling::global(self.from, preferred),
        };
        if self.from == Dialect::Tdl
            && let Some(outer) = scopes.global_of(scope)
        {
            wanted.splice(0..0, self.spelling(outer, Scope::default()));
        }
        // Local symbols of TDL may be equal if their scopes differ.
        let within = if wanted.starts_with(b"..") { scope } else { Scope::default() };
        let spelling = self.unused(&wanted, within);
        if spelling != wanted {
            let names = [name, &spelling].map(String::from_utf8_lossy);
            self.notes.push(Unconverted::new(
                at,
                format!("{} becomes {}, since its plain spelling is taken", names[0], names[1]),
            ));
        }
        self.warn_truncated(&spelling, at);
        self.used.insert((spelling.to_ascii_uppercase(), within));
        self.targets.insert((key, scope), TargetSymbol { spelling, facts: ValueFacts::default() });
    }

    /// Returns the spelling, or its first variant that is neither taken nor reserved.
    fn unused(&self, wanted: &[u8], within: Scope) -> Vec<u8> {
        let free = |spelling: &[u8]| {
            !spelling::is_reserved(self.from, spelling)
                && !self.used.contains(&(spelling.to_ascii_uppercase(), within))
        };
        let numbered = (2u32..).map(|number| [wanted, number.to_string().as_bytes()].concat());
        std::iter::once(wanted.to_vec()).chain(numbered).find(|one| free(one)).unwrap_or_default()
    }

    /// Adds a note for names that are equal in TDL's significant letters.
    fn warn_truncated(&mut self, spelling: &[u8], at: usize) {
        if self.from == Dialect::Tdl || spelling.starts_with(b"..") {
            return;
        }
        let short = key(Dialect::Tdl, self.significant, spelling);
        let known = self.short.entry(short).or_insert_with(|| spelling.to_vec());
        if !known.eq_ignore_ascii_case(spelling) {
            let names = [known, spelling].map(String::from_utf8_lossy);
            let message = format!(
                "{} and {} have the same six letters; assemble with --long-symbols",
                names[0], names[1]
            );
            self.notes.push(Unconverted::new(at, message));
        }
    }

    /// Finds facts about the values of symbols: of labels, and of expressions of them.
    fn find_value_facts(&mut self, program: &[Statement<'_>], scopes: &Scopes, scan: &SourceScan) {
        let label = ValueFacts { natural: true, value: None };
        scopes::walk(program, scopes, |name, _, scope, role| {
            if role == Role::Label {
                self.set_value_facts(name, scopes.scope_of(&self.key(name), scope), label);
            }
        });
        for (statement, scope) in program.iter().zip(&scopes.bodies) {
            // A symbol with two definitions may have them in alternative conditionals.
            if let Body::Assign { symbol: Label { name, .. }, fixed: true, value } = &statement.body
                && !scan.is_variable(name)
            {
                let known = |name: &[u8]| self.value_facts(name, *scope);
                let facts = ValueFacts {
                    natural: value.is_portable(&mut { known }),
                    value: value.exact_value(&mut |name| known(name).value),
                };
                self.set_value_facts(name, scopes.scope_of(&self.key(name), *scope), facts);
            }
        }
    }

    fn set_value_facts(&mut self, name: &[u8], scope: Scope, facts: ValueFacts) {
        if let Some(target) = self.targets.get_mut(&(self.key(name), scope)) {
            target.facts = facts;
        }
    }

    fn target(&self, name: &[u8], scope: Scope) -> Option<&TargetSymbol> {
        let key = (self.key(name), scope);
        self.targets.get(&key).or_else(|| self.targets.get(&(key.0, Scope::default())))
    }

    /// The spelling of a symbol that stands in this scope.
    pub(super) fn spelling(&self, name: &[u8], scope: Scope) -> Vec<u8> {
        let found = self.target(name, scope).map(|target| target.spelling.clone());
        found.unwrap_or_else(|| spelling::global(self.from, name))
    }

    pub(super) fn value_facts(&self, name: &[u8], scope: Scope) -> ValueFacts {
        self.target(name, scope).map(|target| target.facts).unwrap_or_default()
    }
}

/// Returns the significant part of a name; TDL ignores case, Zilog's dialect does not.
fn key(dialect: Dialect, significant: usize, name: &[u8]) -> Vec<u8> {
    match dialect {
        Dialect::Tdl => name[..name.len().min(significant)].to_ascii_uppercase(),
        Dialect::Zilog => name.to_vec(),
    }
}

pub(super) fn scopes(from: Dialect, program: &[Statement<'_>], scan: &SourceScan) -> Scopes {
    match from {
        Dialect::Tdl => Scopes::of_tdl(program, scan),
        Dialect::Zilog => Scopes::of_zilog(program),
    }
}
