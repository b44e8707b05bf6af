//! A channel of the ASCI.

use std::collections::VecDeque;

use super::Z180Revision;

/// Bits of CNTLA.
const RE: u8 = 0x40;
const TE: u8 = 0x20;
const RTS: u8 = 0x10;
/// Written as 0, it clears the errors; it reads as the multiprocessor bit.
const EFR: u8 = 0x08;
const EIGHT_BITS: u8 = 0x04;
const PARITY: u8 = 0x02;
const TWO_STOPS: u8 = 0x01;
/// Bits of CNTLB: a further division by 3 if written, the level of /CTS0 if read; by 64, not 16.
const PRESCALER: u8 = 0x20;
const BY_64: u8 = 0x08;
/// Bits of STAT.
const RDRF: u8 = 0x80;
const OVRN: u8 = 0x40;
const FE: u8 = 0x10;
const RIE: u8 = 0x08;
const TDRE: u8 = 0x02;
const TIE: u8 = 0x01;
/// Bits of ASEXT: /CTS0 has no effect; the bit clock is the line's; baud rate generator.
const NO_CTS: u8 = 0x20;
const X1: u8 = 0x10;
const BRG: u8 = 0x08;

/// The registers, by half of their offsets.
const CNTLA: usize = 0;
const CNTLB: usize = 1;
const STAT: usize = 2;
const TDR: usize = 3;

#[derive(Debug, Clone, Copy)]
struct Received {
    value: u8,
    is_framed: bool,
}

#[derive(Debug, Clone)]
pub(super) struct Asci {
    revision: Z180Revision,
    /// Whether the pins of /RTS and /CTS are this channel's.
    has_pins: bool,
    cntla: u8,
    cntlb: u8,
    asext: u8,
    /// RIE and TIE.
    enables: u8,
    pub(super) time_constant: u16,
    queue: VecDeque<Received>,
    /// The errors that STAT shows, until EFR.
    errors: u8,
    /// An overrun happened that STAT does not show yet.
    overrun: bool,
    incoming: Option<(u64, Received)>,
    transmit: Option<u8>,
    last_sent: u8,
    outgoing: Option<(u64, u8)>,
    pub(super) cts_high: bool,
    pub(super) lost: u64,
}

impl Asci {
    pub(super) fn new(revision: Z180Revision, channel: usize) -> Self {
        Self {
            revision,
            has_pins: channel == 0,
            cntla: RTS,
            cntlb: 0x07,
            asext: 0,
            enables: 0,
            time_constant: 0,
            queue: VecDeque::new(),
            errors: 0,
            overrun: false,
            incoming: None,
            transmit: None,
            last_sent: 0,
            outgoing: None,
            cts_high: false,
            lost: 0,
        }
    }

    /// Takes over what a reset does not change.
    pub(super) fn keep_pins(&mut self, before: &Self) {
        (self.cts_high, self.lost) = (before.cts_high, before.lost);
    }

    pub(super) fn read(&mut self, register: usize) -> u8 {
        match register {
            CNTLA => self.cntla & !EFR,
            CNTLB => {
                let cts = if self.has_pins && self.cts_high { PRESCALER } else { 0 };
                self.cntlb & !PRESCALER | cts
            }
            STAT => self.status(),
            TDR => self.last_sent,
            _ => self.take(),
        }
    }

    pub(super) fn write(&mut self, register: usize, value: u8, now: u64) {
        match register {
            CNTLA => {
                self.cntla = value;
                if value & EFR == 0 {
                    self.errors = 0;
                    self.show_errors();
                }
                self.load_shifter(now);
            }
            CNTLB => self.cntlb = value,
            STAT => self.enables = value & (RIE | TIE),
            TDR => {
                self.last_sent = value;
                self.transmit = Some(value);
                self.load_shifter(now);
            }
            _ => {}
        }
    }

    pub(super) fn asext(&self) -> u8 {
        self.asext
    }

