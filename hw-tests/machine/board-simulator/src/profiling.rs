//! T-states by routine and line, call trees, and the lines and branches that have run.
//!
//! [`StepCounter`] counts the instructions of a simulated board or processor; all else is made of
//! its counts and a [`CodeMap`](firmware::code_map::CodeMap).

mod call_tree;
mod callgrind;
mod coverage;
mod flame;
mod profile;
mod routine_map;
mod speedscope;
mod step_counter;

pub use call_tree::{CallNode, CallTree};
pub use callgrind::CallgrindProfile;
pub use coverage::{Coverage, FileCoverage, coverage_table};
pub use flame::flame_graph_svg;
pub use profile::{
    LineTime, RoutineTime, annotated_source, comparison_table, line_table, line_times,
    qualified_name, routine_table, routine_times,
};
pub use routine_map::RoutineMap;
pub use speedscope::to_speedscope;
pub use step_counter::{InstructionCount, StepCounter};
