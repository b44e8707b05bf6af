//! Compares what a call did with what is expected.

mod console;
mod sight;

use std::collections::BTreeSet;

use cli_support::text::Escape;
use z80_core::{Expression, canonical_register_name, register_value};

use crate::contract::Contract;
use crate::machine::{Call, CallEnd, Entry, Machine, Outcome, Violation};
use crate::matcher::{Matcher, Test, number};
use crate::model::{ExpectedMemory, HALVES, Step, flag_names, halves};
use crate::parse::without_prefix;
use crate::program::Program;
use crate::result::{Difference, UNOBSERVED};

pub(crate) use sight::{Sight, is_input};

/// Differences that are reported of one block of memory.
const MAX_BYTES: usize = 4;

/// A call that has ended.
pub(crate) struct Judged<'a> {
    pub(crate) program: &'a Program,
    pub(crate) step: &'a Step,
    pub(crate) call: &'a Call,
    pub(crate) outcome: &'a Outcome,
    /// The contract of the routine, if it is checked.
    pub(crate) contract: Option<&'a Contract>,
}

impl Judged<'_> {
    /// Returns everything that is not as expected.
    pub(crate) fn differences(&self, machine: &mut dyn Machine) -> Vec<Difference> {
        let mut found = self.violations();
        if let Some(difference) = self.end() {
            found.push(difference);
            return found;
        }
        let expect = &self.step.expect;
        found.extend(self.registers());
        found.extend(self.flags());
        for (block, bytes) in expect.memory.iter().zip(&self.outcome.memory) {
            found.extend(memory(block, bytes));
        }
        found.extend(self.console(machine));
        let limits = [
            ("T-states", &expect.cycles, self.outcome.t_states.map(|time| time as u32)),
            ("bytes of stack", &expect.stack, self.outcome.stack.map(u32::from)),
        ];
        for (what, limit, actual) in limits {
            let (Some(limit), Some(actual)) = (limit, actual) else { continue };
            found.extend(compared(what, limit, actual));
        }
        // An interrupt must change no register of the program that it interrupts.
        let none = self.call.entry.is_interrupt().then(BTreeSet::new);
        let allowed = expect.clobbers.as_ref().or(none.as_ref());
        found.extend(allowed.and_then(|allowed| self.clobbered(allowed)));
        found.extend(self.contract.map(|contract| self.broken(contract)).into_iter().flatten());
        if machine.observes_accesses() {
            found.extend(self.ports());
        }
        found.extend(self.missed_interrupts());
        for (index, matcher) in &expect.calls {
            let name = self.step.mocks[*index].0.escaped();
            let calls = self.outcome.mock_calls.get(*index).copied().unwrap_or(0);
            found.extend(compared(&format!("calls of {name}"), matcher, calls));
        }
        let sight = Sight::new(self, machine);
        for (text, condition) in expect.checks.iter().filter(|(_, one)| self.is_checked(one)) {
            found.extend(sight.check(text, condition));
        }
        found
    }

    /// Returns `true` if the machine has measured what a condition uses.
    fn is_checked(&self, condition: &Expression) -> bool {
        let uses = |name| condition.variables().contains(&name);
        !(uses("cycles") && self.outcome.t_states.is_none()
            || uses("stack") && self.outcome.stack.is_none())
    }

    /// Returns what is expected of the call, but can't be checked on this machine.
    pub(crate) fn not_checked(&self, machine: &dyn Machine) -> Vec<String> {
        let Self { step, outcome, contract, .. } = self;
        let expect = &step.expect;
        let is_blind = !machine.observes_accesses();
        let contract = |is_given: fn(&Contract) -> bool| contract.is_some_and(is_given);
        let cycles = expect.cycles.is_some()
            || expect.uses("cycles")
            || contract(|one| one.cycles.is_some());
        let stack =
            expect.stack.is_some() || expect.uses("stack") || contract(|one| one.stack.is_some());
        let is_unobserved = [
            cycles && outcome.t_states.is_none(),
            stack && outcome.stack.is_none(),
            is_blind && step.writes.is_some(),
            is_blind && !expect.ports.is_empty(),
            is_blind && expect.console.is_some() && self.console_port().is_some(),
        ];
        // If a call did not return, nothing else is checked.
        let has_returned = outcome.end == CallEnd::Returned;
        let all = UNOBSERVED.into_iter().zip(is_unobserved);
        all.filter(|one| one.1 && has_returned).map(|one| one.0.to_owned()).collect()
    }

    fn end(&self) -> Option<Difference> {
        let place = |address| self.program.place(address);
        let what = match self.outcome.end {
            CallEnd::Returned => return None,
            CallEnd::TimedOut(pc) => {
                let console = self.program.console.as_ref();
                if let Some(reason) = pc.and_then(|pc| console?.reason(pc)) {
                    return Some(Difference::finding(format!("did not return: {reason}"), None));
                }
                let last = pc.map(|pc| format!("; last at {}", place(pc))).unwrap_or_default();
                format!("did not return within {} T-states{last}", self.call.timeout)
            }
            CallEnd::Halted(pc) => format!("did not return: HALT at {}", place(pc)),
            CallEnd::Left(to, from) => {
                format!(
                    "did not return: went to {to:04X}H, outside of the program, from {}",
                    place(from)
                )
            }
            CallEnd::Lost => {
                "did not return: the board has restarted, or the routine has destroyed \
                              the program that called it"
                    .to_owned()
            }
        };
        Some(Difference::finding(what, None))
    }

    fn violations(&self) -> Vec<Difference> {
        let is_judged = |violation: &&Violation| {
            let interrupts = matches!(
                violation,
                Violation::InterruptsOff
                    | Violation::InterruptMode
                    | Violation::InterruptLatency { .. }
                    | Violation::PlainReturn { .. }
            );
            let stack =
                matches!(violation, Violation::StackMoved { .. } | Violation::StackPointer { .. });
            !(interrupts && self.step.any_interrupts || stack && self.step.expect.uses("SP"))
        };
        let judged = self.outcome.violations.iter().filter(is_judged);
        judged.map(|violation| self.violation(*violation)).collect()
    }

    fn violation(&self, violation: Violation) -> Difference {
        let place = |address| self.program.place(address);
        let (what, pc) = match violation {
            Violation::CodeWritten { address, value, pc } => {
                (format!("wrote {value:02X}H to code, {}", place(address)), Some(pc))
            }
            Violation::WriteOutside { address, value, pc } => {
                let place = place(address);
                (format!("wrote {value:02X}H to {place}, which is not among 'writes'"), Some(pc))
            }
            Violation::StrayWrite { address, value, pc } => {
                let what = "which neither the program nor the test declares";
                (format!("wrote {value:02X}H to {}, {what}", place(address)), Some(pc))
            }
            Violation::StackPointer { sp, pc } => {
                (format!("moved SP to {sp:04X}H, above that of its caller"), Some(pc))
            }
            Violation::StackOverflow { sp, pc } => {
                let size = self.call.stack_size;
                (format!("used more than {size} bytes of stack: SP {sp:04X}H"), Some(pc))
            }
            Violation::StackMoved { sp, expected } => {
                (format!("returned with SP {sp:04X}H instead of {expected:04X}H"), None)
            }
            Violation::InterruptsOff => ("returned with interrupts off".to_owned(), None),
            Violation::InterruptLatency { t_states, pc } => {
                (format!("kept interrupts off for {t_states} T-states, up to the EI"), Some(pc))
            }
            Violation::InterruptMode => ("changed the interrupt mode or I".to_owned(), None),
            Violation::PlainReturn { pc } => {
                let reti = if self.call.entry == Entry::Interrupt { "RETI" } else { "RETN" };
                (format!("returned without {reti}"), Some(pc))
            }
            Violation::InputExhausted { port, pc } => {
                (format!("read port {port:02X}H more often than there are values"), Some(pc))
            }
            Violation::CodeChanged { address, from, to } => {
                (format!("changed code, {}: {from:02X}H to {to:02X}H", place(address)), None)
            }
            Violation::StackExhausted { size } => {
                (format!("used more than {size} bytes of stack"), None)
            }
            Violation::StackNotRestored => ("returned with another SP".to_owned(), None),
            Violation::BytesLost => {
                ("had interrupts off so long that bytes of the line were lost".to_owned(), None)
            }
            Violation::PortRead { port, pc } => {
                (format!("read port {port:02X}H, which is not among 'ports'"), Some(pc))
            }
            Violation::PortWritten { port, value, pc } => {
                let what = format!("wrote {value:02X}H to port {port:02X}H");
                (format!("{what}, which is not among 'ports'"), Some(pc))
            }
        };
        Difference::finding(what, pc.map(place))
    }

    fn registers(&self) -> impl Iterator<Item = Difference> {
        self.step.expect.registers.iter().filter_map(|(name, matcher)| {
            let actual = register_value(&self.outcome.registers, name).unwrap_or(0);
            compared(name, matcher, actual.into())
        })
    }

    fn flags(&self) -> Option<Difference> {
        let (mask, value) = self.step.expect.flags;
        let actual = self.outcome.registers.af as u8;
        (actual & mask != value).then(|| {
            Difference::new("flags", flag_names((mask, value)), flag_names((mask, actual)))
        })
    }

    /// Returns the registers that changed and are neither allowed nor expected to.
    pub(crate) fn clobbered(&self, allowed: &BTreeSet<&'static str>) -> Option<Difference> {
        let expect = &self.step.expect;
        let mut results: BTreeSet<_> =
            expect.registers.iter().flat_map(|(name, _)| halves(name)).collect();
        if expect.flags.0 != 0 {
            results.insert("F");
        }
        for (_, condition) in &expect.checks {
            results.extend(condition.variables().into_iter().flat_map(changed_by));
        }
        let values = |name: &str| {
            [&self.call.registers, &self.outcome.registers]
                .map(|registers| register_value(registers, name).unwrap_or(0))
        };
        let differs = |name: &&&str| {
            let [before, after] = values(name);
            before != after
        };
        let all = HALVES.iter().filter(differs);
        let wrong: Vec<_> =
            all.filter(|name| !allowed.contains(*name) && !results.contains(*name)).collect();
        if wrong.is_empty() {
            return None;
        }
        let change = |name: &&str| {
            let [before, after] = values(name);
            format!("{name} {before:02X}H to {after:02X}H")
        };
        let changes: Vec<_> = wrong.into_iter().map(change).collect();
        Some(Difference::finding(format!("changed registers: {}", changes.join(", ")), None))
    }

    /// Returns what a routine does against its contract.
    fn broken(&self, contract: &Contract) -> Vec<Difference> {
        let (file, line) = &contract.place;
        let file = file.rsplit(['/', '\\']).next().unwrap_or_default().escaped();
        let of = |field: &str| format!("{field} of {} ({file}:{line})", contract.name);
        let changed = contract.may_change.as_ref().and_then(|allowed| self.clobbered(allowed));
        let mut found = Vec::new();
        if let Some(difference) = changed {
            let what = format!("{}: {}", of("Clobbers"), difference.what);
            found.push(Difference::finding(what, None));
        }
        if let (Some(most), Some(actual)) = (contract.stack, self.outcome.stack) {
            found.extend(compared(&of("Stack"), &Matcher::at_most(most.into()), actual.into()));
        }
        if let (Some((least, most)), Some(actual)) = (contract.cycles, self.outcome.t_states) {
            let tests = vec![Test::Ge(least as u32), Test::Le(most as u32)];
            let matcher = Matcher { mask: None, tests };
            found.extend(compared(&of("Cycles"), &matcher, actual as u32));
        }
        found
    }

    /// Returns the interrupts that the call did not accept.
    fn missed_interrupts(&self) -> impl Iterator<Item = Difference> {
        let interrupts = self.call.interrupts.iter().zip(&self.outcome.latest_equal);
        interrupts.filter(|(_, accepted)| accepted.is_none()).map(|(interrupt, _)| {
            let at = interrupt.at;
            let what = format!("returned before it accepted the interrupt at {at} T-states");
            Difference::finding(what, None)
        })
    }

    fn ports(&self) -> Vec<Difference> {
        let mut found = Vec::new();
        for (port, expected) in &self.step.expect.ports {
            let actual = self.outcome.outputs.get(port).map_or(&[][..], Vec::as_slice);
            if actual != expected {
                let what = format!("writes to port {port:02X}H");
                found.push(Difference::new(what, hex(expected), hex(actual)));
            }
        }
        found
    }
}

