//! Analysis of positions beyond residues: differences between evaluators with their reasons, the
//! use of residues, second-order attacks, exchanges step by step.

mod after_move;
mod battle;
pub mod behaviours;
pub mod boards;
mod capturers;
mod differences;
mod fetches;
mod play;
mod prizes;
mod queue;
mod relations;
mod trace;

pub use after_move::{AfterMove, after_move};
pub use battle::{Battle, Rule, Rules};
pub use capturers::{Capturers, capturers};
pub use differences::{Comparison, Counts, Tally, compare};
pub use fetches::{Fetch, fetches};
pub use prizes::{Account, Prizes};
pub use relations::{Group, Relation, relations};
pub use trace::{Action, Party, Step, kinds, revalued, takers, trace};
