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

impl Values for Sight<'_> {
    /// A register that the test sets is an input, any other an output; `in.` and `out.` select.
    fn value(&self, name: &str) -> i64 {
        match name {
            "cycles" => return self.t_states.map_or(0, |time| time as i64),
            "stack" => return self.stack.unwrap_or(0).into(),
            _ => {}
        }
        let plain = without_prefix(name);
        let is_given = canonical_register_name(plain)
            .map(halves)
            .is_some_and(|mut all| all.len() > 0 && all.all(|half| self.given.contains(half)));
        let is_input = name.starts_with("in.") || (is_given && plain == name);
        let registers = if is_input { &self.before } else { &self.after };
        register_value(registers, plain).unwrap_or(0).into()
    }

    fn byte(&self, address: u16) -> u8 {
        let read = self.machine.borrow_mut().read(address, 1);
        read.ok().and_then(|bytes| bytes.first().copied()).unwrap_or(0)
    }
}
