//! Instructions that move, compare, read and write blocks. Those that repeat do so by setting PC
//! back to themselves, so that an interrupt finds them between two bytes.

use crate::bus::Bus;
use crate::cpu::Cpu;
use crate::flags::{C, H, N, PV, S, X, Y, YX, Z, sz, szp, when};
use crate::registers::{B, BC, C as REGISTER_C, DE, HL, L};

/// T-states of one byte.
const BLOCK_T_STATES: u32 = 16;
/// T-states for setting PC back.
const REPEAT_T_STATES: u32 = 5;

/// Bit 3 of the opcode: addresses fall.
const DOWNWARDS: u8 = 0x08;
/// Bit 4 of the opcode: until the count is 0.
const REPEATED: u8 = 0x10;

impl Cpu {
    pub(crate) fn block<B: Bus>(&mut self, bus: &mut B, opcode: u8) -> u32 {
        let step = if opcode & DOWNWARDS == 0 { 1 } else { u16::MAX };
        let repeated = opcode & REPEATED != 0;
        match opcode & 3 {
            0 => self.block_load(bus, step, repeated),
            1 => self.block_compare(bus, step, repeated),
            2 => self.block_input(bus, step, repeated),
            _ => self.block_output(bus, step, repeated),
        }
    }

    fn block_load<B: Bus>(&mut self, bus: &mut B, step: u16, repeated: bool) -> u32 {
        let (from, to) = (self.file.pair(HL), self.file.pair(DE));
        let value = bus.read(from);
        bus.write(to, value);
        self.file.set_pair(HL, from.wrapping_add(step));
        self.file.set_pair(DE, to.wrapping_add(step));
        let more = self.count_down();
        let sum = value.wrapping_add(self.a());
        let kept = self.f() & (S | Z | C);
        self.set_flags(kept | sum & X | sum << 4 & Y | when(more, PV));
        if repeated && more { self.repeat() } else { BLOCK_T_STATES }
    }

    fn block_compare<B: Bus>(&mut self, bus: &mut B, step: u16, repeated: bool) -> u32 {
        let from = self.file.pair(HL);
        let (a, value) = (self.a(), bus.read(from));
        self.file.set_pair(HL, from.wrapping_add(step));
        self.wz = self.wz.wrapping_add(step);
        let more = self.count_down();
        let result = a.wrapping_sub(value);
        let half = (a ^ value ^ result) & H;
        let rest = result.wrapping_sub(half >> 4);
        let found = sz(result) & (S | Z) | rest & X | rest << 4 & Y;
        self.set_flags(found | half | when(more, PV) | N | self.carry());
        if repeated && more && result != 0 { self.repeat() } else { BLOCK_T_STATES }
    }

    fn block_input<B: Bus>(&mut self, bus: &mut B, step: u16, repeated: bool) -> u32 {
        let port = self.file.pair(BC);
        let value = bus.input(port);
        self.wz = port.wrapping_add(step);
        self.file.set(B, self.file.get(B).wrapping_sub(1));
        let to = self.file.pair(HL);
        bus.write(to, value);
        self.file.set_pair(HL, to.wrapping_add(step));
        let other = self.file.get(REGISTER_C).wrapping_add(step as u8);
        self.block_port(value, other, repeated)
    }

    fn block_output<B: Bus>(&mut self, bus: &mut B, step: u16, repeated: bool) -> u32 {
        let from = self.file.pair(HL);
        let value = bus.read(from);
        self.file.set(B, self.file.get(B).wrapping_sub(1));
        let port = self.file.pair(BC);
        bus.output(port, value);
        self.wz = port.wrapping_add(step);
        self.file.set_pair(HL, from.wrapping_add(step));
        self.block_port(value, self.file.get(L), repeated)
    }

    /// The flags of input and output: the processor adds the byte to what else it has at hand.
    fn block_port(&mut self, value: u8, other: u8, repeated: bool) -> u32 {
        let left = self.file.get(B);
        let sum = u16::from(value) + u16::from(other);
        let parity = szp(sum as u8 & 7 ^ left) & PV;
        self.set_flags(sz(left) | value >> 6 & N | when(sum > 0xFF, H | C) | parity);
        if !repeated || left == 0 {
            return BLOCK_T_STATES;
        }
        let time = self.repeat();
        self.set_flags(repeated_port_flags(self.f(), value, left));
        time
    }

    fn count_down(&mut self) -> bool {
        let left = self.file.pair(BC).wrapping_sub(1);
        self.file.set_pair(BC, left);
        left != 0
    }

    /// Sets PC back to the instruction; Y and X are then two bits of PC.
    fn repeat(&mut self) -> u32 {
        self.pc = self.pc.wrapping_sub(2);
        self.wz = self.pc.wrapping_add(1);
        self.set_flags(self.f() & !YX | (self.pc >> 8) as u8 & YX);
        BLOCK_T_STATES + REPEAT_T_STATES
    }
}

/// H and P/V while input or output repeats: they are of the count as the processor changes it once
/// more. Found out by David Banks; the exercisers look at flags only after the last byte.
fn repeated_port_flags(flags: u8, value: u8, left: u8) -> u8 {
    let (next, half) = match (flags & C != 0, flags & N != 0) {
        (false, _) => (left, flags & H),
        (true, true) => (left.wrapping_sub(1), when(left & 0x0F == 0, H)),
        (true, false) => (left.wrapping_add(1), when(left & 0x0F == 0x0F, H)),
    };
    debug_assert_eq!(flags & N != 0, value & 0x80 != 0);
    let odd = !szp(next & 7) & PV;
    (flags & !H | half) ^ odd
}
