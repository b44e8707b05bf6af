//! The page of a report: what is in it without a script, and what a browser makes of it.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use hil_harness::runner::Verdict;
use serde_json::{Value, json};

use super::reports::{Written, case_called};

/// Returns what the page's script draws from.
fn data(page: &str) -> Value {
    let (_, rest) =
        page.split_once("<script id=\"data\" type=\"application/json\">").expect("data");
    let (data, _) = rest.split_once("</script>").expect("its end");
    serde_json::from_str(data).expect("JSON")
}

/// The page after its script has run, at an address that ends so; nothing where there is no
/// browser.
fn drawn(page: &Path, address: &str) -> Option<String> {
    let profile = tempfile::tempdir().expect("a scratch folder");
    let mut browser = Command::new("chromium");
    browser.args(["--headless=new", "--no-sandbox", "--disable-gpu", "--dump-dom"]);
    browser.arg(format!("--user-data-dir={}", profile.path().display()));
    let output = match browser.arg(format!("file://{}{address}", page.display())).output() {
        Ok(output) => output,
        Err(error) => {
            assert!(std::env::var_os("CI").is_none(), "{browser:?}: {error}");
            let hint = "it is the package chromium; the page was not looked at";
            let _ = writeln!(std::io::stderr(), "{browser:?}: {error}; {hint}");
            return None;
        }
    };
    let dom = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(dom.contains("data-ready=\"yes\""), "{}", String::from_utf8_lossy(&output.stderr));
    Some(dom)
}

fn count(text: &str, what: &str) -> usize {
    text.matches(what).count()
}

#[test]
fn the_page_holds_every_wrong_square_and_asks_for_nothing() {
    let written = Written::of_a_cheap_rook(&["--tag", "document"]);
    let page = written.text("report.html");
    let report = written.report();
    let told = data(&page);
    for (case, drawn) in report.cases.iter().zip(told["cases"].as_array().expect("cases")) {
        assert_eq!(drawn[0], case.id.as_str());
        for (at, square) in case.squares.iter().zip(drawn[5].as_array().expect("squares")) {
            let right = at.reference_array.map(|array| array.map(|byte| format!("{byte:02X}")));
            assert_eq!(square[0], at.square.as_str());
            assert_eq!((&square[3], &square[4]), (&at.board.into(), &at.reference.into()));
            assert_eq!(square.get(7), right.map(|digits| digits.concat().into()).as_ref());
        }
        assert_eq!(drawn[6].as_array().map(Vec::len), Some(case.differences.len()));
    }
    let limit = report.limit.expect("the board has a clock").to_string();
    let facts = told["facts"].as_array().expect("facts");
    assert!(facts.contains(&json!(["limit", limit])), "{facts:?}");
    let markup = page.replace("http://www.w3.org/2000/svg", "");
    assert!(!markup.contains("http:") && !markup.contains("https:"), "it stands for itself");
    let (_, silent) = page.split_once("<noscript>").expect("what is told without a script");
    let (silent, _) = silent.split_once("</noscript>").expect("its end");
    for case in report.cases.iter().filter(|case| case.verdict == Verdict::Fail) {
        assert!(silent.contains(&case.id) && silent.contains(&case.differences[0].board));
    }
}

#[test]
fn a_browser_draws_the_boards_of_failed_cases_and_filters_the_others_away() {
    let written = Written::of_a_cheap_rook(&["--tag", "document", "--tag", "odd"]);
    let report = written.report();
    let failed: Vec<_> = report.cases.iter().filter(|case| case.verdict == Verdict::Fail).collect();
    assert!(!failed.is_empty() && failed.len() < report.cases.len());
    for (index, case) in failed.iter().take(2).enumerate() {
        let address = if index == 0 { String::new() } else { format!("#search={}", case.id) };
        let Some(dom) = drawn(&written.path("report.html"), &address) else { return };
        let shown = if index == 0 { failed.len() } else { 1 };
        assert_eq!(count(&dom, "<details data-verdict="), report.cases.len());
        assert_eq!(count(&dom, "<details data-verdict=\"fail\" hidden"), failed.len() - shown);
        assert_eq!(count(&dom, "hidden=\"\" open"), 0, "{address}");
        assert!(dom.contains(&format!("{shown} of {} cases shown", report.cases.len())));
        let wrong: BTreeSet<_> = case.differences.iter().filter_map(|found| found.square).collect();
        assert_eq!(count(&dom, "<svg class=\"board\""), 2, "board and reference");
        assert_eq!(count(&dom, "class=\"frame\""), 2 * wrong.len(), "{wrong:?}");
        assert_eq!(count(&dom, "class=\"piece "), 2 * case.squares.len());
        assert!(dom.contains("<svg class=\"histogram\""));
    }
}

#[test]
fn a_browser_takes_names_for_text() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let name = "</script><img src=x onerror=document.title='caught'>{{data}}";
    let file = case_called(name, scratch.path());
    let written = Written::by(&["--direct", "--corpus", &file]);
    assert_eq!(data(&written.text("report.html"))["cases"][0][0], name);
    let Some(dom) = drawn(&written.path("report.html"), "") else { return };
    let (_, rows) = dom.split_once("<div id=\"cases\"").expect("the cases");
    assert!(rows.contains("&lt;/script&gt;&lt;img"), "{rows}");
    assert!(!dom.contains("<img") && !dom.contains("<title>caught") && !dom.contains("<b>odd"));
}

#[test]
fn a_browser_shows_why_no_board_was_ready() {
    let written = Written::by(&["--port", "/dev/no-such-board", "--tag", "document"]);
    let Some(dom) = drawn(&written.path("report.html"), "") else { return };
    assert!(dom.contains("<b>Incomplete:</b> set-up failed: "), "{dom}");
    assert_eq!(count(&dom, "<details data-verdict=\"not-run\""), 6);
    assert_eq!(count(&dom, "<svg"), 0, "nothing to draw");
}

#[test]
fn the_page_of_several_boards_says_what_each_did_and_who_is_at_fault() {
    let boards = ["--rig", "direct", "--rig", "direct"];
    let written = Written::of_a_cheap_rook_on(&boards, &["--tag", "document"]);
    let wrong = written.report().counts.fail as usize;
    let Some(dom) = drawn(&written.path("report.html"), "") else { return };
    assert_eq!(count(&dom, "id=\"boards\""), 1);
    assert!(dom.contains("direct 2"), "the table of boards");
    assert!(wrong > 0 && dom.contains("<dt>at fault"), "the first wrong case is open");
    let one = Written::of_a_cheap_rook(&["--tag", "document"]);
    let Some(dom) = drawn(&one.path("report.html"), "") else { return };
    assert_eq!((count(&dom, "id=\"boards\""), count(&dom, "<dt>at fault")), (0, 0));
    assert!(!dom.contains(">null<"), "a run on one board has none");
}
