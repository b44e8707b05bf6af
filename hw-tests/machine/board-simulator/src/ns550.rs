//! The 16C550 after its data sheet (TI SLLS177): registers, FIFOs, interrupts. Its pin for flow
//! control is /DTR, as on RC2014's modules. Loopback and auto flow are not modelled; /CTS, /DSR
//! and /DCD are low.

use std::collections::VecDeque;

/// Characters in each FIFO.
const DEPTH: usize = 16;
/// Interrupt enable and line status bits of the same order: received data, transmitter empty, line.
const ERBI: u8 = 0x01;
const ETBEI: u8 = 0x02;
const ELSI: u8 = 0x04;
/// FIFO control and modem control.
const ENABLED: u8 = 0x01;
const CLEAR_RECEIVED: u8 = 0x02;
const CLEAR_TRANSMIT: u8 = 0x04;
const DTR: u8 = 0x01;
/// Line control.
const TWO_STOPS: u8 = 0x04;
const PARITY: u8 = 0x08;
const DLAB: u8 = 0x80;
/// Line status.
const DR: u8 = 0x01;
const OE: u8 = 0x02;
const FE: u8 = 0x08;
const BI: u8 = 0x10;
const THRE: u8 = 0x20;
const TEMT: u8 = 0x40;
const FIFO_ERROR: u8 = 0x80;
/// Interrupt identification.
const NO_INTERRUPT: u8 = 0x01;
const TRANSMIT_INTERRUPT: u8 = 0x02;
/// Modem status: /CTS, /DSR and /DCD are low.
const MODEM_STATUS: u8 = 0xB0;

#[derive(Debug, Clone, Copy)]
struct Received {
    value: u8,
    /// FE and BI.
    errors: u8,
}

/// A 16C550. Times are T-states of the processor clock.
#[derive(Debug, Clone)]
pub struct Ns550 {
    clock_period: u32,
    ier: u8,
    fcr: u8,
    lcr: u8,
    mcr: u8,
    scratch: u8,
    divisor: u16,
    received: VecDeque<Received>,
    /// OE, and errors of the oldest character, until the line status is read.
    errors: u8,
    /// When the receive FIFO will not have been touched for four characters.
    timeout: Option<u64>,
    is_timed_out: bool,
    incoming: Option<(u64, Received)>,
    transmit: VecDeque<u8>,
    outgoing: Option<(u64, u8)>,
    /// Whether the transmitter's interrupt is pending, if enabled.
    is_sent: bool,
    lost: u64,
}

impl Ns550 {
    /// Creates a chip as after power-up, with one clock per `clock_period` T-states.
    pub fn new(clock_period: u32) -> Self {
        Self {
            clock_period,
            ier: 0,
            fcr: 0,
            lcr: 0,
            mcr: 0,
            scratch: 0,
            divisor: 0,
            received: VecDeque::new(),
            errors: 0,
            timeout: None,
            is_timed_out: false,
            incoming: None,
            transmit: VecDeque::new(),
            outgoing: None,
            is_sent: true,
            lost: 0,
        }
    }

    /// Resets the chip by its pin, which leaves divisor and scratch register.
    pub fn reset(&mut self) {
        let Self { clock_period, scratch, divisor, lost, .. } = *self;
        *self = Self { scratch, divisor, lost, ..Self::new(clock_period) };
    }

    /// Reads a register, 0 to 7.
    pub fn read(&mut self, register: u8, now: u64) -> u8 {
        let [low, high] = self.divisor.to_le_bytes();
        match (register, self.lcr & DLAB != 0) {
            (0, true) => low,
            (1, true) => high,
            (0, false) => self.take(now),
            (1, false) => self.ier,
            (2, _) => self.identify_interrupt(),
            (3, _) => self.lcr,
            (4, _) => self.mcr,
            (5, _) => self.read_line_status(),
            (6, _) => MODEM_STATUS,
            _ => self.scratch,
        }
    }

    /// Writes a register, 0 to 7.
    pub fn write(&mut self, register: u8, value: u8, now: u64) {
        let [low, high] = self.divisor.to_le_bytes();
        match (register, self.lcr & DLAB != 0) {
            (0, true) => self.divisor = u16::from_le_bytes([value, high]),
            (1, true) => self.divisor = u16::from_le_bytes([low, value]),
            (0, false) => self.send(value, now),
            (1, false) => {
                self.is_sent |= value & !self.ier & ETBEI != 0 && self.transmit.is_empty();
                self.ier = value & 0x0F;
            }
            (2, _) => self.set_fifos(value),
            (3, _) => self.lcr = value,
            (4, _) => self.mcr = value & 0x3F,
            (7, _) => self.scratch = value,
            _ => {}
        }
    }

    fn set_fifos(&mut self, value: u8) {
        let clears = |bit| (value ^ self.fcr) & ENABLED != 0 || value & (ENABLED | bit) > ENABLED;
        if clears(CLEAR_RECEIVED) {
            self.received.clear();
            self.errors &= OE;
            (self.timeout, self.is_timed_out) = (None, false);
        }
        if clears(CLEAR_TRANSMIT) {
            self.transmit.clear();
            self.is_sent = true;
        }
        // Without the first bit the others are not programmed.
        self.fcr = if value & ENABLED != 0 { value } else { 0 };
    }

    fn has_fifos(&self) -> bool {
        self.fcr & ENABLED != 0
    }

    fn depth(&self) -> usize {
        if self.has_fifos() { DEPTH } else { 1 }
    }

