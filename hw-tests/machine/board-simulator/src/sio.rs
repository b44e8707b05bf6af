//! The Zilog Z80 SIO/2 in asynchronous modes, after its manual (Zilog UM0081): two channels, a
//! receive queue of three characters, interrupts with vector and priority, /RTS and /CTS.

mod channel;

use channel::{Cause, Channel};

/// One of the two channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SioPort {
    /// Channel A.
    A,
    /// Channel B.
    B,
}

/// A Z80 SIO/2. Times are T-states of the processor clock.
#[derive(Debug, Clone)]
pub struct Sio {
    channels: [Channel; 2],
    /// The priorities of the interrupts in service, innermost last.
    in_service: Vec<usize>,
}

impl Default for Sio {
    fn default() -> Self {
        Self::new()
    }
}

impl Sio {
    /// Creates a chip as after /RESET, with one clock of each channel per T-state.
    pub fn new() -> Self {
        Self { channels: [Channel::new(), Channel::new()], in_service: Vec::new() }
    }

    /// Applies /RESET.
    pub fn reset(&mut self) {
        self.channels.iter_mut().for_each(Channel::reset);
        self.in_service.clear();
    }

    fn channel(&self, port: SioPort) -> &Channel {
        &self.channels[port as usize]
    }

    fn channel_mut(&mut self, port: SioPort) -> &mut Channel {
        &mut self.channels[port as usize]
    }

    /// Sets the period of the channel's receive and transmit clock in T-states.
    pub fn set_clock_period(&mut self, port: SioPort, t_states: u64) {
        self.channel_mut(port).clock_period = t_states.max(1);
    }

    /// Reads a control port.
    pub fn read_control(&mut self, port: SioPort) -> u8 {
        let due = self.due().is_some();
        match (self.channel_mut(port).read_control(), port) {
            ((2, _), SioPort::B) => self.vector(),
            ((0, state), SioPort::A) => state | u8::from(due) << 1,
            ((_, value), _) => value,
        }
    }

    /// Writes a control port.
    pub fn write_control(&mut self, port: SioPort, value: u8, now: u64) {
        let register = self.channel_mut(port).write_control(value, now);
        if register == 0 && value & 0x38 == 0x38 && port == SioPort::A {
            self.return_from_interrupt();
        }
    }

    /// Reads a data port.
    pub fn read_data(&mut self, port: SioPort) -> u8 {
        self.channel_mut(port).read_data()
    }

    /// Writes a data port.
    pub fn write_data(&mut self, port: SioPort, value: u8, now: u64) {
        self.channel_mut(port).write_data(value, now);
    }

    /// Sets the level of /CTS.
    pub fn set_cts(&mut self, port: SioPort, high: bool, now: u64) {
        self.channel_mut(port).set_cts(high, now);
    }

    /// Returns `true` if /RTS is high, which requests the host to stop sending.
    pub fn rts_high(&self, port: SioPort) -> bool {
        self.channel(port).rts_high()
    }

    /// Returns the duration of a received character; `None` while the receiver is off.
    pub fn receive_time(&self, port: SioPort) -> Option<u64> {
        self.channel(port).receive_time()
    }

    /// Returns `true` if the reception of another character may start.
    pub fn can_receive(&self, port: SioPort) -> bool {
        self.channel(port).can_receive()
    }

    /// Starts to receive a character; `good_frame` is `false` for a missing stop bit.
    pub fn start_receiving(&mut self, port: SioPort, value: u8, good_frame: bool, now: u64) {
        self.channel_mut(port).start_receiving(value, good_frame, now);
    }

    /// Returns when the chip next changes its state without an access.
    pub fn next_event(&self) -> Option<u64> {
        self.channels.iter().filter_map(Channel::next_event).min()
    }

    /// Advances the chip to `now`. Returns the character that each channel has transmitted, if any.
    pub fn advance(&mut self, now: u64) -> [Option<u8>; 2] {
        self.channels.each_mut().map(|channel| channel.advance(now))
    }

    /// Returns the number of characters that a channel has lost to overrun since power-up.
    pub fn lost(&self, port: SioPort) -> u64 {
        self.channel(port).lost()
    }

    /// Returns `true` if an interrupt of higher priority than the one in service is pending.
    pub fn interrupt(&self) -> bool {
        let served = self.in_service.last().copied().unwrap_or(usize::MAX);
        self.due().is_some_and(|(rank, ..)| rank < served)
    }

    /// Returns the byte that the chip puts on the bus during an acknowledge cycle.
    pub fn vector(&self) -> u8 {
        let fixed = self.channel(SioPort::B).vector();
        if !self.channel(SioPort::B).status_affects_vector() {
            return fixed;
        }
        let code = match self.due() {
            Some((_, port, cause)) => {
                let cause = match cause {
                    Cause::Transmit => 0,
                    Cause::External => 1,
                    Cause::Receive => 2,
                    Cause::Special => 3,
                };
                cause | u8::from(port == SioPort::A) << 2
            }
            None => 3,
        };
        (fixed & 0xF1) | code << 1
    }

    /// Handles the interrupt acknowledge cycle.
    pub fn acknowledge(&mut self) {
        if let Some((rank, ..)) = self.due() {
            self.in_service.push(rank);
        }
    }

    /// Handles RETI.
    pub fn return_from_interrupt(&mut self) {
        self.in_service.pop();
    }

    /// Returns `true` while an interrupt is in service, until RETI.
    pub fn in_service(&self) -> bool {
        !self.in_service.is_empty()
    }

    /// Returns the pending interrupt of the highest priority, which is 0.
    fn due(&self) -> Option<(usize, SioPort, Cause)> {
        [SioPort::A, SioPort::B].into_iter().enumerate().find_map(|(index, port)| {
            let cause = self.channel(port).cause()?;
            let rank = match cause {
                Cause::Special | Cause::Receive => 0,
                Cause::Transmit => 1,
                Cause::External => 2,
            };
            Some((3 * index + rank, port, cause))
        })
    }
}
