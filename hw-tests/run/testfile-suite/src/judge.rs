//! Compares what a call did with what is expected.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use board_simulator::ViolationKind;
use board_simulator::routines::{Call, CallEnd, Interrupt, Outcome};
use cli_support::text::Escape;
use z80_core::{
    Expression, Flags, REGISTER_HALVES, Registers, Values, canonical_register_name, register_halves,
};

use crate::c_function::ExpectedResult;
use crate::contract::Contract;
use crate::machine::{Machine, Measure};
use crate::matcher::{Matcher, number};
use crate::model::{Accesses, ExpectedAccesses, ExpectedMemory, Step, TestFile};
use crate::program::Program;
use crate::registers::{is_input, is_simulated_only, value, without_prefix};
use crate::result::{Difference, UNOBSERVED};

/// Differences that are reported of one block of memory.
const MAX_BYTES: usize = 4;
/// What some machines don't measure, by the names of conditions.
const MEASURES: [(&str, Measure); 4] = [
    ("cycles", Measure::Cycles),
    ("stack", Measure::Stack),
    ("I", Measure::Register("I")),
    ("R", Measure::Register("R")),
];

/// A call that has ended.
pub(crate) struct Judged<'a> {
    program: &'a Program,
    step: &'a Step,
    call: &'a Call,
    outcome: &'a Outcome,
    /// The contract of the routine, if it is checked.
    contract: Option<&'a Contract>,
}

impl<'a> Judged<'a> {
    pub(crate) fn new(
        file: &'a TestFile,
        step: &'a Step,
        call: &'a Call,
        outcome: &'a Outcome,
        contracts: &'a [Contract],
    ) -> Self {
        let contract = contracts.iter().find(|contract| contract.is_called(file, step));
        Self { program: &file.program, step, call, outcome, contract }
    }

    /// Returns everything that is not as expected, and adds what can't be checked on the machine.
    pub(crate) fn differences(
        &self,
        machine: &mut dyn Machine,
        not_checked: &mut BTreeSet<String>,
    ) -> Vec<Difference> {
        let Self { step, outcome, .. } = self;
        not_checked.extend(self.not_checked(machine));
        let mut found = self.violations();
        if let Some(why) = self.end() {
            found.push(Difference::finding(why, None));
            return found;
        }
        let expect = &step.expect;
        let values = expect.values.iter();
        found.extend(values.filter_map(|(measure, matcher)| {
            compared(&self.name(*measure), matcher, self.measured(machine, *measure)?)
        }));
        found.extend(self.result());
        found.extend(self.flags());
        for (block, bytes) in expect.memory.iter().zip(&outcome.memory) {
            found.extend(memory(block, bytes));
        }
        found.extend(self.console(machine));
        // An interrupt must change no register of the program that it interrupts.
        let none = self.call.entry.is_interrupt().then(BTreeSet::new);
        let allowed = expect.clobbers.as_ref().or(none.as_ref());
        let clobbered = allowed.and_then(|allowed| self.clobbered(allowed));
        found.extend(clobbered.map(|text| Difference::finding(text, None)));
        found.extend(self.contract.map(|contract| self.broken(contract)).into_iter().flatten());
        if !machine.is_board() {
            found.extend(self.ports());
            found.extend(
                expect.reads.iter().filter_map(|one| accesses("reads of", one, &outcome.reads)),
            );
            let writes = expect.writes.iter();
            found.extend(writes.filter_map(|one| accesses("writes to", one, &outcome.writes)));
        }
        found.extend(self.missed_interrupts());
        let is_checked = |condition: &Expression| self.is_checked(machine, condition);
        let checks: Vec<_> = expect.checks.iter().filter(|(_, one)| is_checked(one)).collect();
        let sight = Sight::new(step, self.call, Some(outcome), machine);
        found.extend(checks.iter().filter_map(|(text, condition)| sight.check(text, condition)));
        found
    }

    /// Returns what was measured; `None` if the machine does not.
    fn measured(&self, machine: &dyn Machine, measure: Measure) -> Option<u32> {
        let is_hidden = matches!(measure, Measure::Register(name) if is_simulated_only(name));
        measure.of(self.outcome).filter(|_| !(is_hidden && machine.is_board()))
    }

    /// Returns `true` if the machine has measured what a condition uses.
    fn is_checked(&self, machine: &dyn Machine, condition: &Expression) -> bool {
        let is_used =
            |name: &str| condition.variables().iter().any(|one| without_prefix(one) == name);
        MEASURES
            .iter()
            .filter(|(name, _)| is_used(name))
            .all(|(_, measure)| self.measured(machine, *measure).is_some())
    }

