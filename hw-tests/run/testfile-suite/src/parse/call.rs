//! Converts calls, with their memory, interrupts, mocks and expectations.

use cli_support::text::Escape;

use super::Reader;
use super::tables::{
    Address, CallTable, ExpectTable, Flags, InterruptTable, MemoryTable, MockTable, Pairs, Port,
    RangeTable, ReturnedTable,
};
use super::values::range;
use crate::block::Block;
use crate::document::Node;
use crate::machine::{Entry, Interrupt, Mock, MockReturn};
use crate::matcher::{Matcher, MatcherTable};
use crate::model::{Expectation, ExpectedMemory, Step, Sweep};
use crate::program::{Console, MAX_INPUT, MAX_OUTPUT};

/// The default limit of a call: more than a second of a board of 7.37 MHz.
const TIMEOUT: u64 = 10_000_000;
/// The maximum of a timeout, so that every run ends.
pub(super) const MAX_TIMEOUT: i64 = 99_999_999_999;
/// The default byte on the data bus: RST 7 in mode 0, as of a bus without a device.
const BUS: u8 = 0xFF;
const ONE_SWEEP: &str =
    "only one interrupt, and only of a case, can be at several T-states: expected at = 100";

impl Reader<'_, '_> {
    /// Reads an array of calls, up to `sweeps` of which have an interrupt at several T-states.
    pub(super) fn steps(&self, node: Node, sweeps: usize) -> Vec<Step> {
        let calls: Vec<Node> = self.decode(node).unwrap_or_default();
        let steps: Vec<_> = calls.into_iter().filter_map(|node| self.step(node)).collect();
        if steps.iter().filter(|step| step.sweep.is_some()).count() > sweeps {
            self.document.report(node, ONE_SWEEP);
        }
        steps
    }

    /// Reads a call whose interrupts are each at one T-state.
    pub(super) fn step_without_sweep(&self, node: Node) -> Option<Step> {
        let step = self.step(node)?;
        if let (Some(_), Some(node)) = (step.sweep, self.document.field(node, "interrupt")) {
            self.document.report(node, ONE_SWEEP);
        }
        Some(step)
    }

    /// Reads a call.
    pub(super) fn step(&self, node: Node) -> Option<Step> {
        let table: CallTable = self.decode(node)?;
        let kinds = [("interrupt", Entry::Interrupt), ("nmi", Entry::NonMaskable)];
        let until = table.until.map(Entry::Until);
        if let (Some(node), Some(_)) = (table.kind, until) {
            self.document.report(node, "give either as or until");
        }
        let kind = table.kind.and_then(|node| self.word(node, &kinds));
        let flags = table.inputs.flags.unwrap_or_default();
        let mocks: Vec<_> =
            table.mock.0.into_iter().map(|(name, mock)| self.mock(name, mock)).collect();
        let mut expect = self.expectation(node, table.expect, &mocks);
        expect.checks = table.check.into_iter().filter_map(|node| self.condition(node)).collect();
        let mut step = Step {
            address: table.call.address,
            target: self.name(table.call),
            entry: kind.or(until).unwrap_or_default(),
            registers: table.inputs.registers.0.into_iter().map(|(name, n)| (name.0, n)).collect(),
            flags: (flags.0, flags.1),
            memory: self.blocks(table.memory),
            input: table.input.unwrap_or_default().into_bytes(),
            ports: ports(table.ports),
            mocks,
            writes: table.writes.map(|all| {
                let last = |(first, size): (u16, usize)| first.saturating_add((size - 1) as u16);
                reads(&all).into_iter().map(|read| read.0..=last(read)).collect()
            }),
            any_interrupts: table
                .interrupts
                .is_some_and(|node| self.word(node, &[("any", ())]).is_some()),
            timeout: table.timeout.unwrap_or(TIMEOUT),
            expect,
            ..Step::default()
        };
        table.interrupt.into_iter().for_each(|table| self.add_interrupt(&mut step, table));
        self.add_console_input(&mut step, self.document.field(node, "input"));
        Some(step)
    }

