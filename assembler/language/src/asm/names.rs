//! The table of names: symbols, macros, instructions, directives and registers share it, so that
//! one look-up per word answers every question.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;
use smol_str::SmolStr;

use crate::isa::{FORMS, Register};
use crate::source::Span;
use crate::syntax::expr::Intern;
use crate::syntax::lex::RADIX40;

use super::directive::Directive;
use super::index::Index;
use super::value::Value;

/// A name's index in the table.
pub(crate) type NameId = u32;

/// The role of a name in the operator field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    /// An instruction: the index of its first form.
    Instruction(u16),
    Directive(Directive),
}

/// A name that has a meaning of its own in operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Special {
    Register(Register),
    /// The number of its relocation base.
    Segment(u8),
}

/// The state of a symbol's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum State {
    #[default]
    Undefined,
    Value(Value),
    /// Assigned an expression that waits for symbols further below.
    Deferred(u32),
}

/// The way a symbol was defined last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Definition {
    #[default]
    None,
    /// By a single `=`: it may change.
    Variable,
    /// By `==`.
    Fixed,
    /// By a label.
    Label,
    /// By `.EXTERN` or `SYM#`.
    External,
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Name {
    /// The name in the 40-character set, or from [`LONG`] on the number of a long one.
    code: u32,
    pub(crate) state: State,
    /// The place where it was defined first.
    pub(crate) place: u32,
    /// The index of the macro of this name, plus one.
    macro_plus_one: u32,
    pub(crate) operator: Option<Operator>,
    pub(crate) special: Option<Special>,
    pub(crate) definition: Definition,
    /// The pass that defined it last.
    pub(crate) pass: u8,
    /// Whether it has two definitions that differ.
    pub(crate) doubled: bool,
    /// Whether an operator of this name is made a second time.
    pub(crate) operator_again: bool,
    /// Whether a macro of this name is defined a second time.
    pub(crate) macro_again: bool,
    /// Whether only the second pass has defined it.
    pub(crate) late: bool,
    /// Whether its value was asked for, at `place`.
    pub(crate) asked: bool,
    local: bool,
    pub(crate) exported: bool,
    pub(crate) entry: bool,
    /// Whether it was used and no definition found: the table of symbols shows such a name too.
    pub(crate) missed: bool,
    /// Whether it has its place among the entries of the original's table.
    placed: bool,
    /// Whether it was declared for other modules, and not defined yet.
    announced: bool,
    /// When it was first defined or declared, counted from 1; 0 if it was not.
    pub(crate) entered: u32,
}

impl Name {
    pub(crate) fn macro_index(&self) -> Option<usize> {
        self.macro_plus_one.checked_sub(1).map(|index| index as usize)
    }

    pub(crate) fn set_macro(&mut self, index: usize) {
        self.macro_plus_one = index as u32 + 1;
    }

    /// The value of a symbol that has one, and means nothing else.
    #[inline]
    pub(crate) fn plain_value(&self) -> Option<Value> {
        match self.state {
            State::Value(value)
                if self.macro_plus_one == 0
                    && !self.doubled
                    && self.definition != Definition::External =>
            {
                Some(value)
            }
            _ => None,
        }
    }

    /// Whether a symbol of this name goes into the module.
    pub(crate) fn is_global_symbol(&self) -> bool {
        !self.is_local() && self.special.is_none() && self.definition != Definition::None
    }

    /// Whether this is `.`, the location counter.
    pub(crate) fn is_here(&self) -> bool {
        self.code == HERE
    }

    /// Whether this is a `..local`.
    pub(crate) fn is_local(&self) -> bool {
        self.local
    }
}

/// Six characters of a 40-character set fit in 32 bits; keys from here on are long names.
const LONG: u32 = 40u32.pow(6);

/// The code of `.`, the last of the 40 characters.
const HERE: u32 = 39 * 40u32.pow(5);

