//! The position commands on files of positions: every form of line, every legal capture, every
//! definition of a value; and users' commands, well-behaved and hostile.

use std::io::Read;
use std::path::Path;
use std::time::{Duration, Instant};

use flate2::read::GzDecoder;
use serde_json::Value;

use crate::{run, text};

/// The test files of the parser of positions.
const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../rules/tests/data");

/// A command that replies to each line with the same value.
const ZEROS: &str = "while read line; do echo 0; done";
/// A position in which the value of every move is 0.
const QUIET: &str = "4k3/8/8/8/8/8/8/4K3 w - -";
/// The timeout of a command.
const TIMEOUT: Duration = Duration::from_secs(60);

fn lines(bytes: &[u8]) -> Vec<Value> {
    text(bytes).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

fn sample(name: &str) -> String {
    Path::new(DATA).join(name).to_string_lossy().into_owned()
}

/// Returns the expected results of the lines of a sample file that are not empty.
fn expected(name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(sample("epd-samples.expect.jsonl")).expect("it is there");
    let all = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    all.filter(|line| line["file"] == name && line["kind"] != "nothing").collect()
}

#[test]
fn every_line_of_the_samples_is_read_as_stated() {
    for name in ["epd-samples.epd", "epd-samples-bom.epd"] {
        let output = run(&["positions", "--json", &sample(name)], "");
        assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
        let found = lines(&output.stdout);
        let expected = expected(name);
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(&expected) {
            for (key, value) in expected.as_object().expect("an object") {
                if !["file", "form"].contains(&key.as_str()) {
                    assert_eq!(&found[key], value, "{key} of {expected}");
                }
            }
            let more = ["chess960", "suite", "rest", "warn", "moves"];
            let unexpected = more.iter().find(|key| expected.get(key) != found.get(key));
            assert_eq!(unexpected, None, "{found}");
        }
    }
}

#[test]
fn all_position_commands_handle_every_position_of_the_samples() {
    let file = sample("epd-samples.epd");
    for command in ["captures", "differences", "relations"] {
        let output = run(&[command, "--json", &file], "");
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{command}: {stderr}");
        assert!(stderr.contains("epd-samples.epd:65:44: seven ranks"), "{command}: {stderr}");
        assert!(stderr.contains("10 lines were invalid"), "{command}: {stderr}");
        let found = lines(&output.stdout);
        let positions = found.iter().filter(|line| line["kind"] == "position");
        assert_eq!(positions.count(), 58, "{command}");
        let refused = found.iter().filter(|line| line["kind"] == "refuse");
        assert_eq!(refused.count(), 10, "{command}");
        assert!(found.iter().any(|line| line["id"] == "own.001"), "{command}");
    }
}

#[test]
fn strict_stops_at_the_first_invalid_line() {
    let input = format!("{QUIET}\nrubbish\n{QUIET}\n");
    let output = run(&["positions", "--strict", "-"], &input);
    assert_eq!(output.status.code(), Some(3));
    assert_eq!(text(&output.stdout).lines().count(), 1);
    assert!(text(&output.stderr).contains("standard input:2:1: invalid position"));
    let lenient = run(&["positions", "-"], &input);
    assert_eq!(lenient.status.code(), Some(3));
    assert_eq!(text(&lenient.stdout).lines().count(), 2);
}

#[test]
fn control_characters_of_a_file_do_not_reach_the_terminal() {
    let input = format!("{QUIET} id \"a\u{1b}[2Jb\"; bm \u{7};\n\u{1b}[31m w - -\n");
    for form in [&["positions", "-"][..], &["positions", "--json", "-"], &["behaviours", "-"]] {
        let output = run(form, &input);
        let shown = [output.stdout, output.stderr].concat();
        assert!(!shown.contains(&0x1b) && !shown.contains(&7), "{form:?}: {}", text(&shown));
    }
}

/// Some positions with captures and values from two other implementations.
fn truth() -> Vec<Value> {
    let packed = std::fs::read(sample("truth.jsonl.gz")).expect("it is there");
    let mut text = String::new();
    GzDecoder::new(&packed[..]).read_to_string(&mut text).expect("it is whole");
    let all = text.lines().map(|line| serde_json::from_str(line).expect("JSON"));
    all.step_by(9).collect()
}

fn epd(truth: &[Value]) -> String {
    let line =
        |entry: &Value| format!("{} id {};\n", entry["fen"].as_str().expect("a FEN"), entry["id"]);
    truth.iter().map(line).collect()
}

fn value(entry: &Value, uci: &str, definition: usize) -> Value {
    match &entry["see"][uci] {
        Value::Array(three) => three[definition].clone(),
        one => one.clone(),
    }
}

#[test]
fn captures_are_the_legal_ones_with_their_values() {
    let truth = truth();
    let output = run(&["captures", "--json", "--values", "1,3,3,5,9,20000", "-"], &epd(&truth));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let found = lines(&output.stdout);
    assert_eq!(found.len(), truth.len());
    for (found, entry) in found.iter().zip(&truth) {
        assert_eq!(found["id"], entry["id"]);
        let captures = found["captures"].as_array().expect("captures");
        assert_eq!(captures.len(), entry["captures"].as_object().expect("captures").len());
        for capture in captures {
            let uci = capture["uci"].as_str().expect("a move");
            assert_eq!(capture["san"], entry["captures"][uci], "{}", entry["id"]);
            for (definition, name) in ["swap", "swap_promo", "legal"].iter().enumerate() {
                assert_eq!(capture[name], value(entry, uci, definition), "{} {uci}", entry["id"]);
            }
        }
    }
}

#[test]
fn swap_evaluates_every_move_of_every_position() {
    let truth = truth();
    let output = run(&["swap", "--json", "--values", "units", "-"], &epd(&truth));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    for (found, entry) in lines(&output.stdout).iter().zip(&truth) {
        let moves = found["values"].as_array().expect("values");
        assert_eq!(moves.len(), entry["see"].as_object().expect("moves").len());
        // Castling of the positions marked as Chess960 is written in another notation.
        for m in moves.iter().filter(|_| entry["chess960"] != true) {
            let uci = m["uci"].as_str().expect("a move");
            assert_eq!(m["legal"], value(entry, uci, 2), "{} {uci}", entry["id"]);
        }
    }
}

#[test]
fn a_position_is_an_argument_or_an_option() {
    const FEN: &str = "4k3/8/2n5/3p4/4P3/8/6B1/4K3 w - -";
    for (argument, option) in [
        (&["swap", FEN, "exd5", "Bf3"][..], &["swap", "--fen", FEN, "exd5", "Bf3"][..]),
        (&["swap", "--json", FEN], &["swap", "--json", "--fen", FEN]),
        (&["captures", FEN], &["captures", "--fen", FEN]),
        (&["differences", FEN], &["differences", "--fen", FEN]),
        (&["relations", FEN], &["relations", "--fen", FEN]),
    ] {
        let by_argument = run(argument, "");
        let by_option = run(option, "");
        assert_eq!(by_argument.status.code(), Some(0), "{}", text(&by_argument.stderr));
        assert_eq!(text(&by_argument.stdout), text(&by_option.stdout), "{option:?}");
    }
    assert_eq!(run(&["swap", "--json"], "").status.code(), Some(2));
}

#[test]
fn a_suite_is_judged_in_the_values_that_it_was_made_with() {
    let suite = "4k3/8/2n5/3p4/4P3/8/6B1/4K3 w - -; exd5; 100; P\n\
                 4k3/8/4p3/3p4/8/8/6B1/4K3 w - -; Bxd5; -200; P - B\n\
                 rnb1k3/P1P5/8/8/8/8/8/4K3 w - - 0 1 | cxb8=Q | 1100\n";
    let output = run(&["swap", "-"], suite);
    let shown = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{shown}");
    assert!(shown.contains("3 lines: 3 judged, 3 right, 0 wrong; 0 refused"), "{shown}");
    // The last value assumes that the recapturing pawn becomes a queen.
    let output = run(&["swap", "--by", "swap", "-"], suite);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("legal   1100  wrong"), "{}", text(&output.stdout));
}

