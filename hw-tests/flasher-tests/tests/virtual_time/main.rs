//! Loading through stock monitors in virtual time: every recorded state on every line, replies that
//! come late, loads that end early, characters that are lost or changed. These tests keep the
//! processor busy, so they are apart from the tests of `it`, whose boards run by the clock.

mod corrupted_line;
mod each_state;
mod early_end;
mod late_replies;
mod lossy;
#[path = "../it/loaders/states.rs"]
#[allow(dead_code, reason = "the tests by the clock use the rest")]
mod states;
mod turns;
#[path = "../it/loaders/virtual_bench.rs"]
#[allow(dead_code, reason = "the tests by the clock use the rest")]
mod virtual_bench;
