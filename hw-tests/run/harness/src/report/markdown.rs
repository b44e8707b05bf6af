//! `report.md`: the report as Markdown, for the summaries of CI services and for terminals.

use std::fmt::Write;
use std::io;

use cli_support::text::escape_controls;

use super::aggregates::counts_by_tag;
use super::{Report, line_statistics_text};
use crate::runner::{CaseResult, Verdict, VerdictCounts};
use crate::suite::Suite;

/// Most cases shown that did not pass.
const MAX_CASES_SHOWN: usize = 100;
/// Most differences shown for a case.
const MAX_DIFFERENCES_SHOWN: usize = 8;

/// Writes the report as Markdown.
pub(super) fn write_markdown<S: Suite>(
    report: &Report<S>,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    out.write_all(markdown(report).as_bytes())
}

/// The first line of the Markdown of a run that ended before it had results.
pub(super) const NO_RUN: &str = "# ERROR: no case was run";

/// Writes the Markdown of a run that ended before it had results.
pub(super) fn write_no_run(why: &str, out: &mut dyn io::Write) -> io::Result<()> {
    writeln!(out, "{NO_RUN}\n\n{}", escaped(why))
}

fn markdown<S: Suite>(report: &Report<S>) -> String {
    let mut text = format!("# {}: {}\n\n", report.outcome.as_str(), report.headline());
    if let Some(why) = &report.incomplete {
        let _ = writeln!(text, "**Incomplete:** {}\n", escaped(why));
    }
    text += "| | |\n|---|---|\n";
    for (name, value) in report.facts() {
        let _ = writeln!(text, "| {name} | {} |", escaped(&value));
    }
    text += &counts(report);
    text += &boards(report);
    text += &problems(report);
    let summary = report.summary.as_ref();
    if let Some(why) = summary.and_then(|summary| summary.last_restart.as_deref()) {
        let _ = writeln!(text, "\nThe board was restarted, last because {}", escaped(why));
    }
    if let Some(link) = report.link {
        text += "\n";
        text += &escaped(line_statistics_text(link).trim_end());
        text += "\n";
    }
    text
}

/// Returns the table of verdicts, without those that no case has.
fn counts<S: Suite>(report: &Report<S>) -> String {
    let by_tag = counts_by_tag(&report.cases);
    let is_there = |verdict: &Verdict| *verdict == Verdict::Pass || report.counts.get(*verdict) > 0;
    let shown: Vec<_> = Verdict::ALL.into_iter().filter(is_there).collect();
    let mut text = format!("\n| cases | all | {} |", S::VALUE_NOUN);
    text.extend(shown.iter().map(|verdict| format!(" {verdict} |")));
    text += "\n|---|--:|--:|";
    text += &"--:|".repeat(shown.len());
    text.push('\n');
    let rows = by_tag.iter().map(|(tag, counts)| (escaped(tag), *counts));
    for (name, counts) in rows.chain([("**all**".to_owned(), report.counts)]) {
        let VerdictCounts { cases, values, .. } = counts;
        let _ = write!(text, "| {name} | {cases} | {values} |");
        text.extend(shown.iter().map(|verdict| format!(" {} |", counts.get(*verdict))));
        text.push('\n');
    }
    text
}

/// Returns the table of the boards in a run on a fleet.
fn boards<S: Suite>(report: &Report<S>) -> String {
    let mut text = String::new();
    for (row_number, row) in super::boards::table_rows(&report.boards).iter().enumerate() {
        let cells: Vec<_> = row.iter().map(|cell| escaped(cell)).collect();
        let _ = writeln!(text, "| {} |", cells.join(" | "));
        if row_number == 0 {
            let _ = writeln!(text, "|---|{}---|", "--:|".repeat(row.len() - 2));
        }
    }
    if text.is_empty() { text } else { format!("\n{text}") }
}

/// Returns the cases that did not pass, with what was wrong.
fn problems<S: Suite>(report: &Report<S>) -> String {
    let mut text = String::new();
    let (cases, more) = report.problems(MAX_CASES_SHOWN);
    for case in cases {
        text += &problem(report, case);
    }
    if more > 0 {
        let _ =
            writeln!(text, "\n... and {more} more; all are in `report.html` and `report.json`.");
    }
    text
}

fn problem<S: Suite>(report: &Report<S>, case: &CaseResult<S>) -> String {
    let known = if case.known { " (known)" } else { "" };
    let mut text = format!("\n## {}{known}: {}\n\n", case.verdict, escaped(&case.id));
    if let Some(subject) = S::subject(&case.details) {
        let _ = writeln!(text, "{}: {}\n", S::SUBJECT, escaped(subject));
    }
    let mut lines = case.details_of_problem();
    for line in lines.by_ref().take(MAX_DIFFERENCES_SHOWN) {
        let _ = writeln!(text, "- {}", escaped(&line));
    }
    let more = lines.count();
    if more > 0 {
        let _ = writeln!(text, "- ... and {more} more");
    }
    let commands = report.follow_up_commands(case);
    if !commands.is_empty() {
        text.push('\n');
    }
    for command in commands {
        let _ = writeln!(text, "    {}", escape_controls(command));
    }
    text
}

/// Escapes text for Markdown and HTML, on one line.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in escape_controls(text).chars() {
        match letter {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '|' | '~' => {
                safe.push('\\');
                safe.push(letter);
            }
            _ => safe.push(letter),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn names_are_escaped() {
        assert_eq!(escaped("a|b</script>\n# c"), "a\\|b&lt;/script&gt;\\\\n\\# c");
        assert_eq!(escaped("[x](y) `z` *w*"), "\\[x\\](y) \\`z\\` \\*w\\*");
    }
}
