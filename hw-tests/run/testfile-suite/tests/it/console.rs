//! Output on the console and input from it: by CP/M's BDOS, a routine, or a port.

use tdlasm::source::DiskLoader;
use testfile_suite::{Machine, TestFile, Verdict};

use crate::boards::{PROFILES, board, results};
use crate::{case, findings, folder, parse, result, run};

/// Calls the BDOS with function and parameter of the test.
const CALL: &str =
    "RUN:\tCALL BDOS\n\tRET\n\t.EXTERN BDOS\nTEXT:\t.ASCII 'one two$'\nROOM:\t.BLKB 9";

/// What a call of the BDOS finds.
fn bdos(lines: &str) -> Vec<String> {
    let text = format!("console = \"cpm\"\n[[case]]\nname = \"one\"\ncall = \"RUN\"\n{lines}");
    findings(CALL, &text)
}

/// What the functions do is from "CP/M 2 Interface Guide" (Digital Research, 1979): results are in
/// A and L, and B and H.
#[test]
fn the_functions_of_the_console_are_those_of_cpm() {
    for lines in [
        // 1 reads with echo, 2 prints E, 6 does neither.
        "in.C = 1\ninput = \"ab\"\nexpect = { A = \"'a'\", HL = 0x61, B = 0, console = \"a\" }",
        "in = { C = 2, E = 0x41 }\nexpect = { A = 0, HL = 0, B = 0, console = \"A\" }",
        "in = { C = 6, E = 0x41 }\nexpect = { console = \"A\" }",
        "in = { C = 6, E = 0xFF }\ninput = \"ab\"\nexpect = { A = \"'a'\", L = \"'a'\", console = \"\" }",
        "in = { C = 6, E = 0xFF }\nexpect = { A = 0, console = \"\" }",
        "in = { C = 9, DE = \"TEXT\" }\nexpect = { console = \"one two\" }",
        "in.C = 11\ninput = \"a\"\nexpect = { A = 0xFF, console = \"\" }",
        "in.C = 11\nexpect = { A = 0, L = 0, console = \"\" }",
        // 10 fills DE: room, count, bytes.
        "in = { C = 10, DE = \"ROOM\" }\nmemory = [{ at = \"ROOM\", bytes = [7] }]\ninput = \
         \"ab\\rc\"\nexpect = { console = \"ab\\r\", memory = [{ at = \"ROOM\", bytes = [7, 2, \
         \"'a'\", \"'b'\"] }] }",
        "in = { C = 10, DE = \"ROOM\" }\nmemory = [{ at = \"ROOM\", bytes = [7] }]\ninput = \
         \"\\n\"\nexpect = { console = \"\\r\", memory = [{ at = \"ROOM\", bytes = [7, 0] }] }",
        "in = { C = 10, DE = \"ROOM\" }\nmemory = [{ at = \"ROOM\", bytes = [2] }]\ninput = \
         \"abc\"\nexpect = { console = \"ab\\r\", memory = [{ at = \"ROOM\", bytes = [2, 2, \
         \"'a'\", \"'b'\", 0xA5] }] }",
    ] {
        assert_eq!(bdos(lines), [""; 0], "{lines}");
    }
}

#[test]
fn other_output_missing_input_and_other_functions_are_found() {
    let text = "in = { C = 9, DE = \"TEXT\" }\nexpect.console = ";
    let differs = "console: expected \"one\\n\", got \"one two\"";
    assert_eq!(bdos(&format!("{text}\"one\\n\"")), [differs]);
    for (lines, finding) in [
        ("in.C = 1", "did not return: it reads more than 'input' has"),
        ("in.C = 13", "calls another function of the BDOS than 1, 2, 6, 9, 10 and 11"),
        (
            "in = { C = 2 }\nexpect.clobbers = \"F\"",
            "changed registers: A 5AH to 00H, B B1H to 00H, C",
        ),
    ] {
        let found = bdos(&format!("timeout = 5000\n{lines}"));
        assert!(found.iter().any(|one| one.contains(finding)), "{lines}: {found:?}");
    }
    // 1,100 bytes, of which the buffer has room for 1,024; 64 more than expected are shown.
    let source = "RUN:\tLXI B,1100\nNEXT:\tMVI A,'X'\n\tCALL PUTC\n\tDCX B\n\tMOV A,B\n\tORA C\n\tJRNZ \
                  NEXT\n\tRET\nPUTC:\tOUT 81H\n\tRET";
    let found = routine(source, "expect.console = \"\"");
    let expected =
        format!("console: expected \"\", got \"{}\" and 1036 more bytes", "X".repeat(64));
    assert_eq!(found, [expected]);
    let long = routine(source, &format!("expect.console = \"{}\"", "X".repeat(1024)));
    let expected = format!("got \"{}\" and 76 more bytes", "X".repeat(1024));
    assert!(long[0].ends_with(&expected), "{long:?}");
}

