//! The Motorola 68B50 (ACIA), after its data sheet: control and status register, one receive and
//! one transmit holding register before their shift registers, overrun, interrupt, /RTS and /CTS.

/// Status bits.
const RDRF: u8 = 0x01;
const TDRE: u8 = 0x02;
const CTS: u8 = 0x08;
const FRAMING: u8 = 0x10;
const OVERRUN: u8 = 0x20;
const IRQ: u8 = 0x80;

/// The character in the receive shift register.
#[derive(Debug, Clone, Copy)]
struct Incoming {
    complete: u64,
    value: u8,
    good_frame: bool,
}

/// A 68B50. Times are T-states of the processor clock.
#[derive(Debug, Clone)]
pub struct Acia {
    control: u8,
    /// Whether the power-on reset latch is set, until the first control word.
    held: bool,
    clocks_ratio: u32,
    received: u8,
    full: bool,
    overrun: bool,
    overrun_hidden: bool,
    framing: bool,
    incoming: Option<Incoming>,
    transmit: Option<u8>,
    outgoing: Option<(u64, u8)>,
    /// The level of /CTS; high (`true`) stops the transmitter. RC2014 modules tie it low.
    pub cts_high: bool,
    lost: u64,
}

impl Acia {
    /// Creates a chip as after power-up. `clocks_ratio` is the number of processor clocks per clock
    /// of the chip, 1 on RC2014 boards.
    pub fn new(clocks_ratio: u32) -> Self {
        Self {
            control: 0x03,
            held: true,
            clocks_ratio,
            received: 0,
            full: false,
            overrun: false,
            overrun_hidden: false,
            framing: false,
            incoming: None,
            transmit: None,
            outgoing: None,
            cts_high: false,
            lost: 0,
        }
    }

    /// Reads the status register, which has no side effect.
    pub fn status(&self) -> u8 {
        let bit = |set, bit| if set { bit } else { 0 };
        bit(self.full, RDRF)
            | bit(self.can_take(), TDRE)
            | bit(self.cts_high, CTS)
            | bit(self.framing, FRAMING)
            | bit(self.overrun, OVERRUN)
            | bit(self.interrupt(), IRQ)
    }

    /// Reads the receive register. After an overrun, the first read returns the old character and
    /// sets the overrun bit, with the register still full; the second read clears both.
    pub fn read(&mut self) -> u8 {
        // The data sheet: the overrun appears after the character before it was read, so that the
        // program detects the loss at its position in the stream.
        if self.overrun_hidden {
            self.overrun_hidden = false;
            self.overrun = true;
        } else {
            self.full = false;
            self.overrun = false;
            self.framing = false;
        }
        self.received
    }

    /// Writes the control register; low bits 11 are the master reset.
    pub fn set_control(&mut self, value: u8) {
        self.control = value;
        self.held = false;
        if value & 3 == 3 {
            // The reset affects neither the chip's inputs nor the count of lost characters. The
            // first control word after power-up clears `held`, even if it is another one.
            let clocks_ratio = self.clocks_ratio;
            let cts_high = self.cts_high;
            let lost = self.lost;
            let fresh = Self::new(clocks_ratio);
            *self = Self { control: value, held: false, cts_high, lost, ..fresh };
        }
    }

    /// Writes the transmit register. A character still in it is overwritten, as on the chip.
    pub fn write(&mut self, value: u8, now: u64) {
        if self.runs() {
            self.transmit = Some(value);
            self.load_shifter(now);
        }
    }

    /// Returns `true` if the chip requests an interrupt.
    pub fn interrupt(&self) -> bool {
        let receive = self.control & 0x80 != 0 && (self.full || self.overrun);
        let transmit = self.control & 0x60 == 0x20 && self.can_take();
        self.runs() && (receive || transmit)
    }

    /// Returns `true` if /RTS is high, which requests the host to stop sending.
    pub fn rts_high(&self) -> bool {
        self.control & 0x60 == 0x40
    }

    /// Returns the duration of a character on the line; 0 while the chip is in reset.
    pub fn character_time(&self) -> u64 {
        let divider = match self.control & 3 {
            0 => 1,
            1 => 16,
            2 => 64,
            _ => return 0,
        };
        // Word select 000, 001 and 100 have eleven bits; the others ten (start, data, parity,
        // stop).
        let bits = if matches!((self.control >> 2) & 7, 2 | 3 | 5) { 10 } else { 11 };
        bits * divider * u64::from(self.clocks_ratio)
    }

    /// Returns `true` if the reception of another character may start.
    pub fn can_receive(&self) -> bool {
        self.runs() && self.incoming.is_none()
    }

    /// Starts to receive a character, which is complete one character time later. `good_frame` is
    /// `false` for a missing stop bit, as with a wrong baud rate.
    pub fn start_receiving(&mut self, value: u8, good_frame: bool, now: u64) {
        let complete = now + self.character_time();
        self.incoming = Some(Incoming { complete, value, good_frame });
    }

    /// Returns when the chip next changes its state without an access.
    pub fn next_event(&self) -> Option<u64> {
        let received = self.incoming.map(|incoming| incoming.complete);
        let sent = self.outgoing.map(|(at, _)| at);
        received.into_iter().chain(sent).min()
    }

    /// Advances the chip to `now`. Returns the character that has been transmitted, if any.
    pub fn advance(&mut self, now: u64) -> Option<u8> {
        if let Some(incoming) = self.incoming.take_if(|incoming| incoming.complete <= now) {
            self.accept(incoming);
        }
        let (at, sent) = self.outgoing.take_if(|(at, _)| *at <= now)?;
        // The next character starts when the line became free, not at `now`: a step may end later,
        // and the gap would lower the throughput.
        self.load_shifter(at);
        Some(sent)
    }

    /// Returns the number of characters lost to overrun since power-up.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    fn accept(&mut self, incoming: Incoming) {
        // The character in the register is kept, the new one is lost. Several losses in a row set
        // the overrun bit once.
        if self.full {
            self.lost += 1;
            self.overrun_hidden |= !self.overrun;
        } else {
            self.received = incoming.value;
            self.framing = !incoming.good_frame;
            self.full = true;
        }
    }

    fn load_shifter(&mut self, now: u64) {
        if self.outgoing.is_none()
            && let Some(value) = self.transmit.take()
        {
            self.outgoing = Some((now + self.character_time(), value));
        }
    }

    fn can_take(&self) -> bool {
        self.runs() && self.transmit.is_none() && !self.cts_high
    }

    fn runs(&self) -> bool {
        !self.held && self.control & 3 != 3
    }
}