    /// Returns an address as written.
    pub(super) fn name(&self, Address { address, node }: Address) -> String {
        let text = self.document.as_text(node);
        text.map_or_else(|| format!("{address:04X}H"), str::to_owned)
    }

    fn add_interrupt(&self, step: &mut Step, table: InterruptTable) {
        let times = self.times(table.at);
        let single = times.filter(|(first, last)| first == last);
        if single.is_none() {
            if step.sweep.is_some() {
                self.document.report(table.at, ONE_SWEEP);
            }
            step.sweep = Some(Sweep { interrupt: step.interrupts.len(), times });
        }
        step.interrupts.push(Interrupt {
            at: single.map_or(0, |(first, _)| first),
            period: table.period,
            non_maskable: table
                .kind
                .and_then(|node| self.word(node, &[("int", false), ("nmi", true)]))
                .unwrap_or_default(),
            bus: table.bus.unwrap_or(BUS),
            handler: table.handler,
        });
    }

    /// Reads the first and last of T-states: a number, or a range; `None` for `all` up to the
    /// return.
    fn times(&self, node: Node) -> Option<(u64, u64)> {
        if self.document.is_integer(node) {
            let time = self.document.integer(node, 0..MAX_TIMEOUT + 1) as u64;
            return Some((time, time));
        }
        let text = self.document.as_text(node);
        if text == Some("all") {
            return None;
        }
        let range = text.and_then(range).filter(|range| *range.end() <= MAX_TIMEOUT as u64);
        let range = range.unwrap_or_else(|| {
            let expected = "T-states such as 100, \"0..200\" or \"all\"";
            self.document.report_expected(node, expected);
            0..=0
        });
        Some(range.into_inner())
    }

    fn add_console_input(&self, step: &mut Step, node: Option<Node>) {
        let Some(program) = self.program else { return };
        let wrong = match (program.console.as_ref().map(|console| &console.kind), node) {
            (Some(Console::Port(port)), _) => {
                step.ports.entry(*port).or_default().extend(&step.input);
                return;
            }
            (Some(Console::Cpm), Some(node)) if step.input.len() > MAX_INPUT => {
                (node, format!("input: expected up to {MAX_INPUT} bytes"))
            }
            (Some(Console::Cpm), _) | (_, None) => return,
            (_, Some(node)) => {
                (node, "input: expected console = \"cpm\" or { port = 0x81 }".to_owned())
            }
        };
        self.document.report(wrong.0, wrong.1);
    }

    fn mock(&self, name: String, MockTable { returns, node }: MockTable) -> (String, Mock) {
        let known = self.program.map_or(Ok(Some(0)), |program| program.map.find_symbol(&name));
        let address = known.map_err(|ambiguous| ambiguous.to_string()).and_then(|known| {
            let unknown = || format!("unknown label '{}' of a mock", name.escaped());
            known.or_else(|| z80_core::parse_number(&name)).ok_or_else(unknown)
        });
        let address = address.unwrap_or_else(|message| {
            self.document.report(node, message);
            0
        });
        let returns = returns.into_iter().map(|table| self.returned(table)).collect();
        (name, Mock { address, returns })
    }

    fn returned(&self, table: ReturnedTable) -> MockReturn {
        let Flags(mask, value) = table.flags.unwrap_or_default();
        let (mask, value) = (u16::from(mask), u16::from(value));
        let flags = z80_core::FLAGS.iter().filter(|(_, bit)| mask & bit != 0);
        let flags = flags.map(|(flag, bit)| (*flag, u16::from(value & bit != 0)));
        let registers = table.registers.0.into_iter().map(|(name, value)| (name.0, value));
        MockReturn {
            registers: registers.chain(flags).collect(),
            memory: self.blocks(table.memory),
        }
    }

