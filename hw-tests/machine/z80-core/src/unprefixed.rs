//! Instructions without prefix, and with DD or FD, which replace HL by IX or IY.

use crate::bus::{Bus, CpuEvent};
use crate::cpu::{Cpu, LastInstruction};
use crate::flags::{C, H, PV, S, Z};
use crate::registers::{A, B, BC, DE, F, H as REGISTER_H, HL, IX, IY, L};

/// T-states that an address of the form IX+d takes.
const DISPLACEMENT: u32 = 8;
/// The flag that each pair of conditions tests.
const CONDITIONS: [u8; 4] = [Z, C, PV, S];

impl Cpu {
    /// Runs the instruction of an opcode that was fetched; `X` is the pair that HL means.
    ///
    /// One match, which becomes one jump: the table of the instruction set.
    #[inline(always)]
    #[rustfmt::skip]
    pub(crate) fn execute<B: Bus, const X: usize>(&mut self, bus: &mut B, opcode: u8) -> u32 {
        let (number, place) = (opcode >> 3 & 7, usize::from(opcode & 7));
        let last_q = std::mem::take(&mut self.q);
        match opcode {
            0x00 => 4,
            0x08 => { self.file.swap(&mut self.alt, F, A); 4 }
            0x10 => self.count_and_jump(bus),
            0x18 => self.jump_relative(bus, true),
            0x20 | 0x28 | 0x30 | 0x38 => self.jump_relative(bus, self.holds(number & 3)),

            0x01 => { let word = self.next_word(bus); self.file.set_pair(BC, word); 10 }
            0x11 => { let word = self.next_word(bus); self.file.set_pair(DE, word); 10 }
            0x21 => { let word = self.next_word(bus); self.file.set_pair(X, word); 10 }
            0x31 => { self.sp = self.next_word(bus); 10 }
            0x09 => self.add_to::<X>(self.file.pair(BC)),
            0x19 => self.add_to::<X>(self.file.pair(DE)),
            0x29 => self.add_to::<X>(self.file.pair(X)),
            0x39 => self.add_to::<X>(self.sp),

            0x02 => self.store_a(bus, self.file.pair(BC), 7),
            0x12 => self.store_a(bus, self.file.pair(DE), 7),
            0x32 => { let address = self.next_word(bus); self.store_a(bus, address, 13) }
            0x0A => self.fetch_a(bus, self.file.pair(BC), 7),
            0x1A => self.fetch_a(bus, self.file.pair(DE), 7),
            0x3A => { let address = self.next_word(bus); self.fetch_a(bus, address, 13) }
            0x22 => { let at = self.pointer(bus); self.write_word(bus, at, self.file.pair(X)); 16 }
            0x2A => { let word = self.pointed(bus); self.file.set_pair(X, word); 16 }

            0x03 => self.step_pair(BC, 1),
            0x13 => self.step_pair(DE, 1),
            0x23 => self.step_pair(X, 1),
            0x33 => { self.sp = self.sp.wrapping_add(1); 6 }
            0x0B => self.step_pair(BC, u16::MAX),
            0x1B => self.step_pair(DE, u16::MAX),
            0x2B => self.step_pair(X, u16::MAX),
            0x3B => { self.sp = self.sp.wrapping_sub(1); 6 }

            0x34 => self.change_memory::<B, X>(bus, Self::increment),
            0x35 => self.change_memory::<B, X>(bus, Self::decrement),
            0x04 | 0x0C | 0x14 | 0x1C | 0x24 | 0x2C | 0x3C => {
                let place = half::<X>(number.into());
                let value = self.increment(self.file.get(place));
                self.file.set(place, value);
                4
            }
            0x05 | 0x0D | 0x15 | 0x1D | 0x25 | 0x2D | 0x3D => {
                let place = half::<X>(number.into());
                let value = self.decrement(self.file.get(place));
                self.file.set(place, value);
                4
            }

            0x36 => self.store_immediate::<B, X>(bus),
            0x06 | 0x0E | 0x16 | 0x1E | 0x26 | 0x2E | 0x3E => {
                let value = self.next(bus);
                self.file.set(half::<X>(number.into()), value);
                7
            }

            0x07 => { let a = self.a(); self.rotate_a(a.rotate_left(1), a >> 7); 4 }
            0x0F => { let a = self.a(); self.rotate_a(a.rotate_right(1), a & 1); 4 }
            0x17 => { let a = self.a(); self.rotate_a(a << 1 | self.carry(), a >> 7); 4 }
            0x1F => { let a = self.a(); self.rotate_a(a >> 1 | self.carry() << 7, a & 1); 4 }
            0x27 => { self.decimal_adjust(); 4 }
            0x2F => { self.complement(); 4 }
            0x37 => { self.set_carry(last_q, C); 4 }
            0x3F => { let c = self.carry(); self.set_carry(last_q, if c == 0 { C } else { H }); 4 }

            0x76 => self.halt(bus),
            0x46 | 0x4E | 0x56 | 0x5E | 0x66 | 0x6E | 0x7E => {
                let address = self.address::<B, X>(bus);
                self.file.set(number.into(), bus.read(address));
                7 + displacement::<X>()
            }
            0x70..=0x77 => {
                let address = self.address::<B, X>(bus);
                bus.write(address, self.file.get(place));
                7 + displacement::<X>()
            }
            0x40..=0x7F => {
                let value = self.file.get(half::<X>(place));
                self.file.set(half::<X>(number.into()), value);
                4
            }

            0x86 | 0x8E | 0x96 | 0x9E | 0xA6 | 0xAE | 0xB6 | 0xBE => {
                let address = self.address::<B, X>(bus);
                self.calculate(number, bus.read(address));
                7 + displacement::<X>()
            }
            0x80..=0x87 => { self.add(self.file.get(half::<X>(place)), 0); 4 }
            0x88..=0x8F => { self.add(self.file.get(half::<X>(place)), self.carry()); 4 }
            0x90..=0x97 => { self.sub(self.file.get(half::<X>(place)), 0); 4 }
            0x98..=0x9F => { self.sub(self.file.get(half::<X>(place)), self.carry()); 4 }
            0xA0..=0xA7 => { self.and(self.file.get(half::<X>(place))); 4 }
            0xA8..=0xAF => { self.xor(self.file.get(half::<X>(place))); 4 }
            0xB0..=0xB7 => { self.or(self.file.get(half::<X>(place))); 4 }
            0xB8..=0xBF => { self.compare(self.file.get(half::<X>(place))); 4 }
            0xC6 | 0xCE | 0xD6 | 0xDE | 0xE6 | 0xEE | 0xF6 | 0xFE => {
                let value = self.next(bus);
                self.calculate(number, value);
                7
            }

            0xC0 | 0xC8 | 0xD0 | 0xD8 | 0xE0 | 0xE8 | 0xF0 | 0xF8 => {
                if self.holds(number) { 1 + self.ret(bus) } else { 5 }
            }
            0xC9 => self.ret(bus),
            0xC2 | 0xCA | 0xD2 | 0xDA | 0xE2 | 0xEA | 0xF2 | 0xFA => {
                self.jump(bus, self.holds(number))
            }
            0xC3 => self.jump(bus, true),
            0xE9 => { self.pc = self.file.pair(X); 4 }
            0xC4 | 0xCC | 0xD4 | 0xDC | 0xE4 | 0xEC | 0xF4 | 0xFC => {
                self.call(bus, self.holds(number))
            }
            0xCD => self.call(bus, true),
            0xC7 | 0xCF | 0xD7 | 0xDF | 0xE7 | 0xEF | 0xF7 | 0xFF => {
                self.push_pc(bus, u16::from(opcode & 0x38));
                11
            }

            0xC1 => { let word = self.pop(bus); self.file.set_pair(BC, word); 10 }
            0xD1 => { let word = self.pop(bus); self.file.set_pair(DE, word); 10 }
            0xE1 => { let word = self.pop(bus); self.file.set_pair(X, word); 10 }
            0xF1 => { let word = self.pop(bus); self.file.set_af(word); 10 }
            0xC5 => { self.push(bus, self.file.pair(BC)); 11 }
            0xD5 => { self.push(bus, self.file.pair(DE)); 11 }
            0xE5 => { self.push(bus, self.file.pair(X)); 11 }
            0xF5 => { self.push(bus, self.file.af()); 11 }

            0xD9 => { self.file.swap(&mut self.alt, B, L); 4 }
            0xE3 => self.exchange_with_stack::<B, X>(bus),
            0xEB => { self.file.swap_pairs(DE, HL); 4 }
            0xF9 => { self.sp = self.file.pair(X); 6 }

            0xD3 => self.output_a(bus),
            0xDB => self.input_a(bus),
            0xF3 => self.disable(bus),
            0xFB => self.enable(bus),

            0xCB if X == HL => self.bits(bus),
            0xCB => { let address = self.address::<B, X>(bus); self.indexed_bits(bus, address) }
            0xDD => self.indexed::<B, IX>(bus, last_q),
            0xED => self.extended(bus),
            0xFD => self.indexed::<B, IY>(bus, last_q),
        }
    }

