//! Memory and ports of an RC2014 Classic: which chip answers where.

use std::cell::{Cell, RefCell};
use std::ops::RangeInclusive;

use super::acia::Acia;
use super::cpu::Bus;

/// What a read of an address or port that nothing drives gives. Real boards differ; one was seen to read 78h.
pub(super) const FLOATING: u8 = 0x78;

/// Memory and devices.
pub struct BoardBus {
    memory: Box<[u8; 0x1_0000]>,
    ram: RangeInclusive<u16>,
    /// The serial chip.
    pub(super) acia: RefCell<Acia>,
    /// The time at which the running instruction began, in T-states.
    pub(super) now: Cell<u64>,
    /// Whether a device was touched since this was last looked at.
    pub(super) touched: Cell<bool>,
}

impl BoardBus {
    /// A bus on which nothing but RAM of random content answers; `seed` chooses the content.
    #[must_use]
    pub fn new(ram: RangeInclusive<u16>, seed: u64, clocks_ratio: u32) -> Self {
        let mut bus = Self {
            memory: Box::new([FLOATING; 0x1_0000]),
            ram,
            acia: RefCell::new(Acia::new(clocks_ratio)),
            now: Cell::new(0),
            touched: Cell::new(false),
        };
        bus.scramble(seed);
        bus
    }

    /// Fills RAM with what a power-up leaves there: anything.
    pub(super) fn scramble(&mut self, seed: u64) {
        let mut state = seed | 1;
        for address in self.ram.clone() {
            // xorshift64 (Marsaglia, 2003): quick, and the same for the same seed.
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            self.memory[usize::from(address)] = state as u8;
        }
    }

    /// Puts bytes into memory, ROM as well: what a programmer or a test does, not the processor. What passes
    /// FFFFh is left out.
    pub fn load(&mut self, address: u16, bytes: &[u8]) {
        let start = usize::from(address);
        let count = bytes.len().min(self.memory.len() - start);
        self.memory[start..start + count].copy_from_slice(&bytes[..count]);
    }

    /// All of memory, from address 0.
    #[must_use]
    pub fn memory(&self) -> &[u8; 0x1_0000] {
        &self.memory
    }

    /// A copy of `count` bytes of memory from `address`, wrapping at FFFFh.
    #[must_use]
    pub fn dump(&self, address: u16, count: usize) -> Vec<u8> {
        (0..count).map(|i| self.read(address.wrapping_add(i as u16))).collect()
    }
}

impl Bus for BoardBus {
    #[inline]
    fn read(&self, address: u16) -> u8 {
        self.memory[usize::from(address)]
    }

    #[inline]
    fn write(&mut self, address: u16, value: u8) {
        if self.ram.contains(&address) {
            self.memory[usize::from(address)] = value;
        }
    }

    fn input(&self, port: u16) -> u8 {
        match register(port) {
            Some(Register::Status) => self.acia.borrow().status(),
            Some(Register::Data) => {
                self.touched.set(true);
                self.acia.borrow_mut().read()
            }
            None => FLOATING,
        }
    }

    fn output(&mut self, port: u16, value: u8) {
        let now = self.now.get();
        match register(port) {
            Some(Register::Status) => self.acia.get_mut().set_control(value),
            Some(Register::Data) => self.acia.get_mut().write(value, now),
            None => return,
        }
        self.touched.set(true);
    }
}

/// The two registers of the serial chip.
enum Register {
    Status,
    Data,
}

/// RC2014's serial module decodes A7, A6 and A0 only, so that the chip answers from 80h to BFh.
fn register(port: u16) -> Option<Register> {
    match port as u8 & 0xC1 {
        0x80 => Some(Register::Status),
        0x81 => Some(Register::Data),
        _ => None,
    }
}
