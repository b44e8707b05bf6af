//! What expressions are worth: at once if every symbol is known, at the end of the text otherwise.

use crate::diag::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::expr::{BinaryOp, Expr, Fault, Op};
use crate::syntax::{Cursor, lex};

use super::names::{Definition, NameId, Operator, Special, State};
use super::output::{Field, Fixup};
use super::value::{BaseId, NotRelocatable, Value};
use super::{Assembler, Interrupt, Step};

/// An operation of an expression that waits.
#[derive(Debug, Clone, Copy)]
pub(super) enum DeferredOp {
    Value(Value),
    /// A symbol to be defined below, and where it is used.
    Symbol(NameId, u32),
    /// Another expression that waits.
    Other(u32),
    Negate,
    Not,
    Binary(BinaryOp),
}

/// One expression that waits: its operations and its place.
#[derive(Debug, Clone, Copy)]
pub(super) struct DeferredExpression {
    pub(super) first: u32,
    pub(super) count: u32,
    pub(super) span: Span,
}

/// All expressions that wait for symbols from further below.
#[derive(Debug, Default)]
pub(super) struct Deferred {
    pub(super) ops: Vec<DeferredOp>,
    pub(super) expressions: Vec<DeferredExpression>,
}

/// What an expression is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Evaluated {
    Known(Value),
    /// Known at the end: the index of the deferred expression.
    Later(u32),
    /// An error was reported; any value does.
    Faulty,
}

