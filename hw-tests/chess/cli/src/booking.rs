//! Bookings of points, as a simulated board records them.

use board_simulator::Registers;

/// A booking of points, as recorded in XCHNG.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ObservedBooking {
    /// Value of the captured piece.
    pub(crate) stake: u8,
    /// Value of the capturing piece.
    pub(crate) attacker: u8,
    /// Points that the owner of the square has lost after it; below 0 only if XCHNG is wrong.
    pub(crate) residue: i8,
}

impl ObservedBooking {
    /// Reads a booking of XCHNG: points at stake in B, attacker in L, residue in E (xchng.asm).
    pub(crate) fn from_registers(registers: &Registers) -> Self {
        let Registers { bc, hl, de, .. } = *registers;
        Self { stake: (bc >> 8) as u8, attacker: hl as u8, residue: de as i8 }
    }
}
