//! Arithmetic, logic and rotations: results and flags.

use crate::cpu::Cpu;
use crate::flags::{C, H, N, PV, S, X, Y, YX, Z, sz, szp, when};

impl Cpu {
    #[inline(always)]
    pub(crate) fn add(&mut self, value: u8, carry: u8) {
        let a = self.a();
        let sum = u16::from(a) + u16::from(value) + u16::from(carry);
        let result = sum as u8;
        let overflow = ((a ^ result) & (value ^ result)) >> 5 & PV;
        self.set_a(result);
        self.set_flags(sz(result) | (a ^ value ^ result) & H | overflow | (sum >> 8) as u8);
    }

    /// Returns A less the value, and sets the flags.
    #[inline(always)]
    fn difference(&mut self, value: u8, carry: u8, undocumented: impl Fn(u8) -> u8) -> u8 {
        let a = self.a();
        let difference = u16::from(a).wrapping_sub(u16::from(value) + u16::from(carry));
        let result = difference as u8;
        let overflow = ((a ^ value) & (a ^ result)) >> 5 & PV;
        let borrow = (difference >> 8) as u8 & C;
        let kept = sz(result) & !YX | undocumented(result) & YX;
        self.set_flags(kept | (a ^ value ^ result) & H | overflow | N | borrow);
        result
    }

    #[inline(always)]
    pub(crate) fn sub(&mut self, value: u8, carry: u8) {
        let result = self.difference(value, carry, |result| result);
        self.set_a(result);
    }

    /// Y and X of a comparison are the operand's.
    #[inline(always)]
    pub(crate) fn compare(&mut self, value: u8) {
        self.difference(value, 0, |_| value);
    }

    #[inline(always)]
    pub(crate) fn and(&mut self, value: u8) {
        let result = self.a() & value;
        self.set_a(result);
        self.set_flags(szp(result) | H);
    }

    #[inline(always)]
    pub(crate) fn xor(&mut self, value: u8) {
        let result = self.a() ^ value;
        self.set_a(result);
        self.set_flags(szp(result));
    }

    #[inline(always)]
    pub(crate) fn or(&mut self, value: u8) {
        let result = self.a() | value;
        self.set_a(result);
        self.set_flags(szp(result));
    }

    #[inline(always)]
    pub(crate) fn increment(&mut self, value: u8) -> u8 {
        let result = value.wrapping_add(1);
        let overflow = when(result == 0x80, PV);
        self.set_flags(self.f() & C | sz(result) | (value ^ result) & H | overflow);
        result
    }

    #[inline(always)]
    pub(crate) fn decrement(&mut self, value: u8) -> u8 {
        let result = value.wrapping_sub(1);
        let overflow = when(result == 0x7F, PV);
        self.set_flags(self.f() & C | sz(result) | (value ^ result) & H | overflow | N);
        result
    }

    #[inline(always)]
    pub(crate) fn carry(&self) -> u8 {
        self.f() & C
    }

    /// ADD HL,ss and its indexed forms: S, Z and P/V stay.
    #[inline(always)]
    pub(crate) fn add_pair(&mut self, first: u16, second: u16) -> u16 {
        let sum = u32::from(first) + u32::from(second);
        let result = sum as u16;
        self.wz = first.wrapping_add(1);
        let half = ((first ^ second ^ result) >> 8) as u8 & H;
        let kept = self.f() & (S | Z | PV);
        self.set_flags(kept | (result >> 8) as u8 & YX | half | (sum >> 16) as u8);
        result
    }

    /// ADC HL,ss.
    pub(crate) fn add_pair_with_carry(&mut self, first: u16, second: u16) -> u16 {
        let sum = u32::from(first) + u32::from(second) + u32::from(self.carry());
        let result = sum as u16;
        let overflow = ((first ^ result) & (second ^ result)) >> 13;
        self.pair_flags(first, second, result, overflow as u8 & PV | (sum >> 16) as u8);
        result
    }

