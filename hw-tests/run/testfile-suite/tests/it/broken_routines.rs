//! Routines whose values are right and that damage the machine: none passes.

use testfile_suite::Verdict;

use crate::result;

/// What a routine does that it must not do, with all registers kept, and a part of the finding.
const KINDS: [(&str, &str); 15] = [
    ("DI", "returned with interrupts off"),
    // 24 T-states 6,144 times: 20 ms at 7.3728 MHz.
    (
        "PUSH PSW\n PUSH B\n DI\n LXI B,6144\nLOOP: DCX B\n MOV A,B\n ORA C\n JNZ LOOP\n EI\n \
         POP B\n POP PSW",
        "kept interrupts off for 147",
    ),
    ("IM2", "changed interrupt mode or register I"),
    ("PUSH PSW\n MVI A,12H\n STAI\n POP PSW", "changed interrupt mode or register I"),
    ("LXI SP,0D000H", "used more than 256 bytes of stack: SP D000H"),
    (
        "SSPD KEEP\n LXI SP,0FFF0H\n LSPD KEEP",
        "moved the stack pointer to FFF0H, outside its stack",
    ),
    ("POP H\n PUSH H\n PUSH H", "returned with the stack pointer at"),
    (
        "PUSH B\n SSPD KEEP\n MVI B,140\nGROW: PUSH H\n DJNZ GROW\n LSPD KEEP\n POP B",
        "used more than 256 bytes of stack",
    ),
    ("STA 0E000H", "to E000H, which neither the program nor the test declares"),
    ("PUSH PSW\n LDA DONE\n STA DONE\n POP PSW", "in program memory, "),
    ("OUT 81H", "to port 81H, which is not among 'ports'"),
    ("PUSH PSW\n IN 81H\n POP PSW", "read port 81H, which is not among 'ports'"),
    ("HLT", "did not return: HALT at"),
    ("RST 0", "went to 0000H, outside of the program"),
    ("LOOP: JMP LOOP", "did not return within 200000 T-states; last at"),
];

/// Where a routine does it: at its start, at its end, or at one call in 64.
const PLACES: [&str; 3] = [
    "RUN: @\n ADD A\nDONE: RET",
    "RUN: ADD A\n @\nDONE: RET",
    "RUN: PUSH H\n LXI H,TIMES\n DCR M\n POP H\n JNZ DONE\n @\nDONE: ADD A\n RET",
];

/// Calls with memory that stays from one to the next, so that TIMES gets to 0.
fn calls() -> String {
    let step = "{ call = \"RUN\", in = { A = 21 }, timeout = 200000, expect = { A = 42 } },\n";
    let first = "memory = [{ at = \"TIMES\", bytes = [64] }],";
    let steps =
        format!("{}{}", step.replacen("in =", &format!("{first} in ="), 1), step.repeat(63));
    format!("[[case]]\nname = \"doubles\"\nsteps = [\n{steps}]")
}

/// Returns why a routine was found wrong; `None` if its findings are not the expected one.
fn check(place: &str, damage: &str, finding: &str) -> Result<(), String> {
    let source =
        format!("{}\n .LOC .DATA.\nTIMES: .BLKB 1\nKEEP: .BLKW 1", place.replace('@', damage));
    let result = result(&source, &calls());
    let found: Vec<_> = result.differences.iter().map(ToString::to_string).collect();
    let is_found = found.iter().any(|one| one.contains(finding));
    let passes = if finding.is_empty() { Verdict::Pass } else { Verdict::Fail };
    if result.verdict == passes && (is_found || finding.is_empty()) {
        return Ok(());
    }
    Err(format!("{damage:?} in {place:?}: {:?} {found:?}", result.verdict))
}

#[test]
fn every_broken_routine_is_found_with_the_reason() {
    let all =
        PLACES.iter().flat_map(|place| KINDS.map(|(damage, finding)| (place, damage, finding)));
    let checked: Vec<_> =
        all.map(|(place, damage, finding)| check(place, damage, finding)).collect();
    assert!(checked.len() >= 40, "{}", checked.len());
    let wrong: Vec<_> = checked.into_iter().filter_map(Result::err).collect();
    assert!(wrong.is_empty(), "{} of them:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_routine_without_its_return_is_found() {
    let source = "RUN: ADD A\n .LOC .DATA.\nTIMES: .BLKB 1";
    let result = result(source, &calls());
    let found: Vec<_> = result.differences.iter().map(ToString::to_string).collect();
    assert!(
        found[0].contains("did not return: went to 8001H, outside of the program"),
        "{found:?}"
    );
}

#[test]
fn the_same_routines_without_damage_pass() {
    for place in PLACES {
        check(place, "NOP", "").unwrap_or_else(|found| panic!("{found}"));
    }
}
