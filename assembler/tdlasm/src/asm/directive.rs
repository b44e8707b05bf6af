//! Executes directives.

mod data;
mod linkage;
pub(super) mod location;

use super::assembler::Assembler;
use super::code_buffer::Field;
use super::input::InputChange;
use super::name_table::Operator;
use super::pass::Pass;
use super::statement_end::{StatementEnd, StatementResult};
use super::{conditional, macros};
use crate::diag::DiagnosticCode;
use crate::listing::{ListingControl, ListingDirective};
use crate::module::ProgramId;
use crate::syntax::directive::{Directive, ObjectFormOption};
use crate::syntax::expr::Intern;
use crate::syntax::{Cursor, lex};

/// Executes the directive that is the operator of the statement.
pub(super) fn directive(
    asm: &mut Assembler<'_>,
    directive: Directive,
    cursor: &mut Cursor<'_>,
) -> StatementResult<StatementEnd> {
    asm.module.flow.restart();
    match directive {
        Directive::If(test, wanted) => return conditional::conditional(asm, test, wanted, cursor),
        Directive::Define => return Ok(macros::define_macro(asm, cursor)),
        Directive::Exit => return Ok(exit_macro(asm)),
        Directive::Goto => return macros::goto(asm, cursor),
        Directive::ProgramId => program_id(asm, cursor)?,
        Directive::Temporaries => temporaries(asm, cursor)?,
        Directive::Ignored => {}
        Directive::Undescribed => refuse(asm, cursor),
        Directive::Byte => return data::write_values(asm, Field::Byte, cursor),
        Directive::Word => return data::write_values(asm, Field::Word, cursor),
        Directive::Rad40 => return Ok(data::rad40(asm, cursor)),
        Directive::End | Directive::ProgramEnd => return location::end(asm, directive, cursor),
        Directive::External | Directive::Internal | Directive::Entry => {
            return Ok(linkage::link_names(asm, directive, cursor));
        }
        Directive::Error => user_error(asm, cursor),
        Directive::Remark => drop(asm.text(cursor)),
        Directive::Title | Directive::Subtitle => heading(asm, directive, cursor),
        Directive::Print => print(asm, cursor),
        Directive::Text(end) => data::write_texts(asm, end, cursor)?,
        Directive::Reserve(unit) => location::reserve(asm, unit, cursor)?,
        Directive::Date => data::write_date(asm),
        Directive::Time => data::write_time(asm),
        Directive::Location => location::location(asm, cursor)?,
        Directive::Relocate => {
            asm.code.restore_location();
            asm.recorder.statement.value = Some(asm.code.location().reloc_value());
        }
        Directive::Radix => location::set_radix(asm, cursor),
        Directive::Z80 | Directive::I8080 => {
            asm.module.only_8080 = directive == Directive::I8080;
        }
        Directive::ZilogMnemonics(on) => asm.module.has_zilog_mnemonics = on,
        Directive::ZilogDirectives(on) => asm.module.has_zilog_directives = on,
        Directive::Insert => location::insert(asm, cursor),
        Directive::Ident => location::ident(asm, cursor),
        Directive::Synonym(kind) => linkage::synonym(asm, kind, cursor),
        Directive::Listing(listing) => {
            listing_directive(asm, listing, cursor);
            // PASM's page has a width and a length.
            if asm.is_pasm() && listing == ListingDirective::Page {
                asm.skip_operands(2, cursor);
            }
        }
        Directive::Format(option) => set_object_form(asm, option),
    }
    Ok(StatementEnd::CheckRest)
}

impl Assembler<'_> {
    /// Skips operands that have no effect on code and symbols.
    fn skip_operands(&mut self, count: usize, cursor: &mut Cursor<'_>) {
        let is_separator = |byte: &u8| matches!(byte, b',' | b';' | b'\n' | b'\r');
        for _ in 0..count {
            let rest = cursor.rest();
            cursor.advance(rest.iter().position(is_separator).unwrap_or(rest.len()));
            if !cursor.eat(b',') {
                return;
            }
        }
    }
}

/// Executes PASM's `.PROGID NAME,VERSION,REVISION`.
fn program_id(asm: &mut Assembler<'_>, cursor: &mut Cursor<'_>) -> StatementResult {
    cursor.skip_blanks();
    let name = cursor.take(lex::symbol).unwrap_or_default().to_ascii_uppercase();
    let mut program = ProgramId { name, ..ProgramId::default() };
    for number in [&mut program.version, &mut program.revision] {
        if cursor.eat_behind_blanks(b',') {
            let expr = asm.parse_expression(cursor);
            *number = asm.evaluate(&expr)?.number as u8;
        }
    }
    asm.module.program = program;
    Ok(())
}

/// Reports a directive of PASM 2.00 that is known by name only.
fn refuse(asm: &mut Assembler<'_>, cursor: &mut Cursor<'_>) {
    cursor.skip_to_line_end();
    let message = "what this directive does in PASM 2.00 is not known";
    let help = "omit it; the linker takes libraries as files";
    asm.error_with_help(DiagnosticCode::Operator, asm.statement.operator, message, help);
}

/// Executes PASM's `.TEMPS n`: the number of temporaries of the macro call, or outside of macros.
fn temporaries(asm: &mut Assembler<'_>, cursor: &mut Cursor<'_>) -> StatementResult {
    if misses_operand(asm, cursor, "a number of temporaries is missing") {
        return Ok(());
    }
    let expr = asm.parse_expression(cursor);
    let count = asm.evaluate(&expr)?.number;
    match &mut asm.names.macro_call {
        Some(call) => call.temporaries = count,
        None => asm.names.global_temporaries = count,
    }
    if let Some(frame) = asm.input.top() {
        frame.macro_call = asm.names.macro_call;
    }
    Ok(())
}