    /// Returns what is expected of the call, but can't be checked on this machine.
    fn not_checked(&self, machine: &dyn Machine) -> impl Iterator<Item = String> {
        let Self { step, contract, .. } = self;
        let expect = &step.expect;
        let is_blind = machine.is_board();
        let console = self.program.console.as_ref();
        let prints_to_port = console.is_some_and(|console| !console.has_module());
        let limits = contract.map_or(&[][..], |contract| &contract.limits);
        let is_unmeasured = |name, measure| {
            let mut all = expect.values.iter().chain(limits);
            let is_expected = expect.uses(name) || all.any(|(expected, _)| *expected == measure);
            is_expected && self.measured(machine, measure).is_none()
        };
        let [cycles, stack, i, r] = MEASURES.map(|(name, measure)| is_unmeasured(name, measure));
        let is_unobserved = [
            cycles,
            stack,
            is_blind && (step.call.writes.is_some() || !expect.writes.is_empty()),
            is_blind && !expect.ports.is_empty(),
            is_blind && expect.console.is_some() && prints_to_port,
            is_blind && !expect.reads.is_empty(),
            i,
            r,
        ];
        // If a call did not return, nothing else is checked.
        let has_returned = self.outcome.end == CallEnd::Returned;
        let all = UNOBSERVED.into_iter().zip(is_unobserved);
        all.filter(move |one| one.1 && has_returned).map(|one| one.0.to_owned())
    }

    /// Returns how the call ended, unless it returned.
    fn end(&self) -> Option<String> {
        let location = |address| self.program.location(address);
        let why = match self.outcome.end {
            CallEnd::Returned => return None,
            CallEnd::TimedOut(pc) => {
                let console = self.program.console.as_ref();
                let last = pc.map(|pc| format!("; last at {}", location(pc))).unwrap_or_default();
                match pc.and_then(|pc| console?.reason(pc)) {
                    Some(reason) => format!(": {reason}"),
                    None => format!(" within {} T-states{last}", self.call.timeout),
                }
            }
            CallEnd::Halted(pc) => format!(": HALT at {}", location(pc)),
            CallEnd::Left(to, from) => {
                format!(": went to {to:04X}H, outside of the program, from {}", location(from))
            }
            CallEnd::Lost => ": the board has restarted, or the routine has destroyed the program \
                              that called it"
                .to_owned(),
        };
        Some(format!("did not return{why}"))
    }

    fn violations(&self) -> Vec<Difference> {
        use ViolationKind as Kind;
        let is_judged = |kind: Kind| match kind {
            Kind::InterruptVectoring { .. } => {
                let expects_i = self.step.expect.registers().any(|name| name == "I");
                !self.step.any_interrupts && !expects_i
            }
            Kind::InterruptsOff | Kind::InterruptLatency { .. } | Kind::PlainReturn { .. } => {
                !self.step.any_interrupts
            }
            Kind::CodeChanged { .. } => !self.call.allowed.code_writes,
            Kind::StackNotRestored { .. } | Kind::StackPointer { .. } => {
                !self.step.expect.uses("SP")
            }
            _ => true,
        };
        let location = |address| self.program.location(address);
        let judged = self.outcome.violations.iter().filter(|(kind, _)| is_judged(*kind));
        let finding = |&(kind, pc): &(Kind, Option<u16>)| {
            let text = match kind {
                Kind::Write { address, value } => {
                    let undeclared = match self.call.writes {
                        Some(_) => "is not among 'writes'",
                        None => "neither the program nor the test declares",
                    };
                    format!("wrote {value:02X}H to {}, which {undeclared}", location(address))
                }
                Kind::Input { .. } | Kind::Output { .. } => {
                    kind.describe(location) + ", which is not among 'ports'"
                }
                _ => kind.describe(location),
            };
            let advice = advice(kind).to_owned();
            Difference { advice, ..Difference::finding(text, pc.map(location)) }
        };
        judged.map(finding).collect()
    }

    /// Returns what messages call a number.
    fn name(&self, measure: Measure) -> String {
        match measure {
            Measure::Register(name) => name.to_owned(),
            Measure::Cycles => "T-states".to_owned(),
            Measure::Stack => "bytes of stack".to_owned(),
            Measure::Calls(mock) => format!("calls of {}", self.call.mocks[mock].name.escaped()),
        }
    }