    pub(super) fn set_asext(&mut self, value: u8, now: u64) {
        self.asext = value;
        self.load_shifter(now);
    }

    fn status(&self) -> u8 {
        let bit = |set, bit| if set { bit } else { 0 };
        let can_send = self.transmit.is_none() && !self.is_stopped();
        bit(!self.queue.is_empty(), RDRF) | self.errors | self.enables | bit(can_send, TDRE)
    }

    /// Returns `true` while /CTS0 is high and obeyed.
    fn is_stopped(&self) -> bool {
        self.has_pins && self.cts_high && self.asext & NO_CTS == 0
    }

    pub(super) fn interrupt(&self) -> bool {
        let status = self.status();
        let receive = status & RIE != 0 && status & (RDRF | OVRN | FE) != 0;
        receive || status & TIE != 0 && status & TDRE != 0
    }

    pub(super) fn rts_high(&self) -> bool {
        self.has_pins && self.cntla & RTS != 0
    }

    fn take(&mut self) -> u8 {
        let value = self.queue.pop_front().map_or(0, |received| received.value);
        self.show_errors();
        value
    }

    /// Shows the errors of the oldest character, and an overrun once that is the last before it.
    fn show_errors(&mut self) {
        if self.queue.front().is_some_and(|oldest| !oldest.is_framed) {
            self.errors |= FE;
        }
        if self.overrun && self.queue.len() <= 1 {
            self.overrun = false;
            self.errors |= OVRN;
        }
    }

    /// Returns the duration of a character; 0 without a clock.
    pub(super) fn character_time(&self) -> u64 {
        let one = |bit: u8, set: u64, clear: u64| if self.cntlb & bit != 0 { set } else { clear };
        let mode = if self.asext & X1 != 0 { 1 } else { one(BY_64, 64, 16) };
        let has_brg = self.revision == Z180Revision::N && self.asext & BRG != 0;
        let bit = match self.cntlb & 7 {
            7 => 0,
            _ if has_brg => 2 * (u64::from(self.time_constant) + 2) * mode,
            select => (one(PRESCALER, 30, 10) << select) * mode,
        };
        let more = [EIGHT_BITS, PARITY, TWO_STOPS].map(|bit| u64::from(self.cntla & bit != 0));
        (9 + more.iter().sum::<u64>()) * bit
    }

    pub(super) fn can_receive(&self) -> bool {
        self.cntla & RE != 0 && self.incoming.is_none() && self.character_time() > 0
    }

    pub(super) fn start_receiving(&mut self, value: u8, is_framed: bool, now: u64) {
        self.incoming = Some((now + self.character_time(), Received { value, is_framed }));
    }

    pub(super) fn next_event(&self) -> Option<u64> {
        let received = self.incoming.map(|(at, _)| at);
        received.into_iter().chain(self.outgoing.map(|(at, _)| at)).min()
    }

    pub(super) fn advance(&mut self, now: u64) -> Option<u8> {
        if let Some((_, received)) = self.incoming.take_if(|(at, _)| *at <= now) {
            self.accept(received);
        }
        let (at, sent) = self.outgoing.take_if(|(at, _)| *at <= now)?;
        self.load_shifter(at);
        Some(sent)
    }

    fn accept(&mut self, received: Received) {
        let (depth, is_stalled) = match self.revision {
            Z180Revision::K => (1, false),
            Z180Revision::N => (4, self.overrun || self.errors & OVRN != 0),
        };
        if is_stalled || self.queue.len() >= depth {
            self.lost += 1;
            self.overrun |= !is_stalled;
        } else {
            self.queue.push_back(received);
        }
        self.show_errors();
    }

    fn load_shifter(&mut self, now: u64) {
        let runs = self.cntla & TE != 0 && self.character_time() > 0;
        if runs && self.outgoing.is_none() && !self.is_stopped() {
            let sent = self.transmit.take();
            self.outgoing = sent.map(|value| (now + self.character_time(), value));
        }
    }
}
