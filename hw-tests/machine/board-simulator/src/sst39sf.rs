//! The flash chips SST39SF010A, 020A and 040, after their data sheet (Microchip DS20005022):
//! command sequences, timing, status bits while busy, and the effect of a power cut.

use std::cell::Cell;

use super::noise::Noise;

/// The number of bytes in a sector of an SST39SF0x0: the smallest unit that can be erased.
pub const SECTOR_BYTES: usize = 0x1000;
/// The value of an erased byte.
const ERASED: u8 = 0xFF;
/// The manufacturer's code, Silicon Storage Technology.
const MANUFACTURER: u8 = 0xBF;
/// Commands are decoded from A14 to A0.
const COMMAND_MASK: usize = 0x7FFF;
const FIRST: usize = 0x5555;
const SECOND: usize = 0x2AAA;
/// The maximum times of the data sheet, in microseconds. A program that does not wait that long
/// would fail on some chips.
const PROGRAM_US: u64 = 20;
const SECTOR_ERASE_US: u64 = 25_000;
const CHIP_ERASE_US: u64 = 100_000;

/// A chip of the family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SstModel {
    /// 128 KiB.
    Sf010a,
    /// 256 KiB.
    Sf020a,
    /// 512 KiB.
    Sf040,
}

impl SstModel {
    /// Returns the size in bytes.
    #[must_use]
    pub fn size(self) -> usize {
        match self {
            Self::Sf010a => 0x2_0000,
            Self::Sf020a => 0x4_0000,
            Self::Sf040 => 0x8_0000,
        }
    }