    /// Compares the result of a function of C.
    fn result(&self) -> Option<Difference> {
        let ExpectedResult { function, kind, registers, value: expected } =
            self.step.expect.result.as_ref()?;
        let part =
            |bits: u32, name: &&str| bits << 16 | u32::from(value(&self.outcome.registers, name));
        let bits = registers.iter().fold(0, part);
        let [expected, actual] = [*expected as u32, bits].map(|bits| kind.value(bits).to_string());
        let name = format!("result of {function}");
        (expected != actual).then(|| Difference::new(name, expected, actual))
    }

    fn flags(&self) -> Option<Difference> {
        let expected = self.step.expect.flags;
        let actual = Flags { value: self.outcome.registers.af as u8, ..expected };
        let differs = actual.value & expected.mask != expected.value;
        differs.then(|| Difference::new("flags", expected.to_string(), actual.to_string()))
    }

    fn console(&self, machine: &dyn Machine) -> Option<Difference> {
        let Self { program, step, outcome, .. } = self;
        let (console, expected) = (program.console.as_ref()?, step.expect.console.as_ref()?);
        if !console.has_module() && machine.is_board() {
            return None;
        }
        let memory = outcome.memory.get(step.expect.memory.len()).map_or(&[][..], Vec::as_slice);
        let (count, bytes) = console.output(memory, &outcome.outputs);
        if count == expected.len() && *bytes == expected[..] {
            return None;
        }
        let quoted = |bytes: &[u8]| format!("\"{}\"", bytes.escape_ascii());
        let more = count - bytes.len();
        let more = if more > 0 { format!(" and {more} more bytes") } else { String::new() };
        Some(Difference::new("console", quoted(expected), quoted(&bytes) + &more))
    }

    /// Returns the registers that changed and are neither allowed nor expected to.
    fn clobbered(&self, allowed: &BTreeSet<&'static str>) -> Option<String> {
        let expect = &self.step.expect;
        let mut results: BTreeSet<_> = expect.registers().flat_map(register_halves).collect();
        if expect.flags.mask != 0 {
            results.insert("F");
        }
        for (_, condition) in &expect.checks {
            results.extend(condition.variables().into_iter().flat_map(changed_by));
        }
        let change = |name: &&str| {
            let registers = [&self.call.registers, &self.outcome.registers];
            let [before, after] = registers.map(|registers| value(registers, name));
            (before != after).then(|| format!("{name} {before:02X}H to {after:02X}H"))
        };
        let judged = REGISTER_HALVES.iter();
        let judged = judged.filter(|name| !allowed.contains(*name) && !results.contains(*name));
        let changes: Vec<_> = judged.filter_map(change).collect();
        (!changes.is_empty()).then(|| format!("changed registers: {}", changes.join(", ")))
    }

    /// Returns what a routine does against its contract.
    fn broken(&self, contract: &Contract) -> Vec<Difference> {
        let (file, line) = &contract.location;
        let file = file.rsplit(['/', '\\']).next().unwrap_or_default().escaped();
        let of = |field: &str| format!("{field} of {} ({file}:{line})", contract.name);
        let changed = contract.may_change.as_ref().and_then(|allowed| self.clobbered(allowed));
        let changed = changed.map(|text| format!("{}: {text}", of("Clobbers")));
        let limits = contract.limits.iter().filter_map(|(measure, matcher)| {
            let field = if *measure == Measure::Stack { "Stack" } else { "Cycles" };
            compared(&of(field), matcher, measure.of(self.outcome)?)
        });
        changed.map(|text| Difference::finding(text, None)).into_iter().chain(limits).collect()
    }

    /// Returns the interrupts that the call did not accept.
    fn missed_interrupts(&self) -> impl Iterator<Item = Difference> {
        let interrupts = self.call.interrupts.iter().zip(&self.outcome.accepted);
        interrupts.filter_map(|(Interrupt { at, count, .. }, accepted)| {
            let text = match (*accepted, *count) {
                (0, _) => format!("returned before it accepted the interrupt at {at} T-states"),
                (_, Some(count)) if *accepted < count => format!(
                    "returned after it accepted {accepted} of the {count} interrupts from {at} \
                     T-states on"
                ),
                _ => return None,
            };
            Some(Difference::finding(text, None))
        })
    }

