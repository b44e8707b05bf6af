//! End-to-end tests of the commands: real programs, a real serial device, a simulated board behind
//! it.

use crate::programs::path;
use crate::sim;

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use assert_cmd::cargo::CommandCargoExt;
use firmware::ProgramKind;
use firmware::build::{BuiltImage, build};
use firmware::profile::BoardProfile;

use sim::ServedBoard;

/// The time within which commands must report a broken rig.
const FAILURE_TIMEOUT: Duration = Duration::from_secs(60);

fn hw_tests(arguments: &[&str]) -> Output {
    let began = Instant::now();
    let mut command = Command::cargo_bin("hw-tests").expect("it is built");
    let output = command.args(arguments).output().expect("it starts");
    let slow = began.elapsed() > Duration::from_secs(120);
    assert!(!slow, "{arguments:?} took {:?}", began.elapsed());
    output
}

fn sargon(arguments: &[&str]) -> Output {
    Command::new(path("sargon")).args(arguments).output().expect("it starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn application() -> BuiltImage {
    let profile = BoardProfile::named("rc2014-classic").expect("it ships");
    build(&profile, ProgramKind::Application).unwrap_or_else(|error| panic!("{error}"))
}

/// The application with one byte changed, in a file.
fn changed(folder: &Path, change: impl FnOnce(&mut Vec<u8>, &BuiltImage)) -> String {
    let image = application();
    let mut bytes = image.bytes.clone();
    change(&mut bytes, &image);
    assert_ne!(bytes, image.bytes);
    let path = folder.join("changed.bin");
    std::fs::write(&path, bytes).expect("a scratch file");
    path.to_string_lossy().into_owned()
}

fn fails_naming_a_square(change: impl FnOnce(&mut Vec<u8>, &BuiltImage)) {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let file = changed(folder.path(), change);
    let output = hw_tests(&["run", "--rig", "direct", "--app", &file]);
    let shown = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{shown}{}", text(&output.stderr));
    let names_square = shown.lines().any(|line| {
        let line = line.trim();
        let square = line.get(..2).is_some_and(|at| sargon_reference::Square::named(at).is_some());
        square && line.contains(": board ")
    });
    let shows_both_arrays = |line: &str| line.matches("white ").count() == 2;
    assert!(shown.lines().any(shows_both_arrays), "{shown}");
    assert!(names_square, "{shown}");
}

#[test]
fn the_whole_corpus_passes_on_both_simulated_boards() {
    for board in ["rc2014-classic", "rc2014-zed"] {
        let output = hw_tests(&["run", "--board", board]);
        let shown = text(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{board}: {shown}{}", text(&output.stderr));
        assert!(shown.contains("PASS: "), "{board}: {shown}");
        // Nine pieces around a square overflow the bytes of queen and king.
        assert!(
            shown.contains(
                "overflow odd.overflow: d5
"
            ),
            "{board}: {shown}"
        );
        assert!(
            shown.contains(
                "count too high array.short: array
"
            ),
            "{board}: {shown}"
        );
    }
}

#[test]
fn a_wrong_point_value_is_caught() {
    fails_naming_a_square(|bytes, image| {
        let values = image.program.symbol("TBASE").expect("the table page");
        let rook = usize::from(values - image.address) + 4;
        assert_eq!(bytes[rook], 5);
        bytes[rook] = 4;
    });
}

#[test]
fn a_wrong_direction_is_caught() {
    fails_naming_a_square(|bytes, image| {
        let symbol = |name| image.program.symbol(name).expect("the directions");
        let first = usize::from(symbol("TBASE") + symbol("DIRECT") - image.address);
        assert_eq!(bytes[first], 9);
        bytes[first] = 8;
    });
}

#[test]
fn a_wrong_comparison_in_the_exchange_is_caught() {
    fails_naming_a_square(|bytes, image| {
        let at = |name| image.program.symbol(name).expect("a label of xchng.asm");
        let range =
            usize::from(at("GUARD") - image.address)..usize::from(at("XCBOOK") - image.address);
        // JRC: "worth more than the captured piece" is inverted.
        let jump =
            range.clone().find(|&place| bytes[place] == 0x38).expect("the comparison's jump");
        bytes[jump] = 0x30;
    });
}

#[test]
fn residues_are_json_with_board_reference_and_times() {
    let output = sargon(&["residues", "--fen", "r3k3/2N5/8/8/2q5/8/8/4K3 b - -"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let line: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one JSON line");
    let squares = line["squares"].as_array().expect("squares");
    let rook = squares.iter().find(|square| square["square"] == "a8").expect("a8");
    assert_eq!((&rook["board"], &rook["reference"]), (&5.into(), &5.into()));
    assert_eq!(rook["array"].as_array().map(Vec::len), Some(14));
    assert!(rook["t_states"].as_u64().is_some_and(|time| time > 1000), "{rook}");
}

#[test]
fn bad_input_is_located_and_has_its_exit_code() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("bad.epd");
    std::fs::write(&path, "8/8/8/8/8/8/8/8 w - -\n8/8/8/8/8/8/8/7x w - -\n").expect("a file");
    let path = path.to_string_lossy().into_owned();
    let cases: [(&[&str], i32, &str); 9] = [
        (&["residues", &path], 3, "bad.epd:2:16: invalid piece 'x'"),
        (&["residues", "--fen", "rubbish"], 3, "FEN:1:1: invalid position"),
        (&["residues", "/nonexistent/file"], 3, "can't read /nonexistent/file"),
        (&["run", "--board", "spectrum"], 2, "unknown board 'spectrum'"),
        (&["run", "nothing-like-this"], 4, "no case is selected"),
        (&["run", "--port", "/dev/nonexistent"], 3, "port /dev/nonexistent not found"),
        (&["run", "--port", "/dev/null"], 3, "/dev/null is not a serial port"),
        (&["run", "--rig", "mame:spectrum"], 2, "expected one of rc2014mini for rc2014-classic"),
        (&["run", "--speed"], 2, "--speed"),
    ];
    for (arguments, code, message) in cases {
        let program = if arguments[0] == "residues" { sargon } else { hw_tests };
        let output = program(arguments);
        let printed = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {printed}");
        assert!(printed.contains(message), "{arguments:?}: {printed}");
    }
}

#[test]
fn what_hw_inspect_does_is_no_command_here() {
    for name in ["debug", "gdb", "dap", "why", "profile", "coverage"] {
        assert_eq!(hw_tests(&[name]).status.code(), Some(2), "{name}");
    }
    assert!(text(&hw_tests(&["--help"]).stdout).contains("hw-inspect"));
}

#[test]
fn a_board_that_never_replies_ends_in_a_timeout() {
    // A pseudo-terminal without a board.
    let line = board_simulator::PtyLine::open(115_200).expect("a pseudo-terminal");
    let began = Instant::now();
    let output = hw_tests(&["run", "--port", &line.path().to_string_lossy()]);
    let printed = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{printed}");
    assert!(printed.contains("no reply while identifying the board"), "{printed}");
    assert!(began.elapsed() < FAILURE_TIMEOUT, "{:?}", began.elapsed());
}

#[test]
fn a_wrong_rom_is_distinguished_from_the_right_one() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("rom.bin");
    let profile = BoardProfile::named("rc2014-classic").expect("it ships");
    let monitor = build(&profile, ProgramKind::Monitor).unwrap_or_else(|error| panic!("{error}"));
    let mut stale = monitor.bytes.clone();
    let build_at = usize::from(monitor.program.symbol("BUILD").expect("a build id"));
    stale[build_at] ^= 0xFF;
    std::fs::write(&path, stale).expect("a file");
    let rom = path.to_string_lossy().into_owned();
    let output = hw_tests(&["run", "--rom", &rom, "--tag", "document"]);
    assert_eq!(output.status.code(), Some(3));
    let printed = text(&output.stderr);
    assert!(
        printed.contains("the monitor in ROM is ") && printed.contains("--any-monitor"),
        "{printed}"
    );
    let output = hw_tests(&["run", "--rom", &rom, "--tag", "document", "--any-monitor"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    std::fs::write(&path, [0x76]).expect("a file"); // HALT: not a monitor at all
    let output = hw_tests(&["run", "--rom", &rom]);
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stderr));
    let printed = text(&output.stderr);
    assert!(printed.contains("it has 1 bytes, the first is 76H"), "{printed}");
    assert!(!printed.contains("cable"), "{printed}");
}

#[test]
fn a_board_in_another_process_is_used_like_a_real_one_again_and_again() {
    let board = ServedBoard::start(&["--free"]);
    for _ in 0..2 {
        let output = hw_tests(&["run", "--port", &board.path, "--tag", "document"]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    }
}

#[test]
fn a_board_that_vanishes_at_any_moment_of_upload_or_run_ends_it_in_time() {
    std::thread::scope(|scope| {
        for moment in [20, 60, 120, 250, 700] {
            scope.spawn(move || vanishes_after(moment));
        }
    });
}

/// Cuts the power of a board and disconnects its line, `moment` milliseconds after the start of a
/// run.
fn vanishes_after(moment: u64) {
    // At the board's own clock, the upload takes a third of a second.
    let board = ServedBoard::start(&[]);
    // A separate name: the system reuses the number of a closed pseudo-terminal for the next board.
    let folder = tempfile::tempdir().expect("a scratch folder");
    let port = folder.path().join("port");
    std::os::unix::fs::symlink(&board.path, &port).expect("a name for the port");
    let mut command = Command::cargo_bin("hw-tests").expect("it is built");
    let run = command
        .args(["run", "--reconnect", "2s", "--port"])
        .arg(&port)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    std::thread::sleep(Duration::from_millis(moment));
    std::fs::remove_file(&port).expect("the name of the port");
    drop(board);
    let began = Instant::now();
    let output = run.wait_with_output().expect("it ends");
    assert!(began.elapsed() < FAILURE_TIMEOUT, "{moment} ms");
    let printed = text(&output.stdout) + &text(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{moment} ms: {printed}");
    let known = ["line failed", "not found; `rcflash ports`", "can't open"];
    assert!(known.iter().any(|words| printed.contains(words)), "{moment} ms: {printed}");
}

#[test]
fn a_stuck_bit_is_placed_by_address_or_symbol() {
    for place in ["WACT:0", "wact:0"] {
        let board = ServedBoard::start(&["--free", "--stuck", place]);
        let output = hw_tests(&["run", "--port", &board.path, "--tag", "document"]);
        assert_eq!(output.status.code(), Some(1), "{place}: {}", text(&output.stderr));
    }
    for (place, message) in [
        ("NOPE:0", "the evaluator has no symbol 'NOPE'"),
        ("81234:0", "invalid address '81234'"),
        ("WACT:8", "expected ADDRESS:BIT or SYMBOL:BIT"),
    ] {
        let output = hw_tests(&["simulate", "board", "--stuck", place]);
        assert_eq!(output.status.code(), Some(2), "{place}");
        assert!(text(&output.stderr).contains(message), "{place}: {}", text(&output.stderr));
    }
}
