//! One table for symbols, macros, instructions, directives and registers: one lookup a word.

use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use std::sync::Arc;

use super::input::{MacroCall, StatementPlace};
use super::macro_definition::Macro;
use super::options::{Notation, Options};
use super::pass::Pass;
use super::symbol::{DefinedIn, Definition, Symbol, SymbolKind};
use super::value::Value;
use crate::isa::{FORMS, Register};
use crate::syntax::directive::Directive;
use crate::syntax::expr::{Expr, Intern, LOCAL, Op};
use crate::syntax::{Cursor, lex};

/// The index of a name in the table.
pub(crate) type NameId = u32;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    /// An instruction: the index of its first form in the table of forms.
    Instruction(u16),
    Directive(Directive),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BuiltIn {
    Register(Register),
    /// A section, by its relocation base.
    Segment(u8),
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct NameEntry {
    /// The name packed in 40-character code; from [`FIRST_LONG_NAME`] on, the index of a long name.
    code: u32,
    pub(crate) symbol: Symbol,
    pub(crate) defined_in: DefinedIn,
    /// The offset of the first definition in a text; `None` if the options define the symbol.
    pub(crate) place: Option<u32>,
    /// The file and line of that.
    pub(crate) statement: StatementPlace,
    /// The index of the macro of this name.
    pub(crate) macro_index: Option<u32>,
    pub(crate) operator: Option<Operator>,
    pub(crate) built_in: Option<BuiltIn>,
    /// Whether the symbol has two different definitions. It keeps the first one.
    pub(crate) is_multiply_defined: bool,
    /// Whether a second operator of this name is defined.
    pub(crate) is_operator_redefined: bool,
    /// Whether a second macro of this name is defined.
    pub(crate) is_macro_redefined: bool,
    /// Whether the value was read from the console, at `place`.
    pub(crate) is_console_reply: bool,
    /// Whether it is a `..local`.
    pub(crate) is_local: bool,
    pub(crate) exported: bool,
    pub(crate) is_library_entry: bool,
    /// Whether an undefined use was found. ZASM's symbol table lists such names, too.
    pub(crate) has_undefined_use: bool,
    /// Whether the symbol has an entry in ZASM's table.
    in_table: bool,
    /// Whether the symbol is exported but not yet defined.
    is_declared_forward: bool,
    /// The position in the order of definitions and declarations, from 1; 0 if there is none.
    pub(crate) entered: u32,
}

impl NameEntry {
    /// Returns `true` if the module contains a symbol of this name.
    pub(crate) fn is_global_symbol(&self) -> bool {
        !self.is_local && self.built_in.is_none() && self.symbol.is_defined()
    }

    /// Returns the effect of a definition on the symbol.
    pub(crate) fn definition(&self, kind: SymbolKind, value: Value, pass: Pass) -> Definition {
        match self.built_in {
            Some(_) => Definition::Conflict,
            None => {
                let Self { symbol, is_multiply_defined, defined_in, .. } = *self;
                symbol.definition(kind, value, is_multiply_defined, defined_in, pass)
            }
        }
    }

    /// Records that a pass defines the symbol.
    pub(crate) fn set_defined_in(&mut self, pass: Pass) {
        self.defined_in = match (pass, self.defined_in) {
            (Pass::First, _) => DefinedIn::FirstPass,
            (Pass::Second, DefinedIn::SecondPassOnly) => DefinedIn::SecondPassOnly,
            (Pass::Second, _) if !self.symbol.is_defined() => DefinedIn::SecondPassOnly,
            (Pass::Second, _) => DefinedIn::BothPasses,
        };
    }

    /// Returns `true` if the current pass has defined the symbol.
    pub(crate) fn is_defined_in(&self, pass: Pass) -> bool {
        match self.defined_in {
            DefinedIn::NoPass => false,
            DefinedIn::FirstPass => pass == Pass::First,
            DefinedIn::BothPasses | DefinedIn::SecondPassOnly => pass == Pass::Second,
        }
    }

    /// Returns `true` for `.`, the location counter.
    pub(crate) fn is_location_counter(&self) -> bool {
        self.code == LOCATION_COUNTER
    }
}

/// Six characters of a 40-character set fit in 32 bits; larger codes are long names.
const FIRST_LONG_NAME: u32 = 40u32.pow(6);

/// The code of `.`, the last of the 40 characters.
const LOCATION_COUNTER: u32 = 39 * 40u32.pow(5);

/// The kinds of entries that ZASM's table has for a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TableEntryKind {
    Symbol,
    Macro,
    Operator,
}

/// The first scope of the locals of a macro call in Zilog's notation.
const MACRO_SCOPE: u32 = 1 << 31;

/// Returns the scope of the `..locals` that follow an entry of the table.
fn scope_of(id: NameId, entry: TableEntryKind) -> u32 {
    4 * id + 1 + entry as u32
}

