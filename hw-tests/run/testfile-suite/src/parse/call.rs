//! Reads calls, with their memory, interrupts, mocks and expectations.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use board_simulator::routines::Allowed;
use board_simulator::routines::{Call, Entry, InputValues, Interrupt, Mock, MockReturn};
use cli_support::text::Escape;
use tdlasm::image::ImageRun;
use z80_core::{Flags, parse_number};

use super::values::{ARRAY, range, width};
use super::{CALLS, Reader};
use crate::document::{Fields, Item};
use crate::machine::Measure;
use crate::matcher::{Matcher, Operator};
use crate::model::{Accesses, Expectation, ExpectedAccesses, ExpectedMemory, Step, Sweep};
use crate::program::{Console, MAX_INPUT, MAX_OUTPUT};
use crate::registers::{call_register, clobbers};

/// The default limit of a call: more than a second of a board of 7.37 MHz.
const TIMEOUT: u64 = 10_000_000;
/// The maximum of a timeout, so that every run ends.
const MAX_TIMEOUT: i64 = 99_999_999_999;
/// The default byte on the data bus: RST 7 in mode 0, as of a bus without a device.
const BUS: u8 = 0xFF;
const ONE_SWEEP: &str =
    "only one interrupt, and only of a case, can be at several T-states: expected at = 100";
const MEMORY: &str = "memory such as [{ at = \"BUFFER\", bytes = [1, 2] }]";
const RANGES: &str = "memory such as [{ at = \"BUFFER\", size = 16 }]";
const PORTS: &str = "a table of ports such as { 10H = [1, 2] }";
const READS: &str = "a table of addresses such as { STATUS = [0, 0, 1] }";
const ACCESSES: &str = "a table of addresses such as { LATCH = [1, 2], STATUS = 3 }";
/// After values: further reads return the last one.
const REPEATED: &str = "...";
const ALLOW: &str = "an array such as [\"unwritten\", \"data\"]";
const FLAGS: &str = "\"C NZ\"";

/// Selects one of the mistakes.
type Selector = fn(&mut Allowed) -> &mut bool;
/// What can be allowed, by its word.
const ALLOWED: [(&str, Selector); 5] = [
    ("unwritten", |allowed| &mut allowed.unwritten),
    ("data", |allowed| &mut allowed.data),
    ("no-instruction", |allowed| &mut allowed.no_instruction),
    ("overlap", |allowed| &mut allowed.overlap),
    ("code-writes", |allowed| &mut allowed.code_writes),
];

