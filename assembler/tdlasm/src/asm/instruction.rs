//! Instructions: reads the operands and chooses the form.
//!
//! As in ZASM registers are numbers: `MVI 7,5` is `MVI A,5`. A number that names no register is an
//! error, and is reduced to one that does.

pub(super) mod encode;

use super::assembler::Assembler;
use super::lints;
use super::name_table::BuiltIn;
use super::options::Cpu;
use super::pass::Pass;
use super::slips;
use super::statement_end::{StatementEnd, StatementResult};
use super::value::Value;
use crate::diag::{Diagnostic, DiagnosticCode};
use crate::isa::{FORMS, Form, Prefix, Register, Slot};
use crate::source::Span;
use crate::syntax::expr::{Expr, Intern, Op};
use crate::syntax::{Cursor, lex};

/// The message for an immediate operand without which the instruction is shorter.
const UNWRITTEN_OPERAND: &str = "missing operand; its bytes are not written";

/// An operand, with what the choice of the form depends on.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Operand {
    pub(super) register: Option<Register>,
    pub(super) index: Option<Prefix>,
    /// The value of an immediate operand or a displacement.
    pub(super) value: Option<Value>,
    pub(super) span: Span,
    pub(super) missing: bool,
    /// Whether the operand contains `.`.
    pub(super) uses_location: bool,
}

impl Operand {
    pub(super) fn register(register: Option<Register>, span: Span) -> Self {
        Self { register, span, ..Self::default() }
    }

    /// Returns the register B, which ZASM uses for a missing register.
    fn missing_register(span: Span) -> Self {
        Self { missing: true, ..Self::register(Some(Register::B), span) }
    }

    fn fits(&self, slot: Slot) -> bool {
        match slot {
            Slot::None => true,
            Slot::Index => self.index.is_some(),
            Slot::Byte | Slot::Word | Slot::Relative | Slot::Bit | Slot::Restart => true,
            _ => {
                self.index.is_none()
                    && self.register.is_some_and(|register| register.bits(slot).is_some())
            }
        }
    }
}

/// Assembles the instruction whose forms begin at index `first`.
pub(super) fn instruction(
    asm: &mut Assembler<'_>,
    first: u16,
    cursor: &mut Cursor<'_>,
) -> StatementResult<StatementEnd> {
    let forms = &FORMS[usize::from(first)..];
    let plain = &forms[0];
    if asm.module.only_8080 && plain.z80_only {
        asm.operator_error(DiagnosticCode::Intel, format!("the 8080 has no {}", plain.mnemonic));
    }
    let mut operands = [Operand::default(); 2];
    if plain.slots[0] != Slot::None {
        read_operands(asm, &mut operands, plain, cursor)?;
    }
    let fits = |form: &Form| (0..2).all(|at| operands[at].fits(form.slots[at]));
    // Most instructions use the first form, which needs no comparison of mnemonics.
    let mut others = forms[1..].iter().take_while(|form| form.mnemonic == plain.mnemonic);
    let form = if fits(plain) { Some(plain) } else { others.find(|form| fits(form)) };
    match form {
        Some(form) => {
            if asm.options.cpu == Some(Cpu::Z180) && form.traps_on_z180() {
                let message = format!("a Z180 traps {}", form.pattern());
                asm.operator_error(DiagnosticCode::Z180Trap, message);
            }
            encode::encode(asm, form, &operands);
        }
        None => encode::encode_mismatched(asm, plain, &operands),
    }
    let Operand { register, uses_location, .. } = operands[0];
    lints::track_flow(asm, form.unwrap_or(plain), register, uses_location);
    Ok(StatementEnd::CheckRest)
}

/// Reads the operands, whose number is the same in all forms.
fn read_operands(
    asm: &mut Assembler<'_>,
    operands: &mut [Operand; 2],
    form: &Form,
    cursor: &mut Cursor<'_>,
) -> StatementResult {
    let [first, second] = form.slots;
    operands[0] = match first {
        Slot::Byte | Slot::Word | Slot::Relative => immediate(asm, form, None, cursor)?,
        Slot::Bit | Slot::Restart => small_number(asm, form, cursor)?,
        Slot::Source | Slot::SourceMem | Slot::Dest | Slot::DestMem | Slot::Index => {
            // Port instructions take no index register.
            let indexed = form.prefix != Prefix::Ed;
            byte_register(asm, indexed, form, cursor)?
        }
        slot => pair(asm, slot, form, cursor)?,
    };
    operands[1] = match second {
        Slot::None => return Ok(()),
        Slot::Byte | Slot::Word => second_immediate(asm, form, operands[0].register, cursor)?,
        _ if form.slots[0] == Slot::Bit => bit_register(asm, form, cursor)?,
        _ => match comma(asm, form, cursor) {
            true => byte_register(asm, true, form, cursor)?,
            false => Operand::missing_register(asm.statement.operator),
        },
    };
    Ok(())
}

