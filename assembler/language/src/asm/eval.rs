//! The values of expressions: at once if every symbol is known, at the end of the text otherwise.

use crate::diag::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::expr::{BinaryOp, Expr, Fault, Op};
use crate::syntax::{Cursor, lex};

use super::names::{Definition, NameId, Operator, Special, State};
use super::output::{Field, Fixup, Site};
use super::value::{BaseId, Value};
use super::{Assembler, Interrupt, Pass, Step};

/// The number that the original has at hand when a closing parenthesis has no partner, and goes on
/// with.
const LEFT_OVER: u16 = 0x2731;

/// An operation of an expression that waits.
#[derive(Debug, Clone, Copy)]
pub(super) enum DeferredOp {
    Value(Value),
    /// A symbol to be defined below, and where it stands.
    Symbol(NameId, u32),
    /// Another expression that waits.
    Other(u32),
    Negate,
    Not,
    Binary(BinaryOp),
    Group,
}

/// One expression that waits: its operations and its place.
#[derive(Debug, Clone, Copy)]
pub(super) struct DeferredExpression {
    pub(super) first: u32,
    pub(super) count: u32,
}

/// All expressions that wait for symbols from further below.
#[derive(Debug, Default)]
pub(super) struct Deferred {
    pub(super) ops: Vec<DeferredOp>,
    pub(super) expressions: Vec<DeferredExpression>,
}

/// The value of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Evaluated {
    Known(Value),
    /// Known at the end: the index of the deferred expression.
    Later(u32),
}

