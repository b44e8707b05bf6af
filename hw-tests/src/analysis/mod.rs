//! What can be said of positions beyond residues: why evaluators differ, and what a program makes of residues.

mod battle;
mod differences;
mod play;
mod prizes;
mod queue;
mod relations;
mod trace;

pub use battle::{Battle, Rule, Rules};
pub use differences::{Comparison, Counts, Tally, compare};
pub use prizes::{Account, Prizes};
pub use relations::{Group, Relation, relations};
pub use trace::{Action, Party, Step, kinds, revalued, trace};
