//! Tests of the debugger.

mod corrupted;
mod random_sessions;
mod sessions;
mod stops_and_steps;
