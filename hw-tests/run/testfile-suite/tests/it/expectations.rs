//! Each kind of expectation passes where it should, and is seen to fail.

use testfile_suite::Verdict;

use crate::{case, findings, result, results};

/// A = 5 and carry, the word at DATA = 1234H, port 10H written, 38 T-states and the return.
const SOURCE: &str = "RUN:\tMVI A,5
\tSTC
\tOUT 10H
\tPUSH H
\tLXI H,1234H
\tSHLD DATA
\tPOP H
\tRET
DATA:\t.BLKB 4";

/// T-states by Zilog's UM0080: 7, 4, 11, 11, 10, 16, 10, 10.
const T_STATES: u32 = 79;

#[test]
fn what_is_as_expected_passes() {
    let all = format!(
        "expect = {{ A = 5, flags = \"C\", memory = [{{ at = \"DATA\", words = [0x1234] }}], \
         ports = {{ 10H = [5] }}, cycles = {T_STATES}, stack = 2, clobbers = \"A F\" }}\n\
         check = [\"A == 5 && FC\", \"cycles == {T_STATES}\", \"{{DATA}} == 1234H\"]"
    );
    assert_eq!(case(SOURCE, &all), [""; 0]);
    for lines in [
        "expect = { A = { lt = 6, ge = 5 } }",
        "expect = { A = { any_of = [1, 5] } }",
        "expect = { A = { mask = 1, eq = 1 } }",
        "expect = { cycles = { ge = 79, le = 79 } }",
        "expect = { memory = [{ at = \"DATA\", bytes = [0x34, { ne = 0 }] }] }",
        "expect = { memory = [{ at = \"DATA+1\", bytes = [0x12] }] }",
        "expect = { clobbers = \"all\" }",
        "check = \"HL == in.HL\"",
        "writes = [{ at = \"DATA\", size = 2 }]",
    ] {
        let lines = format!("ports = {{ 10H = [] }}\n{lines}");
        assert_eq!(case(SOURCE, &lines), [""; 0], "{lines}");
    }
}

#[test]
fn what_differs_is_reported_with_both_values() {
    for (lines, finding) in [
        ("expect = { A = 6 }", "A: expected 6, got 5"),
        ("expect = { A = { gt = 5 } }", "A: expected more than 5, got 5"),
        ("expect = { A = { any_of = [1, 2] } }", "A: expected one of 1, 2, got 5"),
        ("expect = { A = { mask = 2, eq = 2 } }", "A: expected 2 in the bits 2, got 5"),
        ("expect = { flags = \"NC\" }", "flags: expected NC, got C"),
        ("expect = { cycles = 78 }", "T-states: expected at most 78 (4EH), got 79 (4FH)"),
        ("expect = { stack = 1 }", "bytes of stack: expected at most 1, got 2"),
        ("expect = { clobbers = \"A\" }", "changed registers: F 55H to"),
        ("expect = { ports = { 10H = [6] } }", "writes to port 10H: expected 06, got 05"),
        ("expect = { ports = { 11H = [] , 12H = [1] } }", "port 12H: expected 01, got none"),
        (
            "expect = { memory = [{ at = \"DATA\", bytes = [0x34, 0x13] }] }",
            "DATA+1: expected 19 (13H), got 18 (12H)",
        ),
        (
            "expect = { memory = [{ at = \"DATA\", words = [0x1235] }] }",
            "DATA: expected 4661 (1235H), got 4660 (1234H)",
        ),
        ("check = \"A == 4\"", "check A == 4: expected true, got false with A = 5"),
    ] {
        let found = case(SOURCE, lines);
        assert!(found.iter().any(|one| one.contains(finding)), "{lines}: {found:?}");
    }
}

#[test]
fn registers_flags_and_memory_are_set_before_the_call() {
    let source = "RUN:\tLDA DATA
\tJC THERE
\tXRA A
THERE:\tADD B
\tEXX
\tMOV A,B
\tEXX
\tLDX A
\tRET
DATA:\t.BLKB 1"
        .replace("\tLDX A\n", "\tPUSH X\n\tPOP H\n");
    let lines = "in = { BC = 0x0203, IX = \"DATA\", \"B'\" = 0x44, flags = \"C NZ\" }\n\
                 memory = [{ at = \"DATA\", bytes = [\"'A'\"] }]\n\
                 expect = { A = 0x44, HL = \"DATA\", C = 3 }";
    assert_eq!(case(&source, lines), [""; 0]);
}

#[test]
fn ports_return_the_values_of_the_test_in_order() {
    let source = "RUN:\tIN 80H\n\tMOV B,A\n\tIN 80H\n\tMOV C,A\n\tRET";
    let lines = "ports = { 80H = [1, 2] }\nexpect = { BC = 0x0102 }";
    assert_eq!(case(source, lines), [""; 0]);
    let found = case(source, "ports = { 80H = [1] }");
    let finding = "read port 80H more often than there are values at 8003H, RUN+3 (prog.asm:4): \
                   add values to 'ports', or \"...\" to repeat the last";
    assert_eq!(found, [finding]);
    let repeated = "ports = { 80H = [1, 2, \"...\"] }\nexpect = { BC = 0x0102 }";
    assert_eq!(
        case(&source.replace("\tIN 80H\n", "\tIN 80H\n\tIN 80H\n"), repeated),
        ["BC: expected 258 (102H), got 514 (202H)"]
    );
}

