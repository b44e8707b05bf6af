//! Definitions of symbols and macros.

use crate::diag::{Diagnostic, DiagnosticCode};
use crate::references::ReferenceRole;
use crate::source::Span;

use super::assembler::Assembler;
use super::macro_definition::Macro;
use super::name_table::NameId;
use super::name_table::{BuiltIn, Definition, Entry, Name};
use super::pass::Pass;
use super::suggestions::suggest_for_undefined;
use super::value::{BaseId, Value};
use std::sync::Arc;

impl Assembler<'_> {
    /// Checks whether an assignment of this kind can change the symbol. If not, reports that before
    /// any error in the value.
    pub(super) fn check_assignable(&mut self, name: NameId, kind: Definition, span: Span) -> bool {
        let entry = self.symbols.names[name];
        let never = entry.built_in.is_some()
            || entry.is_location_counter()
            || matches!(entry.definition, Definition::Label | Definition::External)
            || (entry.definition == Definition::Fixed && kind == Definition::Variable);
        if !never {
            return true;
        }
        self.record_reference(name, span, ReferenceRole::Definition);
        self.symbols.is_location_counter_assigned |= entry.is_location_counter();
        self.symbols.names[name].is_multiply_defined = true;
        self.report_redefinition(name, &entry, span);
        self.symbols.names[name].pass = self.pass_number();
        false
    }

    pub(super) fn define(
        &mut self,
        name: NameId,
        state: Option<Value>,
        kind: Definition,
        span: Span,
    ) {
        self.record_reference(name, span, ReferenceRole::Definition);
        self.symbols.names.add_symbol(name);
        if self.pass == Pass::First
            && self.symbols.names.define_new(name, state, kind, span.start, self.statement.place)
        {
            return;
        }
        let entry = self.symbols.names[name];
        self.lint_reassignment(&entry, kind, span);
        if entry.built_in.is_some() {
            if kind == Definition::Label {
                self.symbols.names.begin_scope(name, Entry::Symbol);
            }
            return self.redefine(name, &entry, kind, span);
        }
        if kind == Definition::Label && entry.is_location_counter() {
            return; // The location counter as a label is nothing.
        }
        let first = entry.definition == Definition::None || entry.pass != self.pass_number();
        let fixed = matches!(entry.definition, Definition::Fixed | Definition::Label);
        let changes = match entry.definition {
            Definition::None => false,
            Definition::External => return self.redefine(name, &entry, kind, span),
            // A label of the same value leaves a variable unchanged.
            Definition::Variable => {
                kind == Definition::Label && (entry.state != state || entry.is_multiply_defined)
            }
            // A label is a second definition even with the same value.
            Definition::Fixed if kind == Definition::Label => true,
            Definition::Fixed | Definition::Label => entry.state != state,
        };
        let wrong = changes && (entry.is_multiply_defined || !entry.is_new_in_second_pass);
        let second = self.pass == Pass::Second;
        let moves = wrong && second && kind != Definition::Variable && !entry.is_multiply_defined;
        if moves {
            self.report_phase(name, &entry, state, span);
        } else if wrong {
            self.redefine(name, &entry, kind, span);
        }
        // A label begins a scope even if it is a second definition, but not after a phase error.
        let begins = (first || kind == Definition::Label) && !moves;
        if begins && !self.symbols.names[name].is_local() {
            self.symbols.names.begin_scope(name, Entry::Symbol);
        }
        let variable = entry.definition == Definition::Variable && kind == Definition::Label;
        let kept = fixed || changes || variable;
        self.set_definition(name, state, if kept { entry.definition } else { kind }, kept, span);
    }

    /// Warns of a name that is assigned again under another spelling.
    fn lint_reassignment(&mut self, entry: &Name, kind: Definition, span: Span) {
        let is_reassigned = entry.definition == Definition::Variable && kind == entry.definition;
        if is_reassigned && span.end - span.start > 6 && entry.place != u32::MAX {
            let first = self.symbol_span(entry.place);
            let written = |span| String::from_utf8_lossy(self.sources.slice(span)).to_uppercase();
            if written(first) != written(span) {
                let message = format!("{} is also {}", written(span), written(first));
                let diagnostic = Diagnostic::new(DiagnosticCode::SameSix, span, message);
                let diagnostic = diagnostic.label(first, "first assigned here");
                let help = "only six characters of a name count; with --long-symbols all do";
                self.report(diagnostic.help(help));
            }
        }
    }

    /// Stores a definition; if `kept`, the value stays as it was.
    fn set_definition(
        &mut self,
        name: NameId,
        state: Option<Value>,
        kind: Definition,
        kept: bool,
        span: Span,
    ) {
        let pass = self.pass_number();
        let second = self.pass == Pass::Second;
        let entry = &mut self.symbols.names[name];
        entry.is_new_in_second_pass |= second && entry.definition == Definition::None;
        if entry.definition == Definition::None || (entry.pass != pass && entry.place != u32::MAX) {
            (entry.place, entry.statement) = (span.start, self.statement.place);
        }
        if !kept {
            entry.state = state;
            entry.definition = kind;
        }
        entry.pass = pass;
    }

    /// Marks a symbol as multiply defined. ZASM adds a Q where `=` is used.
    fn redefine(&mut self, name: NameId, entry: &Name, kind: Definition, span: Span) {
        let segment = matches!(entry.built_in, Some(BuiltIn::Segment(_)));
        let external = segment || entry.definition == Definition::External;
        if !external || kind != Definition::Label {
            self.symbols.names[name].is_multiply_defined = true;
        }
        if external && kind == Definition::Label {
            let message = format!("{} is declared external", self.symbols.names.spelling(name));
            return self.error(DiagnosticCode::External, span, message);
        }
        self.report_redefinition(name, entry, span);
        if kind == Definition::Variable {
            self.error(DiagnosticCode::AssignmentIgnored, span, "the symbol keeps its first value");
        }
    }

    fn report_phase(&mut self, name: NameId, entry: &Name, state: Option<Value>, span: Span) {
        let spelling = self.symbols.names.spelling(name);
        let message = match (entry.state, state) {
            (Some(first), Some(second)) => format!(
                "{spelling} is {} in the first pass and {} in the second",
                shown(first),
                shown(second)
            ),
            _ => format!("{spelling} has another value than in the first pass"),
        };
        let help = "an earlier line depends on a symbol that is defined later";
        let mut diagnostic = Diagnostic::new(DiagnosticCode::Phase, span, message).help(help);
        if let Some(diverged_at) = self.pass_comparison.diverged_at {
            let line = self.sources.rest_of_line(diverged_at);
            diagnostic = diagnostic.label(line, "the passes differ after this line");
        }
        self.report(diagnostic);
    }

    pub(super) fn report_redefinition(&mut self, name: NameId, entry: &Name, span: Span) {
        let spelling = self.symbols.names.spelling(name);
        if entry.built_in.is_some() {
            let message = format!("{spelling} is a register or section and cannot be redefined");
            return self.error(DiagnosticCode::Register, span, message);
        }
        if entry.is_location_counter() {
            let message = "the location counter cannot be assigned; .LOC sets it";
            return self.error(DiagnosticCode::Redefined, span, message);
        }
        let message = format!("{spelling} is already defined with another value");
        let mut diagnostic = Diagnostic::new(DiagnosticCode::Redefined, span, message);
        if entry.place == u32::MAX {
            diagnostic = diagnostic.help("its value comes from the options");
        } else if entry.place != span.start {
            diagnostic = diagnostic.label(self.symbol_span(entry.place), "first defined here");
        }
        if !self.options.long_symbols && self.sources.slice(span).len() > 6 {
            diagnostic =
                diagnostic.help("only six characters of a name count; with --long-symbols all do");
        }
        self.report(diagnostic);
    }

    /// Declares a symbol external, unless it already is.
    pub(super) fn declare_external(&mut self, name: NameId, span: Span) {
        let pass = self.pass_number();
        let entry = self.symbols.names[name];
        let spelling = || self.symbols.names.spelling(name);
        if entry.definition == Definition::External {
            if entry.exported {
                let message = format!("{} is exported and cannot be external", spelling());
                self.error(DiagnosticCode::External, span, message);
            }
            return;
        }
        if entry.is_local() {
            let message = format!("{} is local and cannot be external", spelling());
            return self.error(DiagnosticCode::External, span, message);
        }
        if entry.built_in.is_some() {
            self.symbols.names[name].is_multiply_defined = true;
            return self.report_redefinition(name, &entry, span);
        }
        if entry.definition != Definition::None {
            return self.declare_defined(name, &entry, span);
        }
        let base = BaseId(BaseId::FIRST_EXTERNAL + self.symbols.externals.len() as u32);
        self.symbols.externals.push(name);
        self.symbols.names.add_symbol(name);
        let entry = &mut self.symbols.names[name];
        entry.state = Some(Value::in_base(base, 0));
        entry.definition = Definition::External;
        entry.pass = pass;
        (entry.place, entry.statement) = (span.start, self.statement.place);
    }

    /// Reports a symbol that is both defined and declared external. ZASM marks the conflict, and
    /// also an exported or absolute symbol.
    fn declare_defined(&mut self, name: NameId, entry: &Name, span: Span) {
        let absolute = entry.state.is_some_and(Value::is_absolute);
        let count = usize::from(entry.exported) + usize::from(absolute);
        if count > 0 {
            let spelling = self.symbols.names.spelling(name);
            let message = format!("{spelling} is defined here and cannot be external");
            self.error_counted(DiagnosticCode::External, span, &message, count);
        }
        if !entry.entry {
            self.symbols.names[name].is_multiply_defined = true;
            self.report_redefinition(name, entry, span);
        }
    }

    #[cold]
    pub(super) fn report_doubled(&mut self, name: NameId, at: u32) {
        let message = format!("{} is defined twice", self.symbols.names.spelling(name));
        self.error(DiagnosticCode::Doubled, self.symbol_span(at), message);
    }

    pub(super) fn report_undefined(&mut self, name: NameId, span: Span) {
        self.symbols.names[name].has_undefined_use = true;
        self.symbols.names.append_symbol(name);
        let spelling = self.symbols.names.spelling(name);
        let message = format!("{spelling} is not defined");
        let mut diagnostic = Diagnostic::new(DiagnosticCode::Undefined, span, message);
        if self.sink.accepts(DiagnosticCode::Undefined)
            && let Some(suggestion) = suggest_for_undefined(&self.symbols.names, name)
        {
            diagnostic = suggestion.add_to(diagnostic, span, span.end);
        }
        self.report(diagnostic);
    }

    /// Exports a symbol named by `.INTERN` or `.ENTRY`.
    pub(super) fn export_declared(&mut self, name: NameId, at: Span, entry: bool) {
        let known = self.symbols.names[name];
        let spelling = self.symbols.names.spelling(name);
        if known.is_local() {
            let message = format!("{spelling} is local and cannot be exported");
            self.error(DiagnosticCode::Operand, at, message);
        }
        let segment = matches!(known.built_in, Some(BuiltIn::Segment(_)));
        // Only in the second pass can an exported name already be declared external by a later
        // line.
        let external = known.definition == Definition::External && !known.exported;
        if external || segment {
            let message = format!("{spelling} is not defined here and cannot be exported");
            return self.error(DiagnosticCode::External, at, message);
        }
        match self.pass {
            Pass::Second if known.definition == Definition::None && known.built_in.is_none() => {
                self.report_undefined(name, at);
            }
            Pass::Second if known.is_multiply_defined => self.report_doubled(name, at.start),
            _ => {}
        }
        self.begin_first_scope(name, known.entered > 0 || known.has_undefined_use, Entry::Symbol);
        self.symbols.names.declare_forward(name);
        self.symbols.names[name].exported = true;
        self.symbols.names[name].entry |= entry;
    }

    /// Exports a symbol where it is defined: `NAME::` and `NAME=:`.
    pub(super) fn export(&mut self, name: NameId, at: Span, entry: bool) {
        let known = self.symbols.names[name];
        if known.is_local() {
            let spelling = self.symbols.names.spelling(name);
            let message = format!("{spelling} is local and cannot be exported");
            return self.error(DiagnosticCode::Internal, at, message);
        }
        self.symbols.names[name].exported = true;
        self.symbols.names[name].entry |= entry;
    }

    /// Begins the scope of `..locals` of a name whose first use enters it into the table. As in
    /// ZASM, the second pass finds it there, so that its scopes differ.
    pub(super) fn begin_first_scope(&mut self, name: NameId, known: bool, entry: Entry) {
        if self.pass == Pass::First && !known && !self.symbols.names[name].is_local() {
            self.symbols.names.begin_scope(name, entry);
        }
    }

    /// Defines a symbol as a copy of another. In the second pass the value may differ.
    pub(super) fn define_copy(
        &mut self,
        new: NameId,
        state: Option<Value>,
        kind: Definition,
        place: Span,
    ) {
        let entry = self.symbols.names[new];
        if self.pass == Pass::First {
            let known = entry.definition != Definition::None && entry.state != state;
            // A variable may be reassigned, but not by a copy.
            let kind = if known { Definition::Label } else { kind };
            let scope = self.symbols.names.scope();
            self.define(new, state, kind, place);
            // A copy begins no scope.
            return self.symbols.names.resume_scope(scope);
        }
        self.symbols.names.add_symbol(new);
        if entry.is_multiply_defined {
            self.report_redefinition(new, &entry, place);
        } else if matches!(entry.definition, Definition::None | Definition::Fixed) {
            self.symbols.names[new].state = state;
            if entry.definition == Definition::None {
                self.symbols.names[new].definition = kind;
            }
        }
    }

    pub(super) fn report_second_meaning(&mut self, new: NameId, place: Span) {
        let spelling = self.symbols.names.spelling(new);
        let message = format!("{spelling} is already defined; the first definition is kept");
        self.report(Diagnostic::new(DiagnosticCode::Redefined, place, message));
    }

    pub(super) fn report_no_meaning(&mut self, old: NameId, at: Span) {
        let spelling = self.symbols.names.spelling(old);
        let message = format!("{spelling} cannot be renamed: no such symbol, macro or operator");
        self.error(DiagnosticCode::Undefined, at, message);
    }

    /// Adds a macro. The first definition stays; ZASM marks all definitions if there are several.
    pub(super) fn add_macro(&mut self, name: NameId, definition: Macro) {
        let place = definition.place;
        let known = self.symbols.names[name].macro_index();
        let earlier = known.map(|index| self.symbols.macros[index].place);
        match earlier {
            // The second pass starts with the macros of the first.
            Some(_) if self.pass == Pass::First => {
                self.symbols.names[name].is_macro_redefined = true
            }
            Some(_) => {}
            None => {
                self.symbols.names.append_entry(name, Entry::Macro);
                self.symbols.names[name].set_macro(self.symbols.macros.len());
                self.symbols.macros.push(Arc::new(definition));
            }
        }
        if self.symbols.names[name].is_macro_redefined {
            let message =
                format!("the macro {} is defined twice", self.symbols.names.spelling(name));
            let mut diagnostic = Diagnostic::new(DiagnosticCode::Redefined, place, message);
            if let Some(earlier) = earlier.filter(|earlier| *earlier != place) {
                diagnostic = diagnostic.label(earlier, "first defined here");
            }
            self.report(diagnostic);
        }
        if !self.symbols.names[name].is_local() {
            self.symbols.names.begin_scope(name, Entry::Macro);
        }
    }

    /// Gives a macro a second name, for `.MASYN old,new`.
    pub(super) fn copy_macro(&mut self, old: NameId, new: NameId) -> bool {
        let Some(index) = self.symbols.names[old].macro_index() else { return false };
        if self.symbols.names[new].macro_index().is_none() {
            self.symbols.names.append_entry(new, Entry::Macro);
            self.symbols.names[new].set_macro(index);
        }
        true
    }
}

fn shown(value: Value) -> String {
    let listed = value.reloc_value();
    match listed.base {
        0 => format!("{:04X}H", listed.number),
        1 => format!("{:04X}H in .PROG.", listed.number),
        2 => format!("{:04X}H in .DATA.", listed.number),
        3 => format!("{:04X}H in .BLNK.", listed.number),
        _ => format!("{:04X}H in an external area", listed.number),
    }
}
