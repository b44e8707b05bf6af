//! Test files after parsing: labels are resolved, values are checked.

use std::collections::{BTreeMap, BTreeSet};
use std::iter::Copied;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::slice;

use board_simulator::profiling::StepCounter;
use serde::{Deserialize, Serialize};
use tdlasm::project::Pane;
use z80_core::Expression;

use crate::block::Block;
use crate::machine::{Entry, Interrupt, Mock};
use crate::matcher::Matcher;
use crate::program::Program;

/// A test file with its program.
pub struct TestFile {
    /// The file, as named by the caller.
    pub path: PathBuf,
    /// The program under test.
    pub program: Program,
    /// The sources of the program.
    pub sources: Vec<PathBuf>,
    /// The board profiles that the program fits; empty for all.
    pub boards: Vec<String>,
    /// The stack of the caller.
    pub stack: StackArea,
    /// The panes that the debugger shows.
    pub panes: Vec<Pane>,
    /// The calls before each case.
    pub setup: Vec<Step>,
    /// The cases; each row of a table is one.
    pub cases: Vec<Case>,
    /// The properties.
    pub properties: Vec<Property>,
}

impl TestFile {
    /// Returns `true` if the program fits the board with this profile.
    #[must_use]
    pub fn fits(&self, profile: &str) -> bool {
        self.boards.is_empty() || self.boards.iter().any(|board| board == profile)
    }

    /// Returns a counter for the instructions of its program.
    #[must_use]
    pub fn step_counter(&self) -> StepCounter {
        let steps = self.cases.iter().flat_map(|case| &case.steps).chain(&self.setup);
        let steps = steps.chain(self.properties.iter().map(|property| &property.step));
        let others = self.properties.iter().filter_map(|property| match &property.judge {
            Judge::SameAs(address, ..) => Some(*address),
            _ => None,
        });
        StepCounter::with_entries(&self.program.map, steps.map(|step| step.address).chain(others))
    }