/// Skips blanks, and returns `true` if the statement ends there.
fn at_end(asm: &Assembler<'_>, cursor: &mut Cursor<'_>) -> bool {
    cursor.skip_blanks();
    cursor.at_statement_end() || (cursor.peek() == Some(b']') && asm.input.in_block())
}

/// Reads an immediate operand. If it is missing, no field is written.
fn immediate(
    asm: &mut Assembler<'_>,
    form: &Form,
    first: Option<Register>,
    cursor: &mut Cursor<'_>,
) -> StatementResult<Operand> {
    if at_end(asm, cursor) {
        if form.slots[1] != Slot::None || asm.input.has_macro_text {
            asm.error(DiagnosticCode::Operand, cursor.gap(), "an operand is missing here");
        }
        // A macro without text is no operand, but does not count as missing.
        if asm.input.has_macro_text {
            let (value, span) = (Some(Value::default()), asm.statement.operator);
            return Ok(Operand { value, span, ..Operand::default() });
        }
        report_unwritten_operand(asm, form);
        return Ok(Operand::default());
    }
    let is_parenthesised = cursor.peek() == Some(b'(');
    let expr = asm.parse_expression(cursor);
    let value = asm.evaluate(&expr)?;
    let mut operand = Operand { value: Some(value), span: expr.span, ..Operand::default() };
    // The first pass reports nothing.
    if asm.pass == Pass::Second {
        lints::lint_value(asm, &expr);
        slips::lint_immediate(asm, form, &expr);
        if is_parenthesised {
            slips::lint_parentheses(asm, form, first, &expr);
        }
        operand.uses_location = asm.operations(&expr).iter().any(|op| asm.is_here(*op));
    }
    Ok(operand)
}

fn report_unwritten_operand(asm: &mut Assembler<'_>, form: &Form) {
    let help = forms_help(form);
    asm.error_with_help(
        DiagnosticCode::MissingOperand,
        asm.statement.operator,
        UNWRITTEN_OPERAND,
        help,
    );
}

fn second_immediate(
    asm: &mut Assembler<'_>,
    form: &Form,
    first: Option<Register>,
    cursor: &mut Cursor<'_>,
) -> StatementResult<Operand> {
    if at_end(asm, cursor) {
        report_unwritten_operand(asm, form);
        return Ok(Operand::default());
    }
    match skip_comma(asm, cursor) {
        true => immediate(asm, form, first, cursor),
        false => Ok(Operand::default()),
    }
}

/// Skips the comma between the operands.
fn comma(asm: &mut Assembler<'_>, form: &Form, cursor: &mut Cursor<'_>) -> bool {
    !misses_operand(asm, form, cursor) && skip_comma(asm, cursor)
}

/// Skips the next comma of the line; anything before it is an error.
fn skip_comma(asm: &mut Assembler<'_>, cursor: &mut Cursor<'_>) -> bool {
    if cursor.eat(b',') {
        return true;
    }
    asm.error(DiagnosticCode::Operand, cursor.gap(), "a comma is missing here");
    let rest = cursor.rest_of_statement();
    let found = memchr::memchr(b',', rest);
    cursor.advance(found.map_or(rest.len(), |at| at + 1));
    found.is_some()
}

/// If the statement ends here, reports the missing operand and returns `true`.
fn misses_operand(asm: &mut Assembler<'_>, form: &Form, cursor: &mut Cursor<'_>) -> bool {
    let is_missing = at_end(asm, cursor);
    if is_missing {
        missing_operand(asm, form);
    }
    is_missing
}

fn missing_operand(asm: &mut Assembler<'_>, form: &Form) {
    let wanted = form.arity();
    let plural = if wanted == 1 { "" } else { "s" };
    let message = format!("{} needs {wanted} operand{plural}", form.mnemonic);
    asm.error_with_help(DiagnosticCode::Operand, asm.statement.operator, message, forms_help(form));
}

