//! The work of the Z80 code on a board: T-states by routine and line, and lines and branches that
//! have run.

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

pub use call_tree::{CallTree, Node};
pub use callgrind::callgrind;
pub use coverage::{Coverage, FileCoverage, coverage_table};
pub use coverage_workload::CoverageWorkload;
pub use flame::svg;
pub use profile::{
    LineTime, RoutineTime, annotated, compared_table, line_table, lines, routine_table, routines,
};
pub use routine_map::RoutineMap;
pub use samples::{SampledRoutine, Samples, sample_table};
pub use speedscope::speedscope;
pub use step_counter::{Count, StepCounter};
