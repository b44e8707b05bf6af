//! The board's bus: address and port decoding, and the interrupt daisy chain.

use std::cell::{Cell, RefCell};

use super::clock::Clock;
use super::ctc::Ctc;
use super::memory::{FLOATING_BYTE, Memory, RomChip};
use super::uart::Uart;
use z80_core::{Bus, CpuEvent};

/// Memory and devices of a board.
#[derive(Clone)]
pub struct BoardBus {
    memory: Memory,
    pub(super) uart: RefCell<Uart>,
    /// At ports 88h to 8Bh; the output of its channel 0 clocks the serial chip.
    ctc: Option<Ctc>,
    pub(super) clock: Clock,
    /// Set by an access that may change a device's state; cleared by the board.
    pub(super) device_accessed: Cell<bool>,
    /// Set when RETI runs; cleared by the board.
    pub(super) reti_executed: Cell<bool>,
    /// The addresses to which the processor writes, if they are wanted.
    pub written: Option<AddressSet>,
}

/// A set of addresses.
#[derive(Debug, Clone)]
pub struct AddressSet(Box<[u64; 1024]>);

impl Default for AddressSet {
    fn default() -> Self {
        Self(Box::new([0; 1024]))
    }
}

impl AddressSet {
    /// Adds an address.
    #[inline]
    pub fn insert(&mut self, address: u16) {
        self.0[usize::from(address >> 6)] |= 1 << (address & 63);
    }

    /// Adds the addresses of another set.
    pub fn extend(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0.iter()).for_each(|(own, word)| *own |= word);
    }

    /// Returns `true` if an address is in the set.
    pub fn contains(&self, address: u16) -> bool {
        self.0[usize::from(address >> 6)] >> (address & 63) & 1 != 0
    }
}

impl BoardBus {
    pub(super) fn new(memory: Memory, uart: Uart, ctc: Option<Ctc>) -> Self {
        let mut bus = Self {
            memory,
            uart: RefCell::new(uart),
            ctc,
            clock: Clock::default(),
            device_accessed: Cell::new(false),
            reti_executed: Cell::new(false),
            written: None,
        };
        bus.map_pages();
        bus
    }

    /// Maps memory as the MMU of a Z180 does now.
    fn map_pages(&mut self) {
        if let Some(devices) = self.uart.get_mut().z180() {
            self.memory.map_pages(|page| devices.page_offset(page));
        }
    }

    /// Prepares for running instructions until `until`.
    #[inline]
    pub(super) fn begin(&mut self, now: u64, until: u64) {
        self.clock.start(now, until);
        self.memory.refresh_view(now);
    }

    /// Makes the board update its devices after the running instruction.
    fn note_device_access(&self) {
        self.device_accessed.set(true);
        self.clock.stop();
    }

    /// Stores bytes in memory without bus cycles, in ROM as well. Bytes beyond FFFFh are ignored.
    pub fn load(&mut self, address: u16, bytes: &[u8]) {
        self.memory.load(address, bytes);
    }

    /// Returns the byte at an address without a bus cycle, so that no chip changes its state.
    pub fn peek(&self, address: u16) -> u8 {
        self.memory.peek(address, self.clock.now())
    }

    /// Returns a copy of the whole address space.
    pub fn memory(&self) -> Box<[u8; 0x1_0000]> {
        self.memory.snapshot(self.clock.now())
    }

    /// Returns a copy of `count` bytes from `address` on, wrapping at FFFFh.
    pub fn dump(&self, address: u16, count: usize) -> Vec<u8> {
        (0..count).map(|i| self.peek(address.wrapping_add(i as u16))).collect()
    }

    /// Returns the chip in the ROM socket.
    pub fn chip(&self) -> &RomChip {
        self.memory.chip()
    }

    /// Returns the chip in the ROM socket for changing.
    pub fn chip_mut(&mut self) -> &mut RomChip {
        self.memory.chip_mut()
    }

    /// Returns the number of received characters lost to overrun since power-up.
    pub fn lost(&self) -> u64 {
        self.uart.borrow().lost()
    }

    pub(super) fn reset(&mut self) {
        self.memory.reset();
        self.uart.get_mut().reset();
        self.map_pages();
        if let Some(ctc) = &mut self.ctc {
            ctc.reset();
        }
    }

    /// Advances serial chip and CTC to `now`; returns the character that was transmitted.
    pub(super) fn advance(&mut self, now: u64) -> Option<u8> {
        if let Some(ctc) = &mut self.ctc {
            ctc.advance(now);
        }
        self.uart.get_mut().advance(now)
    }

    /// Returns when a device next changes its state without an access.
    pub(super) fn next_event(&mut self) -> Option<u64> {
        let timer = self.ctc.as_ref().and_then(Ctc::next_event);
        self.uart.get_mut().next_event().into_iter().chain(timer).min()
    }

