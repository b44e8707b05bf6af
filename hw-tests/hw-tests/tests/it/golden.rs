//! The output of `explain` and `prizes`, each case a file in `golden`; `BLESS=1` rewrites them.

use std::path::Path;
use std::process::Command;

use assert_cmd::cargo::CommandCargoExt;

/// Position 1 of the wiki's page on the swap algorithm.
const POSITION_1: &str = "1k1r4/1pp4p/p7/4p3/8/P5P1/1PP4P/2K1R3 w - -";
/// Position 2 of that page.
const POSITION_2: &str = "1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - -";
/// The test files of the parser of positions.
const SAMPLES: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../chess-rules/tests/data/epd-samples.epd");

/// Runs a command that must succeed and compares its output with a file.
fn golden(name: &str, arguments: &[&str]) {
    let mut command = Command::cargo_bin("hw-tests").expect("it is built");
    let output = command.args(arguments).output().expect("it starts");
    let printed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {printed}");
    let found = String::from_utf8_lossy(&output.stdout);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &*found).expect("to write the golden file");
    }
    let wanted = std::fs::read_to_string(&path).expect("the golden file");
    assert_eq!(found, wanted, "{name}: BLESS=1 rewrites it");
}

#[test]
fn prizes_show_both_scoring_rules_on_host_and_board() {
    let figure_5 = "r3k3/2N5/8/8/2q5/8/8/4K3 b - -";
    golden("prizes-figure5.txt", &["prizes", "--moved", "c7", figure_5]);
    golden("prizes-figure5.json", &["prizes", "--json", figure_5]);
}

#[test]
fn prizes_are_computed_for_every_position_of_the_samples() {
    let mut command = Command::cargo_bin("hw-tests").expect("it is built");
    let output = command.args(["prizes", "--json", SAMPLES]).output().expect("it starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    assert!(stderr.contains("10 lines were invalid"), "{stderr}");
    let found = String::from_utf8_lossy(&output.stdout);
    assert_eq!(found.matches("\"kind\":\"position\"").count(), 58, "{found}");
}

#[test]
fn an_exchange_is_explained_on_host_and_board() {
    // The array of the article's Figure 4: two knights and a bishop against pawn and queen.
    let figure_4 = "6k1/4q3/8/3p4/4n3/2N5/3N2B1/6K1 w - -";
    golden("explain-figure4.txt", &["explain", figure_4, "e4"]);
    golden("explain-figure4-values.txt", &["explain", "--values", "1,3,3,5,2,10", figure_4, "e4"]);
    golden("explain-2.txt", &["explain", POSITION_2, "e5"]);
    golden("explain-unattacked.txt", &["explain", POSITION_2, "d7"]);
}

#[test]
fn input_that_cannot_be_analysed_has_its_exit_code() {
    let cases: [(&[&str], i32, &str); 4] = [
        (&["explain", POSITION_1, "e4"], 4, "no piece on e4"),
        (&["explain", POSITION_1, "e9"], 2, "expected a1 to h8"),
        (&["explain", "--values", "0,3,3,5,9,10", POSITION_1, "e5"], 2, "from 1 to 15"),
        (&["prizes", "--moved", "e5", POSITION_1, POSITION_2], 2, "with a single position"),
    ];
    for (arguments, code, message) in cases {
        let mut command = Command::cargo_bin("hw-tests").expect("it is built");
        let output = command.args(arguments).output().expect("it starts");
        let printed = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {printed}");
        assert!(printed.contains(message), "{arguments:?}: {printed}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}