/// Skips blanks. If the statement ends there, reports the missing operand and returns `true`.
fn misses_operand(asm: &mut Assembler<'_>, cursor: &mut Cursor<'_>, message: &str) -> bool {
    cursor.skip_blanks();
    let is_missing = cursor.at_statement_end();
    if is_missing {
        asm.operator_error(DiagnosticCode::MissingOperand, message);
    }
    is_missing
}

/// The last option of each kind applies to the module, that of the records to the whole file.
fn set_object_form(asm: &mut Assembler<'_>, option: ObjectFormOption) {
    let form = &mut asm.module.form;
    match option {
        ObjectFormOption::Hex(hex) => form.hex = hex,
        ObjectFormOption::Binary(binary) => asm.object_form.binary = binary,
        ObjectFormOption::Linkage(linkage) => {
            form.linkage = linkage;
            asm.recorder.control(ListingControl::Linkage(linkage));
        }
        ObjectFormOption::Symbols(symbols) => form.symbols = symbols,
    }
}

fn exit_macro(asm: &mut Assembler<'_>) -> StatementEnd {
    if asm.input.macro_depth() == 0 {
        asm.operator_error(DiagnosticCode::MacroForm, ".EXIT is outside of a macro");
        return StatementEnd::CheckRest;
    }
    asm.input.pending_change = Some(InputChange::ExitMacro);
    StatementEnd::LineDone
}

/// Executes `.PRNTX text`; a text that both passes print (`.IF1`) is printed once.
fn print(asm: &mut Assembler<'_>, cursor: &mut Cursor<'_>) {
    let text = asm.text(cursor);
    if !(asm.pass == Pass::Second && asm.console.messages.contains(&text)) {
        asm.console.messages.push(text);
    }
}

/// Executes `.ERROR text`.
fn user_error(asm: &mut Assembler<'_>, cursor: &mut Cursor<'_>) {
    let text = asm.text(cursor);
    let message = if text.is_empty() { "the source reports an error".into() } else { text };
    asm.operator_error(DiagnosticCode::User, message);
}

/// The number of title characters that are printed.
const TITLE_KEPT: usize = 80;
/// The number of title characters that are accepted without an error.
const TITLE_ROOM: usize = 78;

/// Reads `.TITLE` or `.SBTTL`.
fn heading(asm: &mut Assembler<'_>, directive: Directive, cursor: &mut Cursor<'_>) {
    let text = title(asm, cursor);
    asm.recorder.control(match directive {
        Directive::Title => ListingControl::Title(text),
        _ => ListingControl::Subtitle(text),
    });
}

/// Reads a delimited text without its line ends. Each character for which a heading has no room
/// is reported, and after the last one that is printed the rest of the line is skipped, as in
/// ZASM.
fn title(asm: &mut Assembler<'_>, cursor: &mut Cursor<'_>) -> String {
    cursor.skip_blanks();
    if matches!(cursor.peek(), None | Some(b';')) || cursor.at_statement_end() && asm.is_pasm() {
        return String::new();
    }
    if cursor.at_statement_end() {
        return title_below(asm, cursor);
    }
    let start = cursor.here();
    let close = cursor.peek();
    cursor.advance(1);
    let mut text = Vec::new();
    while let Some(byte) = cursor.peek() {
        let at = cursor.offset();
        cursor.advance_lines(1);
        if Some(byte) == close {
            return String::from_utf8_lossy(&text).into_owned();
        }
        if matches!(byte, b'\r' | b'\n') {
            continue;
        }
        let byte = byte & 0x7F;
        if byte.is_ascii_control() {
            continue;
        }
        text.push(byte);
        if text.len() > TITLE_ROOM {
            let message = "a title has room for 78 characters";
            asm.error(DiagnosticCode::Heading, cursor.since(at), message);
        }
        if text.len() == TITLE_KEPT {
            cursor.skip_to_line_end();
            return String::from_utf8_lossy(&text).into_owned();
        }
    }
    asm.unclosed_text(start);
    String::new()
}

/// Skips the next line: the line end is the delimiter then. ZASM prints an empty title.
fn title_below(asm: &mut Assembler<'_>, cursor: &mut Cursor<'_>) -> String {
    cursor.skip_line();
    let line = cursor.rest();
    cursor.skip_to_line_end();
    let line = &line[..line.len() - cursor.rest().len()];
    if !line.trim_ascii().is_empty() {
        let message = "this line is lost: it ends the title that the line above lacks";
        let at = cursor.since(cursor.offset() - line.len() as u32);
        asm.error(DiagnosticCode::LostLine, at, message);
    }
    String::new()
}

/// Executes a directive without operand. Another may follow `.SLIST` on its line.
fn listing_directive(asm: &mut Assembler<'_>, first: ListingDirective, cursor: &mut Cursor<'_>) {
    let mut next = Some(first);
    while let Some(directive) = next {
        asm.recorder.control(ListingControl::Directive(directive));
        let is_save = directive == ListingDirective::Save;
        next = if is_save { next_listing_directive(asm, cursor) } else { None };
    }
}

/// Reads the next listing directive on the line, if there is one.
fn next_listing_directive(
    asm: &mut Assembler<'_>,
    cursor: &mut Cursor<'_>,
) -> Option<ListingDirective> {
    cursor.skip_blanks();
    let mut ahead = cursor.clone();
    let name = ahead.take(lex::symbol).map(|word| asm.names.intern(word))?;
    let Some(Operator::Directive(Directive::Listing(directive))) = asm.names[name].operator else {
        return None;
    };
    *cursor = ahead;
    Some(directive)
}
