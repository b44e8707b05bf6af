//! Errors in test files: each has file, line and column, and what to write instead.

use tdlasm::source::DiskLoader;
use testfile_suite::TestFile;

use crate::{folder, parse};

const SOURCE: &str = "RUN:\tMVI A,5\n\tRET\nDATA:\t.BLKB 4";

/// A case that calls RUN, with more lines from line 5 on.
fn message(lines: &str) -> String {
    error(&format!("[[case]]\nname = \"one\"\ncall = \"RUN\"\n{lines}"))
}

fn error(text: &str) -> String {
    let folder = folder(SOURCE);
    match parse(folder.path(), text) {
        Ok(_) => panic!("accepted:\n{text}"),
        Err(error) => {
            let text = error.to_string();
            let start = folder.path().display().to_string();
            text.strip_prefix(&start).expect("the path").trim_start_matches('/').to_owned()
        }
    }
}

#[test]
fn a_wrong_case_is_located() {
    for (lines, expected) in [
        ("expct = { A = 1 }", "prog.test.toml:5:1: unknown key 'expct': expected one of name,"),
        ("expect = { AX = 1 }", "5:17: unknown expectation 'AX': expected a register, flags"),
        (
            "expect = 5",
            "5:10: expect: expected a table such as { HL = 21, flags = \"NC\" }, found an",
        ),
        ("in = { A = 256 }", "5:12: A: 256 does not fit: expected -128 to 255"),
        ("in = { HL = -40000 }", "5:13: HL: -40000 does not fit: expected -32768 to 65535"),
        (
            "in = { HL = \"NOSUCH+1\" }",
            "5:13: unknown name 'NOSUCH': expected a number such as 1FH, or a",
        ),
        (
            "in = { HL = true }",
            "5:13: HL: expected a number such as 31 or \"1FH\", found a boolean",
        ),
        ("in = { Q = 1 }", "5:12: unknown register 'Q': expected one such as A, HL, IX or B'"),
        ("in = { SP = 1 }", "unknown register 'SP'"),
        ("in = { flags = \"X\" }", "5:16: unknown flag 'X': expected some of C NC N NN"),
        ("in = { flags = \"C NC\" }", "the flag of NC is given twice"),
        ("expect = { A = { more = 1 } }", "5:18: unknown key 'more': expected one of eq, ne, lt"),
        ("expect = { A = {} }", "expected an operator: eq, ne"),
        ("memory = [{ at = \"DATA\" }]", "5:11: expected one of bytes, words, text, file, or fill"),
        ("memory = [{ at = \"DATA\", file = \"none.bin\" }]", "5:33: can't read"),
        ("memory = [{ at = \"DATA\", bytes = [{ lt = 5 }] }]", "operators are for expected values"),
        ("check = \"A = 5\"", "5:9: check: unexpected '= 5' after the expression"),
        ("check = \"A == TWO\"", "5:9: unknown name 'TWO': expected a register such as HL"),
        ("timeout = 0", "5:11: timeout: 0 is not in 1 to"),
        ("ports = { Q = [1] }", "'Q': expected a port such as 10H"),
        ("mock.NONE = {}", "unknown label 'NONE' of a mock"),
        ("expect = { calls = { RUN = 1 } }", "'RUN' is not among the mocks"),
        ("rows = [[\"in.A\"], [1, 2]]", "5:19: the row has 2 values, the header 1"),
        ("rows = [[\"A\"], [1]]", "header 'A': expected in.A or expect.HL"),
        ("rows = [[\"in.A\"]]", "5:8: expected a header and values: rows such as [[\"in.A\","),
        ("steps = []", "5:9: expected at least one call"),
        ("steps = [{ call = \"RUN\" }]", "4:1: unknown key 'call': expected one of name,"),
        ("in = { A = 1", "5:13: "),
        ("as = \"isr\"", "5:6: as: expected \"interrupt\" or \"nmi\""),
        ("as = \"nmi\"\nuntil = \"DATA\"", "5:6: give either as or until"),
        ("until = \"NONE\"", "5:9: unknown name 'NONE'"),
        ("interrupt = 5", "5:13: interrupt: expected an array of tables such as [{ at = 100,"),
        ("interrupt = [{}]", "5:14: 'at' is missing: at = 100"),
        ("interrupt = [{ at = -1 }]", "5:21: at: -1 is not in 0 to"),
        (
            "interrupt = [{ at = \"5..\" }]",
            "5:21: at: expected T-states such as 100, \"0..200\" or \"all\", found a string",
        ),
        ("interrupt = [{ at = 1, period = 0 }]", "5:33: period: 0 is not in 1 to"),
        ("interrupt = [{ at = 1, kind = \"rst\" }]", "kind: expected \"int\" or \"nmi\""),
        ("interrupt = [{ at = 1, bus = 256 }]", "bus: 256 does not fit"),
        ("interrupt = [{ at = 1, handler = \"NONE\" }]", "5:34: unknown name 'NONE'"),
        ("interrupt = [{ at = 1, vector = 0 }]", "5:24: unknown key 'vector': expected one of at"),
        (
            "interrupt = [{ at = \"all\" }, { at = \"0..9\" }]",
            "5:37: only one interrupt, and only of a case, can be at several T-states",
        ),
    ] {
        let message = message(lines);
        assert!(message.contains(expected), "{lines}\n  {message}\n  {expected}");
    }
}

