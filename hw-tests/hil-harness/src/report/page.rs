//! `report.html`: one page that needs nothing else. Its script draws the boards from compact data
//! within it.

use std::io;

use cli_support::text::{visible, visible_json};
use serde_json::{Value, json};

use super::Report;
use crate::residues::SquareEntry;
use crate::runner::{CaseResult, Conclusion, Verdict};

/// The page, with places for what a report fills in.
const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/style.css");
/// The script: functions first, what calls them last.
const SCRIPT: &str = concat!(
    include_str!("page/board.js"),
    include_str!("page/figures.js"),
    include_str!("page/histogram.js"),
    include_str!("page/cases.js"),
    include_str!("page/filters.js"),
);
/// Cases told of where no script runs.
const CASES_TOLD: usize = 200;

/// The report as a page.
pub(super) fn page(report: &Report) -> io::Result<String> {
    let word = report.outcome.word();
    let headline = report.headline();
    let problem = report.incomplete.as_ref().map_or(String::new(), |why| {
        format!("<p id=\"problem\"><b>Incomplete:</b> {}</p>", escaped(why))
    });
    let colour = match report.outcome {
        Conclusion::Pass => "%231b7440",
        Conclusion::Fail => "%23c21f39",
        Conclusion::Incomplete => "%239a5700",
    };
    Ok(filled(&[
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

/// The page with its places filled, each once: what is filled in is not looked at again.
fn filled(values: &[(&str, &str)]) -> String {
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

/// Text that means nothing to HTML, also between quotes, and that has nothing hidden in it.
fn escaped(text: &str) -> String {
    quick_xml::escape::escape(&*visible(text)).into_owned()
}

/// Returns the data for the script. No `<` is left in it, so that nothing in it can end the
/// element that holds it.
fn data(report: &Report) -> io::Result<String> {
    let bare = Report { cases: Vec::new(), ..report.clone() };
    let cases: Vec<_> = report.cases.iter().map(compact).collect();
    let boards = super::boards::cells(&report.boards);
    let page = json!({ "report": bare, "facts": report.facts(), "cases": cases, "boards": boards });
    let json = serde_json::to_string(&page)?;
    Ok(visible_json(&json).replace('<', "\\u003c"))
}

/// A case as a list of values, in the order of which `page/cases.js` knows.
fn compact(case: &CaseResult) -> Value {
    let CaseResult { id, tags, verdict, fen, why, differences, attempts, repeats, took_us, .. } =
        case;
    let squares: Vec<_> = case.squares.iter().map(compact_square).collect();
    let repeats = repeats.total();
    let took = took_us;
    let known = case.known;
    let ends = case.ends.iter().map(|end| format!("{} on {}", end.verdict, end.board));
    let ends = ends.collect::<Vec<_>>().join(", ");
    let fault = case.fault.as_ref().map(ToString::to_string);
    let there = json!([case.board, ends, fault]);
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
        there
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
    let counts = Verdict::ALL.map(|verdict| (verdict, report.counts.with(verdict)));
    let counts: String =
        counts.iter().map(|(verdict, count)| row(verdict.word(), &count.to_string())).collect();
    let mut cases = report.troubles();
    let told = |case: &CaseResult| row(&case.id, &told(report, case));
    let troubles: String = cases.by_ref().take(CASES_TOLD).map(told).collect();
    let more = match cases.count() {
        0 => String::new(),
        count => format!("<p>... and {count} more; all are in report.json.</p>\n"),
    };
    format!(
        "<style>#share, .drawn, footer {{ display: none; }}</style>\n\
         <p class=\"note\">The boards are drawn by this page's script, which does not run here.</p>\n\
         <table class=\"plain\">\n{facts}{counts}</table>\n<table class=\"plain\">\n{troubles}</table>\n{more}"
    )
}

/// A case that did not pass, in a line.
fn told(report: &Report, case: &CaseResult) -> String {
    let differences = case.differences.iter().map(ToString::to_string);
    let fault = case.fault.as_ref().map(|fault| format!("at fault: {fault}"));
    let said = case.why.iter().cloned().chain(fault).chain(differences);
    let lines: Vec<_> = said.chain(report.commands(case).iter().cloned()).collect();
    let known = if case.known { " (known)" } else { "" };
    format!("{}{known}: {}", case.verdict, lines.join("; "))
}

#[cfg(test)]
mod tests {
    use super::{PAGE, filled};

    #[test]
    fn what_is_filled_in_is_not_filled_again_and_nothing_is_left() {
        let page = filled(&[("title", "{{script}}"), ("script", "twice")]);
        assert!(page.contains("<title>{{script}}</title>"));
        let places = PAGE.matches("{{").count();
        assert!(places > 8, "{places}");
        assert_eq!(page.matches("{{").count(), 1, "of {places} places only what was filled in");
    }
}
