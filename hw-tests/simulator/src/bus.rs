//! The board's bus: which chip answers at which address and port, and who asks for an interrupt.

use std::cell::{Cell, RefCell};

use super::clock::Clock;
use super::ctc::Ctc;
use super::memory::{Memory, RomChip};
use super::uart::Uart;
use z80_core::{Bus, Signal};

/// The value read from an address or port that nothing drives. Real boards differ; one was seen to
/// read 78h.
pub(super) const FLOATING: u8 = 0x78;

/// Memory and devices.
#[derive(Clone)]
pub struct BoardBus {
    memory: Memory,
    /// The serial chip.
    pub(super) uart: RefCell<Uart>,
    /// A CTC at 88h to 8Bh, whose first output clocks the serial chip.
    ctc: Option<Ctc>,
    pub(super) clock: Clock,
    /// Whether a device was touched since this was last looked at.
    pub(super) touched: Cell<bool>,
    /// Whether RETI has run since this was last looked at.
    pub(super) returned: Cell<bool>,
}

impl BoardBus {
    pub(super) fn new(memory: Memory, uart: Uart, ctc: Option<Ctc>) -> Self {
        Self {
            memory,
            uart: RefCell::new(uart),
            ctc,
            clock: Clock::default(),
            touched: Cell::new(false),
            returned: Cell::new(false),
        }
    }

    /// Prepares for running instructions until a time.
    #[inline]
    pub(super) fn begin(&mut self, now: u64, until: u64) {
        self.clock.start(now, until);
        self.memory.look(now);
    }

    /// Has the board look up from running instructions, since a device was touched.
    fn touch(&self) {
        self.touched.set(true);
        self.clock.stop();
    }

    /// Puts bytes into memory, ROM as well: what a programmer or a test does, not the processor.
    /// What passes FFFFh is left out.
    pub fn load(&mut self, address: u16, bytes: &[u8]) {
        self.memory.load(address, bytes);
    }

    /// Returns the content of memory at an address, without a bus cycle that a chip would notice.
    #[must_use]
    pub fn peek(&self, address: u16) -> u8 {
        self.memory.peek(address, self.clock.now())
    }

    /// A copy of all that the processor sees, from address 0.
    #[must_use]
    pub fn memory(&self) -> Box<[u8; 0x1_0000]> {
        self.memory.all(self.clock.now())
    }

    /// A copy of `count` bytes of memory from `address`, wrapping at FFFFh.
    #[must_use]
    pub fn dump(&self, address: u16, count: usize) -> Vec<u8> {
        (0..count).map(|i| self.peek(address.wrapping_add(i as u16))).collect()
    }

    /// The chip in the ROM socket.
    #[must_use]
    pub fn chip(&self) -> &RomChip {
        self.memory.chip()
    }

    /// The chip in the ROM socket, to change it.
    pub fn chip_mut(&mut self) -> &mut RomChip {
        self.memory.chip_mut()
    }

    /// Characters that the serial chip's receiver lost since power came on.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.uart.borrow().lost()
    }

    /// The line /RESET.
    pub(super) fn reset(&mut self) {
        self.memory.reset();
        self.uart.get_mut().reset();
        if let Some(ctc) = &mut self.ctc {
            ctc.reset();
        }
    }

    /// Lets the serial chip and the CTC catch up; returns the character that has left for the line.
    pub(super) fn advance(&mut self, now: u64) -> Option<u8> {
        if let Some(ctc) = &mut self.ctc {
            ctc.advance(now);
        }
        self.uart.get_mut().advance(now)
    }

    /// When a device next changes by itself.
    pub(super) fn next_event(&mut self) -> Option<u64> {
        let timer = self.ctc.as_ref().and_then(Ctc::next_event);
        self.uart.get_mut().next_event().into_iter().chain(timer).min()
    }

    /// Whether a device asks for an interrupt. The serial chip is first in the chain: while it is
    /// served, the CTC has to wait.
    pub(super) fn interrupt(&mut self) -> bool {
        let uart = self.uart.get_mut();
        uart.interrupt() || (!uart.in_service() && self.ctc.as_ref().is_some_and(Ctc::interrupt))
    }

    /// Returns the byte on the bus during the acknowledge cycle.
    pub(super) fn vector(&self) -> u8 {
        let uart = self.uart.borrow();
        match &self.ctc {
            Some(ctc) if !uart.interrupt() => ctc.vector(),
            _ => uart.vector().unwrap_or(FLOATING),
        }
    }

    /// The processor has acknowledged the interrupt.
    pub(super) fn acknowledge(&mut self) {
        let uart = self.uart.get_mut();
        match &mut self.ctc {
            Some(ctc) if !uart.interrupt() => ctc.acknowledge(),
            _ => uart.acknowledge(),
        }
        self.touch();
    }

    /// The processor has run RETI; the first in the chain that is served takes it for its own.
    pub(super) fn return_from_interrupt(&mut self) {
        let uart = self.uart.get_mut();
        match &mut self.ctc {
            Some(ctc) if !uart.in_service() => ctc.return_from_interrupt(),
            _ => uart.return_from_interrupt(),
        }
        self.touch();
    }

    /// Whether a device waits for RETI.
    pub(super) fn in_service(&mut self) -> bool {
        self.uart.get_mut().in_service() || self.ctc.as_ref().is_some_and(Ctc::in_service)
    }
}

