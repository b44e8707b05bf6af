//! The public register set, and the processor's internal representation.

/// All registers that a program can see.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is the register of that name; `_alt` is the second set")]
pub struct Registers {
    pub af: u16,
    pub bc: u16,
    pub de: u16,
    pub hl: u16,
    pub ix: u16,
    pub iy: u16,
    pub sp: u16,
    pub pc: u16,
    pub af_alt: u16,
    pub bc_alt: u16,
    pub de_alt: u16,
    pub hl_alt: u16,
    pub i: u8,
    pub r: u8,
}

/// Places of the registers in the file: as opcodes number them, F where they mean memory.
pub(crate) const B: usize = 0;
pub(crate) const C: usize = 1;
pub(crate) const H: usize = 4;
pub(crate) const L: usize = 5;
pub(crate) const F: usize = 6;
pub(crate) const A: usize = 7;

/// Pairs, by the place of their high byte; the low byte is the next.
pub(crate) const BC: usize = 0;
pub(crate) const DE: usize = 2;
pub(crate) const HL: usize = 4;
pub(crate) const IX: usize = 8;
pub(crate) const IY: usize = 10;

/// A register in a word of its own. Were two neighbours bytes of one word, the compiler would read
/// them as a pair in one go, and the computer's processor wait for the stores of both.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(align(4))]
struct Cell(u8);

/// The registers of eight bits. There are sixteen places so that no index is out of bounds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RegisterFile([Cell; 16]);

impl RegisterFile {
    #[inline(always)]
    pub(crate) fn get(&self, place: usize) -> u8 {
        self.0[place & 15].0
    }

    #[inline(always)]
    pub(crate) fn set(&mut self, place: usize, value: u8) {
        self.0[place & 15].0 = value;
    }

    #[inline(always)]
    pub(crate) fn pair(&self, high: usize) -> u16 {
        u16::from_be_bytes([self.get(high), self.get(high + 1)])
    }

    #[inline(always)]
    pub(crate) fn set_pair(&mut self, high: usize, value: u16) {
        let [upper, lower] = value.to_be_bytes();
        self.set(high, upper);
        self.set(high + 1, lower);
    }

    #[inline(always)]
    pub(crate) fn swap_pairs(&mut self, first: usize, second: usize) {
        self.0.swap(first, second);
        self.0.swap(first + 1, second + 1);
    }

    #[inline(always)]
    pub(crate) fn af(&self) -> u16 {
        u16::from_be_bytes([self.get(A), self.get(F)])
    }

    #[inline(always)]
    pub(crate) fn set_af(&mut self, value: u16) {
        let [a, f] = value.to_be_bytes();
        self.set(A, a);
        self.set(F, f);
    }

    /// Exchanges places with the second set: those from `first` to `last`.
    #[inline(always)]
    pub(crate) fn swap(&mut self, other: &mut Self, first: usize, last: usize) {
        self.0[first..=last].swap_with_slice(&mut other.0[first..=last]);
    }
}
