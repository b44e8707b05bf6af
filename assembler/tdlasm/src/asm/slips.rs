//! Slips of newcomers from other assemblers: what ZASM takes in silence or with a warning, and
//! means something else in Zilog's notation, in C, or on the 6502.

use super::assembler::Assembler;
use super::name_table::Operator;
use crate::diag::{Diagnostic, DiagnosticCode};
use crate::isa::zilog::is_operand;
use crate::isa::{FORMS, Form, Register};
use crate::source::Span;
use crate::syntax::Cursor;
use crate::syntax::expr::{BinaryOp, Expr, Intern, Op};

/// The opcode of `CP`, a call if the sign is plus.
const CALL_IF_PLUS: u8 = 0xF4;
/// The instructions that load from an address, by those that load it as a constant.
const LOADS: [(&str, Option<Register>, &str); 5] = [
    ("LXI", Some(Register::H), "LHLD"),
    ("LXI", Some(Register::D), "LDED"),
    ("LXI", Some(Register::B), "LBCD"),
    ("LXI", Some(Register::Sp), "LSPD"),
    ("MVI", Some(Register::A), "LDA"),
];
/// Masks are complements of constants on purpose.
const MASKS: [&str; 3] = ["ANI", "ORI", "XRI"];
/// The characters that follow a backslash in the texts of C.
const ESCAPES: &[u8] = b"nrt0aex\\\"'";

/// Reports what follows a statement on its line. An instruction with more operands than it takes
/// is an error, and any other text probably a comment.
pub(super) fn report_trailing_text(asm: &mut Assembler<'_>, cursor: &Cursor<'_>) {
    let at = cursor.here();
    let Some(form) = instruction_before(asm, at) else { return report_ignored(asm, at) };
    let operator = asm.statement.operator;
    let end = cursor.offset() + cursor.rest_of_statement().trim_ascii_end().len() as u32;
    let operands = Span::new(operator.end, end);
    let word = String::from_utf8_lossy(asm.sources.slice(operator)).into_owned();
    let translate = asm.options.translate.filter(|_| asm.sink.accepts(DiagnosticCode::Operand));
    let here = translate.and_then(|translate| translate(&word, asm.sources.slice(operands)));
    let message = format!("{} takes fewer operands; the rest is ignored", form.mnemonic);
    let diagnostic = Diagnostic::new(DiagnosticCode::ExtraOperand, at, message);
    match (here, cursor.peek()) {
        (Some(here), _) => {
            let help = format!("in this dialect: {here}");
            asm.report(diagnostic.help(help).fix(Span::new(operator.start, end), here));
        }
        (None, Some(b',' | b'(' | b')' | b'+' | b'-' | b'#')) => {
            let help = form_with_fewer_operands(form, asm.sources.slice(operands))
                .unwrap_or_else(|| super::instruction::forms_help(form));
            asm.report(diagnostic.help(help));
        }
        (None, _) if begins_with_register(cursor.rest_of_statement()) => {
            asm.report(diagnostic.help(super::instruction::forms_help(form)));
        }
        _ => report_ignored(asm, at),
    }
}

fn report_ignored(asm: &mut Assembler<'_>, at: Span) {
    let message = "the rest of the line is ignored";
    let diagnostic = Diagnostic::new(DiagnosticCode::TrailingText, at, message);
    if asm.sink.flags_in_row() != Some(0) {
        return asm.report(diagnostic); // The rest of an operand that was reported.
    }
    let help = match asm.sources.slice(at) {
        b"," => "this directive takes no further operand",
        b"\\" => "a line has one statement",
        _ => "a comment begins with a semicolon",
    };
    asm.report(diagnostic.help(help));
}

