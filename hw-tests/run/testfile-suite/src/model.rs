//! Test files after parsing: labels are resolved, values are checked.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::path::PathBuf;

use board_simulator::profiling::StepCounter;
use board_simulator::routines::Call;
use serde::{Deserialize, Serialize};
use z80_core::{Expression, Flags};

use crate::c_function::ExpectedResult;
use crate::machine::Measure;
use crate::matcher::Matcher;
use crate::program::Program;
use crate::registers::without_prefix;
use crate::written::Written;

/// A test file with its program.
#[derive(Debug)]
pub struct TestFile {
    /// The file, as named by the caller.
    pub path: PathBuf,
    /// The program under test.
    pub program: Program,
    /// The board profiles that the program fits; empty for all.
    pub boards: Vec<String>,
    /// The stack of the caller.
    pub stack: StackArea,
    /// The calls before each case.
    pub setup: Vec<Step>,
    /// The cases, each row of a table being one, and after them the properties.
    pub cases: Vec<Case>,
}

impl TestFile {
    /// Returns `true` if the program fits the board with this profile.
    pub fn fits(&self, profile: &str) -> bool {
        self.boards.is_empty() || self.boards.iter().any(|board| board == profile)
    }

    /// Returns a counter for the instructions of its program.
    pub fn step_counter(&self) -> StepCounter {
        let properties = self.cases.iter().filter_map(|case| case.property.as_ref());
        let others = properties.filter_map(|property| match &property.judge {
            Judge::SameAs(address, ..) => Some(*address),
            _ => None,
        });
        let addresses = self.steps().map(|step| step.call.address);
        StepCounter::with_entries(&self.program.map, addresses.chain(others))
    }

    /// Returns the headings of cases and properties, in the order in which they run.
    pub fn headings(&self) -> impl Iterator<Item = &Heading> {
        self.cases.iter().map(|case| &case.heading)
    }

    /// Returns all calls.
    pub(crate) fn steps(&self) -> impl Iterator<Item = &Step> {
        self.setup.iter().chain(self.cases.iter().flat_map(|case| &case.steps))
    }
}

/// The stack that a machine gives to routines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StackArea {
    /// The address after its last byte.
    pub top: u16,
    /// The number of bytes that a routine may use.
    pub size: u16,
}

/// What cases and properties have in common.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Heading {
    /// The name, unique in the file.
    pub name: String,
    /// The line of the test file.
    #[serde(skip_deserializing)]
    pub line: usize,
    /// The tags.
    pub tags: Vec<String>,
    /// Why it does not run.
    pub skip: Option<String>,
}

/// A case of a file, in lists for other programs.
#[derive(Debug, Serialize)]
pub struct ListedCase<'a> {
    /// The path of the test file.
    pub file: String,
    /// Name, line, tags.
    #[serde(flatten)]
    pub heading: &'a Heading,
}

/// A test of one or more calls, or a property of one.
#[derive(Debug, Clone)]
pub struct Case {
    /// Name, line, tags.
    pub heading: Heading,
    /// The calls, in order. Memory and registers stay from one to the next.
    pub steps: Vec<Step>,
    /// What is stated about all inputs of its only call, which then lacks generated values.
    pub property: Option<Property>,
}

/// A call and what is expected of it.
#[derive(Debug, Clone, Default)]
pub struct Step {
    /// The call, apart from its registers, from what it reads and whether it reloads.
    pub call: Call,
    /// The label or address as written.
    pub target: String,
    /// The registers that are set, by name.
    pub registers: Vec<(&'static str, u16)>,
    /// The flags that are set.
    pub flags: Flags,
    /// The interrupt that comes at several T-states, one in each run.
    pub sweep: Option<Sweep>,
    /// Whether the routine may return with interrupts off, or in another mode.
    pub any_interrupts: bool,
    /// What is expected.
    pub expect: Expectation,
}

/// An interrupt that comes at several T-states, one in each run of its case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sweep {
    /// The index of the interrupt in its call.
    pub interrupt: usize,
    /// The first and the last of the T-states; `None` for all up to the return of the call.
    pub times: Option<(u64, u64)>,
}

