//! The output of the commands, each case a file in `golden`; `BLESS=1` rewrites them.

use std::path::Path;

use crate::{run, text};

/// Position 1 of the wiki's page on the swap algorithm.
const POSITION_1: &str = "1k1r4/1pp4p/p7/4p3/8/P5P1/1PP4P/2K1R3 w - -";
/// Position 2 of that page.
const POSITION_2: &str = "1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - -";
/// Twelve hundred positions of legal play.
const PLAY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../corpus/corpus/generated.epd");

/// The test files of the parser of positions.
const SAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../rules/tests/data/epd-samples.epd");

/// Runs a command that must succeed and compares its output with a file.
fn golden(name: &str, arguments: &[&str]) {
    let output = run(arguments, "");
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", text(&output.stderr));
    let found = text(&output.stdout);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &found).expect("to write the golden file");
    }
    let wanted = std::fs::read_to_string(&path).expect("the golden file");
    assert_eq!(found, wanted, "{name}: BLESS=1 rewrites it");
}

#[test]
fn captures_are_ordered_dropped_and_counted() {
    golden("captures-1.txt", &["captures", POSITION_1]);
    golden("captures-2.txt", &["captures", "--values", "wiki", POSITION_2]);
    golden("captures-2-sargon.txt", &["captures", "--values", "sargon", POSITION_2]);
    golden("captures-both.json", &["captures", "--json", POSITION_1, POSITION_2]);
    golden("captures-play.txt", &["captures", PLAY]);
}

#[test]
fn a_capture_is_evaluated_with_its_list_of_gains() {
    golden("swap-1.txt", &["swap", POSITION_1, "e1e5"]);
    let wiki = ["swap", "--values", "wiki", "--at-least", "-225", POSITION_2, "d3e5"];
    golden("swap-2.txt", &wiki);
    golden("swap-2-sargon.json", &["swap", "--json", "--values", "sargon", POSITION_2, "d3e5"]);
    // The values by the definitions all differ here, and the capture gives a discovered check.
    let apart = "8/8/8/4B3/R2q1p2/RN1k4/1pn4P/qK6 w - - 0 1";
    golden("swap-apart.txt", &["swap", "--values", "units", "--at-least", "6", apart]);
    golden("swap-apart.json", &["swap", "--json", "--values", "units", apart, "Nxa1+"]);
}

#[test]
fn differences_are_a_table_counts_or_json() {
    let pinned = "2k5/8/2n5/8/3p4/8/3R4/2R4K w - -";
    golden("differences-pin.txt", &["differences", pinned]);
    golden("differences-pin.json", &["differences", "--json", pinned]);
    golden("differences-play.txt", &["differences", PLAY]);
}

#[test]
fn relations_are_listed_and_counted() {
    golden("relations-2.txt", &["relations", POSITION_2]);
    golden("relations-1.json", &["relations", "--json", POSITION_1]);
    golden("relations-play.txt", &["relations", PLAY]);
}

#[test]
fn input_that_cannot_be_analysed_has_its_exit_code() {
    let cases: [(&[&str], i32, &str); 11] = [
        (&["captures", "--values", "1,2", POSITION_1], 2, "six whole numbers"),
        (&["captures", "/nonexistent"], 3, "can't read /nonexistent"),
        (&["differences", "8/8 w - -"], 3, "FEN:1:5: two ranks"),
        (&["swap", POSITION_1, "e1e6"], 4, "invalid move 'e1e6': expected a legal move of 1k1r4/"),
        (&["swap", POSITION_1, "Rxc7"], 4, "in SAN or UCI"),
        (&["positions", "/dev/zero"], 3, "/dev/zero:1: the line is longer"),
        (&["swap", "/dev/zero"], 3, "/dev/zero:1: the line is longer"),
        (&["explain", POSITION_1, "e4"], 4, "no piece on e4"),
        (&["explain", POSITION_1, "e9"], 2, "expected a1 to h8"),
        (&["explain", "--values", "0,3,3,5,9,10", POSITION_1, "e5"], 2, "from 1 to 15"),
        (&["prizes", "--moved", "e5", POSITION_1, POSITION_2], 2, "with a single position"),
    ];
    for (arguments, code, message) in cases {
        let output = run(arguments, "");
        let printed = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {printed}");
        assert!(printed.contains(message), "{arguments:?}: {printed}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn prizes_show_both_scoring_rules_on_host_and_board() {
    let figure_5 = "r3k3/2N5/8/8/2q5/8/8/4K3 b - -";
    golden("prizes-figure5.txt", &["prizes", "--moved", "c7", figure_5]);
    golden("prizes-figure5.json", &["prizes", "--json", figure_5]);
}

#[test]
fn prizes_are_computed_for_every_position_of_the_samples() {
    let output = run(&["prizes", "--json", SAMPLES], "");
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    assert!(stderr.contains("10 lines were invalid"), "{stderr}");
    let found = text(&output.stdout);
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
