//! Sessions at the call of a case of a test file.

use std::path::Path;

use serde_json::json;

use crate::dap::Client;
use crate::hw_tests;

/// Adds A to TOTAL; ADDTWO does so for B and C, but forgets C from 80H on.
const SOURCE: &str = "\
\t.INTERN ADDA,ADDTWO,TOTAL
ADDA:\tLXI H,TOTAL
\tADD M
\tMOV M,A
\tRET
ADDTWO:\tMOV A,B
\tCALL ADDA
\tMOV A,C
\tORA A
\tRM
\tCALL ADDA
\tRET
TOTAL:\t.BYTE 0
\t.END
";
const TESTS: &str = r#"sources = ["sum.asm"]
[[case]]
name = "three calls, the second is wrong"
steps = [
    { call = "ADDA", in = { A = 2 }, expect = { A = 2 } },
    { call = "ADDTWO", in = { B = 3, C = 0x80 }, memory = [{ at = 0xC000, text = "Z" }], expect = { A = 0x85 } },
    { call = "ADDA", in = { A = 1 } },
]
[[case]]
name = "right"
call = "ADDA"
in = { A = 5, flags = "C" }
mock.ADDTWO = {}
expect.ports.0x10 = []
[[property]]
name = "all"
call = "ADDA"
args.A = "u8"
check = "A == in.A"
"#;

fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("sum.asm"), SOURCE).expect("written");
    std::fs::write(folder.path().join("sum.test.toml"), TESTS).expect("written");
    folder
}

/// Debugs a case by a script; returns the exit code and both streams.
fn debug(folder: &Path, case: &[&str], script: &str) -> (Option<i32>, String, String) {
    let (tests, commands) = (folder.join("sum.test.toml"), folder.join("script"));
    std::fs::write(&commands, script).expect("written");
    let (tests, commands) = (tests.display().to_string(), commands.display().to_string());
    hw_tests(&[&["debug", &tests, "--script", &commands], case].concat())
}

#[test]
fn the_first_wrong_call_of_a_case_is_debugged_with_its_memory_and_registers() {
    let folder = project();
    let script = "print PC\nprint ADDTWO\nprint B\nprint C\nprint [TOTAL]\nprint [0C000H]\nprint \
                  [0C001H]\nrun\nprint A\nprint PC\nback 1\n";
    let case = "three calls, the second is wrong";
    let (code, out, errors) = debug(folder.path(), &[case], script);
    assert_eq!((code, errors.as_str()), (Some(0), ""), "{out}");
    let first = format!("call 2 of '{case}', ADDTWO: A: expected 133 (85H), got 128 (80H)");
    assert_eq!(out.lines().next(), Some(first.as_str()), "{out}");
    let values = out.lines().filter_map(|line| line.split_once("H = "));
    let number = |value: &str| value.split(',').next().and_then(|number| number.parse().ok());
    let numbers: Vec<u32> = values.filter_map(|(_, value)| number(value)).collect();
    // TOTAL is 2 after the first call; FFF0H is the address of the caller, A5H the fill.
    assert_eq!(numbers[0], numbers[1], "PC is at the routine: {out}");
    assert_eq!(numbers[2..7], [3, 0x80, 2, u32::from(b'Z'), 0xA5], "{out}");
    assert_eq!(numbers[7..9], [0x80, 0xFFF0], "it has returned: {out}");
    assert!(out.contains("sum.asm:10): RM"), "and is stepped back: {out}");
}

#[test]
fn a_right_case_is_debugged_at_its_last_call() {
    let folder = project();
    let (code, out, errors) = debug(folder.path(), &["right"], "print A\nprint FC\n");
    let expected = "call 1 of 'right', ADDA: as expected (without its mocks)\n0005H = 5\n0001H = \
                    1\n";
    assert_eq!((code, out.as_str(), errors.as_str()), (Some(0), expected, ""));
}

#[test]
fn what_is_no_case_is_an_error() {
    let folder = project();
    for (arguments, code, message) in [
        (&[][..], 2, "missing case after the test file"),
        (&["none"], 4, "no case 'none': expected one such as 'three calls, the second is wrong'"),
        (&["all"], 4, "'all' is a property"),
        (&["right", "--port", "/dev/none"], 2, "cases are debugged on a simulated board"),
    ] {
        let (found, out, errors) = debug(folder.path(), arguments, "");
        assert_eq!((found, out.as_str()), (Some(code), ""), "{errors}");
        assert!(errors.contains(message), "{errors}");
    }
    std::fs::write(folder.path().join("sum.test.toml"), "sources = 5").expect("written");
    let (code, _, errors) = debug(folder.path(), &["right"], "");
    assert_eq!(code, Some(3));
    assert!(errors.contains("sum.test.toml:1:11: sources: expected an array"), "{errors}");
}

#[test]
fn an_editor_debugs_a_case_by_its_name() {
    let folder = project();
    let tests = folder.path().join("sum.test.toml");
    let name = "three calls, the second is wrong";
    let mut client = Client::start();
    for (arguments, message) in [
        (json!({ "program": tests }), "missing case after the test file"),
        (json!({ "program": tests, "case": "none" }), "no case 'none'"),
        (json!({ "program": tests, "case": "right", "port": "none" }), "omit the port"),
        (json!({ "program": "sum.asm", "case": "right" }), "\"case\" requires a test file"),
    ] {
        let refused = client.response("launch", arguments);
        let found = refused["message"].as_str().unwrap_or_default();
        assert!(refused["success"] == false && found.contains(message), "{refused}");
    }
    client.ask("launch", json!({ "program": tests, "case": name }));
    client.ask("configurationDone", json!({}));
    let text = client.event("stopped")["body"]["text"].clone();
    let first = format!("call 2 of '{name}', ADDTWO: A: expected 133 (85H), got 128 (80H)");
    assert_eq!(text, first);
    let frame = &client.frames()[0];
    assert_eq!((&frame["name"], &frame["line"]), (&json!("ADDTWO"), &json!(6)));
}