#[test]
fn a_mock_replaces_a_routine_and_counts_its_calls() {
    let source = "RUN:\tSTC\n\tCALL GETC\n\tJRC OVER\n\tMOV B,A\n\tCALL GETC\n\tJRC OVER
\tINR B\nOVER:\tRET\nGETC:\tHLT";
    let mock = "mock.GETC = { returns = [{ A = 7, flags = \"NC\" }, { A = 8, flags = \"C\" }] }\n";
    let right = format!("{mock}expect = {{ A = 8, B = 7, calls = {{ GETC = 2 }} }}");
    assert_eq!(case(source, &right), [""; 0]);
    let found = case(source, &format!("{mock}expect = {{ calls = {{ GETC = 1 }} }}"));
    assert_eq!(found, ["calls of GETC: expected 1, got 2"]);
}

#[test]
fn calls_of_a_case_share_memory_and_registers_and_cases_do_not() {
    let source = "RUN:\tLXI H,COUNT\n\tINR M\n\tINR B\n\tRET\nCOUNT:\t.BYTE 0";
    let step = |count| format!("{{ call = \"RUN\", check = \"[COUNT] == {count}\" }}");
    let text = format!(
        "[[case]]\nname = \"first\"\nsteps = [{}, {}]\n[[case]]\nname = \"second\"\nsteps = \
         [{}, {{ call = \"RUN\", expect = {{ B = 9 }} }}]",
        step(1),
        step(2),
        step(1).replace("call", "in = { B = 7 }, call"),
    );
    let all = results(source, &text);
    assert!(all.iter().all(|one| one.verdict == Verdict::Pass), "{all:?}");
    let text = text.replace("== 2", "== 3");
    let all = results(source, &text);
    assert_eq!(all[0].reason.as_deref(), Some("call 2 of 2, RUN"));
    assert_eq!(all[0].verdict, Verdict::Fail);
}

#[test]
fn setup_runs_before_each_case() {
    let source = "INIT:\tMVI A,5\n\tSTA DATA\n\tRET\nRUN:\tLXI H,DATA\n\tINR M\n\tMOV A,M\n\tRET
DATA:\t.BLKB 1";
    let text = "setup = [{ call = \"INIT\" }]\n[[case]]\nname = \"a\"\ncall = \"RUN\"\nexpect.A = \
                6\n[[case]]\nname = \"b\"\ncall = \"RUN\"\nexpect.A = 6\n[[property]]\nname = \
                \"c\"\ncall = \"RUN\"\nargs.B = \"u8\"\ncheck = \"A == 6\"";
    let all = results(source, text);
    assert!(all.iter().all(|one| one.verdict == Verdict::Pass), "{all:?}");
}

#[test]
fn each_row_of_a_table_is_a_case() {
    let source = "RUN:\tADD B\n\tRET";
    let text = "[[case]]\nname = \"sums\"\ntags = [\"fast\"]\ncall = \"RUN\"\nrows = [\n[\"in.A\", \
                \"in.B\", \"expect.A\", \"expect.flags\"],\n[1, 2, 3, \"NC NZ\"],\n[0x80, 0x80, 0, \
                \"C\"],\n[1, 1, 3, \"NC\"]]";
    let all = results(source, text);
    let verdicts: Vec<_> = all.iter().map(|one| one.verdict).collect();
    assert_eq!(verdicts, [Verdict::Pass, Verdict::Pass, Verdict::Fail]);
    assert_eq!((all[2].id.as_str(), all[2].details.line), ("sums, row 3", 10));
    assert_eq!(all[2].tags, ["fast"]);
}

#[test]
fn a_skipped_case_is_not_run() {
    let text = "[[case]]\nname = \"a\"\ncall = \"RUN\"\nskip = \"needs a CTC\"\nexpect.A = 1";
    let result = result("RUN:\tHLT", text);
    assert_eq!((result.verdict, result.details.calls), (Verdict::Skipped, 0));
    assert_eq!(result.reason.as_deref(), Some("needs a CTC"));
}

#[test]
fn memory_that_nothing_set_is_not_cleared() {
    let source = "RUN:\tLDA DATA\n\tRET\nDATA:\t.BLKB 1";
    let text = "[[case]]\nname = \"a\"\ncall = \"RUN\"\nexpect.A = 0";
    assert_eq!(findings(source, &format!("{text}\nallow = [\"unwritten\"]")).len(), 1);
}

#[test]
fn a_condition_on_memory_shows_the_values_there() {
    let source = "RUN:\tLXI H,BUFFER+1\n\tRET\nBUFFER:\t.BYTE 7,9,1";
    let found = case(source, "check = \"[HL] == B && {BUFFER+1} > 1\"\nin.B = 8");
    let values = "false with HL = 32773, B = 8, [8005H] = 9, {8005H} = 265";
    assert_eq!(
        found,
        [format!("check [HL] == B && {{BUFFER+1}} > 1: expected true, got {values}")]
    );
}