/// Returns the instruction that begins the line of an offset.
fn instruction_before(asm: &mut Assembler<'_>, at: Span) -> Option<&'static Form> {
    let operator = asm.statement.operator;
    if operator.end > at.start || asm.spans_lines(Span::new(operator.end, at.start)) {
        return None;
    }
    let name = asm.names.intern(asm.sources.slice(operator));
    match asm.names[name].operator {
        Some(Operator::Instruction(form)) => Some(&FORMS[usize::from(form)]),
        _ => None,
    }
}

/// Returns `true` if a text is a register or condition, alone or before a comma.
fn begins_with_register(text: &[u8]) -> bool {
    let word = text.split(|byte| *byte == b',').next().unwrap_or_default().trim_ascii();
    is_operand(word) || word.eq_ignore_ascii_case(b"PSW")
}

/// Returns the spelling of an instruction with operands that other assemblers give it as well: the
/// accumulator, or an index register.
fn form_with_fewer_operands(form: &Form, operands: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(operands).to_ascii_uppercase();
    let text = text.trim();
    if text.ends_with(",X") || text.ends_with(",Y") {
        return Some(
            "no address is indexed by a register: LXI and DAD compute it, M is the byte".into(),
        );
    }
    match text.split_once(',') {
        Some(("A", rest) | (rest, "A")) if form.arity() == 1 => {
            Some(format!("the accumulator is not named: {} {}", form.mnemonic, rest.trim()))
        }
        _ => indexed_form(form, text),
    }
}

/// Returns the form for an indexed byte of an instruction that takes an address or a constant.
fn indexed_form(form: &Form, text: &str) -> Option<String> {
    let (displacement, register) = text.split_once('(')?;
    let register = register.strip_suffix(')')?;
    let register = register.strip_prefix('I').unwrap_or(register);
    let byte = format!("{}({register})", displacement.trim());
    matches!(register, "X" | "Y").then_some(())?;
    Some(match form.mnemonic {
        "LDA" => format!("in this dialect: MOV A,{byte}"),
        "STA" => format!("in this dialect: MOV {byte},A"),
        _ => return None,
    })
}

/// Warns of an operand that another notation would mean otherwise.
pub(super) fn lint_immediate(asm: &mut Assembler<'_>, form: &Form, expr: &Expr) {
    match *asm.operations(expr) {
        [Op::Number(number)] if form.opcode == CALL_IF_PLUS && number < 0x100 => {
            report_zilog_jump(asm, "calls this address if the sign is plus", "CPI", "compares");
        }
        [Op::Number(number), Op::Not] if !MASKS.contains(&form.mnemonic) => {
            let message = format!("# inverts the bits: this is {:04X}H", !number);
            let diagnostic = Diagnostic::new(DiagnosticCode::Complement, expr.span, message);
            let number = without_first(asm, expr.span);
            asm.report(match form.mnemonic {
                "LDA" => diagnostic.help(format!("did you mean MVI A,{number}?")),
                _ => {
                    let help = format!("did you mean {number}? A constant has no mark");
                    diagnostic.help(help).fix(expr.span, number)
                }
            });
        }
        [.., Op::Binary(BinaryOp::ShiftLeft | BinaryOp::ShiftRight), Op::Binary(op)] => {
            lint_precedence(asm, op, expr.span);
        }
        _ => {}
    }
}

/// Warns of a shift in a sum, which other assemblers and C compute after the sum.
pub(super) fn lint_precedence(asm: &mut Assembler<'_>, last: BinaryOp, span: Span) {
    if matches!(last, BinaryOp::Add | BinaryOp::Subtract) && asm.input.macro_depth() == 0 {
        let message = "the shift is computed before the sum";
        let help = "show what is meant by parentheses";
        asm.error_with_help(DiagnosticCode::ShiftSign, span, message, help);
    }
}

/// Warns of a shift in the condition of a conditional, where a comparison is meant. A shift by 8
/// takes the high byte.
pub(super) fn lint_comparison(asm: &mut Assembler<'_>, expr: &Expr) {
    let is_shift = match *asm.operations(expr) {
        [.., Op::Number(8), Op::Binary(_)] => false,
        [.., Op::Binary(op)] => matches!(op, BinaryOp::ShiftLeft | BinaryOp::ShiftRight),
        _ => false,
    };
    if is_shift {
        let message = "< and > shift, and compare nothing";
        let help = "compare a difference with zero: .IFG A-B for A > B, .IFL A-B for A < B";
        asm.error_with_help(DiagnosticCode::ShiftSign, expr.span, message, help);
    }
}

fn without_first(asm: &Assembler<'_>, span: Span) -> String {
    String::from_utf8_lossy(&asm.sources.slice(span)[1..]).trim().to_owned()
}

/// Warns of parentheses around a whole operand, which begins with one.
pub(super) fn lint_parentheses(
    asm: &mut Assembler<'_>,
    form: &Form,
    first: Option<Register>,
    expr: &Expr,
) {
    let is_whole = matches!(asm.operations(expr), [Op::Number(_) | Op::Symbol(..)]);
    if !is_whole || asm.input.macro_depth() > 0 {
        return;
    }
    let span = expr.span;
    let inner = String::from_utf8_lossy(asm.sources.slice(span));
    let inner = inner.trim_matches(|one| matches!(one, '(' | ')' | ' ' | '\t')).to_owned();
    let load = LOADS.iter().find(|load| load.0 == form.mnemonic && load.1 == first);
    let (message, help) = match load {
        Some((.., load)) => (
            "parentheses have no effect: this loads the value itself",
            format!("{load} {inner} loads from that address"),
        ),
        None => ("parentheses have no effect here", format!("write {inner}")),
    };
    asm.error_with_help(DiagnosticCode::Parentheses, span, message, help);
}

/// Warns of `JP` or `CP` with the meaning of Zilog's notation.
pub(super) fn report_zilog_jump(asm: &mut Assembler<'_>, what: &str, here: &str, does: &str) {
    let operator = asm.statement.operator;
    let word = String::from_utf8_lossy(asm.sources.slice(operator)).into_owned();
    let message = format!("{} {what}", word.to_ascii_uppercase());
    let is_small = word.starts_with(|first: char| first.is_ascii_lowercase());
    let fix = if is_small { here.to_ascii_lowercase() } else { here.to_owned() };
    let diagnostic = Diagnostic::new(DiagnosticCode::ZilogJump, operator, message);
    asm.report(diagnostic.help(format!("did you mean {fix}? It {does}")).fix(operator, fix));
}

/// Warns of a text whose form other assemblers read otherwise. `text` begins after `delimiter`,
/// and `next` is the character after its end.
pub(super) fn lint_text(asm: &mut Assembler<'_>, delimiter: Span, text: &[u8], next: Option<u8>) {
    let sign = asm.sources.slice(delimiter).first().copied();
    let shown = String::from_utf8_lossy(text).into_owned();
    let is_escape = |pair: &[u8]| pair[0] == b'\\' && ESCAPES.contains(&pair[1]);
    let (message, help) = match sign {
        Some(b',') => (
            format!("a comma separates no texts: it begins the text `{shown}`"),
            "put bytes in brackets, without commas: \"A\"[13]\"B\"",
        ),
        Some(b'"' | b'\'') if next == sign => (
            "a doubled quote is no quote: the text ends, and another begins".to_owned(),
            "use another delimiter: /say \"hi\"/",
        ),
        _ if !text.is_ascii() => (
            "characters have 7 bits, as in ZASM: bit 7 of this text is cleared".to_owned(),
            "write the bytes of other characters by .BYTE",
        ),
        _ if text.windows(2).any(is_escape) => (
            "a backslash is a character like any other".to_owned(),
            "put bytes in brackets behind the text: [13] for \\r, [10] for \\n, [0] for \\0",
        ),
        _ => return,
    };
    asm.error_with_help(DiagnosticCode::TextForm, delimiter, message, help);
}

/// Returns what to write for a text without its closing delimiter.
pub(super) fn unclosed_text_help(first: u8) -> &'static str {
    match first {
        b',' | b'+' | b'!' => "put bytes in brackets, without signs: \"A\"[13]\"B\"",
        _ if first.is_ascii_alphanumeric() => "a text has two equal delimiters: \"HELLO\"",
        _ => "a text ends at the next character like its first one",
    }
}

