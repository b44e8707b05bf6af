//! The lines of `sargon --json` conform to docs/positions.schema.json, which describes no others.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::programs;
use crate::runs::schema::{Checker, document};

/// Runs `sargon`; returns the lines that it prints.
fn lines(arguments: &[&str], input: &str) -> Vec<Value> {
    let mut command = Command::new(programs::path("sargon"));
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("it starts");
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// A position in which a knight may take, with all that a line may have.
const POSITION: &str = "1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - - bm Nxe5 Qh9; ]";
/// A pinned bishop and a right of Chess960; no king of Black; an invalid line.
const OTHERS: &str =
    "1k2r3/8/8/3p4/4B3/8/8/4K1R1 w G - 0 1\n8/8/8/3p4/4P3/8/8/4K3 w - -\nrubbish\n";
/// A suite of each form.
const SUITES: [&str; 4] = [
    "4k3/8/8/3p4/4P3/8/8/4K3 w - -; exd5; 100; P\n",
    "4k3/8/8/3p4/4P3/8/8/4K3 w - - | exd5 | 50 | true | note\n",
    "4k3/8/8/3p4/4P3/8/8/4K3 w - -; exd5\n",
    "4k3/8/8/3p4/4P3/8/8/4K3 w - - | exd5 | P - R + B\n",
];
/// A square with another residue in the original.
const FLAG: &str = "r3q2r/2p1k1p1/p5p1/1p2Nb2/1P2nB2/P7/2PNQbPP/R2R3K w - -";
/// An attacked piece whose residue is not its swap value.
const PIN: &str = "2k5/8/2n5/8/3p4/8/3R4/2R4K w - -";

#[test]
fn every_line_of_json_conforms_to_the_schema() {
    let positions = format!("{POSITION}\n{OTHERS}{PIN}\n");
    let zeros = "while read line; do echo 0; done";
    let runs: [(&[&str], &str, &str, Option<&str>); 11] = [
        (&["positions", "-"], &positions, "position", None),
        (&["positions", "-"], SUITES[3], "position", None),
        (&["captures", "-"], &positions, "captures", None),
        (&["swap", "--at-least", "0", "-"], &positions, "moves", None),
        (&["swap", "--at-least", "0", POSITION, "Nxe5"], "", "move", None),
        (&["swap", "-"], SUITES[0], "judged", Some("judged_counts")),
        (&["swap", "-"], SUITES[1], "judged", Some("judged_counts")),
        (&["swap", "-"], SUITES[2], "judged", Some("judged_counts")),
        (&["compare-see", zeros, "-"], OTHERS, "compared", Some("compared_counts")),
        (&["differences", "-"], &positions, "differences", Some("differences_counts")),
        (&["behaviours", FLAG], "", "behaviours", Some("behaviours_counts")),
    ];
    let schema: Value = serde_json::from_str(&document("positions.schema.json")).expect("JSON");
    let mut checker = Checker::new(schema.clone());
    let mut check = |kind: &str, line: &Value| {
        let rule = json!({ "$ref": format!("#/$defs/{kind}") });
        checker.check(&rule, line, "").unwrap_or_else(|wrong| panic!("{wrong}"));
        assert!(schema["anyOf"].as_array().is_some_and(|all| all.contains(&rule)), "{kind}");
    };
    let relations = lines(&["relations", "--json", POSITION], "");
    relations.iter().for_each(|line| check("relations", line));
    for (arguments, input, kind, totals) in runs {
        let mut found = lines(&[arguments, &["--json"]].concat(), input);
        if let Some(totals) = totals {
            check(totals, &found.pop().expect("counts"));
        }
        assert!(!found.is_empty(), "{arguments:?}");
        for line in found {
            check(if line["kind"] == "refuse" { "refuse" } else { kind }, &line);
        }
    }
    assert_eq!(checker.unseen(), [""; 0]);
}
