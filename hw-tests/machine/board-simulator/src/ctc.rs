//! The Zilog Z80 CTC, after its manual (Zilog UM0081): four counters that divide a clock for a
//! serial chip, or interrupt periodically.

#[derive(Debug, Clone, Default)]
struct Counter {
    control: u8,
    /// Whether the next byte written is the time constant.
    constant_follows: bool,
    /// The time constant, 1 to 256; 0 until it is first written.
    constant: u64,
    /// The period of the clock at CLK/TRG in T-states; 0 if nothing is connected.
    input: u64,
    /// When the counter was last loaded with the constant.
    began: u64,
    due: bool,
}

/// Bits of the control word.
const INTERRUPTS: u8 = 0x80;
const COUNTS: u8 = 0x40;
const BY_256: u8 = 0x20;
const CONSTANT_FOLLOWS: u8 = 0x04;
const RESET: u8 = 0x02;
const CONTROL: u8 = 0x01;

impl Counter {
    /// Returns the T-states per count; `None` while the counter is stopped.
    fn step(&self) -> Option<u64> {
        let prescaler = if self.control & BY_256 != 0 { 256 } else { 16 };
        let step = if self.control & COUNTS != 0 { self.input } else { prescaler };
        (self.constant > 0 && step > 0 && self.control & RESET == 0).then_some(step)
    }

    fn period(&self) -> Option<u64> {
        Some(self.step()? * self.constant)
    }

    fn write(&mut self, value: u8, now: u64) {
        if self.constant_follows {
            self.constant_follows = false;
            self.constant = if value == 0 { 256 } else { u64::from(value) };
            self.control &= !RESET;
            self.began = now;
        } else {
            self.control = value;
            self.constant_follows = value & CONSTANT_FOLLOWS != 0;
            self.due &= value & RESET == 0 && value & INTERRUPTS != 0;
        }
    }

    /// Returns the remaining count, as the processor reads it.
    fn left(&self, now: u64) -> u8 {
        let Some(step) = self.step() else { return self.constant as u8 };
        (self.constant - now.saturating_sub(self.began) / step % self.constant) as u8
    }

    fn next_zero(&self) -> Option<u64> {
        Some(self.began + self.period()?)
    }

    fn advance(&mut self, now: u64) {
        let Some(period) = self.period() else { return };
        let zeros = now.saturating_sub(self.began) / period;
        self.began += zeros * period;
        self.due |= zeros > 0 && self.control & INTERRUPTS != 0;
    }
}

/// A CTC. Times are T-states of the processor clock.
#[derive(Debug, Clone, Default)]
pub struct Ctc {
    counters: [Counter; 4],
    vector: u8,
    in_service: Vec<usize>,
}

impl Ctc {
    /// Creates a chip as after /RESET, with unconnected inputs.
    pub fn new() -> Self {
        Self::default()
    }

    /// Connects a clock with a period of `t_states` to the input of a channel.
    pub fn connect(&mut self, channel: usize, t_states: u64) {
        self.counters[channel & 3].input = t_states;
    }

    /// Applies /RESET, which stops all counters and disables their interrupts.
    pub fn reset(&mut self) {
        let inputs = self.counters.each_ref().map(|counter| counter.input);
        self.counters = inputs.map(|input| Counter { input, ..Counter::default() });
        self.in_service.clear();
    }

    /// Writes to a channel: the time constant if one is expected, a control word, or, in channel 0,
    /// the interrupt vector. Unlike on the chip, a running counter is reloaded with a new constant
    /// at once, not when it reaches zero.
    pub fn write(&mut self, channel: usize, value: u8, now: u64) {
        self.advance(now);
        let channel = channel & 3;
        let counter = &mut self.counters[channel];
        if counter.constant_follows || value & CONTROL != 0 {
            counter.write(value, now);
        } else if channel == 0 {
            self.vector = value & 0xF8;
        }
    }

    /// Reads the remaining count of a channel.
    pub fn read(&self, channel: usize, now: u64) -> u8 {
        self.counters[channel & 3].left(now)
    }

    /// Returns the period of a channel's output in T-states; `None` while it is stopped.
    pub fn output_period(&self, channel: usize) -> Option<u64> {
        self.counters[channel & 3].period()
    }

    /// Returns when a channel next requests an interrupt.
    pub fn next_event(&self) -> Option<u64> {
        let interrupts = |counter: &&Counter| counter.control & INTERRUPTS != 0 && !counter.due;
        self.counters.iter().filter(interrupts).filter_map(Counter::next_zero).min()
    }

    /// Advances the counters to `now`.
    pub fn advance(&mut self, now: u64) {
        self.counters.iter_mut().for_each(|counter| counter.advance(now));
    }

    fn due(&self) -> Option<usize> {
        self.counters.iter().position(|counter| counter.due)
    }

    /// Returns `true` if the chip requests an interrupt. Channel 0 has the highest priority.
    pub fn interrupt(&self) -> bool {
        let served = self.in_service.last().copied().unwrap_or(usize::MAX);
        self.due().is_some_and(|channel| channel < served)
    }

    /// Returns the byte that the chip puts on the bus during an acknowledge cycle.
    pub fn vector(&self) -> u8 {
        self.vector | (self.due().unwrap_or(0) << 1) as u8
    }

    /// Handles the interrupt acknowledge cycle.
    pub fn acknowledge(&mut self) {
        if let Some(channel) = self.due() {
            self.counters[channel].due = false;
            self.in_service.push(channel);
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
}
