//! Hardware-in-the-loop regression: boards, rigs, the runner with its verdicts, and reports.

pub mod answers;
pub mod baseline;
pub mod board;
pub mod campaign;
mod checks;
pub mod compare;
pub mod disk;
pub mod doctor;
pub mod exhaust;
pub mod fleet;
pub mod live;
pub mod mutants;
pub mod pair;
pub mod report;
pub mod residues;
pub mod results;
pub mod runner;
pub mod simulation;