    fn ports(&self) -> impl Iterator<Item = Difference> {
        self.step.expect.ports.iter().filter_map(|(port, expected)| {
            let actual = self.outcome.outputs.get(port).map_or(&[][..], Vec::as_slice);
            let name = format!("writes to port {port:02X}H");
            (actual != expected).then(|| Difference::new(name, hex(expected), hex(actual)))
        })
    }
}

/// Returns the registers that a variable of a condition names as a result.
fn changed_by(variable: &str) -> Vec<&'static str> {
    if variable.starts_with("in.") {
        return Vec::new();
    }
    match canonical_register_name(without_prefix(variable)) {
        Some(name) => register_halves(name).collect(),
        None => vec!["F"],
    }
}

/// Returns what to do about a violation, where it is not plain.
fn advice(kind: ViolationKind) -> &'static str {
    use ViolationKind as Kind;
    match kind {
        Kind::CodeWrite { .. } | Kind::CodeChanged { .. } => {
            "if it is meant, allow = [\"code-writes\"]"
        }
        Kind::UnwrittenRead { .. } => {
            "set it by 'memory' or a call of 'setup', or allow = [\"unwritten\"]"
        }
        Kind::InputExhausted { .. } => "add values to 'ports', or \"...\" to repeat the last",
        Kind::RegisterExhausted { .. } => "add values to 'reads', or \"...\" to repeat the last",
        Kind::DataExecution => {
            "look for a missing return or a wrong jump; if it is meant, allow = [\"data\"]"
        }
        Kind::NoInstruction { .. } => {
            "look for a wrong jump; if it is meant, allow = [\"no-instruction\"]"
        }
        Kind::OverlappingCode { .. } => "if it is meant, allow = [\"overlap\"]",
        _ => "",
    }
}

/// Compares accesses to an address with what is expected.
fn accesses(
    what: &str,
    expected: &ExpectedAccesses,
    actual: &BTreeMap<u16, Vec<u8>>,
) -> Option<Difference> {
    let name = format!("{what} {}", expected.name.escaped());
    let actual = actual.get(&expected.address).map_or(&[][..], Vec::as_slice);
    match &expected.accesses {
        Accesses::Count(matcher) => {
            compared(&format!("number of {name}"), matcher, actual.len() as u32)
        }
        Accesses::Bytes(bytes) => {
            (bytes != actual).then(|| Difference::new(name, hex(bytes), hex(actual)))
        }
    }
}

/// Formats bytes as `01 02 03`.
fn hex(bytes: &[u8]) -> String {
    let bytes: Vec<_> = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
    if bytes.is_empty() { "none".to_owned() } else { bytes.join(" ") }
}

fn compared(name: &str, matcher: &Matcher, actual: u32) -> Option<Difference> {
    (!matcher.accepts(actual)).then(|| Difference::new(name, matcher.to_string(), number(actual)))
}

/// Compares a block of memory with what is expected there.
fn memory(block: &ExpectedMemory, bytes: &[u8]) -> Vec<Difference> {
    let width = usize::from(block.width);
    let values = bytes
        .chunks(width)
        .map(|bytes| bytes.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte)));
    let name = block.name.escaped();
    let compared = block.elements.iter().zip(values).enumerate().filter_map(|(index, pair)| {
        let offset = index * width;
        let name = if offset == 0 { name.clone() } else { format!("{name}+{offset}") };
        compared(&name, pair.0, pair.1)
    });
    let mut all: Vec<_> = compared.collect();
    if let Some(more) = all.len().checked_sub(MAX_BYTES).filter(|more| *more > 0) {
        all.truncate(MAX_BYTES);
        all.push(Difference::finding(format!("{name}: {more} more values differ"), None));
    }
    all
}

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
    fn check(&self, text: &str, condition: &Expression) -> Option<Difference> {
        if condition.value(self) != 0 {
            return None;
        }
        let value = |name: &str| format!("{} = {}", name.escaped(), self.value(name));
        let memory = |operand: &Expression| {
            let (address, width) = operand.memory_operand()?;
            let (address, value) = (address.value(self) as u16, operand.value(self));
            Some(match width {
                1 => format!("[{address:04X}H] = {value}"),
                _ => format!("{{{address:04X}H}} = {value}"),
            })
        };
        let operands = condition.memory_operands();
        let values = condition.variables().into_iter().map(value);
        let values: Vec<_> = values.chain(operands.iter().filter_map(memory)).collect();
        let (subject, found) = (format!("check {}", text.escaped()), values.join(", "));
        Some(Difference::new(subject, "true".to_owned(), format!("false with {found}")))
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
