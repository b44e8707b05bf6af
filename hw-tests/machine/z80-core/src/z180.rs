//! The Z180, as far as it differs from the Z80: its T-states, without wait states, its own
//! instructions, and TRAP, which undefined opcodes cause. Bits 3 and 5 of F are as on the Z80,
//! though the chip's are undefined.

use crate::bus::{Bus, CpuEvent};
use crate::cpu::{Cpu, LastInstruction};
use crate::flags::{H, N, szp};
use crate::registers::{B, BC, C, HL, IX, IY};

/// The number that means memory, or no register, where registers are numbered.
const MEMORY: u8 = 6;
/// T-states of a fetch.
const FETCH: u32 = 3;
/// T-states of a word pushed or read.
const WORD: u32 = 6;

impl Cpu {
    /// Runs the next instruction of a Z180.
    #[inline(never)]
    pub(crate) fn step_z180<B: Bus>(&mut self, bus: &mut B) -> u32 {
        self.last = LastInstruction::Other;
        match self.fetch(bus) {
            0xCB => {
                let opcode = self.fetch(bus);
                if matches!(opcode, 0x30..=0x37) {
                    return self.trap(bus, false);
                }
                self.q = 0;
                self.bits_by(bus, opcode);
                bit_time(opcode)
            }
            0xDD => self.indexed_z180::<B, IX>(bus),
            0xFD => self.indexed_z180::<B, IY>(bus),
            0xED => self.extended_z180(bus),
            opcode => {
                let is_taken = self.holds(opcode >> 3 & 7);
                let z80_time = self.perform::<B, HL>(bus, opcode);
                plain_time(opcode, z80_time, is_taken)
            }
        }
    }

    /// Begins the service of an on-chip device, by the vector at I and a low byte.
    pub(crate) fn vector_z180<B: Bus>(&mut self, bus: &mut B, low: u8) -> u32 {
        self.push(bus, self.pc);
        self.pc = self.read_word(bus, u16::from_be_bytes([self.i, low]));
        2 * FETCH + 2 * WORD
    }

    /// TRAP. The address pushed is one beyond the start of the instruction, or two for the third
    /// byte (Zilog UM0050, "TRAP").
    fn trap<B: Bus>(&mut self, bus: &mut B, third: bool) -> u32 {
        let (back, fetches) = if third { (2, 4) } else { (1, 2) };
        self.push(bus, self.pc.wrapping_sub(back));
        self.pc = 0;
        self.q = 0;
        bus.on_event(CpuEvent::Trapped { third });
        fetches * FETCH + 6 + WORD
    }

    fn indexed_z180<B: Bus, const X: usize>(&mut self, bus: &mut B) -> u32 {
        let opcode = self.fetch(bus);
        if opcode == 0xCB {
            let address = self.address::<B, X>(bus);
            let opcode = self.next(bus);
            if opcode & 7 != MEMORY || opcode == 0x36 {
                return self.trap(bus, true);
            }
            self.q = 0;
            self.indexed_bits_by(bus, address, opcode);
            return if opcode >> 6 == 1 { 15 } else { 19 };
        }
        match indexed_time(opcode) {
            Some(time) => {
                self.perform::<B, X>(bus, opcode);
                time
            }
            None => self.trap(bus, false),
        }
    }

    fn extended_z180<B: Bus>(&mut self, bus: &mut B) -> u32 {
        let opcode = self.fetch(bus);
        let number = opcode >> 3 & 7;
        self.q = 0;
        let time = match opcode {
            0x31 | 0x71 => return self.trap(bus, false),
            0x00..=0x3F => return self.on_chip_or_test(bus, opcode),
            0x64 | 0x74 => return self.test_immediate(bus, opcode == 0x74),
            0x4C | 0x5C | 0x6C | 0x7C => return self.multiply(number >> 1),
            0x76 => {
                self.halt(bus);
                return 8;
            }
            0x83 | 0x8B | 0x93 | 0x9B => return self.output_block(bus, opcode),
            0x44 | 0x46 | 0x56 | 0x5E | 0x47 | 0x4F | 0x57 | 0x5F => 6,
            0x45 | 0x4D => 12,
            0x67 | 0x6F => 16,
            0x40..=0x7F => match opcode & 7 {
                0 => 9,
                1 | 2 => 10,
                3 if number & 1 == 0 => 19,
                3 => 18,
                _ => return self.trap(bus, false),
            },
            0xA0..=0xBF if opcode & 4 == 0 => 12,
            _ => return self.trap(bus, false),
        };
        let start = self.pc;
        self.extended_by(bus, opcode);
        // A block instruction that repeats has set PC back.
        if opcode >= 0xB0 && self.pc != start { 14 } else { time }
    }

