//! `hw-tests test`, `call` and `new`: examples, exit codes, messages, and the schemas.

mod boards;
mod call;
mod loaders;
mod measure;
mod new;
mod references;
mod schema;
#[cfg(feature = "system-tests")]
mod system;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use assert_cmd::cargo::CommandCargoExt;
use crc::{CRC_16_IBM_3740, Crc};
use rustix::process::{Pid, Signal, kill_process};

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples")
}

/// Runs `hw-tests` in a folder; returns the exit code and the texts on both streams.
pub(crate) fn hw_tests(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let mut command = Command::cargo_bin("hw-tests").expect("it is built");
    let output = command.current_dir(folder).args(arguments).output().expect("it starts");
    let Output { status, stdout, stderr } = output;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (status.code().expect("a code"), text(&stdout), text(&stderr))
}

/// A folder with a routine that doubles A, and a test file.
fn project(tests: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let write = |name, text: &str| std::fs::write(folder.path().join(name), text).expect("a file");
    write("twice.asm", "TWICE: ADD A\n RET\n .INTERN TWICE\n .END\n");
    write("twice.test.toml", &format!("sources = [\"twice.asm\"]\n{tests}"));
    folder
}

const CASES: &str = "[[case]]\nname = \"small\"\ntags = [\"fast\"]\ncall = \"TWICE\"\nin = { A = 2 \
                     }\nexpect = { A = 4 }\n[[case]]\nname = \"large\"\ncall = \"TWICE\"\nin = { A \
                     = 128 }\nexpect = { A = 1, flags = \"C\" }\n";

#[test]
fn the_examples_pass_and_keep_their_contracts() {
    let files = ["mul16.test.toml", "crc16.test.toml", "decimal.test.toml"];
    let sources = ["mul16.asm", "crc16.asm", "decimal.asm"];
    let contracts = sources.map(|source| ["--contracts", source]).concat();
    let (code, shown, errors) =
        hw_tests(&examples(), &[&["test"][..], &files, &contracts].concat());
    assert_eq!((code, errors.as_str()), (0, ""), "{shown}");
    assert!(shown.contains("PASS 8 of 8 cases in mul16.test.toml, simulated\n"), "{shown}");
    assert!(shown.contains("PASS 3 of 3 cases in crc16.test.toml, simulated\n"), "{shown}");
    assert!(shown.contains("PASS 5 of 5 cases in decimal.test.toml, simulated\n"), "{shown}");
    assert!(!shown.contains("note"), "every routine is called: {shown}");
}