/// Stands for the text of a call with the temporaries outside of macros.
const NO_CALL: u32 = u32::MAX;

#[derive(Default)]
pub(crate) struct NameTable {
    entries: Vec<NameEntry>,
    globals: FxHashMap<u32, NameId>,
    /// The `..locals` of all scopes, by scope and name.
    locals: FxHashMap<(u32, u32), NameId>,
    long: Option<LongNames>,
    /// Whether the names are those of Zilog's notation, which has no words of TDL.
    is_zilog: bool,
    /// The current scope of `..locals`; 0 before the first symbol.
    pub(crate) scope: u32,
    /// The scope that new `..locals` are added to: that of the newest global entry.
    pub(crate) newest_scope: u32,
    /// The number of names defined or declared so far.
    entered: u32,
    /// The externals, in the order of their base numbers.
    pub(crate) externals: Vec<NameId>,
    pub(crate) macros: Vec<Arc<Macro>>,
    /// The number of local symbols created for macro calls.
    created: u32,
    /// In PASM, the macro call that is read.
    pub(crate) macro_call: Option<MacroCall>,
    /// The number of temporaries outside of macros.
    pub(crate) global_temporaries: u16,
    /// The temporaries, by the text of the call and index.
    temporaries: FxHashMap<(u32, u16), NameId>,
    /// The operand of `.IDENT`.
    pub(crate) module_name: Option<String>,
    /// Whether the source assigns to the location counter. Each use of it is then an error.
    pub(crate) is_location_counter_assigned: bool,
}

#[derive(Default)]
struct LongNames {
    index: FxHashMap<Box<[u8]>, u32>,
    names: Vec<Box<[u8]>>,
    case_sensitive: bool,
}

impl LongNames {
    fn key(&mut self, name: &[u8]) -> u32 {
        let name: Box<[u8]> = match self.case_sensitive {
            true => name.into(),
            false => name.to_ascii_uppercase().into(),
        };
        let next = self.names.len() as u32;
        *self.index.entry(name).or_insert_with_key(|name| {
            self.names.push(name.clone());
            FIRST_LONG_NAME + next
        })
    }
}

impl NameTable {
    /// Creates a table with the names of the language and the options.
    pub(crate) fn new(options: &Options) -> Self {
        let is_zilog = options.notation == Notation::Zilog;
        let mut names = Self { is_zilog, ..Self::default() };
        if !is_zilog {
            names.add_language(options.notation == Notation::Pasm);
        }
        let case_sensitive = is_zilog && options.case_sensitive;
        names.long = (is_zilog || options.long_symbols)
            .then(|| LongNames { case_sensitive, ..LongNames::default() });
        for (name, number) in &options.defines {
            let id = names.intern(name.as_bytes());
            names[id].symbol = Symbol::Constant(Value::absolute(*number));
        }
        names
    }

    /// Reserves what a text of this length usually needs.
    pub(crate) fn reserve(&mut self, length: usize) {
        self.entries.reserve(length / 256);
        self.globals.reserve(length / 256);
    }

    fn add_language(&mut self, is_pasm: bool) {
        for (at, form) in FORMS.iter().enumerate() {
            if at == 0 || FORMS[at - 1].mnemonic != form.mnemonic {
                let id = self.intern(form.mnemonic.as_bytes());
                self[id].operator = Some(Operator::Instruction(at as u16));
            }
        }
        let of_pasm = if is_pasm { Directive::OF_PASM } else { &[] };
        for (spelling, directive) in Directive::NAMES.iter().chain(of_pasm) {
            let id = self.intern(spelling.as_bytes());
            self[id].operator = Some(Operator::Directive(*directive));
        }
        for (spelling, base) in [(".PROG.", 1), (".DATA.", 2), (".BLNK.", 3)] {
            let id = self.intern(spelling.as_bytes());
            self[id].built_in = Some(BuiltIn::Segment(base));
        }
        for (spelling, register) in Register::NAMES {
            let id = self.intern(spelling.as_bytes());
            self[id].built_in = Some(BuiltIn::Register(register));
        }
    }

    /// Records that a name is defined or declared. TDL objects list names in this order.
    pub(crate) fn add_symbol(&mut self, id: NameId) {
        if self[id].entered == 0 {
            self.entered += 1;
            self[id].entered = self.entered;
            self.append_symbol(id);
        } else if self[id].is_declared_forward {
            self[id].is_declared_forward = false;
            self.entered += 1;
            self[id].entered = self.entered;
            self.newest_scope = scope_of(id, TableEntryKind::Symbol);
        }
    }

