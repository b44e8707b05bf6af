//! `report.md`: the report as Markdown, for summaries of CI services.

use std::collections::BTreeMap;
use std::io;

use askama::Template;
use cli_support::text::Escape;

use super::Report;
use super::model::counts_by_tag;
use crate::suite::{Suite, Verdict, VerdictCounts};

/// Most cases shown that did not pass.
const MAX_CASES_SHOWN: usize = 100;
/// Most differences shown for a case.
const MAX_DIFFERENCES_SHOWN: usize = 8;

#[derive(Template)]
#[template(path = "report.markdown")]
struct Page<'a, S: Suite> {
    report: &'a Report<S>,
    counts_by_tag: BTreeMap<&'a str, VerdictCounts>,
    /// The verdicts that some case has.
    verdicts: Vec<Verdict>,
    boards: Vec<Vec<String>>,
    last_restart: Option<&'a str>,
}

/// Writes the report as Markdown.
pub(super) fn write_markdown<S: Suite>(
    report: &Report<S>,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let is_there = |verdict: &Verdict| *verdict == Verdict::Pass || report.counts.get(*verdict) > 0;
    let page = Page {
        report,
        counts_by_tag: counts_by_tag(&report.cases),
        verdicts: Verdict::ALL.into_iter().filter(is_there).collect(),
        boards: super::boards::table_rows(&report.boards),
        last_restart: report.summary.as_ref().and_then(|summary| summary.last_restart.as_deref()),
    };
    page.write_into(out)
}

/// The first line of the Markdown of a run that ended before it had results.
pub(super) const NO_RUN: &str = "# ERROR: no case was run";

#[derive(Template)]
#[template(source = "{{ NO_RUN|safe }}\n\n{{ why }}", ext = "markdown")]
struct NoRun<'a> {
    why: &'a str,
}

/// Writes the Markdown of a run that ended before it had results.
pub(super) fn write_no_run(why: &str, out: &mut dyn io::Write) -> io::Result<()> {
    NoRun { why }.write_into(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped() {
        let escaped = |why| {
            let text = NoRun { why }.to_string();
            text.strip_prefix(NO_RUN).map(|text| text.trim().to_owned()).expect("the first line")
        };
        assert_eq!(escaped("a|b</script>\n# c"), "a\\|b&lt;/script&gt;\\\\n\\# c");
        assert_eq!(escaped("[x](y) `z` *w*"), "\\[x\\](y) \\`z\\` \\*w\\*");
    }
}
