//! Calls of single routines on a processor with 64 KiB of RAM, exact to the T-state, and what they
//! do wrong.

mod execution;
mod machine;
mod memory;

pub use machine::{Interrupted, RoutineMachine};
pub use memory::FILL;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use tdlasm::image::ImageRun;
use z80_core::{Flags, Registers};

use crate::violation::ViolationKind;

/// A call of a routine.
#[derive(Debug, Clone, Default)]
pub struct Call {
    /// The address of the routine.
    pub address: u16,
    /// How it is entered and left.
    pub entry: Entry,
    /// The registers at its first instruction. PC, I and R are ignored; SP is that of the caller,
    /// so the return address is pushed below it.
    pub registers: Registers,
    /// Register I; `None` for that after the call before (simulated only).
    pub i: Option<u8>,
    /// Register R; `None` for that after the call before (simulated only).
    pub r: Option<u8>,
    /// Whether the program is loaded again first, and all other memory restored.
    pub reload: bool,
    /// Memory that is written before the call.
    pub memory: Vec<ImageRun>,
    /// Memory that is read after the call: address and number of bytes.
    pub read: Vec<(u16, usize)>,
    /// The maximum number of T-states.
    pub timeout: u64,
    /// The ports that the routine may use, with the values that successive reads return
    /// (simulated only).
    pub ports: BTreeMap<u8, InputValues>,
    /// Memory-mapped registers, with the values that successive reads return (simulated only).
    pub mapped: BTreeMap<u16, InputValues>,
    /// Other addresses whose accesses are recorded (simulated only).
    pub watched: BTreeSet<u16>,
    /// Routines that are replaced.
    pub mocks: Vec<Mock>,
    /// Interrupts during the call (simulated only).
    pub interrupts: Vec<Interrupt>,
    /// The only addresses that the routine may write, except the stack. `None` for data of the
    /// program and for memory that this call or one since the last reload writes or reads.
    pub writes: Option<Vec<RangeInclusive<u16>>>,
    /// The number of bytes below SP that the routine may use.
    pub stack_size: u16,
    /// What it may do though it is a mistake elsewhere.
    pub allowed: Allowed,
    /// Arguments above the return address: the bytes, the lowest first. SP is below them.
    pub stack_arguments: Vec<u8>,
    /// How many of these bytes the routine removes from the stack.
    pub removed: u16,
}

impl Call {
    /// Returns SP after the return of a routine that keeps it.
    pub(crate) fn final_sp(&self) -> u16 {
        self.registers.sp.wrapping_add(self.removed)
    }

    /// Returns `true` if reads of some port return values of the test.
    pub fn feeds_ports(&self) -> bool {
        self.ports.values().any(|inputs| !inputs.values.is_empty())
    }

    /// Returns the memory that mocks write.
    pub fn mock_memory(&self) -> impl Iterator<Item = &ImageRun> {
        self.mocks.iter().flat_map(|mock| &mock.returns).flat_map(|returned| &returned.memory)
    }
}

/// Values that successive reads of a port or an address return.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InputValues {
    /// The values.
    pub values: Vec<u8>,
    /// Whether further reads return the last value.
    pub repeats_last: bool,
}

impl InputValues {
    /// Returns the value of a read, counted from 0; `None` if there is none for it.
    pub fn nth(&self, index: usize) -> Option<u8> {
        let last = self.values.last().filter(|_| self.repeats_last);
        self.values.get(index).or(last).copied()
    }
}

/// How a routine is entered and left.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Entry {
    /// By CALL, and left by a return.
    #[default]
    Call,
    /// By a maskable interrupt, and left by RETI (simulated only).
    Interrupt,
    /// By a non-maskable interrupt, and left by RETN (simulated only).
    NonMaskable,
    /// By a jump, and left before the instruction at this address, after at least one other
    /// (simulated only).
    Until(u16),
}

