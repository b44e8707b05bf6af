//! Programs as a suite of the engine.

use std::sync::Arc;

use hil_harness::select::NamePatterns;
use hil_harness::suite::{Page, Suite};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tdlasm::image::Image;

/// The suite: programs that run one after the other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Batch;

/// A program, and how its end is judged.
#[derive(Debug, Clone)]
pub(super) struct ProgramCase {
    /// The path of its file, as it was named.
    pub(super) id: String,
    /// The program, or why it can't be read.
    pub(super) program: Result<Arc<ProgramFile>, String>,
    pub(super) criteria: Arc<Criteria>,
}

/// A program that was read.
#[derive(Debug)]
pub(super) struct ProgramFile {
    pub(super) image: Image,
    pub(super) entry: u16,
    /// The first address after it.
    pub(super) top: u16,
}

/// What makes a program pass or fail, besides its exit code.
#[derive(Debug, Default)]
pub(super) struct Criteria {
    /// Lines by which it passes; `None` if the exit code decides.
    pub(super) pass: Option<NamePatterns>,
    /// Lines by which it fails.
    pub(super) fail: Option<NamePatterns>,
    /// Whether it passes by returning to the monitor.
    pub(super) return_passes: bool,
}

/// What is stored of a program's run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct ProgramDetails {
    /// The exit code, if it sent one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) exit_code: Option<u8>,
    /// The number of bytes that it sent.
    pub(super) sent_bytes: u64,
    /// The end of what it sent, as text.
    pub(super) output: String,
}

impl Suite for Batch {
    type Case = ProgramCase;
    type Difference = String;
    type Details = ProgramDetails;

    const VALUE_NOUN: &'static str = "outputs";
    const SUBJECT: &'static str = "Exit";
    const PAGE: Page = Page {
        style: "",
        scripts: &[include_str!("page.js")],
        search: "file, reason, exit code …",
        legend: "",
    };

    fn id(case: &ProgramCase) -> &str {
        &case.id
    }

    fn tags(_case: &ProgramCase) -> &[String] {
        &[]
    }

    fn content(case: &ProgramCase) -> String {
        format!("{:?} {:?}", case.program, case.criteria)
    }

    fn details(_case: &ProgramCase) -> ProgramDetails {
        ProgramDetails::default()
    }

    fn subject(_details: &ProgramDetails) -> Option<&str> {
        None
    }

    fn value_count(_details: &ProgramDetails) -> u64 {
        1
    }

    fn page_values(details: &ProgramDetails) -> Value {
        json!([details.exit_code, details.output])
    }

    fn output(details: &ProgramDetails) -> Option<&str> {
        Some(&details.output).filter(|output| !output.is_empty()).map(String::as_str)
    }
}