fn compare(command: &str, more: &[&str]) -> (Option<i32>, String, String) {
    let started = Instant::now();
    let output = run(&[&["compare-see", command], more].concat(), "");
    assert!(started.elapsed() < TIMEOUT, "{command}");
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_users_command_is_compared_move_by_move() {
    let (code, shown, stderr) = compare(ZEROS, &[QUIET]);
    assert_eq!(code, Some(0), "{shown}{stderr}");
    assert!(shown.contains("5 moves\n"), "{shown}");
    let taking = "4k3/8/2n5/3p4/4P3/8/6B1/4K3 w - -";
    let (code, shown, stderr) = compare(ZEROS, &["--captures", taking]);
    assert_eq!(code, Some(1), "{shown}{stderr}");
    assert!(
        shown.contains("exd5\n  theirs 0  swap 100  swap_promo 100  swap_pins 100  legal 100"),
        "{shown}"
    );
    assert!(stderr.contains("1 value of the command differ from swap"), "{stderr}");
}

/// The bishop's capture loses a bishop for a pawn, the pawn's wins a pawn.
const TWO_CAPTURES: &str = "4k3/8/2n5/3p3p/4P3/8/6B1/4K2R w - -";

/// Returns a command that replies with one value for captures on d5 and another for those on h5.
fn two_values(d5: i32, h5: i32) -> String {
    format!("while read l; do case $l in *d5) echo {d5};; *) echo {h5};; esac; done")
}

#[test]
fn values_of_another_unit_get_a_hint() {
    let captures = ["--captures", TWO_CAPTURES];
    let (code, shown, stderr) = compare(&two_values(100, 100), &captures);
    assert_eq!((code, stderr.contains("hint")), (Some(0), false), "{shown}{stderr}");
    for (command, hint) in [
        (two_values(1, 1), "that are not 0 are 1/100 times swap by the values classic; give"),
        (two_values(250, 250), "are 5/2 times swap"),
        (two_values(-100, -100), "are -1 times swap by the values classic; the command should"),
    ] {
        let (code, shown, stderr) = compare(&command, &captures);
        assert_eq!(code, Some(1), "{shown}{stderr}");
        assert!(stderr.contains(hint), "{stderr}");
    }
    for command in [two_values(1, 2), two_values(1, 0), two_values(100, 101)] {
        let (_, _, stderr) = compare(&command, &captures);
        assert!(!stderr.contains("hint"), "{stderr}");
    }
    let (code, _, stderr) =
        compare(&two_values(1, 1), &["--values", "units", "--captures", TWO_CAPTURES]);
    assert_eq!(code, Some(0), "{stderr}");
}

#[test]
fn all_commands_evaluate_by_the_same_values() {
    let position = "4k3/8/8/3n4/4P3/8/8/4K3 w - -";
    let outputs =
        ["captures", "swap"].map(|command| text(&run(&[command, "--json", position], "").stdout));
    assert!(
        outputs.iter().all(|output| output.contains("\"san\":\"exd5\",\"swap\":300,")),
        "{outputs:?}"
    );
    let (code, ..) = compare("while read l; do echo 300; done", &["--captures", position]);
    assert_eq!(code, Some(0));
}

#[test]
fn decimals_are_refused_but_for_suites() {
    let decimals = "1,3.25,3.25,5,9.75,200";
    for command in [&["captures"][..], &["swap"], &["compare-see", ZEROS]] {
        let output = run(&[command, &["--values", decimals, QUIET]].concat(), "");
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{command:?}: {stderr}");
        assert!(stderr.contains("whole numbers"), "{command:?}: {stderr}");
    }
    for (command, help) in
        [("captures", "or whole numbers P,N,B,R,Q,K"), ("swap", "a suite's may have")]
    {
        let shown = text(&run(&[command, "--help"], "").stdout);
        assert!(shown.contains(help) && shown.contains("swap_pins"), "{shown}");
    }
}

/// Positions that no game reaches, with the reason.
const IMPOSSIBLE: [(&str, &str); 7] = [
    ("8/8/8/8/8/8/4p3/4K3 w - -", "Black has no king"),
    ("4k3/8/8/8/8/8/8/K3K3 w - -", "White has 2 kings"),
    ("4k2P/8/8/8/8/8/8/4K3 w - -", "a pawn is on h8"),
    ("4k3/8/8/8/8/8/8/p3K3 w - -", "a pawn is on a1"),
    ("4k3/8/8/8/8/8/4R3/4K3 w - -", "the side that is not to move is in check"),
    ("4k3/8/8/8/P7/PPPPPPPP/8/4K3 w - -", "White has 9 pawns"),
    ("4k3/rrrrrrrr/rrrrrrrr/8/8/8/8/7K w - -", "Black has 17 pieces"),
];

#[test]
fn positions_that_no_game_reaches_are_evaluated_with_a_warning() {
    for command in [
        &["positions"][..],
        &["captures"],
        &["swap"],
        &["compare-see", ZEROS],
        &["differences"],
        &["relations"],
        &["behaviours"],
        &["prizes"],
        &["residues"],
    ] {
        for (fen, reason) in IMPOSSIBLE {
            let json: &[&str] = if command[0] == "residues" { &[] } else { &["--json"] };
            let output = run(&[command, json, &[fen]].concat(), "");
            let (shown, stderr) = (text(&output.stdout), text(&output.stderr));
            let warning = format!("FEN:1: warning: no game reaches this position: {reason}");
            assert!(stderr.contains(&warning), "{command:?} {fen}: {stderr}");
            assert!([Some(0), Some(1)].contains(&output.status.code()), "{command:?}: {stderr}");
            // Of the king's moves there is none.
            let is_listed = shown.contains(&format!("\"impossible\":[\"{reason}\""));
            assert!(is_listed || !shown.contains("\"fen\""), "{command:?}: {shown}");
        }
        let output = run(&[command, &[QUIET]].concat(), "");
        assert!(!text(&output.stderr).contains("warning"), "{}", text(&output.stderr));
    }
    let output = run(&["explain", IMPOSSIBLE[0].0, "e2"], "");
    assert!(text(&output.stderr).contains(IMPOSSIBLE[0].1), "{}", text(&output.stderr));
}

#[test]
fn only_the_first_of_many_impossible_positions_are_reported_each() {
    let file = format!("{}\n", IMPOSSIBLE[0].0).repeat(12);
    let stderr = text(&run(&["captures", "-"], &file).stderr);
    assert_eq!(stderr.matches("no game reaches this position").count(), 10, "{stderr}");
    assert!(stderr.contains("warning: no game reaches 2 further positions"), "{stderr}");
    // The built-in corpus has such positions on purpose.
    assert_eq!(text(&run(&["captures"], "").stderr), "");
}

#[test]
fn the_command_gets_text_or_json() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let log = folder.path().join("log").to_string_lossy().into_owned();
    let script =
        format!("while read line; do echo \"$line\" >> {log}; echo '{{\"value\": 0}}'; done");
    for (form, wanted) in [
        ("text", "4k3/8/8/8/8/8/8/4K3 w - - 0 1; e1"),
        ("json", "{\"fen\":\"4k3/8/8/8/8/8/8/4K3 w - - 0 1\",\"move\":\"e1"),
    ] {
        std::fs::write(&log, "").expect("a file");
        let (code, shown, stderr) = compare(&script, &["--input", form, QUIET]);
        assert_eq!(code, Some(0), "{shown}{stderr}");
        let lines = std::fs::read_to_string(&log).expect("the log");
        assert_eq!(lines.lines().filter(|line| line.starts_with(wanted)).count(), 5, "{lines}");
    }
}