    /// The instruction behind DD or FD.
    #[inline(never)]
    fn indexed<B: Bus, const X: usize>(&mut self, bus: &mut B, last_q: u8) -> u32 {
        let opcode = self.fetch(bus);
        self.q = last_q;
        if matches!(opcode, 0xDD | 0xED | 0xFD) {
            self.unfetch();
            self.last = LastInstruction::DelaysInterrupt;
            return 4;
        }
        4 + self.execute::<B, X>(bus, opcode)
    }

    /// The operations of A in the order of their numbers.
    #[inline(always)]
    fn calculate(&mut self, number: u8, value: u8) {
        match number {
            0 => self.add(value, 0),
            1 => self.add(value, self.carry()),
            2 => self.sub(value, 0),
            3 => self.sub(value, self.carry()),
            4 => self.and(value),
            5 => self.xor(value),
            6 => self.or(value),
            _ => self.compare(value),
        }
    }

    #[inline(always)]
    pub(crate) fn holds(&self, condition: u8) -> bool {
        let flag = CONDITIONS[usize::from(condition >> 1 & 3)];
        (self.f() & flag != 0) == (condition & 1 == 1)
    }

    /// The address that (HL) means.
    #[inline(always)]
    pub(crate) fn address<B: Bus, const X: usize>(&mut self, bus: &B) -> u16 {
        let base = self.file.pair(X);
        if X == HL {
            return base;
        }
        self.wz = base.wrapping_add_signed(i16::from(self.next(bus) as i8));
        self.wz
    }

