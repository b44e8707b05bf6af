//! Test support for `hil-harness`: a deterministic simulation of whole runs with a simulated disk,
//! simulated runs on several scripted boards, calls of single routines of the evaluator, mutation
//! testing of it, and results files of any length. Tests, examples and CI scripts use it; programs do not.
//!
//! ```
//! use hil_testing::mutants::{apply_mutant, mutants_in};
//!
//! let source = "LOOP:   INX  H\n";
//! let mutants = mutants_in("points.asm", source);
//! assert_eq!(mutants[0].to_string(), "points.asm: INX  H -> DCX H");
//! assert_eq!(apply_mutant(&mutants[0], source), "LOOP:   DCX H\n");
//! ```

pub mod broken_exchange;
pub mod many_results;
pub mod mutants;
pub mod routine_runner;
pub mod run_simulation;
pub mod simulated_disk;
pub mod simulation;
