//! The interface to machines that run calls.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use board_simulator::ViolationKind;
use tdlasm::image::ImageRun;
use z80_core::{Flags, Registers};

use crate::allowed::Allowed;
use crate::program::Program;
use crate::registers::value;

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
    pub(crate) fn mock_memory(&self) -> impl Iterator<Item = &ImageRun> {
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

/// Calls whose arguments count up, and what they should return.
#[derive(Debug, Clone, Default)]
pub struct ArgumentSweep {
    /// The registers of eight bits that count, the lowest first.
    pub counted: Vec<&'static str>,
    /// The number of calls, at least 1.
    pub calls: u32,
    /// The registers of eight bits that are compared.
    pub results: Vec<&'static str>,
    /// The flags that are compared, if F is one of them.
    pub flags: u8,
    /// CRC-32 (as zlib's) of the results of all calls, in order, with the other flags 0.
    pub crc: u32,
    /// The T-states of all calls on a simulated machine.
    pub t_states: u64,
    /// The most bytes of stack that a call uses there.
    pub stack: u16,
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
    pub(crate) fn unfinished(call: &Call, end: CallEnd) -> Self {
        Self { end, registers: call.registers, ..Self::default() }
    }

    /// Returns what was measured; `None` if the machine does not.
    pub(crate) fn measured(&self, measure: Measure) -> Option<u32> {
        match measure {
            Measure::Register(name) => Some(value(&self.registers, name).into()),
            Measure::Cycles => self.t_states.map(|time| time.try_into().unwrap_or(u32::MAX)),
            Measure::Stack => self.stack.map(u32::from),
            Measure::Calls(mock) => self.mock_calls.get(mock).copied(),
        }
    }
}

/// A number that a call results in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// The value of a register, by its name.
    Register(&'static str),
    /// T-states.
    Cycles,
    /// Bytes of stack.
    Stack,
    /// Calls of the mock with this index.
    Calls(usize),
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

/// Error returned if a machine can't run calls, apart from what a routine does.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MachineError {
    /// The program lies where the machine has no room for it.
    #[error("{0}")]
    Unloadable(String),
    /// The machine failed.
    #[error("{0}")]
    Failed(String),
}

/// Something that runs calls: a simulated processor, or a board with a caller program.
pub trait Machine {
    /// Loads a program instead of the one before, and restores other memory as far as the machine
    /// can.
    ///
    /// # Errors
    /// Returns `MachineError` if the program lies where it can't, or the machine fails. The program
    /// before stays loaded then.
    fn load(&mut self, program: &Program) -> Result<(), MachineError>;

    /// Runs calls in order; each finds the memory that the previous one left, unless it reloads.
    ///
    /// # Errors
    /// Returns `MachineError` if the machine fails. What a routine does is no error.
    fn run(&mut self, calls: &[Call]) -> Result<Vec<Outcome>, MachineError>;

    /// Runs a single call.
    ///
    /// # Errors
    /// Returns `MachineError` as [`Self::run`] does.
    fn run_one(&mut self, call: &Call) -> Result<Outcome, MachineError> {
        let outcome = self.run(std::slice::from_ref(call))?.pop();
        outcome.ok_or_else(|| MachineError::Failed("the machine returned no outcome".to_owned()))
    }

    /// Makes calls whose arguments count up from those of `first`, without a reload or a write of
    /// memory. Returns the most bytes of stack that one used; `None` if results differ from the
    /// expected ones, a call used more stack, or it went wrong.
    ///
    /// # Errors
    /// Returns `MachineError` as [`Self::run`] does.
    fn count(
        &mut self,
        _first: &Call,
        _count: &ArgumentSweep,
    ) -> Result<Option<u16>, MachineError> {
        Ok(None)
    }

    /// Reads memory after the last call.
    ///
    /// # Errors
    /// Returns `MachineError` if the machine fails.
    fn read(&mut self, address: u16, length: usize) -> Result<Vec<u8>, MachineError>;

    /// Returns the first and the last address of the memory that a board leaves to programs.
    fn free_memory(&self) -> Option<(u16, u16)> {
        None
    }

    /// Ends the use of the machine: a board returns to its stock monitor, if it has one.
    ///
    /// # Errors
    /// Returns `MachineError` if the monitor does not reappear.
    fn leave(&mut self) -> Result<(), MachineError> {
        Ok(())
    }

    /// Returns a name for summaries, such as `simulated`.
    fn name(&self) -> &str;

    /// Returns the name of the board's profile; `None` if the machine is no board.
    fn profile(&self) -> Option<&str> {
        None
    }

    /// Returns `true` for a board, which implements [`Self::count`]. Only other machines observe each
    /// access to memory and ports, so that they check [`Call::writes`] and return
    /// [`Outcome::outputs`].
    fn is_board(&self) -> bool {
        self.profile().is_some()
    }

    /// Returns why the machine can't make a call; `None` if it can.
    fn refusal(&self, _call: &Call) -> Option<String> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t_states_of_more_than_32_bits_exceed_every_limit() {
        let outcome = Outcome::unfinished(&Call::default(), CallEnd::Returned);
        let outcome = Outcome { t_states: Some(0x1_0000_0005), ..outcome };
        assert_eq!(outcome.measured(Measure::Cycles), Some(u32::MAX));
    }
}
