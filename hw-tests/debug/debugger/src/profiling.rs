//! Sampling, the workload for coverage of the firmware, and calls of single routines. Profiles and
//! coverage themselves are those of `board_simulator::profiling`.

mod coverage_workload;
pub mod routine_runner;
mod samples;

pub use board_simulator::profiling::*;
pub use coverage_workload::CoverageWorkload;
pub use samples::{SampledRoutine, Samples, sample_table};
