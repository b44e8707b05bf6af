//! One run on many boards at once: every board takes the next case as soon as it has room, what is
//! wrong on one is put to another, and the boards' words become one verdict.

mod join;
mod scheduler;
pub mod simulated;
mod work;

pub use join::join;
pub use scheduler::{Changes, Next, Outcome, Scheduler, Tally};
pub use work::{Event, Fleet, FleetEnd, Member, Worked, put};