/// Returns the registers that a variable of a condition names as a result.
fn changed_by(variable: &str) -> Vec<&'static str> {
    if variable.starts_with("in.") {
        return Vec::new();
    }
    let name = without_prefix(variable);
    match canonical_register_name(name) {
        Some(name) => halves(name).collect(),
        None => vec!["F"],
    }
}

/// Formats bytes as `01 02 03`.
fn hex(bytes: &[u8]) -> String {
    let bytes: Vec<_> = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
    if bytes.is_empty() { "none".to_owned() } else { bytes.join(" ") }
}

fn compared(what: &str, matcher: &Matcher, actual: u32) -> Option<Difference> {
    (!matcher.accepts(actual)).then(|| Difference::new(what, matcher.to_string(), number(actual)))
}

/// Compares a block of memory with what is expected there.
fn memory(block: &ExpectedMemory, bytes: &[u8]) -> Vec<Difference> {
    let width = usize::from(block.width);
    let values = bytes
        .chunks(width)
        .map(|bytes| bytes.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte)));
    let compared = block.elements.iter().zip(values).enumerate().filter_map(|(index, pair)| {
        let what = match index * width {
            0 => block.name.escaped(),
            offset => format!("{}+{offset}", block.name.escaped()),
        };
        compared(&what, pair.0, pair.1)
    });
    let mut all: Vec<_> = compared.collect();
    if let Some(more) = all.len().checked_sub(MAX_BYTES).filter(|more| *more > 0) {
        all.truncate(MAX_BYTES);
        let what = format!("{}: {more} more values differ", block.name.escaped());
        all.push(Difference::finding(what, None));
    }
    all
}
