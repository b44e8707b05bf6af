//! Executes directives.

mod data;
mod linkage;
mod listing;
mod location;
mod reader;
mod text;

use super::code_buffer::Field;
use super::conditional::ConditionalReader;
use super::directive_table::{Directive, ObjectFormOption};
use super::input::InputChange;
use super::macros::MacroExpander;
use super::pass::{StatementEnd, StatementResult};
use crate::diag::DiagnosticCode;
use crate::source::Span;
use crate::syntax::Cursor;

pub(super) use reader::DirectiveReader;

impl DirectiveReader<'_, '_> {
    pub(super) fn directive(
        &mut self,
        directive: Directive,
        span: Span,
        cursor: &mut Cursor<'_>,
    ) -> StatementResult<StatementEnd> {
        self.asm.module.flow.restart();
        match directive {
            Directive::If(condition) => {
                ConditionalReader { asm: self.asm }.conditional(condition, cursor)
            }
            Directive::Define => MacroExpander { asm: self.asm }.define_macro(span, cursor),
            Directive::Exit => self.exit_macro(span),
            Directive::Error => self.user_error(span, cursor),
            Directive::Remark => self.skip_text(cursor),
            Directive::Title | Directive::Subtitle => self.heading(directive, cursor),
            Directive::Print => self.print(cursor),
            Directive::Byte => self.write_values(Field::Byte, span, cursor),
            Directive::Word => self.write_values(Field::Word, span, cursor),
            Directive::Text(end) => self.write_texts(end, span, cursor),
            Directive::Rad40 => self.rad40(span, cursor),
            Directive::Reserve(unit) => self.reserve(unit, span, cursor),
            Directive::Date => self.write_date(span),
            Directive::Time => self.write_time(span),
            Directive::Location => self.location(span, cursor),
            Directive::Relocate => {
                self.asm.module.code.output.restore_location();
                self.asm.module.context.recorder.line.value =
                    Some(self.asm.module.code.output.location().reloc_value());
                Ok(StatementEnd::Open)
            }
            Directive::Radix => self.set_radix(span, cursor),
            Directive::Z80 | Directive::I8080 => {
                self.asm.module.code.only_8080 = directive == Directive::I8080;
                Ok(StatementEnd::Open)
            }
            Directive::End | Directive::ProgramEnd => self.end(directive, cursor),
            Directive::Insert => self.insert(span, cursor),
            Directive::Ident => self.ident(span, cursor),
            Directive::External | Directive::Internal | Directive::Entry => {
                self.link_names(directive, span, cursor)
            }
            Directive::Synonym(kind) => self.synonym(kind, cursor),
            Directive::Listing(listing) => self.listing_directive(listing, cursor),
            Directive::Format(option) => {
                self.set_object_form(option);
                Ok(StatementEnd::Open)
            }
        }
    }

    /// The last option of each kind applies to the module, that of the records to the whole file.
    fn set_object_form(&mut self, option: ObjectFormOption) {
        let form = &mut self.asm.module.code.form;
        match option {
            ObjectFormOption::Hex(hex) => form.hex = hex,
            ObjectFormOption::Binary(binary) => self.asm.object_form.binary = binary,
            ObjectFormOption::Linkage(linkage) => {
                form.linkage = linkage;
                self.asm.module.context.linkage_control(linkage);
            }
            ObjectFormOption::Symbols(symbols) => form.symbols = symbols,
        }
    }

    fn exit_macro(&mut self, span: Span) -> StatementResult<StatementEnd> {
        if self.asm.input.macro_depth() == 0 {
            self.asm.error(DiagnosticCode::MacroForm, span, ".EXIT is outside of a macro");
            return Ok(StatementEnd::Open);
        }
        self.asm.input.pending_change = Some(InputChange::ExitMacro);
        Ok(StatementEnd::Complete)
    }
}
