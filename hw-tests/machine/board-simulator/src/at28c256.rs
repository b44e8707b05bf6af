//! The EEPROM AT28C256, after its data sheet (Atmel 0006): page write, software data protection,
//! chip erase, and the status bits while it is busy.

use std::cell::RefCell;

use super::noise::Noise;

/// The size of the chip in bytes.
const SIZE: usize = 0x8000;
/// The number of bytes in a page of the AT28C256, which are written together.
pub const PAGE_BYTES: usize = 64;
/// The longest pause in microseconds between two bytes of a page before the write cycle.
const PAUSE_US: u64 = 150;
/// Longest write cycle, in microseconds, of the parts that are not marked F.
const WRITE_US: u64 = 10_000;
/// Longest chip erase, in microseconds.
const ERASE_US: u64 = 20_000;
/// The write cycles that every command starts with.
const UNLOCK: [(usize, u8); 2] = [(0x5555, 0xAA), (0x2AAA, 0x55)];

/// An AT28C256. Times are T-states of the processor clock.
#[derive(Debug, Clone)]
pub struct At28c256 {
    clock_hz: u64,
    state: RefCell<State>,
}

#[derive(Debug, Clone)]
struct State {
    cells: Vec<u8>,
    protected: bool,
    /// The bus cycles of the load in progress, and the time of the last one.
    load: Vec<(usize, u8)>,
    last: u64,
    writing: Option<Writing>,
    toggle: bool,
    wear: Vec<u32>,
    ignored: u64,
}

#[derive(Debug, Clone)]
struct Writing {
    begins: u64,
    ends: u64,
    /// The last byte loaded, whose complement shows on I/O7.
    byte: u8,
    first: usize,
    old: Vec<u8>,
}

struct Load<'a> {
    protects: Option<bool>,
    erases: bool,
    data: &'a [(usize, u8)],
}

impl At28c256 {
    /// Creates a blank, unprotected chip on a board with this processor clock.
    pub fn new(clock_hz: u64) -> Self {
        let state = State {
            cells: vec![0xFF; SIZE],
            protected: false,
            load: Vec::new(),
            last: 0,
            writing: None,
            toggle: false,
            wear: vec![0; SIZE / PAGE_BYTES],
            ignored: 0,
        };
        Self { clock_hz, state: RefCell::new(state) }
    }

    /// Returns a copy of the cells with the write in progress at `now` completed.
    pub fn cells(&self, now: u64) -> Vec<u8> {
        self.settle(now);
        self.state.borrow().cells.clone()
    }

    pub(super) fn cell(&self, address: usize, now: u64) -> u8 {
        self.settle(now);
        self.state.borrow().cells[address % SIZE]
    }

    /// Sets the cells from `first` on, as a programmer does; bytes beyond the chip are ignored.
    pub fn load(&mut self, first: usize, bytes: &[u8]) {
        for (cell, byte) in self.state.get_mut().cells.iter_mut().skip(first).zip(bytes) {
            *cell = *byte;
        }
    }

    /// Turns software data protection on or off. Chips are often sold with it turned on.
    pub fn set_protected(&mut self, protected: bool) {
        self.state.get_mut().protected = protected;
    }

    /// Returns `true` if software data protection is on.
    pub fn is_protected(&self, now: u64) -> bool {
        self.settle(now);
        self.state.borrow().protected
    }

    /// Returns the number of writes of each page.
    pub fn wear(&self, now: u64) -> Vec<u32> {
        self.settle(now);
        self.state.borrow().wear.clone()
    }

    /// Returns the number of bus writes that were ignored because the chip was busy.
    pub fn ignored(&self) -> u64 {
        self.state.borrow().ignored
    }

    /// Returns `true` if reads return the content of the cells.
    pub(super) fn is_plain(&self, now: u64) -> bool {
        self.settle(now);
        let state = self.state.borrow();
        let writes = state.writing.as_ref().is_some_and(|writing| now < writing.ends);
        state.load.is_empty() && !writes
    }

