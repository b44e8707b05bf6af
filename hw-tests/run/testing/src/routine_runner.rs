//! Calls single routines of the evaluator without a board, for results and T-states.

use board_simulator::{Bus, Cpu, Registers};
use firmware::build::BuiltImage;
use sargon_corpus::encode;
use sargon_reference::{AttackersArray, Colour, Piece, PieceKind, Position, Square};

/// The top of the stack; far more memory is free below it than the routines' contracts need.
const STACK: u16 = 0xF000;
/// The return address of calls, which the program itself does not contain.
const RETURN_SENTINEL: u16 = 0xFFF0;
/// The byte that every port returns.
const BORDER: u8 = 0xFF;
/// Limit of T-states for a routine to return.
const MAX_ROUTINE_T_STATES: u64 = 1_000_000;

/// 64 KiB of RAM without devices.
struct Memory(Box<[u8; 0x1_0000]>);

impl Bus for Memory {
    fn read(&self, address: u16) -> u8 {
        self.0[usize::from(address)]
    }

    fn write(&mut self, address: u16, value: u8) {
        self.0[usize::from(address)] = value;
    }

    fn input(&self, _port: u16) -> u8 {
        BORDER
    }

    fn output(&mut self, _port: u16, _value: u8) {}
}

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
    cpu: Cpu,
    memory: Memory,
    application: BuiltImage,
}

impl RoutineRunner {
    /// Loads the application and runs its set-up of the data page.
    ///
    /// # Errors
    /// Returns `CallError` if the program is not the application or does not return from its
    /// set-up.
    pub fn new(application: &BuiltImage) -> Result<Self, CallError> {
        let mut memory = Memory(Box::new([0; 0x1_0000]));
        for (place, byte) in (application.address..).zip(&application.bytes) {
            memory.write(place, *byte);
        }
        let mut runner = Self { cpu: Cpu::new(), memory, application: application.clone() };
        runner.call("SETUP")?;
        Ok(runner)
    }

    /// Calls a routine with the current registers; returns its T-states without the CALL.
    ///
    /// # Errors
    /// Returns `CallError` if there is no such label or the routine does not return in time.
    pub fn call(&mut self, name: &str) -> Result<u64, CallError> {
        let entry = self.address(name)?;
        let sp = STACK - 2;
        self.memory.0[usize::from(sp)..][..2].copy_from_slice(&RETURN_SENTINEL.to_le_bytes());
        self.cpu.set_registers(&Registers { pc: entry, sp, ..self.cpu.registers() });
        let mut t_states = 0;
        while self.cpu.pc() != RETURN_SENTINEL {
            if t_states > MAX_ROUTINE_T_STATES {
                return Err(CallError::NoReturn(name.to_owned()));
            }
            t_states += u64::from(self.cpu.step(&mut self.memory, None));
        }
        Ok(t_states)
    }

    /// Sets the position for the evaluator: the board and the royal squares, without pins.
    pub fn set_position(&mut self, position: &Position) -> Result<(), CallError> {
        self.call("NOPINS")?;
        let board = self.address("BOARDA")?;
        for square in Square::all() {
            let piece = position.on(square).map_or(0, encode::piece);
            self.memory.write(board + u16::from(encode::square(square)), piece);
        }
        for (name, kind) in [("POSK", PieceKind::King), ("POSQ", PieceKind::Queen)] {
            let at = self.address(name)?;
            for (place, colour) in (at..).zip([Colour::White, Colour::Black]) {
                let square = position.royal(colour, kind).map_or(0, encode::square);
                self.memory.write(place, square);
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
        let at = usize::from(self.address("ATKLST")?);
        self.memory.0[at..at + 14].copy_from_slice(&array.to_bytes());
        self.poke("STATUS", 0)
    }

    /// Returns the attackers array.
    pub fn array(&self) -> Result<AttackersArray, CallError> {
        let at = usize::from(self.address("ATKLST")?);
        let mut bytes = [0; 14];
        bytes.copy_from_slice(&self.memory.0[at..at + 14]);
        Ok(AttackersArray::from_bytes(&bytes))
    }

    /// Returns the registers as the last routine left them.
    pub fn registers(&self) -> Registers {
        self.cpu.registers()
    }

    /// Returns the byte at a label.
    pub fn peek(&self, name: &str) -> Result<u8, CallError> {
        Ok(self.memory.read(self.address(name)?))
    }

    /// Returns the word at a label, low byte first.
    pub fn peek_word(&self, name: &str) -> Result<u16, CallError> {
        let at = self.address(name)?;
        Ok(u16::from_le_bytes([self.memory.read(at), self.memory.read(at.wrapping_add(1))]))
    }

    fn poke(&mut self, name: &str, value: u8) -> Result<(), CallError> {
        let at = self.address(name)?;
        self.memory.write(at, value);
        Ok(())
    }

    fn address(&self, name: &str) -> Result<u16, CallError> {
        self.application.program.symbol(name).ok_or_else(|| CallError::NoLabel(name.to_owned()))
    }
}
