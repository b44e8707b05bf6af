//! The command `sargon exhaust`; the check itself is tested beside it.

mod command;
#[allow(dead_code, reason = "the tests beside the check use the rest")]
mod model;
