//! Executes directives.

mod data;
mod linkage;
mod listing;
mod location;
mod text;

use super::assembler::Assembler;
use super::code_buffer::Field;
use super::input::InputChange;
use super::pass::{StatementEnd, StatementResult};
use super::{conditional, macros};
use crate::diag::DiagnosticCode;
use crate::source::Span;
use crate::syntax::Cursor;
use crate::syntax::directive::{Directive, ObjectFormOption};

pub(super) fn directive(
    asm: &mut Assembler<'_>,
    directive: Directive,
    span: Span,
    cursor: &mut Cursor<'_>,
) -> StatementResult<StatementEnd> {
    asm.module.flow.restart();
    match directive {
        Directive::If(condition) => conditional::conditional(asm, condition, cursor),
        Directive::Define => macros::define_macro(asm, span, cursor),
        Directive::Exit => exit_macro(asm, span),
        Directive::Error => text::user_error(asm, span, cursor),
        Directive::Remark => text::skip_text(asm, cursor),
        Directive::Title | Directive::Subtitle => listing::heading(asm, directive, cursor),
        Directive::Print => text::print(asm, cursor),
        Directive::Byte => data::write_values(asm, Field::Byte, span, cursor),
        Directive::Word => data::write_values(asm, Field::Word, span, cursor),
        Directive::Text(end) => data::write_texts(asm, end, span, cursor),
        Directive::Rad40 => data::rad40(asm, span, cursor),
        Directive::Reserve(unit) => location::reserve(asm, unit, span, cursor),
        Directive::Date => data::write_date(asm, span),
        Directive::Time => data::write_time(asm, span),
        Directive::Location => location::location(asm, span, cursor),
        Directive::Relocate => {
            asm.code.restore_location();
            asm.recorder.line.value = Some(asm.code.location().reloc_value());
            Ok(StatementEnd::Open)
        }
        Directive::Radix => location::set_radix(asm, span, cursor),
        Directive::Z80 | Directive::I8080 => {
            asm.module.only_8080 = directive == Directive::I8080;
            Ok(StatementEnd::Open)
        }
        Directive::End | Directive::ProgramEnd => location::end(asm, directive, cursor),
        Directive::Insert => location::insert(asm, span, cursor),
        Directive::Ident => location::ident(asm, span, cursor),
        Directive::External | Directive::Internal | Directive::Entry => {
            linkage::link_names(asm, directive, span, cursor)
        }
        Directive::Synonym(kind) => linkage::synonym(asm, kind, cursor),
        Directive::Listing(listing) => listing::listing_directive(asm, listing, cursor),
        Directive::Format(option) => {
            set_object_form(asm, option);
            Ok(StatementEnd::Open)
        }
    }
}

/// The last option of each kind applies to the module, that of the records to the whole file.
fn set_object_form(asm: &mut Assembler<'_>, option: ObjectFormOption) {
    let form = &mut asm.module.form;
    match option {
        ObjectFormOption::Hex(hex) => form.hex = hex,
        ObjectFormOption::Binary(binary) => asm.object_form.binary = binary,
        ObjectFormOption::Linkage(linkage) => {
            form.linkage = linkage;
            asm.linkage_control(linkage);
        }
        ObjectFormOption::Symbols(symbols) => form.symbols = symbols,
    }
}

fn exit_macro(asm: &mut Assembler<'_>, span: Span) -> StatementResult<StatementEnd> {
    if asm.input.macro_depth() == 0 {
        asm.error(DiagnosticCode::MacroForm, span, ".EXIT is outside of a macro");
        return Ok(StatementEnd::Open);
    }
    asm.input.pending_change = Some(InputChange::ExitMacro);
    Ok(StatementEnd::Complete)
}
