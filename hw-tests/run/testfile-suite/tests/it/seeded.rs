//! Random choices from a seed, for tests that build a file from many of them.

use proptest::prelude::Rng as _;
use proptest::test_runner::{RngAlgorithm, TestRng};

pub(crate) struct Rng(TestRng);

impl Rng {
    pub(crate) fn from_seed(seed: u64) -> Self {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        Self(TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
    }

    /// Returns a number from 0 to `limit - 1`.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.0.next_u64() % limit as u64) as usize
    }
}
