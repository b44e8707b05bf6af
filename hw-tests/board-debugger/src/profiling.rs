//! Profiling and coverage: T-states by routine and line, call trees, sampling, branches.

mod call_tree;
mod callgrind;
mod coverage;
mod coverage_workload;
mod flame;
mod profile;
mod routine_map;
pub mod routine_runner;
mod samples;
mod speedscope;
mod step_counter;

pub use call_tree::{CallNode, CallTree};
pub use callgrind::to_callgrind;
pub use coverage::{Coverage, FileCoverage, coverage_table};
pub use coverage_workload::CoverageWorkload;
pub use flame::flame_graph_svg;
pub use profile::{
    LineTime, RoutineTime, annotated_source, comparison_table, line_table, line_times,
    routine_table, routine_times,
};
pub use routine_map::RoutineMap;
pub use samples::{SampledRoutine, Samples, sample_table};
pub use speedscope::to_speedscope;
pub use step_counter::{InstructionCount, StepCounter};
