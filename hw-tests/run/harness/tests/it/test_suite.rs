//! A tiny suite for tests: routines called with registers.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::suite::{CaseResult, Page, Suite, Verdict};

/// The suite.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TestSuite;

/// A result of the suite.
pub(crate) type Result = CaseResult<TestSuite>;

/// A call of a routine.
#[derive(Debug, Clone)]
pub(crate) struct TestCase {
    pub(crate) id: String,
    pub(crate) tags: Vec<String>,
    pub(crate) content: String,
}

/// The fields of a result.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TestDetails {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) entry: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) registers: Vec<u16>,
}

impl Suite for TestSuite {
    type Case = TestCase;
    type Difference = String;
    type Details = TestDetails;

    const VALUE_NOUN: &'static str = "outputs";
    const SUBJECT: &'static str = "Entry";
    const PAGE: Page = Page { style: "", scripts: &[], search: "", legend: "" };

    fn id(case: &TestCase) -> &str {
        &case.id
    }

    fn tags(case: &TestCase) -> &[String] {
        &case.tags
    }

    fn content(case: &TestCase) -> String {
        case.content.clone()
    }

    fn details(_case: &TestCase) -> TestDetails {
        TestDetails::default()
    }

    fn subject(details: &TestDetails) -> Option<&str> {
        details.entry.as_deref()
    }

    fn value_count(details: &TestDetails) -> u64 {
        details.registers.len() as u64
    }

    fn page_values(details: &TestDetails) -> Value {
        json!(details.registers)
    }
}

/// Returns a case with this name.
pub(crate) fn case(id: &str) -> TestCase {
    TestCase { id: id.to_owned(), tags: vec!["play".to_owned()], content: String::new() }
}

/// Returns a result of the case with this name.
pub(crate) fn result(id: &str, verdict: Verdict) -> Result {
    Result::new(&case(id), verdict)
}
