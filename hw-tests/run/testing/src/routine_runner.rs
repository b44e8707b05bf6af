//! Calls single routines of the evaluator without a board, for results and T-states.

use board_simulator::Registers;
use board_simulator::routines::{Allowed, Call, CallEnd, RoutineMachine};
use firmware::build::BuiltImage;
use firmware::code_map::MappedProgram;
use firmware::program_areas::ProgramAreas;
use sargon_corpus::encode;
use sargon_reference::{AttackersArray, Colour, Piece, PieceKind, Position, Square};
use tdlasm::image::ImageRun;

/// The top of the stack; far more memory is free below it than the routines' contracts need.
const STACK: u16 = 0xF000;
/// Limit of T-states for a routine to return.
const MAX_ROUTINE_T_STATES: u64 = 1_000_000;

/// Error returned if a routine can't be called.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The program has no such label.
    #[error("the program has no label {0}")]
    NoLabel(String),
    /// The routine did not return in time.
    #[error("{0} has not returned within {MAX_ROUTINE_T_STATES} T-states")]
    NoReturn(String),
}

/// An application in memory, and a processor that calls its routines. Methods that need a label
/// return [`CallError`] if the program lacks it.
pub struct RoutineRunner {
    machine: RoutineMachine,
    registers: Registers,
    application: BuiltImage,
}

impl RoutineRunner {
    /// Loads the application and runs its set-up of the data page.
    ///
    /// # Errors
    /// Returns `CallError` if the program is not the application or does not return from its
    /// set-up.
    pub fn new(application: &BuiltImage) -> Result<Self, CallError> {
        let mapped = MappedProgram::from(&application.program);
        let areas = ProgramAreas::of_linked(&application.program, &mapped);
        let machine = RoutineMachine::new(&mapped, &areas);
        let registers = Registers::default();
        let mut runner = Self { machine, registers, application: application.clone() };
        runner.call("SETUP")?;
        Ok(runner)
    }

    /// Calls a routine with the current registers; returns its T-states without the CALL.
    ///
    /// # Errors
    /// Returns `CallError` if there is no such label or the routine does not return in time.
    pub fn call(&mut self, name: &str) -> Result<u64, CallError> {
        let call = Call {
            address: self.address(name)?,
            registers: Registers { sp: STACK, ..self.registers },
            timeout: MAX_ROUTINE_T_STATES,
            allowed: Allowed { unwritten: true, ..Allowed::default() },
            ..Call::default()
        };
        match self.machine.call(&call) {
            Ok(outcome) if outcome.end == CallEnd::Returned => {
                self.registers = outcome.registers;
                Ok(outcome.t_states.unwrap_or_default())
            }
            _ => Err(CallError::NoReturn(name.to_owned())),
        }
    }

    /// Sets the position for the evaluator: the board and the royal squares, without pins.
    pub fn set_position(&mut self, position: &Position) -> Result<(), CallError> {
        self.call("NOPINS")?;
        let board = self.address("BOARDA")?;
        for square in Square::all() {
            let piece = position.on(square).map_or(0, encode::piece);
            self.store(board + u16::from(encode::square(square)), &[piece]);
        }
        for (name, kind) in [("POSK", PieceKind::King), ("POSQ", PieceKind::Queen)] {
            let at = self.address(name)?;
            for (place, colour) in (at..).zip([Colour::White, Colour::Black]) {
                let square = position.royal(colour, kind).map_or(0, encode::square);
                self.store(place, &[square]);
            }
        }
        Ok(())
    }

    /// Sets the square under examination and the piece on it, and clears the array.
    pub fn set_square(&mut self, square: Square, piece: Option<Piece>) -> Result<(), CallError> {
        self.poke("M3", encode::square(square))?;
        self.set_piece(piece)?;
        self.set_array(&AttackersArray::default())
    }

    /// Sets the piece under examination.
    pub fn set_piece(&mut self, piece: Option<Piece>) -> Result<(), CallError> {
        let byte = piece.map_or(0, encode::piece);
        self.poke("P1", byte)?;
        self.poke("T3", byte & 7)
    }

    /// Fills the attackers array, and clears the status.
    pub fn set_array(&mut self, array: &AttackersArray) -> Result<(), CallError> {
        self.store(self.address("ATKLST")?, &array.to_bytes());
        self.poke("STATUS", 0)
    }

    /// Returns the attackers array.
    pub fn array(&self) -> Result<AttackersArray, CallError> {
        let mut bytes = [0; 14];
        bytes.copy_from_slice(&self.machine.read(self.address("ATKLST")?, 14));
        Ok(AttackersArray::from_bytes(&bytes))
    }

    /// Returns the registers as the last routine left them.
    pub fn registers(&self) -> Registers {
        self.registers
    }

    /// Returns the byte at a label.
    pub fn peek(&self, name: &str) -> Result<u8, CallError> {
        Ok(self.machine.read(self.address(name)?, 1)[0])
    }

    /// Returns the word at a label, low byte first.
    pub fn peek_word(&self, name: &str) -> Result<u16, CallError> {
        let bytes = self.machine.read(self.address(name)?, 2);
        Ok(u16::from_le_bytes([bytes[0], bytes[1]]))
    }

    fn poke(&mut self, name: &str, value: u8) -> Result<(), CallError> {
        self.store(self.address(name)?, &[value]);
        Ok(())
    }

    fn store(&mut self, address: u16, bytes: &[u8]) {
        self.machine.write(&ImageRun { address, bytes: bytes.to_vec() });
    }

    fn address(&self, name: &str) -> Result<u16, CallError> {
        self.application.program.symbol(name).ok_or_else(|| CallError::NoLabel(name.to_owned()))
    }
}
