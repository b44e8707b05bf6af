//! Directives about names: external, exported, second names.

use crate::diag::{Code, Diagnostic};
use crate::references::Role;
use crate::source::Span;
use crate::syntax::expr::Intern;
use crate::syntax::{Cursor, lex};

use super::super::names::{Definition, NameId, State};
use super::super::{Assembler, Step};
use super::{Directive, Synonym};

impl Assembler<'_> {
    /// `.EXTERN`, `.INTERN` and `.ENTRY`: a list of symbols.
    pub(super) fn link(
        &mut self,
        directive: Directive,
        span: Span,
        cursor: &mut Cursor<'_>,
    ) -> Step {
        loop {
            let Some((name, at)) = self.name_operand(span, cursor) else { return Ok(()) };
            match directive {
                Directive::External => {
                    self.mention(name, at, Role::Declaration);
                    self.declare_external(name, at);
                }
                _ => {
                    self.mention(name, at, Role::Use);
                    let entry = &mut self.names[name];
                    entry.exported = true;
                    entry.entry |= directive == Directive::Entry;
                    self.export_uses.push((name, at));
                }
            }
            cursor.skip_blanks();
            if !cursor.eat(b',') {
                return Ok(());
            }
        }
    }

    fn name_operand(&mut self, span: Span, cursor: &mut Cursor<'_>) -> Option<(NameId, Span)> {
        cursor.skip_blanks();
        let start = cursor.offset();
        let Some(word) = cursor.take(lex::symbol) else {
            self.error(Code::Operand, span, "a symbol is missing");
            cursor.skip_to_line_end();
            return None;
        };
        Some((self.names.intern(word), cursor.since(start)))
    }

    /// `.SYN old,new` and its kin.
    pub(super) fn synonym(&mut self, kind: Synonym, span: Span, cursor: &mut Cursor<'_>) -> Step {
        let Some((old, at)) = self.name_operand(span, cursor) else { return Ok(()) };
        self.mention(old, at, Role::Use);
        cursor.skip_blanks();
        if !cursor.eat(b',') {
            self.error(Code::Operand, cursor.here(), "a comma and the new name are missing");
            return Ok(());
        }
        let Some((new, place)) = self.name_operand(span, cursor) else { return Ok(()) };
        self.mention(new, place, Role::Definition);
        let done = match kind {
            Synonym::Operator => self.copy_operator(old, new),
            Synonym::Symbol => self.copy_symbol(old, new),
            Synonym::Macro => self.copy_macro(old, new),
            Synonym::Any => {
                self.copy_symbol(old, new)
                    || self.copy_macro(old, new)
                    || self.copy_operator(old, new)
            }
        };
        if !done {
            let message = format!(
                "{} is nothing that could have a second name here",
                self.names.spelling(old)
            );
            self.report(Diagnostic::new(Code::Undefined, at, message));
        }
        Ok(())
    }

    fn copy_operator(&mut self, old: NameId, new: NameId) -> bool {
        let operator = self.names[old].operator;
        if operator.is_some() {
            self.names[new].operator = operator;
        }
        operator.is_some()
    }

    /// The copy has the value that the symbol has now.
    fn copy_symbol(&mut self, old: NameId, new: NameId) -> bool {
        let entry = self.names[old];
        if entry.special.is_none() && entry.state == State::Undefined {
            return false;
        }
        let pass = self.pass_number();
        let copy = &mut self.names[new];
        (copy.special, copy.state, copy.place) = (entry.special, entry.state, entry.place);
        if entry.state != State::Undefined {
            (copy.definition, copy.pass) = (Definition::Variable, pass);
        }
        true
    }
}
