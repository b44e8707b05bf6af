//! `report.html`: a self-contained page, whose script draws the results from compact data in it.

use std::io::{self, Write};

use askama::Template;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::Report;
use super::escape::{in_script, write_json};
use super::model::counts_by_tag;
use crate::runner::Conclusion;
use crate::suite::{BoardVerdict, CaseResult, Suite, Verdict};

pub(super) const STYLE: &str = include_str!("page/style.css");
/// The script's functions that the suite's script may use.
const ELEMENTS: &str = include_str!("page/elements.js");
/// The script, after that of the suite: functions first, callers last.
const SCRIPT: &str = concat!(
    include_str!("page/figures.js"),
    include_str!("page/histogram.js"),
    include_str!("page/cases.js"),
    include_str!("page/filters.js"),
);
/// Most cases listed if the browser runs no scripts.
const MAX_CASES_WITHOUT_SCRIPT: usize = 200;

/// Most cases of which the page has all; of more it has those that did not pass, and figures of the
/// others. A page of this many has about 20 MB.
const MAX_CASES_DRAWN: u64 = 10_000;

impl<S: Suite> Report<S> {
    /// Returns `true` if the page has every case.
    pub(super) fn has_whole_page(&self) -> bool {
        self.counts.cases <= MAX_CASES_DRAWN
    }
}

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a, S: Suite> {
    report: &'a Report<S>,
    /// What the script draws, as JSON.
    data: String,
}

impl<S: Suite> Page<'_, S> {
    /// Returns a line on a case that did not pass.
    fn case_line(&self, case: &CaseResult<S>) -> String {
        let commands = self.report.follow_up_commands(case).iter().cloned();
        let lines: Vec<_> = case.details_of_problem().chain(commands).collect();
        let known = if case.known { " (known)" } else { "" };
        format!("{}{known}: {}", case.verdict, lines.join("; "))
    }
}

/// Writes the report as a page.
pub(super) fn write_page<S: Suite>(report: &Report<S>, out: &mut dyn Write) -> io::Result<()> {
    let mut json = Vec::new();
    write_json(&mut json, &data(report))?;
    Page { report, data: in_script(&String::from_utf8_lossy(&json)) }.write_into(out)
}

/// What the script draws.
#[derive(Serialize)]
#[serde(bound = "")]
struct PageData<'a, S: Suite> {
    /// Rows of the table of boards, headings first.
    boards: Vec<Vec<String>>,
    values: &'static str,
    #[serde(serialize_with = "serialize_cases")]
    cases: &'a Report<S>,
    facts: Vec<(&'static str, String)>,
    report: Value,
    /// Figures of all cases, if the page does not have those that passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    whole: Option<Value>,
}

fn data<S: Suite>(report: &Report<S>) -> PageData<'_, S> {
    let whole = || {
        let times: Vec<_> = report.values_by_t_states().into_iter().collect();
        json!({ "tags": counts_by_tag(&report.cases), "times": times })
    };
    PageData {
        boards: super::boards::table_rows(&report.boards),
        values: S::VALUE_NOUN,
        cases: report,
        facts: report.facts(),
        report: json!({
            "counts": report.counts,
            "rounds": report.rounds,
            "profile": report.run.profile,
            "board": report.board,
            "started": report.started,
            "elapsed_ms": report.elapsed_ms,
            "summary": report.summary,
            "link": report.link,
            "follow_ups": report.follow_ups,
        }),
        whole: (!report.has_whole_page()).then(whole),
    }
}

fn serialize_cases<S: Suite, T: Serializer>(report: &Report<S>, to: T) -> Result<T::Ok, T::Error> {
    let is_drawn = |verdict| report.has_whole_page() || verdict != Verdict::Pass;
    to.collect_seq(report.cases.iter().filter(|case| is_drawn(case.verdict)).map(compact))
}

/// Returns a case as a list of values, in the order that `page/cases.js` expects.
fn compact<S: Suite>(case: &CaseResult<S>) -> Value {
    let on_board = |found: &BoardVerdict| format!("{} on {}", found.verdict, found.board);
    let board_verdicts: Vec<_> = case.board_verdicts.iter().map(on_board).collect();
    let fault = case.fault.as_ref().map(ToString::to_string);
    json!([
        case.id,
        case.tags,
        case.verdict,
        S::subject(&case.details),
        case.reason,
        S::page_values(&case.details),
        case.differences,
        case.attempts,
        case.retries.total(),
        case.elapsed_us,
        case.known,
        [json!(case.board), json!(board_verdicts.join(", ")), json!(fault)]
    ])
}
