//! The first and the last value that each field of a test file accepts.

use std::collections::BTreeSet;
use std::sync::Arc;

use hil_harness::suite::Suite;
use testfile_suite::{TestCase, TestFiles};

use crate::{case, folder, parse, results};

/// A returns B, HL returns DE.
const SOURCE: &str = "RUN:\tMOV A,B\n\tXCHG\n\tRET\nBUFFER:\t.BLKB 4\nLONGNAME:\tRET";

/// Whether a file with these lines is accepted.
fn accepts(lines: &str) -> bool {
    let folder = folder(SOURCE);
    std::fs::write(folder.path().join("64k.bin"), vec![0; 0x1_0000]).expect("a file");
    std::fs::write(folder.path().join("more.bin"), vec![0; 0x1_0001]).expect("a file");
    parse(folder.path(), lines).is_ok()
}

fn case_accepts(lines: &str) -> bool {
    accepts(&format!("[[case]]\nname = \"one\"\ncall = \"RUN\"\n{lines}"))
}

fn property_accepts(lines: &str) -> bool {
    accepts(&format!("[[property]]\nname = \"one\"\ncall = \"RUN\"\n{lines}"))
}

#[test]
fn negative_numbers_are_two_s_complements_down_to_half_of_the_range() {
    for (given, expected) in [("-128", 0x80), ("-1", 0xFF), ("255", 0xFF), ("\"'A'\"", 0x41)] {
        let lines = format!("in = {{ B = {given} }}\nexpect = {{ A = {expected} }}");
        assert_eq!(case(SOURCE, &lines), [""; 0], "{given}");
    }
    for (given, expected) in [("-32768", 0x8000), ("-1", 0xFFFF), ("65535", 0xFFFF)] {
        let lines = format!("in = {{ DE = {given} }}\nexpect = {{ HL = {expected} }}");
        assert_eq!(case(SOURCE, &lines), [""; 0], "{given}");
    }
    for lines in ["in.B = -129", "in.B = 256", "in.DE = -32769", "in.DE = 65536"] {
        assert!(!case_accepts(lines), "{lines}");
    }
    assert!(case_accepts("in.HL = \"LONGNAME\""), "six letters of a name count");
}

#[test]
fn limits_sizes_and_counts_have_their_range() {
    for (accepted, refused) in [
        ("expect.cycles = 4294967295", "expect.cycles = 4294967296"),
        ("expect.cycles = { ge = 4294967295 }", "expect.cycles = { ge = 4294967296 }"),
        ("timeout = 99999999999", "timeout = 100000000000"),
        ("memory = [{ at = 0, file = \"64k.bin\" }]", "memory = [{ at = 0, file = \"more.bin\" }]"),
        (
            "memory = [{ at = 0, fill = 255, size = 65536 }]",
            "memory = [{ at = 0, fill = 0, size = 65537 }]",
        ),
        ("memory = [{ at = 0, fill = 1, size = 1 }]", "memory = [{ at = 0, fill = 1, size = 0 }]"),
        ("writes = [{ at = 0, size = 65536 }]", "writes = [{ at = 0, size = 65537 }]"),
        ("ports = { 0FFH = [1] }", "ports = { 100H = [1] }"),
        ("expect.clobbers = \"AF, BC\"", "expect.clobbers = \"AF; BC\""),
        ("interrupts = \"any\"", "interrupts = \"none\""),
        ("mock.RUN = {}\nexpect.calls.RUN = 65535", "mock.RUN = {}\nexpect.calls.RUN = 65536"),
    ] {
        assert!(case_accepts(accepted), "{accepted}");
        assert!(!case_accepts(refused), "{refused}");
    }
}

/// SOURCE is at 8000H: RUN has 3 bytes, BUFFER 4, LONGNAME 1, up to 8007H.
#[test]
fn the_stack_and_its_return_address_lie_beside_the_program() {
    assert!(accepts("stack = { top = 0x8000, size = 16 }"), "it ends below the program");
    assert!(!accepts("stack = { top = 0x8001, size = 16 }"));
    assert!(accepts("stack = { top = 0x801A, size = 16 }"), "8008H is free");
    assert!(!accepts("stack = { top = 0x8019, size = 16 }"));
    assert!(
        accepts("stack = { top = 18, size = 16 }") && !accepts("stack = { top = 17, size = 16 }")
    );
    let low = |size| accepts(&format!("origin = 0x100\nstack = {{ size = {size} }}"));
    assert!(low(0x7FFF) && !low(0x8000));
}