    fn take(&mut self, now: u64) -> u8 {
        let value = self.received.pop_front().map_or(0, |received| received.value);
        self.is_timed_out = false;
        self.restart_timeout(now);
        self.show_errors();
        value
    }

    fn restart_timeout(&mut self, now: u64) {
        let runs = self.has_fifos() && !self.received.is_empty();
        self.timeout = runs.then(|| now + 4 * self.character_time());
    }

    /// Shows the errors of the oldest character.
    fn show_errors(&mut self) {
        self.errors |= self.received.front_mut().map_or(0, |one| std::mem::take(&mut one.errors));
    }

    fn line_status(&self) -> u8 {
        let bit = |set, bit| if set { bit } else { 0 };
        let is_faulty = self.received.iter().any(|one| one.errors != 0) || self.errors & !OE != 0;
        let is_empty = self.transmit.is_empty();
        bit(!self.received.is_empty(), DR)
            | self.errors
            | bit(is_empty, THRE)
            | bit(is_empty && self.outgoing.is_none(), TEMT)
            | bit(is_faulty && self.has_fifos(), FIFO_ERROR)
    }

    fn read_line_status(&mut self) -> u8 {
        let status = self.line_status();
        self.errors = 0;
        status
    }

    /// Returns the interrupt of the highest priority as register 2 shows it.
    fn pending(&self) -> u8 {
        let trigger = match self.fcr >> 6 {
            _ if !self.has_fifos() => 1,
            select => [1, 4, 8, 14][usize::from(select)],
        };
        if self.ier & ELSI != 0 && self.errors != 0 {
            0x06
        } else if self.ier & ERBI != 0 && self.received.len() >= trigger {
            0x04
        } else if self.ier & ERBI != 0 && self.is_timed_out {
            0x0C
        } else if self.ier & ETBEI != 0 && self.is_sent {
            TRANSMIT_INTERRUPT
        } else {
            NO_INTERRUPT
        }
    }

    fn identify_interrupt(&mut self) -> u8 {
        let pending = self.pending();
        self.is_sent &= pending != TRANSMIT_INTERRUPT;
        if self.has_fifos() { pending | 0xC0 } else { pending }
    }

    /// Returns `true` if the chip requests an interrupt.
    pub fn interrupt(&self) -> bool {
        self.pending() != NO_INTERRUPT
    }

    /// Returns `true` if the pin for flow control is high, which requests the host to stop.
    pub fn dtr_high(&self) -> bool {
        self.mcr & DTR == 0
    }

    /// Returns the duration of a character on the line; 0 without a divisor.
    pub fn character_time(&self) -> u64 {
        let one = |bit| u64::from(self.lcr & bit != 0);
        let bits = 7 + u64::from(self.lcr & 3) + one(TWO_STOPS) + one(PARITY);
        bits * 16 * u64::from(self.divisor) * u64::from(self.clock_period)
    }

    /// Returns `true` if the reception of another character may start.
    pub fn can_receive(&self) -> bool {
        self.divisor != 0 && self.incoming.is_none()
    }

    /// Starts to receive a character, which is complete one character time later. `is_framed` is
    /// `false` for a missing stop bit, as with a wrong baud rate.
    pub fn start_receiving(&mut self, value: u8, is_framed: bool, now: u64) {
        let errors = match (is_framed, value) {
            (true, _) => 0,
            (false, 0) => FE | BI,
            (false, _) => FE,
        };
        self.incoming = Some((now + self.character_time(), Received { value, errors }));
    }

    /// Returns when the chip next changes its state without an access.
    pub fn next_event(&self) -> Option<u64> {
        let received = self.incoming.map(|(at, _)| at);
        let sent = self.outgoing.map(|(at, _)| at);
        received.into_iter().chain(sent).chain(self.timeout).min()
    }

    /// Advances the chip to `now`. Returns the character that has been transmitted, if any.
    pub fn advance(&mut self, now: u64) -> Option<u8> {
        self.is_timed_out |= self.timeout.take_if(|at| *at <= now).is_some();
        if let Some((at, received)) = self.incoming.take_if(|(at, _)| *at <= now) {
            self.accept(received, at);
        }
        let (at, sent) = self.outgoing.take_if(|(at, _)| *at <= now)?;
        self.load_shifter(at);
        Some(sent)
    }

    /// Stores a received character. A full FIFO stays as it is; without FIFOs the old character is
    /// overwritten.
    fn accept(&mut self, received: Received, at: u64) {
        let is_full = self.received.len() >= self.depth();
        if is_full {
            self.lost += 1;
            self.errors |= OE;
        }
        if is_full && !self.has_fifos() {
            self.received.clear();
        }
        if !is_full || !self.has_fifos() {
            self.received.push_back(received);
        }
        self.restart_timeout(at);
        self.show_errors();
    }

    fn send(&mut self, value: u8, now: u64) {
        if self.transmit.len() < self.depth() {
            self.transmit.push_back(value);
        }
        self.is_sent = false;
        self.load_shifter(now);
    }

    fn load_shifter(&mut self, now: u64) {
        if self.outgoing.is_none() && self.divisor != 0 {
            let sent = self.transmit.pop_front();
            self.is_sent |= sent.is_some() && self.transmit.is_empty();
            self.outgoing = sent.map(|value| (now + self.character_time(), value));
        }
    }

    /// Returns the number of characters lost to overrun since power-up.
    pub fn lost(&self) -> u64 {
        self.lost
    }
}