/// Warns at the end of a module of a conditional that is not closed.
pub(super) fn lint_open_block(asm: &mut Assembler<'_>) {
    let Some(at) = asm.input.innermost_block() else { return };
    let message = "the block that begins here is not closed";
    let span = Span::new(at, at + 1);
    let help = "a ] ends it, as ENDIF does in other assemblers";
    asm.error_with_help(DiagnosticCode::OpenBlock, span, message, help);
}

/// Warns of statements after `.END`.
pub(super) fn lint_after_end(asm: &mut Assembler<'_>, cursor: &Cursor<'_>) {
    let mut ahead = cursor.clone();
    while !ahead.rest().is_empty() {
        ahead.skip_blanks();
        if !ahead.at_statement_end() {
            let message = "what follows .END is not assembled";
            let help = "move .END behind it, or remove it";
            asm.error_with_help(DiagnosticCode::AfterEnd, ahead.here(), message, help);
            return;
        }
        ahead.skip_line();
    }
}

/// Signs and words for operations in other assemblers, separated by blanks, and what TDL has.
const FOREIGN_OPERATIONS: &str = include_str!("foreign_operations.txt");

/// Returns what this dialect has for an operation of other assemblers at the start of a text.
pub(super) fn foreign_operation(text: &[u8]) -> Option<&'static str> {
    let length = text.iter().take_while(|byte| byte.is_ascii_alphabetic()).count().max(1);
    line_of(FOREIGN_OPERATIONS, str::from_utf8(text.get(..length)?).ok()?)
}

/// Returns the text of a table's line that has this word among the names before the colon.
pub(super) fn line_of(table: &'static str, word: &str) -> Option<&'static str> {
    let is_word = |name: &str| name.eq_ignore_ascii_case(word);
    let mut rows = table.lines().filter_map(|line| line.split_once(": "));
    rows.find(|(names, _)| names.split(' ').any(is_word)).map(|(_, text)| text)
}

/// Returns the TDL spelling of a number with a sign before it: `$FF`, `&80`, `%1010`.
pub(super) fn foreign_number(text: &[u8]) -> Option<String> {
    let (&sign, digits) = text.split_first()?;
    let length = digits.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let digits = std::str::from_utf8(&digits[..length]).ok().filter(|some| !some.is_empty())?;
    match sign {
        b'$' | b'&' => Some(crate::syntax::lex::hexadecimal(digits)),
        b'%' if digits.bytes().all(|digit| matches!(digit, b'0' | b'1')) => {
            Some(format!("{digits}B"))
        }
        _ => None,
    }
}
