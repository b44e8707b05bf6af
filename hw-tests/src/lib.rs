//! Simulated board, host reference and hardware-in-the-loop regression.

pub mod analysis;
pub mod bare;
pub mod behaviours;
pub mod board;
pub mod compare;
pub mod corpus;
pub mod debug;
pub mod doctor;
pub mod encode;
pub mod exhaust;
mod markup;
pub mod measure;
pub mod modern;
pub mod mutants;
pub mod pair;
pub mod reference;
pub mod report;
pub mod residues;
pub mod rig;
pub mod runner;
pub mod sim;
pub mod standin;