impl Assembler<'_> {
    /// Reads an expression into operand buffer `which` and reports what is wrong with its text.
    pub(super) fn parse_expression(&mut self, which: usize, cursor: &mut Cursor<'_>) {
        let radix = self.radix;
        self.operands[which].parse(cursor, radix, &mut self.names);
        if self.notes() {
            self.mention_operand(which);
        }
        if let Some((fault, span)) = self.operands[which].fault {
            self.report_fault(fault, span);
        }
    }

    fn report_fault(&mut self, fault: Fault, span: Span) {
        let (code, message) = match fault {
            Fault::Missing => (Code::Expression, "a number, symbol or parenthesis is missing here"),
            Fault::Parenthesis => (Code::Expression, "a parenthesis is not closed"),
            Fault::Quote => (Code::Unterminated, "the quote is not closed on this line"),
            Fault::Digit => {
                (Code::Digit, "a digit is too large for the radix; only those before it count")
            }
            Fault::Junk => (Code::Expression, "there is more behind the radix letter"),
        };
        self.error(code, span, message);
    }

    /// Evaluates operand buffer `which`.
    #[inline]
    pub(super) fn evaluate(&mut self, which: usize) -> Step<Evaluated> {
        let expr = std::mem::take(&mut self.operands[which]);
        let result = self.evaluate_expression(&expr);
        self.operands[which] = expr;
        result
    }

    pub(super) fn evaluate_expression(&mut self, expr: &Expr) -> Step<Evaluated> {
        if let [op] = expr.ops[..]
            && let Some(value) = self.operand_value(op)?
        {
            return Ok(Evaluated::Known(value));
        }
        self.values.clear();
        for op in &expr.ops {
            let done = match *op {
                Op::Negate => self.unary(|value| Ok(value.negate())),
                Op::Not => self.unary(Value::not),
                Op::Binary(op) => self.binary(op),
                operand => match self.operand_value(operand)? {
                    Some(value) => {
                        self.values.push(value);
                        Ok(())
                    }
                    None => return self.defer(expr).map(Evaluated::Later),
                },
            };
            if done.is_err() {
                self.not_relocatable(expr.span);
                return Ok(Evaluated::Faulty);
            }
        }
        let value = self.values.pop().unwrap_or_default();
        Ok(self.settle(value, expr.span).map_or(Evaluated::Faulty, Evaluated::Known))
    }

    fn settle(&mut self, value: Value, span: Span) -> Option<Value> {
        let settled = value.settled();
        if settled.is_err() {
            self.not_relocatable(span);
        }
        settled.ok()
    }

    fn unary(
        &mut self,
        op: impl Fn(Value) -> Result<Value, NotRelocatable>,
    ) -> Result<(), NotRelocatable> {
        let value = self.values.pop().unwrap_or_default();
        self.values.push(op(value)?);
        Ok(())
    }

    fn binary(&mut self, op: BinaryOp) -> Result<(), NotRelocatable> {
        let right = self.values.pop().unwrap_or_default();
        let left = self.values.pop().unwrap_or_default();
        self.values.push(left.binary(op, right)?);
        Ok(())
    }

    pub(super) fn not_relocatable(&mut self, span: Span) {
        let message =
            "this combination of relocatable or external values has no place in an object file";
        let help = "add or subtract constants only; the difference of two labels of one section is a constant";
        self.report(Diagnostic::new(Code::Relocation, span, message).help(help));
    }

    /// The value of an operand, `None` if it is a symbol that is not defined yet.
    #[inline]
    fn operand_value(&mut self, op: Op) -> Step<Option<Value>> {
        match op {
            Op::Number(number) => Ok(Some(Value::absolute(number))),
            Op::Here => Ok(Some(self.here)),
            Op::Symbol(name, at) => self.symbol_value(name, at),
            Op::External(name, at) => {
                self.declare_external(name, self.symbol_span(at));
                self.symbol_value(name, at)
            }
            Op::Negate | Op::Not | Op::Binary(_) => Ok(None),
        }
    }

    #[inline]
    fn symbol_value(&mut self, name: NameId, at: u32) -> Step<Option<Value>> {
        let entry = &self.names[name];
        if entry.macro_index().is_some() {
            return Err(Interrupt::Expand(name, at));
        }
        if entry.doubled {
            self.warn_doubled(name, at);
        }
        let entry = &self.names[name];
        Ok(match (entry.state, entry.special, entry.operator) {
            (State::Value(value), _, _) => Some(value),
            (State::Deferred(_), _, _) => None,
            (_, Some(Special::Register(register)), _) => {
                Some(Value::absolute(register.value().into()))
            }
            (_, Some(Special::Segment(base)), _) => {
                let base = BaseId(base.into());
                Some(self.output.place(base, self.output.size(base)))
            }
            (_, _, Some(Operator::Instruction(form))) => {
                Some(Value::absolute(crate::isa::FORMS[usize::from(form)].value()))
            }
            _ => None,
        })
    }

    #[cold]
    fn warn_doubled(&mut self, name: NameId, at: u32) {
        let message = format!("{} is defined twice", self.names.spelling(name));
        self.error(Code::Doubled, self.symbol_span(at), message);
    }

    /// The span of the symbol at an offset.
    pub(super) fn symbol_span(&self, at: u32) -> Span {
        let source = self.sources.source_at(at);
        let rest = &source.text[(at - source.base) as usize..];
        let length = rest.iter().take_while(|byte| lex::is_symbol(**byte)).count();
        Span::new(at, at + length as u32)
    }

    /// Keeps an expression until the end of the text.
    fn defer(&mut self, expr: &Expr) -> Step<u32> {
        let first = self.deferred.ops.len() as u32;
        for op in &expr.ops {
            let kept = match *op {
                Op::Negate => DeferredOp::Negate,
                Op::Not => DeferredOp::Not,
                Op::Binary(op) => DeferredOp::Binary(op),
                operand => match (self.operand_value(operand)?, operand) {
                    (Some(value), _) => DeferredOp::Value(value),
                    (None, Op::Symbol(name, at) | Op::External(name, at)) => self.waiting(name, at),
                    (None, _) => DeferredOp::Value(Value::default()),
                },
            };
            self.deferred.ops.push(kept);
        }
        let count = self.deferred.ops.len() as u32 - first;
        self.deferred.expressions.push(DeferredExpression { first, count, span: expr.span });
        Ok(self.deferred.expressions.len() as u32 - 1)
    }

    fn waiting(&self, name: NameId, at: u32) -> DeferredOp {
        match self.names[name].state {
            State::Deferred(other) => DeferredOp::Other(other),
            _ => DeferredOp::Symbol(name, at),
        }
    }

    /// Writes a field with the value of operand buffer `which`.
    #[inline]
    pub(super) fn emit_operand(&mut self, which: usize, field: Field) -> Step {
        let expr = std::mem::take(&mut self.operands[which]);
        let result = self.emit_expression(&expr, field);
        self.operands[which] = expr;
        result
    }

    pub(super) fn emit_expression(&mut self, expr: &Expr, field: Field) -> Step {
        let evaluated = self.evaluate_expression(expr)?;
        let zeros = [0; 2];
        let size = if field == Field::Word { 2 } else { 1 };
        let site = self.output.write(&zeros[..size]);
        self.fill(site, field, evaluated, expr.span);
        Ok(())
    }

    /// Puts a value into a field that is already written, now or at the end.
    pub(super) fn fill(
        &mut self,
        site: super::output::Site,
        field: Field,
        evaluated: Evaluated,
        span: Span,
    ) {
        match evaluated {
            Evaluated::Known(value) => self.set_field(site, field, value, span),
            Evaluated::Later(expression) => {
                self.output.fixups.push(Fixup { site, field, expression, span });
            }
            Evaluated::Faulty => {}
        }
    }

    /// Evaluates operand buffer `which`, which must be absolute and known here.
    pub(super) fn known_operand(&mut self, which: usize, what: &str) -> Step<Option<u16>> {
        let span = self.operands[which].span;
        match self.known_value(which, what)? {
            Some(value) if !value.is_absolute() => {
                let message = format!("{what} must be a constant, but this moves with a section");
                self.error(Code::Relocation, span, message);
                Ok(None)
            }
            value => Ok(value.map(|value| value.number)),
        }
    }

    /// Evaluates operand buffer `which`, which must be known here.
    pub(super) fn known_value(&mut self, which: usize, what: &str) -> Step<Option<Value>> {
        match self.evaluate(which)? {
            Evaluated::Known(value) => Ok(Some(value)),
            Evaluated::Faulty => Ok(None),
            Evaluated::Later(expression) => {
                self.report_unknown(expression, what);
                Ok(None)
            }
        }
    }

    fn report_unknown(&mut self, expression: u32, what: &str) {
        let found = self.deferred.expressions[expression as usize];
        let (first, last) = (found.first as usize, (found.first + found.count) as usize);
        let symbol = self.deferred.ops[first..last].iter().find_map(|op| match op {
            DeferredOp::Symbol(name, at) => Some((*name, *at)),
            _ => None,
        });
        let (code, span, message) = match symbol {
            Some((name, at)) => {
                let spelling = self.names.spelling(name);
                let message =
                    format!("{what} must be known here, but {spelling} is not defined above");
                (Code::Undefined, self.symbol_span(at), message)
            }
            None => (Code::Forward, found.span, format!("{what} must be known here")),
        };
        let help = "move the definition above this line, or give it with --define";
        self.report(Diagnostic::new(code, span, message).help(help));
    }

    /// Declares a symbol external, unless it is already.
    pub(super) fn declare_external(&mut self, name: NameId, span: Span) {
        let pass = self.pass_number();
        let entry = self.names[name];
        if entry.definition == Definition::External {
            return;
        }
        if entry.special.is_some() || (entry.definition != Definition::None && entry.pass == pass) {
            let spelling = self.names.spelling(name);
            self.error(
                Code::External,
                span,
                format!("{spelling} is defined here and cannot be external"),
            );
            return;
        }
        let base = BaseId(BaseId::FIRST_EXTERNAL + self.externals.len() as u32);
        self.externals.push(name);
        let entry = &mut self.names[name];
        entry.state = State::Value(Value::in_base(base, 0));
        entry.definition = Definition::External;
        (entry.pass, entry.place) = (pass, span.start);
    }
}
