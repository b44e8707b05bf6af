//! Properties that a Python program judges, readers of measurements, and MAME's boards.

mod conventions;
mod tools;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::json;

use super::call::replies_on;
use super::references::judged_by_program;
use super::{CASES, examples, hw_tests, project};

#[test]
fn the_example_with_a_reference_passes() {
    let (code, shown, errors) = hw_tests(&examples(), &["test", "mul16-python.test.toml"]);
    assert_eq!(code, 0, "{shown}{errors}");
    assert!(shown.contains("PASS 1 of 1 case in mul16-python.test.toml"), "{shown}");
}

/// Tests TWICE for small A against a Python program; returns the exit code and both streams.
fn judged_by(python: &str) -> (i32, String, String) {
    judged_by_program(&["python3", "-c", python])
}

const EACH: &str = "import json, sys\nfor line in sys.stdin:\n  a = json.loads(line)['in']['A']\n";

#[test]
fn a_difference_from_the_reference_is_shrunk() {
    let (code, shown, _) =
        judged_by(&format!("{EACH}  print(json.dumps({{'A': 2 * a + (a > 40)}}), flush=True)"));
    assert_eq!(code, 1, "{shown}");
    assert!(shown.contains(": A = 41\n      A: expected 83 (53H), got 82 (52H)\n"), "{shown}");
    assert!(shown.contains("in = { A = 41 }\nexpect = { A = 83 }\n"), "{shown}");
}

#[test]
fn null_accepts_any_output() {
    let (code, shown, _) = judged_by(&format!("{EACH}  print('null', flush=True)"));
    assert_eq!(code, 0, "{shown}");
}

#[test]
fn a_reference_that_fails_is_a_located_error() {
    let ended = "it ended before its reply (exit status: 7): out of figs";
    for (python, message) in [
        ("import sys\nprint('out of figs', file=sys.stderr)\nsys.exit(7)", ended),
        ("print('hello')", "expected a line of JSON such as {\"HL\": 21}, got 'hello'"),
        ("print('[1]')", "expected an object such as {\"HL\": 21}"),
        ("print('{\"Q\": 1}')", "unknown register 'Q'"),
        ("print('{\"A\": -1}')", "A: expected 0 to 65535"),
        ("import time\nwhile True: time.sleep(1)", "no reply within 10 s to {"),
    ] {
        let (code, shown, errors) = judged_by(&format!("{python}\nimport time\ntime.sleep(5)"));
        assert_eq!(code, 3, "{python}: {shown}");
        let located = errors.contains("twice.test.toml:6:1: reference python3 -c ");
        assert!(located && errors.contains(message), "{python}: {errors}");
    }
}

#[test]
fn mames_boards_give_the_same_verdicts_and_continue_after_a_stuck_call() {
    let cases = CASES.replace("A = 1,", "A = 0,");
    let stuck = "[[case]]\nname = \"stuck\"\ncall = \"STUCK\"\ntimeout = 100000\n";
    let folder = project(&format!("{stuck}{cases}"));
    let source = "TWICE: ADD A\n RET\nSTUCK: JMP STUCK\n .INTERN TWICE,STUCK\n .END\n";
    std::fs::write(folder.path().join("twice.asm"), source).expect("a file");
    for board in ["rc2014-classic", "rc2014-zed"] {
        let arguments = ["test", "twice.test.toml", "--rig", "mame", "--board", board];
        let (code, shown, errors) = hw_tests(folder.path(), &arguments);
        let finding = "did not return within 100000 T-states; last at 8002H, STUCK (twice.asm:3)";
        assert!(code == 1 && shown.contains(finding), "{board}: {code} {shown}{errors}");
        assert!(shown.contains("FAIL: 2 of 3 cases"), "{board}: {shown}{errors}");
    }
}

#[test]
fn mocks_replace_routines_on_mames_boards() {
    let mock = "mock.TWICE.returns = [{ A = 1, flags = \"C\" }, { A = 5, DE = 6 }]";
    let expect = "expect = { A = 5, DE = 6, calls = { TWICE = 2 } }";
    let folder = project(&format!("[[case]]\nname = \"a\"\ncall = \"BOTH\"\n{mock}\n{expect}\n"));
    let source = "TWICE: ADD A\n NOP\n RET\nBOTH: CALL TWICE\n CC TWICE\n RET\n .INTERN \
                  TWICE,BOTH\n .END\n";
    std::fs::write(folder.path().join("twice.asm"), source).expect("a file");
    for board in ["rc2014-classic", "rc2014-zed"] {
        let arguments = ["test", "twice.test.toml", "--rig", "mame", "--board", board];
        let (code, shown, errors) = hw_tests(folder.path(), &arguments);
        assert!(code == 0 && shown.contains("PASS: 1 of 1 case"), "{board}: {shown}{errors}");
    }
}

#[test]
fn the_example_of_a_console_passes_on_mames_boards() {
    for board in ["rc2014-classic", "rc2014-zed"] {
        let arguments = ["test", "decimal.test.toml", "--rig", "mame", "--board", board];
        let (code, shown, errors) = hw_tests(&examples(), &arguments);
        assert!(code == 0 && shown.contains("PASS: 5 of 5 cases"), "{board}: {shown}{errors}");
    }
}

#[test]
fn sessions_of_calls_run_on_mames_boards() {
    for board in ["rc2014-classic", "rc2014-zed"] {
        let call = json!({ "call": "MUL16", "in": { "BC": 300, "DE": 300 }, "outputs": ["HL"] });
        let jump = json!([{ "at": 0x9000, "bytes": [0x18, 0xFE] }]);
        let stuck = json!({ "call": 0x9000, "memory": jump, "timeout": 9999 });
        let made = replies_on(
            &["mul16.asm", "--rig", "mame", "--board", board],
            &[call.clone(), stuck, call],
        );
        for reply in [&made[0], &made[2]] {
            assert_eq!((&reply["out"]["HL"], &reply["findings"]), (&json!(0x5F90), &json!([])));
        }
        let finding = made[1]["findings"][0].as_str().unwrap_or_else(|| panic!("{made:?}"));
        assert!(
            finding.starts_with("did not return within 9999 T-states; last at 9000H"),
            "{finding}"
        );
    }
}

