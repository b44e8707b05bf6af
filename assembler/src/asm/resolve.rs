//! The end of a module: the values of expressions that waited for symbols from further below.

use crate::diag::{Code, Diagnostic};
use crate::source::Span;

use super::Assembler;
use super::eval::DeferredOp;
use super::names::{NameId, State};
use super::value::Value;

/// Where the value of a deferred expression stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    Todo,
    Doing,
    /// `None` after an error, which was reported.
    Done(Option<Value>),
}

impl Assembler<'_> {
    /// The values of all deferred expressions. The order is found with a stack of our own, as chains of
    /// definitions can be long.
    pub(super) fn resolve_deferred(&mut self) -> Vec<Option<Value>> {
        let count = self.deferred.expressions.len();
        let mut progress = vec![Progress::Todo; count];
        let mut stack = Vec::new();
        for first in 0..count as u32 {
            stack.push(first);
            while let Some(current) = stack.last().copied() {
                if matches!(progress[current as usize], Progress::Done(_)) {
                    stack.pop();
                    continue;
                }
                progress[current as usize] = Progress::Doing;
                match self.next_dependency(current, &progress) {
                    Some(other) if progress[other as usize] == Progress::Doing => {
                        self.report_circle(current);
                        progress[current as usize] = Progress::Done(None);
                    }
                    Some(other) => stack.push(other),
                    None => {
                        progress[current as usize] =
                            Progress::Done(self.compute(current, &progress));
                    }
                }
            }
        }
        let value = |progress| if let Progress::Done(value) = progress { value } else { None };
        progress.into_iter().map(value).collect()
    }

    fn deferred_op(&self, expression: u32, at: u32) -> DeferredOp {
        let first = self.deferred.expressions[expression as usize].first;
        self.deferred.ops[(first + at) as usize]
    }

    /// The deferred expression that an operation needs.
    fn dependency(&self, op: DeferredOp) -> Option<u32> {
        match op {
            DeferredOp::Other(other) => Some(other),
            DeferredOp::Symbol(name, _) => match self.names[name].state {
                State::Deferred(other) => Some(other),
                _ => None,
            },
            _ => None,
        }
    }

    fn next_dependency(&self, expression: u32, progress: &[Progress]) -> Option<u32> {
        let count = self.deferred.expressions[expression as usize].count;
        (0..count)
            .filter_map(|at| self.dependency(self.deferred_op(expression, at)))
            .find(|other| !matches!(progress[*other as usize], Progress::Done(_)))
    }

    fn report_circle(&mut self, expression: u32) {
        let span = self.deferred.expressions[expression as usize].span;
        self.error(Code::Circular, span, "this value depends on itself");
    }

    fn compute(&mut self, expression: u32, progress: &[Progress]) -> Option<Value> {
        let found = self.deferred.expressions[expression as usize];
        let mut stack: Vec<Value> = Vec::new();
        for at in 0..found.count {
            let op = self.deferred_op(expression, at);
            let result = match op {
                DeferredOp::Negate => stack.pop().map(|value| Ok(value.negate())),
                DeferredOp::Not => stack.pop().map(Value::not),
                DeferredOp::Binary(op) => {
                    let right = stack.pop()?;
                    stack.pop().map(|left| left.binary(op, right))
                }
                operand => self.deferred_operand(operand, progress).map(Ok),
            };
            match result? {
                Ok(value) => stack.push(value),
                Err(_) => {
                    self.not_relocatable(found.span);
                    return None;
                }
            }
        }
        let value = stack.pop()?.settled();
        if value.is_err() {
            self.not_relocatable(found.span);
        }
        value.ok()
    }

    fn deferred_operand(&mut self, op: DeferredOp, progress: &[Progress]) -> Option<Value> {
        if let Some(other) = self.dependency(op) {
            return match progress[other as usize] {
                Progress::Done(value) => value,
                _ => None,
            };
        }
        match op {
            DeferredOp::Value(value) => Some(value),
            DeferredOp::Symbol(name, at) => match self.names[name].state {
                State::Value(value) => Some(value),
                _ => {
                    self.report_undefined(name, self.symbol_span(at));
                    None
                }
            },
            _ => None,
        }
    }

    pub(super) fn report_undefined(&mut self, name: NameId, span: Span) {
        if self.too_many_errors() {
            return;
        }
        let mut diagnostic = Diagnostic::new(
            Code::Undefined,
            span,
            format!("{} is not defined", self.names.spelling(name)),
        );
        if let Some(similar) = self.similar_symbol(name) {
            diagnostic = diagnostic.help(format!("did you mean {similar}?"));
        }
        self.report(diagnostic);
    }
}
