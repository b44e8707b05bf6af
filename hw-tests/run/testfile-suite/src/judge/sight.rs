//! The values that conditions see.

use std::cell::RefCell;
use std::collections::BTreeSet;

use cli_support::text::Escape;
use z80_core::{Expression, Registers, Values, register_halves};

use crate::machine::{Call, Machine, Outcome};
use crate::model::Step;
use crate::registers::{is_input, value, without_prefix};
use crate::result::Difference;

/// The values that conditions see.
pub(crate) struct Sight<'a> {
    before: Registers,
    /// What the call did; `None` before it, for assumptions.
    outcome: Option<&'a Outcome>,
    /// The registers that the test sets, in halves.
    given: BTreeSet<&'static str>,
    machine: RefCell<&'a mut dyn Machine>,
}

impl<'a> Sight<'a> {
    pub(crate) fn new(
        step: &Step,
        call: &Call,
        outcome: Option<&'a Outcome>,
        machine: &'a mut dyn Machine,
    ) -> Self {
        let given = step.registers.iter().flat_map(|(name, _)| register_halves(name)).collect();
        Self { before: call.registers, outcome, given, machine: RefCell::new(machine) }
    }

    /// Returns what a condition that does not hold found.
    pub(super) fn check(&self, text: &str, condition: &Expression) -> Option<Difference> {
        if condition.value(self) != 0 {
            return None;
        }
        let value = |name: &str| format!("{} = {}", name.escaped(), self.value(name));
        let values: Vec<_> = condition.variables().into_iter().map(value).collect();
        let subject = format!("check {}", text.escaped());
        Some(Difference::new(
            subject,
            "true".to_owned(),
            format!("false with {}", values.join(", ")),
        ))
    }
}

impl Values for Sight<'_> {
    /// A register that the test sets is an input, any other an output; `in.` and `out.` select.
    fn value(&self, name: &str) -> i64 {
        let outcome = self.outcome;
        match name {
            "cycles" => outcome.and_then(|outcome| outcome.t_states).unwrap_or(0) as i64,
            "stack" => outcome.and_then(|outcome| outcome.stack).unwrap_or(0).into(),
            _ => {
                let after = outcome.filter(|_| !is_input(name, &self.given));
                let registers = after.map_or(&self.before, |outcome| &outcome.registers);
                value(registers, without_prefix(name)).into()
            }
        }
    }

    fn byte(&self, address: u16) -> u8 {
        let read = self.machine.borrow_mut().read(address, 1);
        read.ok().and_then(|bytes| bytes.first().copied()).unwrap_or(0)
    }
}