    /// SBC HL,ss.
    pub(crate) fn subtract_pair(&mut self, first: u16, second: u16) -> u16 {
        let taken = u32::from(second) + u32::from(self.carry());
        let difference = u32::from(first).wrapping_sub(taken);
        let result = difference as u16;
        let overflow = ((first ^ second) & (first ^ result)) >> 13;
        let borrow = (difference >> 16) as u8 & C;
        self.pair_flags(first, second, result, overflow as u8 & PV | borrow | N);
        result
    }

    fn pair_flags(&mut self, first: u16, second: u16, result: u16, others: u8) {
        self.wz = first.wrapping_add(1);
        let high = (result >> 8) as u8 & (S | YX);
        let half = ((first ^ second ^ result) >> 8) as u8 & H;
        self.set_flags(high | when(result == 0, Z) | half | others);
    }

    /// Rotations and shifts of CB, by their number in the opcode.
    #[inline(always)]
    pub(crate) fn rotate(&mut self, which: u8, value: u8) -> u8 {
        let carry = self.carry();
        let (result, out) = match which {
            0 => (value.rotate_left(1), value >> 7),
            1 => (value.rotate_right(1), value & 1),
            2 => (value << 1 | carry, value >> 7),
            3 => (value >> 1 | carry << 7, value & 1),
            4 => (value << 1, value >> 7),
            5 => (value >> 1 | value & 0x80, value & 1),
            6 => (value << 1 | 1, value >> 7),
            _ => (value >> 1, value & 1),
        };
        self.set_flags(szp(result) | out);
        result
    }

    /// RLCA and its like: S, Z and P/V stay.
    #[inline(always)]
    pub(crate) fn rotate_a(&mut self, result: u8, out: u8) {
        self.set_a(result);
        self.set_flags(self.f() & (S | Z | PV) | result & YX | out);
    }

    pub(crate) fn decimal_adjust(&mut self) {
        let (a, f) = (self.a(), self.f());
        // After a subtraction, a Z180 looks at the flags only (Zilog's questions and answers).
        let by_digits = !(self.is_z180 && f & N != 0);
        let low = when(f & H != 0 || by_digits && a & 0x0F > 9, 0x06);
        let high = when(f & C != 0 || by_digits && a > 0x99, 0x60);
        let by = low | high;
        let result = if f & N != 0 { a.wrapping_sub(by) } else { a.wrapping_add(by) };
        self.set_a(result);
        self.set_flags(szp(result) | (a ^ result) & H | f & N | when(high != 0, C));
    }

    #[inline(always)]
    pub(crate) fn complement(&mut self) {
        let result = !self.a();
        self.set_a(result);
        self.set_flags(self.f() & (S | Z | PV | C) | result & YX | H | N);
    }

    /// SCF and CCF. Y and X are those of A, and stay set in F if the instruction before left F
    /// alone.
    #[inline(always)]
    pub(crate) fn set_carry(&mut self, last_q: u8, half_and_carry: u8) {
        let f = self.f();
        let undocumented = (last_q ^ f | self.a()) & YX;
        self.set_flags(f & (S | Z | PV) | undocumented | half_and_carry);
    }

    pub(crate) fn negate(&mut self) {
        let value = self.a();
        self.set_a(0);
        self.sub(value, 0);
    }

    /// RRD and RLD: S, Z, Y, X and parity of A, on a Z180 of the byte in memory.
    pub(crate) fn rotate_digits(&mut self, a: u8, byte: u8) {
        self.set_a(a);
        self.set_flags(szp(if self.is_z180 { byte } else { a }) | self.carry());
    }

    /// BIT: S of bit 7 only, Y and X from wherever they come.
    #[inline(always)]
    pub(crate) fn test_bit(&mut self, bit: u8, value: u8, undocumented: u8) {
        let tested = value & 1 << bit;
        let flags = sz(tested) & (S | Z) | when(tested == 0, PV);
        self.set_flags(flags | undocumented & (Y | X) | H | self.carry());
    }
}
