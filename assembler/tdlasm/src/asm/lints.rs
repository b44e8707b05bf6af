//! Lints: statements that ZASM assembles without a message, and that are probably mistakes.
//!
//! They change neither code nor error flags. A comment `; allow NAME` on the line, or alone on the
//! line above, hides the lint of that name there.

use super::assembler::{Assembler, Assembly};
use super::diagnostics::is_allowed;
use super::flow::FlowFault;
use super::name_table::{BuiltIn, NameId};
use super::pass::Pass;
use super::slips;
use crate::diag::{Diagnostic, DiagnosticCode, Severity};
use crate::isa::{FORMS, Form, Register, Slot};
use crate::references::{NameKind, ReferenceRole, References};
use crate::source::{Origin, Span};
use crate::syntax::Cursor;
use crate::syntax::expr::{Expr, Op};

/// The instructions with a register and those with a constant.
const CONSTANT_FORMS: [(&str, &str); 9] = [
    ("MOV", "MVI"),
    ("ADD", "ADI"),
    ("ADC", "ACI"),
    ("SUB", "SUI"),
    ("SBB", "SBI"),
    ("ANA", "ANI"),
    ("XRA", "XRI"),
    ("ORA", "ORI"),
    ("CMP", "CPI"),
];
/// Follows the straight path over an instruction, whose first operand is a register or contains `.`.
pub(super) fn track_flow(
    asm: &mut Assembler<'_>,
    form: &Form,
    register: Option<Register>,
    uses_location: bool,
) {
    // The first pass reports nothing.
    if asm.pass == Pass::First || !asm.sink.follows_path {
        return;
    }
    let (span, nesting) = (asm.statement.operator, asm.input.nesting());
    let flow = &mut asm.module.flow;
    let found = flow.follow(form, register, uses_location, span, nesting);
    match found {
        Some(FlowFault::Unreachable) => report_unreachable(asm),
        Some(FlowFault::Unbalanced) => report_unbalanced(asm),
        Some(FlowFault::SignUnset) => {
            let what = "jumps if the sign is plus, and nothing before it sets the sign";
            slips::report_zilog_jump(asm, what, "JMP", "jumps always");
        }
        None => {}
    }
}

fn report_unreachable(asm: &mut Assembler<'_>) {
    let message = "this instruction follows a jump or return and has no label";
    let help = "remove it, or give it the label that a jump names";
    asm.error_with_help(DiagnosticCode::Unreachable, asm.statement.operator, message, help);
}

fn report_unbalanced(asm: &mut Assembler<'_>) {
    let span = asm.statement.operator;
    let message = "this returns to what PUSH put on the stack, and not to the caller";
    let pushed = asm.module.flow.pushed;
    let diagnostic = Diagnostic::new(DiagnosticCode::Unbalanced, span, message);
    let diagnostic = diagnostic.label(pushed, "no POP takes this off the stack");
    asm.report(diagnostic.help("add a POP before it, or remove the PUSH"));
}

/// Warns of a number where a register is expected.
pub(super) fn lint_number(asm: &mut Assembler<'_>, expr: &Expr, register: Option<Register>) {
    let is_number = |op: &Op| matches!(op, Op::Number(_) | Op::Binary(_) | Op::Group);
    if expr.count == 0 || !asm.operations(expr).iter().all(is_number) {
        return;
    }
    let Some(register) = register else { return };
    let span = expr.span;
    let message = format!("this number is the register {}", register.name());
    let diagnostic = Diagnostic::new(DiagnosticCode::NumberAsRegister, span, message);
    asm.report(suggest_form(asm, diagnostic, span, false));
}

/// Adds the suggestion to use the instruction for a constant, or the one for a register.
pub(super) fn suggest_form(
    asm: &Assembler<'_>,
    diagnostic: Diagnostic,
    operand: Span,
    to_register: bool,
) -> Diagnostic {
    let (sources, word) = (&asm.sources, asm.statement.operator);
    let text = |span| String::from_utf8_lossy(sources.slice(span)).into_owned();
    let found = CONSTANT_FORMS.iter().find_map(|&(register, constant)| {
        let (from, to) = if to_register { (constant, register) } else { (register, constant) };
        text(word).eq_ignore_ascii_case(from).then_some(to)
    });
    let operands = text(Span::new(word.end, operand.end));
    // A constant cannot be the destination of a move.
    let is_whole = operands.contains(',') == matches!(found, Some("MVI" | "MOV"));
    let Some(form) = found.filter(|_| is_whole) else { return diagnostic };
    let is_small = text(word).starts_with(|first: char| first.is_ascii_lowercase());
    let form = if is_small { form.to_ascii_lowercase() } else { form.to_owned() };
    diagnostic.help(format!("did you mean {form} {}?", operands.trim())).fix(word, form)
}