    #[inline(always)]
    fn pointer<B: Bus>(&mut self, bus: &B) -> u16 {
        let address = self.next_word(bus);
        self.wz = address.wrapping_add(1);
        address
    }

    #[inline(always)]
    fn pointed<B: Bus>(&mut self, bus: &B) -> u16 {
        let address = self.pointer(bus);
        self.read_word(bus, address)
    }

    #[inline(always)]
    fn store_a<B: Bus>(&mut self, bus: &mut B, address: u16, time: u32) -> u32 {
        let a = self.a();
        bus.write(address, a);
        self.wz = u16::from_be_bytes([a, (address as u8).wrapping_add(1)]);
        time
    }

    #[inline(always)]
    fn fetch_a<B: Bus>(&mut self, bus: &B, address: u16, time: u32) -> u32 {
        self.set_a(bus.read(address));
        self.wz = address.wrapping_add(1);
        time
    }

    #[inline(always)]
    fn store_immediate<B: Bus, const X: usize>(&mut self, bus: &mut B) -> u32 {
        let address = self.address::<B, X>(bus);
        let value = self.next(bus);
        bus.write(address, value);
        // The byte is fetched while the processor adds the displacement.
        if X == HL { 10 } else { 10 + DISPLACEMENT - 3 }
    }

    #[inline(always)]
    fn change_memory<B: Bus, const X: usize>(
        &mut self,
        bus: &mut B,
        change: impl Fn(&mut Self, u8) -> u8,
    ) -> u32 {
        let address = self.address::<B, X>(bus);
        let value = change(self, bus.read(address));
        bus.write(address, value);
        11 + displacement::<X>()
    }

