//! Tests of whole runs without a board.

mod fleet;
mod library;
mod session;
mod test_suite;

pub(crate) use hil_harness::suite;
