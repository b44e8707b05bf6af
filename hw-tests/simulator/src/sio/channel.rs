//! One channel of the SIO: registers, receiver and transmitter, in asynchronous modes.

use std::collections::VecDeque;

/// Characters that wait behind the shift register.
const DEPTH: usize = 3;
/// Bits of RR0.
const AVAILABLE: u8 = 0x01;
const TX_EMPTY: u8 = 0x04;
const DCD: u8 = 0x08;
const CTS: u8 = 0x20;
/// Bits of RR1.
const ALL_SENT: u8 = 0x01;
const OVERRUN: u8 = 0x20;
const FRAMING: u8 = 0x40;

/// Reasons for an interrupt request of a channel, the most urgent first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cause {
    Special,
    Receive,
    Transmit,
    External,
}

/// A character in the receive queue with its errors, as bits of RR1.
#[derive(Debug, Clone, Copy)]
struct Received {
    value: u8,
    errors: u8,
}

/// A channel. Times are T-states of the processor's clock.
#[derive(Debug, Clone)]
pub(super) struct Channel {
    /// WR0 to WR7; the first holds the pointer to the others.
    write: [u8; 8],
    queue: VecDeque<Received>,
    /// Overrun, latched until an error reset.
    latched: u8,
    incoming: Option<(u64, Received)>,
    transmit: Option<u8>,
    outgoing: Option<(u64, u8)>,
    transmit_due: bool,
    external_due: bool,
    /// The next character interrupts, in the mode for the first one alone.
    first: bool,
    /// T-states of one clock of receiver and transmitter.
    pub(super) clock_period: u64,
    cts_high: bool,
    dcd_high: bool,
    lost: u64,
}

impl Channel {
    pub(super) fn new() -> Self {
        Self {
            write: [0; 8],
            queue: VecDeque::new(),
            latched: 0,
            incoming: None,
            transmit: None,
            outgoing: None,
            transmit_due: false,
            external_due: false,
            first: false,
            clock_period: 1,
            cts_high: false,
            dcd_high: false,
            lost: 0,
        }
    }

    /// Does what /RESET and the command do: both directions off, RTS and DTR high, no interrupts.
    pub(super) fn reset(&mut self) {
        let clock_period = self.clock_period;
        let lost = self.lost;
        let cts_high = self.cts_high;
        let dcd_high = self.dcd_high;
        *self = Self { clock_period, lost, cts_high, dcd_high, ..Self::new() };
    }

    /// Writes the register that WR0 points to; tells its number.
    pub(super) fn write_control(&mut self, value: u8, now: u64) -> usize {
        let register = usize::from(self.write[0] & 7);
        if register == 0 {
            self.write[0] = value & 7;
            self.command(value >> 3 & 7);
        } else {
            // Each access to another register is one pair: the pointer falls back to 0, so that a
            // service that interrupts between the two halves would be seen here as on the chip.
            self.write[register] = value;
            self.write[0] = 0;
            self.load_shifter(now); // it may have been turned on
        }
        register
    }

    fn command(&mut self, command: u8) {
        match command {
            2 => self.external_due = false,
            3 => self.reset(),
            4 => self.first = true,
            5 => self.transmit_due = false,
            6 => self.latched = 0,
            _ => {} // 0 is none, 1 is of no use here, 7 is the chip's
        }
    }

    /// Reads the register that WR0 points to, and points to RR0 again.
    pub(super) fn read_control(&mut self) -> (usize, u8) {
        let register = usize::from(std::mem::take(&mut self.write[0]) & 7);
        (register, if register == 1 { self.errors() } else { self.state() })
    }

    fn state(&self) -> u8 {
        let bit = |set, bit| if set { bit } else { 0 };
        bit(!self.queue.is_empty(), AVAILABLE)
            | bit(self.transmit.is_none(), TX_EMPTY)
            | bit(!self.dcd_high, DCD)
            | bit(!self.cts_high, CTS)
    }

    fn errors(&self) -> u8 {
        let sent = if self.is_all_sent() { ALL_SENT } else { 0 };
        sent | self.latched | self.queue.front().map_or(0, |character| character.errors)
    }

    fn is_all_sent(&self) -> bool {
        self.transmit.is_none() && self.outgoing.is_none()
    }

    /// Takes the oldest character. Its overrun is latched, its framing error goes with it.
    pub(super) fn read_data(&mut self) -> u8 {
        let Some(character) = self.queue.pop_front() else { return 0 };
        self.latched |= character.errors & OVERRUN;
        self.first = false;
        character.value
    }

    /// Fills the transmit buffer; a character still there is overwritten.
    pub(super) fn write_data(&mut self, value: u8, now: u64) {
        self.transmit_due = false;
        self.transmit = Some(value);
        self.load_shifter(now);
    }

