//! Sampling. Profiles and coverage themselves are those of `board_simulator::profiling`.

mod samples;

pub use board_simulator::profiling::*;
pub use samples::{SampledRoutine, Samples, sample_table};
