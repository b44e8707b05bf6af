//! The exhaustive check: board and reference on every well-formed attackers array of a space.
//!
//! The board counts through the arrays by itself and tells, a stretch at a time, the CRC-32 and the
//! histogram of the residues; the reference does the same. Where the two differ, halving the
//! stretch finds the first array.

mod check;
mod expect;
mod report;
mod space;

pub use check::{CheckEnd, Finding, Goal, STRETCH, Times, Totals, check};
pub use expect::Expected;
pub use report::{finding, summary};
pub use space::{Arrays, Place, Section, Space};
