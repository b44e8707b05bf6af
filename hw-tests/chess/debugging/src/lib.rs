//! What Sargon's exchange evaluator adds to the debugger: sessions at the call for a square, panes
//! with its attackers and its position, the first wrong step behind a wrong residue; and what
//! profiler and coverage run.

mod coverage_workload;
mod diagnose;
mod machine;
mod panes;
mod registers;
mod session;

pub use coverage_workload::CoverageWorkload;
pub use diagnose::{Diagnosis, diagnose};
pub use machine::EvaluatorMachine;
pub use panes::{ATTACKERS_PANE, add_panes};
pub use registers::{RegisterRole, xchng_register_roles};
pub use session::{DebugSession, EntryOutcome, SessionError, open_position, run_to_exchange};
