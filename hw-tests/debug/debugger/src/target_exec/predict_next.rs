//! Predicts the next instruction by executing one instruction on a scratch processor.

use board_simulator::Registers;
use z80_core::{Bus, Cpu};

/// Limit of consecutive prefixes; each is a step of the processor.
const MAX_PREFIXES: usize = 64;

/// Reads the target's memory. No instruction reads what it has written.
struct ReadOnlyBus<'a>(&'a dyn Fn(u16) -> u8);

impl Bus for ReadOnlyBus<'_> {
    fn read(&self, address: u16) -> u8 {
        (self.0)(address)
    }

    fn write(&mut self, _address: u16, _value: u8) {}

    fn input(&self, _port: u16) -> u8 {
        0xFF
    }

    fn output(&mut self, _port: u16, _value: u8) {}
}

/// Predicts the registers after the instruction at PC; others than PC are valid for an instruction
/// that accesses neither memory nor ports. A repeating instruction such as LDIR counts as complete,
/// and HALT as ended by an interrupt.
pub(super) fn predict_next(registers: &Registers, read: &dyn Fn(u16) -> u8) -> Registers {
    let at = registers.pc;
    let opcode = read(at);
    let repeats = opcode == 0xED && read(at.wrapping_add(1)) & 0xF4 == 0xB0;
    let length = if repeats { Some(2) } else { (opcode == 0x76).then_some(1) };
    if let Some(length) = length {
        return Registers { pc: at.wrapping_add(length), ..*registers };
    }
    let mut cpu = Cpu::new();
    cpu.set_registers(registers);
    let mut bus = ReadOnlyBus(read);
    for _ in 0..MAX_PREFIXES {
        let first = bus.read(cpu.pc());
        let second = bus.read(cpu.pc().wrapping_add(1));
        let is_step = matches!(first, 0xDD | 0xFD) && matches!(second, 0xDD | 0xED | 0xFD);
        cpu.step(&mut bus, None);
        if !is_step {
            break;
        }
    }
    cpu.registers()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The next address of an instruction at 8000H, with SP at 9000H, where 1234H lies.
    fn next(code: &[u8], registers: Registers) -> u16 {
        let read = |at: u16| match at {
            0x9000 => 0x34,
            0x9001 => 0x12,
            at => code.get(usize::from(at.wrapping_sub(0x8000))).copied().unwrap_or(0),
        };
        predict_next(&Registers { pc: 0x8000, sp: 0x9000, ..registers }, &read).pc
    }

    #[test]
    fn every_successor_is_predicted() {
        let plain = Registers::default();
        let zero = Registers { af: 0x0040, ..plain };
        let pointer = Registers { hl: 0x4321, ix: 0x5678, bc: 0x0100, ..plain };
        let cases: &[(&[u8], Registers, u16)] = &[
            (&[0x00], plain, 0x8001),
            (&[0x3E, 5], plain, 0x8002),
            (&[0xC3, 0x00, 0x90], plain, 0x9000),
            (&[0xCA, 0x00, 0x90], plain, 0x8003),
            (&[0xCA, 0x00, 0x90], zero, 0x9000),
            (&[0xCD, 0x00, 0x90], plain, 0x9000),
            (&[0xC9], plain, 0x1234),
            (&[0xC8], plain, 0x8001),
            (&[0xC8], zero, 0x1234),
            (&[0xED, 0x4D], plain, 0x1234),
            (&[0x18, 0xFE], plain, 0x8000),
            (&[0x10, 0xFE], pointer, 0x8002),
            (&[0x10, 0xFE], plain, 0x8000),
            (&[0xE9], pointer, 0x4321),
            (&[0xDD, 0xE9], pointer, 0x5678),
            (&[0xDD, 0xFD, 0x21, 0, 0], plain, 0x8005),
            (&[0xFD, 0xCB, 0, 0x46], plain, 0x8004),
            (&[0xED, 0xB0], pointer, 0x8002),
            (&[0xED, 0xB9], plain, 0x8002),
            (&[0x76], plain, 0x8001),
            (&[0xFF], plain, 0x0038),
        ];
        for (code, registers, wanted) in cases {
            assert_eq!(next(code, *registers), *wanted, "{code:02X?}");
        }
    }
}
