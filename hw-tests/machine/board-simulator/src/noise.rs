//! Pseudo-random numbers, for memory after power-up and interrupted writes.

/// The generator xorshift64 (Marsaglia, 2003): fast, and reproducible from its seed.
#[derive(Debug, Clone)]
pub(super) struct Noise(u64);

impl Noise {
    /// Creates a generator from any seed.
    pub(super) fn new(seed: u64) -> Self {
        // The constant (Steele's golden gamma) separates the sequences of neighbouring seeds. The
        // state must not be zero, since it would stay zero.
        Self((seed ^ 0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(super) fn byte(&mut self) -> u8 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 24) as u8
    }

    /// Returns a byte in which each bit is set with a probability of `share` / 256.
    pub(super) fn bits(&mut self, share: u8) -> u8 {
        (0..8).fold(0, |bits, _| bits << 1 | u8::from(self.byte() < share))
    }
}
