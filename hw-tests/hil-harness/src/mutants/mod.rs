//! Mutation testing of the evaluator: would `hw-tests run` notice if a statement of it were another
//! one?

mod equivalents;
mod judge;
mod text;

pub use equivalents::{Group, group_of, groups, table};
pub use judge::{Fate, Judge, JudgeError, judge_all};
pub use text::{Kind, Mutant, apply, mutants};

/// The files with code and constants of the evaluator.
pub const FILES: [&str; 13] = [
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

/// All mutants of the evaluator.
#[must_use]
pub fn all() -> Vec<Mutant> {
    let of = |file| firmware::source(file).map_or(Vec::new(), |text| mutants(file, text));
    FILES.into_iter().flat_map(of).collect()
}
