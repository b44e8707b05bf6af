//! The exhaustive check: board and reference on every well-formed attackers array of a space.
//!
//! The board enumerates the arrays itself, and replies with the CRC-32 and the histogram of the
//! residues of a chunk of arrays; the reference computes the same. If the two differ, bisection of
//! the chunk finds the first array with a different residue.

mod check;
mod expect;
mod report;
mod space;

pub use check::{
    CHUNK_ARRAYS, ExhaustEnd, ExhaustPlan, ExhaustTotals, FirstMismatch, TStateStats, check_arrays,
};
pub use expect::ExpectedChunk;
pub use report::{mismatch_text, summary_text};
pub use space::{ArrayIndex, ArraySpace, Section, Space};