    /// Returns the device code.
    #[must_use]
    pub fn device(self) -> u8 {
        match self {
            Self::Sf010a => 0xB5,
            Self::Sf020a => 0xB6,
            Self::Sf040 => 0xB7,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Command {
    None,
    Unlocked1,
    Unlocked2,
    Program,
    Erase,
    EraseUnlocked1,
    EraseUnlocked2,
}

/// The operation in progress, with the previous content for a power cut.
#[derive(Debug, Clone)]
struct Operation {
    begins: u64,
    ends: u64,
    /// DQ7 while the operation is in progress.
    bit7: u8,
    first: usize,
    old: Vec<u8>,
}

/// A flash chip. Times are T-states of the processor clock.
#[derive(Debug, Clone)]
pub struct Sst39sf {
    model: SstModel,
    clock_hz: u64,
    cells: Vec<u8>,
    command: Command,
    identity: bool,
    operation: Option<Operation>,
    /// Whether reads return the content of the cells: a fast path for nearly all reads.
    plain: Cell<bool>,
    toggle: Cell<bool>,
    wear: Vec<u32>,
    ignored: u64,
    unerased: u64,
}

impl Sst39sf {
    /// Creates a blank chip on a board with this processor clock.
    pub fn new(model: SstModel, clock_hz: u64) -> Self {
        Self {
            model,
            clock_hz,
            cells: vec![ERASED; model.size()],
            command: Command::None,
            identity: false,
            operation: None,
            plain: Cell::new(true),
            toggle: Cell::new(false),
            wear: vec![0; model.size() / SECTOR_BYTES],
            ignored: 0,
            unerased: 0,
        }
    }

    /// Returns the content of the cells.
    pub fn cells(&self) -> &[u8] {
        &self.cells
    }

    /// Returns the cells for changing, as an external programmer does.
    pub fn cells_mut(&mut self) -> &mut [u8] {
        &mut self.cells
    }

    /// Returns the number of erasures of each sector.
    pub fn wear(&self) -> &[u32] {
        &self.wear
    }

    /// Returns the number of write cycles that were ignored because the chip was busy.
    pub fn ignored(&self) -> u64 {
        self.ignored
    }

    /// Returns how many bytes were programmed with a 1 over a 0, which only erasing sets.
    pub fn unerased(&self) -> u64 {
        self.unerased
    }

    /// Returns `true` while an erase or program operation is in progress.
    pub fn is_busy(&self, now: u64) -> bool {
        self.operation.as_ref().is_some_and(|operation| now < operation.ends)
    }

    /// Returns `true` if reads return the content of the cells.
    pub(super) fn is_plain(&self, now: u64) -> bool {
        !self.identity && !self.is_busy(now)
    }

    /// Performs a read cycle. Address bits beyond the size of the chip are ignored.
    #[inline]
    pub fn read(&self, address: usize, now: u64) -> u8 {
        let address = address & (self.cells.len() - 1);
        if self.plain.get() { self.cells[address] } else { self.read_state(address, now) }
    }

    fn read_state(&self, address: usize, now: u64) -> u8 {
        match &self.operation {
            Some(operation) if now < operation.ends => {
                // DQ7 is the complement of the data, DQ6 toggles with each read, the others are
                // undefined.
                self.toggle.set(!self.toggle.get());
                operation.bit7 | u8::from(self.toggle.get()) << 6 | 0x15
            }
            _ if self.identity && address & 1 == 0 => MANUFACTURER,
            _ if self.identity => self.model.device(),
            _ => {
                self.plain.set(true);
                self.cells[address]
            }
        }
    }

    /// Performs a write cycle, which is ignored while the chip is busy.
    pub fn write(&mut self, address: usize, value: u8, now: u64) {
        if self.is_busy(now) {
            self.ignored += 1;
            return;
        }
        let address = address & (self.cells.len() - 1);
        let command = std::mem::replace(&mut self.command, Command::None);
        match (command, address & COMMAND_MASK, value) {
            (Command::Program, ..) if !self.identity => self.program(address, value, now),
            (Command::None, FIRST, 0xAA) => self.command = Command::Unlocked1,
            (Command::Unlocked1, SECOND, 0x55) => self.command = Command::Unlocked2,
            (Command::Unlocked2, FIRST, 0xA0) => self.command = Command::Program,
            (Command::Unlocked2, FIRST, 0x80) => self.command = Command::Erase,
            (Command::Unlocked2, FIRST, 0x90) => self.set_identity(true),
            (Command::Erase, FIRST, 0xAA) => self.command = Command::EraseUnlocked1,
            (Command::EraseUnlocked1, SECOND, 0x55) => self.command = Command::EraseUnlocked2,
            (Command::EraseUnlocked2, FIRST, 0x10) => self.erase(0, self.cells.len(), now),
            (Command::EraseUnlocked2, _, 0x30) => {
                self.erase(address & !(SECTOR_BYTES - 1), SECTOR_BYTES, now)
            }
            (_, _, 0xF0) => self.set_identity(false),
            _ => {}
        }
    }

    /// Simulates a power cut. Of an operation in progress a random part of the bits has changed,
    /// more the longer it has run. An incomplete command sequence is discarded.
    pub fn power_cut(&mut self, now: u64) {
        if let Some(operation) = self.operation.take()
            && now < operation.ends
        {
            let Operation { begins, ends, first, old, .. } = operation;
            let share = ((now.saturating_sub(begins)) * 256 / (ends - begins).max(1)) as u8;
            let mut noise = Noise::new(now);
            for (cell, old) in self.cells[first..].iter_mut().zip(old) {
                let changed = noise.bits(share);
                *cell = (*cell & changed) | (old & !changed);
            }
        }
        self.command = Command::None;
        self.set_identity(false);
    }

    fn set_identity(&mut self, identity: bool) {
        self.identity = identity;
        self.plain.set(!identity);
    }

    fn program(&mut self, address: usize, value: u8, now: u64) {
        let old = self.cells[address];
        self.unerased += u64::from(value & !old != 0);
        self.cells[address] = old & value;
        self.begin(PROGRAM_US, !value & 0x80, address, vec![old], now);
    }

    fn erase(&mut self, first: usize, count: usize, now: u64) {
        if self.identity {
            return;
        }
        let old = self.cells[first..first + count].to_vec();
        self.cells[first..first + count].fill(ERASED);
        for sector in &mut self.wear[first / SECTOR_BYTES..(first + count) / SECTOR_BYTES] {
            *sector += 1;
        }
        let time = if count == SECTOR_BYTES { SECTOR_ERASE_US } else { CHIP_ERASE_US };
        self.begin(time, 0, first, old, now);
    }

    fn begin(&mut self, microseconds: u64, bit7: u8, first: usize, old: Vec<u8>, now: u64) {
        let ends = now + (microseconds * self.clock_hz).div_ceil(1_000_000);
        self.operation = Some(Operation { begins: now, ends, bit7, first, old });
        self.plain.set(false);
    }
}
