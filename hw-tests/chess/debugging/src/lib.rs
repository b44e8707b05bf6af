//! What Sargon's exchange evaluator adds to the debugger: sessions at the call for a square, panes
//! with its attackers and its position, and the first wrong step behind a wrong residue.

mod diagnose;
mod panes;
mod registers;
mod session;

pub use diagnose::{Diagnosis, diagnose};
pub use panes::{ATTACKERS_PANE, add_panes};
pub use registers::{RegisterRole, xchng_register_roles};
pub use session::{
    DebugSession, EntryOutcome, SessionError, evaluator_debugger, open_position, run_to_exchange,
    start_evaluator,
};