/// Returns a command that replies whether a value is at least the threshold of each line.
fn reaching(value: i32) -> String {
    format!("while IFS=';' read -r _ _ t; do [ {value} -ge $t ] && echo true || echo 0; done")
}

#[test]
fn a_command_that_answers_thresholds_is_asked_until_its_value_is_known() {
    let (code, shown, stderr) = compare(&reaching(0), &["--threshold", QUIET]);
    assert_eq!(code, Some(0), "{shown}{stderr}");
    // A pawn takes a pawn that nothing guards.
    let taking = ["--threshold", "--captures", "4k3/8/2n5/3p4/4P3/8/6B1/4K3 w - -"];
    let cases = [-65_536, -7, 0, 2, 325, 65_535].map(|value| (value.to_string(), reaching(value)));
    for (value, command) in cases {
        let (code, shown, stderr) = compare(&command, &taking);
        assert_eq!(code, Some(1), "{value}: {shown}{stderr}");
        assert!(shown.contains(&format!("exd5\n  theirs {value}  swap 100 ")), "{shown}");
    }
    let (code, shown, stderr) = compare(&reaching(100), &taking);
    assert_eq!(code, Some(0), "{shown}{stderr}");
    let (code, shown, _) = compare("while read line; do echo none; done", &taking);
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("1 move, 1 without a value"), "{shown}");
}

