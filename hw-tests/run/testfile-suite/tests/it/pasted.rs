//! The case that a failing property prints finds what the property found.

use crate::seeded::Rng;
use testfile_suite::{TestOptions, TestResult, Verdict};

use crate::{folder, parse, run};

/// Runs the only test of a file, with the contracts of its source.
fn run_with_contracts(source: &str, text: &str, seed: u64) -> TestResult {
    let folder = folder(source);
    let file = parse(folder.path(), text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let contracts = file.contracts(&folder.path().join("prog.asm")).expect("a source");
    let mut machine = file.program.machine();
    let mut results = Vec::new();
    let contracts = contracts.unwrap_or_default();
    let options = TestOptions { seed: Some(seed), contracts: &contracts, ..TestOptions::default() };
    run(&file, &mut machine, &options, &mut |result| results.push(result))
        .unwrap_or_else(|error| panic!("{error}\n{text}"));
    results.remove(0)
}

fn found(result: &TestResult) -> Vec<String> {
    result.differences.iter().map(ToString::to_string).collect()
}

/// Returns the case of a property that fails, after a check that it finds the same.
fn pasted(source: &str, header: &str, property: &str, seed: u64) -> Option<(String, Vec<String>)> {
    let text = format!("{header}\n[[property]]\nname = \"p\"\n{property}\n");
    let failed = run_with_contracts(source, &text, seed);
    if failed.verdict != Verdict::Fail {
        return None;
    }
    let case = failed.details.case.clone().unwrap_or_else(|| panic!("no case: {failed:?}"));
    let again = run_with_contracts(source, &format!("{header}\n{case}"), seed);
    assert_eq!(found(&again), found(&failed), "{source}\n{text}\n{case}");
    assert_eq!((again.verdict, &again.details.location), (Verdict::Fail, &failed.details.location));
    Some((case, found(&failed)))
}

/// A header of the file, the routine, the property, and the start of a finding.
const KINDS: &[(&str, &str, &str, &str)] = &[
    ("", "INR A\n\tRET", "args.A = \"u8\"\nexpect.A = { lt = 5 }", "A: expected less than 5"),
    ("", "ORA A\n\tRET", "args.A = \"u8\"\nexpect.flags = \"Z NC\"", "flags: expected NC Z, got"),
    ("", "ORA A\n\tRET", "args.A = \"u8\"\ncheck = [\"A == in.A\", \"FZ\"]", "check FZ: "),
    (
        "",
        "STA DATA+1\n\tRET",
        "args.A = \"u8\"\nmemory = [{ at = \"DATA\", fill = 0, size = 4 }]\nexpect.memory = [{ at \
         = \"DATA\", bytes = [0, { lt = 9 }, 0, 0] }]",
        "DATA+1: expected less than 9, got 9",
    ),
    (
        "",
        "SHLD DATA\n\tRET",
        "args.HL = \"u16\"\nexpect.memory = [{ at = \"DATA\", words = [{ ne = 0 }] }]",
        "DATA: expected not 0",
    ),
    (
        "",
        "STA DATA\n\tRET",
        "args.A = \"u8\"\nwrites = [{ at = \"DATA+1\", size = 2 }]\ncheck = \"A == in.A\"",
        "wrote 00H to 8017H, which is not among 'writes'",
    ),
    (
        "",
        "DCR A\n\tJNZ RUN\n\tRET",
        "args.A = \"1..=99\"\ntimeout = 100\nexpect.A = 0",
        "did not return within 100 T-states",
    ),
    (
        "",
        "DCR A\n\tJNZ RUN\n\tRET",
        "args.A = \"1..=9\"\nexpect = { A = 0, cycles = 50 }",
        "T-states",
    ),
    (
        "",
        "ORA A\n\tRZ\n\tPUSH B\n\tPOP B\n\tRET",
        "args.A = \"u8\"\nexpect.stack = 0",
        "bytes of stack: expected at most 0, got 2",
    ),
    (
        "stack = { size = 4 }",
        "PUSH B\n\tPUSH B\n\tPUSH B\n\tPOP B\n\tPOP B\n\tPOP B\n\tRET",
        "args.A = \"u8\"\ncheck = \"A == in.A\"",
        "used more than 4 bytes of stack",
    ),
    (
        "",
        "INR C\n\tINR A\n\tRET",
        "args.A = \"u8\"\nexpect.clobbers = \"AF\"",
        "changed registers: C",
    ),
    (
        "",
        "OUT 10H\n\tRET",
        "args.A = \"u8\"\nexpect.ports.10H = [7]",
        "writes to port 10H: expected 07, got 00",
    ),
    (
        "",
        "STA 9000H\n\tLDA 9001H\n\tRET",
        "args.A = \"u8\"\nreads = { 9001H = [3, \"...\"] }\nexpect.writes = { 9000H = [7] }",
        "writes to 9000H: expected 07, got 00",
    ),
    (
        "",
        "LDA 9001H\n\tRET",
        "args.A = \"u8\"\nreads = { 9001H = [3, \"...\"] }\nexpect.reads = { 9001H = 2 }",
        "number of reads of 9001H: expected 2, got 1",
    ),
    (
        "",
        "LDA 9000H\n\tRET",
        "args.B = \"u8\"\ncheck = \"B == in.B\"",
        "read 9000H, which nothing has written",
    ),
    (
        "allow = [\"unwritten\"]",
        "LDA 9000H\n\tADD B\n\tRET",
        "args.B = \"u8\"\ncheck = \"A == 0\"",
        "check A == 0: expected true, got false with A = 165",
    ),
    (
        "",
        "STAI\n\tLDAI\n\tRET",
        "args.A = \"1..9\"\nin = { I = 5, R = 7 }\nexpect.I = 5",
        "I: expected 5, got 1",
    ),
    ("", "OUT 11H\n\tRET", "args.A = \"u8\"\ncheck = \"A == in.A\"", "wrote 00H to port 11H"),
    (
        "",
        "IN 10H\n\tIN 10H\n\tRET",
        "args.B = \"u8\"\nports = { 10H = [0x5A] }\ncheck = \"B == in.B\"",
        "read port 10H more often",
    ),
    (
        "",
        "CALL OTHER\n\tRET",
        "args.A = \"u8\"\nmock.OTHER = { returns = [{ B = 3, flags = \"Z\" }] }\nexpect = { B = 3, \
         calls = { OTHER = 2 } }",
        "calls of OTHER: expected 2, got 1",
    ),
    (
        "",
        "NOP\n\tRET",
        "args.A = \"u8\"\ninterrupt = [{ at = 40, handler = \"ISR\", bus = 7 }]\ncheck = \"A == in.A\"",
        "returned before it accepted the interrupt at 40",
    ),
    ("", "DI\n\tRET", "args.A = \"u8\"\ncheck = \"A == in.A\"", "returned with interrupts off"),
    (
        "",
        "DI\n\tADD A\n\tRET",
        "args.A = \"u8\"\ninterrupts = \"any\"\ncheck = \"out.A == in.A\"",
        "check out.A == in.A: ",
    ),
    (
        "",
        "RET",
        "args.A = \"u8\"\nas = \"interrupt\"\nexpect.A = 0",
        "returned with interrupts off",
    ),
    (
        "",
        "NOP\nSTOP:\tINR A\n\tRET",
        "args.A = \"u8\"\nuntil = \"STOP\"\ncheck = \"SP != in.SP\"",
        "check SP != in.SP: ",
    ),
    ("", "STA 0E000H\n\tRET", "args.A = \"u8\"\ncheck = \"A == in.A\"", "wrote 00H to E000H"),
    ("", "STA RUN\n\tRET", "args.A = \"u8\"\ncheck = \"A == in.A\"", "wrote 00H in program memory"),
    (
        "",
        "POP H\n\tPUSH H\n\tPUSH H\n\tRET",
        "args.A = \"u8\"\nin.BC = \"OTHER\"\ncheck = \"A == 300\"",
        "returned with the stack pointer at",
    ),
    ("", "HLT\n\tRET", "args.A = \"u8\"\ncheck = \"A == in.A\"", "did not return: HALT"),
    ("", "JMP 0E000H", "args.A = \"u8\"\ncheck = \"A == in.A\"", "did not return: went to E000H"),
    // Registers that overlap, whatever their order in a file.
    (
        "",
        "RET",
        "args.H = \"1..9\"\nin = { HL = 0x1234, PSW = 0x0102 }\nexpect.HL = 0",
        "HL: expected 0",
    ),
    (
        "",
        "RET",
        "args.HL = \"1..9\"\nin = { L = 77, \"C'\" = 3 }\nexpect.HL = 0",
        "HL: expected 0, got 1",
    ),
    (
        "",
        "MOV A,M\n\tRET",
        "in.HL = \"DATA\"\narrays = [{ at = \"DATA\", length = \"1..=3\", count_in = \"B\" }]\n\
         check = \"A < 9 && B != 0\"",
        "check A < 9 && B != 0: ",
    ),
    // The setup leaves registers and memory.
    (
        "setup = [{ call = \"INIT\" }]",
        "LHLD DATA\n\tMOV A,E\n\tRET",
        "args.B = \"u8\"\ncheck = \"HL != 1234H || A != 0E4H\"",
        "check HL != 1234H",
    ),
    // Judged by another routine.
    (
        "",
        "ADD A\n\tRET",
        "args.A = \"u8\"\nsame_as = \"OTHER\"\noutputs = [\"HL\", \"A\", \"FC\", \"FZ\"]",
        "A: expected 1, got 0",
    ),
    (
        "",
        "ADD A\n\tRET",
        "args.A = \"u8\"\nsame_as = \"OTHER\"\noutputs = [\"A\"]\nexpect = { A = { ge = 0 }, flags = \
         \"Z\" }",
        "check out.A == 1: expected true",
    ),
    (
        "",
        "ADI 5\n\tRET",
        "args.A = \"u8\"\nsame_as = \"OTHER\"\noutputs = [\"FC\", \"FZ\"]\nexpect.flags = \"NC\"",
        "check out.FC == 1: expected true",
    ),
    (
        "",
        "INR A\n\tINR C\n\tRET",
        "args.A = \"u8\"\nsame_as = \"OTHER\"\noutputs = [\"A\", \"FZ\"]\nexpect.clobbers = \"\"",
        "changed registers: C",
    ),
    (
        "",
        "XRA A\n\tRET",
        "args.A = \"u8\"\nin.E = 1\nsame_as = \"LATE\"\noutputs = [\"A\"]\ntimeout = 200\nexpect.B = 1",
        "B: expected 1",
    ),
    (
        "",
        "XRA A\n\tRET",
        "args.A = \"u8\"\nsame_as = \"LATE\"\noutputs = [\"A\"]\ntimeout = 200",
        "did not return within 200 T-states",
    ),
    // Judged by a program.
    (
        "",
        "STA DATA\n\tRET",
        "args.A = \"u8\"\nexpect.memory = [{ at = \"DATA+9\", bytes = [{ ge = 0 }] }]\nreference = \
         [\"sh\", \"-c\", \"\"\"while read line; do echo '{\\\"A\\\": 300, \\\"memory\\\": {\\\"DATA\\\": \
         [1]}}'; done\"\"\"]",
        "DATA: expected 1, got 0",
    ),
    // A contract in the source.
    ("", "PUSH B\n\tPOP B\n\tINR A\n\tRET", "args.A = \"u8\"\ncheck = \"A >= 0\"", "Stack of RUN"),
    (
        "console = { routine = \"OTHER\" }",
        "CALL OTHER\n\tRET",
        "args.A = \"0..=9\"\nexpect.console = \"\\u0001\\\"\"",
        "console: expected",
    ),
    (
        "console = { port = 0x20 }",
        "IN 20H\n\tOUT 20H\n\tRET",
        "args.C = \"u8\"\ninput = \"\\u0085\"\nexpect.console = \"b\"",
        "console: expected \"b\", got",
    ),
];

fn program(body: &str) -> String {
    let contract = match body.starts_with("PUSH B\n\tPOP B\n\tINR A") {
        true => "; RUN - does something.\n;   Stack:    0 bytes\n",
        false => "",
    };
    format!(
        "{contract}RUN:\t{body}\nOTHER:\tINR A\n\tNOP\n\tRET\nLATE:\tJMP LATE\nISR:\tEI\n\tRETI
INIT:\tLXI H,1234H\n\tSHLD DATA\n\tLXI D,99\n\tRET\nDATA:\t.BLKB 16"
    )
}

#[test]
fn each_kind_of_failure_is_found_by_the_pasted_case() {
    for (header, body, lines, finding) in KINDS {
        let property = format!("call = \"RUN\"\n{lines}");
        let failed = pasted(&program(body), header, &property, 1);
        let (case, found) = failed.unwrap_or_else(|| panic!("{body}\n{lines}: passed"));
        assert!(found.iter().any(|one| one.starts_with(finding)), "{lines}: {found:?}\n{case}");
    }
}

#[test]
fn the_pasted_case_names_labels_as_the_property_does() {
    let lines = "call = \"RUN\"\nin.BC = \"DATA+2\"\nuntil = \"OTHER-1\"\nmemory = [{ at = \"DATA\", \
                 words = [0x1F, \"RUN\"] }]\narrays = [{ at = \"DATA+8\", length = \"1..=2\" \
                 }]\ntimeout = 0x200\nwrites = [{ at = \"DATA\", size = 16 }]\ntags = \
                 [\"slow\"]\ncheck = \"FZ && !FZ\"";
    let (case, _) = pasted(&program("NOP\n\tRET"), "", lines, 1).expect("it fails");
    for line in [
        "in = { BC = \"DATA+2\" }",
        "until = \"OTHER-1\"",
        "memory = [{ at = \"DATA\", words = [0x1F, \"RUN\"] }, { at = \"DATA+8\", bytes = [0] }]",
        "timeout = 0x200",
        "writes = [{ at = \"DATA\", size = 16 }]",
        "tags = [\"slow\"]",
    ] {
        assert!(case.lines().any(|one| one == line), "{line}\n{case}");
    }
}

#[test]
fn a_setup_that_fails_is_found_by_properties_as_by_cases() {
    let header = "setup = [{ call = \"INIT\", expect.HL = 1 }]";
    let test = "name = \"p\"\ncall = \"RUN\"\n";
    let case = run_with_contracts(&program("RET"), &format!("{header}\n[[case]]\n{test}"), 1);
    let property = format!("{header}\n[[property]]\n{test}args.A = \"u8\"\ncheck = \"A >= 0\"");
    let property = run_with_contracts(&program("RET"), &property, 1);
    assert_eq!(found(&property), ["HL: expected 1, got 4660 (1234H)"]);
    assert_eq!((found(&property), property.verdict), (found(&case), case.verdict));
}

/// Parts of generated properties: each may be there or not.
const PARTS: &[&[&str]] = &[
    &[
        "in.HL = \"DATA\"",
        "in = { H = 1, L = 2, DE = 0x0304 }",
        "in = { HL = 5, flags = \"C NZ\" }",
    ],
    &[
        "args.L = \"u8\"",
        "args = { HL = \"u16\", B = [1, 9] }",
        "args = { A = \"0..40\", H = \"u8\" }",
    ],
    &[
        "memory = [{ at = \"DATA\", bytes = [1, 2] }]",
        "memory = [{ at = \"DATA+1\", text = \"é\" }]",
    ],
    &["arrays = [{ at = \"DATA\", length = \"0..=4\", byte = \"u8\", count_in = \"C\" }]"],
    &["writes = [{ at = \"DATA\", size = 3 }]", "interrupts = \"any\""],
    &["timeout = 60", "timeout = 600"],
    &[
        "interrupt = [{ at = 9, handler = \"ISR\" }]",
        "interrupt = [{ at = 0, period = 70, handler = \"ISR\" }]",
    ],
    &[
        "same_as = \"OTHER\"\noutputs = [\"A\", \"FC\", \"HL'\"]",
        "same_as = \"LATE\"\noutputs = [\"E\"]",
    ],
    &["ports = { 10H = [3, 4] }"],
    &["check = \"A != 7 && cycles < 99\"", "check = [\"[DATA] < 80\", \"SP == in.SP\"]"],
    &[
        "expect = { A = { lt = 90 }, flags = \"NZ\", stack = 0 }",
        "expect.memory = [{ at = \"DATA\", words = [{ ne = 258 }] }]\nexpect.clobbers = \"AF HL\"",
        "expect = { HL = { ge = 3 }, cycles = { le = 70 }, ports = { 10H = [] } }",
    ],
];
const BODIES: &[&str] = &[
    "ADD L",
    "STA DATA+3",
    "MOV A,M",
    "INR M",
    "PUSH H\n\tPOP D",
    "IN 10H",
    "OUT 10H",
    "DI",
    "EI",
    "CALL OTHER",
    "DCR B\n\tJNZ RUN",
    "SHLD DATA",
    "EXX",
    "XRA A",
    "INX D",
];

#[test]
fn generated_properties_are_found_by_their_pasted_cases() {
    let mut failed = 0;
    for seed in 0..100 {
        let mut rng = Rng::from_seed(seed);
        let body: Vec<_> = (0..4).map(|_| BODIES[rng.below(BODIES.len())]).collect();
        let mut lines = vec!["call = \"RUN\"\ncases = 20"];
        for (index, part) in PARTS.iter().enumerate() {
            // Arguments, a short timeout and a check are always there.
            if matches!(index, 1 | 5 | 9) || rng.below(3) == 0 {
                lines.push(part[rng.below(part.len())]);
            }
        }
        let source = program(&format!("{}\n\tRET", body.join("\n\t")));
        let header = ["", "setup = [{ call = \"INIT\" }]"][rng.below(2)];
        failed += usize::from(pasted(&source, header, &lines.join("\n"), seed).is_some());
    }
    assert!(failed > 30, "{failed} of 100 fail");
}