impl Entry {
    /// Returns `true` if the routine is entered by an interrupt.
    pub fn is_interrupt(self) -> bool {
        matches!(self, Self::Interrupt | Self::NonMaskable)
    }
}

/// A request of a device for an interrupt during a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interrupt {
    /// T-states from the first instruction to the request, which stays until it is accepted.
    pub at: u64,
    /// T-states from one request to the next; `None` if there is only one.
    pub period: Option<u64>,
    /// The number of requests; `None` for one, or with a period for any number.
    pub count: Option<u64>,
    /// Whether it is non-maskable.
    pub non_maskable: bool,
    /// The byte on the data bus while the processor acknowledges it.
    pub bus: u8,
    /// The routine that is entered; `None` for that of the interrupt mode, or at 0066H.
    pub handler: Option<u16>,
}

/// A routine that is replaced by what it returns.
#[derive(Debug, Clone, Default)]
pub struct Mock {
    /// The label as written.
    pub name: String,
    /// The address of the routine.
    pub address: u16,
    /// What each call returns; the last one is repeated.
    pub returns: Vec<MockReturn>,
}

/// What a call of a mock sets before it returns.
#[derive(Debug, Clone, Default)]
pub struct MockReturn {
    /// Registers by name.
    pub registers: Vec<(&'static str, u16)>,
    /// Flags.
    pub flags: Flags,
    /// Memory.
    pub memory: Vec<ImageRun>,
}

/// What a call did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// How the call ended.
    pub end: CallEnd,
    /// The registers then. SP is that of the caller if the routine kept it.
    pub registers: Registers,
    /// The memory that the call asked for.
    pub memory: Vec<Vec<u8>>,
    /// T-states from the routine's first instruction to its return; `None` if not counted.
    pub t_states: Option<u64>,
    /// Bytes of stack that the routine used below its return address; `None` if not measured.
    pub stack: Option<u16>,
    /// What the routine must not do, each with the address of the instruction, where it is known.
    pub violations: Vec<(ViolationKind, Option<u16>)>,
    /// The values that were written to ports, in order (simulated only).
    pub outputs: BTreeMap<u8, Vec<u8>>,
    /// The bytes that were read from each mapped or watched address, in order (simulated only).
    pub reads: BTreeMap<u16, Vec<u8>>,
    /// The bytes that were written to each of them, in order (simulated only).
    pub writes: BTreeMap<u16, Vec<u8>>,
    /// How often each of the mocks was called.
    pub mock_calls: Vec<u32>,
    /// How many requests of each interrupt were accepted.
    pub accepted: Vec<u64>,
    /// For each interrupt that was accepted, the latest [`Interrupt::at`] with which the whole call
    /// would run the same, as each of its requests would be accepted at the same instruction.
    pub latest_equal: Vec<Option<u64>>,
}

impl Outcome {
    /// Returns what a call did without a result, or before it has one.
    pub fn unfinished(call: &Call, end: CallEnd) -> Self {
        Self { end, registers: call.registers, ..Self::default() }
    }
}

/// How a call ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum CallEnd {
    /// The routine returned to its caller.
    #[default]
    Returned,
    /// It did not return in time; the program counter, where it is known.
    TimedOut(Option<u16>),
    /// It executed HALT at this address, with nothing to interrupt it.
    Halted(u16),
    /// It left the program: the address, and that of the instruction that went there.
    Left(u16, u16),
    /// The board has restarted instead, or the routine has destroyed the program that called it.
    Lost,
}

/// What a call may do on a simulated machine though it is usually a mistake.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Allowed {
    /// Reads memory that neither the program nor the test nor code has written.
    pub unwritten: bool,
    /// Executes data, and what was written outside of the program.
    pub data: bool,
    /// Executes bytes that are no instruction.
    pub no_instruction: bool,
    /// Executes instructions that begin within others.
    pub overlap: bool,
    /// Writes to code; also on a board.
    pub code_writes: bool,
}
