//! What only a simulated machine observes: reads of unwritten memory, what is executed, accesses to
//! memory-mapped registers, I and R.

use crate::case;

/// Asserts the only finding of a case, which `allow` with this word removes.
#[track_caller]
fn allows(word: &str, source: &str, finding: &str) {
    let found = case(source, "");
    assert!(found.len() == 1 && found[0].contains(finding), "{source}\n{found:?}");
    assert!(found[0].ends_with(&format!("allow = [\"{word}\"]")), "{found:?}");
    assert_eq!(case(source, &format!("allow = [\"{word}\"]")), [""; 0], "{source}");
}

#[test]
fn memory_that_nothing_has_written_is_not_read() {
    let source = "RUN:\tLDA COUNT\n\tRET\nCOUNT:\t.BLKB 1";
    let finding = "read 8004H, which nothing has written at 8000H, RUN (prog.asm:2): set it by";
    allows("unwritten", source, finding);
    assert_eq!(case(source, "memory = [{ at = \"COUNT\", bytes = [1] }]"), [""; 0]);
    let written = "RUN:\tSTA COUNT\n\tLDA COUNT\n\tPUSH H\n\tPOP D\n\tRET\nCOUNT:\t.BLKB 1";
    assert_eq!(case(written, ""), [""; 0]);
    let mocked = "RUN:\tCALL GET\n\tLDA COUNT\n\tRET\nGET:\tHLT\n\tNOP\n\tNOP\nCOUNT:\t.BLKB 1";
    let mock = "mock.GET.returns.memory = [{ at = \"COUNT\", bytes = [1] }]";
    assert_eq!(case(mocked, mock), [""; 0]);
}

#[test]
fn each_case_and_each_instruction_is_checked_for_itself() {
    let source = "RUN:\tLDA COUNT\n\tSTA COUNT\nLOOP:\tLDAX D\n\tINX D\n\tDJNZ LOOP\n\tRET
COUNT:\t.BLKB 9\n";
    let one = |more: &str| {
        format!("[[case]]\nname = \"{more}\"\ncall = \"RUN\"\nin = {{ B = 3, DE = \"COUNT+1\" }}\n")
    };
    let found = crate::results(source, &[one("a"), one("b")].concat());
    let texts: Vec<Vec<String>> = found
        .iter()
        .map(|result| result.differences.iter().map(|one| one.subject.clone()).collect())
        .collect();
    assert_eq!(texts[0].len(), 2, "one for each instruction: {texts:?}");
    assert_eq!(texts[0], texts[1], "memory is unwritten again");
}

#[test]
fn a_block_that_is_copied_stays_unwritten() {
    let copy = "RUN:\tLXI H,FROM\n\tLXI D,TO\n\tLXI B,4\n\tLDIR\n";
    let space = "\tRET\nFROM:\t.BLKB 4\nTO:\t.BLKB 4";
    assert_eq!(case(&format!("{copy}{space}"), ""), [""; 0]);
    let used = format!("{copy}\tLDA TO+2\n{space}");
    let found = case(&used, "memory = [{ at = \"FROM\", bytes = [1, 2] }]");
    assert!(found.len() == 1 && found[0].contains("at 800BH, RUN+11 (prog.asm:6)"), "{found:?}");
    let whole = "memory = [{ at = \"FROM\", bytes = [1, 2, 3, 4] }]\nexpect.A = 3";
    assert_eq!(case(&used, whole), [""; 0]);
}

#[test]
fn data_is_not_executed_and_instructions_as_bytes_are() {
    let finding = "executed data at 8001H, RUN+1 (prog.asm:3): look for a missing return";
    allows("data", "RUN:\tNOP\nTEXT:\t.BYTE 0,0\n\tRET", finding);
    // SLLR A, which this assembler lacks; a jump over two bytes; a text after a call.
    for source in [
        "RUN:\tMVI A,2\n\t.BYTE 0CBH,37H\n\tRET",
        "RUN:\t.BYTE 21H\nNEXT:\tMVI A,5\n\tRET",
        "RUN:\tCALL PRINT\n\t.BYTE 1,0\n\tRET\nPRINT:\tXTHL\n\tINX H\n\tINX H\n\tXTHL\n\tRET",
    ] {
        assert_eq!(case(source, ""), [""; 0], "{source}");
    }
}

#[test]
fn code_that_a_routine_makes_runs_if_that_is_allowed() {
    let source = "RUN:\tMVI A,0C9H\n\tSTA SPACE\n\tCALL SPACE\n\tRET\nSPACE:\t.BLKB 1";
    let found = case(source, "");
    assert!(found[0].contains("went to 8009H, outside of the program"), "{found:?}");
    assert_eq!(case(source, "allow = [\"data\"]"), [""; 0]);
    let found = case("RUN:\tJMP 9000H", "allow = [\"data\"]");
    assert!(found[0].contains("went to 9000H, outside of the program"), "{found:?}");
}

#[test]
fn bytes_that_are_no_instruction_are_not_executed() {
    let finding = "executed ED 00, which is no instruction at 8001H, RUN+1 (prog.asm:3)";
    allows("no-instruction", "RUN:\tNOP\n\t.BYTE 0EDH,0\n\tRET", finding);
    let prefix = "executed DD 00, which is no instruction at 8001H";
    allows("no-instruction", "RUN:\tNOP\n\t.BYTE 0DDH,0\n\tRET", prefix);
}

