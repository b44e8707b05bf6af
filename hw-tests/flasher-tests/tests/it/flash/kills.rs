//! `rcflash` killed in the middle of a write: a plain rerun succeeds.
//! `cargo bench -p rcflash-tests --bench kills` does the same fifty times.

#[path = "../../../benches/kills/kill.rs"]
mod kill;

use crate::flash::programs;

#[test]
fn a_plain_rerun_succeeds_after_kills_at_random_moments() {
    let killed = kill::kill_and_rerun(&programs::path("rcflash"), 10, 0);
    assert!(killed >= 3, "only {killed} kills came in the middle of a write");
}