/// Programs have about one new name in so many bytes.
const BYTES_A_NAME: usize = 128;
/// Few programs have more names than one in so many bytes.
const LEAST_BYTES_A_NAME: usize = 64;

/// The kinds of entries that the original's table has for a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entry {
    Symbol,
    Macro,
    Operator,
}

/// The scope of the `..locals` below an entry of the table.
fn scope_of(id: NameId, entry: Entry) -> u32 {
    4 * id + 1 + entry as u32
}

/// All names of a module.
pub(crate) struct Names {
    entries: Vec<Name>,
    globals: Index,
    /// The `..locals` of all scopes, by scope and name.
    locals: HashMap<(u32, u32), NameId, FxBuildHasher>,
    long: Option<LongNames>,
    /// The registers of one letter, by that letter.
    letters: [Option<(NameId, Register)>; 26],
    /// The scope of `..locals`: 0 before the first symbol.
    scope: u32,
    /// The scope to which new `..locals` are added: that of the last global entry of the table.
    last: u32,
    /// Whether a `..local` was met where those two differ.
    apart: bool,
    /// The number of names that were entered.
    entered: u32,
}

#[derive(Default)]
struct LongNames {
    index: HashMap<Box<[u8]>, u32, FxBuildHasher>,
    names: Vec<Box<[u8]>>,
}

impl LongNames {
    fn key(&mut self, name: &[u8]) -> u32 {
        let name: Box<[u8]> = name.to_ascii_uppercase().into();
        let next = self.names.len() as u32;
        *self.index.entry(name).or_insert_with_key(|name| {
            self.names.push(name.clone());
            LONG + next
        })
    }
}

impl Names {
    /// The names that the language defines.
    pub(crate) fn new(long_symbols: bool) -> Self {
        let mut names = Self {
            entries: Vec::with_capacity(1024),
            globals: Index::with_capacity(512),
            locals: HashMap::default(),
            long: None,
            letters: [None; 26],
            scope: 0,
            last: 0,
            apart: false,
            entered: 0,
        };
        names.add_language();
        names.long = long_symbols.then(LongNames::default);
        names
    }

    fn add_language(&mut self) {
        for (at, form) in FORMS.iter().enumerate() {
            if at == 0 || FORMS[at - 1].mnemonic != form.mnemonic {
                let id = self.intern(form.mnemonic.as_bytes());
                self[id].operator = Some(Operator::Instruction(at as u16));
            }
        }
        for (spelling, directive) in Directive::NAMES {
            let id = self.intern(spelling.as_bytes());
            self[id].operator = Some(Operator::Directive(*directive));
        }
        for (spelling, base) in [(".PROG.", 1), (".DATA.", 2), (".BLNK.", 3)] {
            let id = self.intern(spelling.as_bytes());
            self[id].special = Some(Special::Segment(base));
        }
        for (spelling, register) in Register::NAMES {
            let id = self.intern(spelling.as_bytes());
            self[id].special = Some(Special::Register(register));
            if let [letter] = spelling.as_bytes() {
                self.letters[usize::from(letter - b'A')] = Some((id, register));
            }
        }
    }

    /// Notes that a name is defined or declared: TDL's own objects list names in this order.
    #[inline]
    pub(crate) fn enter(&mut self, id: NameId) {
        if self[id].entered == 0 {
            self.entered += 1;
            self[id].entered = self.entered;
            self.place(id);
        } else if self[id].announced {
            self[id].announced = false;
            self.last = scope_of(id, Entry::Symbol);
        }
    }

    /// Notes that a name is declared which is to be defined below. Its definition then takes a
    /// place of its own: no program with `..locals` below an exported label shows whether the
    /// original finds them, and all that is written so would be refused.
    pub(crate) fn announce(&mut self, id: NameId) {
        if self[id].entered == 0 {
            self.enter(id);
            self[id].announced = true;
        }
    }

