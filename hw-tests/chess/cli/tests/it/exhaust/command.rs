//! End-to-end tests of `sargon exhaust`: output, differences found, and exit codes.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use board_simulator::{BoardServer, ServerOptions, board_spec};
use firmware::ProgramKind;
use firmware::build::{BuiltImage, build};
use firmware::profile::BoardProfile;

use crate::exhaust::model;

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sargon"));
    command.arg("exhaust").args(arguments);
    command
}

/// Exit code, standard output, standard error.
fn exit_and_output(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

fn exhaust(arguments: &[&str]) -> (Option<i32>, String, String) {
    exit_and_output(&command(arguments).output().expect("it starts"))
}

/// Returns the text after a word that begins a line.
fn after<'a>(text: &'a str, word: &str) -> &'a str {
    let line = text.lines().find_map(|line| line.trim().strip_prefix(word));
    line.unwrap_or_else(|| panic!("no {word} in {text}")).trim()
}

/// The application with some bytes changed, in a file.
fn changed(folder: &Path, change: impl FnOnce(&mut Vec<u8>, &BuiltImage)) -> String {
    let profile = BoardProfile::named("rc2014-classic").expect("it ships");
    let image = build(&profile, ProgramKind::Application).unwrap_or_else(|error| panic!("{error}"));
    let mut bytes = image.bytes.clone();
    change(&mut bytes, &image);
    assert_ne!(bytes, image.bytes);
    let path = folder.join("changed.bin");
    std::fs::write(&path, bytes).expect("a scratch file");
    path.to_string_lossy().into_owned()
}

#[test]
fn a_range_in_two_parts_has_the_check_of_the_whole() {
    let (code, whole, messages) = exhaust(&["--range", "5000..11000"]);
    assert_eq!(code, Some(0), "{whole}{messages}");
    assert!(whole.contains("PASS") && whole.contains("6000 arrays"), "{whole}");
    let (_, first, _) = exhaust(&["--range", "5000..7001"]);
    let (_, rest, _) = exhaust(&["--range", "7001..11000", "--crc", after(&first, "CRC-32:")]);
    assert_eq!(after(&rest, "CRC-32:"), after(&whole, "CRC-32:"));
}

#[test]
fn a_wrong_comparison_in_the_exchange_is_found_and_shown() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let file = changed(folder.path(), |bytes, image| {
        let at = |name| image.program.symbol(name).expect("a label of xchng.asm") - image.address;
        let mut range = usize::from(at("GUARD"))..usize::from(at("XCBOOK"));
        // JRC: "worth more than the captured piece" is inverted.
        let jump = range.find(|&place| bytes[place] == 0x38).expect("the comparison's jump");
        bytes[jump] = 0x30;
    });
    let (code, shown, messages) = exhaust(&["--app", &file]);
    assert_eq!(code, Some(1), "{shown}{messages}");
    let array = after(&shown, "array ");
    let (number, _) = array.split_once(':').expect("its number");
    let number: u32 = number.parse().expect("a number");
    // All arrays before it are equal on both, and this one is not.
    let (code, ..) = exhaust(&["--app", &file, "--range", &format!("0..{number}")]);
    assert_eq!(code, Some(0));
    let (code, alone, _) =
        exhaust(&["--app", &file, "--range", &format!("{number}..{}", number + 1)]);
    assert_eq!((code, after(&alone, "array ")), (Some(1), array));
    for word in ["attackers ", "defenders ", "residue: board ", "by booking: "] {
        after(&shown, word);
    }
}

#[test]
fn a_wrong_value_is_found_at_the_first_array_that_it_changes() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let file = changed(folder.path(), |bytes, image| {
        let values = image.program.symbol("TBASE").expect("the table page") - image.address;
        let queen = usize::from(values) + 5;
        assert_eq!(bytes[queen], 9);
        bytes[queen] = 10; // worth as much as a king
    });
    let sections = model::sections(1, 1);
    let residue = |number: u32, stake| {
        let pair = number as usize / 6;
        model::exchange(stake, &sections[pair / 378], &sections[pair % 378])
    };
    let differs = |&number: &u32| number % 6 == 4 && residue(number, 9) != residue(number, 10);
    let first = (1..857_304).find(differs).expect("a queen is attacked somewhere");
    let range = format!("1..{}", first + 20_000);
    let (code, shown, messages) = exhaust(&["--app", &file, "--range", &range]);
    assert_eq!(code, Some(1), "{shown}{messages}");
    assert!(after(&shown, "array ").starts_with(&format!("{first}: Black Queen")), "{shown}");
    let board = residue(first, 10);
    let reference = residue(first, 9);
    let both =
        format!("{board} by EXHAUST, {board} by EXCHANGE (status 00h), reference {reference}");
    assert_eq!(after(&shown, "residue: board "), both);
}

