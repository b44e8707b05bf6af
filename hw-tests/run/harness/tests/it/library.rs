//! The suite in `docs/library`, written against the published interface, runs as any other.

#[expect(unreachable_pub, reason = "it is written as a library")]
#[path = "../../../../../docs/library/suite.rs"]
mod suite;

use hil_harness::campaign::RunConfig;

#[test]
fn the_suite_passes_and_fails_as_its_routine_does() {
    let config = RunConfig { repeat: 1, profile: "none".to_owned(), ..RunConfig::default() };
    let right = suite::run(&config, |[a, b]| u16::from(a) * u16::from(b));
    assert_eq!((right.exit_code(), right.totals.counts.pass), (0, 3));
    assert!(right.totals.results_text().contains("products"), "{}", right.totals.results_text());
    let wrong = suite::run(&config, |[a, b]| u16::from(a.wrapping_mul(b)));
    assert_eq!((wrong.exit_code(), wrong.totals.counts.fail), (1, 1));
    let shown = wrong.totals.results_text();
    assert!(shown.contains("1, expected 65025"), "{shown}");
}
