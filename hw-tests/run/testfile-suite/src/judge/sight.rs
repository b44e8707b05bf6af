//! The values that conditions see.

use std::cell::RefCell;
use std::collections::BTreeSet;

use cli_support::text::Escape;
use z80_core::{Expression, Registers, Values, canonical_register_name, register_value};

use crate::machine::{Call, Machine};
use crate::model::{Step, halves};
use crate::parse::without_prefix;
use crate::result::Difference;

use super::Judged;

/// The values that conditions see.
pub(crate) struct Sight<'a> {
    before: Registers,
    after: Registers,
    /// The registers that the test sets, in halves.
    given: BTreeSet<&'static str>,
    t_states: Option<u64>,
    stack: Option<u16>,
    machine: RefCell<&'a mut dyn Machine>,
}

impl<'a> Sight<'a> {
    pub(super) fn new(judged: &Judged<'_>, machine: &'a mut dyn Machine) -> Self {
        let Judged { step, call, outcome, .. } = judged;
        let (t_states, stack) = (outcome.t_states, outcome.stack);
        Self { t_states, stack, ..Self::of_inputs(step, call, Some(outcome.registers), machine) }
    }

    /// The values before a call, for assumptions.
    pub(crate) fn of_inputs(
        step: &Step,
        call: &Call,
        after: Option<Registers>,
        machine: &'a mut dyn Machine,
    ) -> Self {
        Self {
            before: call.registers,
            after: after.unwrap_or(call.registers),
            given: step.registers.iter().flat_map(|(name, _)| halves(name)).collect(),
            t_states: None,
            stack: None,
            machine: RefCell::new(machine),
        }
    }

    /// Returns what a condition that does not hold found.
    pub(super) fn check(&self, text: &str, condition: &Expression) -> Option<Difference> {
        if condition.value(self) != 0 {
            return None;
        }
        let value = |name: &str| format!("{} = {}", name.escaped(), self.value(name));
        let values: Vec<_> = condition.variables().into_iter().map(value).collect();
        let what = format!("check {}", text.escaped());
        Some(Difference::new(what, "true".to_owned(), format!("false with {}", values.join(", "))))
    }
}

/// Returns `true` if a variable of a condition is an input: of `in.`, or all of a register that the
/// test gives, whose halves these are.
pub(crate) fn is_input(name: &str, given: &BTreeSet<&str>) -> bool {
    let mut all = canonical_register_name(name).into_iter().flat_map(halves).peekable();
    let is_given = all.peek().is_some() && all.all(|half| given.contains(half));
    is_given || name.starts_with("in.")
}

impl Values for Sight<'_> {
    /// A register that the test sets is an input, any other an output; `in.` and `out.` select.
    fn value(&self, name: &str) -> i64 {
        match name {
            "cycles" => return self.t_states.map_or(0, |time| time as i64),
            "stack" => return self.stack.unwrap_or(0).into(),
            _ => {}
        }
        let registers = if is_input(name, &self.given) { &self.before } else { &self.after };
        register_value(registers, without_prefix(name)).unwrap_or(0).into()
    }

    fn byte(&self, address: u16) -> u8 {
        let read = self.machine.borrow_mut().read(address, 1);
        read.ok().and_then(|bytes| bytes.first().copied()).unwrap_or(0)
    }
}