    /// Converts what is expected of a call, apart from `check`.
    fn expectation(&self, call: Node, table: ExpectTable, mocks: &[(String, Mock)]) -> Expectation {
        let mut calls = Vec::new();
        for (name, node) in table.calls.0 {
            let count = self.document.integer(node, 0..0x1_0000) as u32;
            match mocks.iter().position(|(mock, _)| *mock == name) {
                Some(index) => calls.push((index, Matcher::equal(count))),
                None => {
                    let message = format!("'{}' is not among the mocks", name.escaped());
                    self.document.report(node, message);
                }
            }
        }
        let expect = self.document.field(call, "expect");
        let console = expect.and_then(|expect| self.document.field(expect, "console"));
        if let (Some(text), Some(node)) = (&table.console, console) {
            self.check_expected_console(text, node);
        }
        let flags = table.flags.unwrap_or_default();
        Expectation {
            registers: table.registers.0.into_iter().map(|(name, one)| (name.0, one)).collect(),
            flags: (flags.0, flags.1),
            memory: table.memory.into_iter().map(|table| self.memory(table)).collect(),
            console: table.console.map(String::into_bytes),
            cycles: table.cycles.map(MatcherTable::limit),
            stack: table.stack.map(MatcherTable::limit),
            clobbers: table.clobbers.map(|clobbers| clobbers.0),
            ports: ports(table.ports),
            calls,
            checks: Vec::new(),
        }
    }

    fn check_expected_console(&self, text: &str, node: Node) {
        if self.program.is_some_and(|program| program.console.is_none()) {
            self.document.report(
                node,
                "console: the file has none: expected console = \"cpm\", { routine = \"PUTC\" } or \
                 { port = 0x81 } before the cases",
            );
        } else if text.len() > MAX_OUTPUT {
            self.document.report(node, format!("console: expected up to {MAX_OUTPUT} bytes"));
        }
    }

    /// Converts memory that is written.
    pub(super) fn blocks(&self, tables: Vec<MemoryTable>) -> Vec<Block> {
        let block = |table: MemoryTable| {
            let node = table.node;
            let ExpectedMemory { address, width, elements, .. } = self.memory(table);
            let values: Option<Vec<_>> = elements.iter().map(Matcher::value).collect();
            if values.is_none() {
                let message = "operators are for expected values: expected numbers here";
                self.document.report(node, message);
            }
            let bytes = |value: u32| value.to_le_bytes().into_iter().take(width.into());
            let values = values.unwrap_or_default().into_iter();
            Block { address, bytes: values.flat_map(bytes).collect() }
        };
        tables.into_iter().map(block).collect()
    }

    fn memory(&self, table: MemoryTable) -> ExpectedMemory {
        let equal = |bytes: Vec<u8>| {
            (1, bytes.into_iter().map(|byte| Matcher::equal(byte.into())).collect())
        };
        let fill = |value| {
            if table.size.is_none() {
                self.document.report(table.node, "'size' is missing: fill = 0, size = 256");
            }
            equal(vec![value; table.size.unwrap_or_default() as usize])
        };
        let contents = [
            table.bytes.map(|all| (1, all)),
            table.words.map(|all| (2, all)),
            table.text.map(|text| equal(text.into_bytes())),
            table.file.map(|node| equal(self.file(node))),
            table.fill.map(fill),
        ];
        let mut contents = contents.into_iter().flatten();
        let (width, elements) = match (contents.next(), contents.next()) {
            (Some(only), None) => only,
            _ => {
                let message = "expected one of bytes, words, text, file, or fill with size";
                self.document.report(table.node, message);
                (1, Vec::new())
            }
        };
        ExpectedMemory { name: self.name(table.at), address: table.at.address, width, elements }
    }
}

/// Returns addresses with numbers of bytes.
pub(super) fn reads(tables: &[RangeTable]) -> Vec<(u16, usize)> {
    tables.iter().map(|table| (table.at, table.size.unwrap_or(1) as usize)).collect()
}

fn ports(table: Pairs<Port, Vec<u8>>) -> std::collections::BTreeMap<u8, Vec<u8>> {
    table.0.into_iter().map(|(port, bytes)| (port.0, bytes)).collect()
}