    /// Records that a name is exported before it is defined. Its definition then makes an entry of
    /// its own: no known program shows whether ZASM finds `..locals` after an exported label, and
    /// refusing them would refuse all such programs.
    pub(crate) fn declare_forward(&mut self, id: NameId) {
        if self[id].entered == 0 {
            self.add_symbol(id);
            self[id].is_declared_forward = true;
        }
    }

    /// Appends a symbol to ZASM's table. ZASM searches `..locals` from the entry that began their
    /// scope to the next global entry, so a local appended after another entry is not found again.
    pub(crate) fn append_symbol(&mut self, id: NameId) {
        let name = &mut self[id];
        if name.in_table || name.built_in.is_some() || name.code == LOCATION_COUNTER {
            return;
        }
        name.in_table = true;
        let (local, code) = (name.is_local, name.code);
        if !local {
            self.newest_scope = scope_of(id, TableEntryKind::Symbol);
        } else if self.scope != self.newest_scope && !self.is_zilog {
            self.locals.remove(&(self.scope, code));
            let known = self.locals.get(&(self.newest_scope, code));
            if known.is_none_or(|known| !self[*known].in_table) {
                self.locals.insert((self.newest_scope, code), id);
            }
        }
    }

    /// Appends the entry of a macro or operator, which is separate from that of the symbol.
    pub(crate) fn append_entry(&mut self, id: NameId, entry: TableEntryKind) {
        if !self[id].is_local {
            self.newest_scope = scope_of(id, entry);
        }
    }

    /// Begins the scope of `..locals` of a global symbol or macro. It is the same in both passes,
    /// whatever is defined before it.
    pub(crate) fn begin_scope(&mut self, of: NameId, entry: TableEntryKind) {
        self.scope = scope_of(of, entry);
    }

    /// Begins the scope of the locals of a macro text, and returns the one outside of it.
    pub(crate) fn begin_macro_scope(&mut self, source: usize) -> u32 {
        std::mem::replace(&mut self.scope, MACRO_SCOPE + source as u32)
    }

    /// Begins a pass, with the symbols and macros of the one before.
    pub(crate) fn begin_pass(&mut self) {
        self.scope = 0;
        self.created = 0;
        self.module_name = None;
    }

    /// Returns a new local symbol for a macro call: `..0001` and so on.
    pub(crate) fn created_symbol(&mut self) -> Vec<u8> {
        self.created += 1;
        format!("..{:04}", self.created).into_bytes()
    }

    /// Returns the significant part of a name, in capitals.
    pub(crate) fn spelling(&self, id: NameId) -> SmolStr {
        let code = self[id].code;
        if let (Some(long), true) = (&self.long, code >= FIRST_LONG_NAME) {
            return String::from_utf8_lossy(&long.names[(code - FIRST_LONG_NAME) as usize]).into();
        }
        const LETTERS: &[u8; 40] = b" 0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ$%.";
        let mut letters = [b' '; 6];
        let mut rest = code;
        for letter in letters.iter_mut().rev() {
            *letter = LETTERS[(rest % 40) as usize];
            rest /= 40;
        }
        // Blanks only pad a short name at its end.
        SmolStr::new(str::from_utf8(letters.trim_ascii_end()).unwrap_or_default())
    }

    pub(crate) fn len(&self) -> NameId {
        self.entries.len() as NameId
    }

    /// Returns all names with their ids, in the order of their first use.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (NameId, &NameEntry)> {
        self.entries.iter().enumerate().map(|(id, name)| (id as NameId, name))
    }

    /// Returns the `..locals` in the order of their first use, each with the name that began its
    /// scope, if there is one.
    pub(crate) fn locals(&self) -> Vec<(Option<NameId>, NameId)> {
        let owner = |scope: u32| match scope {
            0 | MACRO_SCOPE.. => None,
            _ => Some((scope - 1) / 4),
        };
        let locals = self.locals.iter().map(|((scope, _), id)| (owner(*scope), *id));
        let mut locals: Vec<_> = locals.collect();
        locals.sort_unstable_by_key(|(_, id)| *id);
        locals
    }

    /// Returns the significant part of a spelling, in capitals.
    pub(crate) fn significant(&self, name: &[u8]) -> SmolStr {
        let kept = if self.long.is_some() { name } else { &name[..name.len().min(6)] };
        kept.iter().map(|byte| char::from(byte.to_ascii_uppercase())).collect()
    }

    /// Reads PASM's temporary at the cursor: `![n]` in a macro call, or `*[n]` for all.
    pub(crate) fn take_temporary(&mut self, cursor: &mut Cursor<'_>) -> Option<NameId> {
        let (name, length) = self.temporary(cursor.rest())?;
        cursor.advance(length);
        Some(name)
    }

    /// Returns the value of the index of a temporary, if its symbols are defined.
    fn index(&mut self, text: &[u8]) -> Option<u16> {
        let mut ops = Vec::new();
        Expr::parse(&mut Cursor::new(text, text.len() as u32), 10, self, &mut ops);
        let mut stack = Vec::new();
        for op in ops {
            let value = match op {
                Op::Number(number) => Value::absolute(number),
                Op::Symbol(name, _) => self[name].symbol.value()?,
                Op::Binary(op) => {
                    let right = stack.pop()?;
                    Value::binary(stack.pop()?, op, right).0
                }
                _ => return None,
            };
            stack.push(value);
        }
        stack.pop().map(|value| value.number)
    }

    #[cold]
    fn add_global(&mut self, code: u32) -> NameId {
        let id = self.entries.len() as NameId;
        self.globals.insert(code, id);
        self.entries.push(NameEntry { code, ..NameEntry::default() });
        id
    }

    /// Returns the local that `GLOBAL.LOCAL` names in Zilog's notation, once it is known.
    fn qualified_local(&mut self, name: &[u8]) -> Option<NameId> {
        let point = memchr::memrchr(b'.', name).filter(|at| *at > 0)?;
        let long = self.long.as_mut()?;
        let (global, local) = (long.key(&name[..point]), long.key(&name[point..]));
        let scope = scope_of(*self.globals.get(&global)?, TableEntryKind::Symbol);
        self.locals.get(&(scope, local)).copied()
    }

    fn intern_local(&mut self, code: u32) -> NameId {
        let next = self.entries.len() as NameId;
        *self.locals.entry((self.scope, code)).or_insert_with(|| {
            self.entries.push(NameEntry { code, is_local: true, ..NameEntry::default() });
            next
        })
    }
}

