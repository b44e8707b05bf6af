//! Evaluates expressions.

use smallvec::SmallVec;

use super::assembler::Assembler;
use super::code_buffer::Field;
use super::name_table::NameId;
use super::name_table::{BuiltIn, Operator};
use super::options::Notation;
use super::pass::Pass;
use super::slips::{foreign_number, foreign_operation, lint_precedence};
use super::statement_end::{StatementAbort, StatementResult};
use super::symbol::{DefinedIn, Symbol};
use super::value::{BaseId, Value};
use crate::diag::{Diagnostic, DiagnosticCode};
use crate::listing::ListingDirective;
use crate::references::ReferenceRole;
use crate::source::Span;
use crate::syntax::directive::Directive;
use crate::syntax::expr::{BinaryOp, Expr, Fault, Op};
use crate::syntax::{Cursor, lex};

/// The value that ZASM continues with after an unmatched closing parenthesis.
const VALUE_AFTER_STRAY_PARENTHESIS: u16 = 0x2731;
/// The value of the word `.LIST` in an operand.
const LIST_VALUE: u16 = 0x01FF;

impl Assembler<'_> {
    pub(super) fn parse_expression(&mut self, cursor: &mut Cursor<'_>) -> Expr {
        let expr = self.reading.expression(cursor, self.module.radix, &mut self.names);
        if self.recorder.keeps_references {
            self.record_operand_references(&expr);
        }
        expr
    }

    /// Returns the operations of an expression.
    pub(super) fn operations(&self, expr: &Expr) -> &[Op] {
        expr.operations(&self.reading.ops)
    }

    fn report_fault(&mut self, fault: Fault, span: Span) {
        self.statement.continues |= fault == Fault::OpenLine;
        // ZASM raises A twice for an unmatched closing parenthesis.
        let count = if fault == Fault::Closing { 2 } else { 1 };
        let number = if fault == Fault::Digit { self.suggest_number(span) } else { None };
        let mut diagnostic = Diagnostic::new(fault_code(fault), span, fault.message());
        let rest = self.sources.slice(self.sources.rest_of_line(span.start));
        if fault == Fault::Stray
            && let Some(number) = foreign_number(rest)
        {
            diagnostic = diagnostic.help(format!("write {number}"));
        } else if matches!(fault, Fault::Stray | Fault::Operator)
            && let Some(help) = foreign_operation(rest)
        {
            diagnostic = diagnostic.help(help);
        }
        if let Some(number) = number {
            diagnostic = diagnostic.help(format!("write {number}")).fix(span, number);
        }
        self.sink.add_counted(diagnostic, count);
    }

    /// Returns the TDL spelling of a hexadecimal or binary number of another dialect.
    fn suggest_number(&self, span: Span) -> Option<String> {
        let text = self.sources.slice(span).to_ascii_uppercase();
        if let Some(digits) = text.strip_prefix(b"0B")
            && digits.iter().all(|digit| matches!(digit, b'0' | b'1'))
        {
            return Some(format!("{}B", String::from_utf8_lossy(digits)));
        }
        let digits = text.strip_prefix(b"0X").unwrap_or(&text);
        let hexadecimal = !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit);
        if !hexadecimal {
            return None;
        }
        let digits = String::from_utf8_lossy(digits);
        Some(lex::hexadecimal(digits.trim_start_matches('0')))
    }

    /// Returns the value of an expression. As in ZASM, a symbol without a value counts as 0.
    pub(super) fn evaluate(&mut self, expr: &Expr) -> StatementResult<Value> {
        if self.names.is_location_counter_assigned && self.operations(expr).contains(&Op::Here) {
            let message = "the source assigns to the location counter";
            self.error(DiagnosticCode::Doubled, expr.span, message);
        }
        // Most expressions are a single operand.
        match *self.operations(expr) {
            [Op::Number(number)] => return Ok(Value::absolute(number)),
            [Op::Here] => return Ok(self.statement.location),
            [Op::Symbol(name, at)] => return self.symbol_value(name, at),
            [Op::External(name, at)] => return self.external_value(name, at),
            _ => {}
        }
        let mut stack = SmallVec::<[Value; 4]>::new();
        for at in expr.first..expr.first + expr.count {
            let value = match self.reading.ops[at as usize] {
                Op::Fault(fault, span) => {
                    self.report_fault(fault, span);
                    if let (Fault::Closing, Some(top)) = (fault, stack.last_mut()) {
                        *top = top.with_number(VALUE_AFTER_STRAY_PARENTHESIS);
                    }
                    continue;
                }
                Op::Negate => stack.pop().unwrap_or_default().negate(),
                Op::Not => {
                    let value = stack.pop().unwrap_or_default();
                    if !value.is_absolute() {
                        self.not_relocatable(expr.span, 1);
                    }
                    value.not()
                }
                Op::Binary(op) => {
                    let right = stack.pop().unwrap_or_default();
                    let left = stack.pop().unwrap_or_default();
                    let (value, faults) = left.binary(op, right);
                    self.not_relocatable(expr.span, faults);
                    value
                }
                Op::Group => stack.pop().unwrap_or_default().parenthesised(),
                Op::Number(number) => Value::absolute(number),
                Op::Here => self.statement.location,
                Op::Symbol(name, at) => self.symbol_value(name, at)?,
                Op::External(name, at) => self.external_value(name, at)?,
            };
            stack.push(value);
        }
        let value = stack.pop().unwrap_or_default();
        self.not_relocatable(expr.span, value.relocation_faults());
        Ok(value.normalised())
    }

    /// Reports a value that no relocation can express, for each of ZASM's flags.
    fn not_relocatable(&mut self, span: Span, flags: usize) {
        for _ in 0..flags {
            let message = "no relocation can express this value";
            let help = "a relocatable value can be added to a constant, and subtracted from \
                        another of the same section";
            self.error_with_help(DiagnosticCode::Relocation, span, message, help);
        }
    }

    fn external_value(&mut self, name: NameId, at: u32) -> StatementResult<Value> {
        if self.names[name].macro_index.is_some() {
            return Err(StatementAbort::Expand(name, at));
        }
        // As with exported labels, no known program shows whether ZASM still finds the `..locals`
        // after an external that is first named in an operand.
        let newest = self.names.newest_scope;
        let span = self.symbol_span(at);
        self.declare_external(name, span);
        self.names.newest_scope = newest;
        self.symbol_value(name, at)
    }

    fn symbol_value(&mut self, name: NameId, at: u32) -> StatementResult<Value> {
        let entry = &self.names[name];
        if entry.macro_index.is_some() {
            return Err(StatementAbort::Expand(name, at));
        }
        if entry.is_multiply_defined {
            self.report_doubled(name, at);
        }
        let entry = &self.names[name];
        Ok(match entry.symbol {
            Symbol::Variable(value) | Symbol::Constant(value) | Symbol::Label(value) => {
                if self.pass == Pass::Second && entry.defined_in == DefinedIn::FirstPass {
                    self.module.early_uses.push((name, at, value));
                }
                value
            }
            // Like the name of a section, an external has the current end of its area as value.
            Symbol::External(area) => self.code.area_end(area.base),
            Symbol::Undefined => match self.built_in_value(name) {
                Some(value) => value,
                None => self.unknown_value(name, at),
            },
        })
    }

    /// Returns the built-in value of a register, section, instruction or directive.
    pub(super) fn built_in_value(&self, name: NameId) -> Option<Value> {
        let entry = &self.names[name];
        Some(match (entry.built_in, entry.operator) {
            (Some(BuiltIn::Register(register)), _) => Value::absolute(register.value().into()),
            (Some(BuiltIn::Segment(base)), _) => self.code.area_end(BaseId(base.into())),
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

    /// Returns `true` if an operation is the address of the statement: `.`, or in PASM 2.00 also
    /// `$`, which a source for PASM 1.02 may define as a symbol.
    pub(super) fn is_here(&self, op: Op) -> bool {
        let is_free = |name| !self.names[name].symbol.is_defined();
        let is_dollar = |name| is_free(name) && self.names.spelling(name) == "$";
        op == Op::Here || matches!(op, Op::Symbol(name, _) if self.is_pasm() && is_dollar(name))
    }

    /// Handles a symbol without a value: ZASM uses 0, and marks it in the second pass.
    fn unknown_value(&mut self, name: NameId, at: u32) -> Value {
        if self.is_here(Op::Symbol(name, at)) {
            return self.statement.location;
        }
        if self.pass == Pass::Second {
            let span = self.symbol_span(at);
            self.report_undefined(name, span);
        }
        Value::default()
    }

    /// Warns where the second pass used a value of the first pass that was not the final one.
    pub(super) fn check_early_uses(&mut self) {
        for (name, at, value) in std::mem::take(&mut self.module.early_uses) {
            let entry = &self.names[name];
            // A label with a phase error is reported at its definition.
            if entry.symbol.value() == Some(value) || entry.symbol.is_label() {
                continue;
            }
            let (code, message) = match self.options.notation {
                Notation::Zilog => (DiagnosticCode::Phase, "does not have its final value here"),
                _ => (DiagnosticCode::EarlyValue, "does not have its final value here, as in ZASM"),
            };
            let help = "two passes are not enough for it: move its definition up";
            let span = self.symbol_span(at);
            let diagnostic = self.about_symbol(code, name, span, message);
            self.report(diagnostic.help(help));
        }
    }

    /// Writes a field with the value of an expression.
    pub(super) fn emit_expression(&mut self, expr: &Expr, field: Field) -> StatementResult {
        let value = self.evaluate(expr)?;
        self.emit(field, value, expr.span);
        Ok(())
    }

    pub(super) fn assigned_value(&mut self, cursor: &mut Cursor<'_>) -> StatementResult<Value> {
        let expr = self.parse_expression(cursor);
        if expr.count == 0 {
            self.error(DiagnosticCode::Expression, cursor.gap(), "a value is missing");
        }
        if let [.., Op::Binary(BinaryOp::ShiftLeft | BinaryOp::ShiftRight), Op::Binary(last)] =
            *self.operations(&expr)
        {
            lint_precedence(self, last, expr.span);
        }
        self.evaluate(&expr)
    }

    pub(super) fn record_operand_references(&mut self, expr: &Expr) {
        for op in expr.operations(&self.reading.ops) {
            if let Op::Symbol(name, at) | Op::External(name, at) = *op
                && !matches!(self.names[name].built_in, Some(BuiltIn::Register(_)))
            {
                let span = self.symbol_span(at);
                self.recorder.reference(name, span, ReferenceRole::Use);
            }
        }
    }
}

/// Returns the code of a syntax error in an expression.
fn fault_code(fault: Fault) -> DiagnosticCode {
    match fault {
        Fault::Quote => DiagnosticCode::Quote,
        Fault::Digit => DiagnosticCode::Digit,
        _ => DiagnosticCode::Expression,
    }
}