/// What a case finds whose console is the routine PUTC.
fn routine(source: &str, lines: &str) -> Vec<String> {
    let console = "console = { routine = \"PUTC\" }";
    findings(source, &format!("{console}\n[[case]]\nname = \"one\"\ncall = \"RUN\"\n{lines}"))
}

#[test]
fn a_routine_that_prints_a_is_replaced_and_keeps_registers() {
    let source = "RUN:\tMVI A,'H'\n\tCALL PUTC\n\tINR A\n\tCALL PUTC\n\tRET\nPUTC:\tOUT 81H\n\tRET";
    let lines = "expect = { A = 0x49, console = \"HI\", clobbers = \"F\" }\nwrites = []";
    assert_eq!(routine(source, lines), [""; 0]);
    let found = routine(source, "expect.console = \"HJ\"");
    assert_eq!(found, ["console: expected \"HJ\", got \"HI\""]);
}

#[test]
fn a_port_is_a_console_too() {
    let source = "RUN:\tIN 81H\n\tOUT 81H\n\tINR A\n\tOUT 81H\n\tRET";
    let with = |lines: &str| {
        let console = "console = { port = 0x81 }";
        findings(source, &format!("{console}\n[[case]]\nname = \"one\"\ncall = \"RUN\"\n{lines}"))
    };
    assert_eq!(with("input = \"A\"\nexpect.console = \"AB\""), [""; 0]);
    let found = with("input = \"A\"\nexpect.console = \"A\\u0007\"");
    assert_eq!(found, ["console: expected \"A\\x07\", got \"AB\""]);
}

#[test]
fn each_call_has_a_console_of_its_own() {
    let text = "console = \"cpm\"\n[[case]]\nname = \"one\"\nsteps = [{ call = \"RUN\", in = { C = \
                1 }, input = \"a\", expect = { console = \"a\" } }, { call = \"RUN\", in = { C = \
                11 }, expect = { A = 0, console = \"\" } }]";
    assert_eq!(findings(CALL, text), [""; 0]);
}

#[test]
fn the_case_of_a_property_repeats_its_input() {
    let text = "console = \"cpm\"\n[[property]]\nname = \"p\"\ncall = \"RUN\"\nin.C = 1\nargs.E = \
                \"u8\"\ninput = \"a\"\ncheck = \"A == 0\"";
    let failed = result(CALL, text).details.case.expect("a case");
    assert!(failed.contains("input = \"a\"\n") && !failed.contains("memory"), "{failed}");
    let found = findings(CALL, &format!("console = \"cpm\"\n{failed}"));
    assert_eq!(found, ["check A == 0: expected true, got false with A = 97"]);
}

