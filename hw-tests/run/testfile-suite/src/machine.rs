//! The interface to machines that run calls.

use board_simulator::routines::{Call, Outcome, RoutineMachine};

use crate::program::Program;
use crate::registers::value;

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

impl Measure {
    /// Returns what was measured; `None` if the machine does not.
    pub(crate) fn of(self, outcome: &Outcome) -> Option<u32> {
        match self {
            Self::Register(name) => Some(value(&outcome.registers, name).into()),
            Self::Cycles => outcome.t_states.map(|time| time.try_into().unwrap_or(u32::MAX)),
            Self::Stack => outcome.stack.map(u32::from),
            Self::Calls(mock) => outcome.mock_calls.get(mock).copied(),
        }
    }
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

impl Machine for RoutineMachine {
    fn load(&mut self, program: &Program) -> Result<(), MachineError> {
        let stop = std::mem::take(&mut self.stop);
        *self = program.machine();
        self.stop = stop;
        Ok(())
    }

    fn run(&mut self, calls: &[Call]) -> Result<Vec<Outcome>, MachineError> {
        let outcomes = calls.iter().map(|call| self.call(call)).collect::<Result<_, _>>();
        outcomes.map_err(|_| MachineError::Failed("interrupted".to_owned()))
    }

    fn read(&mut self, address: u16, length: usize) -> Result<Vec<u8>, MachineError> {
        Ok(Self::read(self, address, length))
    }

    fn name(&self) -> &str {
        "simulated"
    }
}

#[cfg(test)]
mod tests {
    use board_simulator::routines::CallEnd;

    use super::*;

    #[test]
    fn t_states_of_more_than_32_bits_exceed_every_limit() {
        let outcome = Outcome::unfinished(&Call::default(), CallEnd::Returned);
        let outcome = Outcome { t_states: Some(0x1_0000_0005), ..outcome };
        assert_eq!(Measure::Cycles.of(&outcome), Some(u32::MAX));
    }
}