    /// Returns the headings of cases and properties, in the order in which they run.
    pub fn headings(&self) -> impl Iterator<Item = &Heading> {
        let properties = self.properties.iter().map(|property| &property.heading);
        self.cases.iter().map(|case| &case.heading).chain(properties)
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

/// A test of one or more calls.
#[derive(Debug, Clone)]
pub struct Case {
    /// Name, line, tags.
    pub heading: Heading,
    /// The calls, in order. Memory and registers stay from one to the next.
    pub steps: Vec<Step>,
}

/// A call and what is expected of it.
#[derive(Debug, Clone, Default)]
pub struct Step {
    /// The address that is called.
    pub address: u16,
    /// The label or address as written.
    pub target: String,
    /// How it is entered and left.
    pub entry: Entry,
    /// The registers that are set, by name.
    pub registers: Vec<(&'static str, u16)>,
    /// The flags that are set: mask and values.
    pub flags: (u8, u8),
    /// The memory that is written first.
    pub memory: Vec<Block>,
    /// What the call reads from the console.
    pub input: Vec<u8>,
    /// The values that reads of ports return.
    pub ports: BTreeMap<u8, Vec<u8>>,
    /// The routines that are replaced, with their names.
    pub mocks: Vec<(String, Mock)>,
    /// The interrupts during the call.
    pub interrupts: Vec<Interrupt>,
    /// The interrupt that comes at several T-states, one in each run.
    pub sweep: Option<Sweep>,
    /// The only addresses that may be written.
    pub writes: Option<Vec<RangeInclusive<u16>>>,
    /// Whether the routine may return with interrupts off, or in another mode.
    pub any_interrupts: bool,
    /// The maximum number of T-states.
    pub timeout: u64,
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
    /// Registers by name.
    pub registers: Vec<(&'static str, Matcher)>,
    /// Flags: mask and values.
    pub flags: (u8, u8),
    /// Memory.
    pub memory: Vec<ExpectedMemory>,
    /// Output on the console.
    pub console: Option<Vec<u8>>,
    /// T-states.
    pub cycles: Option<Matcher>,
    /// Bytes of stack.
    pub stack: Option<Matcher>,
    /// The only registers that may change apart from those that are expected.
    pub clobbers: Option<BTreeSet<&'static str>>,
    /// The values written to ports.
    pub ports: BTreeMap<u8, Vec<u8>>,
    /// The number of calls of mocks, by their index.
    pub calls: Vec<(usize, Matcher)>,
    /// Conditions, as written and parsed.
    pub checks: Vec<(String, Expression)>,
}

impl Expectation {
    /// Returns `true` if a condition uses this variable.
    pub(crate) fn uses(&self, name: &str) -> bool {
        self.checks.iter().any(|(_, condition)| condition.variables().contains(&name))
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

/// A statement about all inputs.
#[derive(Debug, Clone)]
pub struct Property {
    /// Name, line, tags.
    pub heading: Heading,
    /// The call, without the generated values.
    pub step: Step,
    /// The call as the file writes it.
    pub written: WrittenCall,
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
    #[must_use]
    pub fn input_count(&self) -> u64 {
        let sizes = self.args.iter().map(|(_, generator)| generator.size());
        sizes.fold(1, |all, size| all.saturating_mul(size))
    }
}

/// What a file writes about the call of a property, as keys and values of TOML.
#[derive(Debug, Clone, Default)]
pub struct WrittenCall {
    /// The keys that a case has, too, apart from `name`, `call` and those below.
    pub fields: Vec<(String, String)>,
    /// The fields of `in`.
    pub inputs: Vec<(String, String)>,
    /// The blocks of `memory`.
    pub memory: Vec<String>,
    /// The fields of `expect`.
    pub expect: Vec<(String, String)>,
    /// The blocks of `expect.memory`.
    pub expected_memory: Vec<String>,
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
    #[must_use]
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

/// Flags by name: mask and value in F.
pub(crate) const FLAG_NAMES: [(&str, u8, u8); 12] = [
    ("C", 0x01, 0x01),
    ("NC", 0x01, 0x00),
    ("N", 0x02, 0x02),
    ("NN", 0x02, 0x00),
    ("PE", 0x04, 0x04),
    ("PO", 0x04, 0x00),
    ("H", 0x10, 0x10),
    ("NH", 0x10, 0x00),
    ("Z", 0x40, 0x40),
    ("NZ", 0x40, 0x00),
    ("M", 0x80, 0x80),
    ("P", 0x80, 0x00),
];

/// Registers of eight bits that can be kept or clobbered.
pub(crate) static HALVES: [&str; 20] = [
    "A", "F", "B", "C", "D", "E", "H", "L", "IXH", "IXL", "IYH", "IYL", "A'", "F'", "B'", "C'",
    "D'", "E'", "H'", "L'",
];

/// The register pairs, in the order of their halves in [`HALVES`].
const PAIRS: [&str; 10] = ["AF", "BC", "DE", "HL", "IX", "IY", "AF'", "BC'", "DE'", "HL'"];

/// Returns the halves of a register, by its canonical name; none for `SP`, `PC`, `I` and `R`.
pub(crate) fn halves(register: &str) -> Copied<slice::Iter<'static, &'static str>> {
    let half = HALVES.iter().position(|half| *half == register).map(|at| at..at + 1);
    let pair = || PAIRS.iter().position(|pair| *pair == register).map(|at| 2 * at..2 * at + 2);
    HALVES[half.or_else(pair).unwrap_or_default()].iter().copied()
}

/// Formats flags as in a test file: `C NZ`.
pub(crate) fn flag_names((mask, value): (u8, u8)) -> String {
    let is_shown = |(_, bit, set): &&(&str, u8, u8)| mask & bit != 0 && value & bit == *set;
    let shown = FLAG_NAMES.iter().filter(is_shown).map(|(name, ..)| *name);
    shown.collect::<Vec<_>>().join(" ")
}