#[test]
fn a_wrong_file_is_located() {
    for (text, expected) in [
        ("[[cases]]", "2:3: unknown key 'cases': expected one of"),
        ("[[case]]\ncall = \"RUN\"", "2:1: 'name' is missing: name = "),
        ("[[case]]\nname = \"a\"", "2:1: 'call' is missing: call = \"MUL\""),
        ("case = 5", "2:8: case: expected an array of tables: [[case]], found an integer"),
        ("boards = [\"spectrum\"]", "2:10: unknown board 'spectrum'"),
        ("stack = { top = 0x8002 }", "overlaps the program: expected free memory"),
        ("origin = 0x9000\nlayout = \"x.toml\"", "give either an origin or a layout"),
        (
            "setup = [{ call = \"RUN\", interrupt = [{ at = \"all\" }] }]",
            "2:9: only one interrupt, and only of a case, can be at several T-states",
        ),
        ("defines = { A = \"x\" }", "2:17: A: expected a number"),
        (
            "[[case]]\nname = \"a\"\ncall = \"RUN\"\n[[case]]\nname = \"a\"\ncall = \"RUN\"",
            "5:1: the name 'a' is also that of line 2",
        ),
        (
            "[[property]]\nname = \"a\"\ncall = \"RUN\"\nargs.B = \"u9\"\ncheck = \"A\"",
            "5:10: 'u9' is not a range: expected u8, u16, 0..1000 (without 1000) or 1..=6",
        ),
        (
            "[[property]]\nname = \"a\"\ncall = \"RUN\"\nargs.B = \"0..300\"\ncheck = \"A\"",
            "5:10: B: '0..300' does not fit in 1 byte",
        ),
        ("[[property]]\nname = \"a\"\ncall = \"RUN\"\nargs.B = \"u8\"", "nothing is judged"),
        ("[[property]]\nname = \"a\"\ncall = \"RUN\"\ncheck = \"A\"", "nothing is generated"),
        (
            "[[property]]\nname = \"a\"\ncall = \"RUN\"\nargs = { HL = \"u16\", DE = \"u16\" }\n\
             exhaustive = true\ncheck = \"A\"",
            "4294967296 inputs are too many to try all",
        ),
        (
            "[[property]]\nname = \"a\"\ncall = \"RUN\"\nargs.B = \"u8\"\nsame_as = \"RUN\"",
            "6:11: 'outputs' is missing: expected outputs = [\"HL\", \"FC\"]",
        ),
    ] {
        let message = error(text);
        assert!(message.contains(expected), "{text}\n  {message}\n  {expected}");
    }
}

