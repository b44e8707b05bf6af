//! Directives about names: external, exported, second names.

use crate::diag::{Code, Diagnostic};
use crate::references::Role;
use crate::source::Span;
use crate::syntax::expr::Intern;
use crate::syntax::{Cursor, lex};

use super::super::names::{Definition, Entry, NameId, Special, State};
use super::super::statement::Ending;
use super::super::value::{BaseId, Value};
use super::super::{Assembler, Pass, Step};
use super::{Directive, Synonym};

impl Assembler<'_> {
    /// `.EXTERN`, `.INTERN` and `.ENTRY`: a list of symbols.
    pub(super) fn link(
        &mut self,
        directive: Directive,
        span: Span,
        cursor: &mut Cursor<'_>,
    ) -> Step<Ending> {
        cursor.skip_blanks();
        if cursor.at_statement_end() {
            self.error(Code::Short, span, "a symbol is missing");
            return Ok(Ending::Open);
        }
        loop {
            let Some((name, at)) = self.name_operand(span, cursor) else {
                return Ok(Ending::Open);
            };
            match directive {
                Directive::External => {
                    self.mention(name, at, Role::Declaration);
                    self.declare_external(name, at);
                }
                _ => {
                    self.mention(name, at, Role::Use);
                    self.export_declared(name, at, directive == Directive::Entry);
                }
            }
            cursor.skip_blanks();
            if !cursor.eat(b',') {
                return Ok(Ending::List);
            }
        }
    }

    /// Exports a symbol that `.INTERN` or `.ENTRY` names.
    fn export_declared(&mut self, name: NameId, at: Span, entry: bool) {
        let known = self.naming.names[name];
        let spelling = self.naming.names.spelling(name);
        if known.is_local() {
            let message = format!("{spelling} is local and cannot be exported");
            self.error(Code::Operand, at, message);
        }
        let segment = matches!(known.special, Some(Special::Segment(_)));
        // Only the second pass finds what is exported declared external below.
        let external = known.definition == Definition::External && !known.exported;
        if external || segment {
            let message = format!("{spelling} is not defined here and cannot be exported");
            return self.error(Code::External, at, message);
        }
        match self.pass {
            Pass::Only => self.naming.export_uses.push((name, at)),
            Pass::Second if known.definition == Definition::None && known.special.is_none() => {
                self.report_undefined(name, at);
            }
            Pass::Second if known.doubled => self.report_doubled(name, at.start),
            _ => {}
        }
        self.begin_first_scope(name, known.entered > 0 || known.missed, Entry::Symbol);
        self.naming.names.announce(name);
        self.naming.names[name].exported = true;
        self.naming.names[name].entry |= entry;
    }

    /// Exports a symbol where it is defined: `NAME::` and `NAME=:`.
    pub(in super::super) fn export(&mut self, name: NameId, at: Span, entry: bool) {
        let known = self.naming.names[name];
        if known.is_local() {
            let spelling = self.naming.names.spelling(name);
            let message = format!("{spelling} is local and cannot be exported");
            return self.error(Code::Internal, at, message);
        }
        self.naming.names[name].exported = true;
        self.naming.names[name].entry |= entry;
    }

    fn name_operand(&mut self, span: Span, cursor: &mut Cursor<'_>) -> Option<(NameId, Span)> {
        cursor.skip_blanks();
        let start = cursor.offset();
        let Some(word) = cursor.take(lex::symbol) else {
            self.error(Code::Operand, span, "a symbol is missing");
            return None;
        };
        Some((self.naming.names.intern(word), cursor.since(start)))
    }

    /// `.SYN old,new` and its kin.
    pub(super) fn synonym(
        &mut self,
        kind: Synonym,
        span: Span,
        cursor: &mut Cursor<'_>,
    ) -> Step<Ending> {
        let Some((old, at)) = self.name_operand(span, cursor) else { return Ok(Ending::Open) };
        self.mention(old, at, Role::Use);
        let Some(meaning) = self.meaning(kind, old) else {
            if self.pass == Pass::Only {
                // It may have a meaning further below.
                self.reports.wants_two = true;
            }
            self.report_no_meaning(old, at);
            return Ok(Ending::Open);
        };
        cursor.skip_blanks();
        if !cursor.eat(b',') && !self.skip_to_comma(cursor) {
            return Ok(Ending::Open);
        }
        let known = self.naming.names.len();
        let Some((new, place)) = self.name_operand(span, cursor) else {
            return Ok(Ending::Open);
        };
        self.mention(new, place, Role::Definition);
        let is_text = matches!(meaning, Meaning::Macro(_) | Meaning::Operator(_));
        let is_here = self.naming.names[new].is_here();
        // The second of two passes knows the new meaning above this place, too.
        self.reports.wants_two |= (is_text && new < known) || is_here;
        if self.pass != Pass::Second && matches!(meaning, Meaning::Symbol(..)) {
            // The copy of a symbol that is defined twice is marked like it.
            self.naming.names[new].doubled |= self.naming.names[old].doubled;
        }
        self.give_meaning(kind, new, meaning, place);
        Ok(Ending::Open)
    }

    /// Moves past the next comma of the line, which should have come at once.
    fn skip_to_comma(&mut self, cursor: &mut Cursor<'_>) -> bool {
        let message = "a comma and the new name are missing";
        let line = cursor.rest();
        let length = line.iter().position(|byte| matches!(byte, b'\n' | b'\r' | b';'));
        let length = length.unwrap_or(line.len());
        let found = memchr::memchr(b',', &line[..length]);
        let count = if found.is_some() { 1 } else { 2 };
        self.error_counted(Code::Operand, cursor.here(), message, count);
        cursor.advance(found.map_or(length, |at| at + 1));
        found.is_some()
    }

    fn report_no_meaning(&mut self, old: NameId, at: Span) {
        let spelling = self.naming.names.spelling(old);
        let message = format!("{spelling} is nothing that could have a second name here");
        self.error(Code::Undefined, at, message);
    }

    /// The meaning of a name that a directive of this kind copies.
    fn meaning(&self, kind: Synonym, old: NameId) -> Option<Meaning> {
        let entry = self.naming.names[old];
        let symbol = || match (entry.state, entry.special) {
            _ if entry.is_here() => {
                Some(Meaning::Symbol(State::Value(self.emission.here), Definition::Fixed))
            }
            (State::Undefined, Some(Special::Register(register))) => {
                let value = Value::absolute(register.value().into());
                Some(Meaning::Symbol(State::Value(value), Definition::Fixed))
            }
            (State::Undefined, Some(Special::Segment(base))) => {
                let value = self.emission.output.end_of_area(BaseId(base.into()));
                Some(Meaning::Symbol(State::Value(value), Definition::Fixed))
            }
            (State::Undefined, None) => None,
            (state, _) => Some(Meaning::Symbol(state, copied_kind(entry.definition))),
        };
        let macro_text = || entry.macro_index().map(|_| Meaning::Macro(old));
        let operator = || entry.operator.map(Meaning::Operator);
        match kind {
            Synonym::Operator => operator(),
            Synonym::Symbol => symbol(),
            Synonym::Macro => macro_text(),
            Synonym::Any => symbol().or_else(macro_text).or_else(operator),
        }
    }

    /// Gives a name a meaning; one that it has already stays.
    fn give_meaning(&mut self, kind: Synonym, new: NameId, meaning: Meaning, place: Span) {
        match meaning {
            Meaning::Symbol(state, definition) => self.define_copy(new, state, definition, place),
            Meaning::Macro(old) => {
                let known = self.naming.names[new].macro_index().is_some();
                // The second pass knows all meanings of the first: only that can tell which is the
                // second.
                self.naming.names[new].macro_again |= known && self.pass != Pass::Second;
                // .MASYN marks the copy of a macro that was defined twice above.
                let doubled = kind == Synonym::Macro && self.naming.names[old].macro_again;
                self.naming.names[new].macro_again |= doubled && self.pass != Pass::Second;
                if self.naming.names[new].macro_again {
                    self.report_second_meaning(new, place);
                }
                self.copy_macro(old, new);
            }
            // No operator is looked up among the ..locals.
            Meaning::Operator(_) if self.naming.names[new].is_local() => {}
            Meaning::Operator(operator) => {
                let known = self.naming.names[new].operator.is_some();
                self.begin_first_scope(new, known, Entry::Operator);
                if !known {
                    self.naming.names.place_entry(new, Entry::Operator);
                }
                self.naming.names[new].operator_again |= known && self.pass != Pass::Second;
                if self.naming.names[new].operator_again {
                    self.report_second_meaning(new, place);
                }
                self.naming.names[new].operator.get_or_insert(operator);
            }
        }
    }

    /// Defines a symbol that has the value of another. In the second pass the value may differ.
    fn define_copy(&mut self, new: NameId, state: State, kind: Definition, place: Span) {
        let entry = self.naming.names[new];
        if self.pass != Pass::Second {
            let known = entry.definition != Definition::None && entry.state != state;
            // A variable may be assigned again, but not by this.
            let kind = if known { Definition::Label } else { kind };
            let scope = self.naming.names.scope();
            self.define(new, state, kind, place);
            // A copy begins no scope of its own.
            return self.naming.names.go_on_in(scope);
        }
        self.naming.names.enter(new);
        if entry.doubled {
            self.report_redefinition(new, &entry, place);
        } else if !matches!(entry.definition, Definition::Label | Definition::External) {
            self.naming.names[new].state = state;
            if entry.definition == Definition::None {
                self.naming.names[new].definition = kind;
            }
        }
    }

    /// Begins the scope of `..locals` that a name begins which its first mention enters into the
    /// table. The second pass finds it there, so that its scopes differ, as on the original.
    fn begin_first_scope(&mut self, name: NameId, known: bool, entry: Entry) {
        if self.pass == Pass::First && !known && !self.naming.names[name].is_local() {
            self.naming.names.begin_scope(name, entry);
        }
    }

    fn report_second_meaning(&mut self, new: NameId, place: Span) {
        let spelling = self.naming.names.spelling(new);
        let message = format!("{spelling} has a meaning already, which stays");
        self.report(Diagnostic::new(Code::Redefined, place, message));
    }
}

/// The way in which a copy is defined.
fn copied_kind(original: Definition) -> Definition {
    match original {
        Definition::Variable => Definition::Variable,
        Definition::Label => Definition::Label,
        _ => Definition::Fixed,
    }
}

/// A meaning that a second name gets.
#[derive(Debug, Clone, Copy)]
enum Meaning {
    Symbol(State, Definition),
    Macro(NameId),
    Operator(super::super::names::Operator),
}