/// An access of the processor to the bus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// Which kind of cycle it was.
    pub kind: AccessKind,
    /// The address, or all sixteen bits of a port's.
    pub address: u16,
    /// The value on the data bus.
    pub value: u8,
}

/// The kinds of bus cycles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessKind {
    /// A byte of memory was read, be it an instruction's.
    Read,
    /// A byte of memory was written.
    Write,
    /// A port was read.
    In,
    /// A port was written.
    Out,
}

/// The bus, with all that the processor does on it noted.
pub(super) struct Watched<'a> {
    pub(super) bus: &'a mut BoardBus,
    pub(super) seen: &'a RefCell<Vec<Access>>,
}

impl Watched<'_> {
    fn note(&self, kind: AccessKind, address: u16, value: u8) -> u8 {
        self.seen.borrow_mut().push(Access { kind, address, value });
        value
    }
}

impl Bus for Watched<'_> {
    fn read(&self, address: u16) -> u8 {
        self.note(AccessKind::Read, address, self.bus.read(address))
    }

    fn write(&mut self, address: u16, value: u8) {
        self.bus.write(address, self.note(AccessKind::Write, address, value));
    }

    fn input(&self, port: u16) -> u8 {
        self.note(AccessKind::In, port, self.bus.input(port))
    }

    fn output(&mut self, port: u16, value: u8) {
        self.bus.output(port, self.note(AccessKind::Out, port, value));
    }

    fn signal(&mut self, signal: Signal) {
        self.bus.signal(signal);
    }
}

impl Bus for BoardBus {
    #[inline(always)]
    fn read(&self, address: u16) -> u8 {
        self.memory.read(address, self.clock.now())
    }

    #[inline(always)]
    fn write(&mut self, address: u16, value: u8) {
        self.memory.write(address, value, self.clock.now());
    }

    fn input(&self, port: u16) -> u8 {
        let port = port as u8;
        let answer = self.uart.borrow_mut().input(port);
        if let Some(value) = answer {
            // The data registers have odd ports; reading a control register changes nothing outside
            // the chip.
            if port & 1 == 1 {
                self.touch();
            }
            return value;
        }
        match (&self.ctc, port) {
            (Some(ctc), 0x88..=0x8B) => ctc.read(usize::from(port & 3), self.clock.now()),
            _ => FLOATING,
        }
    }

    fn output(&mut self, port: u16, value: u8) {
        let port = port as u8;
        let now = self.clock.now();
        if self.uart.get_mut().output(port, value, now) {
            self.touch();
        } else if let (Some(ctc), 0x88..=0x8B) = (&mut self.ctc, port) {
            ctc.write(usize::from(port & 3), value, now);
            if let Some(period) = ctc.output_period(0) {
                self.uart.get_mut().set_clock_period(period);
            }
            self.touch();
        } else {
            self.memory.output(port, value);
        }
    }
    fn signal(&mut self, signal: Signal) {
        if signal == Signal::Returned {
            self.returned.set(true);
        }
        self.clock.stop();
    }
}