#[test]
fn invalid_ranges_have_their_exit_code() {
    let cases: [(&[&str], i32, &str); 6] = [
        (&["--space", "queens"], 2, "two-queens"),
        (&["--range", "5"], 2, "invalid range '5'"),
        (&["--range", "0..857305"], 2, "the space core ends at 857304"),
        (&["--crc", "xyz"], 2, "hexadecimal"),
        (&["--range", "7..7"], 4, "the range A..B is empty"),
        (&["--port", "/dev/nonexistent"], 3, "port /dev/nonexistent not found"),
    ];
    for (arguments, code, message) in cases {
        let (ended, _, messages) = exhaust(arguments);
        assert_eq!(ended, Some(code), "{arguments:?}: {messages}");
        assert!(messages.contains(message), "{arguments:?}: {messages}");
    }
}

/// Starts a check, and waits until it is running on the board.
/// Powers up a simulated board on a serial device of its own.
fn start_board() -> BoardServer {
    let profile = BoardProfile::named("rc2014-classic").expect("it ships");
    let rom = build(&profile, ProgramKind::Monitor).unwrap_or_else(|error| panic!("{error}"));
    BoardServer::start(board_spec(&profile), &rom.bytes, ServerOptions::default()).expect("a port")
}

fn start_and_wait_for_progress(board: &BoardServer) -> Child {
    let port = board.path().to_string_lossy();
    let mut command = command(&["--port", &port]);
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut check = command.spawn().expect("it starts");
    let mut messages = String::new();
    let err = check.stderr.as_mut().expect("its messages");
    // The identity is printed when the board is ready.
    BufReader::new(err).read_line(&mut messages).expect("the identity");
    assert!(messages.contains("Sargon exchange evaluator"), "{messages}");
    // Enough for the replies to several requests.
    let enough = bytes_received(&check) + 200;
    let end = Instant::now() + Duration::from_secs(30);
    while bytes_received(&check) < enough {
        assert!(Instant::now() < end, "the board answers no request");
        std::thread::sleep(Duration::from_millis(2));
    }
    check
}

/// Returns the number of bytes that a process has read.
fn bytes_received(process: &Child) -> u64 {
    let io = std::fs::read_to_string(format!("/proc/{}/io", process.id())).expect("it is there");
    let read = io.lines().find_map(|line| line.strip_prefix("rchar: ")).expect("its bytes");
    read.parse().expect("a number")
}

#[test]
fn an_interruption_reports_where_to_resume() {
    let board = start_board();
    let check = start_and_wait_for_progress(&board);
    let id = rustix::process::Pid::from_child(&check);
    rustix::process::kill_process(id, rustix::process::Signal::INT).expect("it is there");
    let (code, shown, messages) = exit_and_output(&check.wait_with_output().expect("it ends"));
    assert_eq!(code, Some(130), "{shown}{messages}");
    let resume = after(&shown, "INCOMPLETE: interrupted; continue with --range ");
    let (next, crc) = resume.split_once("..857304 --crc ").expect("range and check");
    let (code, done, _) = exhaust(&["--range", &format!("0..{next}")]);
    assert_eq!((code, after(&done, "CRC-32:")), (Some(0), crc));
}

#[test]
fn a_board_that_dies_ends_the_check_as_a_failure_of_the_rig() {
    let board = start_board();
    let check = start_and_wait_for_progress(&board);
    drop(board);
    let (code, shown, messages) = exit_and_output(&check.wait_with_output().expect("it ends"));
    assert_eq!(code, Some(3), "{shown}{messages}");
    assert!(
        shown.contains("INCOMPLETE: lost the connection to the board; continue with --range"),
        "{shown}"
    );
    assert!(messages.contains("the line failed while "), "{messages}");
}