impl Assembler<'_> {
    /// Reads an expression into operand buffer `which`.
    pub(super) fn parse_expression(&mut self, which: usize, cursor: &mut Cursor<'_>) {
        let radix = self.radix;
        self.operands[which].parse(cursor, radix, &mut self.naming.names);
        if self.notes() {
            self.mention_operand(which);
        }
    }

    fn report_fault(&mut self, fault: Fault, span: Span) {
        self.input.runs_on |= fault == Fault::OpenLine;
        // The original raises A twice at a closing parenthesis without partner.
        let count = if fault == Fault::Closing { 2 } else { 1 };
        let number = if fault == Fault::Digit { self.number_meant(span) } else { None };
        let (code, message) = fault_text(fault);
        let mut diagnostic = Diagnostic::new(code, span, message);
        if let Some(number) = number {
            diagnostic = diagnostic.help(format!("write {number}")).fix(span, number);
        }
        self.reports.add_counted(diagnostic, count);
    }

    /// The spelling that a hexadecimal number of another language has here.
    fn number_meant(&self, span: Span) -> Option<String> {
        let text = self.input.sources.slice(span).to_ascii_uppercase();
        let digits = text.strip_prefix(b"0X").unwrap_or(&text);
        let hexadecimal = !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit);
        if !hexadecimal {
            return None;
        }
        let digits = String::from_utf8_lossy(digits);
        let digits = digits.trim_start_matches('0');
        let zero = if digits.starts_with(|first: char| first.is_ascii_digit()) { "" } else { "0" };
        Some(format!("{zero}{digits}H"))
    }

    /// Evaluates operand buffer `which`.
    #[inline]
    pub(super) fn evaluate(&mut self, which: usize) -> Step<Evaluated> {
        if let Some(value) = self.value_at_hand(&self.operands[which]) {
            return Ok(Evaluated::Known(value));
        }
        let expr = std::mem::take(&mut self.operands[which]);
        let result = self.evaluate_expression(&expr);
        self.operands[which] = expr;
        result
    }

    /// Evaluates operand buffer `which`, whose value is needed at once. In the first pass a symbol
    /// from further below counts 0, as on the original; the only pass gives up.
    pub(super) fn evaluate_now(&mut self, which: usize) -> Step<Value> {
        match self.evaluate(which)? {
            Evaluated::Known(value) => Ok(value),
            Evaluated::Later(_) => Err(Interrupt::TwoPasses),
        }
    }

    /// The value of an expression that is one number or one symbol defined above: most are.
    #[inline]
    fn value_at_hand(&self, expr: &Expr) -> Option<Value> {
        match expr.ops[..] {
            [Op::Number(number)] => Some(Value::absolute(number)),
            [Op::Symbol(name, _)] => {
                let name = &self.naming.names[name];
                // The second pass notes which values of the first it uses.
                let early = self.pass == Pass::Second && name.pass == 1;
                name.plain_value().filter(|_| !early)
            }
            _ => None,
        }
    }

    pub(super) fn evaluate_expression(&mut self, expr: &Expr) -> Step<Evaluated> {
        if self.naming.here_doubled && expr.ops.contains(&Op::Here) {
            self.error(Code::Doubled, expr.span, "the source assigns to the location counter");
        }
        // One operand needs no stack.
        if let [op] = expr.ops[..]
            && let Some(value) = self.operand_value(op)?
        {
            return Ok(Evaluated::Known(value));
        }
        // A stack machine over postfix operations. The stack belongs to the assembler so that it is
        // allocated once; it must be cleared, as a deferred expression leaves its values behind.
        self.emission.values.clear();
        for (at, op) in expr.ops.iter().enumerate() {
            match *op {
                Op::Fault(fault, span) => {
                    self.report_fault(fault, span);
                    if let (Fault::Closing, Some(top)) = (fault, self.emission.values.last_mut()) {
                        *top = top.with_number(LEFT_OVER);
                    }
                }
                Op::Negate => self.unary(Value::negate),
                Op::Not => {
                    let moves = self.emission.values.last().is_some_and(|top| !top.is_absolute());
                    if moves {
                        self.not_relocatable(expr.span);
                    }
                    self.unary(Value::not);
                }
                Op::Binary(op) => self.binary(op, expr.span),
                Op::Group => self.unary(Value::grouped),
                operand => match self.operand_value(operand)? {
                    Some(value) => self.emission.values.push(value),
                    // A name without value yet: the whole expression waits, since what was computed
                    // so far may depend on where sections end.
                    None => return self.defer(expr, at).map(Evaluated::Later),
                },
            }
        }
        let value = self.emission.values.pop().unwrap_or_default();
        Ok(Evaluated::Known(self.settle(value, expr.span)))
    }

    /// Reports a value that moves with a section other than once.
    fn settle(&mut self, value: Value, span: Span) -> Value {
        for _ in 0..value.relocation_faults() {
            self.not_relocatable(span);
        }
        value.settled()
    }

    fn unary(&mut self, op: impl Fn(Value) -> Value) {
        let value = self.emission.values.pop().unwrap_or_default();
        self.emission.values.push(op(value));
    }

    fn binary(&mut self, op: BinaryOp, span: Span) {
        let right = self.emission.values.pop().unwrap_or_default();
        let left = self.emission.values.pop().unwrap_or_default();
        let (value, faults) = left.binary(op, right);
        for _ in 0..faults {
            self.not_relocatable(span);
        }
        self.emission.values.push(value);
    }

    #[cold]
    pub(super) fn not_relocatable(&mut self, span: Span) {
        let message = "no relocation can express this value";
        let help = "a value that moves may be added to a constant, and two that move alike \
                    subtracted";
        self.report(Diagnostic::new(Code::Relocation, span, message).help(help));
    }

    /// Returns the value of an operand; `None` if a symbol is to be defined below.
    #[inline]
    fn operand_value(&mut self, op: Op) -> Step<Option<Value>> {
        match op {
            Op::Number(number) => Ok(Some(Value::absolute(number))),
            Op::Here => Ok(Some(self.emission.here)),
            Op::Symbol(name, at) => self.symbol_value(name, at),
            Op::External(name, at) => {
                if self.naming.names[name].macro_index().is_some() {
                    return Err(Interrupt::Expand(name, at));
                }
                // As with exported labels, no program shows whether the original still finds the
                // `..locals` below an external that is first named in an operand.
                let place = self.naming.names.local_place();
                self.declare_external(name, self.symbol_span(at));
                self.naming.names.add_locals_to(place);
                self.symbol_value(name, at)
            }
            _ => Ok(None),
        }
    }

    #[inline]
    fn symbol_value(&mut self, name: NameId, at: u32) -> Step<Option<Value>> {
        let entry = &self.naming.names[name];
        if entry.macro_index().is_some() {
            return Err(Interrupt::Expand(name, at));
        }
        if entry.doubled {
            self.report_doubled(name, at);
        }
        let entry = &self.naming.names[name];
        Ok(match entry.state {
            // Like a section's name, an external stands for the end of its area so far.
            State::Value(value) if entry.definition == Definition::External => {
                Some(self.emission.output.end_of_area(value.base))
            }
            State::Value(value) => {
                if self.pass == Pass::Second && entry.pass == 1 {
                    self.emission.early.push((name, at, value));
                }
                Some(value)
            }
            State::Deferred(_) => None,
            State::Undefined => match self.built_in_value(name) {
                None => self.unknown_value(name, at),
                built_in => {
                    // The second of two passes knows a symbol of this name from further below.
                    if self.pass == Pass::Only {
                        self.naming.taken_as_built_in.push(name);
                    }
                    built_in
                }
            },
        })
    }

    /// The value of a name that the language gives a meaning: a register, a section, an instruction
    /// or a directive.
    fn built_in_value(&self, name: NameId) -> Option<Value> {
        let entry = &self.naming.names[name];
        Some(match (entry.special, entry.operator) {
            (Some(Special::Register(register)), _) => Value::absolute(register.value().into()),
            (Some(Special::Segment(base)), _) => {
                self.emission.output.end_of_area(BaseId(base.into()))
            }
            (_, Some(Operator::Instruction(form))) => {
                Value::absolute(crate::isa::FORMS[usize::from(form)].value())
            }
            // A directive has no opcode, and counts 0.
            (_, Some(Operator::Directive(_))) => Value::default(),
            _ => return None,
        })
    }

    /// A symbol without a value: the original takes 0, and marks it in the second pass.
    #[cold]
    fn unknown_value(&mut self, name: NameId, at: u32) -> Option<Value> {
        match self.pass {
            Pass::Only => return None,
            Pass::First => {}
            Pass::Second => self.report_undefined(name, self.symbol_span(at)),
        }
        Some(Value::default())
    }

    /// Warns where the second pass used a value of the first that was not the last one.
    pub(super) fn check_early_uses(&mut self) {
        for (name, at, value) in std::mem::take(&mut self.emission.early) {
            let entry = &self.naming.names[name];
            // A label that moves is marked where it stands.
            if entry.state == State::Value(value) || entry.definition == Definition::Label {
                continue;
            }
            let spelling = self.naming.names.spelling(name);
            let message = format!("{spelling} has not its last value here, as on the original");
            let help = "two passes are not enough for it: move its definition up";
            let diagnostic = Diagnostic::new(Code::EarlyValue, self.symbol_span(at), message);
            self.report(diagnostic.help(help));
        }
    }

    #[cold]
    pub(super) fn report_doubled(&mut self, name: NameId, at: u32) {
        let message = format!("{} is defined twice", self.naming.names.spelling(name));
        self.error(Code::Doubled, self.symbol_span(at), message);
    }

    pub(super) fn report_undefined(&mut self, name: NameId, span: Span) {
        self.naming.names[name].missed = true;
        self.naming.names.place(name);
        let spelling = self.naming.names.spelling(name);
        let message = format!("{spelling} is not defined");
        let mut diagnostic = Diagnostic::new(Code::Undefined, span, message);
        if self.reports.hears(Code::Undefined)
            && let Some(guess) = self.known_guess(name)
        {
            diagnostic = guess.add_to(diagnostic, span, span.end);
        }
        self.report(diagnostic);
    }

    /// Returns the span of the symbol at an offset.
    pub(super) fn symbol_span(&self, at: u32) -> Span {
        let source = self.input.sources.source_at(at);
        let rest = &source.text[(at - source.base) as usize..];
        let length = rest.iter().take_while(|byte| lex::is_symbol(**byte)).count();
        Span::new(at, at + length as u32)
    }

    /// Keeps an expression until the end of the text, whose faults before the operation at `read`
    /// have been reported.
    fn defer(&mut self, expr: &Expr, read: usize) -> Step<u32> {
        let first = self.emission.deferred.ops.len() as u32;
        for (at, op) in expr.ops.iter().enumerate() {
            let kept = match *op {
                Op::Negate => DeferredOp::Negate,
                Op::Not => DeferredOp::Not,
                Op::Binary(op) => DeferredOp::Binary(op),
                Op::Group => DeferredOp::Group,
                // The value that it leaves is not that of the operations.
                Op::Fault(Fault::Closing, _) => return Err(Interrupt::TwoPasses),
                Op::Fault(fault, span) => {
                    if at > read {
                        self.report_fault(fault, span);
                    }
                    continue;
                }
                operand => match (self.operand_value(operand)?, operand) {
                    (Some(value), _) => DeferredOp::Value(value),
                    (None, Op::Symbol(name, at) | Op::External(name, at)) => self.waiting(name, at),
                    (None, _) => DeferredOp::Value(Value::default()),
                },
            };
            self.emission.deferred.ops.push(kept);
        }
        let count = self.emission.deferred.ops.len() as u32 - first;
        self.emission.deferred.expressions.push(DeferredExpression { first, count });
        Ok(self.emission.deferred.expressions.len() as u32 - 1)
    }

    fn waiting(&self, name: NameId, at: u32) -> DeferredOp {
        match self.naming.names[name].state {
            State::Deferred(other) => DeferredOp::Other(other),
            _ => DeferredOp::Symbol(name, at),
        }
    }

    /// Writes a field with the value of operand buffer `which`.
    #[inline]
    pub(super) fn emit_operand(&mut self, which: usize, field: Field) -> Step {
        if let Some(value) = self.value_at_hand(&self.operands[which]) {
            let span = self.operands[which].span;
            let site = self.emission.output.write(&[0; 2][..field.size()]);
            self.set_field(site, field, value, span);
            return Ok(());
        }
        let expr = std::mem::take(&mut self.operands[which]);
        let result = self.emit_expression(&expr, field);
        self.operands[which] = expr;
        result
    }

    pub(super) fn emit_expression(&mut self, expr: &Expr, field: Field) -> Step {
        let evaluated = self.evaluate_expression(expr)?;
        let site = self.emission.output.write(&[0; 2][..field.size()]);
        self.fill(site, field, evaluated, expr.span);
        Ok(())
    }

    /// Puts a value into a field that is already written, now or at the end.
    pub(super) fn fill(&mut self, site: Site, field: Field, evaluated: Evaluated, span: Span) {
        match evaluated {
            Evaluated::Known(value) => self.set_field(site, field, value, span),
            Evaluated::Later(expression) => {
                let row = self.reports.row();
                self.emission.output.fixups.push(Fixup { site, field, expression, span, row });
            }
        }
    }
}

/// The code and message for a fault in the text of an expression.
fn fault_text(fault: Fault) -> (Code, &'static str) {
    match fault {
        Fault::Missing => (Code::Expression, "a number, symbol or parenthesis is missing here"),
        Fault::Stray => (Code::Expression, "a number, symbol or parenthesis is expected here"),
        Fault::Radix => (Code::Expression, "^ is followed by none of B O Q D H"),
        Fault::Operator => (Code::Expression, "an operator or a comma is missing here"),
        Fault::Parenthesis | Fault::OpenLine => {
            (Code::Expression, "this parenthesis is not closed")
        }
        Fault::Closing => (Code::Expression, "this parenthesis has no partner"),
        Fault::Quote => (Code::Quote, "the quote is not closed on this line"),
        Fault::Digit => {
            (Code::Digit, "a digit is too large for the radix; only those before it count")
        }
    }
}