/// What is expected of a call, apart from its return.
#[derive(Debug, Clone, Default)]
pub struct Expectation {
    /// Registers, T-states, bytes of stack, calls of mocks.
    pub values: Vec<(Measure, Matcher)>,
    /// The result of a function of C.
    pub result: Option<ExpectedResult>,
    /// Flags.
    pub flags: Flags,
    /// Memory.
    pub memory: Vec<ExpectedMemory>,
    /// Output on the console.
    pub console: Option<Vec<u8>>,
    /// The only registers that may change apart from those that are expected.
    pub clobbers: Option<BTreeSet<&'static str>>,
    /// The values written to ports.
    pub ports: BTreeMap<u8, Vec<u8>>,
    /// The accesses to memory-mapped registers and other addresses.
    pub reads: Vec<ExpectedAccesses>,
    /// See `reads`.
    pub writes: Vec<ExpectedAccesses>,
    /// Conditions, as written and parsed.
    pub checks: Vec<(String, Expression)>,
}

impl Expectation {
    /// Returns the registers for which a value is expected.
    pub(crate) fn registers(&self) -> impl Iterator<Item = &'static str> {
        let result = self.result.iter().flat_map(|result| result.registers).copied();
        let values = self.values.iter().filter_map(|(measure, _)| match measure {
            Measure::Register(name) => Some(*name),
            _ => None,
        });
        values.chain(result)
    }

    /// Returns `true` if a condition uses this variable.
    pub(crate) fn uses(&self, name: &str) -> bool {
        let is_name = |variable: &&str| without_prefix(variable) == name;
        self.checks.iter().any(|(_, condition)| condition.variables().iter().any(is_name))
    }
}

/// Expected memory.
#[derive(Debug, Clone)]
pub struct ExpectedMemory {
    /// The address as written.
    pub name: String,
    /// The address of the first element.
    pub address: u16,
    /// The number of bytes of an element, 1 or 2.
    pub width: u16,
    /// The elements.
    pub elements: Vec<Matcher>,
}

/// Expected reads of an address, or writes to it.
#[derive(Debug, Clone)]
pub struct ExpectedAccesses {
    /// The address as written.
    pub name: String,
    /// The address.
    pub address: u16,
    /// What is expected.
    pub accesses: Accesses,
}

/// Reads of an address, or writes to it.
#[derive(Debug, Clone)]
pub enum Accesses {
    /// Their number.
    Count(Matcher),
    /// The bytes, in order.
    Bytes(Vec<u8>),
}

/// A statement about all inputs.
#[derive(Debug, Clone)]
pub struct Property {
    /// The keys of its call, as the file writes them.
    pub written: Vec<(String, Written)>,
    /// The registers that are generated.
    pub args: Vec<(&'static str, Generator)>,
    /// The memory that is generated.
    pub blocks: Vec<GeneratedBlock>,
    /// Inputs that don't fulfil it are not used.
    pub assume: Option<Expression>,
    /// The judge.
    pub judge: Judge,
    /// The number of inputs.
    pub cases: u32,
    /// The seed, unless the caller gives one.
    pub seed: Option<u64>,
    /// Whether all inputs are tried.
    pub exhaustive: bool,
}

impl Property {
    /// Returns the number of combinations of the values of registers.
    pub fn input_count(&self) -> u64 {
        let sizes = self.args.iter().map(|(_, generator)| generator.size());
        sizes.fold(1, |all, size| all.saturating_mul(size))
    }
}

/// What decides whether an output is right.
#[derive(Debug, Clone)]
pub enum Judge {
    /// The expectations of the step alone.
    Expectations,
    /// Another routine: its address and name, and the outputs that must be the same.
    SameAs(u16, String, Vec<&'static str>),
    /// A program with arguments; the offset of the key in the test file.
    Reference(Vec<String>, usize),
}

/// Where values come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Generator {
    /// A range, whose least value is the simplest.
    Range(RangeInclusive<u16>),
    /// One of several, the first being the simplest.
    OneOf(Vec<u16>),
}

impl Generator {
    /// Returns the number of values.
    pub fn size(&self) -> u64 {
        match self {
            Self::Range(range) => u64::from(range.end() - range.start()) + 1,
            Self::OneOf(values) => values.len() as u64,
        }
    }
}

/// Memory with a generated number of generated bytes.
#[derive(Debug, Clone)]
pub struct GeneratedBlock {
    /// The address as written.
    pub name: String,
    /// The address of the first byte.
    pub address: u16,
    /// The number of bytes.
    pub length: RangeInclusive<u16>,
    /// The bytes.
    pub byte: Generator,
    /// The register that holds the number of bytes.
    pub count_in: Option<&'static str>,
}
