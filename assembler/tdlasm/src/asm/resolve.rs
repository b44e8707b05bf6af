//! Resolves deferred expressions at the end of a module.

use std::collections::BTreeSet;

use super::deferred::{DeferredExpression, DeferredOp};
use super::module_assembler::ModuleAssembler;
use super::name_hash::NameId;
use super::name_table::{Definition, SymbolState};
use super::value::Value;

impl ModuleAssembler<'_> {
    /// Returns the values of all deferred expressions, in order. A value is `None` if only two
    /// passes can give ZASM's value:
    ///
    /// - a symbol is undefined;
    /// - a symbol is a macro;
    /// - a symbol is itself deferred: ZASM's second pass uses the value that its first pass
    ///   computed with 0 for forward references;
    /// - no relocation can express the value.
    ///
    /// Requests two passes for such an expression unless a fixup uses it; the fixup then decides.
    pub(super) fn resolve_deferred(&mut self) -> Vec<Option<Value>> {
        let mut values = Vec::with_capacity(self.code.deferred.expressions.len());
        for at in 0..self.code.deferred.expressions.len() {
            let expression = self.code.deferred.expressions[at];
            let value = self.evaluate_deferred(expression, &values, false);
            values.push(value);
        }
        let mut open: BTreeSet<usize> =
            (0..values.len()).filter(|at| values[*at].is_none()).collect();
        if !open.is_empty() {
            self.code.output.fixups.iter().for_each(|one| {
                open.remove(&(one.expression as usize));
            });
        }
        self.context.sink.needs_two_passes |= !open.is_empty();
        values
    }

    /// Returns the value that an expression has in the second of two passes, which reports
    /// undefined symbols and uses 0 for them. Returns `None` if only two passes can give the value.
    pub(super) fn evaluate_with_undefined(
        &mut self,
        expression: u32,
        values: &[Option<Value>],
    ) -> Option<Value> {
        let found = self.code.deferred.expressions[expression as usize];
        for at in found.first..found.first + found.count {
            if let DeferredOp::Symbol(name, at) = self.code.deferred.ops[at as usize]
                && self.is_undefined(name)
            {
                let span = self.context.symbol_span(at);
                self.symbols.report_undefined(&mut self.context, name, span);
            }
        }
        self.evaluate_deferred(found, values, true)
    }

    /// Returns `true` if a name has no meaning at all. An undefined `..local` is excluded, since
    /// two passes would make several names of it.
    fn is_undefined(&self, name: NameId) -> bool {
        let entry = &self.symbols.names[name];
        entry.state == SymbolState::Undefined
            && entry.definition == Definition::None
            && entry.built_in.is_none()
            && entry.operator.is_none()
            && entry.macro_index().is_none()
            && !entry.is_multiply_defined
            && !entry.is_local()
    }

    /// Evaluates a deferred expression. It can only refer to expressions deferred before it, so one
    /// pass over all is enough. Undefined symbols count as 0 if `undefined_as_zero` is set.
    fn evaluate_deferred(
        &mut self,
        found: DeferredExpression,
        values: &[Option<Value>],
        undefined_as_zero: bool,
    ) -> Option<Value> {
        let mut stack = std::mem::take(&mut self.code.value_stack);
        stack.clear();
        let value = self.evaluate_ops(found, values, undefined_as_zero, &mut stack);
        self.code.value_stack = stack;
        value
    }

    fn evaluate_ops(
        &self,
        found: DeferredExpression,
        values: &[Option<Value>],
        undefined_as_zero: bool,
        stack: &mut Vec<Value>,
    ) -> Option<Value> {
        let first = found.first as usize;
        let ops = &self.code.deferred.ops[first..first + found.count as usize];
        for op in ops {
            let value = match *op {
                DeferredOp::Negate => stack.pop()?.negate(),
                DeferredOp::Not => stack.pop().filter(|value| value.is_absolute())?.not(),
                DeferredOp::Binary(op) => {
                    let right = stack.pop()?;
                    let (value, faults) = stack.pop()?.binary(op, right);
                    if faults > 0 {
                        return None;
                    }
                    value
                }
                DeferredOp::Group => stack.pop()?.parenthesised(),
                DeferredOp::Value(value) => value,
                DeferredOp::Expression(other) => values.get(other as usize).copied().flatten()?,
                DeferredOp::Symbol(name, _) if undefined_as_zero && self.is_undefined(name) => {
                    Value::default()
                }
                DeferredOp::Symbol(name, _) => plain_value(&self.symbols.names, name)?,
            };
            stack.push(value);
        }
        let value = stack.pop()?;
        (value.relocation_faults() == 0).then(|| value.normalised())
    }
}

fn plain_value(names: &super::name_table::NameTable, name: NameId) -> Option<Value> {
    let entry = &names[name];
    match entry.state {
        SymbolState::Value(value)
            if entry.macro_index().is_none() && !entry.is_multiply_defined =>
        {
            Some(value)
        }
        _ => None,
    }
}