    /// IN0, OUT0, and TST of a register or memory.
    fn on_chip_or_test<B: Bus>(&mut self, bus: &mut B, opcode: u8) -> u32 {
        let number = opcode >> 3 & 7;
        match opcode & 7 {
            0 => {
                let value = bus.input(self.next(bus).into());
                if number != MEMORY {
                    self.file.set(number.into(), value);
                }
                self.set_flags(szp(value) | self.carry());
                12
            }
            1 => {
                let port = self.next(bus).into();
                bus.output(port, self.file.get(number.into()));
                13
            }
            4 if number == MEMORY => {
                let value = bus.read(self.file.pair(HL));
                self.test(self.a() & value);
                10
            }
            4 => {
                self.test(self.a() & self.file.get(number.into()));
                7
            }
            _ => self.trap(bus, false),
        }
    }

    /// TST m, or TSTIO m.
    fn test_immediate<B: Bus>(&mut self, bus: &mut B, is_port: bool) -> u32 {
        let mask = self.next(bus);
        let value = if is_port { bus.input(self.file.get(C).into()) } else { self.a() };
        self.test(value & mask);
        if is_port { 12 } else { 9 }
    }

    fn test(&mut self, result: u8) {
        self.set_flags(szp(result) | H);
    }

    /// MLT: a pair becomes the product of its halves.
    fn multiply(&mut self, pair: u8) -> u32 {
        let product = |word: u16| (word >> 8) * (word & 0xFF);
        match usize::from(2 * pair) {
            6 => self.sp = product(self.sp),
            pair => self.file.set_pair(pair, product(self.file.pair(pair))),
        }
        17
    }

    /// OTIM, OTDM, OTIMR, OTDMR.
    fn output_block<B: Bus>(&mut self, bus: &mut B, opcode: u8) -> u32 {
        let step = if opcode & 0x08 == 0 { 1 } else { u16::MAX };
        let (from, bc) = (self.file.pair(HL), self.file.pair(BC));
        let value = bus.read(from);
        bus.output(bc & 0xFF, value);
        self.file.set_pair(HL, from.wrapping_add(step));
        self.file.set(C, (bc as u8).wrapping_add(step as u8));
        let left = self.file.get(B).wrapping_sub(1);
        self.file.set(B, left);
        self.set_flags(szp(left) | value >> 6 & N);
        if opcode & 0x10 == 0 || left == 0 {
            return 14;
        }
        self.pc = self.pc.wrapping_sub(2);
        16
    }
}

/// T-states of an instruction without prefix, by those of the Z80 if they depend on a condition.
fn plain_time(opcode: u8, z80_time: u32, is_taken: bool) -> u32 {
    match opcode {
        0x00 | 0x76 | 0x07 | 0x0F | 0x17 | 0x1F | 0x2F | 0x37 | 0x3F => 3,
        0xF3 | 0xFB | 0xD9 | 0xEB | 0xE9 => 3,
        0x08 | 0x27 | 0xF9 => 4,
        0x10 => [7, 9][usize::from(z80_time == 13)],
        0x18 => 8,
        0x20 | 0x28 | 0x30 | 0x38 => [6, 8][usize::from(z80_time == 12)],
        0x0A | 0x1A => 6,
        0x02 | 0x12 => 7,
        0x22 => 16,
        0x2A => 15,
        0x32 => 13,
        0x3A => 12,
        0x34 | 0x35 => 10,
        0x36 => 9,
        0x09 | 0x19 | 0x29 | 0x39 => 7,
        0x01 | 0x11 | 0x21 | 0x31 => 9,
        0x00..=0x3F => {
            if opcode & 7 == MEMORY {
                6
            } else {
                4
            }
        }
        0x70..=0x77 => 7,
        0x40..=0xBF => {
            if opcode & 7 == MEMORY {
                6
            } else {
                4
            }
        }
        0xC3 | 0xC9 => 9,
        0xCD | 0xE3 => 16,
        0xD3 => 10,
        0xDB => 9,
        _ => match opcode & 7 {
            0 => [5, 10][usize::from(is_taken)],
            1 => 9,
            2 => [6, 9][usize::from(is_taken)],
            4 => [6, 16][usize::from(is_taken)],
            6 => 6,
            _ => 11,
        },
    }
}

/// T-states of an instruction behind CB.
fn bit_time(opcode: u8) -> u32 {
    match (opcode >> 6 == 1, opcode & 7 == MEMORY) {
        (true, true) => 9,
        (true, false) => 6,
        (false, true) => 13,
        (false, false) => 7,
    }
}

/// T-states of an instruction behind DD or FD; `None` if it is undefined.
fn indexed_time(opcode: u8) -> Option<u32> {
    Some(match opcode {
        0xE9 => 6,
        0x23 | 0x2B | 0xF9 => 7,
        0x09 | 0x19 | 0x29 | 0x39 => 10,
        0x21 | 0xE1 => 12,
        0x46 | 0x4E | 0x56 | 0x5E | 0x66 | 0x6E | 0x7E | 0xE5 => 14,
        0x86 | 0x8E | 0x96 | 0x9E | 0xA6 | 0xAE | 0xB6 | 0xBE => 14,
        0x36 | 0x70..=0x75 | 0x77 => 15,
        0x2A | 0x34 | 0x35 => 18,
        0x22 | 0xE3 => 19,
        _ => return None,
    })
}