#[test]
fn instructions_do_not_begin_within_others() {
    // 8000H: JR 8004H, within the instruction at 8003H.
    let source = "RUN:\tJMPR .+4\n\tNOP\nLOAD:\tLXI H,0\n\tRET";
    let finding = "jumped into the middle of the instruction at 8003H, LOAD (prog.asm:4) at 8004H, \
                   LOAD+1 (prog.asm:4)";
    allows("overlap", source, finding);
    let labelled = "RUN:\tJMPR INNER\n\tNOP\nLOAD:\tLXI H,0\nINNER\t== LOAD+1\n\tRET";
    assert_eq!(case(labelled, ""), [""; 0], "a label there is meant");
}

#[test]
fn code_that_changes_itself_is_allowed_and_checked_again() {
    let source = "RUN:\tMVI A,7\n\tSTA PATCH+1\nPATCH:\tMVI B,0\n\tRET";
    let found = case(source, "");
    assert!(found[0].ends_with("if it is meant, allow = [\"code-writes\"]"), "{found:?}");
    let allowed = "allow = [\"code-writes\"]";
    assert_eq!(case(source, &format!("{allowed}\nexpect.B = 7")), [""; 0]);
    let broken = "RUN:\tCALL PATCH\n\tLXI H,0EDH\n\tSHLD PATCH\nPATCH:\tNOP\n\tNOP\n\tRET";
    let found = case(broken, allowed);
    assert!(found.len() == 1 && found[0].starts_with("executed ED 00"), "{found:?}");
}

#[test]
fn what_a_file_allows_holds_for_all_its_cases() {
    let source = "RUN:\tLDA COUNT\n\tRET\nCOUNT:\t.BLKB 1";
    let text = "[[case]]\nname = \"a\"\ncall = \"RUN\"\n";
    let allowed = format!("allow = [\"unwritten\"]\n{text}");
    assert_eq!(crate::findings(source, &allowed), [""; 0]);
    let folder = crate::folder(source);
    let error =
        crate::parse(folder.path(), &format!("allow = [\"all\"]\n{text}")).expect_err("a word");
    let words = "expected \"unwritten\" or \"data\" or \"no-instruction\" or \"overlap\" or \
                 \"code-writes\"";
    assert!(error.to_string().contains(words), "{error}");
}

/// Writes 1 and 2 to LATCH, and waits for bit 0 of STATUS.
const POLL: &str = "RUN:\tLXI H,LATCH\n\tMVI M,1\n\tMVI M,2\nWAIT:\tLDA STATUS\n\tRRC\n\tJRNC WAIT
\tRET\nLATCH\t== 9000H\nSTATUS\t== 9001H";

#[test]
fn a_mapped_register_gives_the_values_of_the_test() {
    let lines = "reads = { STATUS = [0, 0, 1] }\nexpect = { reads = { STATUS = [0, 0, 1] }, \
                 writes = { LATCH = [1, 2] } }";
    assert_eq!(case(POLL, lines), [""; 0]);
    let counts = "reads = { \"LATCH+1\" = [0, 1, \"...\"] }\nexpect = { reads = { STATUS = 2 }, writes = \
                  { LATCH = { ge = 2 } } }";
    assert_eq!(case(POLL, counts), [""; 0]);
    let found = case(POLL, "reads = { STATUS = [0] }\nexpect.writes = { LATCH = [2, 1] }");
    assert_eq!(
        found,
        [
            "read 9001H more often than there are values at 8007H, WAIT (prog.asm:5): add values to \
             'reads', or \"...\" to repeat the last",
            "writes to LATCH: expected 02 01, got 01 02",
        ]
    );
    let found =
        case(POLL, "reads = { STATUS = [1] }\nexpect = { reads.STATUS = 2, writes.LATCH = 3 }");
    assert_eq!(
        found,
        [
            "number of reads of STATUS: expected 2, got 1",
            "number of writes to LATCH: expected 3, got 2"
        ]
    );
}

#[test]
fn wrong_values_of_registers_are_errors_in_the_file() {
    let folder = crate::folder(POLL);
    for (line, message) in [
        ("reads = { NONE = [1] }", "unknown name 'NONE'"),
        ("reads = { STATUS = [\"...\"] }", "\"...\" follows the value that it repeats"),
        ("ports = { 1 = [2, \"...\", 3] }", "\"...\" is the last element"),
        ("expect.writes = { LATCH = [1, \"...\"] }", "..."),
        ("interrupt = [{ at = 1, count = 2 }]", "count: 'period' is missing"),
    ] {
        let text = format!("[[case]]\nname = \"a\"\ncall = \"RUN\"\n{line}\n");
        let error = crate::parse(folder.path(), &text).expect_err(line).to_string();
        assert!(error.contains("prog.test.toml:5:") && error.contains(message), "{line}: {error}");
    }
}

#[test]
fn i_and_r_are_set_and_compared() {
    // LD A,I; LD B,A; LD A,R: the second byte of ED 5F is the fifth that R counts.
    let source = "RUN:\tLDAI\n\tMOV B,A\n\tLDAR\n\tRET";
    let lines = "in = { I = 0x12, R = 0x80 }\nexpect = { B = 0x12, A = 0x85, I = 0x12, R = 0x86 }";
    assert_eq!(case(source, lines), [""; 0]);
    let changed = "RUN:\tMVI A,9\n\tSTAI\n\tRET";
    assert_eq!(case(changed, "expect.I = 9"), [""; 0], "a change that is expected");
    let found = case(changed, "expect.I = 8");
    assert_eq!(found, ["I: expected 8, got 9"]);
    assert_eq!(case(source, "in.I = 3\ncheck = \"I == in.I && I == 3\""), [""; 0]);
}
