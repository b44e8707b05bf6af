//! `report.html`: a self-contained page, whose script draws the boards from compact data in it.

use std::io;

use cli_support::text::{escape_controls, escape_json};
use serde_json::{Value, json};

use super::Report;
use crate::residues::SquareEntry;
use crate::runner::{CaseResult, Conclusion, Verdict};

/// The page, with placeholders.
const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/style.css");
/// The script: functions first, callers last.
const SCRIPT: &str = concat!(
    include_str!("page/board.js"),
    include_str!("page/figures.js"),
    include_str!("page/histogram.js"),
    include_str!("page/cases.js"),
    include_str!("page/filters.js"),
);
/// Most cases listed if the browser runs no scripts.
const MAX_CASES_WITHOUT_SCRIPT: usize = 200;

/// Returns the report as an HTML page.
pub(super) fn page(report: &Report) -> io::Result<String> {
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
    Ok(fill_placeholders(&[
        ("title", &escaped(&format!("{word}: {headline}"))),
        ("colour", colour),
        ("style", STYLE.trim_end()),
        ("outcome", word),
        ("headline", &escaped(&headline)),
        ("problem", &problem),
        ("noscript", &without_script(report)),
        ("data", &data(report)?),
        ("script", SCRIPT.trim_end()),
    ]))
}

/// Fills the placeholders. Inserted text is not searched for placeholders.
fn fill_placeholders(values: &[(&str, &str)]) -> String {
    let mut text = String::with_capacity(PAGE.len());
    let mut rest = PAGE;
    while let Some((before, after)) = rest.split_once("{{") {
        text += before;
        let (name, behind) = after.split_once("}}").unwrap_or((after, ""));
        text += values.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value);
        rest = behind;
    }
    text + rest
}

/// Escapes text for HTML, including attributes, and makes hidden characters visible.
fn escaped(text: &str) -> String {
    quick_xml::escape::escape(&*escape_controls(text)).into_owned()
}

/// Returns the data for the script, without any `<`, so that it can't end the script element.
fn data(report: &Report) -> io::Result<String> {
    let bare = Report { cases: Vec::new(), ..report.clone() };
    let cases: Vec<_> = report.cases.iter().map(compact).collect();
    let boards = super::boards::table_rows(&report.boards);
    let page = json!({ "report": bare, "facts": report.facts(), "cases": cases, "boards": boards });
    let json = serde_json::to_string(&page)?;
    Ok(escape_json(&json).replace('<', "\\u003c"))
}

/// Returns a case as a list of values, in the order that `page/cases.js` expects.
fn compact(case: &CaseResult) -> Value {
    let CaseResult {
        id,
        tags,
        verdict,
        fen,
        reason: why,
        differences,
        attempts,
        retries: repeats,
        elapsed_us: took_us,
        ..
    } = case;
    let squares: Vec<_> = case.squares.iter().map(compact_square).collect();
    let repeats = repeats.total();
    let took = took_us;
    let known = case.known;
    let ends = case.board_verdicts.iter().map(|end| format!("{} on {}", end.verdict, end.board));
    let ends = ends.collect::<Vec<_>>().join(", ");
    let fault = case.fault.as_ref().map(ToString::to_string);
    let board_values = json!([case.board, ends, fault]);
    json!([
        id,
        tags,
        verdict,
        fen,
        why,
        squares,
        differences,
        attempts,
        repeats,
        took,
        known,
        board_values
    ])
}

fn compact_square(at: &SquareEntry) -> Value {
    let SquareEntry { square, piece, board, reference, status, t_states, .. } = at;
    let mut values =
        vec![json!(square), json!(piece), json!(hex(&at.array)), json!(board), json!(reference)];
    values.extend([json!(status), json!(t_states)]);
    values.extend(at.reference_array.map(|array| json!(hex(&array))));
    Value::Array(values)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect()
}

/// Returns the content for readers without scripts: facts, counts, and the cases that did not pass.
fn without_script(report: &Report) -> String {
    let row = |name: &str, value: &str| {
        format!("<tr><th>{}</th><td>{}</td></tr>\n", escaped(name), escaped(value))
    };
    let facts: String = report.facts().iter().map(|(name, value)| row(name, value)).collect();
    let counts = Verdict::ALL.map(|verdict| (verdict, report.counts.get(verdict)));
    let counts: String =
        counts.iter().map(|(verdict, count)| row(verdict.as_str(), &count.to_string())).collect();
    let mut cases = report.problems();
    let row_of = |case: &CaseResult| row(&case.id, &case_line(report, case));
    let problems: String = cases.by_ref().take(MAX_CASES_WITHOUT_SCRIPT).map(row_of).collect();
    let more = match cases.count() {
        0 => String::new(),
        count => format!("<p>... and {count} more; all are in report.json.</p>\n"),
    };
    format!(
        "<style>#share, .drawn, footer {{ display: none; }}</style>\n\
         <p class=\"note\">The boards are drawn by this page's script, which does not run here.</p>\n\
         <table class=\"plain\">\n{facts}{counts}</table>\n<table class=\"plain\">\n{problems}</table>\n{more}"
    )
}

/// Returns a line on a case that did not pass.
fn case_line(report: &Report, case: &CaseResult) -> String {
    let differences = case.differences.iter().map(ToString::to_string);
    let fault = case.fault.as_ref().map(|fault| format!("at fault: {fault}"));
    let lines = case.reason.iter().cloned().chain(fault).chain(differences);
    let lines: Vec<_> = lines.chain(report.follow_up_commands(case).iter().cloned()).collect();
    let known = if case.known { " (known)" } else { "" };
    format!("{}{known}: {}", case.verdict, lines.join("; "))
}

#[cfg(test)]
mod tests {
    use super::{PAGE, fill_placeholders};

    #[test]
    fn inserted_text_is_not_filled_again_and_all_placeholders_are_filled() {
        let page = fill_placeholders(&[("title", "{{script}}"), ("script", "twice")]);
        assert!(page.contains("<title>{{script}}</title>"));
        let places = PAGE.matches("{{").count();
        assert!(places > 8, "{places}");
        assert_eq!(page.matches("{{").count(), 1, "of {places} places only what was filled in");
    }
}