#[test]
fn a_program_of_another_assembler_calls_the_bdos_at_5() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    // At 100H: LD C,2; LD E,41H; JP 5.
    let hex = ":070100000E021E41C30500C1\n:00000001FF\n";
    std::fs::write(folder.path().join("a.hex"), hex).expect("a file");
    let text = "program = \"a.hex\"\nconsole = \"cpm\"\n[[case]]\nname = \"a\"\ncall = \
                0x100\nexpect.console = \"A\"";
    let file = TestFile::parse(&folder.path().join("a.test.toml"), text, &DiskLoader);
    let file = file.unwrap_or_else(|error| panic!("{error}"));
    let mut verdicts = Vec::new();
    let ran = run(&file, &mut file.program.machine(), &Default::default(), &mut |one| {
        verdicts.push((one.verdict, one.differences));
    });
    ran.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(verdicts, [(Verdict::Pass, Vec::new())]);
    let refused = board(PROFILES[0]).load(&file.program).expect_err("it has a ROM there");
    assert!(refused.to_string().contains("which is ROM on a board; test it without"), "{refused}");
    let high = ":01F10000C945\n:00000001FF\n";
    std::fs::write(folder.path().join("a.hex"), high).expect("a file");
    let refused = match TestFile::parse(&folder.path().join("a.test.toml"), text, &DiskLoader) {
        Ok(_) => panic!("accepted"),
        Err(error) => error.to_string(),
    };
    assert!(refused.ends_with(":1:11: the console at F000H overlaps the program"), "{refused}");
}

#[test]
fn a_program_of_another_assembler_prints_by_its_routine_on_every_board() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    // At 8000H: LD A,41H; CALL 8006H; RET. At 8006H: NOP; NOP; NOP; RET.
    let hex = ":0A8000003E41CD0680C9000000C912\n:00000001FF\n";
    std::fs::write(folder.path().join("a.hex"), hex).expect("a file");
    std::fs::write(folder.path().join("a.sym"), "8006 PUTC\n").expect("a file");
    let text = "program = \"a.hex\"\nsymbols = \"a.sym\"\nconsole = { routine = \"PUTC\" }\n[[case]]\n\
                name = \"a\"\ncall = 0x8000\nexpect.console = \"A\"";
    let file = TestFile::parse(&folder.path().join("a.test.toml"), text, &DiskLoader);
    let file = file.unwrap_or_else(|error| panic!("{error}"));
    for profile in PROFILES {
        let mut board = board(profile);
        board.load(&file.program).unwrap_or_else(|error| panic!("{profile}: {error}"));
        let results = results(&file, &mut board);
        assert_eq!(results[0].verdict, Verdict::Pass, "{profile}: {results:?}");
    }
}

#[test]
fn a_wrong_console_is_located() {
    let folder = folder("RUN:\tCALL PUTC\n\tRET\nPUTC:\tRET\nNEXT:\tRET");
    let call = "[[case]]\nname = \"one\"\ncall = \"RUN\"";
    for (text, expected) in [
        (
            "console = \"uart\"".to_owned(),
            "2:11: console: expected \"cpm\", { routine = \"PUTC\" } or",
        ),
        ("console = {}".to_owned(), "2:11: console: expected \"cpm\", { routine"),
        ("console = { port = 256 }".to_owned(), "2:20: port: 256 does not fit"),
        ("console = { prot = 1 }".to_owned(), "2:13: unknown key 'prot': expected one of routine"),
        ("console = { routine = \"NONE\" }".to_owned(), "2:11: console: unknown label 'NONE'"),
        (
            "console = { routine = \"PUTC\" }".to_owned(),
            "2:11: console: PUTC has less than 3 bytes",
        ),
        (format!("{call}\nexpect.console = \"A\""), "5:18: console: the file has none: expected"),
        (format!("{call}\ninput = \"A\""), "5:9: input: expected console = \"cpm\" or"),
        (
            format!("console = \"cpm\"\n{call}\ninput = \"{}\"", "X".repeat(513)),
            "6:9: input: expected up to 512 bytes",
        ),
        (
            format!("console = \"cpm\"\n{call}\nexpect.console = \"{}\"", "X".repeat(1025)),
            "6:18: console: expected up to 1024 bytes",
        ),
    ] {
        let error = match parse(folder.path(), &text) {
            Ok(_) => panic!("accepted: {text}"),
            Err(error) => error.to_string(),
        };
        assert!(error.contains(&format!("prog.test.toml:{expected}")), "{text}\n  {error}");
    }
    let longest = format!("console = \"cpm\"\n{call}\ninput = \"{}\"", "X".repeat(512));
    assert!(parse(folder.path(), &longest).is_ok());
    assert_eq!(case("RUN:\tRET", ""), [""; 0], "no file needs a console");
}
