//! What the Z80 code does while a board works: T-states by routine and line, and which lines and branches have run.

mod calls;
mod coverage;
mod flame;
mod meter;
mod profile;
mod workout;

pub use calls::{Calls, Node};
pub use coverage::{Coverage, FileCoverage, coverage_table};
pub use flame::svg;
pub use meter::{Count, Meter};
pub use profile::{LineTime, RoutineTime, annotated, line_table, lines, routine_table, routines};
pub use workout::Workout;
