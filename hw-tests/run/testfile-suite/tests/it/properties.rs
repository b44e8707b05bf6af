//! Properties: planted bugs are found and simplified; all inputs are tried where that is asked.

use std::sync::Arc;

use testfile_suite::{TestCase, TestOptions, Verdict, run_one};

use crate::{folder, parse, result, results, run_seeded};

/// Adds A and B, but not if HL is 0BEEFH.
const RARE: &str = "RUN:\tMOV A,H\n\tCPI 0BEH\n\tJRNZ GOOD\n\tMOV A,L\n\tCPI 0EFH\n\tJRNZ GOOD
\tLXI D,0\n\tRET\nGOOD:\tMOV D,H\n\tMOV E,L\n\tINX D\n\tRET";

fn property(lines: &str) -> String {
    format!("[[property]]\nname = \"p\"\ncall = \"RUN\"\n{lines}")
}

#[test]
fn one_wrong_input_of_65536_is_found_by_trying_all() {
    let text =
        property("args.HL = \"u16\"\nexhaustive = true\ncheck = \"DE == (HL + 1) & 0FFFFH\"");
    let result = result(RARE, &text);
    let reason = "input 48880 in ascending order: HL = 48879"; // 0BEEFH
    assert_eq!((result.verdict, result.reason.as_deref()), (Verdict::Fail, Some(reason)));
    assert_eq!(result.differences.len(), 1);
    let right = RARE.replace("LXI D,0", "LXI D,0BEF0H");
    let result = crate::result(&right, &text);
    assert_eq!((result.verdict, result.details.calls), (Verdict::Pass, 65536), "{result:?}");
}

#[test]
fn a_bug_from_a_limit_on_is_shrunk_to_the_limit_with_any_seed() {
    // HL becomes 0 from 12345 (3039H) on.
    let source = "RUN:\tLXI D,3039H\n\tPUSH H\n\tORA A\n\tDSBC D\n\tPOP H\n\tRC\n\tLXI H,0\n\tRET";
    let text = property("args = { HL = \"u16\", B = \"1..=9\" }\ncheck = \"out.HL == in.HL\"");
    for seed in 0..20 {
        let results = run_seeded(source, &text, Some(seed));
        let reason = results[0].reason.clone().expect("a reason");
        assert!(reason.ends_with(": HL = 12345, B = 1"), "seed {seed}: {reason}");
    }
}

#[test]
fn a_failing_input_is_printed_as_a_case_that_fails() {
    let source = "RUN:\tMOV A,B\n\tCPI 100\n\tRC\n\tINR A\n\tRET";
    let text = property(
        "args = { B = \"u8\" }\nin = { \"C'\" = 3, flags = \"C NZ\" }\ncheck = \"A == B\"",
    );
    let failed = result(source, &text);
    let case = failed.details.case.expect("a case");
    assert!(case.contains("B = 100") && case.contains("\"C'\" = 3"), "{case}");
    let again = result(source, &case);
    assert_eq!(again.verdict, Verdict::Fail, "{case}");
    let found: Vec<_> = again.differences.iter().map(ToString::to_string).collect();
    assert_eq!(found, ["check A == B: expected true, got false with A = 101, B = 100"]);
}

#[test]
fn two_routines_are_compared_by_their_outputs() {
    let source = "RUN:\tMOV A,B\n\tADD A\n\tRET\nSLOW:\tMOV A,B\n\tADD B\n\tCPI 0A0H\n\tRNZ
\tXRA A\n\tRET";
    let text =
        property("args.B = \"u8\"\nexhaustive = true\nsame_as = \"SLOW\"\noutputs = [\"A\"]");
    let failed = result(source, &text);
    assert_eq!(failed.differences[0].to_string(), "A: expected 0, got 160 (A0H)");
    let case = failed.details.case.expect("a case");
    assert!(case.contains("expect = { A = 0 }") && case.contains("B = 80"), "{case}");
}