impl Intern for NameTable {
    fn parameter_count(&self) -> Option<u16> {
        self.macro_call.map(|call| call.parameter_count)
    }

    fn temporary(&mut self, text: &[u8]) -> Option<(NameId, usize)> {
        let (source, count) = match (text, self.macro_call) {
            ([b'!', b'[', ..], Some(call)) => (call.source, call.temporaries),
            ([b'*', b'[', ..], _) => (NO_CALL, self.global_temporaries),
            _ => return None,
        };
        let close = memchr::memchr(b']', text).filter(|_| count > 0)?;
        let index = self.index(&text[2..close]).filter(|index| *index < count)?;
        let next = self.entries.len() as NameId;
        let id = *self.temporaries.entry((source, index)).or_insert_with(|| {
            let code = lex::packed(b"..TEMP");
            let entry = NameEntry { code, is_local: true, in_table: true, ..NameEntry::default() };
            self.entries.push(entry);
            next
        });
        Some((id, close + 1))
    }

    fn intern(&mut self, name: &[u8]) -> NameId {
        let code = match &mut self.long {
            // Long spellings of directives are the same with and without `--long-symbols`.
            Some(long) if self.is_zilog => long.key(name),
            Some(long) if name.len() > 6 && Directive::from_word(name).is_none() => long.key(name),
            _ => lex::packed(name),
        };
        // In Zilog's notation, two periods begin the symbols that macro calls create.
        let is_local = match self.is_zilog {
            true => name.starts_with(b".") && !name.starts_with(LOCAL),
            false => name.starts_with(LOCAL),
        };
        if is_local {
            return self.intern_local(code);
        }
        if self.is_zilog
            && let Some(local) = self.qualified_local(name)
        {
            return local;
        }
        match self.globals.get(&code) {
            Some(known) => *known,
            None => self.add_global(code),
        }
    }
}

impl std::ops::Index<NameId> for NameTable {
    type Output = NameEntry;

    fn index(&self, id: NameId) -> &NameEntry {
        &self.entries[id as usize]
    }
}

impl std::ops::IndexMut<NameId> for NameTable {
    fn index_mut(&mut self, id: NameId) -> &mut NameEntry {
        &mut self.entries[id as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_characters_count_unless_long_symbols_are_on() {
        for (long, same) in [(false, true), (true, false)] {
            let mut names = NameTable::new(&Options { long_symbols: long, ..Options::default() });
            let first = names.intern(b"ATTACKER");
            let second = names.intern(b"attackED");
            assert_eq!(first == second, same);
            assert_eq!(names.spelling(first), if long { "ATTACKER" } else { "ATTACK" });
        }
    }

    #[test]
    fn the_location_counter_is_recognized_by_its_code() {
        let mut names = NameTable::new(&Options::default());
        let here = names.intern(b".");
        assert!(names[here].is_location_counter() && names.spelling(here) == ".");
    }

    #[test]
    fn locals_differ_from_scope_to_scope() {
        let mut names = NameTable::new(&Options::default());
        let local = names.intern(b"..L");
        let global = names.intern(b"L");
        names.begin_scope(global, TableEntryKind::Symbol);
        assert_ne!(names.intern(b"..L"), local);
        assert_eq!(names.intern(b"L"), global);
    }
}
