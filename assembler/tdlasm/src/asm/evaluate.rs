//! Evaluates expressions.

use super::code_buffer::Field;
use super::directive_table::Directive;
use super::module_assembler::ModuleAssembler;
use super::name_table::NameId;
use super::name_table::{BuiltIn, Definition, Operator};
use super::pass::{Pass, StatementAbort, StatementResult};
use super::value::{BaseId, Value};
use crate::diag::{Diagnostic, DiagnosticCode};
use crate::listing::ListingDirective;
use crate::references::ReferenceRole;
use crate::source::Span;
use crate::syntax::Cursor;
use crate::syntax::expr::{BinaryOp, Expr, Fault, Op};

/// The value that ZASM continues with after an unmatched closing parenthesis.
const VALUE_AFTER_STRAY_PARENTHESIS: u16 = 0x2731;
/// The value of the word `.LIST` in an operand.
const LIST_VALUE: u16 = 0x01FF;

impl ModuleAssembler<'_> {
    /// Parses an expression into operand buffer `which`.
    pub(super) fn parse_expression(&mut self, which: usize, cursor: &mut Cursor<'_>) {
        let radix = self.radix;
        self.operands[which].parse(cursor, radix, &mut self.symbols.names);
        if self.context.records_references() {
            self.record_operand_references(which);
        }
    }

    fn report_fault(&mut self, fault: Fault, span: Span) {
        self.line_continues |= fault == Fault::OpenLine;
        // ZASM raises A twice for an unmatched closing parenthesis.
        let count = if fault == Fault::Closing { 2 } else { 1 };
        let number = if fault == Fault::Digit { self.suggest_hexadecimal(span) } else { None };
        let (code, message) = fault_text(fault);
        let mut diagnostic = Diagnostic::new(code, span, message);
        if let Some(number) = number {
            diagnostic = diagnostic.help(format!("write {number}")).fix(span, number);
        }
        self.context.sink.add_counted(diagnostic, count);
    }

    /// Returns the TDL spelling of a hexadecimal number of another dialect.
    fn suggest_hexadecimal(&self, span: Span) -> Option<String> {
        let text = self.context.sources.slice(span).to_ascii_uppercase();
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

    #[inline]
    pub(super) fn evaluate(&mut self, which: usize) -> StatementResult<Value> {
        if let Some(value) = self.simple_value(&self.operands[which]) {
            return Ok(value);
        }
        let expr = std::mem::take(&mut self.operands[which]);
        let result = self.evaluate_expression(&expr);
        self.operands[which] = expr;
        result
    }

    /// Returns the value of an expression without errors that is one number or defined symbol, or
    /// an operation on two, as most are.
    #[inline]
    fn simple_value(&self, expr: &Expr) -> Option<Value> {
        match expr.ops[..] {
            [operand] => self.simple_operand(operand),
            [left, right, Op::Binary(op)] => {
                let (left, right) = (self.simple_operand(left)?, self.simple_operand(right)?);
                let (value, faults) = left.binary(op, right);
                (faults == 0 && value.relocation_faults() == 0).then(|| value.normalised())
            }
            _ => None,
        }
    }

    #[inline]
    fn simple_operand(&self, operand: Op) -> Option<Value> {
        match operand {
            Op::Number(number) => Some(Value::absolute(number)),
            Op::Symbol(name, _) => {
                let name = &self.symbols.names[name];
                // The second pass records which values of the first it uses.
                let is_early = self.context.pass == Pass::Second && name.pass == 1;
                name.plain_value().filter(|_| !is_early)
            }
            _ => None,
        }
    }

    pub(super) fn evaluate_expression(&mut self, expr: &Expr) -> StatementResult<Value> {
        if self.symbols.is_location_counter_assigned && expr.ops.contains(&Op::Here) {
            self.context.error(
                DiagnosticCode::Doubled,
                expr.span,
                "the source assigns to the location counter",
            );
        }
        // A single operand needs no stack.
        if let [op] = expr.ops[..]
            && let Some(value) = self.operand_value(op)?
        {
            return Ok(value);
        }
        // A stack machine over postfix operations. The stack is reused to avoid allocations.
        self.code.value_stack.clear();
        for op in &expr.ops {
            match *op {
                Op::Fault(fault, span) => {
                    self.report_fault(fault, span);
                    if let (Fault::Closing, Some(top)) = (fault, self.code.value_stack.last_mut()) {
                        *top = top.with_number(VALUE_AFTER_STRAY_PARENTHESIS);
                    }
                }
                Op::Negate => self.unary(Value::negate),
                Op::Not => {
                    let moves = self.code.value_stack.last().is_some_and(|top| !top.is_absolute());
                    if moves {
                        self.not_relocatable(expr.span);
                    }
                    self.unary(Value::not);
                }
                Op::Binary(op) => self.binary(op, expr.span),
                Op::Group => self.unary(Value::parenthesised),
                operand => {
                    let value = self.operand_value(operand)?.unwrap_or_default();
                    self.code.value_stack.push(value);
                }
            }
        }
        let value = self.code.value_stack.pop().unwrap_or_default();
        Ok(self.normalise(value, expr.span))
    }

    /// Reports a value that does not contain its base exactly once.
    fn normalise(&mut self, value: Value, span: Span) -> Value {
        for _ in 0..value.relocation_faults() {
            self.not_relocatable(span);
        }
        value.normalised()
    }

    fn unary(&mut self, op: impl Fn(Value) -> Value) {
        let value = self.code.value_stack.pop().unwrap_or_default();
        self.code.value_stack.push(op(value));
    }

    fn binary(&mut self, op: BinaryOp, span: Span) {
        let right = self.code.value_stack.pop().unwrap_or_default();
        let left = self.code.value_stack.pop().unwrap_or_default();
        let (value, faults) = left.binary(op, right);
        for _ in 0..faults {
            self.not_relocatable(span);
        }
        self.code.value_stack.push(value);
    }

    #[cold]
    pub(super) fn not_relocatable(&mut self, span: Span) {
        let message = "no relocation can express this value";
        let help = "a relocatable value can be added to a constant, and subtracted from another of \
                    the same section";
        self.context.report(Diagnostic::new(DiagnosticCode::Relocation, span, message).help(help));
    }

    /// Returns the value of an operand; `None` for an operation that is none.
    #[inline]
    fn operand_value(&mut self, op: Op) -> StatementResult<Option<Value>> {
        match op {
            Op::Number(number) => Ok(Some(Value::absolute(number))),
            Op::Here => Ok(Some(self.code.statement_location)),
            Op::Symbol(name, at) => self.symbol_value(name, at).map(Some),
            Op::External(name, at) => {
                if self.symbols.names[name].macro_index().is_some() {
                    return Err(StatementAbort::Expand(name, at));
                }
                // As with exported labels, no known program shows whether ZASM still finds the
                // `..locals` after an external that is first named in an operand.
                let place = self.symbols.names.newest_scope();
                let span = self.context.symbol_span(at);
                self.symbols.declare_external(&mut self.context, name, span);
                self.symbols.names.set_newest_scope(place);
                self.symbol_value(name, at).map(Some)
            }
            _ => Ok(None),
        }
    }

    #[inline]
    fn symbol_value(&mut self, name: NameId, at: u32) -> StatementResult<Value> {
        let entry = &self.symbols.names[name];
        if entry.macro_index().is_some() {
            return Err(StatementAbort::Expand(name, at));
        }
        if entry.is_multiply_defined {
            self.symbols.report_doubled(&mut self.context, name, at);
        }
        let entry = &self.symbols.names[name];
        Ok(match entry.state {
            // Like the name of a section, an external has the current end of its area as value.
            Some(value) if entry.definition == Definition::External => {
                self.code.output.area_end(value.base)
            }
            Some(value) => {
                if self.context.pass == Pass::Second && entry.pass == 1 {
                    self.code.early_uses.push((name, at, value));
                }
                value
            }
            None => self.built_in_value(name).unwrap_or_else(|| self.unknown_value(name, at)),
        })
    }

    /// Returns the built-in value of a register, section, instruction or directive.
    fn built_in_value(&self, name: NameId) -> Option<Value> {
        let entry = &self.symbols.names[name];
        Some(match (entry.built_in, entry.operator) {
            (Some(BuiltIn::Register(register)), _) => Value::absolute(register.value().into()),
            (Some(BuiltIn::Segment(base)), _) => self.code.output.area_end(BaseId(base.into())),
            (_, Some(Operator::Instruction(form))) => {
                Value::absolute(crate::isa::FORMS[usize::from(form)].value())
            }
            (_, Some(Operator::Directive(Directive::Listing(ListingDirective::List(true))))) => {
                Value::absolute(LIST_VALUE)
            }
            // Other directives have no value on record, or 0.
            (_, Some(Operator::Directive(_))) => Value::default(),
            _ => return None,
        })
    }

    /// Handles a symbol without a value: ZASM uses 0, and marks it in the second pass.
    #[cold]
    fn unknown_value(&mut self, name: NameId, at: u32) -> Value {
        if self.context.pass == Pass::Second {
            let span = self.context.symbol_span(at);
            self.symbols.report_undefined(&mut self.context, name, span);
        }
        Value::default()
    }

    /// Warns where the second pass used a value of the first pass that was not the final one.
    pub(super) fn check_early_uses(&mut self) {
        for (name, at, value) in std::mem::take(&mut self.code.early_uses) {
            let entry = &self.symbols.names[name];
            // A label with a phase error is reported at its definition.
            if entry.state == Some(value) || entry.definition == Definition::Label {
                continue;
            }
            let spelling = self.symbols.names.spelling(name);
            let message = format!("{spelling} does not have its final value here, as in ZASM");
            let help = "two passes are not enough for it: move its definition up";
            let diagnostic =
                Diagnostic::new(DiagnosticCode::EarlyValue, self.context.symbol_span(at), message);
            self.context.report(diagnostic.help(help));
        }
    }

    /// Writes a field with the value of operand buffer `which`.
    #[inline]
    pub(super) fn emit_operand(&mut self, which: usize, field: Field) -> StatementResult {
        let evaluated = self.evaluate(which)?;
        self.code.emit(&mut self.context, field, evaluated, self.operands[which].span);
        Ok(())
    }

    pub(super) fn emit_expression(&mut self, expr: &Expr, field: Field) -> StatementResult {
        let evaluated = self.evaluate_expression(expr)?;
        self.code.emit(&mut self.context, field, evaluated, expr.span);
        Ok(())
    }

    pub(super) fn assigned_value(&mut self, cursor: &mut Cursor<'_>) -> StatementResult<Value> {
        self.parse_expression(0, cursor);
        if self.operands[0].ops.is_empty() {
            self.context.error(DiagnosticCode::Expression, cursor.gap(), "a value is missing");
        }
        self.evaluate(0)
    }

    pub(super) fn record_operand_references(&mut self, which: usize) {
        for op in &self.operands[which].ops {
            if let Op::Symbol(name, at) | Op::External(name, at) = *op
                && !matches!(self.symbols.names[name].built_in, Some(BuiltIn::Register(_)))
            {
                self.context.recorder.unnumbered.push((
                    name,
                    self.context.symbol_span(at),
                    ReferenceRole::Use,
                ));
            }
        }
    }
}

/// Returns the code and message for a syntax error in an expression.
fn fault_text(fault: Fault) -> (DiagnosticCode, &'static str) {
    match fault {
        Fault::Missing => {
            (DiagnosticCode::Expression, "a number, symbol or parenthesis is missing here")
        }
        Fault::Stray => {
            (DiagnosticCode::Expression, "a number, symbol or parenthesis is expected here")
        }
        Fault::Radix => (DiagnosticCode::Expression, "^ is followed by none of B O Q D H"),
        Fault::Operator => (DiagnosticCode::Expression, "an operator or a comma is missing here"),
        Fault::Parenthesis | Fault::OpenLine => {
            (DiagnosticCode::Expression, "this parenthesis is not closed")
        }
        Fault::Closing => (DiagnosticCode::Expression, "this parenthesis is unmatched"),
        Fault::Quote => (DiagnosticCode::Quote, "the quote is not closed on this line"),
        Fault::Digit => (
            DiagnosticCode::Digit,
            "a digit is too large for the radix; only those before it count",
        ),
    }
}