    /// Returns `true` if a device requests an interrupt; the serial chip blocks the CTC.
    pub(super) fn interrupt(&mut self) -> bool {
        let uart = self.uart.get_mut();
        uart.interrupt() || (!uart.in_service() && self.ctc.as_ref().is_some_and(Ctc::interrupt))
    }

    /// Returns the byte on the bus during the interrupt acknowledge cycle.
    pub(super) fn vector(&self) -> u8 {
        let uart = self.uart.borrow();
        match &self.ctc {
            Some(ctc) if !uart.interrupt() => ctc.vector(),
            _ => uart.vector().unwrap_or(FLOATING_BYTE),
        }
    }

    pub(super) fn acknowledge(&mut self) {
        let uart = self.uart.get_mut();
        match &mut self.ctc {
            Some(ctc) if !uart.interrupt() => ctc.acknowledge(),
            _ => uart.acknowledge(),
        }
        self.note_device_access();
    }

    /// Reports RETI to the first device of the chain that is in service.
    pub(super) fn return_from_interrupt(&mut self) {
        let uart = self.uart.get_mut();
        match &mut self.ctc {
            Some(ctc) if !uart.in_service() => ctc.return_from_interrupt(),
            _ => uart.return_from_interrupt(),
        }
        self.note_device_access();
    }

    /// Returns `true` if a device is in service, until RETI.
    pub(super) fn in_service(&mut self) -> bool {
        self.uart.get_mut().in_service() || self.ctc.as_ref().is_some_and(Ctc::in_service)
    }
}

/// An access of the processor to the bus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BusAccess {
    /// The kind of bus cycle.
    pub kind: AccessKind,
    /// The memory address, or all 16 bits of the port address.
    pub address: u16,
    /// The value on the data bus.
    pub value: u8,
}

/// The kinds of bus cycles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessKind {
    /// A byte of memory was read, including instruction fetches.
    Read,
    /// A byte of memory was written.
    Write,
    /// A port was read.
    In,
    /// A port was written.
    Out,
}

/// A bus that records all accesses of the processor.
pub(super) struct RecordingBus<'a> {
    pub(super) bus: &'a mut BoardBus,
    pub(super) accesses: &'a RefCell<Vec<BusAccess>>,
}

impl RecordingBus<'_> {
    fn record(&self, kind: AccessKind, address: u16, value: u8) -> u8 {
        self.accesses.borrow_mut().push(BusAccess { kind, address, value });
        value
    }
}

impl Bus for RecordingBus<'_> {
    fn read(&self, address: u16) -> u8 {
        self.record(AccessKind::Read, address, self.bus.read(address))
    }

    fn write(&mut self, address: u16, value: u8) {
        self.bus.write(address, self.record(AccessKind::Write, address, value));
    }

    fn input(&self, port: u16) -> u8 {
        self.record(AccessKind::In, port, self.bus.input(port))
    }

    fn output(&mut self, port: u16, value: u8) {
        self.bus.output(port, self.record(AccessKind::Out, port, value));
    }

    fn on_event(&mut self, event: CpuEvent) {
        self.bus.on_event(event);
    }
}

impl Bus for BoardBus {
    #[inline(always)]
    fn read(&self, address: u16) -> u8 {
        self.memory.read(address, self.clock.now())
    }

    #[inline(always)]
    fn write(&mut self, address: u16, value: u8) {
        if let Some(written) = &mut self.written {
            written.insert(address);
        }
        self.memory.write(address, value, self.clock.now());
    }

    fn input(&self, port: u16) -> u8 {
        let now = self.clock.now();
        let mut uart = self.uart.borrow_mut();
        if let Some(value) = uart.input(port, now) {
            if uart.read_has_effect(port) {
                self.note_device_access();
            }
            return value;
        }
        match (&self.ctc, port as u8) {
            (Some(ctc), 0x88..=0x8B) => ctc.read(usize::from(port & 3), now),
            _ => FLOATING_BYTE,
        }
    }

    fn output(&mut self, port: u16, value: u8) {
        let now = self.clock.now();
        if self.uart.get_mut().output(port, value, now) {
            self.map_pages();
            self.note_device_access();
        } else if let (Some(ctc), 0x88..=0x8B) = (&mut self.ctc, port as u8) {
            ctc.write(usize::from(port & 3), value, now);
            if let Some(period) = ctc.output_period(0) {
                self.uart.get_mut().set_clock_period(period);
            }
            self.note_device_access();
        } else {
            self.memory.output(port as u8, value);
        }
    }
    fn on_event(&mut self, event: CpuEvent) {
        match event {
            // DI cannot make a device act earlier.
            CpuEvent::Disabled => return,
            CpuEvent::Returned => self.reti_executed.set(true),
            CpuEvent::Trapped { third } => {
                if let Some(devices) = self.uart.get_mut().z180() {
                    devices.trap(third);
                }
            }
            CpuEvent::Enabled | CpuEvent::Halted => {}
        }
        self.clock.stop();
    }
}
