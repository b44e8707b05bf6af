//! Notes for editors: where names stand, and of which pieces macro texts were made.

use std::sync::Arc;

use crate::references::{Expansion, Kind, Mention, Name, Piece, Role};
use crate::source::Span;
use crate::syntax::expr::Op;

use super::macros::Macro;
use super::names::{self, Definition, NameId, Special, State};
use super::record::Record;
use super::{Assembler, Options, Pass};

impl Record {
    /// Notes a mention, if the options ask for it. The first of two passes notes nothing.
    #[inline]
    pub(super) fn mention(
        &mut self,
        options: &Options,
        pass: Pass,
        name: NameId,
        span: Span,
        role: Role,
    ) {
        if options.references && pass != Pass::First {
            self.open.push((name, span, role));
        }
    }
}

impl Assembler<'_> {
    /// Whether mentions are noted now.
    #[inline]
    pub(super) fn notes(&self) -> bool {
        self.options.references && self.pass != Pass::First
    }

    /// Whether it is noted now where macro texts were written.
    pub(super) fn notes_origins(&self) -> bool {
        self.options.origins && self.pass != Pass::First || self.notes()
    }

    #[inline]
    pub(super) fn mention(&mut self, name: NameId, span: Span, role: Role) {
        self.record.mention(self.options, self.pass, name, span, role);
    }

    /// Notes the symbols of operand buffer `which`.
    pub(super) fn mention_operand(&mut self, which: usize) {
        for op in &self.operands[which].ops {
            if let Op::Symbol(name, at) | Op::External(name, at) = *op
                && !matches!(self.naming.names[name].special, Some(Special::Register(_)))
            {
                self.record.open.push((name, self.symbol_span(at), Role::Use));
            }
        }
    }

    /// Notes the arguments' names of a macro: where they are declared and, by index, where they are
    /// used.
    pub(super) fn mention_parameters(&mut self, declared: &[Span], used: &[(usize, Span)]) {
        let references = &mut self.record.references;
        let first = references.names.len() as u32;
        for span in declared {
            let spelling = self.naming.names.significant(self.input.sources.slice(*span));
            let module = self.modules.len() as u32;
            let kind = Kind::Parameter;
            let value = None;
            let name = Name { spelling, kind, value, exported: false, local: true, module };
            references.names.push(name);
        }
        let role = Role::Definition;
        let declared = (first..).zip(declared).map(|(name, span)| (name, *span, role));
        let used = used.iter().map(|(at, span)| (first + *at as u32, *span, Role::Use));
        let mentions = declared.chain(used).map(|(name, span, role)| Mention { name, span, role });
        references.mentions.extend(mentions);
    }

    /// Notes the pieces of a macro text that is about to be read.
    pub(super) fn note_expansion(&mut self, base: u32, pieces: &[Piece]) {
        let references = &mut self.record.references;
        let first = references.pieces.len() as u32;
        references.pieces.extend_from_slice(pieces);
        references.expansions.push(Expansion { base, first });
    }

    /// Numbers the names of the module that ends.
    pub(super) fn finish_mentions(&mut self) {
        let references = &mut self.record.references;
        let first = references.names.len() as u32;
        let module = self.modules.len() as u32;
        references.names.extend(self.naming.names.iter().map(|(id, name)| Name {
            spelling: self.naming.names.spelling(id),
            kind: kind(name, &self.naming.macros),
            value: value(name),
            exported: name.exported || name.entry,
            local: name.is_local(),
            module,
        }));
        let open = std::mem::take(&mut self.record.open).into_iter();
        let mention = |(name, span, role)| Mention { name: first + name, span, role };
        references.mentions.extend(open.map(mention));
    }
}

fn kind(name: &names::Name, macros: &[Arc<Macro>]) -> Kind {
    match name.definition {
        _ if name.macro_index().is_some_and(|index| index < macros.len()) => Kind::Macro,
        Definition::Label => Kind::Label,
        Definition::Fixed => Kind::Constant,
        Definition::Variable => Kind::Variable,
        Definition::External => Kind::External,
        Definition::None if name.special.is_some() || name.operator.is_some() => Kind::Language,
        Definition::None => Kind::Undefined,
    }
}

fn value(name: &names::Name) -> Option<crate::listing::Listed> {
    match name.state {
        State::Value(value) if name.definition != Definition::External => Some(value.listed()),
        _ => None,
    }
}
