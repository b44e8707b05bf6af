//! The work of the Z80 code on a board: T-states by routine and line, and lines and branches that
//! have run.

pub mod bare;
mod callgrind;
mod calls;
mod coverage;
mod flame;
mod meter;
mod profile;
mod regions;
mod samples;
mod speedscope;
mod workout;

pub use callgrind::callgrind;
pub use calls::{Calls, Node};
pub use coverage::{Coverage, FileCoverage, coverage_table};
pub use flame::svg;
pub use meter::{Count, Meter};
pub use profile::{
    LineTime, RoutineTime, annotated, compared_table, line_table, lines, routine_table, routines,
};
pub use regions::Regions;
pub use samples::{SampledRoutine, Samples, sample_table};
pub use speedscope::speedscope;
pub use workout::Workout;