/// Reads an 8-bit register or an indexed byte.
fn byte_register(
    asm: &mut Assembler<'_>,
    indexed: bool,
    form: &Form,
    cursor: &mut Cursor<'_>,
) -> StatementResult<Operand> {
    if misses_operand(asm, form, cursor) {
        return Ok(Operand::missing_register(asm.statement.operator));
    }
    let expr = asm.parse_expression(cursor);
    let span = expr.span;
    let value = asm.evaluate(&expr)?;
    if indexed && cursor.peek() == Some(b'(') {
        let index = Some(index_register(asm, value, cursor));
        return Ok(Operand { index, value: Some(value), span, ..Operand::default() });
    }
    warn_index_without_displacement(asm, &expr, form);
    if value.number > 7 && expr.count > 1 && has_index_register(asm, &expr) {
        let message = "a register is expected here, and the sum is none";
        let help = "the byte at an index register is 5(X) or 5(Y)";
        asm.error_with_help(DiagnosticCode::NoRegister, span, message, help);
        return Ok(Operand::register(Register::from_number(value.number & 7), span));
    }
    let number = register_number(asm, value, form, span);
    let register = Register::from_number(number & 7);
    if number == value.number && number <= 7 {
        lints::lint_number(asm, &expr, register);
    }
    Ok(Operand::register(register, span))
}

fn has_index_register(asm: &Assembler<'_>, expr: &Expr) -> bool {
    asm.operations(expr).iter().any(|op| match *op {
        Op::Symbol(name, _) => match asm.names[name].built_in {
            Some(BuiltIn::Register(register)) => register.is_index(),
            _ => false,
        },
        _ => false,
    })
}

/// Reports a number that is not a register's. Returns its low byte.
fn register_number(asm: &mut Assembler<'_>, value: Value, form: &Form, span: Span) -> u16 {
    if !value.is_absolute() {
        let message = "a register is expected here, but this value is relocatable";
        asm.error(DiagnosticCode::Relocation, span, message);
    } else if value.number > 7 {
        let message = format!("{:04X}H is not the number of a register", value.number);
        let diagnostic = Diagnostic::new(DiagnosticCode::NoRegister, span, message);
        let diagnostic = diagnostic.help(forms_help(form));
        asm.report(lints::suggest_form(asm, diagnostic, span, false));
    }
    value.number & 0xFF
}

/// Warns that `(X)` is the number of X in parentheses, which is 4, the number of H.
fn warn_index_without_displacement(asm: &mut Assembler<'_>, expr: &Expr, form: &Form) {
    let Some(register) = index_name(asm, expr) else { return };
    let name = register.name();
    let message = format!("{} takes {name} for the register H here", form.mnemonic);
    let help = format!("the byte at an index register has its displacement: 0({name})");
    let diagnostic = Diagnostic::new(DiagnosticCode::IndexAsNumber, expr.span, message);
    let span = expr.span;
    asm.report(diagnostic.help(help).fix(span, format!("0({name})")));
}

/// Reads an index register in parentheses.
fn index_register(asm: &mut Assembler<'_>, displacement: Value, cursor: &mut Cursor<'_>) -> Prefix {
    let start = cursor.offset();
    cursor.advance(1);
    cursor.skip_blanks();
    if asm.module.only_8080 {
        asm.error(DiagnosticCode::Intel, cursor.since(start), "the 8080 has no index registers");
    }
    let inside = cursor.clone();
    let name = cursor.take(lex::symbol).map(|word| asm.names.intern(word));
    let built_in = name.and_then(|name| asm.names[name].built_in);
    cursor.skip_blanks();
    let closed = cursor.peek() == Some(b')');
    let prefix = match built_in {
        Some(BuiltIn::Register(Register::X)) => Prefix::X,
        Some(BuiltIn::Register(Register::Y)) => Prefix::Y,
        _ => Prefix::None,
    };
    let is_register = matches!(built_in, Some(BuiltIn::Register(_)));
    if prefix == Prefix::None && closed && is_register && displacement == Value::absolute(0) {
        // ZASM takes any register with the displacement 0, and writes a prefix of 0.
        cursor.advance(1);
        let message = "this is no index register; the code is not an instruction";
        let help = "the byte at an index register is 0(X) or 0(Y)";
        asm.error_with_help(DiagnosticCode::IndexAsNumber, cursor.since(start), message, help);
    } else if prefix == Prefix::None || !closed {
        let message = "only X or Y can stand in index parentheses";
        let help = "the byte at an index register is 5(X) or 5(Y)";
        asm.error_with_help(DiagnosticCode::Index, cursor.since(start), message, help);
        // ZASM skips only the parenthesis, so that the rest is left over.
        *cursor = inside;
        return prefix;
    } else {
        cursor.advance(1);
    }
    cursor.skip_blanks();
    prefix
}