#[test]
fn all_errors_of_a_file_are_reported_in_the_order_of_its_lines() {
    let text = "\
boards = [\"spectrum\"]
stack = { size = \"big\", depth = 1 }
setup = [{ call = \"NONE\" }, { cal = \"RUN\" }, 7]
[[case]]
name = \"one\"
call = \"RUN\"
in = { A = 256, Q = 1, flags = 5 }
expct = { A = 1 }
check = [\"A == TWO\", \"A =\"]
timeout = \"long\"
[[case]]
call = \"MISSING\"
memory = [{ at = \"HERE\", bytes = [1, true, 300] }, { bytes = [1] }]
[[case]]
name = \"rows\"
call = \"RUN\"
rows = [[\"in.A\", \"expect.Q\"], [1], [\"NONE\", 2]]
[[case]]
name = \"rows\"
call = \"RUN\"
steps = 5
[[property]]
name = \"all\"
call = \"RUN\"
check = \"A\"
args = { B = \"u9\", DE = \"0..70000\" }
exhaustive = \"yes\"
cases = 0
[[property]]
name = \"none\"
call = \"RUN\"
same_as = \"OTHER\"
";
    let found = error(text);
    let found: Vec<_> = found.lines().collect();
    let expected = [
        "2:10: unknown board 'spectrum'",
        "3:18: unknown name 'big'",
        "3:25: unknown key 'depth'",
        "4:19: unknown name 'NONE'",
        "4:29: 'call' is missing",
        "4:31: unknown key 'cal'",
        "4:46: setup: expected an array of calls",
        "8:12: A: 256 does not fit",
        "8:21: unknown register 'Q'",
        "8:32: flags: expected a string such as \"C NZ\", found an integer",
        "9:1: unknown key 'expct'",
        "10:10: unknown name 'TWO'",
        "10:22: check: unexpected '='",
        "11:11: timeout: expected an integer, found a string",
        "12:1: 'name' is missing",
        "13:8: unknown name 'MISSING'",
        "14:18: unknown name 'HERE'",
        "14:38: bytes: expected a number such as 31 or \"1FH\", found a boolean",
        "14:44: bytes: 300 does not fit",
        "14:52: 'at' is missing",
        "18:31: the row has 1 values, the header 2",
        "18:37: unknown name 'NONE'",
        "18:45: unknown expectation 'Q'",
        "21:1: unknown key 'call'",
        "22:9: steps: expected an array of calls",
        "27:14: 'u9' is not a range",
        "27:25: DE: '0..70000' does not fit",
        "28:14: exhaustive: expected true or false",
        "29:9: cases: 0 is not in 1 to",
        "30:1: nothing is generated",
        "33:11: 'outputs' is missing",
        "33:11: unknown name 'OTHER'",
    ];
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.contains(&format!("prog.test.toml:{expected}")), "{found}\n{expected}");
    }
}

#[test]
fn a_key_with_a_wrong_value_is_not_missing() {
    for (text, expected) in [
        ("[[case]]\nname = 5\ncall = \"RUN\"", "3:8: name: expected a string such as"),
        ("[[case]]\nname = \"a\"\ncall = {}", "4:8: call: expected an address such as \"MUL\""),
        ("[[case]]\nname = \"a\"\ncall = []", "4:8: call: expected an address such as \"MUL\""),
        (
            "[[case]]\nname = \"a\"\ncall = \"RUN\"\nmemory = [{ at = {}, bytes = [1] }]",
            "5:18: at: expected an address such as \"BUFFER\", found a table",
        ),
    ] {
        let found = error(text);
        assert!(found.lines().count() == 1 && found.contains(expected), "{text}\n{found}");
    }
}

#[test]
fn without_a_program_only_what_does_not_depend_on_it_is_reported() {
    let text = "console = \"cpn\"\n[[case]]\nname = \"a\"\ncall = \"RUN\"\nin = { A = 300 }\n\
                expect.HL = \"DATA+1\"\nmock.RUN = {}\ncheck = \"A == DATA\"";
    let found = error(text);
    let found: Vec<_> = found.lines().collect();
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].contains(":2:11: console: expected \"cpm\", "), "{found:?}");
    assert!(found[1].contains(":6:12: A: 300 does not fit"), "{found:?}");
}

#[test]
fn all_errors_of_the_syntax_are_reported() {
    let found = error("boards = [\nstack = 5 5\n[[case]]\nname = one");
    let lines = ["3:", "5:"].map(|line| found.lines().any(|error| error.contains(line)));
    assert_eq!(lines, [true; 2], "{found}");
}

#[test]
fn a_similar_key_is_suggested() {
    for (lines, expected) in [
        ("expct = { A = 1 }", "; did you mean 'expect'?"),
        ("memroy = []", "; did you mean 'memory'?"),
        ("memory = [{ at = 1, byts = [1] }]", "; did you mean 'bytes'?"),
        ("[[propertys]]", "; did you mean 'property'?"),
    ] {
        let message = message(lines);
        let unknown = message.lines().find(|line| line.contains("unknown key"));
        assert!(unknown.is_some_and(|line| line.ends_with(expected)), "{message}");
    }
    assert!(!message("zzz = 1").contains("did you mean"));
}

#[test]
fn a_program_that_is_missing_or_has_errors_is_located_at_its_field() {
    let folder = folder("RUN:\tMVI A,NOSUCH");
    let path = folder.path().join("prog.test.toml");
    let error = |text: &str| match TestFile::parse(&path, text, &DiskLoader) {
        Ok(_) => panic!("accepted: {text}"),
        Err(error) => error.to_string(),
    };
    let undefined = error("# first line\nsources = [\"prog.asm\"]");
    assert!(undefined.contains("prog.test.toml:2:11: "), "{undefined}");
    assert!(undefined.contains("NOSUCH is not defined"), "{undefined}");
    let missing = error("sources = [\"none.asm\"]");
    assert!(missing.contains(":1:11: can't read ") && missing.contains("none.asm"), "{missing}");
    assert!(error("").contains(":1:1: no program: expected sources = [\"mul.asm\"]"));
    assert!(
        error("program = \"a.hex\"\nsources = [\"prog.asm\"]").contains("give either a program")
    );
}

#[test]
fn a_hex_file_is_tested_by_the_labels_of_its_symbol_file() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    // ADD A,B; RET at 4000H.
    std::fs::write(folder.path().join("a.hex"), ":0240000080C975\n:00000001FF\n").expect("a file");
    std::fs::write(folder.path().join("a.sym"), "; labels\n4000 SUM\n").expect("a file");
    let text = "program = \"a.hex\"\nsymbols = \"a.sym\"\n[[case]]\nname = \"a\"\ncall = \"SUM\"\nin = \
                { A = 2, B = 3 }\nexpect.A = 6";
    let file = TestFile::parse(&folder.path().join("a.test.toml"), text, &DiskLoader);
    let file = file.unwrap_or_else(|error| panic!("{error}"));
    let mut machine = file.program.machine();
    let mut found = Vec::new();
    let ran = crate::run(&file, &mut machine, &Default::default(), &mut |result| {
        found.extend(result.differences.iter().map(ToString::to_string));
        assert_eq!(result.details.location.as_deref(), Some("4000H, SUM"));
    });
    ran.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(found, ["A: expected 6, got 5"]);
}

#[test]
fn a_symbol_file_of_another_format_is_refused_with_its_line() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    std::fs::write(folder.path().join("a.hex"), ":0240000080C975\n:00000001FF\n").expect("a file");
    // Joined from what z88dk-z80asm, asl 1.42 and SDCC 4.2.0 write.
    for (name, text, line) in [
        ("a.def", "DEFC MUL8                            = $8000\nMUL8 EQU 1\n", 2),
        ("a.noi", "DEF MUL8 0x8000\n\nMUL8 #8000\n", 3),
        ("a.sym", "DEFC 0x0\n", 1),
    ] {
        std::fs::write(folder.path().join(name), text).expect("a file");
        let text = format!("program = \"a.hex\"\nsymbols = \"{name}\"\n");
        let path = folder.path().join("a.test.toml");
        let error = TestFile::parse(&path, &text, &DiskLoader).expect_err(name).to_string();
        assert!(error.contains(&format!("{name}:{line}: '")), "{error}");
    }
}

#[test]
fn labels_of_c_keep_their_case() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    // ADD A,B; RET; SUB B; RET at 4000H.
    let hex = ":0440000080C990C91A\n:00000001FF\n";
    std::fs::write(folder.path().join("a.hex"), hex).expect("a file");
    let noi = "DEF _sum 0x4000\nDEF _Sum 0x4002\nDEF _one 0x4000\nLOAD a.ihx\n";
    std::fs::write(folder.path().join("a.noi"), noi).expect("a file");
    let parse = |routine: &str| {
        let text = format!(
            "program = \"a.hex\"\nsymbols = \"a.noi\"\n[[case]]\nname = \"a\"\ncall = \"{routine}\"\n\
             in = {{ A = 3, B = 2 }}\nexpect.A = 1\n"
        );
        TestFile::parse(&folder.path().join("a.test.toml"), &text, &DiskLoader)
    };
    for (routine, differences) in [("_Sum", 0), ("_sum", 1), ("_ONE", 1)] {
        let file = parse(routine).unwrap_or_else(|error| panic!("{error}"));
        let mut machine = file.program.machine();
        let mut found = 0;
        let ran = crate::run(&file, &mut machine, &Default::default(), &mut |result| {
            found += result.differences.len();
        });
        ran.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(found, differences, "{routine}");
    }
    let error = parse("_SUM").expect_err("ambiguous").to_string();
    let expected = "'_SUM' is ambiguous: _sum is 4000H, _Sum is 4002H; give an address";
    assert!(error.contains(expected), "{error}");
}
