//! The page of `differences --html`: each square with both exchanges, and nothing loaded.

use serde_json::Value;

use crate::{run, text};

/// White's rook on d2 may not take: Sargon counts pins to a queen.
const PIN: &str = "2k5/8/2n5/8/3p4/8/3R4/2R4K w - -";

/// Writes the page for these lines; returns it with its data.
fn page(lines: &str) -> (tempfile::TempDir, String, Value) {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let file = folder.path().join("page.html");
    let output = run(&["differences", "--html", file.to_str().expect("UTF-8"), "-"], lines);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let page = std::fs::read_to_string(&file).expect("the page");
    let data = page.split("<script id=\"data\" type=\"application/json\">").nth(1);
    let data = data.and_then(|rest| rest.split("</script>").next()).expect("data");
    let data = serde_json::from_str(data).expect("JSON");
    (folder, page, data)
}

#[test]
fn each_square_that_differs_has_both_exchanges() {
    let name = "</script><img src=x>{{style}}";
    let quiet = "4k3/8/8/8/8/8/8/4K3 w - -";
    let (_folder, page, data) = page(&format!("{PIN} id \"{name}\";\n{quiet}\n"));
    let squares = data["squares"].as_array().expect("squares");
    assert_eq!(squares.len(), 1);
    let found = &squares[0];
    assert_eq!((&found["id"], &found["square"]), (&name.into(), &"d4".into()));
    assert_eq!((&found["residue"], &found["swap"]), (&1.into(), &0.into()));
    // The knight is pinned to its king, so the rook wins the pawn; by the swap algorithm it would
    // be taken.
    assert_eq!(found["sargon"]["captures"], serde_json::json!([["d2", 1]]));
    assert_eq!(found["sargon"]["left_out"], serde_json::json!(["c6"]));
    assert_eq!(found["modern"]["captures"], serde_json::json!([]));
    assert_eq!(found["modern"]["declined"], "d2");
    assert_eq!(data["counts"]["positions"], 2);
    let scripts = page.matches("<script").count();
    assert_eq!((scripts, page.matches("</script>").count()), (2, 2));
    let markup = page.replace("http://www.w3.org/2000/svg", "");
    assert!(
        !markup.contains("http:")
            && !markup.contains("https:")
            && !markup.contains("<img")
            && !markup.contains("{{b")
    );
}

#[test]
fn a_page_that_cannot_be_written_is_an_error() {
    let output = run(&["differences", "--html", "/nonexistent/page.html", PIN], "");
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stderr).contains("/nonexistent/page.html"), "{}", text(&output.stderr));
}

#[cfg(feature = "system-tests")]
mod system {
    use std::process::Command;

    use super::{PIN, page};

    #[test]
    fn a_browser_draws_a_board_with_the_captures_as_arrows() {
        let (folder, ..) = page(PIN);
        let mut browser = Command::new("chromium");
        browser.args(["--headless=new", "--no-sandbox", "--disable-gpu", "--dump-dom"]);
        browser.arg(format!("--user-data-dir={}", folder.path().display()));
        browser.arg(format!("file://{}/page.html", folder.path().display()));
        let output = browser.output().expect("Debian's chromium");
        let dom = String::from_utf8_lossy(&output.stdout);
        assert_eq!(dom.matches("<article").count(), 1, "{dom}");
        assert!(dom.contains("rook d2 takes the pawn") && dom.contains("knight c6 is left out"));
        assert_eq!(dom.matches("class=\"piece ").count(), 6 + 3, "on the board and in the lists");
    }
}