#[test]
fn a_right_value_takes_two_thresholds() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let log = folder.path().join("log").to_string_lossy().into_owned();
    for (form, command, ends) in [
        ("text", reaching(0), ["; 0", "; 1"]),
        (
            "json",
            "while read -r l; do case $l in *'\"threshold\":0'*) echo 1;; *) echo false;; esac; \
             done"
                .to_owned(),
            ["\"threshold\":0", "\"threshold\":1"],
        ),
    ] {
        let logged = format!("tee {log} | {command}");
        let (code, shown, stderr) = compare(&logged, &["--threshold", "--input", form, QUIET]);
        assert_eq!(code, Some(0), "{shown}{stderr}");
        let lines = std::fs::read_to_string(&log).expect("the log");
        assert_eq!(lines.lines().count(), 10, "{lines}");
        for (line, end) in lines.lines().zip(ends.iter().cycle()) {
            assert!(line.contains(end), "{line}");
        }
    }
}

#[test]
fn every_failure_of_the_command_ends_the_comparison_with_a_message() {
    let cases = [
        ("sleep 1000", "returned no value within 1 s"),
        ("exit 3", "exited after 0 values"),
        ("read line; echo 0; exit 7", "exited after 1 values"),
        ("yes nonsense", "1000 lines without a value; its last line: nonsense"),
        ("yes 0", "lines too many"),
        ("tr '\\0' x < /dev/zero", "1000 lines without a value"),
        ("exec >&-; sleep 1000", "exited after 0 values"),
        ("sleep 1000 & sleep 1000", "returned no value within 1 s"),
        ("printf '\\033[2Jboo\\n'; sleep 1000", "its last line: \\x1B[2Jboo"),
        ("/nonexistent/engine", "exited after 0 values"),
    ];
    for (command, message) in cases {
        // Only commands that send nothing may time out, however busy the computer is.
        let timeout = if command.contains("sleep") { "1s" } else { "30s" };
        let (code, shown, stderr) = compare(command, &["--timeout", timeout, QUIET]);
        assert_eq!(code, Some(3), "{command}: {shown}{stderr}");
        assert!(stderr.contains(message), "{command}: {stderr}");
        assert!(!stderr.contains('\u{1b}'), "{command}: {stderr}");
    }
    let (code, _, stderr) = compare("yes 2", &["--threshold", QUIET]);
    assert_eq!(code, Some(3), "{stderr}");
    assert!(stderr.contains("1000 lines without a value; its last line: 2"), "{stderr}");
}

#[test]
fn a_banner_is_ignored_and_reported() {
    let (code, shown, stderr) = compare(&format!("echo Engine 3; {ZEROS}"), &[QUIET]);
    assert_eq!(code, Some(0), "{shown}{stderr}");
    assert!(
        stderr.contains("1 lines of the command had no value; its last line: Engine 3"),
        "{stderr}"
    );
}
