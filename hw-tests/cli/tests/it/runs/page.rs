//! The page of a report: its content without a script.

#[cfg(feature = "system-tests")]
mod system;

use hil_harness::runner::Verdict;
use serde_json::{Value, json};

use super::reports::WrittenReport;

/// Returns the data of the page's script.
fn data(page: &str) -> Value {
    let (_, rest) =
        page.split_once("<script id=\"data\" type=\"application/json\">").expect("data");
    let (data, _) = rest.split_once("</script>").expect("its end");
    serde_json::from_str(data).expect("JSON")
}

#[test]
fn the_page_has_every_wrong_square_and_loads_nothing() {
    let written = WrittenReport::of_a_cheap_rook(&["--tag", "document"]);
    let page = written.text("report.html");
    let report = written.report();
    let shown = data(&page);
    for (case, drawn) in report.cases.iter().zip(shown["cases"].as_array().expect("cases")) {
        assert_eq!(drawn[0], case.id.as_str());
        for (at, square) in case.details.squares.iter().zip(drawn[5].as_array().expect("squares")) {
            let right = at.reference_array.map(|array| array.map(|byte| format!("{byte:02X}")));
            assert_eq!(square[0], at.square.as_str());
            assert_eq!((&square[3], &square[4]), (&at.board.into(), &at.reference.into()));
            assert_eq!(square.get(7), right.map(|digits| digits.concat().into()).as_ref());
        }
        assert_eq!(drawn[6].as_array().map(Vec::len), Some(case.differences.len()));
    }
    let facts = shown["facts"].as_array().expect("facts");
    assert!(facts.contains(&json!(["behaviour", report.run.behaviour])), "{facts:?}");
    let markup = page.replace("http://www.w3.org/2000/svg", "");
    assert!(!markup.contains("http:") && !markup.contains("https:"), "it stands for itself");
    let (_, silent) = page.split_once("<noscript>").expect("a text without script");
    let (silent, _) = silent.split_once("</noscript>").expect("its end");
    for case in report.cases.iter().filter(|case| case.verdict == Verdict::Fail) {
        assert!(silent.contains(&case.id) && silent.contains(&case.differences[0].board));
    }
}

#[test]
fn names_are_text_in_the_pages_data() {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let name = "</script><img src=x onerror=document.title='caught'>{{data}}";
    let written = WrittenReport::from_run(&[
        "--rig",
        "direct",
        "--corpus",
        &super::reports::case_called(name, scratch.path()),
    ]);
    assert_eq!(data(&written.text("report.html"))["cases"][0][0], name);
}
