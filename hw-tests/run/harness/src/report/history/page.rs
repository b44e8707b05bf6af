//! `history.html`: a page without scripts.

use std::fmt::Write;

use super::{CaseHistory, History};
use crate::report::page::{STYLE, escaped};
use crate::runner::Conclusion;

/// Most cases in a table.
const MAX_CASES_DRAWN: usize = 1000;
/// Height of a trend in its own units; its width is the number of runs.
const TREND_HEIGHT: f64 = 20.0;
/// CSS for history pages, in addition to the style sheet of reports.
const HISTORY_STYLE: &str = "\
svg { display: block; width: 14rem; height: 1.5rem; background: var(--card); }
svg.wide { width: 100%; height: 2rem; }
svg path { stroke: currentColor; stroke-width: 2px; fill: none; vector-effect: non-scaling-stroke; }
.trend { color: var(--bar); } section { margin: 1.6rem 0; overflow-x: auto; }
td { overflow-wrap: anywhere; } td:first-child { min-width: 10rem; }";

/// Returns the page of a history.
#[must_use]
pub fn history_page(history: &History) -> String {
    let headline = escaped(&history.headline());
    let outcomes = history.runs.iter().map(|run| outcome_class(run.outcome)).enumerate();
    let outcomes = strip(history, "wide", outcomes, "conclusions of the runs");
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"generator\" content=\"hw-tests\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src \
         'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n\
         <title>History: {headline}</title>\n<style>\n{STYLE}{HISTORY_STYLE}\n</style>\n</head>\n\
         <body>\n<h1>History</h1>\n<p>{headline}</p>\n{outcomes}\n<main>\n{}{}{}</main>\n\
         </body>\n</html>\n",
        boards(history),
        problems(history),
        times(history)
    )
}

fn outcome_class(outcome: Conclusion) -> &'static str {
    match outcome {
        Conclusion::Pass => "pass",
        Conclusion::Fail => "fail",
        Conclusion::Incomplete => "timeout",
    }
}

/// Returns a table with a heading, an introduction and columns; empty without rows.
fn table(title: &str, about: &str, columns: &[&str], rows: &[Vec<String>]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut text = format!("<section>\n<h2>{title}</h2>\n<p class=\"note\">{about}</p>\n<table>\n");
    let heads: String = columns.iter().map(|name| format!("<th>{name}</th>")).collect();
    let _ = writeln!(text, "<thead><tr>{heads}</tr></thead>\n<tbody>");
    for row in rows.iter().take(MAX_CASES_DRAWN) {
        let cells: String = row.iter().map(|cell| format!("<td>{cell}</td>")).collect();
        let _ = writeln!(text, "<tr>{cells}</tr>");
    }
    text += "</tbody>\n</table>\n";
    if let Some(more) = rows.len().checked_sub(MAX_CASES_DRAWN + 1) {
        let _ = writeln!(text, "<p>... and {} more; all are in history.json.</p>", more + 1);
    }
    text + "</section>\n"
}

fn boards(history: &History) -> String {
    let row = |board: &super::BoardHistory| {
        let rate = |&(run, requests, errors): &(usize, u64, u64)| {
            (run, 1000.0 * errors as f64 / requests.max(1) as f64)
        };
        let line: Vec<_> = board.line.iter().map(rate).collect();
        let errors: u64 = board.line.iter().map(|(.., errors)| errors).sum();
        let [pass, flaky] = board.counts.rates();
        let [results, losses, restarts, errors] =
            [board.counts.results, board.losses, board.restarts, errors].map(|n| n.to_string());
        let trend = trend(history, &line, "line errors per 1000 requests");
        vec![escaped(&board.name), results, pass, flaky, losses, restarts, errors, trend]
    };
    let columns =
        ["board", "results", "pass rate", "flake rate", "lost", "restarts", "line errors", "trend"];
    let about = "Line errors are retries, and frames corrupted at the host; their trend is per \
                 1000 requests, from the first run to the last.";
    table("Boards", about, &columns, &history.boards.iter().map(row).collect::<Vec<_>>())
}

fn problems(history: &History) -> String {
    let row = |case: &CaseHistory| {
        let [pass, flaky] = case.counts.rates();
        let when = escaped(&history.failed_when(case));
        let failed = case.not_passed.iter().map(|(run, verdict)| (*run, verdict.as_str()));
        let runs = strip(history, "", failed, "runs in which it did not pass");
        vec![escaped(&case.id), pass, flaky, when, runs]
    };
    let rows: Vec<_> = history.problems().into_iter().map(row).collect();
    let about = "A result is flaky by its verdict, or if it did not pass although the same build \
                 passed the case in some run.";
    let columns = ["case", "pass rate", "flake rate", "did not pass", "runs"];
    table("Cases that did not always pass", about, &columns, &rows)
}

fn times(history: &History) -> String {
    let row = |case: &CaseHistory| {
        let (Some((_, first)), Some((last_change, last))) =
            (case.t_states.first(), case.t_states.last())
        else {
            return Vec::new();
        };
        let change = *last as i64 - *first as i64;
        let mut values: Vec<_> =
            case.t_states.iter().map(|(run, t_states)| (*run, *t_states as f64)).collect();
        values.push((history.runs.len(), *last as f64));
        let when = escaped(&history.describe(*last_change));
        let trend = trend(history, &values, "T-states");
        let id = escaped(&case.id);
        vec![id, first.to_string(), last.to_string(), format!("{change:+}"), when, trend]
    };
    let rows: Vec<_> = history.slower_or_faster().into_iter().map(row).collect();
    let columns = ["case", "first", "last", "change", "last changed", "trend"];
    table("Cases whose T-states changed", "T-states of all values of a case.", &columns, &rows)
}

/// Draws a line for each of these runs, in the colour of its class.
fn strip(
    history: &History,
    class: &str,
    runs: impl Iterator<Item = (usize, &'static str)>,
    label: &str,
) -> String {
    let mut paths = std::collections::BTreeMap::<&str, String>::new();
    for (run, class) in runs {
        let _ = write!(paths.entry(class).or_default(), "M{run}.5 0v1");
    }
    let paths: String = paths
        .iter()
        .map(|(class, path)| format!("<path class=\"{class}\" d=\"{path}\"/>"))
        .collect();
    let width = history.runs.len().max(1);
    format!(
        "<svg class=\"{class}\" role=\"img\" aria-label=\"{label}\" viewBox=\"0 0 {width} 1\" \
         preserveAspectRatio=\"none\">{paths}</svg>"
    )
}

/// Draws values by run as steps.
fn trend(history: &History, values: &[(usize, f64)], label: &str) -> String {
    let most = values.iter().map(|(_, value)| *value).fold(0.0, f64::max);
    let least = values.iter().map(|(_, value)| *value).fold(most, f64::min);
    let scale = (TREND_HEIGHT - 2.0) / (most - least).max(f64::MIN_POSITIVE);
    let mut path = String::new();
    for (run, value) in values {
        let y = TREND_HEIGHT - 1.0 - (value - least) * scale;
        let _ = match path.is_empty() {
            true => write!(path, "M{run} {y:.1}"),
            false => write!(path, "H{run}V{y:.1}"),
        };
    }
    let width = history.runs.len().max(1);
    format!(
        "<svg class=\"trend\" role=\"img\" aria-label=\"{label}: {least:.1} to {most:.1}\" \
         viewBox=\"0 0 {width} {TREND_HEIGHT}\" preserveAspectRatio=\"none\"><path d=\"{path}\"/>\
         </svg>"
    )
}
