//! Instructions behind ED.

use crate::bus::{Bus, CpuEvent};
use crate::cpu::{Cpu, LastInstruction};
use crate::flags::{C, PV, sz, szp, when};
use crate::registers::{BC, F, HL};

/// The number that means no register where registers are numbered.
const NONE: usize = 6;

impl Cpu {
    /// Codes that mean nothing do nothing, for eight T-states.
    pub(crate) fn extended<B: Bus>(&mut self, bus: &mut B) -> u32 {
        let opcode = self.fetch(bus);
        self.extended_by(bus, opcode)
    }

    /// The instruction behind ED whose opcode was fetched.
    #[inline(always)]
    pub(crate) fn extended_by<B: Bus>(&mut self, bus: &mut B, opcode: u8) -> u32 {
        let number = opcode >> 3 & 7;
        match (opcode >> 6, opcode & 7) {
            (1, 0) => self.input_register(bus, number),
            (1, 1) => self.output_register(bus, number),
            (1, 2) => self.add_with_carry(number),
            (1, 3) => self.load_pair(bus, number),
            (1, 4) => {
                self.negate();
                8
            }
            (1, 5) => self.return_from_service(bus, number),
            (1, 6) => {
                self.mode = [0, 0, 1, 2][usize::from(number & 3)];
                8
            }
            (1, 7) => self.special(bus, number),
            (2, 0..=3) if number >= 4 => self.block(bus, opcode),
            _ => 8,
        }
    }

    /// IN r,(C); the one without register sets the flags only.
    fn input_register<B: Bus>(&mut self, bus: &mut B, number: u8) -> u32 {
        let port = self.file.pair(BC);
        let value = bus.input(port);
        self.wz = port.wrapping_add(1);
        if usize::from(number) != NONE {
            self.file.set(number.into(), value);
        }
        self.set_flags(szp(value) | self.carry());
        12
    }

    /// OUT (C),r; the one without register puts out 0.
    fn output_register<B: Bus>(&mut self, bus: &mut B, number: u8) -> u32 {
        let port = self.file.pair(BC);
        let number = usize::from(number);
        bus.output(port, if number == NONE { 0 } else { self.file.get(number) });
        self.wz = port.wrapping_add(1);
        12
    }

    /// SBC HL,ss and ADC HL,ss.
    fn add_with_carry(&mut self, number: u8) -> u32 {
        let (first, second) = (self.file.pair(HL), self.pair_or_sp(number >> 1));
        let result = if number & 1 == 0 {
            self.subtract_pair(first, second)
        } else {
            self.add_pair_with_carry(first, second)
        };
        self.file.set_pair(HL, result);
        15
    }

    /// LD (nn),dd and LD dd,(nn).
    fn load_pair<B: Bus>(&mut self, bus: &mut B, number: u8) -> u32 {
        let address = self.next_word(bus);
        self.wz = address.wrapping_add(1);
        if number & 1 == 0 {
            self.write_word(bus, address, self.pair_or_sp(number >> 1));
        } else {
            let value = self.read_word(bus, address);
            match number >> 1 {
                3 => self.sp = value,
                pair => self.file.set_pair(usize::from(2 * pair), value),
            }
        }
        20
    }

    fn pair_or_sp(&self, pair: u8) -> u16 {
        if pair == 3 { self.sp } else { self.file.pair(usize::from(2 * pair)) }
    }

    /// RETN and RETI, which does the same; only ED 4D is known to devices.
    fn return_from_service<B: Bus>(&mut self, bus: &mut B, number: u8) -> u32 {
        self.iff1 = self.iff2;
        let time = self.ret(bus);
        bus.on_event(if number == 1 { CpuEvent::Returned } else { CpuEvent::Enabled });
        4 + time
    }

    /// LD with I and R, RRD, RLD.
    fn special<B: Bus>(&mut self, bus: &mut B, number: u8) -> u32 {
        match number {
            0 => self.i = self.a(),
            1 => self.set_r(self.a()),
            2 => self.load_a(self.i),
            3 => self.load_a(self.r()),
            4 | 5 => return self.rotate_digits_of_memory(bus, number == 4),
            _ => return 8,
        }
        9
    }

    fn load_a(&mut self, value: u8) {
        self.set_a(value);
        self.last = LastInstruction::ReadIff2;
        self.set_flags(sz(value) | when(self.iff2, PV) | self.file.get(F) & C);
    }

    fn rotate_digits_of_memory<B: Bus>(&mut self, bus: &mut B, right: bool) -> u32 {
        let address = self.file.pair(HL);
        let (a, value) = (self.a(), bus.read(address));
        let (digit, rotated) = if right {
            (value & 0x0F, value >> 4 | a << 4)
        } else {
            (value >> 4, value << 4 | a & 0x0F)
        };
        bus.write(address, rotated);
        self.wz = address.wrapping_add(1);
        self.rotate_digits(a & 0xF0 | digit, rotated);
        18
    }
}
