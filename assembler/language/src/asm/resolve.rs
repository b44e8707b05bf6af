//! The end of a module that is read once: the values of expressions that waited for symbols from
//! further below.

use std::collections::BTreeSet;

use super::Assembler;
use super::eval::{DeferredExpression, DeferredOp};
use super::names::{Definition, NameId, State};
use super::value::Value;

impl Assembler<'_> {
    /// Returns the values of all deferred expressions, in their order.
    ///
    /// `None` stands for one that two passes may see otherwise: a symbol is undefined, turned out
    /// to be a macro, or waits for another itself (the original's second pass then uses the value
    /// that the first one found with 0 for what it did not know yet), or no relocation fits. For
    /// the sake of one that no field waits for the text is read twice.
    pub(super) fn resolve_deferred(&mut self) -> Vec<Option<Value>> {
        let mut values = Vec::with_capacity(self.emission.deferred.expressions.len());
        for at in 0..self.emission.deferred.expressions.len() {
            let expression = self.emission.deferred.expressions[at];
            let value = self.compute(expression, &values, false);
            values.push(value);
        }
        let mut open: BTreeSet<usize> =
            (0..values.len()).filter(|at| values[*at].is_none()).collect();
        if !open.is_empty() {
            self.emission.output.fixups.iter().for_each(|one| {
                open.remove(&(one.expression as usize));
            });
        }
        self.reports.wants_two |= !open.is_empty();
        values
    }

    /// The value that an expression has in the second of two passes, which reports its undefined
    /// symbols and takes 0 for them; `None` if it takes two passes to say.
    pub(super) fn compute_with_undefined(
        &mut self,
        expression: u32,
        values: &[Option<Value>],
    ) -> Option<Value> {
        let found = self.emission.deferred.expressions[expression as usize];
        for at in found.first..found.first + found.count {
            if let DeferredOp::Symbol(name, at) = self.emission.deferred.ops[at as usize]
                && self.is_undefined(name)
            {
                self.report_undefined(name, self.symbol_span(at));
            }
        }
        self.compute(found, values, true)
    }

    /// Whether a name means nothing at all. Of an undefined `..local` two passes make several
    /// names, so that the text is read twice for it.
    fn is_undefined(&self, name: NameId) -> bool {
        let entry = &self.naming.names[name];
        entry.state == State::Undefined
            && entry.definition == Definition::None
            && entry.special.is_none()
            && entry.operator.is_none()
            && entry.macro_index().is_none()
            && !entry.doubled
            && !entry.is_local()
    }

    /// An expression that waits for another was met after it, so that one pass over all is enough.
    /// Undefined symbols count 0 if they `count`.
    fn compute(
        &mut self,
        found: DeferredExpression,
        values: &[Option<Value>],
        count: bool,
    ) -> Option<Value> {
        let mut stack = std::mem::take(&mut self.emission.values);
        stack.clear();
        let value = self.computed(found, values, count, &mut stack);
        self.emission.values = stack;
        value
    }

    fn computed(
        &self,
        found: DeferredExpression,
        values: &[Option<Value>],
        count: bool,
        stack: &mut Vec<Value>,
    ) -> Option<Value> {
        let first = found.first as usize;
        let ops = &self.emission.deferred.ops[first..first + found.count as usize];
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
                DeferredOp::Group => stack.pop()?.grouped(),
                DeferredOp::Value(value) => value,
                DeferredOp::Other(other) => values.get(other as usize).copied().flatten()?,
                DeferredOp::Symbol(name, _) if count && self.is_undefined(name) => Value::default(),
                DeferredOp::Symbol(name, _) => known(&self.naming.names, name)?,
            };
            stack.push(value);
        }
        let value = stack.pop()?;
        (value.relocation_faults() == 0).then(|| value.settled())
    }
}

fn known(names: &super::names::Names, name: NameId) -> Option<Value> {
    let entry = &names[name];
    match entry.state {
        State::Value(value) if entry.macro_index().is_none() && !entry.doubled => Some(value),
        _ => None,
    }
}
