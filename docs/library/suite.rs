//! A suite for `hil-harness`: products of two bytes, computed by a routine under test and judged by
//! the host. Scheduling, results file, resume, baseline and reports are the engine's.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use hil_harness::campaign::{
    self, ConnectedBoard, Executor, FinishedRun, Member, Observer, RunConfig, RunContext,
};
use hil_harness::file_system::OsFileSystem;
use hil_harness::report::RunTarget;
use hil_harness::runner::{RunEnd, RunOptions, RunSummary};
use hil_harness::suite::{CaseResult, Page, Suite, Verdict};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Products;

/// A case: the routine is called with two factors.
#[derive(Debug, Clone)]
pub struct Factors {
    pub id: String,
    pub factors: [u8; 2],
}

/// What is stored of a result, beside its verdict.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Product {
    pub factors: String,
    pub product: Option<u16>,
}

impl Suite for Products {
    type Case = Factors;
    type Difference = String;
    type Details = Product;
    const VALUE_NOUN: &'static str = "products";
    const SUBJECT: &'static str = "Factors";
    const PAGE: Page = Page { style: "", scripts: &[], search: "", legend: "" };

    fn id(case: &Factors) -> &str {
        &case.id
    }
    fn tags(_case: &Factors) -> &[String] {
        &[]
    }
    fn content(case: &Factors) -> String {
        format!("{:?}", case.factors)
    }
    fn details(case: &Factors) -> Product {
        Product { factors: Self::content(case), product: None }
    }
    fn subject(details: &Product) -> Option<&str> {
        Some(&details.factors)
    }
    fn value_count(details: &Product) -> u64 {
        details.product.iter().count() as u64
    }
    fn page_values(details: &Product) -> Value {
        json!([details.product])
    }
}

/// The routine under test.
pub type Multiplier = fn([u8; 2]) -> u16;

/// Calls the routine in this process. An executor for a board would send requests here.
pub struct Caller(Multiplier);

impl Executor for Caller {
    type Suite = Products;
    type Plan = Multiplier;

    fn board(&self) -> ConnectedBoard {
        ConnectedBoard {
            name: "this process".to_owned(),
            program: "multiplier".to_owned(),
            identity: None,
            own_routines: Vec::new(),
            target: RunTarget { board: "this process".to_owned(), ..RunTarget::default() },
        }
    }
    fn run(
        &mut self,
        cases: &mut dyn Iterator<Item = Factors>,
        options: RunOptions,
        on_result: &mut dyn FnMut(CaseResult<Products>),
    ) -> RunSummary {
        while !options.interrupted.load(Ordering::Relaxed) {
            let Some(case) = cases.next() else { return RunSummary::default() };
            on_result(judge(&case, (self.0)(case.factors)));
        }
        RunSummary { ended: RunEnd::Interrupted, ..RunSummary::default() }
    }
}

/// Compares the routine's product with the host's.
fn judge(case: &Factors, product: u16) -> CaseResult<Products> {
    let [a, b] = case.factors.map(u16::from);
    let is_right = product == a * b;
    let verdict = if is_right { Verdict::Pass } else { Verdict::Fail };
    let mut result = CaseResult::<Products>::new(case, verdict);
    result.details.product = Some(product);
    result.differences.extend((!is_right).then(|| format!("{product}, expected {}", a * b)));
    result
}

/// Receives the progress of a run, and shows nothing of it.
struct Silent;

impl Observer<Products> for Silent {}

/// Runs three cases. `config` has the files to write, and more.
pub fn run(config: &RunConfig, multiplier: Multiplier) -> FinishedRun<Products> {
    let cases = [("small", [3, 7]), ("zero", [0, 9]), ("large", [255, 255])];
    let cases = cases.map(|(id, factors)| Factors { id: id.to_owned(), factors });
    let members = [Member { name: "this process".to_owned(), plan: Ok(multiplier) }];
    let context = RunContext {
        file_system: &OsFileSystem,
        clock: Arc::new(Instant::now),
        stop: Arc::new(AtomicBool::new(false)),
        prepare: &|plan: &Multiplier| Ok(Caller(*plan)),
        observer: &mut Silent,
    };
    campaign::run(config, &cases, &members, context).expect("there is a routine")
}