#[test]
fn a_signal_ends_a_call_of_any_length() {
    let hang = "[[case]]\nname = \"hang\"\ncall = \"TWICE\"\ntimeout = 99999999999\nmemory = \
                [{ at = \"TWICE\", bytes = [0x18, 0xFE] }]\n";
    let (passing, _) = CASES.split_once("[[case]]\nname = \"large\"").expect("two cases");
    let folder = project(&format!("{passing}{hang}"));
    let log = folder.path().join("log");
    let mut command = Command::cargo_bin("hw-tests").expect("it is built");
    command.current_dir(folder.path()).args(["test", "twice.test.toml", "--results", "log"]);
    let run = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
    let began = Instant::now();
    while !std::fs::read_to_string(&log).is_ok_and(|text| text.contains("small")) {
        assert!(began.elapsed() < Duration::from_secs(60), "no results");
        std::thread::sleep(Duration::from_millis(2));
    }
    kill_process(Pid::from_child(&run), Signal::TERM).expect("it runs");
    let output = run.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn the_example_of_a_check_agrees_with_the_crate_crc() {
    let reference = Crc::<u16>::new(&CRC_16_IBM_3740);
    let folder = tempfile::tempdir().expect("a scratch folder");
    let source = examples().join("crc16.asm").canonicalize().expect("the example");
    let mut text = format!("sources = [{:?}]\n", source.display().to_string());
    for length in 0..64u8 {
        let bytes: Vec<u8> = (0..length).map(|at| at.wrapping_mul(89) ^ length).collect();
        let check = reference.checksum(&bytes);
        text += &format!(
            "[[case]]\nname = \"{length}\"\ncall = \"CRC16\"\nin = {{ HL = \"TEXT\", BC = {length} \
             }}\nmemory = [{{ at = \"TEXT\", bytes = {bytes:?} }}]\nexpect.DE = {check}\n"
        );
    }
    std::fs::write(folder.path().join("all.test.toml"), text).expect("a file");
    let (code, shown, errors) = hw_tests(folder.path(), &["test", "."]);
    assert_eq!(code, 0, "{shown}{errors}");
    assert!(shown.contains("PASS 64 of 64 cases in all.test.toml, simulated"), "{shown}");
}

#[test]
fn a_failing_case_is_shown_with_its_values_and_places() {
    let folder = project(CASES);
    let (code, shown, _) = hw_tests(folder.path(), &["test", "twice.test.toml"]);
    let expected = "FAIL  twice.test.toml:8: large\n      A: expected 1, got 0\n      calling \
                    8000H, TWICE (twice.asm:1)\nFAIL 1 of 2 cases in twice.test.toml, simulated\n";
    assert_eq!(code, 1);
    let verdict = shown.strip_prefix(expected).unwrap_or_default();
    assert!(verdict.starts_with("FAIL: 1 of 2 cases passed, 2 calls compared, in "), "{shown}");
}

#[test]
fn exit_codes_are_those_of_all_commands() {
    let folder = project(CASES);
    std::fs::write(folder.path().join("bad.test.toml"), "sources = 5").expect("a file");
    std::fs::create_dir(folder.path().join("empty")).expect("a folder");
    let bad = "bad.test.toml:1:11: sources: expected an array of strings such as [\"mul.asm\"], \
               found an integer";
    for (arguments, expected, message) in [
        (&["twice.test.toml", "--tag", "fast"][..], 0, ""),
        (&["twice.test.toml"], 1, ""),
        (&[], 2, "required"),
        (&["twice.test.toml", "--seed", "x"], 2, "invalid value 'x'"),
        (&["twice.test.toml", "--listing", "x"], 2, "unexpected argument '--listing'"),
        (&["bad.test.toml"], 3, bad),
        (&["bad.test.toml", "twice.test.toml"], 3, bad),
        (&["none.test.toml"], 3, "can't read none.test.toml"),
        (&["twice.test.toml", "--case", "medium"], 4, "no case is selected"),
        (&["empty"], 4, "empty has no file named *.test.toml"),
        (&["--contracts", "twice.asm"], 3, bad),
        (
            &["twice.test.toml", "--tag", "fast", "--contracts", "none.asm"],
            4,
            "none.asm is no source of a program that a test file names",
        ),
    ] {
        let (code, shown, errors) = hw_tests(folder.path(), &[&["test"], arguments].concat());
        assert_eq!(code, expected, "{arguments:?}: {shown}{errors}");
        assert!(errors.contains(message), "{arguments:?}: {errors}");
    }
}

#[test]
fn the_help_has_no_option_that_is_refused() {
    let (_, shown, _) = hw_tests(Path::new("."), &["test", "--help"]);
    assert!(
        ["--port ", "--coverage ", "--via "].iter().all(|option| shown.contains(option)),
        "{shown}"
    );
    for option in ["--sargon-dir", "--listing", "--app", "--faults"] {
        assert!(!shown.contains(option), "{option}: {shown}");
    }
}

#[test]
fn cases_are_selected_and_listed() {
    let folder = project(CASES);
    let (code, shown, _) = hw_tests(folder.path(), &["test", ".", "--list"]);
    let expected = "twice.test.toml:2  small [fast]\ntwice.test.toml:8  large\n";
    assert_eq!((code, shown.as_str()), (0, expected));
    let (code, shown, _) = hw_tests(folder.path(), &["test", ".", "--list", "--case", "lar*"]);
    assert_eq!((code, shown.as_str()), (0, "twice.test.toml:8  large\n"));
    let starred = CASES.replace("\"small\"", "\"l*\"");
    let listed = |pattern| {
        let folder = project(&starred);
        hw_tests(folder.path(), &["test", ".", "--list", "--case", pattern]).1.lines().count()
    };
    assert_eq!((listed("l*"), listed("l*e"), listed("?*")), (1, 1, 2), "a name is no pattern");
    let later = "[[case]]\nname = 'say \"[x]\"'\ncall = \"TWICE\"\nskip = \"later\"\n";
    let folder = project(&format!("{CASES}{later}"));
    let (code, shown, _) = hw_tests(folder.path(), &["test", ".", "--list=json"]);
    let listed: Vec<serde_json::Value> =
        shown.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let case = |line, name: &str, tags: &[&str], skip| serde_json::json!({ "file": "twice.test.toml", "line": line, "name": name, "tags": tags, "skip": skip });
    let last = CASES.lines().count() + 2;
    let expected = [
        case(2, "small", &["fast"], None),
        case(8, "large", &[], None),
        case(last, "say \"[x]\"", &[], Some("later")),
    ];
    assert_eq!((code, &listed[..]), (0, &expected[..]));
}

#[test]
fn text_from_a_test_file_is_printed_without_control_characters() {
    let folder = project(&CASES.replace("large", "la\\u001B[2Jrge"));
    let (code, shown, _) = hw_tests(folder.path(), &["test", "twice.test.toml"]);
    assert_eq!(code, 1);
    assert!(shown.contains("la\\x1B[2Jrge") && !shown.contains('\u{1B}'), "{shown}");
}

#[test]
fn a_seed_repeats_the_inputs_of_a_property() {
    let property = "[[property]]\nname = \"p\"\ncall = \"TWICE\"\nargs.A = \"u8\"\ncheck = \
                    \"out.A == in.A * 2\"\n";
    let folder = project(property);
    let run = || hw_tests(folder.path(), &["test", "twice.test.toml", "--seed", "9"]);
    let (code, shown, _) = run();
    assert_eq!(code, 1);
    assert!(shown.contains("seed 9, simplified") && shown.contains(": A = 128\n"), "{shown}");
    assert!(shown.contains("\n[[case]]\nname = \"p, by seed 9\"\ncall = \"TWICE\"\n"), "{shown}");
    let (again, _) = shown.split_once("FAIL: ").expect("a verdict with the time of the run");
    assert!(run().1.starts_with(again), "{again}");
}

#[test]
fn a_new_project_passes_at_once_and_overwrites_nothing() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let at = folder.path();
    let (code, shown, errors) = hw_tests(at, &["new", "mul"]);
    assert_eq!((code, errors.as_str()), (0, ""));
    let created = "mul.asm\nmul.test.toml\n.github/workflows/test.yml\nRun the tests: hw-tests test \
                   mul.test.toml\n";
    assert_eq!(shown, created);
    let (code, shown, _) = hw_tests(at, &["test", ".", "--contracts", "mul.asm"]);
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("PASS 3 of 3 cases"), "{shown}");
    let read = |path: &Path| std::fs::read_to_string(path).expect("it is there");
    let workflow = read(&at.join(".github/workflows/test.yml"));
    let template = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/ci/github.yml"));
    let mut actions = workflow.lines().filter(|line| line.contains("uses:"));
    assert!(actions.all(|line| template.lines().any(|other| other == line)), "{workflow}");
    std::fs::write(at.join("mul.asm"), "mine").expect("a file");
    let (code, _, errors) = hw_tests(at, &["new", "mul"]);
    assert_eq!(code, 3);
    assert!(errors.contains("mul.asm exists: choose another name or --dir"), "{errors}");
    assert_eq!(std::fs::read(at.join("mul.asm")).expect("it is there"), b"mine");
    let (code, ..) = hw_tests(at, &["new", "div"]);
    assert_eq!(code, 0, "the workflow serves all routines");
    std::fs::write(at.join(".github/workflows/test.yml"), "mine").expect("a file");
    let (code, ..) = hw_tests(at, &["new", "other"]);
    assert_eq!(code, 3);
    assert!(!at.join("other.asm").exists(), "nothing is created if one file is there");
}

#[test]
fn a_name_that_is_no_label_is_refused() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    for name in ["../up", "1st", "a-b", "", "a"] {
        let (code, _, errors) = hw_tests(folder.path(), &["new", name]);
        assert_eq!(code, 2, "{name}: {errors}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).expect("it is there").count(), 0);
}