    /// The scope to which new `..locals` are added.
    pub(crate) fn local_place(&self) -> u32 {
        self.last
    }

    /// Has new `..locals` added to a scope again.
    pub(crate) fn add_locals_to(&mut self, scope: u32) {
        self.last = scope;
    }

    /// Gives a symbol its place at the end of the original's table. `..locals` are sought from the
    /// entry that began their scope up to the next global one, so that one which is added below
    /// another entry is not found again.
    #[inline]
    pub(crate) fn place(&mut self, id: NameId) {
        let name = &mut self[id];
        if name.placed || name.special.is_some() || name.code == HERE {
            return;
        }
        name.placed = true;
        let (local, code) = (name.local, name.code);
        if !local {
            self.last = scope_of(id, Entry::Symbol);
        } else if self.scope != self.last {
            self.locals.remove(&(self.scope, code));
            let known = self.locals.get(&(self.last, code));
            if known.is_none_or(|known| !self[*known].placed) {
                self.locals.insert((self.last, code), id);
            }
        }
    }

    /// Gives a macro or an operator of this name its place, which is not that of the symbol.
    pub(crate) fn place_entry(&mut self, id: NameId, entry: Entry) {
        if !self[id].local {
            self.last = scope_of(id, entry);
        }
    }

    /// Whether two passes may see other `..locals` than one.
    pub(crate) fn locals_are_apart(&self) -> bool {
        self.apart
    }

    /// Begins the scope of `..locals` that belongs to a global symbol or macro. In the second pass
    /// the scope is the same again, whatever is defined before it.
    pub(crate) fn begin_scope(&mut self, of: NameId, entry: Entry) {
        self.scope = scope_of(of, entry);
    }

    /// The scope of `..locals` that is open.
    pub(crate) fn scope(&self) -> u32 {
        self.scope
    }

    /// Goes on in a scope.
    pub(crate) fn go_on_in(&mut self, scope: u32) {
        self.scope = scope;
    }

    /// Begins another pass, before all symbols.
    pub(crate) fn restart_scopes(&mut self) {
        self.scope = 0;
    }

    /// The name in capitals, as far as it counts.
    pub(crate) fn spelling(&self, id: NameId) -> SmolStr {
        let code = self[id].code;
        if let (Some(long), true) = (&self.long, code >= LONG) {
            return String::from_utf8_lossy(&long.names[(code - LONG) as usize]).into();
        }
        const LETTERS: &[u8; 40] = b" 0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ$%.";
        let mut letters = [b' '; 6];
        let mut rest = code;
        for letter in letters.iter_mut().rev() {
            *letter = LETTERS[(rest % 40) as usize];
            rest /= 40;
        }
        // Blanks only fill a short name up, at its end.
        SmolStr::new(str::from_utf8(letters.trim_ascii_end()).unwrap_or_default())
    }

    /// Defines a symbol that had no meaning so far, as most have when they are met; `false` if it
    /// had one.
    #[inline]
    pub(crate) fn define_new(
        &mut self,
        id: NameId,
        state: State,
        kind: Definition,
        span: Span,
    ) -> bool {
        let name = &mut self[id];
        let unknown = name.definition == Definition::None
            && name.special.is_none()
            && name.operator.is_none()
            && name.code != HERE;
        if unknown {
            (name.state, name.definition, name.place, name.pass) = (state, kind, span.start, 1);
            if !name.local {
                self.begin_scope(id, Entry::Symbol);
            }
        }
        unknown
    }

    /// Returns the register of one letter, unless the name has another meaning or two of them.
    #[inline]
    pub(crate) fn register(&self, letter: u8) -> Option<Register> {
        let (id, register) =
            *self.letters.get(usize::from((letter | 0x20).wrapping_sub(b'a')))?.as_ref()?;
        let name = &self[id];
        (letter.is_ascii_alphabetic() && name.macro_plus_one == 0 && !name.doubled)
            .then_some(register)
    }