    #[inline(always)]
    fn add_to<const X: usize>(&mut self, value: u16) -> u32 {
        let sum = self.add_pair(self.file.pair(X), value);
        self.file.set_pair(X, sum);
        11
    }

    #[inline(always)]
    fn step_pair(&mut self, pair: usize, by: u16) -> u32 {
        self.file.set_pair(pair, self.file.pair(pair).wrapping_add(by));
        6
    }

    #[inline(always)]
    fn jump_relative<B: Bus>(&mut self, bus: &B, jumps: bool) -> u32 {
        let offset = i16::from(self.next(bus) as i8);
        if !jumps {
            return 7;
        }
        self.pc = self.pc.wrapping_add_signed(offset);
        self.wz = self.pc;
        12
    }

    #[inline(always)]
    fn count_and_jump<B: Bus>(&mut self, bus: &B) -> u32 {
        let left = self.file.get(B).wrapping_sub(1);
        self.file.set(B, left);
        1 + self.jump_relative(bus, left != 0)
    }

    #[inline(always)]
    fn jump<B: Bus>(&mut self, bus: &B, jumps: bool) -> u32 {
        self.wz = self.next_word(bus);
        if jumps {
            self.pc = self.wz;
        }
        10
    }

    #[inline(always)]
    fn call<B: Bus>(&mut self, bus: &mut B, calls: bool) -> u32 {
        self.wz = self.next_word(bus);
        if !calls {
            return 10;
        }
        self.push_pc(bus, self.wz);
        17
    }

    #[inline(always)]
    pub(crate) fn ret<B: Bus>(&mut self, bus: &B) -> u32 {
        self.pc = self.pop(bus);
        self.wz = self.pc;
        10
    }

    #[inline(always)]
    fn exchange_with_stack<B: Bus, const X: usize>(&mut self, bus: &mut B) -> u32 {
        let value = self.read_word(bus, self.sp);
        let [low, high] = self.file.pair(X).to_le_bytes();
        bus.write(self.sp.wrapping_add(1), high);
        bus.write(self.sp, low);
        self.file.set_pair(X, value);
        self.wz = value;
        19
    }

    #[inline(always)]
    fn output_a<B: Bus>(&mut self, bus: &mut B) -> u32 {
        let (a, port) = (self.a(), self.next(bus));
        bus.output(u16::from_be_bytes([a, port]), a);
        self.wz = u16::from_be_bytes([a, port.wrapping_add(1)]);
        11
    }

    #[inline(always)]
    fn input_a<B: Bus>(&mut self, bus: &B) -> u32 {
        let port = u16::from_be_bytes([self.a(), self.next(bus)]);
        self.set_a(bus.input(port));
        self.wz = port.wrapping_add(1);
        11
    }

    #[inline(always)]
    pub(crate) fn halt<B: Bus>(&mut self, bus: &mut B) -> u32 {
        self.halted = true;
        self.pc = self.pc.wrapping_sub(1);
        bus.on_event(CpuEvent::Halted);
        4
    }

    #[inline(always)]
    fn disable<B: Bus>(&mut self, bus: &mut B) -> u32 {
        (self.iff1, self.iff2) = (false, false);
        bus.on_event(CpuEvent::Disabled);
        4
    }

    /// Interrupts are accepted after the next instruction, so that RET gets by.
    #[inline(always)]
    fn enable<B: Bus>(&mut self, bus: &mut B) -> u32 {
        (self.iff1, self.iff2) = (true, true);
        self.last = LastInstruction::DelaysInterrupt;
        bus.on_event(CpuEvent::Enabled);
        4
    }
}

/// Returns the register of a number if IX or IY replaces HL.
#[inline(always)]
fn half<const X: usize>(place: usize) -> usize {
    match place {
        REGISTER_H | L if X != HL => place - HL + X,
        _ => place,
    }
}

/// The time that an address of the form IX+d takes.
#[inline(always)]
const fn displacement<const X: usize>() -> u32 {
    if X == HL { 0 } else { DISPLACEMENT }
}