impl Reader<'_> {
    /// Reads an array of calls, up to `sweeps` of which have an interrupt at several T-states.
    pub(super) fn steps(&self, item: Item<'_>, sweeps: usize) -> Vec<Step> {
        let steps = item.tables(CALLS, |fields| self.step(fields));
        if steps.iter().filter(|step| step.sweep.is_some()).count() > sweeps {
            item.report(ONE_SWEEP);
        }
        steps
    }

    /// Reads a call whose interrupts are each at one T-state.
    pub(crate) fn step_without_sweep(&self, fields: &Fields<'_>) -> Step {
        let step = self.step(fields);
        if let (Some(_), Some(item)) = (step.sweep, fields.get("interrupt")) {
            item.report(ONE_SWEEP);
        }
        step
    }

    /// Reads a call.
    pub(super) fn step(&self, fields: &Fields<'_>) -> Step {
        let (mut step, mut call) = self.called(fields);
        let until = fields.get("until").map(|item| Entry::Until(self.word(item)));
        let kind = fields.get("as").and_then(|item| {
            if until.is_some() {
                item.report("give either as or until");
            }
            self.choice(item, &[("interrupt", Entry::Interrupt), ("nmi", Entry::NonMaskable)])
        });
        call.entry = kind.or(until).unwrap_or_default();
        let what = "an array of tables such as [{ at = 100, handler = \"ISR\" }]";
        for (interrupt, at, times) in fields.tables("interrupt", what, |one| self.interrupt(one)) {
            if times.is_none_or(|(first, last)| first != last) {
                if let (Some(_), Some(at)) = (step.sweep, at) {
                    at.report(ONE_SWEEP);
                }
                step.sweep = Some(Sweep { interrupt: call.interrupts.len(), times });
            }
            call.interrupts.push(interrupt);
        }
        let what = "a table such as { A = 1, flags = \"C\" }";
        let inputs = fields.table("in", what, |fields| self.registers(fields));
        let (flags, registers) = inputs.unwrap_or_default();
        step.flags = flags;
        step.registers.extend(registers);
        let value = |name| step.registers.iter().find(|(one, _)| *one == name);
        [call.i, call.r] = ["I", "R"].map(|name| value(name).map(|(_, value)| *value as u8));
        call.memory = self.blocks(fields, "memory");
        call.ports = self.ports(fields, |item| self.inputs(item));
        let inputs = |item| Some((self.key_address(item)?, self.inputs(item)));
        call.mapped = fields.entries("reads", READS, inputs).into_iter().collect();
        let what = "a table such as { PUTC = { returns = { A = 1 } } }";
        call.mocks = fields.entries("mock", what, |item| Some(self.mock(item)));
        let last = |(first, size): (u16, usize)| first.saturating_add((size - 1) as u16);
        let writes = self.ranges(fields, "writes").into_iter();
        let writes = writes.map(|range| range.0..=last(range)).collect();
        call.writes = fields.get("writes").map(|_| writes);
        self.add_console(fields, &mut call);
        let any = fields.get("interrupts").map(|item| self.choice(item, &[("any", ())]));
        step.any_interrupts = any.is_some();
        call.allowed = self.allowed(fields);
        call.timeout = fields.integer("timeout", 1..=MAX_TIMEOUT).unwrap_or(TIMEOUT);
        let what = "a table such as { HL = 21, flags = \"NC\" }";
        let expect = fields.table("expect", what, |fields| self.expectation(fields, &call.mocks));
        let result = step.expect.result.take();
        step.expect = Expectation { result, ..expect.unwrap_or_default() };
        let checks = fields.get("check").map(|item| item.one_or_more(|one| self.condition(one)));
        step.expect.checks = checks.into_iter().flatten().flatten().collect();
        // What a call may write to, it may use.
        for port in step.expect.ports.keys() {
            call.ports.entry(*port).or_default();
        }
        let accesses = step.expect.reads.iter().chain(&step.expect.writes);
        call.watched = accesses.map(|one| one.address).collect();
        Step { call, ..step }
    }

    /// Reads an interrupt, where it has its T-states, and the first and last of them: `None` for
    /// `all` up to the return.
    fn interrupt<'a>(
        &self,
        fields: &Fields<'a>,
    ) -> (Interrupt, Option<Item<'a>>, Option<(u64, u64)>) {
        let at = fields.required("at", "100");
        let times = at.map_or(Some((0, 0)), |item| self.times(item));
        let period = fields.integer("period", 1..=MAX_TIMEOUT);
        let count = fields.integer("count", 1..=MAX_TIMEOUT);
        if let (Some(item), None) = (fields.get("count"), period) {
            item.report("count: 'period' is missing: period = 1000, count = 3");
        }
        let kind = fields.get("kind");
        let kind = kind.and_then(|item| self.choice(item, &[("int", false), ("nmi", true)]));
        let interrupt = Interrupt {
            at: times.map_or(0, |(first, _)| first),
            period,
            count,
            non_maskable: kind.unwrap_or(false),
            bus: fields.get("bus").map_or(BUS, |item| self.byte(item)),
            handler: fields.get("handler").map(|item| self.word(item)),
        };
        (interrupt, at, times)
    }

    /// Reads the first and last of T-states: a number, or a range; `None` for `all`.
    fn times(&self, item: Item<'_>) -> Option<(u64, u64)> {
        if item.value.is_integer() {
            let time = item.integer(0..=MAX_TIMEOUT).unsigned_abs();
            return Some((time, time));
        }
        if item.as_text() == Some("all") {
            return None;
        }
        let range = item.as_text().and_then(range);
        let range = range.filter(|range| *range.end() <= MAX_TIMEOUT as u64);
        if range.is_none() {
            item.report_expected("T-states such as 100, \"0..200\" or \"all\"");
        }
        Some(range.map_or((0, 0), RangeInclusive::into_inner))
    }

    /// Reads what a call reads from the console, and adds what the console needs.
    fn add_console(&self, fields: &Fields<'_>, call: &mut Call) {
        let input = fields.text("input", "\"HELLO\\r\"").unwrap_or_default().as_bytes();
        let Some(program) = self.program else { return };
        let console = program.console.as_ref();
        let wrong = match console.map(|console| &console.kind) {
            Some(Console::Port(port)) => {
                call.ports.entry(*port).or_default().values.extend(input);
                None
            }
            Some(Console::Cpm) if input.len() <= MAX_INPUT => None,
            Some(Console::Cpm) => Some(format!("input: expected up to {MAX_INPUT} bytes")),
            _ => Some("input: expected console = \"cpm\" or { port = 0x81 }".to_owned()),
        };
        if let (Some(message), Some(item)) = (wrong, fields.get("input")) {
            item.report(message);
        }
        if let Some(console) = console {
            call.memory.extend(console.before(input));
            call.writes.iter_mut().for_each(|writes| writes.extend(console.memory()));
        }
    }

    fn mock(&self, item: Item<'_>) -> Mock {
        let name = item.key;
        let known = self.program.map_or(Ok(Some(0)), |program| program.map.find_symbol(name));
        let address = known.map_err(|ambiguous| ambiguous.to_string()).and_then(|known| {
            let unknown = || format!("unknown label '{}' of a mock", name.escaped());
            known.or_else(|| parse_number(name)).ok_or_else(unknown)
        });
        let address = item.checked(address).unwrap_or_default();
        let what = "a table such as { A = 1 }";
        let returned = |item: Item<'_>| item.table(what, |fields| self.returned(fields));
        let returns = |fields: &Fields<'_>| {
            let all = fields.get("returns").map(|item| item.one_or_more(returned));
            all.into_iter().flatten().flatten().collect()
        };
        let what = "a table such as { returns = { A = 1 } }";
        let returns = item.table(what, returns).unwrap_or_default();
        Mock { name: name.to_owned(), address, returns }
    }

    fn returned(&self, fields: &Fields<'_>) -> MockReturn {
        let memory = self.blocks(fields, "memory");
        let (flags, registers) = self.registers(fields);
        MockReturn { registers, flags, memory }
    }

    /// Reads flags, and registers as all other keys.
    fn registers(&self, fields: &Fields<'_>) -> (Flags, Vec<(&'static str, u16)>) {
        let flags = fields.parsed("flags", FLAGS, str::parse).unwrap_or_default();
        let value = |item: Item<'_>| {
            let name = item.checked(call_register(item.key))?;
            Some((name, self.register_value(item, name)))
        };
        (flags, fields.take_rest().into_iter().filter_map(value).collect())
    }

    /// Reads what is expected of a call, apart from `check`.
    fn expectation(&self, fields: &Fields<'_>, mocks: &[Mock]) -> Expectation {
        let limit = |key, measure| Some((measure, self.matcher(fields.get(key)?, 4, Operator::LE)));
        let limits = [limit("cycles", Measure::Cycles), limit("stack", Measure::Stack)];
        let calls = fields.entries("calls", "a table such as { PUTC = 3 }", |item| {
            let count = item.integer(0..=0xFFFF) as u32;
            let index = mocks.iter().position(|mock| mock.name == item.key);
            let unknown = || format!("'{}' is not among the mocks", item.key.escaped());
            let index = item.checked(index.ok_or_else(unknown))?;
            Some((Measure::Calls(index), Matcher::equal(count)))
        });
        let expect = Expectation {
            flags: fields.parsed("flags", FLAGS, str::parse).unwrap_or_default(),
            memory: fields.tables("memory", MEMORY, |fields| self.memory(fields)),
            console: self.expected_console(fields),
            clobbers: fields.parsed("clobbers", "\"AF BC\"", clobbers),
            ports: self.ports(fields, |item| item.each(ARRAY, |byte| self.byte(byte))),
            reads: self.accesses(fields, "reads"),
            writes: self.accesses(fields, "writes"),
            ..Expectation::default()
        };
        let registers = fields.take_rest().into_iter().map(|item| {
            let what =
                "a register, flags, memory, console, cycles, stack, clobbers, ports, reads, writes \
                 or calls";
            let unknown =
                |_| format!("unknown expectation '{}': expected {what}", item.key.escaped());
            let name = item.checked(call_register(item.key).map_err(unknown))?;
            Some((Measure::Register(name), self.matcher(item, width(name), Operator::EQ)))
        });
        Expectation {
            values: limits.into_iter().flatten().chain(calls).chain(registers.flatten()).collect(),
            ..expect
        }
    }

    fn expected_console(&self, fields: &Fields<'_>) -> Option<Vec<u8>> {
        let item = fields.get("console")?;
        let text = item.text("\"HELLO\\r\\n\"");
        if self.program.is_some_and(|program| program.console.is_none()) {
            item.report(
                "console: the file has none: expected console = \"cpm\", { routine = \"PUTC\" } or \
                 { port = 0x81 } before the cases",
            );
        } else if text.len() > MAX_OUTPUT {
            item.report(format!("console: expected up to {MAX_OUTPUT} bytes"));
        }
        Some(text.into())
    }

    /// Reads what a call may do though it is usually a mistake: what the file allows, and what the
    /// call does.
    pub(super) fn allowed(&self, fields: &Fields<'_>) -> Allowed {
        let mut allowed = self.program.map(|program| program.allowed).unwrap_or_default();
        let words =
            fields.get("allow").map(|item| item.each(ALLOW, |item| self.choice(item, &ALLOWED)));
        for allow in words.into_iter().flatten().flatten() {
            *allow(&mut allowed) = true;
        }
        allowed
    }

    /// Reads values that successive reads return.
    fn inputs(&self, item: Item<'_>) -> InputValues {
        let is_repeated = |item: &Item<'_>| item.as_text() == Some(REPEATED);
        let mut inputs = InputValues::default();
        item.each(ARRAY, |item| match is_repeated(&item) {
            _ if inputs.repeats_last => item.report("\"...\" is the last element"),
            true if inputs.values.is_empty() => {
                item.report("\"...\" follows the value that it repeats, as in [0, 1, \"...\"]");
            }
            true => inputs.repeats_last = true,
            false => inputs.values.push(self.byte(item)),
        });
        inputs
    }

    /// Reads expected accesses to addresses: the bytes, or their number.
    fn accesses(&self, fields: &Fields<'_>, key: &'static str) -> Vec<ExpectedAccesses> {
        fields.entries(key, ACCESSES, |item| {
            let address = self.key_address(item)?;
            let accesses = match item.value.is_array() {
                true => Accesses::Bytes(item.each(ARRAY, |byte| self.byte(byte))),
                false => Accesses::Count(self.matcher(item, 4, Operator::EQ)),
            };
            Some(ExpectedAccesses { name: item.key.to_owned(), address, accesses })
        })
    }

    /// Reads ports and their values.
    fn ports<'d, T>(&self, fields: &Fields<'d>, values: impl Fn(Item<'d>) -> T) -> BTreeMap<u8, T> {
        let entries = fields.entries("ports", PORTS, |item| {
            let port = parse_number(item.key).and_then(|port| u8::try_from(port).ok());
            let wrong = || format!("'{}': expected a port such as 10H", item.key.escaped());
            let port = item.checked(port.ok_or_else(wrong))?;
            Some((port, values(item)))
        });
        entries.into_iter().collect()
    }

    /// Reads memory without its contents: addresses and numbers of bytes.
    pub(crate) fn ranges(&self, fields: &Fields<'_>, key: &'static str) -> Vec<(u16, usize)> {
        fields.tables(key, RANGES, |fields| {
            let (first, _) = self.address(fields, "at", "\"BUFFER\"");
            (first, fields.integer("size", 1..=0x1_0000).unwrap_or(1) as usize)
        })
    }

    /// Reads memory that is written.
    pub(crate) fn blocks(&self, fields: &Fields<'_>, key: &'static str) -> Vec<ImageRun> {
        fields.tables(key, MEMORY, |fields| {
            let ExpectedMemory { address, width, elements, .. } = self.memory(fields);
            let values: Option<Vec<_>> = elements.iter().map(Matcher::value).collect();
            if values.is_none() {
                fields.table.report("operators are for expected values: expected numbers here");
            }
            let bytes = |value: u32| value.to_le_bytes().into_iter().take(width.into());
            ImageRun { address, bytes: values.into_iter().flatten().flat_map(bytes).collect() }
        })
    }

    fn memory(&self, fields: &Fields<'_>) -> ExpectedMemory {
        let (address, name) = self.address(fields, "at", "\"BUFFER\"");
        let list = |item: Item<'_>, width| {
            (width, item.each(ARRAY, |item| self.matcher(item, width, Operator::EQ)))
        };
        let equal =
            |bytes: &[u8]| (1, bytes.iter().map(|byte| Matcher::equal((*byte).into())).collect());
        let size = fields.integer("size", 1..=0x1_0000);
        let fill = |item| {
            if size.is_none() {
                fields.table.report("'size' is missing: fill = 0, size = 256");
            }
            equal(&vec![self.byte(item); size.unwrap_or_default() as usize])
        };
        let contents = [
            fields.get("bytes").map(|item| list(item, 1)),
            fields.get("words").map(|item| list(item, 2)),
            fields.text("text", "\"HELLO\"").map(|text| equal(text.as_bytes())),
            fields.get("file").map(|item| equal(&self.file(item))),
            fields.get("fill").map(fill),
        ];
        let mut contents = contents.into_iter().flatten();
        let (Some((width, elements)), None) = (contents.next(), contents.next()) else {
            fields.table.report("expected one of bytes, words, text, file, or fill with size");
            return ExpectedMemory { name, address, width: 1, elements: Vec::new() };
        };
        ExpectedMemory { name, address, width, elements }
    }
}
