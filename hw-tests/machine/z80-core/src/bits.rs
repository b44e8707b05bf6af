//! Instructions behind CB: rotations, shifts, and single bits.

use crate::bus::Bus;
use crate::cpu::Cpu;
use crate::registers::HL;

/// The number that means memory where registers are numbered.
const MEMORY: u8 = 6;

impl Cpu {
    #[inline(always)]
    pub(crate) fn bits<B: Bus>(&mut self, bus: &mut B) -> u32 {
        let opcode = self.fetch(bus);
        self.bits_by(bus, opcode)
    }

    /// The instruction behind CB whose opcode was fetched.
    #[inline(always)]
    pub(crate) fn bits_by<B: Bus>(&mut self, bus: &mut B, opcode: u8) -> u32 {
        let place = usize::from(opcode & 7);
        if opcode & 7 == MEMORY {
            let address = self.file.pair(HL);
            let value = bus.read(address);
            let undocumented = (self.wz >> 8) as u8;
            return match self.changed(opcode, value, undocumented) {
                Some(result) => {
                    bus.write(address, result);
                    15
                }
                None => 12,
            };
        }
        let value = self.file.get(place);
        if let Some(result) = self.changed(opcode, value, value) {
            self.file.set(place, result);
        }
        8
    }

    /// Instructions behind CB behind DD or FD: always memory, and a copy of the result goes into a
    /// register.
    /// The T-states are those without DD or FD.
    pub(crate) fn indexed_bits<B: Bus>(&mut self, bus: &mut B, address: u16) -> u32 {
        let opcode = self.next(bus);
        self.indexed_bits_by(bus, address, opcode)
    }

    /// The same whose opcode was fetched.
    #[inline(always)]
    pub(crate) fn indexed_bits_by<B: Bus>(&mut self, bus: &mut B, at: u16, opcode: u8) -> u32 {
        let value = bus.read(at);
        let Some(result) = self.changed(opcode, value, (at >> 8) as u8) else { return 16 };
        bus.write(at, result);
        if opcode & 7 != MEMORY {
            self.file.set(usize::from(opcode & 7), result);
        }
        19
    }

    /// The new value, except for BIT, which only sets flags.
    #[inline(always)]
    fn changed(&mut self, opcode: u8, value: u8, undocumented: u8) -> Option<u8> {
        let number = opcode >> 3 & 7;
        match opcode >> 6 {
            0 => Some(self.rotate(number, value)),
            1 => {
                self.test_bit(number, value, undocumented);
                None
            }
            2 => Some(value & !(1 << number)),
            _ => Some(value | 1 << number),
        }
    }
}
