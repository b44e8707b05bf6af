//! Tests of whole runs without a board.

mod executor;
mod fleet;
mod library;
mod test_suite;

pub(crate) use hil_harness::suite;