    /// Returns how many names there are.
    pub(crate) fn len(&self) -> NameId {
        self.entries.len() as NameId
    }

    /// All names with their numbers, in the order in which they were met.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (NameId, &Name)> {
        self.entries.iter().enumerate().map(|(id, name)| (id as NameId, name))
    }

    /// The part of a spelling that counts, in capitals.
    pub(crate) fn significant(&self, name: &[u8]) -> SmolStr {
        let kept = if self.long.is_some() { name } else { &name[..name.len().min(6)] };
        kept.iter().map(|byte| char::from(byte.to_ascii_uppercase())).collect()
    }

    /// Makes room for the names that a text of this length is likely to have.
    pub(crate) fn expect_text(&mut self, length: usize) {
        self.entries.reserve(length / LEAST_BYTES_A_NAME);
        self.globals.reserve(length / BYTES_A_NAME);
    }

    #[inline]
    fn code(&mut self, name: &[u8]) -> u32 {
        match &mut self.long {
            Some(long) if name.len() > 6 && !is_directive(name) => long.key(name),
            _ => pack(name),
        }
    }

    fn intern_local(&mut self, code: u32) -> NameId {
        self.apart |= self.scope != self.last;
        let next = self.entries.len() as NameId;
        *self.locals.entry((self.scope, code)).or_insert_with(|| {
            self.entries.push(Name { code, local: true, ..Name::default() });
            next
        })
    }
}

/// Long spellings of directives mean the same in every mode.
fn is_directive(name: &[u8]) -> bool {
    let code = pack(name);
    name[0] == b'.' && Directive::NAMES.iter().any(|(known, _)| pack(known.as_bytes()) == code)
}

#[inline]
fn pack(name: &[u8]) -> u32 {
    const SCALE: [u32; 7] = [LONG, 40u32.pow(5), 40u32.pow(4), 40u32.pow(3), 40u32.pow(2), 40, 1];
    let name = &name[..name.len().min(6)];
    let code = |byte: &u8| u32::from(RADIX40[usize::from(*byte)]);
    name.iter().fold(0, |packed, byte| packed * 40 + code(byte)).wrapping_mul(SCALE[name.len()])
}

impl Intern for Names {
    #[inline]
    fn intern(&mut self, name: &[u8]) -> NameId {
        let code = self.code(name);
        if name.starts_with(b"..") {
            return self.intern_local(code);
        }
        let next = self.entries.len() as NameId;
        let id = self.globals.number(code, next);
        if id == next {
            self.entries.push(Name { code, ..Name::default() });
        }
        id
    }
}

impl std::ops::Index<NameId> for Names {
    type Output = Name;

    #[inline]
    fn index(&self, id: NameId) -> &Name {
        &self.entries[id as usize]
    }
}

impl std::ops::IndexMut<NameId> for Names {
    #[inline]
    fn index_mut(&mut self, id: NameId) -> &mut Name {
        &mut self.entries[id as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_characters_count_unless_long_symbols_are_on() {
        for (long, same) in [(false, true), (true, false)] {
            let mut names = Names::new(long);
            let first = names.intern(b"ATTACKER");
            let second = names.intern(b"attackED");
            assert_eq!(first == second, same);
            assert_eq!(names.spelling(first), if long { "ATTACKER" } else { "ATTACK" });
        }
    }

    #[test]
    fn the_location_counter_is_known_by_its_code() {
        let mut names = Names::new(false);
        let here = names.intern(b".");
        assert!(names[here].is_here() && names.spelling(here) == ".");
    }

    #[test]
    fn locals_differ_from_scope_to_scope() {
        let mut names = Names::new(false);
        let local = names.intern(b"..L");
        let global = names.intern(b"L");
        names.begin_scope(global, Entry::Symbol);
        assert_ne!(names.intern(b"..L"), local);
        assert_eq!(names.intern(b"L"), global);
    }
}
