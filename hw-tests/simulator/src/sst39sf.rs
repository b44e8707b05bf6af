//! The flash chips SST39SF010A, 020A and 040, after their data sheet (Microchip DS20005022):
//! command sequences, times, status while busy, and what a power cut leaves.

use std::cell::Cell;

use super::noise::Noise;

/// Bytes of a sector, the least that can be erased.
pub const SECTOR: usize = 0x1000;
/// The value of an erased byte.
const ERASED: u8 = 0xFF;
/// The manufacturer's code, Silicon Storage Technology.
const MANUFACTURER: u8 = 0xBF;
/// Commands are decoded from A14 to A0.
const COMMAND_MASK: usize = 0x7FFF;
const FIRST: usize = 0x5555;
const SECOND: usize = 0x2AAA;
/// The longest times of the data sheet, in microseconds: a program that waits for less would fail
/// on some chips.
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
    /// Bytes.
    #[must_use]
    pub fn size(self) -> usize {
        match self {
            Self::Sf010a => 0x2_0000,
            Self::Sf020a => 0x4_0000,
            Self::Sf040 => 0x8_0000,
        }
    }

    /// The device code.
    #[must_use]
    pub fn device(self) -> u8 {
        match self {
            Self::Sf010a => 0xB5,
            Self::Sf020a => 0xB6,
            Self::Sf040 => 0xB7,
        }
    }
}

/// The progress of a command, by its bus cycles.
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

/// The operation that the chip is at work on, and what it needs to know if power fails.
#[derive(Debug, Clone)]
struct Operation {
    begins: u64,
    ends: u64,
    /// DQ7 while it is under way.
    bit7: u8,
    first: usize,
    /// The value before.
    old: Vec<u8>,
}

/// A chip. Times are T-states of a processor clock.
#[derive(Debug, Clone)]
pub struct Sst39sf {
    model: SstModel,
    clock_hz: u64,
    cells: Vec<u8>,
    command: Command,
    identity: bool,
    operation: Option<Operation>,
    /// Whether reads give what the cells hold; looked at first, since nearly all do.
    plain: Cell<bool>,
    toggle: Cell<bool>,
    wear: Vec<u32>,
    ignored: u64,
    unerased: u64,
}

impl Sst39sf {
    /// A blank chip on a board of this processor clock.
    #[must_use]
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
            wear: vec![0; model.size() / SECTOR],
            ignored: 0,
            unerased: 0,
        }
    }

    /// Returns the content of the cells.
    #[must_use]
    pub fn cells(&self) -> &[u8] {
        &self.cells
    }

    /// The cells, to be set by an external programmer.
    pub fn cells_mut(&mut self) -> &mut [u8] {
        &mut self.cells
    }

    /// Returns the number of erasures of each sector.
    #[must_use]
    pub fn wear(&self) -> &[u32] {
        &self.wear
    }

    /// Write cycles that came while the chip was busy, and were ignored.
    #[must_use]
    pub fn ignored(&self) -> u64 {
        self.ignored
    }

    /// Bytes programmed that needed a bit to rise, which only erasing does.
    #[must_use]
    pub fn unerased(&self) -> u64 {
        self.unerased
    }

    /// Whether an erase or a program is under way.
    #[must_use]
    pub fn is_busy(&self, now: u64) -> bool {
        self.operation.as_ref().is_some_and(|operation| now < operation.ends)
    }

    /// Whether reads give what the cells hold.
    pub(super) fn is_plain(&self, now: u64) -> bool {
        !self.identity && !self.is_busy(now)
    }

    /// A read cycle. Address lines that the chip lacks are not looked at.
    #[inline]
    #[must_use]
    pub fn read(&self, address: usize, now: u64) -> u8 {
        let address = address & (self.cells.len() - 1);
        if self.plain.get() { self.cells[address] } else { self.read_state(address, now) }
    }

    fn read_state(&self, address: usize, now: u64) -> u8 {
        match &self.operation {
            Some(operation) if now < operation.ends => {
                // DQ7 is the data's complement, DQ6 toggles from read to read, the others mean
                // nothing.
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

    /// A write cycle. While the chip is busy it is ignored.
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
            (Command::EraseUnlocked2, _, 0x30) => self.erase(address & !(SECTOR - 1), SECTOR, now),
            (_, _, 0xF0) => self.set_identity(false),
            _ => {}
        }
    }

    /// Cuts the power: of what is under way each bit has changed or not, the likelier the longer
    /// the chip was at it. A command begun is forgotten.
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
        for sector in &mut self.wear[first / SECTOR..(first + count) / SECTOR] {
            *sector += 1;
        }
        let time = if count == SECTOR { SECTOR_ERASE_US } else { CHIP_ERASE_US };
        self.begin(time, 0, first, old, now);
    }

    fn begin(&mut self, microseconds: u64, bit7: u8, first: usize, old: Vec<u8>, now: u64) {
        let ends = now + (microseconds * self.clock_hz).div_ceil(1_000_000);
        self.operation = Some(Operation { begins: now, ends, bit7, first, old });
        self.plain.set(false);
    }
}
