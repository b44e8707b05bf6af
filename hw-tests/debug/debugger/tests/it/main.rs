//! Tests of the debugger.

mod corrupted;
mod random_sessions;
mod sessions;