    /// The level of /CTS.
    pub(super) fn set_cts(&mut self, high: bool, now: u64) {
        self.external_due |= self.cts_high != high;
        self.cts_high = high;
        self.load_shifter(now);
    }

    /// Whether /RTS is high: at once when the bit is set, but only after the last character when it
    /// is cleared.
    pub(super) fn rts_high(&self) -> bool {
        self.write[5] & 0x02 == 0 && self.is_all_sent()
    }

    /// Half bits of a character of this many data bits, as WR3 and WR5 code them; `None` in
    /// synchronous modes.
    fn half_bits(&self, code: u8) -> Option<u64> {
        let data = [5, 7, 6, 8][usize::from(code)];
        let parity = u64::from(self.write[4] & 1);
        let stop = [0, 2, 3, 4][usize::from(self.write[4] >> 2 & 3)];
        (stop > 0).then_some(2 * (1 + data + parity) + stop)
    }

    fn time(&self, code: u8) -> Option<u64> {
        let divider = [1, 16, 32, 64][usize::from(self.write[4] >> 6)];
        Some((self.half_bits(code)? * divider * self.clock_period).div_ceil(2))
    }

    pub(super) fn receive_time(&self) -> Option<u64> {
        let gate = self.write[3] & 0x20 == 0 || !self.dcd_high;
        self.time(self.write[3] >> 6).filter(|_| self.write[3] & 1 != 0 && gate)
    }

    fn transmit_time(&self) -> Option<u64> {
        let gate = self.write[3] & 0x20 == 0 || !self.cts_high;
        self.time(self.write[5] >> 5 & 3).filter(|_| self.write[5] & 8 != 0 && gate)
    }

    pub(super) fn can_receive(&self) -> bool {
        self.incoming.is_none() && self.receive_time().is_some()
    }

    pub(super) fn start_receiving(&mut self, value: u8, good_frame: bool, now: u64) {
        let errors = if good_frame { 0 } else { FRAMING };
        let complete = self.receive_time().map(|time| now + time);
        self.incoming = complete.map(|at| (at, Received { value, errors }));
    }

    pub(super) fn next_event(&self) -> Option<u64> {
        let received = self.incoming.map(|(at, _)| at);
        received.into_iter().chain(self.outgoing.map(|(at, _)| at)).min()
    }

    /// Lets time pass; returns the character that has left by then.
    pub(super) fn advance(&mut self, now: u64) -> Option<u8> {
        if let Some((_, character)) = self.incoming.take_if(|(at, _)| *at <= now) {
            self.accept(character);
        }
        let (at, sent) = self.outgoing.take_if(|(at, _)| *at <= now)?;
        self.load_shifter(at);
        Some(sent)
    }

    /// With the queue full, the character takes the newest one's place and is marked.
    fn accept(&mut self, mut character: Received) {
        if self.queue.len() == DEPTH {
            self.lost += 1;
            self.queue.pop_back();
            character.errors |= OVERRUN;
        }
        self.queue.push_back(character);
    }

    /// The buffer moves on to the shift register; that it is empty now is worth an interrupt.
    fn load_shifter(&mut self, now: u64) {
        if self.outgoing.is_none()
            && let Some(time) = self.transmit_time()
            && let Some(value) = self.transmit.take()
        {
            // The chip asks when the buffer becomes empty, not while it is: a request that was
            // taken back or served returns only with the next character. A driver that misses it
            // waits forever.
            self.outgoing = Some((now + time, value));
            self.transmit_due = true;
        }
    }

    /// Returns the reason for the channel's interrupt request, if any.
    pub(super) fn cause(&self) -> Option<Cause> {
        let enabled = self.write[1];
        let mode = enabled >> 3 & 3;
        let waits = !self.queue.is_empty();
        let error = self.errors() & (OVERRUN | FRAMING) != 0;
        // Special conditions come before plain characters, and receiving before sending (Zilog
        // UM0081). In mode 1 only the first character after command 4 interrupts, but an error
        // always does.
        match mode {
            1..=3 if waits && error => Some(Cause::Special),
            1 if waits && self.first => Some(Cause::Receive),
            2 | 3 if waits => Some(Cause::Receive),
            _ if enabled & 2 != 0 && self.transmit_due => Some(Cause::Transmit),
            _ if enabled & 1 != 0 && self.external_due => Some(Cause::External),
            _ => None,
        }
    }

    /// Whether a status of its own changes the vector; only channel B's bit counts.
    pub(super) fn status_affects_vector(&self) -> bool {
        self.write[1] & 4 != 0
    }

    /// The vector, which channel B keeps.
    pub(super) fn vector(&self) -> u8 {
        self.write[2]
    }

    pub(super) fn lost(&self) -> u64 {
        self.lost
    }
}
