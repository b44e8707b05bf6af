//! Directives for externals, exports and synonyms.

use super::super::assembler::Assembler;
use super::super::name_table::{NameId, Operator, TableEntryKind};
use super::super::pass::Pass;
use super::super::statement_end::StatementEnd;
use super::super::symbol::SymbolKind;
use super::super::value::Value;
use super::misses_operand;
use crate::diag::DiagnosticCode;
use crate::references::ReferenceRole;
use crate::source::Span;
use crate::syntax::directive::{Directive, Synonym};
use crate::syntax::expr::Intern;
use crate::syntax::{Cursor, lex};

/// Reads the symbols of `.EXTERN`, `.INTERN` and `.ENTRY`.
pub(super) fn link_names(
    asm: &mut Assembler<'_>,
    directive: Directive,
    cursor: &mut Cursor<'_>,
) -> StatementEnd {
    if misses_operand(asm, cursor, "a symbol is missing") {
        return StatementEnd::CheckRest;
    }
    loop {
        let Some((name, at)) = name_operand(asm, 1, cursor) else { return StatementEnd::CheckRest };
        match directive {
            Directive::External => {
                asm.recorder.reference(name, at, ReferenceRole::Declaration);
                asm.declare_external(name, at);
            }
            _ => {
                asm.recorder.reference(name, at, ReferenceRole::Use);
                asm.export_declared(name, at, directive == Directive::Entry);
            }
        }
        cursor.skip_blanks();
        if !cursor.eat(b',') {
            return StatementEnd::CheckList;
        }
    }
}

/// Reads a symbol. If the statement ends instead, ZASM raises `count` flags.
fn name_operand(
    asm: &mut Assembler<'_>,
    count: usize,
    cursor: &mut Cursor<'_>,
) -> Option<(NameId, Span)> {
    cursor.skip_blanks();
    let start = cursor.offset();
    let Some(word) = cursor.take(lex::symbol) else {
        let message = "a symbol is missing";
        let count = if cursor.at_statement_end() { count } else { 1 };
        asm.error_counted(DiagnosticCode::Operand, cursor.gap(), message, count);
        return None;
    };
    Some((asm.names.intern(word), cursor.since(start)))
}

/// Reads `.SYN old,new` and the like.
pub(super) fn synonym(asm: &mut Assembler<'_>, kind: Synonym, cursor: &mut Cursor<'_>) {
    let Some((old, at)) = name_operand(asm, 1, cursor) else { return };
    asm.recorder.reference(old, at, ReferenceRole::Use);
    let Some(meaning) = meaning(asm, kind, old) else {
        let message = "cannot be renamed: no such symbol, macro or operator";
        return asm.symbol_error(DiagnosticCode::Undefined, old, at, message);
    };
    cursor.skip_blanks();
    if !cursor.eat(b',') && !skip_to_comma(asm, cursor) {
        return;
    }
    let Some((new, place)) = name_operand(asm, 2, cursor) else { return };
    asm.recorder.reference(new, place, ReferenceRole::Definition);
    if asm.pass == Pass::First && matches!(meaning, Meaning::Symbol(..)) {
        // The copy of a multiply defined symbol is multiply defined, too.
        asm.names[new].is_multiply_defined |= asm.names[old].is_multiply_defined;
    }
    if new == old && matches!(meaning, Meaning::Symbol(..)) {
        let entry = asm.names[new];
        return asm.redefine(new, &entry, SymbolKind::Label, place);
    }
    give_meaning(asm, kind, new, meaning, place);
}

/// Skips to the next comma of the line, and reports that it did not follow directly.
fn skip_to_comma(asm: &mut Assembler<'_>, cursor: &mut Cursor<'_>) -> bool {
    let message = "a comma and the new name are missing";
    let rest = cursor.rest_of_statement();
    let found = memchr::memchr(b',', rest);
    let count = if found.is_some() { 1 } else { 2 };
    asm.error_counted(DiagnosticCode::Operand, cursor.here(), message, count);
    cursor.advance(found.map_or(rest.len(), |at| at + 1));
    found.is_some()
}

/// Returns the meaning of a name that a directive of this kind copies.
fn meaning(asm: &Assembler<'_>, kind: Synonym, old: NameId) -> Option<Meaning> {
    let entry = asm.names[old];
    let symbol = || {
        let built_in = || entry.built_in.and_then(|_| asm.built_in_value(old));
        let value = match entry.is_location_counter() {
            true => asm.statement.location,
            false => entry.symbol.value().or_else(built_in)?,
        };
        Some(Meaning::Symbol(value, entry.symbol.kind().unwrap_or(SymbolKind::Constant)))
    };
    let macro_text = || entry.macro_index.map(|_| Meaning::Macro(old));
    let operator = || entry.operator.map(Meaning::Operator);
    match kind {
        Synonym::Operator => operator(),
        Synonym::Symbol => symbol(),
        Synonym::Macro => macro_text(),
        Synonym::Any => symbol().or_else(macro_text).or_else(operator),
    }
}

/// Gives a name a meaning. A meaning that it already has stays.
fn give_meaning(
    asm: &mut Assembler<'_>,
    kind: Synonym,
    new: NameId,
    meaning: Meaning,
    place: Span,
) {
    match meaning {
        Meaning::Symbol(value, kind) => asm.define_copy(new, value, kind, place),
        Meaning::Macro(old) => {
            let known = asm.names[new].macro_index.is_some();
            // The second pass starts with all meanings of the first, so only the first pass can
            // tell which one is the second.
            asm.names[new].is_macro_redefined |= known && asm.pass == Pass::First;
            // `.MASYN` marks the copy of a macro that was defined twice before.
            let is_multiply_defined = kind == Synonym::Macro && asm.names[old].is_macro_redefined;
            asm.names[new].is_macro_redefined |= is_multiply_defined && asm.pass == Pass::First;
            if asm.names[new].is_macro_redefined {
                report_second_meaning(asm, new, place);
            }
            asm.copy_macro(old, new);
        }
        // Operators are not looked up among the `..locals`.
        Meaning::Operator(_) if asm.names[new].is_local => {}
        Meaning::Operator(operator) => {
            let known = asm.names[new].operator.is_some();
            asm.begin_first_scope(new, known, TableEntryKind::Operator);
            if !known {
                asm.names.append_entry(new, TableEntryKind::Operator);
            }
            asm.names[new].is_operator_redefined |= known && asm.pass == Pass::First;
            if asm.names[new].is_operator_redefined {
                report_second_meaning(asm, new, place);
            }
            asm.names[new].operator.get_or_insert(operator);
        }
    }
}

fn report_second_meaning(asm: &mut Assembler<'_>, new: NameId, place: Span) {
    let message = "is already defined; the first definition is kept";
    asm.symbol_error(DiagnosticCode::Redefined, new, place, message);
}

/// What a directive copies to another name.
#[derive(Debug, Clone, Copy)]
enum Meaning {
    Symbol(Value, SymbolKind),
    Macro(NameId),
    Operator(Operator),
}
