//! Suites of exchange values in the forms that engines keep: 23 files of `tests/data/suites`, with
//! what each line must give. The values are those of two other programs.

use std::path::Path;

use serde_json::Value;

use crate::{run, text};

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/suites");

fn records() -> Vec<Value> {
    let text = std::fs::read_to_string(Path::new(DATA).join("expect.jsonl")).expect("it is there");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// Judges a file; returns the exit code, the lines of JSON, and the counts.
fn judged(arguments: &[&str], input: &str) -> (Option<i32>, Vec<Value>, Value) {
    let output = run(&[&["swap", "--json"][..], arguments].concat(), input);
    let parse = |line: &str| serde_json::from_str::<Value>(line).expect("JSON");
    let mut lines: Vec<Value> = text(&output.stdout).lines().map(parse).collect();
    let counts = lines.pop().unwrap_or_else(|| panic!("{}", text(&output.stderr)));
    (output.status.code(), lines, counts["counts"].clone())
}

fn of_line<'a>(lines: &'a [Value], number: &Value) -> &'a Value {
    lines.iter().find(|line| line["line"] == *number).unwrap_or(&Value::Null)
}

fn check(expected: &Value, found: &Value) {
    let place = format!("{expected}\n{found}");
    match expected["kind"].as_str() {
        Some("judged") => {
            let agrees = found["agrees"].as_array().expect(&place);
            assert_eq!(found["uci"], expected["move"], "{place}");
            assert_eq!(agrees.contains(&"swap".into()), expected["expected"] == true, "{place}");
            for by in ["swap", "swap_promo", "legal"] {
                let [found, expected] = [&found[by], &expected["by"][by]].map(Value::as_f64);
                assert_eq!(found, expected, "{by}, {place}");
            }
        }
        Some("refuse") => assert_eq!(found["kind"], "refuse", "{place}"),
        Some("unstated") => {
            assert!(found["swap"].is_number() && found["right"].is_null(), "{place}");
        }
        _ => assert_eq!(*found, Value::Null, "{place}"),
    }
}

#[test]
fn every_line_of_every_form_is_judged_or_refused_as_stated() {
    let records = records();
    for file in records.iter().filter(|record| record["kind"] == "file") {
        let name = file["file"].as_str().expect("a name");
        let path = Path::new(DATA).join(name);
        let options = file["options"].as_str().expect("options").split_whitespace();
        let path = [path.to_str().expect("UTF-8")];
        let arguments: Vec<&str> = options.chain(path).collect();
        let (code, found, counts) = judged(&arguments, "");
        let expected = records.iter().filter(|line| line["file"] == name && line["kind"] != "file");
        let expected: Vec<_> = expected.collect();
        expected.iter().for_each(|line| check(line, of_line(&found, &line["line"])));
        let count = |kind: &str| expected.iter().filter(|line| line["kind"] == kind).count();
        assert_eq!(counts["judged"], count("judged"), "{name}");
        assert_eq!(counts["refused"], count("refuse"), "{name}");
        assert_eq!(counts["unstated"], count("unstated"), "{name}");
        let of = |name: &str| counts[name].as_u64().expect("a count");
        assert_eq!(of("lines"), of("judged") + of("refused") + of("unstated"), "{name}");
        assert_eq!(of("judged"), of("right") + of("wrong"), "{name}");
        assert_eq!(code, Some(if of("wrong") > 0 { 1 } else { 3 }), "{name}");
    }
}

/// Knights and a bishop may take on e4.
const SEVERAL: &str = "4k3/8/8/8/4p3/2N5/3N2B1/4K3 w - -";

#[test]
fn a_line_with_an_ambiguous_move_or_none_is_refused_and_named() {
    for (moved, problem) in [
        ("Nxe4", "Nxe4 fits moves from d2, c3"),
        ("Zz9", "Zz9 is not a legal move"),
        ("", "no move"),
    ] {
        let output = run(&["swap", "-"], &format!("{SEVERAL}; {moved}; 100\n"));
        assert_eq!(output.status.code(), Some(4), "{moved}");
        assert!(text(&output.stderr).contains(problem), "{}", text(&output.stderr));
    }
}

#[test]
fn a_suite_without_values_shows_them_and_succeeds() {
    let (code, lines, counts) = judged(&["-"], &format!("{SEVERAL}; Ncxe4?\n"));
    assert_eq!((code, &counts["unstated"], &lines[0]["swap"]), (Some(0), &1.into(), &100.into()));
}

#[test]
fn a_position_without_a_move_is_refused_in_a_suite() {
    let (code, lines, counts) = judged(&["-"], &format!("{SEVERAL}; Bxe4; 100\n{SEVERAL}\n"));
    assert_eq!(
        (code, &counts["refused"], &lines[1]["kind"]),
        (Some(3), &1.into(), &"refuse".into())
    );
}

#[test]
fn the_meaning_of_a_number_can_be_set() {
    // The bishop wins a pawn for nothing: a value of 100.
    let suite = format!("{SEVERAL}; Bxe4; 50\n");
    for (reading, code) in [("value", 1), ("threshold", 0), ("sign", 0)] {
        assert_eq!(judged(&["--suite", reading, "-"], &suite).0, Some(code), "{reading}");
    }
    let output = run(&["swap", "--at-least", "50", "-"], &suite);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stdout));
    let (code, ..) = judged(&["--suite", "threshold", "-"], &suite.replace("50", "101"));
    assert_eq!(code, Some(1));
}

#[test]
fn a_comma_within_a_number_of_a_table_is_refused() {
    for number in ["1,000", "3,25", "-1,000"] {
        let row = format!("(\"{SEVERAL}\", \"Bxe4\", {number}, true),\n");
        let column = row.find(number).expect("it is there") + 1;
        let (code, lines, counts) = judged(&["-"], &row.repeat(2));
        assert_eq!((code, &counts["refused"]), (Some(4), &2.into()), "{lines:?}");
        assert_eq!(lines[0]["column"], column, "{lines:?}");
        let problem = lines[0]["reason"].as_str().expect("a text");
        assert!(problem.starts_with(&format!("'{number}' is ambiguous")), "{problem}");
    }
    // With a blank they are two fields.
    let row = format!("(\"{SEVERAL}\", \"Bxe4\", 100, 12),\n");
    assert_eq!(judged(&["-"], &row).0, Some(0));
}
