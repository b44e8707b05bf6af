//! The project file `tdl.toml` in `tdlasm asm` and `tdlasm fmt`.

use std::fs;
use std::path::Path;

use assert_cmd::Command;

/// A project of two programs: one of two files, and modules that share a folder of names.
fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in [
        (
            "tdl.toml",
            "include = [\"inc\"]\n[define]\nDEBUG = 1\n\n[[program]]\n\
             files = [\"src/head.asm\", \"src/tail.asm\"]\noutput = \"head.hex\"\n\
             define = { FIVE = 5 }\npabs = true\n\n[[program]]\nmodules = [\"lib/*.asm\"]\n",
        ),
        ("inc/names.asm", "        .DEFINE TWICE[X]=[\n        .BYTE X,X\n]\n"),
        ("src/head.asm", "HEAD:   MVI A,FIVE\n        CALL TAIL\n"),
        ("src/tail.asm", "TAIL:   MVI B,DEBUG\n        .END HEAD\n"),
        ("lib/one.asm", "        .INSERT names.asm\n        TWICE DEBUG\n        .END\n"),
        ("lib/wrong.asm", "        .BYTE FIVE\n        .END\n"),
    ] {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    }
    folder
}

/// Runs the program in a folder; returns the exit code and its output.
fn tdlasm(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::cargo_bin("tdlasm").expect("it is built");
    let output = command.current_dir(folder).args(arguments).output().expect("it starts");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn asm_without_files_makes_the_programs_of_the_project() {
    let folder = project();
    let root = folder.path();
    let (code, printed) = tdlasm(root, &["asm", "--message-format", "short"]);
    assert_eq!(
        printed, "lib/wrong.asm:1:15: error[U01]: FIVE is not defined\n",
        "of one program only"
    );
    assert_eq!(code, Some(1));
    // MVI A,5; CALL 5; MVI B,1.
    let hex = fs::read_to_string(root.join("head.hex")).expect("written in spite of the other");
    assert!(hex.starts_with(":070000003E05CD05000601"), "{hex}");
    fs::remove_file(root.join("lib/wrong.asm")).expect("removed");
    assert_eq!(tdlasm(&root.join("src"), &["asm"]), (Some(0), String::new()), "from below");
    let (code, printed) = tdlasm(root, &["asm", "-o", "x.hex"]);
    assert!(code == Some(2) && printed.contains("2 programs"), "{printed}");
}

#[test]
fn a_source_that_is_named_has_the_options_of_its_program() {
    let folder = project();
    let root = folder.path();
    for (within, file) in [("", "lib/one.asm"), ("lib", "one.asm"), ("src", "../lib/./one.asm")] {
        let (code, printed) = tdlasm(&root.join(within), &["asm", file, "-o", "one.bin"]);
        assert_eq!((code, &*printed), (Some(0), ""), "{file}");
        assert_eq!(fs::read(root.join(within).join("one.bin")).expect("written"), [1, 1]);
    }
    let (code, _) = tdlasm(root, &["asm", "lib/one.asm", "--define", "debug=7", "-o", "one.bin"]);
    assert_eq!(code, Some(0));
    assert_eq!(fs::read(root.join("one.bin")).expect("written"), [7, 7], "the command comes first");
}

#[test]
fn fmt_finds_the_macros_of_inserted_files() {
    let folder = project();
    let source = folder.path().join("lib/one.asm");
    fs::write(&source, " .INSERT names.asm\n TWICE DEBUG;x\n .END\n").expect("written");
    assert_eq!(tdlasm(folder.path(), &["fmt", "lib/one.asm"]), (Some(0), String::new()));
    let text = fs::read_to_string(&source).expect("there");
    assert!(text.contains("        TWICE DEBUG"), "{text}");
}

#[test]
fn errors_in_the_file_are_reported_with_their_line() {
    let folder = project();
    let root = folder.path();
    fs::write(root.join("tdl.toml"), "include = [\"inc\"]\nnonsense = 1\n").expect("written");
    for arguments in [&["asm"][..], &["asm", "lib/one.asm"], &["fmt", "--check", "lib/one.asm"]] {
        let (code, printed) = tdlasm(root, arguments);
        assert!(
            code == Some(2) && printed.contains("line 2") && printed.contains("nonsense"),
            "{printed}"
        );
    }
    fs::write(root.join("tdl.toml"), "include = [\"inc\"]\n").expect("written");
    let (code, printed) = tdlasm(root, &["asm"]);
    assert!(code == Some(2) && printed.contains("no tdl.toml names programs"), "{printed}");
}

#[test]
fn a_z180_is_named_by_the_option_or_else_by_the_project() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text| fs::write(folder.path().join(name), text).expect("written");
    write("p.asm", " OUTP M\n .END\n");
    let asm = |options: &[&str]| tdlasm(folder.path(), &[&["asm", "p.asm"], options].concat());
    let silent = (Some(0), String::new());
    assert_eq!(asm(&[]), silent);
    let (code, messages) = asm(&["--cpu", "z180"]);
    assert_eq!(code, Some(0));
    assert!(messages.contains("W29") && messages.contains("p.asm:1:2"), "{messages}");
    assert_eq!(asm(&["--cpu", "8080"]).0, Some(2));
    write("tdl.toml", "cpu = \"z180\"\n");
    assert_eq!(asm(&[]), (code, messages));
    assert_eq!(asm(&["--cpu", "z80"]), silent);
}
