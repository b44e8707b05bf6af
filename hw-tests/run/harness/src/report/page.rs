//! `report.html`: a self-contained page, whose script draws the results from compact data in it.

use std::io::{self, Write};

use cli_support::text::escape_controls;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::Report;
use super::aggregates::counts_by_tag;
use super::json::{Container, write_json};
use crate::runner::{BoardVerdict, CaseResult, Conclusion, Verdict};
use crate::suite::Suite;

/// The page, with placeholders.
const PAGE: &str = include_str!("page/page.html");
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

/// Writes the report as an HTML page.
pub(super) fn write_page<S: Suite>(report: &Report<S>, out: &mut dyn Write) -> io::Result<()> {
    let word = report.outcome.as_str();
    let headline = report.headline();
    let problem = report.incomplete.as_ref().map_or(String::new(), |why| {
        format!("<p id=\"problem\"><b>Incomplete:</b> {}</p>", escaped(why))
    });
    let colour = match report.outcome {
        Conclusion::Pass => "%231b7440",
        Conclusion::Fail => "%23c21f39",
        Conclusion::Incomplete => "%239a5700",
    };
    let scripts = S::PAGE.scripts.concat();
    let values = [
        ("title", &*escaped(&format!("{word}: {headline}"))),
        ("colour", colour),
        ("style", STYLE.trim_end()),
        ("suite-style", S::PAGE.style.trim_end()),
        ("search", S::PAGE.search),
        ("legend", S::PAGE.legend.trim_end()),
        ("outcome", word),
        ("headline", &escaped(&headline)),
        ("problem", &problem),
        ("noscript", &without_script(report)),
        ("elements", ELEMENTS.trim_end()),
        ("suite-script", scripts.trim_end()),
        ("script", SCRIPT.trim_end()),
    ];
    fill_placeholders(out, &values, &mut |out| {
        write_json(out, &data(report), Container::ScriptElement)
    })
}

/// Writes the page with its placeholders filled; `data` is filled by `write_data`. Inserted text is
/// not searched for placeholders.
fn fill_placeholders(
    out: &mut dyn Write,
    values: &[(&str, &str)],
    write_data: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut rest = PAGE;
    while let Some((before, after)) = rest.split_once("{{") {
        out.write_all(before.as_bytes())?;
        let (name, behind) = after.split_once("}}").unwrap_or((after, ""));
        if name == "data" {
            write_data(out)?;
        } else {
            let value = values.iter().find(|(known, _)| *known == name);
            out.write_all(value.map_or("", |(_, value)| value).as_bytes())?;
        }
        rest = behind;
    }
    out.write_all(rest.as_bytes())
}

/// Escapes text for HTML, including attributes, and makes hidden characters visible.
pub(super) fn escaped(text: &str) -> String {
    quick_xml::escape::escape(&*escape_controls(text)).into_owned()
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

/// Returns the content for readers without scripts: facts, counts, and the cases that did not pass.
fn without_script<S: Suite>(report: &Report<S>) -> String {
    let row = |name: &str, value: &str| {
        format!("<tr><th>{}</th><td>{}</td></tr>\n", escaped(name), escaped(value))
    };
    let facts: String = report.facts().iter().map(|(name, value)| row(name, value)).collect();
    let count = |verdict| row(Verdict::as_str(verdict), &report.counts.get(verdict).to_string());
    let counts: String = Verdict::ALL.map(count).concat();
    let (cases, more) = report.problems(MAX_CASES_WITHOUT_SCRIPT);
    let row_of = |case: &&CaseResult<S>| row(&case.id, &case_line(report, case));
    let problems: String = cases.iter().map(row_of).collect();
    let more = match more {
        0 => String::new(),
        count => format!("<p>... and {count} more; all are in report.json.</p>\n"),
    };
    format!(
        "<style>#share, .drawn, footer {{ display: none; }}</style>\n\
         <p class=\"note\">The results are drawn by this page's script, which does not run here.</p>\n\
         <table class=\"plain\">\n{facts}{counts}</table>\n<table class=\"plain\">\n{problems}</table>\n{more}"
    )
}

/// Returns a line on a case that did not pass.
fn case_line<S: Suite>(report: &Report<S>, case: &CaseResult<S>) -> String {
    let lines: Vec<_> =
        case.details_of_problem().chain(report.follow_up_commands(case).iter().cloned()).collect();
    let known = if case.known { " (known)" } else { "" };
    format!("{}{known}: {}", case.verdict, lines.join("; "))
}

#[cfg(test)]
mod tests {
    use super::{PAGE, fill_placeholders};

    #[test]
    fn inserted_text_is_not_filled_again_and_all_placeholders_are_filled() {
        let mut page = Vec::new();
        let values = [("title", "{{script}}"), ("script", "twice")];
        fill_placeholders(&mut page, &values, &mut |_| Ok(())).expect("to memory");
        let page = String::from_utf8(page).expect("it is text");
        assert!(page.contains("<title>{{script}}</title>"));
        let places = PAGE.matches("{{").count();
        assert!(places > 8, "{places}");
        assert_eq!(page.matches("{{").count(), 1, "of {places} places only what was filled in");
    }
}