    /// Performs a read cycle; the status during a load and its write cycle.
    pub fn read(&self, address: usize, now: u64) -> u8 {
        self.settle(now);
        let mut state = self.state.borrow_mut();
        let loaded = state.load.last().map(|(_, byte)| *byte);
        let writing = state.writing.as_ref().filter(|writing| now < writing.ends);
        match loaded.or(writing.map(|writing| writing.byte)) {
            Some(byte) => {
                // I/O7 is the complement of the last byte's, I/O6 toggles from read to read.
                state.toggle = !state.toggle;
                (!byte & 0x80) | u8::from(state.toggle) << 6
            }
            None => state.cells[address % SIZE],
        }
    }

    /// Performs a bus write: the next byte of a load. Ignored while a write cycle is in progress.
    pub fn write(&mut self, address: usize, value: u8, now: u64) {
        self.settle(now);
        let state = self.state.get_mut();
        if state.writing.as_ref().is_some_and(|writing| now < writing.ends) {
            state.ignored += 1;
            return;
        }
        state.load.push((address % SIZE, value));
        state.last = now;
    }

    /// Simulates a power cut. A load is lost; of a page that was being written, a random part of
    /// the bits has changed. Protection is not affected.
    pub fn power_cut(&mut self, now: u64) {
        self.settle(now);
        let state = self.state.get_mut();
        state.load.clear();
        state.last = 0;
        if let Some(writing) = state.writing.take()
            && now < writing.ends
        {
            let Writing { begins, ends, first, old, .. } = writing;
            let share = ((now.saturating_sub(begins)) * 256 / (ends - begins).max(1)) as u8;
            let mut noise = Noise::new(now);
            for (cell, old) in state.cells[first..].iter_mut().zip(old) {
                let changed = noise.bits(share);
                *cell = (*cell & changed) | (old & !changed);
            }
        }
    }

    /// Starts the write cycle if the pause after the last byte of a load was long enough.
    fn settle(&self, now: u64) {
        let ticks = |microseconds: u64| (microseconds * self.clock_hz).div_ceil(1_000_000);
        let mut state = self.state.borrow_mut();
        let begins = state.last + ticks(PAUSE_US);
        if state.load.is_empty() || now <= begins {
            return;
        }
        let cycles = std::mem::take(&mut state.load);
        let load = Load::of(&cycles);
        let time = ticks(if load.erases { ERASE_US } else { WRITE_US });
        let byte = cycles.last().map_or(0, |(_, byte)| *byte);
        let (first, old) = state.apply(&load);
        state.writing = Some(Writing { begins, ends: begins + time, byte, first, old });
    }
}

impl<'a> Load<'a> {
    fn of(cycles: &'a [(usize, u8)]) -> Self {
        let data = |protects, data| Self { protects, erases: false, data };
        match cycles {
            [a, b, (0x5555, 0xA0), rest @ ..] if [*a, *b] == UNLOCK => data(Some(true), rest),
            [a, b, (0x5555, 0x80), c, d, (0x5555, 0x20), rest @ ..]
                if [*a, *b] == UNLOCK && [*c, *d] == UNLOCK =>
            {
                data(Some(false), rest)
            }
            [a, b, (0x5555, 0x80), c, d, (0x5555, 0x10)]
                if [*a, *b] == UNLOCK && [*c, *d] == UNLOCK =>
            {
                Self { erases: true, ..data(None, &[]) }
            }
            all => data(None, all),
        }
    }
}

impl State {
    /// Changes the cells. Returns the first changed address, and the previous content from there.
    fn apply(&mut self, load: &Load) -> (usize, Vec<u8>) {
        if load.erases {
            self.wear.iter_mut().for_each(|page| *page += 1);
            return (0, std::mem::replace(&mut self.cells, vec![0xFF; SIZE]));
        }
        let refused = self.protected && load.protects.is_none();
        self.protected = load.protects.unwrap_or(self.protected);
        let Some(&(address, _)) = load.data.first().filter(|_| !refused) else {
            return (0, Vec::new());
        };
        let first = address & !(PAGE_BYTES - 1);
        let old = self.cells[first..first + PAGE_BYTES].to_vec();
        for (address, byte) in load.data {
            // Only A5 to A0 are decoded within a load: a byte for another page is stored in this
            // one.
            self.cells[first + address % PAGE_BYTES] = *byte;
        }
        self.wear[first / PAGE_BYTES] += 1;
        (first, old)
    }
}
