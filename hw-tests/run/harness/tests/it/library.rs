//! The suite in `docs/library`, written against the published interface, runs as any other.

#[expect(unreachable_pub, reason = "it is written as a library")]
#[path = "../../../../../docs/library/suite.rs"]
mod suite;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use firmware::profile::BoardProfile;
use hil_harness::campaign::{self, Executor, FinishedRun, Observer, RunConfig, RunContext};
use hil_harness::file_system::OsFileSystem;
use hil_harness::live::SetupError;
use hil_harness::report::RunTarget;
use hil_harness::runner::{RunEnd, RunOptions, RunSummary};
use hil_harness::suite::CaseResult;

use suite::{Factors, Products, judge};

/// The routine under test.
type Multiplier = fn([u8; 2]) -> u16;

/// Calls the routine in this process.
struct Caller(Multiplier);

impl Executor for Caller {
    type Suite = Products;
    type Plan = Multiplier;

    fn planned_profile(_plan: &Multiplier) -> Option<&BoardProfile> {
        None
    }

    fn complete_plan(
        _plan: &mut Multiplier,
        _cancel: &Arc<AtomicBool>,
        _case_ids: &mut dyn Iterator<Item = String>,
    ) {
    }

    fn name(&self) -> &str {
        "this process"
    }

    fn program(&self) -> String {
        "multiplier".to_owned()
    }

    fn target(&self) -> RunTarget {
        RunTarget { board: self.name().to_owned(), ..RunTarget::default() }
    }

    fn run(
        &mut self,
        cases: &mut dyn Iterator<Item = Factors>,
        _options: RunOptions,
        on_result: &mut dyn FnMut(CaseResult<Products>),
    ) -> RunSummary {
        cases.for_each(|case| on_result(judge(&case, (self.0)(case.factors))));
        RunSummary { ended: RunEnd::Complete, ..RunSummary::default() }
    }
}

struct Silent;

impl<T: campaign::Executor> Observer<T> for Silent {}

fn run(multiplier: Multiplier) -> FinishedRun<Products> {
    let cases = [("small", [3, 7]), ("zero", [0, 9]), ("large", [255, 255])];
    let cases = cases.map(|(id, factors)| Factors { id: id.to_owned(), factors });
    let context = RunContext {
        file_system: &OsFileSystem,
        clock: Arc::new(Instant::now),
        stop: Arc::new(AtomicBool::new(false)),
        prepare: &|plan: &Multiplier| Ok::<_, SetupError>(Caller(*plan)),
        observer: &mut Silent,
    };
    let config = RunConfig { repeat: 1, profile: "none".to_owned(), ..RunConfig::default() };
    campaign::run(&config, &cases.to_vec(), Ok(multiplier), context).expect("it ends")
}

#[test]
fn the_suite_passes_and_fails_as_its_routine_does() {
    let right = run(|[a, b]| u16::from(a) * u16::from(b));
    assert_eq!((right.exit_code(), right.totals.counts().pass), (0, 3));
    assert!(right.totals.table().contains("products"), "{}", right.totals.table());
    let wrong = run(|[a, b]| u16::from(a.wrapping_mul(b)));
    assert_eq!((wrong.exit_code(), wrong.totals.counts().fail), (1, 1));
    let shown = wrong.totals.problems_text();
    assert!(shown.contains("1, expected 65025"), "{shown}");
}
