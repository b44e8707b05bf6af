//! The evaluator's routines, called one by one on a bare processor: their results and their
//! T-states.

use firmware::build::BuiltImage;
use tdlasm::link::Program;

use board_simulator::{Bus, Cpu, Registers};
use sargon_corpus::encode;
use sargon_reference::{AttackersArray, Colour, Kind, Piece, Position, Square};

/// The stack's first address; the routines' contracts ask for far less than lies below.
const STACK: u16 = 0xF000;
/// The address to which calls return: the program does not reach it by itself.
const RETURN_SENTINEL: u16 = 0xFFF0;
/// The byte around the board.
const BORDER: u8 = 0xFF;
/// T-states after which a routine is taken not to return.
const MAX_ROUTINE_T_STATES: u64 = 1_000_000;

/// 64 KiB of RAM and no device.
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

/// Error returned for a routine that cannot be called.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The program has no such label.
    #[error("the program has no label {0}")]
    NoLabel(String),
    /// The routine does not return.
    #[error("{0} has not returned within {MAX_ROUTINE_T_STATES} T-states")]
    NoReturn(String),
}

/// A program of the board in memory, with a processor to run its routines on.
pub struct RoutineRunner {
    cpu: Cpu,
    memory: Memory,
    program: Program,
}

impl RoutineRunner {
    /// Loads the application and has it set up the data page.
    ///
    /// # Errors
    /// Returns `CallError` if the program is not the application or does not return from its
    /// set-up.
    pub fn new(application: &BuiltImage) -> Result<Self, CallError> {
        let mut memory = Memory(Box::new([0; 0x1_0000]));
        for (place, byte) in (application.address..).zip(&application.bytes) {
            memory.write(place, *byte);
        }
        let program = application.program.clone();
        let mut runner = Self { cpu: Cpu::new(), memory, program };
        runner.call("SETUP")?;
        Ok(runner)
    }

    /// CallTree a routine with the registers as they are and returns its T-states, the caller's
    /// CALL not among them.
    ///
    /// # Errors
    /// There is no such label, or the routine does not return.
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

    /// Puts the pieces and the royal squares where the evaluator looks for them; there are no pins
    /// yet.
    ///
    /// # Errors
    /// The program lacks a label of the evaluator.
    pub fn set_position(&mut self, position: &Position) -> Result<(), CallError> {
        self.call("NOPINS")?;
        let board = self.address("BOARDA")?;
        for square in Square::all() {
            let piece = position.on(square).map_or(0, encode::piece);
            self.memory.write(board + u16::from(encode::square(square)), piece);
        }
        for (name, kind) in [("POSK", Kind::King), ("POSQ", Kind::Queen)] {
            let at = self.address(name)?;
            for (place, colour) in (at..).zip([Colour::White, Colour::Black]) {
                let square = position.royal(colour, kind).map_or(0, encode::square);
                self.memory.write(place, square);
            }
        }
        Ok(())
    }

    /// Makes a square the one under examination and empties the array; `piece` stands there.
    ///
    /// # Errors
    /// The program lacks a label of the evaluator.
    pub fn set_square(&mut self, square: Square, piece: Option<Piece>) -> Result<(), CallError> {
        self.poke("M3", encode::square(square))?;
        self.set_piece(piece)?;
        self.set_array(&AttackersArray::default())
    }

    /// Makes a piece the one under examination.
    ///
    /// # Errors
    /// The program lacks a label of the evaluator.
    pub fn set_piece(&mut self, piece: Option<Piece>) -> Result<(), CallError> {
        let byte = piece.map_or(0, encode::piece);
        self.poke("P1", byte)?;
        self.poke("T3", byte & 7)
    }

    /// Fills the attackers array, and clears the status.
    ///
    /// # Errors
    /// The program lacks a label of the evaluator.
    pub fn set_array(&mut self, array: &AttackersArray) -> Result<(), CallError> {
        let at = usize::from(self.address("ATKLST")?);
        self.memory.0[at..at + 14].copy_from_slice(&array.to_bytes());
        self.poke("STATUS", 0)
    }

    /// The attackers array as it is.
    ///
    /// # Errors
    /// The program lacks a label of the evaluator.
    pub fn array(&self) -> Result<AttackersArray, CallError> {
        let at = usize::from(self.address("ATKLST")?);
        let mut bytes = [0; 14];
        bytes.copy_from_slice(&self.memory.0[at..at + 14]);
        Ok(AttackersArray::from_bytes(&bytes))
    }

    /// The processor's registers as the last routine left them.
    #[must_use]
    pub fn registers(&self) -> Registers {
        self.cpu.registers()
    }

    /// A byte of memory.
    ///
    /// # Errors
    /// There is no such label.
    pub fn peek(&self, name: &str) -> Result<u8, CallError> {
        Ok(self.memory.read(self.address(name)?))
    }

    /// Two bytes of memory, low byte first.
    ///
    /// # Errors
    /// There is no such label.
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
        self.program.symbol(name).ok_or_else(|| CallError::NoLabel(name.to_owned()))
    }
}
