//! Mutation testing: changes a statement of the evaluator, checks that `hw-tests run` fails.

mod equivalents;
mod operators;
mod tester;

pub use equivalents::{EquivalentGroup, equivalent_group, equivalent_groups};
pub use operators::{Mutant, MutationOperator, apply_mutant, mutants_in};
pub use tester::{MutantOutcome, MutationError, MutationTester, test_mutants};

/// The source files with code and constants of the evaluator.
pub const EVALUATOR_FILES: [&str; 13] = [
    "sargon.asm",
    "tables.asm",
    "newlst.asm",
    "attack.asm",
    "atksav.asm",
    "pnck.asm",
    "pinfnd.asm",
    "xchng.asm",
    "nextad.asm",
    "spread.asm",
    "xchfst.asm",
    "points.asm",
    "trace.asm",
];

/// Returns all mutants of the evaluator.
pub fn all_mutants() -> Vec<Mutant> {
    let of = |file| firmware::source(file).map_or(Vec::new(), |text| mutants_in(file, text));
    EVALUATOR_FILES.into_iter().flat_map(of).collect()
}
