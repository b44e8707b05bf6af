//! Scopes of local symbols: a scope reaches from one new global symbol to the next.

use rustc_hash::{FxHashMap, FxHashSet};

use super::super::program::{Body, Statement};
use crate::source_scan::SourceScan;

/// The number of a scope; the first, before any global symbol, is 0.
pub(in super::super) type Scope = u32;

/// Rounds in which candidates for local names are refined; without an end no name is local.
const MAX_ROUNDS: usize = 50;

/// The role of a name in a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Label,
    Assigned,
    Use,
}

#[derive(Debug, Default)]
pub(in super::super) struct Scopes {
    /// Those of the statements' labels.
    pub(in super::super) labels: Vec<Vec<Scope>>,
    /// Those of the statements' operands.
    pub(in super::super) bodies: Vec<Scope>,
    /// The global symbol that begins each scope.
    globals: Vec<Vec<u8>>,
    /// The symbols that may differ from scope to scope.
    locals: FxHashSet<Vec<u8>>,
}

impl Scopes {
    /// Returns the scopes of a TDL source, in which a local symbol begins with two periods. Those
    /// with a single definition count as global.
    pub(super) fn of_tdl(program: &[Statement<'_>], scan: &SourceScan) -> Self {
        let mut definitions: FxHashMap<Vec<u8>, Scope> = FxHashMap::default();
        let mut several = FxHashSet::default();
        let is_local = |name: &[u8], _: &[u8]| name.starts_with(b"..");
        let key = |name: &[u8]| scan.significant_part(name);
        let mut scopes = Self::found(program, is_local, key);
        walk(program, &scopes, |name, _, scope, role| {
            if name.starts_with(b"..") && role != Role::Use {
                let name = scan.significant_part(name);
                if *definitions.entry(name.clone()).or_insert(scope) != scope {
                    several.insert(name);
                }
            }
        });
        scopes.locals = several;
        scopes
    }

    /// Returns the scopes of a Zilog source, in which `__L`, and `G__L` after the symbol G, are
    /// local if all uses are within one scope.
    pub(super) fn of_zilog(program: &[Statement<'_>]) -> Self {
        let mut global: FxHashSet<Vec<u8>> = FxHashSet::default();
        for round in 0.. {
            let is_local = |name: &[u8], outer: &[u8]| {
                round < MAX_ROUNDS && local_rest(name, outer).is_some() && !global.contains(name)
            };
            let mut scopes = Self::found(program, is_local, <[u8]>::to_vec);
            let mut places: FxHashMap<Vec<u8>, Option<Scope>> = FxHashMap::default();
            let mut torn = FxHashSet::default();
            walk(program, &scopes, |name, _, scope, _| {
                let local = is_local(name, scopes.global_of(scope).unwrap_or_default());
                let place = local.then_some(scope);
                if *places.entry(name.to_vec()).or_insert(place) != place {
                    torn.insert(name.to_vec());
                }
            });
            if torn.is_empty() || round > MAX_ROUNDS {
                let within = places.into_iter().filter(|(_, place)| place.is_some());
                scopes.locals = within.map(|(name, _)| name).collect();
                return scopes;
            }
            global.extend(torn);
        }
        Self::default()
    }

    /// Finds the scopes; `is_local` gets a symbol's name and the global symbol of the scope.
    fn found(
        program: &[Statement<'_>],
        is_local: impl Fn(&[u8], &[u8]) -> bool,
        key: impl Fn(&[u8]) -> Vec<u8>,
    ) -> Self {
        let mut scopes = Self { globals: vec![Vec::new()], ..Self::default() };
        let mut symbols = FxHashSet::default();
        let mut macros = FxHashSet::default();
        let enter = |scopes: &mut Self, known: &mut FxHashSet<Vec<u8>>, name: &[u8]| {
            let outer = scopes.globals.last().map_or(&[][..], Vec::as_slice);
            if !is_local(name, outer) && known.insert(key(name)) {
                scopes.globals.push(name.to_vec());
            }
        };
        for statement in program {
            let labels = statement.labels.iter().map(|label| {
                enter(&mut scopes, &mut symbols, label.name);
                scopes.last()
            });
            let labels = labels.collect();
            scopes.labels.push(labels);
            scopes.bodies.push(scopes.last());
            if let Body::Assign { symbol, .. } = &statement.body {
                enter(&mut scopes, &mut symbols, symbol.name);
            }
            if let Some(name) = statement.defines {
                enter(&mut scopes, &mut macros, name);
            }
        }
        scopes
    }

    fn last(&self) -> Scope {
        self.globals.len() as Scope - 1
    }

    /// The global symbol of a scope; the first scope has none.
    pub(super) fn global_of(&self, scope: Scope) -> Option<&[u8]> {
        self.globals.get(scope as usize).map(Vec::as_slice).filter(|name| !name.is_empty())
    }

    /// The scope in which a name is looked up: that of its place if it is local, else the first.
    pub(super) fn scope_of(&self, key: &[u8], scope: Scope) -> Scope {
        if self.locals.contains(key) { scope } else { Scope::default() }
    }

    /// Returns a local name without its prefix; `None` for one that is not local in `scope`.
    pub(super) fn local_part<'n>(
        &self,
        key: &[u8],
        name: &'n [u8],
        scope: Scope,
    ) -> Option<&'n [u8]> {
        let outer = self.global_of(scope).unwrap_or_default();
        let rest = || local_rest(name, outer).filter(|_| self.locals.contains(key));
        name.strip_prefix(b"..").or_else(rest)
    }
}

/// Returns the text after `__`, or after `G__` if G is the global symbol of the scope.
fn local_rest<'n>(name: &'n [u8], outer: &[u8]) -> Option<&'n [u8]> {
    let qualified = name.strip_prefix(outer).and_then(|rest| rest.strip_prefix(b"__"));
    let rest = name.strip_prefix(b"__").or(qualified)?;
    (!rest.is_empty()).then_some(rest)
}

/// Calls `visit` with each name of the program, its place and scope, and what is done with it.
pub(super) fn walk(
    program: &[Statement<'_>],
    scopes: &Scopes,
    mut visit: impl FnMut(&[u8], usize, Scope, Role),
) {
    for ((statement, scope), labels) in program.iter().zip(&scopes.bodies).zip(&scopes.labels) {
        for (label, scope) in statement.labels.iter().zip(labels) {
            visit(label.name, label.at, *scope, Role::Label);
        }
        walk_body(statement, |name, at, role| visit(name, at, *scope, role));
    }
}

fn walk_body(statement: &Statement<'_>, mut visit: impl FnMut(&[u8], usize, Role)) {
    let at = statement.operator.start;
    statement.body.expressions(|node| {
        node.names(&mut |name| visit(name, at, Role::Use));
    });
    match &statement.body {
        Body::Assign { symbol, .. } => visit(symbol.name, symbol.at, Role::Assigned),
        Body::External(names) | Body::Global(names) => {
            names.iter().for_each(|name| visit(name.item, at, Role::Use));
        }
        _ => {}
    }
}
