//! Runs cases on several boards: a shared queue, a second board for every failure, and one
//! merged verdict per case.

mod merge;
mod scheduler;
mod work;

pub use merge::merge_verdicts;
pub use scheduler::{Assignment, CaseOutcome, Scheduler, SchedulerStats, SchedulerUpdate};
pub use work::{
    BoardConnected, BoardFinished, Fleet, FleetBoard, FleetEvent, FleetSummary, Prepare, run_fleet,
};