#[test]
fn generators_and_exhaustive_properties_have_their_range() {
    let check = "check = \"A == B\"";
    for (accepted, refused) in [
        ("args.B = \"0..256\"", "args.B = \"0..257\""),
        ("args.B = \"0..=255\"", "args.B = \"0..=256\""),
        ("args.DE = \"0..65536\"", "args.DE = \"0..=65536\""),
        ("args.DE = \"5..6\"", "args.DE = \"5..5\""),
        ("args.B = [1]", "args.B = []"),
        ("args.B = \"u8\"\ncases = 99999999", "args.B = \"u8\"\ncases = 100000000"),
        ("args.B = \"u8\"\ncases = 1", "args.B = \"u8\"\ncases = 0"),
        (
            "args = { DE = \"u16\", B = \"u8\" }\nexhaustive = true",
            "args = { DE = \"u16\", B = \"u8\", C = \"0..2\" }\nexhaustive = true",
        ),
        (
            "arrays = [{ at = \"BUFFER\", length = \"1..=4\" }]",
            "arrays = [{ at = \"BUFFER\", length = \"1..=4\" }]\nargs.B = \"u8\"\n\
             exhaustive = true",
        ),
        (
            "arrays = [{ at = \"BUFFER\", length = \"1..=4\" }]",
            "arrays = [{ at = \"BUFFER\", length = [1, 4] }]",
        ),
    ] {
        assert!(property_accepts(&format!("{accepted}\n{check}")), "{accepted}");
        assert!(!property_accepts(&format!("{refused}\n{check}")), "{refused}");
    }
    assert!(property_accepts("args.B = \"u8\"\nexpect.A = 5"), "an expectation judges, too");
}

#[test]
fn words_texts_and_mocks_of_a_table_have_the_bytes_given() {
    let source = "RUN:\tLHLD BUFFER\n\tLDA BUFFER+2\n\tCALL GETC\n\tRET
BUFFER:\t.BLKB 4\nGETC:\tHLT";
    let text = "[[case]]\nname = \"words\"\ncall = \"RUN\"\nmock.GETC = {}
memory = [{ at = \"BUFFER\", words = [0x1234, -2] }]\nexpect = { HL = 0x1234, A = 0xFE }
[[case]]\nname = \"text\"\ncall = \"RUN\"\nmock.GETC = { returns = { flags = \"Z NC\", BC = 9 } }
memory = [{ at = \"BUFFER\", text = \"ABC\" }]
in.flags = \"NZ C\"\nexpect = { HL = 0x4241, A = \"'C'\", flags = \"Z NC\", BC = 9 }
[[case]]\nname = \"table\"\ncall = \"RUN\"\nmock.GETC = {}
memory = [{ at = \"BUFFER\", bytes = [1, 2, 3] }]
rows = [[\"in.flags\", \"expect.flags\", \"in.B\", \"expect.B\"], [\"C\", \"C\", 7, 7]]";
    let failed: Vec<_> = results(source, text)
        .into_iter()
        .filter(|result| !result.differences.is_empty())
        .map(|result| format!("{result:?}"))
        .collect();
    assert_eq!(failed, [""; 0]);
}

#[test]
fn a_case_is_another_one_with_another_stack_or_console() {
    let folder = folder(SOURCE);
    let content = |header: &str| {
        let text = format!("{header}\n[[case]]\nname = \"one\"\ncall = \"RUN\"");
        let file = parse(folder.path(), &text).unwrap_or_else(|error| panic!("{error}"));
        let cases = TestCase::all(&Arc::new(file), &Vec::new().into());
        TestFiles::content(&cases[0])
    };
    let headers = ["", "stack = { size = 8 }", "console = { port = 1 }", "console = { port = 2 }"];
    let contents: BTreeSet<String> = headers.into_iter().map(content).collect();
    assert_eq!(contents.len(), headers.len());
}