#[test]
fn arrays_are_generated_and_shrunk() {
    // Fails if a byte is 7 or more.
    let source = "RUN:\tLXI H,DATA\n\tINR B\nNEXT:\tDCR B\n\tRZ\n\tMOV A,M\n\tINX H\n\tCPI 7
\tJRC NEXT\n\tMVI C,1\n\tRET\nDATA:\t.BLKB 32";
    let text = property(
        "in.C = 0\narrays = [{ at = \"DATA\", length = \"0..=32\", count_in = \"B\" }]\n\
         check = \"out.C == 0\"",
    );
    for seed in 0..5 {
        let result = &run_seeded(source, &text, Some(seed))[0];
        let reason = result.reason.clone().expect("a reason");
        assert!(reason.ends_with(": DATA = [7]"), "seed {seed}: {reason}");
    }
}

#[test]
fn inputs_fulfil_the_assumption() {
    let source = "RUN:\tMOV A,B\n\tSUB C\n\tRET";
    let args = "args = { B = \"u8\", C = \"u8\" }\n";
    let right = property(&format!("{args}assume = \"B >= C\"\ncheck = \"A == B - C && !FC\""));
    assert_eq!(result(source, &right).verdict, Verdict::Pass);
    let never = property(&format!("{args}assume = \"B > 255\"\ncheck = \"A == 0\""));
    let result = result(source, &never);
    assert_eq!(result.verdict, Verdict::Fail);
    assert!(
        result.differences[0].subject.starts_with("'assume' holds for only 0 of"),
        "{result:?}"
    );
}

#[test]
fn the_same_seed_gives_the_same_inputs_and_is_reported() {
    let source = "RUN:\tMOV A,B\n\tORI 8\n\tRET";
    let text = property("args.B = \"u8\"\ncheck = \"A == B\"\nseed = 7");
    let [one, two] = [(); 2].map(|()| run_seeded(source, &text, None));
    assert_eq!(one, two);
    assert!(one[0].reason.as_deref().is_some_and(|reason| reason.contains("seed 7")), "{one:?}");
    let other = results(source, &text);
    assert!(other[0].reason.as_deref().is_some_and(|reason| reason.contains("seed 1,")));
}

#[test]
fn guards_apply_to_every_input_of_a_property() {
    let source = "RUN:\tMOV A,B\n\tCPI 200\n\tRC\n\tDI\n\tRET";
    let text = property("args.B = \"u8\"\nexhaustive = true\ncheck = \"A == B\"");
    let result = result(source, &text);
    assert_eq!(result.differences[0].to_string(), "returned with interrupts off");
    assert_eq!(result.reason.as_deref(), Some("input 201 in ascending order: B = 200"));
}

#[test]
fn an_exhaustive_property_of_more_than_65536_inputs_is_several_cases() {
    let text = "[[property]]\nname = \"all\"\ncall = \"RUN\"\nargs = { A = \"u8\", BC = \
                \"0..=299\" }\nexhaustive = true\ncheck = \"out.A != 255\"";
    let folder = folder("RUN:\tRET");
    let file = Arc::new(parse(folder.path(), text).unwrap_or_else(|error| panic!("{error}")));
    let cases = TestCase::all(&file, &Vec::new().into());
    let names: Vec<_> =
        cases.iter().filter_map(|case| case.id.rsplit_once("::")).map(|(_, name)| name).collect();
    assert_eq!(names, ["all part 1/2", "all part 2/2"]);
    // 256 times 300 inputs; the first with A = 255 is 255 times 300 and one.
    let results = cases.iter().map(|case| {
        let options = TestOptions { inputs: case.inputs.clone(), ..TestOptions::default() };
        let mut machine = file.program.machine();
        run_one(&file, case.index, &mut machine, &options).unwrap_or_else(|error| panic!("{error}"))
    });
    let reasons = results.map(|result| (result.verdict, result.details.tried.or(result.reason)));
    let reasons: Vec<_> = reasons.collect();
    let passed = (Verdict::Pass, Some("inputs 1 to 65536 of 76800".to_owned()));
    let reason = "input 76501 in ascending order: A = 255, BC = 0".to_owned();
    assert_eq!(reasons, [passed, (Verdict::Fail, Some(reason))]);
}
