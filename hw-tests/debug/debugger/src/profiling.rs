//! Sampling, the workload for coverage of the firmware, and calls of single routines. Profiles and
//! coverage themselves are those of `z80-profiler`.

mod coverage_workload;
pub mod routine_runner;
mod samples;

pub use coverage_workload::CoverageWorkload;
pub use samples::{SampledRoutine, Samples, sample_table};
pub use z80_profiler::*;
