//! A suite for `hil-harness`: products of two bytes, computed by a routine under test and judged by
//! the host. Scheduling, results file, resume, baseline and reports are the engine's.

use hil_harness::suite::{CaseResult, FollowUp, FollowUpOptions, Page, Suite, Verdict};
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
    fn follow_up(_result: &CaseResult<Self>, _options: &FollowUpOptions) -> Option<FollowUp> {
        None
    }
}

/// Compares the routine's product with the host's.
pub fn judge(case: &Factors, product: u16) -> CaseResult<Products> {
    let [a, b] = case.factors.map(u16::from);
    let is_right = product == a * b;
    let verdict = if is_right { Verdict::Pass } else { Verdict::Fail };
    let mut result = CaseResult::<Products>::new(case, verdict);
    result.details.product = Some(product);
    result.differences.extend((!is_right).then(|| format!("{product}, expected {}", a * b)));
    result
}
