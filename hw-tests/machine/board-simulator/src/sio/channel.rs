//! One channel of the SIO: registers, receiver and transmitter, in asynchronous modes.

use std::collections::VecDeque;

/// The number of characters in the receive queue.
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

/// The causes of a channel's interrupt request, in descending priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cause {
    Special,
    Receive,
    Transmit,
    External,
}

#[derive(Debug, Clone, Copy)]
struct Received {
    value: u8,
    errors: u8,
}

/// A channel. Times are T-states of the processor's clock.
#[derive(Debug, Clone)]
pub(super) struct Channel {
    /// WR0 to WR7. WR0 contains the register pointer.
    write: [u8; 8],
    queue: VecDeque<Received>,
    /// Overrun, latched until an error reset.
    latched: u8,
    incoming: Option<(u64, Received)>,
    transmit: Option<u8>,
    outgoing: Option<(u64, u8)>,
    transmit_due: bool,
    external_due: bool,
    /// Whether the next character interrupts, in the mode "interrupt on first character".
    first: bool,
    /// The period of the receive and transmit clock in T-states.
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

    /// Resets the channel: receiver and transmitter off, /RTS and /DTR high, no interrupts.
    pub(super) fn reset(&mut self) {
        let clock_period = self.clock_period;
        let lost = self.lost;
        let cts_high = self.cts_high;
        let dcd_high = self.dcd_high;
        *self = Self { clock_period, lost, cts_high, dcd_high, ..Self::new() };
    }

    /// Writes the register selected by WR0, and returns its number.
    pub(super) fn write_control(&mut self, value: u8, now: u64) -> usize {
        let register = usize::from(self.write[0] & 7);
        if register == 0 {
            self.write[0] = value & 7;
            self.command(value >> 3 & 7);
        } else {
            // The pointer returns to 0 after each access to another register. So an interrupt
            // handler that runs between the two writes causes the same error as on the chip.
            self.write[register] = value;
            self.write[0] = 0;
            self.load_shifter(now); // the write may have turned the transmitter on
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
            _ => {} // 0 is the null command, 1 is for SDLC, 7 concerns the whole chip
        }
    }

    /// Reads the register selected by WR0, and selects RR0.
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

    /// Takes the oldest character. Latches its overrun error, and discards its framing error.
    pub(super) fn read_data(&mut self) -> u8 {
        let Some(character) = self.queue.pop_front() else { return 0 };
        self.latched |= character.errors & OVERRUN;
        self.first = false;
        character.value
    }

    /// Writes the transmit buffer. A character still in it is overwritten.
    pub(super) fn write_data(&mut self, value: u8, now: u64) {
        self.transmit_due = false;
        self.transmit = Some(value);
        self.load_shifter(now);
    }

    pub(super) fn set_cts(&mut self, high: bool, now: u64) {
        self.external_due |= self.cts_high != high;
        self.cts_high = high;
        self.load_shifter(now);
    }

    /// Returns `true` if /RTS is high. It goes low as soon as the bit is set, but high only after
    /// the last character once the bit is cleared.
    pub(super) fn rts_high(&self) -> bool {
        self.write[5] & 0x02 == 0 && self.is_all_sent()
    }

    /// Returns the length of a character in half bits, by WR3 and WR5; `None` if synchronous.
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

    /// Advances the channel to `now`. Returns the character that has been transmitted, if any.
    pub(super) fn advance(&mut self, now: u64) -> Option<u8> {
        if let Some((_, character)) = self.incoming.take_if(|(at, _)| *at <= now) {
            self.accept(character);
        }
        let (at, sent) = self.outgoing.take_if(|(at, _)| *at <= now)?;
        self.load_shifter(at);
        Some(sent)
    }

    /// Queues a character. If the queue is full, it replaces the newest one, with an overrun error.
    fn accept(&mut self, mut character: Received) {
        if self.queue.len() == DEPTH {
            self.lost += 1;
            self.queue.pop_back();
            character.errors |= OVERRUN;
        }
        self.queue.push_back(character);
    }

    /// Moves the transmit buffer to the free shift register, which requests an interrupt.
    fn load_shifter(&mut self, now: u64) {
        if self.outgoing.is_none()
            && let Some(time) = self.transmit_time()
            && let Some(value) = self.transmit.take()
        {
            // The chip requests the interrupt when the buffer becomes empty, not while it is empty.
            // After a cleared or served request, the next one comes only after another character: a
            // driver that misses it waits forever.
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

    /// Returns the bit "status affects vector" of WR1; only channel B's has an effect.
    pub(super) fn status_affects_vector(&self) -> bool {
        self.write[1] & 4 != 0
    }

    /// Returns the vector of WR2; only channel B has one.
    pub(super) fn vector(&self) -> u8 {
        self.write[2]
    }

    pub(super) fn lost(&self) -> u64 {
        self.lost
    }
}
