//! Definitions of symbols.

use crate::diag::{Code, Diagnostic};
use crate::references::Role;
use crate::source::Span;
use crate::syntax::Cursor;

use super::eval::Evaluated;
use super::names::{Definition, Entry, Name, NameId, Special, State};
use super::value::{BaseId, Value};
use super::{Assembler, Pass, Step};

impl Assembler<'_> {
    /// Returns the number by which definitions of this pass are known.
    pub(super) fn pass_number(&self) -> u8 {
        if self.pass == Pass::Second { 2 } else { 1 }
    }

    /// Whether an assignment of this kind can change the symbol at all; if not, that is reported,
    /// before anything about the value.
    pub(super) fn check_assignable(&mut self, name: NameId, kind: Definition, span: Span) -> bool {
        let entry = self.naming.names[name];
        let never = entry.special.is_some()
            || entry.is_here()
            || matches!(entry.definition, Definition::Label | Definition::External)
            || (entry.definition == Definition::Fixed && kind == Definition::Variable);
        if !never {
            return true;
        }
        self.mention(name, span, Role::Definition);
        self.naming.here_doubled |= entry.is_here();
        self.naming.names[name].doubled = true;
        self.report_redefinition(name, &entry, span);
        self.naming.names[name].pass = self.pass_number();
        false
    }

    /// Defines a symbol, or reports why it cannot be.
    pub(super) fn define(&mut self, name: NameId, state: State, kind: Definition, span: Span) {
        self.mention(name, span, Role::Definition);
        self.naming.names.enter(name);
        if self.pass != Pass::Second && self.naming.names.define_new(name, state, kind, span) {
            return;
        }
        let entry = self.naming.names[name];
        // What stood for the operator's value above stands for the symbol's in a second pass, and a
        // variable is found fixed there.
        self.reports.wants_two |= (self.pass == Pass::Only && entry.operator.is_some())
            || (entry.definition == Definition::Variable && kind == Definition::Fixed);
        if entry.special.is_some() {
            if kind == Definition::Label {
                self.naming.names.begin_scope(name, Entry::Symbol);
            }
            return self.redefine(name, &entry, kind, span);
        }
        if kind == Definition::Label && entry.is_here() {
            return; // The location counter as a label is nothing.
        }
        let first = entry.definition == Definition::None || entry.pass != self.pass_number();
        let fixed = matches!(entry.definition, Definition::Fixed | Definition::Label);
        let changes = match entry.definition {
            Definition::None => false,
            Definition::External => return self.redefine(name, &entry, kind, span),
            // A variable takes any value, but no place: a label of the same value leaves it alone.
            Definition::Variable => {
                kind == Definition::Label && (entry.state != state || entry.doubled)
            }
            // A label is one too many even if it has the same value.
            Definition::Fixed if kind == Definition::Label => true,
            Definition::Fixed | Definition::Label => entry.state != state,
        };
        let wrong = changes && (entry.doubled || !entry.late);
        let second = self.pass == Pass::Second;
        let moves = wrong && second && kind != Definition::Variable && !entry.doubled;
        if moves {
            self.report_phase(name, &entry, state, span);
        } else if wrong {
            self.redefine(name, &entry, kind, span);
        }
        // A label begins a scope even if it is one too many, but not if it moves.
        let begins = (first || kind == Definition::Label) && !moves;
        if begins && !self.naming.names[name].is_local() {
            self.naming.names.begin_scope(name, Entry::Symbol);
        }
        let variable = entry.definition == Definition::Variable && kind == Definition::Label;
        let kept = fixed || changes || variable;
        self.set_definition(name, state, if kept { entry.definition } else { kind }, kept, span);
    }

    /// Notes a definition; one that is `kept` leaves the value as it was.
    fn set_definition(
        &mut self,
        name: NameId,
        state: State,
        kind: Definition,
        kept: bool,
        span: Span,
    ) {
        let pass = self.pass_number();
        let second = self.pass == Pass::Second;
        let entry = &mut self.naming.names[name];
        entry.late |= second && entry.definition == Definition::None;
        if entry.definition == Definition::None || (entry.pass != pass && entry.place != u32::MAX) {
            entry.place = span.start;
        }
        if !kept {
            entry.state = state;
            entry.definition = kind;
        }
        entry.pass = pass;
    }

    /// Marks a symbol as defined twice. The original adds a Q where `=` is used.
    fn redefine(&mut self, name: NameId, entry: &Name, kind: Definition, span: Span) {
        let segment = matches!(entry.special, Some(Special::Segment(_)));
        let external = segment || entry.definition == Definition::External;
        if !external || kind != Definition::Label {
            self.naming.names[name].doubled = true;
        }
        if external && kind == Definition::Label {
            let message = format!("{} is declared external", self.naming.names.spelling(name));
            return self.error(Code::External, span, message);
        }
        self.report_redefinition(name, entry, span);
        if kind == Definition::Variable {
            self.error(Code::Kept, span, "the symbol keeps its first value");
        }
    }

    fn report_phase(&mut self, name: NameId, entry: &Name, state: State, span: Span) {
        let spelling = self.naming.names.spelling(name);
        let message = match (entry.state, state) {
            (State::Value(first), State::Value(second)) => format!(
                "{spelling} is {} in the first pass and {} in the second",
                shown(first),
                shown(second)
            ),
            _ => format!("{spelling} has another value than in the first pass"),
        };
        let help = "something above depends on a symbol that is defined only below it";
        let mut diagnostic = Diagnostic::new(Code::Phase, span, message).help(help);
        if let Some(parted) = self.input.places.parted {
            let line = self.input.sources.rest_of_line(parted);
            diagnostic = diagnostic.label(line, "the passes part behind this line");
        }
        self.report(diagnostic);
    }

    pub(super) fn report_redefinition(&mut self, name: NameId, entry: &Name, span: Span) {
        let spelling = self.naming.names.spelling(name);
        if entry.special.is_some() {
            let message = format!("{spelling} is a register or section and cannot be redefined");
            return self.error(Code::Register, span, message);
        }
        if entry.is_here() {
            let message = "the location counter cannot be assigned; .LOC sets it";
            return self.error(Code::Redefined, span, message);
        }
        let message = format!("{spelling} is already defined with another value");
        let mut diagnostic = Diagnostic::new(Code::Redefined, span, message);
        if entry.place == u32::MAX {
            diagnostic = diagnostic.help("its value comes from the options");
        } else if entry.place != span.start {
            diagnostic = diagnostic.label(self.symbol_span(entry.place), "first defined here");
        }
        if !self.options.long_symbols && self.input.sources.slice(span).len() > 6 {
            diagnostic = diagnostic
                .help("only six characters of a name count; --long-symbols lets all of them");
        }
        self.report(diagnostic);
    }

    /// The value on the right of an `=`.
    pub(super) fn assigned_value(&mut self, cursor: &mut Cursor<'_>) -> Step<State> {
        self.parse_expression(0, cursor);
        if self.operands[0].ops.is_empty() {
            self.error(Code::Expression, cursor.here(), "a value is missing");
        }
        Ok(match self.evaluate(0)? {
            Evaluated::Known(value) => State::Value(value),
            Evaluated::Later(expression) => State::Deferred(expression),
        })
    }

    /// Declares a symbol external, unless it is already.
    pub(super) fn declare_external(&mut self, name: NameId, span: Span) {
        let pass = self.pass_number();
        let entry = self.naming.names[name];
        let spelling = || self.naming.names.spelling(name);
        if entry.definition == Definition::External {
            if entry.exported {
                let message = format!("{} is exported and cannot be external", spelling());
                self.error(Code::External, span, message);
            }
            return;
        }
        if entry.is_local() {
            let message = format!("{} is local and cannot be external", spelling());
            return self.error(Code::External, span, message);
        }
        if entry.special.is_some() {
            self.naming.names[name].doubled = true;
            return self.report_redefinition(name, &entry, span);
        }
        if entry.definition != Definition::None {
            return self.declare_defined(name, &entry, span);
        }
        let base = BaseId(BaseId::FIRST_EXTERNAL + self.naming.externals.len() as u32);
        self.naming.externals.push(name);
        self.naming.names.enter(name);
        let entry = &mut self.naming.names[name];
        entry.state = State::Value(Value::in_base(base, 0));
        entry.definition = Definition::External;
        entry.pass = pass;
        entry.place = span.start;
    }

    /// A symbol that is defined here is declared external: the original marks the clash of the two
    /// meanings, and besides what is exported or no place.
    fn declare_defined(&mut self, name: NameId, entry: &Name, span: Span) {
        let absolute = matches!(entry.state, State::Value(value) if value.is_absolute());
        let count = usize::from(entry.exported) + usize::from(absolute);
        if count > 0 {
            let spelling = self.naming.names.spelling(name);
            let message = format!("{spelling} is defined here and cannot be external");
            self.error_counted(Code::External, span, &message, count);
        }
        if !entry.entry {
            self.naming.names[name].doubled = true;
            self.report_redefinition(name, entry, span);
        }
    }
}

/// A value as messages show it.
fn shown(value: Value) -> String {
    let listed = value.listed();
    match listed.base {
        0 => format!("{:04X}H", listed.number),
        1 => format!("{:04X}H in .PROG.", listed.number),
        2 => format!("{:04X}H in .DATA.", listed.number),
        3 => format!("{:04X}H in .BLNK.", listed.number),
        _ => format!("{:04X}H in an external area", listed.number),
    }
}