/// Runs a program in a folder, with `hw-tests` for the examples and the plugin for pytest in `plugin`.
fn run_with_plugin(plugin: &Path, folder: &Path, program: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder);
    command.env("PYTHONDONTWRITEBYTECODE", "1").env("PYTHONPATH", plugin);
    command
        .env("HW_TESTS", env!("CARGO_BIN_EXE_hw-tests"))
        .env("PYTEST_PLUGINS", "pytest_z80_board");
    command.output().expect("it starts")
}

fn plugin() -> PathBuf {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/packaging/pytest-z80-board");
    folder.canonicalize().expect("the plugin")
}

/// Runs a program of docs/examples.
fn run_example(program: &str, arguments: &[&str]) -> Output {
    run_with_plugin(&plugin(), &examples(), program, arguments)
}

fn pytest() -> String {
    let programs =
        std::env::var_os("LABGRID_BIN").expect("export LABGRID_BIN=$(.ci/install/labgrid)");
    Path::new(&programs).join("pytest").to_string_lossy().into_owned()
}

const WRONG_REQUESTS: &str = "\
from z80call import Z80
with Z80('mul16.asm') as z80:
    for wrong in [dict(call='NONE'), dict(load={}), dict(read=[{'at': 'NONE'}])]:
        try:
            z80.request(**wrong)
        except ValueError:
            continue
        raise AssertionError(wrong)
    try:
        z80.call(0x9000)
    except AssertionError as error:
        assert 'did not return' in str(error), error
        print('done')
";

#[test]
fn the_module_for_python_reports_wrong_requests_and_findings() {
    let output = run_example("python3", &["-c", WRONG_REQUESTS]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "done\n", "{output:?}");
}

#[test]
fn pytest_runs_the_example_on_the_simulated_machine_and_on_a_board() {
    for board in ["--z80-board=", "--z80-board=--rig direct --board rc2014-zed"] {
        let arguments = ["-q", "-p", "no:cacheprovider", board, "test_mul16.py"];
        let output = run_example(&pytest(), &arguments);
        let shown = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && shown.contains("3 passed"), "{board}: {output:?}");
    }
}

#[test]
fn the_plugin_for_pytest_works_where_its_folder_is_copied_to() {
    let copy = tempfile::tempdir().expect("a scratch folder");
    for entry in std::fs::read_dir(plugin()).expect("the plugin") {
        let path = entry.expect("a file").path();
        let is_file = path.symlink_metadata().expect("a file").is_file();
        assert!(is_file || path.ends_with("__pycache__"), "{} is no file", path.display());
        if is_file {
            let name = path.file_name().expect("a name");
            std::fs::copy(&path, copy.path().join(name)).expect("a copy");
        }
    }
    let output = run_with_plugin(copy.path(), copy.path(), &pytest(), &["-q"]);
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && shown.contains("3 passed"), "{output:?}");
}

#[test]
fn the_example_for_a_shell_passes() {
    let output = run_example("sh", &["mul16.sh"]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stdout).matches("ok    ").count(), 2, "{output:?}");
}

/// Runs a program in a folder; returns its standard output.
fn output_of(folder: &Path, program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).current_dir(folder).output();
    let output = output.unwrap_or_else(|error| panic!("{program} of .ci/install/debs: {error}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{program}: {}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn genhtml_reads_the_tracefile() {
    let folder = super::measure::mul();
    let (code, _, errors) = hw_tests(folder.path(), &["test", ".", "--coverage", "cover.info"]);
    assert_eq!(code, 0, "{errors}");
    let arguments = ["--branch-coverage", "--output-directory", "html", "cover.info"];
    let summary = output_of(folder.path(), "genhtml", &arguments);
    for figures in ["80.0% (8 of 10 lines)", "66.7% (2 of 3 functions)", "66.7% (4 of 6 branches)"]
    {
        assert!(summary.contains(figures), "{summary}");
    }
}

#[test]
fn callgrind_annotate_reads_the_profile() {
    let folder = super::measure::mul();
    let (code, _, errors) = hw_tests(folder.path(), &["test", ".", "--profile", "mul.out"]);
    assert_eq!(code, 0, "{errors}");
    let text = output_of(folder.path(), "callgrind_annotate", &["mul.out"]);
    let totals = text.lines().find(|line| line.ends_with("PROGRAM TOTALS"));
    assert!(totals.is_some_and(|line| line.trim_start().starts_with("211 ")), "{text}");
}

#[test]
fn a_new_project_of_each_installed_tool_passes() {
    for tool in ["gas", "pasmo", "sdcc", "z80asm"] {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let (code, shown, errors) = hw_tests(folder.path(), &["new", "mul", "--for", tool]);
        assert_eq!((code, errors.as_str()), (0, ""), "{tool}: {shown}");
        let contracts = ["--contracts", if tool == "gas" { "mul.s" } else { "mul.asm" }];
        let contracts = &contracts[..if tool == "sdcc" { 0 } else { 2 }];
        let arguments = [&["test", "mul.test.toml"][..], contracts].concat();
        let (code, shown, errors) = hw_tests(folder.path(), &arguments);
        let passes = shown.contains("PASS 2 of 2 cases") && !shown.contains("note");
        assert!(code == 0 && passes, "{tool}: {shown}{errors}");
    }
}