fn pair(
    asm: &mut Assembler<'_>,
    slot: Slot,
    form: &Form,
    cursor: &mut Cursor<'_>,
) -> StatementResult<Operand> {
    if misses_operand(asm, form, cursor) {
        return Ok(Operand::register(Some(Register::B), asm.statement.operator));
    }
    let expr = asm.parse_expression(cursor);
    let span = expr.span;
    if let Some(register) = index_pair(asm, &expr, form) {
        if asm.module.only_8080 {
            asm.error(DiagnosticCode::Intel, span, "the 8080 has no index registers");
        }
        return Ok(Operand::register(Some(register), span));
    }
    let value = asm.evaluate(&expr)?;
    let number = register_number(asm, value, form, span);
    let pair = numbered_pair(asm, number, slot, form, span);
    if number & !6 == 0 {
        lints::lint_number(asm, &expr, pair.register);
        lints::lint_pair(asm, &expr, pair.register);
    }
    Ok(pair)
}

fn numbered_pair(
    asm: &mut Assembler<'_>,
    number: u16,
    slot: Slot,
    form: &Form,
    span: Span,
) -> Operand {
    let number =
        if number & !6 == 0 { number } else { replace_invalid_pair(asm, number, form, span) };
    let register = match (number & 6, slot) {
        (0, _) => Register::B,
        (2, _) => Register::D,
        (4, Slot::PairX) => Register::X,
        (4, Slot::PairY) => Register::Y,
        (_, Slot::Pointer) => return invalid_pointer(asm, number & 6, form, span),
        (4, _) => Register::H,
        (_, Slot::StackPair) => Register::Psw,
        _ => Register::Sp,
    };
    Operand::register(Some(register), span)
}

/// Reports a number that is not a register pair's. ZASM continues with the number of the error
/// in its row, as long as the row shows its flag.
fn replace_invalid_pair(asm: &mut Assembler<'_>, number: u16, form: &Form, span: Span) -> u16 {
    let message = format!("this instruction does not take register pair {number:02X}H");
    asm.error_with_help(DiagnosticCode::NoRegister, span, message, forms_help(form));
    asm.sink.flags_in_row().map_or(number, |errors| 2 * errors)
}

/// Handles `LDAX H` and the like: ZASM assembles the opcode that results from the number, which
/// is that of another instruction.
fn invalid_pointer(asm: &mut Assembler<'_>, number: u16, form: &Form, span: Span) -> Operand {
    let opcode = form.opcode | (number as u8) << 3;
    let message = format!("{} takes B and D; this assembles {opcode:02X}H", form.mnemonic);
    let help = "use M for the byte at H and L";
    asm.error_with_help(DiagnosticCode::OddPointer, span, message, help);
    let register = if number == 4 { Register::H } else { Register::Sp };
    Operand::register(Some(register), span)
}

fn index_name(asm: &Assembler<'_>, expr: &Expr) -> Option<Register> {
    lints::named_register(asm, expr).filter(|register| register.is_index())
}

/// Returns X or Y if an operand is one of them and the instruction has a form for it.
fn index_pair(asm: &Assembler<'_>, expr: &Expr, form: &Form) -> Option<Register> {
    let register = index_name(asm, expr)?;
    let mut forms = FORMS.iter().filter(|one| one.mnemonic == form.mnemonic);
    forms.any(|one| one.slots[0] == Slot::IndexPair).then_some(register)
}

fn small_number(
    asm: &mut Assembler<'_>,
    form: &Form,
    cursor: &mut Cursor<'_>,
) -> StatementResult<Operand> {
    if misses_operand(asm, form, cursor) {
        return Ok(Operand::default());
    }
    let expr = asm.parse_expression(cursor);
    let value = Some(asm.evaluate(&expr)?);
    if let Some(register) = lints::named_register(asm, &expr) {
        let name = register.name();
        let message = format!("a number is expected here, and the register {name} is one");
        let help = format!("the number comes first: {} NUMBER,{name}", form.mnemonic);
        asm.error_with_help(DiagnosticCode::RegisterAsNumber, expr.span, message, help);
    }
    Ok(Operand { value, span: expr.span, ..Operand::default() })
}

/// Reads the register after a bit number. ZASM marks a missing one twice.
fn bit_register(
    asm: &mut Assembler<'_>,
    form: &Form,
    cursor: &mut Cursor<'_>,
) -> StatementResult<Operand> {
    let found = comma(asm, form, cursor);
    if found && !at_end(asm, cursor) {
        return byte_register(asm, true, form, cursor);
    }
    missing_operand(asm, form);
    Ok(Operand::register(Some(Register::B), asm.statement.operator))
}

/// Returns a suggestion with the forms of an instruction.
pub(super) fn forms_help(form: &Form) -> String {
    let forms = FORMS.iter().filter(|one| one.mnemonic == form.mnemonic);
    let patterns: Vec<String> = forms.map(Form::pattern).collect();
    format!("its forms are {}", patterns.join(" | "))
}
