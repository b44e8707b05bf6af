//! The options of `tdlasm asm` for compatibility with the original: output despite errors, message
//! levels, and console input.

use std::fs;

use assert_cmd::Command;
use tempfile::TempDir;

/// A symbol with two values and a use of it; the original writes both instructions.
const DOUBLED: &str = " .LOC 100H\nV: MVI A,1\nV: MVI A,2\n JMP V\n .END\n";
/// The bytes that ZASM 2.21 gives for it: the first value stays.
const DOUBLED_BYTES: [u8; 7] = [0x3E, 1, 0x3E, 2, 0xC3, 0, 1];

/// Runs `tdlasm asm a.asm -o a.bin` with more arguments; returns the exit code, its messages and
/// the bytes, if it wrote any.
fn asm(source: &str, arguments: &[&str]) -> (i32, String, Option<Vec<u8>>) {
    let folder = TempDir::new().expect("a temporary folder");
    fs::write(folder.path().join("a.asm"), source).expect("a source");
    let mut command = Command::cargo_bin("tdlasm").expect("the command");
    command.current_dir(folder.path()).args(["asm", "a.asm", "-o", "a.bin"]).args(arguments);
    let output = command.output().expect("to run");
    let printed = String::from_utf8([output.stdout, output.stderr].concat()).expect("UTF-8");
    let code = output.status.code().expect("an exit code");
    (code, printed, fs::read(folder.path().join("a.bin")).ok())
}

#[test]
fn errors_suppress_the_output_unless_as_original_is_given() {
    let (code, printed, bytes) = asm(DOUBLED, &[]);
    assert_eq!((code, bytes), (1, None), "{printed}");
    let (code, printed, bytes) = asm(DOUBLED, &["--as-original"]);
    assert_eq!((code, bytes.as_deref()), (5, Some(&DOUBLED_BYTES[..])), "{printed}");
    assert!(printed.contains("M01") && printed.contains("D01"), "{printed}");
    // Without an error the option changes nothing.
    assert_eq!(asm(" NOP\n .END\n", &["--as-original"]).0, 0);
}

#[test]
fn the_original_has_no_output_where_it_stops() {
    let (code, printed, bytes) = asm(" .IFE 1,[\n NOP\n", &["--as-original"]);
    assert_eq!((code, bytes), (1, None), "{printed}");
    let (code, printed, bytes) = asm("V=\\ 'HOW MANY'\n .BYTE V\n .END\n", &["--as-original"]);
    assert_eq!((code, bytes), (1, None), "{printed}");
}

#[test]
fn a_digit_too_large_is_an_error_with_the_right_spelling_or_cut_as_on_the_original() {
    let source = " .LOC 100H\n .WORD 0x1F\n .END\n";
    let (code, printed, bytes) = asm(source, &[]);
    assert_eq!((code, bytes), (1, None), "{printed}");
    assert!(printed.contains("write 1FH"), "{printed}");
    let (code, printed, bytes) = asm(source, &["--as-original"]);
    assert_eq!((code, bytes), (0, Some(vec![0, 0])), "{printed}");
    assert!(printed.contains("warning[Q03]"), "{printed}");
}

#[test]
fn each_message_can_be_promoted_and_demoted_by_name_or_code() {
    for name in ["redefined", "M01"] {
        let (code, printed, bytes) = asm(DOUBLED, &["-W", &format!("no-{name}")]);
        assert_eq!((code, bytes.as_deref()), (0, Some(&DOUBLED_BYTES[..])), "{printed}");
        assert!(printed.contains("warning[M01]"), "{printed}");
    }
    let warned = " .LOC 100H\n MVI A,300\n .END\n";
    assert_eq!(asm(warned, &[]).0, 0);
    for name in ["truncated", "Q01"] {
        let (code, printed, bytes) = asm(warned, &["-W", &format!("error={name}")]);
        assert_eq!((code, bytes), (1, None), "{printed}");
        assert!(printed.contains("error[Q01]"), "{printed}");
    }
}

#[test]
fn a_message_that_cannot_be_demoted_is_reported() {
    for name in ["unterminated", "file", "macro-limit", "limit", "unanswered", "too-many"] {
        let (code, printed, _) = asm(" NOP\n .END\n", &["-W", &format!("no-{name}")]);
        assert_eq!(code, 2, "{printed}");
        assert!(printed.contains(&format!("{name} is always an error")), "{printed}");
    }
    assert_eq!(asm(" NOP\n .END\n", &["-W", "error=no-such-message"]).0, 2);
}

#[test]
fn replies_are_matched_by_name_or_in_order_key_by_key() {
    let source = " .LOC 100H\nV=\\ 'HOW MANY'\nW = \\ 'AND'\n .BYTE V,W\n .END\n";
    let replied = |replies: &[&str]| {
        let arguments: Vec<&str> = replies.iter().flat_map(|one| ["--answer", *one]).collect();
        let (code, printed, bytes) = asm(source, &arguments);
        assert_eq!(code, 0, "{printed}");
        assert!(printed.contains("HOW MANY:") && printed.contains("AND:"), "{printed}");
        bytes.expect("an output")
    };
    assert_eq!(replied(&["12", "0FH"]), [12, 15]);
    assert_eq!(replied(&["W=FH", "V=101B"]), [5, 15]);
    // Keys that are not part of a number ring the bell and are ignored.
    assert_eq!(replied(&["8+1", "-3"]), [81, 3]);
    let (code, printed, _) = asm(source, &["--answer", "1"]);
    assert!(code == 1 && printed.contains("--answer W="), "{printed}");
}

#[test]
fn names_of_files_are_shown_without_control_characters() {
    let folder = TempDir::new().expect("a temporary folder");
    let name = "a\u{1b}[31m.asm";
    fs::write(folder.path().join(name), " JMP NOWHERE\n .END\n").expect("a source");
    for format in ["human", "short", "json"] {
        let mut command = Command::cargo_bin("tdlasm").expect("the command");
        command.current_dir(folder.path()).args(["asm", name, "--message-format", format]);
        let printed = command.output().expect("to run").stderr;
        assert!(!printed.contains(&0x1B), "{format}: {}", String::from_utf8_lossy(&printed));
    }
}
