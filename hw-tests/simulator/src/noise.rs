//! Pseudo-random numbers: what memory holds after power comes on, and what a cut leaves of a
//! write.

/// A generator, xorshift64 (Marsaglia, 2003): quick, and the same for the same seed.
#[derive(Debug, Clone)]
pub(super) struct Noise(u64);

impl Noise {
    /// Starts with any seed.
    pub(super) fn new(seed: u64) -> Self {
        // Neighbouring seeds shall not begin alike, and zero would stay zero (Steele's golden
        // gamma).
        Self((seed ^ 0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// The next byte.
    pub(super) fn byte(&mut self) -> u8 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 24) as u8
    }

    /// A byte in which each bit is set with a probability of `share` of 256.
    pub(super) fn bits(&mut self, share: u8) -> u8 {
        (0..8).fold(0, |bits, _| bits << 1 | u8::from(self.byte() < share))
    }
}
