//! What a routine must not do is found without being expected.

use crate::case;

#[track_caller]
fn finds(source: &str, lines: &str, finding: &str) {
    let found = case(source, lines);
    assert!(found.iter().any(|one| one.contains(finding)), "{source}\n{found:?}");
}

#[test]
fn a_routine_that_loops_is_stopped_at_its_timeout() {
    let finding = "did not return within 1000 T-states; last at 8000H, RUN (prog.asm:2)";
    finds("RUN:\tJMPR RUN", "timeout = 1000", finding);
}

#[test]
fn a_routine_that_halts_or_leaves_the_program_is_stopped() {
    finds("RUN:\tNOP\n\tHLT", "", "did not return: HALT at 8001H, RUN+1 (prog.asm:3)");
    let left = "did not return: went to 0000H, outside of the program, from 8000H, RUN";
    finds("RUN:\tJMP 0", "", left);
    let source = "RUN:\tLXI H,4000H\n\tXTHL\n\tRET";
    finds(source, "", "went to 4000H, outside of the program, from 8004H, RUN+4 (prog.asm:4)");
}

#[test]
fn code_is_not_written_and_data_is() {
    let source = "RUN:\tMVI A,0C9H\n\tSTA NEXT\nNEXT:\tNOP\n\tSTA DATA\n\tRET\nDATA:\t.BYTE 0";
    let found = case(source, "");
    assert_eq!(
        found,
        [
            "wrote C9H in program memory, 8005H, NEXT (prog.asm:4) at 8002H, RUN+2 (prog.asm:3): if it \
          is meant, allow = [\"code-writes\"]"
        ]
    );
}

#[test]
fn only_declared_memory_is_written() {
    let source = "RUN:\tSTA DATA+1\n\tPUSH H\n\tPOP H\n\tRET\nDATA:\t.BLKB 2";
    assert_eq!(case(source, "writes = [{ at = \"DATA\", size = 2 }]"), [""; 0]);
    finds(source, "writes = [{ at = \"DATA\" }]", "which is not among 'writes' at 8000H, RUN");
}

#[test]
fn the_stack_is_bounded_and_balanced() {
    let deep = "RUN:\tMVI B,200\nGROW:\tPUSH H\n\tDJNZ GROW\n\tMVI B,200\nBACK:\tPOP H
\tDJNZ BACK\n\tRET";
    finds(deep, "", "used more than 256 bytes of stack");
    let lost = "RUN:\tPOP H\n\tPOP D\n\tPCHL";
    finds(lost, "", "returned with the stack pointer at FF02H instead of FF00H");
}

#[test]
fn interrupts_are_on_and_the_mode_is_kept() {
    finds("RUN:\tDI\n\tRET", "", "returned with interrupts off");
    finds("RUN:\tIM2\n\tRET", "", "changed interrupt mode or register I");
    finds("RUN:\tMVI A,1\n\tSTAI\n\tRET", "", "changed interrupt mode or register I");
    assert_eq!(case("RUN:\tDI\n\tEI\n\tRET", ""), [""; 0]);
    assert_eq!(case("RUN:\tDI\n\tRET", "interrupts = \"any\""), [""; 0]);
}

#[test]
fn only_memory_of_program_and_test_is_written() {
    let source = "RUN:\tSTA 9000H\n\tSTA SPACE\n\tRET\n\t.LOC .DATA.\nSPACE:\t.BLKB 2";
    let finding =
        "wrote 5AH to 9000H, which neither the program nor the test declares at 8000H, RUN";
    finds(source, "", finding);
    for lines in [
        "memory = [{ at = 0x9000, bytes = [1] }]",
        "expect = { memory = [{ at = 0x9000, bytes = [0x5A] }] }",
        "writes = [{ at = 0x9000 }, { at = \"SPACE\" }]",
    ] {
        assert_eq!(case(source, lines), [""; 0], "{lines}");
    }
}

#[test]
fn only_named_ports_are_used() {
    let source = "RUN:\tIN 81H\n\tOUT 80H\n\tRET";
    finds(source, "ports = { 80H = [] }", "read port 81H, which is not among 'ports' at 8000H");
    finds(source, "ports = { 81H = [1] }", "wrote 01H to port 80H, which is not among 'ports'");
    let lines = "ports = { 81H = [7] }\nexpect = { ports = { 80H = [7] } }";
    assert_eq!(case(source, lines), [""; 0]);
}

#[test]
fn interrupts_may_be_off_for_two_characters() {
    // 13 T-states a turn, 1,280 at most.
    let source = |turns| format!("RUN:\tDI\n\tMVI B,{turns}\nWAIT:\tDJNZ WAIT\n\tEI\n\tRET");
    assert_eq!(case(&source(98), ""), [""; 0]);
    finds(
        &source(99),
        "",
        "kept interrupts off for 1293 T-states instead of at most 1280 at 8005H",
    );
    assert_eq!(case(&source(99), "interrupts = \"any\""), [""; 0]);
}
