//! Runs cases on several boards: a shared queue, a second board for every failure, and one
//! merged verdict per case.

mod merge;
mod scheduler;
mod state;
mod work;
mod worker;

pub use merge::merge_verdicts;
pub use scheduler::{Assignment, CaseOutcome, Scheduler, SchedulerStats, SchedulerUpdate};
pub use state::{
    BoardConnected, BoardFinished, Fleet, FleetBoard, FleetEvent, FleetSummary, Prepare,
};
pub use work::run_fleet;