/// Warns of a register where a value is expected, which is the register's number.
pub(super) fn lint_value(asm: &mut Assembler<'_>, expr: &Expr) {
    let Some(register) = named_register(asm, expr) else { return };
    let span = expr.span;
    let (name, value) = (register.name(), register.value());
    let message =
        format!("a value is expected here, and the register {name} is the number {value}");
    let mut diagnostic = Diagnostic::new(DiagnosticCode::RegisterAsNumber, span, message);
    if name.len() == 1 && !register.is_index() {
        diagnostic = suggest_form(asm, diagnostic, span, true);
    }
    asm.report(diagnostic);
}

/// Warns of a register pair that stands for another one here: `DAD X` is `DAD H`.
pub(super) fn lint_pair(asm: &mut Assembler<'_>, expr: &Expr, used: Option<Register>) {
    let (Some(named), Some(used)) = (named_register(asm, expr), used) else { return };
    if named != used {
        let (named, used) = (named.name(), used.name());
        let message =
            format!("this instruction does not take {named}; it is assembled with {used}");
        let help = format!("write {used} if it is meant");
        asm.error_with_help(DiagnosticCode::WrongPair, expr.span, message, help);
    }
}

/// Returns the register that an operand names.
pub(super) fn named_register(asm: &Assembler<'_>, expr: &Expr) -> Option<Register> {
    let [Op::Symbol(name, _)] = *asm.operations(expr) else { return None };
    match asm.names[name].built_in {
        Some(BuiltIn::Register(register)) => Some(register),
        _ => None,
    }
}

/// Warns of a symbol in the place of an operator, which is a label without its colon.
pub(super) fn lint_symbol_as_operator(
    asm: &mut Assembler<'_>,
    name: NameId,
    span: Span,
    rest: &[u8],
) {
    let spelling = asm.names.spelling(name);
    let message =
        format!("{spelling} is a symbol, not an instruction; its value is written as a word");
    let diagnostic = Diagnostic::new(DiagnosticCode::SymbolAsOperator, span, message);
    let diagnostic = match rest.first() {
        Some(b'\n' | b'\r' | b';' | b']') | None => {
            diagnostic.help(format!("write .WORD {spelling} if a word is meant"))
        }
        _ => {
            let written = String::from_utf8_lossy(asm.sources.slice(span)).into_owned();
            let help = format!("a label ends with a colon: write {written}:");
            diagnostic.help(help).fix(span, format!("{written}:"))
        }
    };
    asm.report(diagnostic);
}

/// Warns of an instruction without operands that a colon makes a label: `RET:`.
pub(super) fn lint_instruction_as_label(
    asm: &mut Assembler<'_>,
    form: u16,
    span: Span,
    cursor: &Cursor<'_>,
) {
    let Form { mnemonic, slots, .. } = &FORMS[usize::from(form)];
    let mut ahead = cursor.clone();
    ahead.skip_blanks();
    if slots[0] == Slot::None && ahead.at_statement_end() {
        let message = format!("the colon makes {mnemonic} a label, and no instruction");
        let diagnostic = Diagnostic::new(DiagnosticCode::InstructionAsLabel, span, message);
        let colon = Span::new(span.end, cursor.offset());
        asm.report(diagnostic.help(format!("did you mean {mnemonic}?")).fix(colon, ""));
    }
}

/// Warns of a decimal address with the look of a hexadecimal one: `.LOC 8000`.
pub(super) fn lint_decimal_address(asm: &mut Assembler<'_>, expr: &Expr) {
    let span = expr.span;
    let text = asm.sources.slice(span);
    let is_round = text.len() > 2 && text.ends_with(b"00");
    let [Op::Number(value)] = *asm.operations(expr) else { return };
    if asm.module.radix != 10 || !is_round || !text.iter().all(u8::is_ascii_digit) {
        return;
    }
    let digits = String::from_utf8_lossy(text).into_owned();
    let message = format!("this address is decimal: {digits} is {value:04X}H");
    let help = format!("did you mean {digits}H?");
    let diagnostic = Diagnostic::new(DiagnosticCode::DecimalAddress, span, message).help(help);
    asm.report(diagnostic.fix(span, format!("{digits}H")));
}

/// Adds the warnings about labels that no statement uses.
pub(super) fn report_unused_labels(assembly: &mut Assembly, severity: Severity) {
    let References { names, entries, .. } = &assembly.references;
    let mut used = vec![false; names.len()];
    for reference in entries.iter().filter(|one| one.role != ReferenceRole::Definition) {
        used[reference.name as usize] = true;
    }
    for reference in entries {
        let name = &names[reference.name as usize];
        let is_label = name.kind == NameKind::Label && !name.exported;
        let in_file =
            !matches!(assembly.sources.source_at(reference.span.start).origin, Origin::Macro(_));
        if is_label && in_file && !used[reference.name as usize] {
            let message = format!("the label {} is not used", name.spelling);
            let diagnostic = Diagnostic::new(DiagnosticCode::UnusedLabel, reference.span, message);
            assembly.diagnostics.push(Diagnostic { severity, ..diagnostic });
        }
    }
    let sources = &assembly.sources;
    assembly.diagnostics.retain(|one| !is_allowed(one, sources));
    assembly.diagnostics.sort_by_key(|one| one.span.start);
}
