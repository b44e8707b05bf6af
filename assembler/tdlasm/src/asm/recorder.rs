//! Records statements for the listing and references for editors.

use std::sync::Arc;

use super::assembler::Assembler;
use super::macros::Macro;
use super::name_table;
use super::name_table::NameId;
use super::symbol::Symbol;
use super::value::Value;
use crate::listing::{Listing, ListingLine};
use crate::references::{Name, NameKind, Reference, ReferenceRole, References, TextOrigin};
use crate::source::Span;

#[derive(Debug, Default)]
pub(super) struct Recorder {
    pub(super) listing: Listing,
    /// The current statement.
    pub(super) statement: ListingLine,
    /// The first byte of its current row of code.
    pub(super) row_start: u32,
    pub(super) references: References,
    /// References in the current module. Their names get their final numbers at its end.
    pub(super) unnumbered: Vec<(NameId, Span, ReferenceRole)>,
    /// The pieces of the macro text being expanded; the buffer is reused.
    pub(super) origins: Vec<TextOrigin>,
}

impl Assembler<'_> {
    /// Records the parameters of a macro: their declarations and, by index, their uses.
    pub(super) fn record_parameters(&mut self, declared: &[Span], used: &[(usize, Span)]) {
        let references = &mut self.recorder.references;
        let first = references.names.len() as u32;
        for span in declared {
            let spelling = self.names.significant(self.sources.slice(*span));
            let module = self.modules.len() as u32;
            let kind = NameKind::Parameter;
            let value = None;
            let name = Name { spelling, kind, value, exported: false, local: true, module };
            references.names.push(name);
        }
        let role = ReferenceRole::Definition;
        let declared = (first..).zip(declared).map(|(name, span)| (name, *span, role));
        let used = used.iter().map(|(at, span)| (first + *at as u32, *span, ReferenceRole::Use));
        let entries = declared.chain(used).map(|(name, span, role)| Reference { name, span, role });
        references.entries.extend(entries);
    }

    /// Adds the names of the finished module, and its references, to the result.
    pub(super) fn finish_references(&mut self) {
        let references = &mut self.recorder.references;
        let first = references.names.len() as u32;
        let module = self.modules.len() as u32;
        references.names.extend(self.names.iter().map(|(id, name)| Name {
            spelling: self.names.spelling(id),
            kind: kind(name, &self.names.macros),
            value: value(name),
            exported: name.exported || name.is_library_entry,
            local: name.is_local,
            module,
        }));
        let open = std::mem::take(&mut self.recorder.unnumbered).into_iter();
        let renumbered = |(name, span, role)| Reference { name: first + name, span, role };
        references.entries.extend(open.map(renumbered));
    }
}

fn kind(name: &name_table::NameEntry, macros: &[Arc<Macro>]) -> NameKind {
    match name.symbol {
        _ if name.macro_index.is_some_and(|index| (index as usize) < macros.len()) => {
            NameKind::Macro
        }
        Symbol::Label(_) => NameKind::Label,
        Symbol::Constant(_) => NameKind::Constant,
        Symbol::Variable(_) => NameKind::Variable,
        Symbol::External(_) => NameKind::External,
        Symbol::Undefined if name.built_in.is_some() || name.operator.is_some() => {
            NameKind::Language
        }
        Symbol::Undefined => NameKind::Undefined,
    }
}

fn value(name: &name_table::NameEntry) -> Option<crate::listing::RelocValue> {
    name.symbol.value().filter(|_| !name.symbol.is_external()).map(Value::reloc_value)
}
