//! The end of a module that is read once: the values of expressions that waited for symbols from
//! further below.

use super::Assembler;
use super::eval::{DeferredExpression, DeferredOp};
use super::names::{NameId, State};
use super::value::Value;

impl Assembler<'_> {
    /// Returns the values of all deferred expressions, in their order.
    ///
    /// `None` stands for one that two passes may see otherwise: a symbol is undefined, turned out
    /// to be a macro, or waits for another itself (the original's second pass then uses the value
    /// that the first one found with 0 for what it did not know yet), or no relocation fits.
    pub(super) fn resolve_deferred(&mut self) -> Vec<Option<Value>> {
        let mut values = Vec::with_capacity(self.emission.deferred.expressions.len());
        for at in 0..self.emission.deferred.expressions.len() {
            let expression = self.emission.deferred.expressions[at];
            let value = self.compute(expression, &values);
            self.reports.wants_two |= value.is_none();
            values.push(value);
        }
        values
    }

    /// An expression that waits for another was met after it, so that one pass over all is enough.
    fn compute(&mut self, found: DeferredExpression, values: &[Option<Value>]) -> Option<Value> {
        let stack = &mut self.emission.values;
        stack.clear();
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
                DeferredOp::Symbol(name) => known(&self.naming.names, name)?,
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
