//! Definitions of symbols and macros.

use crate::diag::{Diagnostic, DiagnosticCode};
use crate::module::{FIRST_EXTERNAL, SectionKind};
use crate::references::ReferenceRole;
use crate::source::Span;

use super::assembler::Assembler;
use super::macro_definition::Macro;
use super::name_table::NameId;
use super::name_table::{BuiltIn, NameEntry, TableEntryKind};
use super::pass::Pass;
use super::suggestions::suggest_for_undefined;
use super::symbol::{Definition, Symbol, SymbolKind};
use super::value::{BaseId, Value};
use std::sync::Arc;

impl Assembler<'_> {
    /// Checks whether an assignment of this kind can change the symbol. If not, reports that before
    /// any error in the value.
    pub(super) fn check_assignable(&mut self, name: NameId, kind: SymbolKind, span: Span) -> bool {
        let entry = self.names[name];
        let is_reserved = entry.built_in.is_some() || entry.is_location_counter();
        if !is_reserved && entry.symbol.is_assignable(kind) {
            return true;
        }
        self.recorder.reference(name, span, ReferenceRole::Definition);
        self.names.is_location_counter_assigned |= entry.is_location_counter();
        self.names[name].is_multiply_defined = true;
        self.report_redefinition(name, &entry, span);
        if entry.symbol.is_defined() {
            self.names[name].set_defined_in(self.pass);
        }
        false
    }

    /// Defines a symbol, unless it is defined already.
    pub(super) fn define(&mut self, name: NameId, value: Value, kind: SymbolKind, span: Span) {
        self.recorder.reference(name, span, ReferenceRole::Definition);
        self.names.add_symbol(name);
        let entry = self.names[name];
        if kind == SymbolKind::Label && entry.is_location_counter() {
            return; // The location counter as a label is nothing.
        }
        self.lint_reassignment(&entry, kind, span);
        let definition = entry.definition(kind, value, self.pass);
        match definition {
            Definition::Assigned | Definition::Unchanged => {}
            Definition::Moved => self.report_phase(name, &entry, value, span),
            Definition::Conflict => self.redefine(name, &entry, kind, span),
        }
        let is_label = kind == SymbolKind::Label;
        if entry.symbol.is_external() || entry.built_in.is_some() {
            if is_label && entry.built_in.is_some() {
                self.names.begin_scope(name, TableEntryKind::Symbol);
            }
            return;
        }
        // A label begins a scope even if it is a second definition, but not after a phase error.
        let begins_scope = is_label || !entry.is_defined_in(self.pass);
        if begins_scope && definition != Definition::Moved && !entry.is_local {
            self.names.begin_scope(name, TableEntryKind::Symbol);
        }
        let symbol = match definition {
            Definition::Assigned => Symbol::new(kind, value),
            _ => entry.symbol,
        };
        self.store_definition(name, symbol, span);
    }

    fn store_definition(&mut self, name: NameId, symbol: Symbol, span: Span) {
        let entry = &mut self.names[name];
        let is_first = !entry.is_defined_in(self.pass) && entry.place.is_some();
        if is_first || !entry.symbol.is_defined() {
            (entry.place, entry.statement) = (Some(span.start), self.statement.place);
        }
        entry.set_defined_in(self.pass);
        entry.symbol = symbol;
    }

    /// Warns of a name that is assigned again under another spelling.
    fn lint_reassignment(&mut self, entry: &NameEntry, kind: SymbolKind, span: Span) {
        let is_reassigned =
            kind == SymbolKind::Variable && entry.symbol.kind() == Some(SymbolKind::Variable);
        if let (true, 7.., Some(place)) = (is_reassigned, span.end - span.start, entry.place) {
            let first = self.symbol_span(place);
            let written = |span| String::from_utf8_lossy(self.sources.slice(span)).to_uppercase();
            if written(first) != written(self.symbol_span(span.start)) {
                let message = format!("{} is also {}", written(span), written(first));
                let diagnostic = Diagnostic::new(DiagnosticCode::SameSix, span, message);
                let diagnostic = diagnostic.label(first, "first assigned here");
                let help = "only six characters of a name count; with --long-symbols all do";
                self.report(diagnostic.help(help));
            }
        }
    }

    /// Marks a symbol as multiply defined. ZASM adds a Q where `=` is used.
    pub(super) fn redefine(
        &mut self,
        name: NameId,
        entry: &NameEntry,
        kind: SymbolKind,
        span: Span,
    ) {
        let segment = matches!(entry.built_in, Some(BuiltIn::Segment(_)));
        let external = segment || entry.symbol.is_external();
        if !external || kind != SymbolKind::Label {
            self.names[name].is_multiply_defined = true;
        }
        if external && kind == SymbolKind::Label {
            let message = "is declared external";
            return self.symbol_error(DiagnosticCode::External, name, span, message);
        }
        self.report_redefinition(name, entry, span);
        if kind == SymbolKind::Variable {
            self.assignment_ignored(span);
        }
    }

    pub(super) fn assignment_ignored(&mut self, span: Span) {
        self.error(DiagnosticCode::AssignmentIgnored, span, "the symbol keeps its first value");
    }

    fn report_phase(&mut self, name: NameId, entry: &NameEntry, value: Value, span: Span) {
        let (first, second) = (shown(entry.symbol.value().unwrap_or_default()), shown(value));
        let message = format!("is {first} in the first pass and {second} in the second");
        let help = "an earlier line depends on a symbol that is defined later";
        let mut diagnostic =
            self.about_symbol(DiagnosticCode::Phase, name, span, &message).help(help);
        if let Some(diverged_at) = self.pass_comparison.diverged_at {
            let line = self.sources.rest_of_line(diverged_at);
            diagnostic = diagnostic.label(line, "the passes differ after this line");
        }
        self.report(diagnostic);
    }

    pub(super) fn report_redefinition(&mut self, name: NameId, entry: &NameEntry, span: Span) {
        if entry.built_in.is_some() {
            let message = "is a register or section and cannot be redefined";
            return self.symbol_error(DiagnosticCode::Register, name, span, message);
        }
        if entry.is_location_counter() {
            let message = "the location counter cannot be assigned; .LOC sets it";
            return self.error(DiagnosticCode::Redefined, span, message);
        }
        let message = "is already defined with another value";
        let mut diagnostic = self.about_symbol(DiagnosticCode::Redefined, name, span, message);
        match entry.place {
            None => diagnostic = diagnostic.help("its value comes from the options"),
            Some(place) if place == span.start => {}
            Some(place) => {
                diagnostic = diagnostic.label(self.symbol_span(place), "first defined here");
            }
        }
        let text = self.sources.slice(span);
        let first = entry.place.map(|place| self.sources.slice(self.symbol_span(place)));
        let help = match text {
            _ if first.is_some_and(|first| first != text && first.eq_ignore_ascii_case(text)) => {
                Some("capital and small letters are the same in names")
            }
            _ if !self.options.long_symbols && text.len() > 6 => {
                Some("only six characters of a name count; with --long-symbols all do")
            }
            [b'.', ..] => Some("a local label begins with two periods: ..NAME"),
            _ => None,
        };
        if let Some(help) = help {
            diagnostic = diagnostic.help(help);
        }
        self.report(diagnostic);
    }

    /// Declares a symbol external, unless it already is.
    pub(super) fn declare_external(&mut self, name: NameId, span: Span) {
        let entry = self.names[name];
        if entry.symbol.is_external() {
            if entry.exported {
                let message = "is exported and cannot be external";
                self.symbol_error(DiagnosticCode::External, name, span, message);
            }
            return;
        }
        if entry.is_local {
            let message = "is local and cannot be external";
            return self.symbol_error(DiagnosticCode::External, name, span, message);
        }
        if entry.built_in.is_some() {
            self.names[name].is_multiply_defined = true;
            return self.report_redefinition(name, &entry, span);
        }
        if entry.symbol.is_defined() {
            return self.declare_defined(name, &entry, span);
        }
        let base = BaseId(u32::from(FIRST_EXTERNAL) + self.names.externals.len() as u32);
        self.names.externals.push(name);
        self.names.add_symbol(name);
        self.store_definition(name, Symbol::External(Value::in_base(base, 0)), span);
    }

    /// Reports a symbol that is both defined and declared external. ZASM marks the conflict, and
    /// also an exported or absolute symbol.
    fn declare_defined(&mut self, name: NameId, entry: &NameEntry, span: Span) {
        let absolute = entry.symbol.value().is_some_and(Value::is_absolute);
        let count = usize::from(entry.exported) + usize::from(absolute);
        if count > 0 {
            let message = "is defined here and cannot be external";
            let diagnostic = self.about_symbol(DiagnosticCode::External, name, span, message);
            self.sink.add_counted(diagnostic, count);
        }
        if !entry.is_library_entry {
            self.names[name].is_multiply_defined = true;
            self.report_redefinition(name, entry, span);
        }
    }

    pub(super) fn report_doubled(&mut self, name: NameId, at: u32) {
        let span = self.symbol_span(at);
        self.symbol_error(DiagnosticCode::Doubled, name, span, "is defined twice");
    }

    pub(super) fn report_undefined(&mut self, name: NameId, span: Span) {
        self.names[name].has_undefined_use = true;
        self.names.append_symbol(name);
        let mut diagnostic =
            self.about_symbol(DiagnosticCode::Undefined, name, span, "is not defined");
        if self.sink.accepts(DiagnosticCode::Undefined)
            && let Some(suggestion) = suggest_for_undefined(&self.names, name)
        {
            diagnostic = suggestion.add_to(diagnostic, span, span.end);
        }
        self.report(diagnostic);
    }

    /// Exports a symbol named by `.INTERN` or `.ENTRY`.
    pub(super) fn export_declared(&mut self, name: NameId, at: Span, entry: bool) {
        let known = self.names[name];
        if known.is_local {
            let message = "is local and cannot be exported";
            self.symbol_error(DiagnosticCode::Operand, name, at, message);
        }
        let segment = matches!(known.built_in, Some(BuiltIn::Segment(_)));
        // Only in the second pass can an exported name already be declared external by a later
        // line.
        let external = known.symbol.is_external() && !known.exported;
        if external || segment {
            let message = "is not defined here and cannot be exported";
            return self.symbol_error(DiagnosticCode::External, name, at, message);
        }
        match self.pass {
            Pass::Second if !known.symbol.is_defined() && known.built_in.is_none() => {
                self.report_undefined(name, at);
            }
            Pass::Second if known.is_multiply_defined => self.report_doubled(name, at.start),
            _ => {}
        }
        let is_known = known.entered > 0 || known.has_undefined_use;
        self.begin_first_scope(name, is_known, TableEntryKind::Symbol);
        self.names.declare_forward(name);
        self.names[name].exported = true;
        self.names[name].is_library_entry |= entry;
    }

    /// Exports a symbol where it is defined: `NAME::` and `NAME=:`.
    pub(super) fn export(&mut self, name: NameId, at: Span, entry: bool) {
        let known = self.names[name];
        if known.is_local {
            let message = "is local and cannot be exported";
            return self.symbol_error(DiagnosticCode::Internal, name, at, message);
        }
        self.names[name].exported = true;
        self.names[name].is_library_entry |= entry;
    }

    /// Begins the scope of `..locals` of a name whose first use enters it into the table. As in
    /// ZASM, the second pass finds it there, so that its scopes differ.
    pub(super) fn begin_first_scope(&mut self, name: NameId, known: bool, entry: TableEntryKind) {
        if self.pass == Pass::First && !known && !self.names[name].is_local {
            self.names.begin_scope(name, entry);
        }
    }

    /// Defines a symbol as a copy of another. In the second pass the value may differ.
    pub(super) fn define_copy(&mut self, new: NameId, value: Value, kind: SymbolKind, place: Span) {
        let entry = self.names[new];
        if self.pass == Pass::First {
            let is_other = entry.symbol.value().is_some_and(|known| known != value);
            // A variable may be reassigned, but not by a copy.
            let kind = if is_other { SymbolKind::Label } else { kind };
            let scope = self.names.scope;
            self.define(new, value, kind, place);
            // A copy begins no scope.
            self.names.scope = scope;
            return;
        }
        self.names.add_symbol(new);
        match entry.symbol {
            _ if entry.is_multiply_defined => self.report_redefinition(new, &entry, place),
            Symbol::Undefined => {
                let entry = &mut self.names[new];
                (entry.place, entry.statement) = (Some(place.start), self.statement.place);
                entry.symbol = Symbol::new(kind, value);
            }
            Symbol::Constant(_) => self.names[new].symbol = Symbol::Constant(value),
            Symbol::Variable(_) | Symbol::Label(_) | Symbol::External(_) => {}
        }
    }

    /// Adds a macro. The first definition stays; ZASM marks all definitions if there are several.
    pub(super) fn add_macro(&mut self, name: NameId, definition: Macro) {
        let place = definition.place;
        let known = self.names[name].macro_index;
        let earlier = known.map(|index| self.names.macros[index as usize].place);
        match earlier {
            // The second pass starts with the macros of the first.
            Some(_) if self.pass == Pass::First => self.names[name].is_macro_redefined = true,
            Some(_) => {}
            None => {
                self.names.append_entry(name, TableEntryKind::Macro);
                self.names[name].macro_index = Some(self.names.macros.len() as u32);
                self.names.macros.push(Arc::new(definition));
            }
        }
        if self.names[name].is_macro_redefined {
            let message = format!("the macro {} is defined twice", self.names.spelling(name));
            let mut diagnostic = Diagnostic::new(DiagnosticCode::Redefined, place, message);
            if let Some(earlier) = earlier.filter(|earlier| *earlier != place) {
                diagnostic = diagnostic.label(earlier, "first defined here");
            }
            self.report(diagnostic);
        }
        if !self.names[name].is_local {
            self.names.begin_scope(name, TableEntryKind::Macro);
        }
    }

    /// Gives a macro a second name, for `.MASYN old,new`.
    pub(super) fn copy_macro(&mut self, old: NameId, new: NameId) {
        if self.names[new].macro_index.is_none() {
            self.names.append_entry(new, TableEntryKind::Macro);
            self.names[new].macro_index = self.names[old].macro_index;
        }
    }
}

fn shown(value: Value) -> String {
    let listed = value.reloc_value();
    match SectionKind::from_base(listed.base) {
        Some(SectionKind::Absolute) => format!("{:04X}H", listed.number),
        Some(kind) => format!("{:04X}H in {}", listed.number, kind.tdl_name()),
        None => format!("{:04X}H in an external area", listed.number),
    }
}
