//! The page of a report in a browser.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use hil_harness::runner::Verdict;

use super::data;
use crate::runs::reports::{WrittenReport, case_called};

/// The page after its script has run, at an address with this suffix.
fn drawn(page: &Path, address: &str) -> String {
    let profile = tempfile::tempdir().expect("a scratch folder");
    let mut browser = Command::new("chromium");
    browser.args(["--headless=new", "--no-sandbox", "--disable-gpu", "--dump-dom"]);
    browser.arg(format!("--user-data-dir={}", profile.path().display()));
    let output = browser.arg(format!("file://{}{address}", page.display())).output();
    let output = output.expect("Debian's chromium");
    let dom = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(dom.contains("data-ready=\"yes\""), "{}", String::from_utf8_lossy(&output.stderr));
    dom
}

fn count(text: &str, what: &str) -> usize {
    text.matches(what).count()
}

#[test]
fn a_browser_draws_the_boards_of_failed_cases_and_filters_the_others_away() {
    let written = WrittenReport::of_a_cheap_rook(&["--tag", "document", "--tag", "odd"]);
    let report = written.report();
    let failed: Vec<_> = report.cases.iter().filter(|case| case.verdict == Verdict::Fail).collect();
    assert!(!failed.is_empty() && failed.len() < report.cases.len());
    for (index, case) in failed.iter().take(2).enumerate() {
        let address = if index == 0 { String::new() } else { format!("#search={}", case.id) };
        let dom = drawn(&written.path("report.html"), &address);
        let shown = if index == 0 { failed.len() } else { 1 };
        assert_eq!(count(&dom, "<details data-verdict="), report.cases.len());
        assert_eq!(count(&dom, "<details data-verdict=\"fail\" hidden"), failed.len() - shown);
        assert_eq!(count(&dom, "hidden=\"\" open"), 0, "{address}");
        assert!(dom.contains(&format!("{shown} of {} cases shown", report.cases.len())));
        let wrong: BTreeSet<_> =
            case.differences.iter().filter_map(|found| found.square.as_ref()).collect();
        assert_eq!(count(&dom, "<svg class=\"board\""), 2, "board and reference");
        assert_eq!(count(&dom, "class=\"frame\""), 2 * wrong.len(), "{wrong:?}");
        assert_eq!(count(&dom, "class=\"piece "), 2 * case.details.squares.len());
        assert!(dom.contains("<svg class=\"histogram\""));
    }
}

#[test]
fn a_browser_takes_names_for_text() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let name = "</script><img src=x onerror=document.title='caught'>{{data}}";
    let file = case_called(name, scratch.path());
    let written = WrittenReport::from_run(&["--rig", "direct", "--corpus", &file]);
    assert_eq!(data(&written.text("report.html"))["cases"][0][0], name);
    let dom = drawn(&written.path("report.html"), "");
    let (_, rows) = dom.split_once("<div id=\"cases\"").expect("the cases");
    assert!(rows.contains("&lt;/script&gt;&lt;img"), "{rows}");
    assert!(!dom.contains("<img") && !dom.contains("<title>caught") && !dom.contains("<b>odd"));
}

#[test]
fn a_browser_shows_why_no_board_was_ready() {
    let written = WrittenReport::from_run(&["--port", "/dev/no-such-board", "--tag", "document"]);
    let dom = drawn(&written.path("report.html"), "");
    assert!(dom.contains("<b>Incomplete:</b> set-up failed: "), "{dom}");
    assert_eq!(count(&dom, "<details data-verdict=\"not-run\""), 6);
    assert_eq!(count(&dom, "<svg"), 0, "nothing to draw");
}

#[test]
fn the_page_of_several_boards_shows_the_work_of_each_and_the_faulty_one() {
    let boards = ["--rig", "direct", "--rig", "direct"];
    let written = WrittenReport::of_a_cheap_rook_on(&boards, &["--tag", "document"]);
    let wrong = written.report().counts.fail as usize;
    let dom = drawn(&written.path("report.html"), "");
    assert_eq!(count(&dom, "id=\"boards\""), 1);
    assert!(dom.contains("direct 2"), "the table of boards");
    assert!(wrong > 0 && dom.contains("<dt>at fault"), "the first wrong case is open");
    let one = WrittenReport::of_a_cheap_rook(&["--tag", "document"]);
    let dom = drawn(&one.path("report.html"), "");
    assert_eq!((count(&dom, "id=\"boards\""), count(&dom, "<dt>at fault")), (0, 0));
    assert!(!dom.contains(">null<"), "a run on one board has none");
}
