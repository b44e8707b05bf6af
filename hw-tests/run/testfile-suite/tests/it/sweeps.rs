//! Interrupts at several T-states: what one case finds is what a case for each T-state finds.

use std::cell::RefCell;
use std::ops::RangeInclusive;

use crate::seeded::Rng;
use testfile_suite::{TestOptions, TestResult, Verdict};

use crate::{folder, parse, result, results, run};

/// Interrupt routines, whose interrupts COUNT combines with what B was: its value differs for
/// almost all T-states of them. `SLOW` takes longer than most periods.
const HANDLERS: &str = "ISR:\tPUSH PSW\n\tPUSH H\n\tCALL ADD\n\tPOP H\n\tPOP PSW\n\tEI\n\tRETI
SLOW:\tPUSH B\n\tMVI B,9\nSPIN:\tDJNZ SPIN\n\tPOP B\n\tJMPR ISR
NMI:\tPUSH PSW\n\tPUSH H\n\tCALL ADD\n\tPOP H\n\tPOP PSW\n\tRETN
ADD:\tLHLD COUNT\n\tDAD H\n\tDAD B\n\tINX H\n\tSHLD COUNT\n\tRET
COUNT:\t.WORD 0\nFLAG:\t.BYTE 0";

fn pick<'t>(rng: &mut Rng, all: &[&'t str]) -> &'t str {
    all[rng.below(all.len())]
}

/// A routine of a few instructions and a loop, some of them with interrupts off, that returns COUNT
/// in HL.
fn routine(rng: &mut Rng) -> String {
    let parts = [
        "NOP",
        "INR C",
        "DI",
        "EI",
        "DI\n\tNOP\n\tXTHL\n\tXTHL\n\tEI",
        "LHLD COUNT\n\tINX H\n\tSHLD COUNT",
        "PUSH B\n\tPOP B",
        "LDA FLAG\n\tORA A\n\tRNZ",
    ];
    let count = 1 + rng.below(5);
    let parts: Vec<_> = (0..count).map(|_| pick(rng, &parts)).collect();
    let (turns, last) = (1 + rng.below(100), pick(rng, &["EI", "EI", "EI", "NOP"]));
    format!(
        "RUN:\tMVI B,{turns}\n\t{}\nWAIT:\tDJNZ WAIT\n\t{last}\n\tLHLD COUNT\n\tRET\n{HANDLERS}",
        parts.join("\n\t")
    )
}

/// An interrupt without its T-states.
fn interrupt(rng: &mut Rng) -> String {
    let (kind, handler) = match rng.below(4) {
        0 => ("nmi", "NMI"),
        1 => ("int", "SLOW"),
        _ => ("int", "ISR"),
    };
    let period = match rng.below(2) {
        0 => String::new(),
        _ => format!(", period = {}", 400 + rng.below(200)),
    };
    format!("kind = \"{kind}\", handler = \"{handler}\"{period}")
}

/// A case whose interrupt comes at `at`, a value of TOML.
fn case(name: &str, at: &str, swept: &str, others: &str, lines: &str) -> String {
    format!(
        "[[case]]\nname = \"{name}\"\ncall = \"RUN\"\ninterrupt = [{{ at = {at}, {swept} \
         }}{others}]\ntimeout = 9000\n{lines}\n"
    )
}

/// Verdict and findings.
fn found(result: &TestResult) -> (Verdict, Vec<String>) {
    (result.verdict, result.differences.iter().map(ToString::to_string).collect())
}

/// Compares a case at `at` with one for each of the T-states. One of the values that HL has then is
/// wrong. Returns the verdict.
fn compare(rng: &mut Rng, at: &str, times: RangeInclusive<u64>, source: &str) -> Verdict {
    let swept = interrupt(rng);
    let others = match rng.below(3) {
        0 => format!(", {{ at = {}, {} }}", rng.below(60), interrupt(rng)),
        _ => String::new(),
    };
    let any = pick(rng, &["", "interrupts = \"any\"\n"]);
    // Nothing returns this.
    let value = times.start() + rng.below((times.end() - times.start() + 1) as usize) as u64;
    let lines = format!("{any}expect.HL = {{ lt = 0 }}");
    let sample = result(source, &case("sample", &value.to_string(), &swept, &others, &lines));
    let wrong = sample.differences.iter().find(|one| one.subject == "HL");
    let wrong = wrong.and_then(|one| one.actual.split(' ').next()).unwrap_or("0").to_owned();
    let lines = match rng.below(4) {
        0 => format!("{any}expect.cycles = {}", 60 + rng.below(2000)),
        _ => format!("{any}expect.HL = {{ ne = {wrong} }}"),
    };
    let mut text = case("swept", &format!("\"{at}\""), &swept, &others, &lines);
    for at in times {
        text += &case(&at.to_string(), &at.to_string(), &swept, &others, &lines);
    }
    let results = results(source, &text);
    let (all, alone) = results.split_first().expect("results");
    // `all` ends where a routine turns interrupts off for good, if it may.
    let is_end = |one: &&TestResult| at == "all" && !any.is_empty() && is_missed(one);
    let failed = alone.iter().find(|one| one.verdict == Verdict::Fail);
    let failed = failed.filter(|one| one.id == "0" || !is_end(one));
    let expected = failed.map_or((Verdict::Pass, Vec::new()), found);
    assert_eq!(found(all), expected, "{source}\n{}", &text[..400]);
    let reason = failed.map(|one| format!("interrupt at {} T-states", one.id));
    assert_eq!(all.reason, reason, "{source}\n{}", &text[..400]);
    all.verdict
}

/// Returns `true` if the interrupt that is tried was not accepted.
fn is_missed(result: &TestResult) -> bool {
    let missed = format!("returned before it accepted the interrupt at {} T-states", result.id);
    result.differences.iter().any(|one| one.subject == missed)
}

#[test]
fn a_range_finds_what_a_case_for_each_t_state_finds() {
    let mut failed = [0; 2];
    for seed in 0..100 {
        let mut rng = Rng::from_seed(seed);
        let source = routine(&mut rng);
        let first = rng.below(30) as u64;
        let last = first + 1 + rng.below(40) as u64;
        let verdict = compare(&mut rng, &format!("{first}..={last}"), first..=last, &source);
        failed[usize::from(verdict == Verdict::Fail)] += 1;
    }
    assert!(failed.iter().all(|count| *count > 5), "passed and failed: {failed:?}");
}

#[test]
fn all_finds_what_a_case_for_each_t_state_up_to_the_return_finds() {
    for seed in 1000..1020 {
        let mut rng = Rng::from_seed(seed);
        let source = routine(&mut rng);
        let plain = "[[case]]\nname = \"plain\"\ncall = \"RUN\"\n";
        let end = result(&source, plain).details.t_states.expect("T-states");
        compare(&mut rng, "all", 0..=end, &source);
    }
}

#[test]
fn requests_of_a_period_that_wait_for_each_other_are_tried_one_by_one() {
    // Interrupts are off while the first requests come, so all are accepted at one instruction, but
    // the second ones come 250 T-states after the first, at different turns of the loop.
    let source = format!(
        "RUN:\tMVI B,30\n\tDI\n\tNOP\n\tXTHL\n\tXTHL\n\tEI\nWAIT:\tDJNZ WAIT\n\tLHLD COUNT\n\tRET\n\
         {HANDLERS}"
    );
    let swept = "period = 250, handler = \"ISR\"";
    let hl = |at: u64| {
        let text = case("one", &at.to_string(), swept, "", "expect.HL = { lt = 0 }");
        result(&source, &text).differences[0].actual.split(' ').next().expect("HL").to_owned()
    };
    let all: Vec<String> = (11..33).map(hl).collect();
    let other = all.iter().find(|value| **value != all[0]).expect("they differ");
    let lines = format!("expect.HL = {{ ne = {other} }}");
    let range = result(&source, &case("range", "\"11..33\"", swept, "", &lines));
    assert_eq!(range.verdict, Verdict::Fail, "{all:?}");
}

#[test]
fn a_routine_that_waits_for_the_interrupt_needs_a_range() {
    let source =
        format!("RUN:\tLDA COUNT\n\tORA A\n\tJRZ RUN\n\tRET\n{HANDLERS}\nHALTS:\tEI\n\tHLT\n\tRET");
    let hint = "without the interrupt; at = \"all\" is for calls that return without it: \
                expected T-states such as at = \"0..200\"";
    let swept = "handler = \"ISR\"";
    let endless = result(&source, &case("all", "\"all\"", swept, "", ""));
    assert_eq!((endless.verdict, endless.details.calls), (Verdict::Fail, 1));
    assert_eq!(endless.reason.as_deref(), Some(hint));
    assert!(endless.differences[0].to_string().starts_with("did not return within 9000 T-states"));
    let range = result(&source, &case("range", "\"0..200\"", swept, "", ""));
    assert_eq!(range.verdict, Verdict::Pass, "{range:?}");
    let halts = case("all", "\"all\"", swept, "", "").replace("RUN", "HALTS");
    let halts = result(&source, &halts);
    assert_eq!((halts.verdict, halts.reason.as_deref()), (Verdict::Fail, Some(hint)));
}

#[test]
fn a_case_that_takes_too_long_is_incomplete_and_can_be_split() {
    let source = format!("RUN:\tMVI B,50\nWAIT:\tDJNZ WAIT\n\tRET\n{HANDLERS}");
    let folder = folder(&source);
    let progress = RefCell::new(Vec::new());
    let tried = |at: &str, max_sweep| {
        let text = case("one", at, "handler = \"ISR\"", "", "");
        let file = parse(folder.path(), &text).unwrap_or_else(|error| panic!("{error}"));
        let mut machine = file.program.machine();
        let mut results = Vec::new();
        let note = |text: &str| progress.borrow_mut().push(text.to_owned());
        let options = TestOptions { max_sweep, progress: Some(&note), ..TestOptions::default() };
        run(&file, &mut machine, &options, &mut |result| results.push(result))
            .unwrap_or_else(|error| panic!("{error}"));
        results.remove(0)
    };
    // 7, 49 times 13, 8 and 10 T-states, and those of the interrupt.
    let stopped = tried("\"all\"", Some(10_000));
    assert_eq!((stopped.verdict, stopped.differences.len()), (Verdict::Skipped, 0));
    let reason = stopped.reason.expect("a reason");
    let next = reason.rsplit("at = ").next().expect("the next case");
    assert!(reason.starts_with("stopped after 10") && next.contains(".."), "{reason}");
    assert_eq!(tried(next, None).verdict, Verdict::Pass);
    assert_eq!(tried("\"all\"", None).verdict, Verdict::Pass);
    let progress = progress.into_inner();
    assert_eq!(progress[..2], ["interrupt at 0 of 662 T-states", "interrupt at 1 of 662 T-states"]);
}

#[test]
fn t_states_beyond_16_bits_are_accepted() {
    let source = format!(
        "RUN:\tLXI B,4000\nWAIT:\tDCX B\n\tMOV A,B\n\tORA C\n\tJNZ WAIT\n\tRET\n{HANDLERS}"
    );
    let (at, lines) = ("\"70000..70100\"", "check = \"[COUNT] != 0\"");
    let text = case("one", at, "handler = \"ISR\"", "", lines);
    let text = text.replace("timeout = 9000", "timeout = 100000");
    assert_eq!(result(&source, &text).verdict, Verdict::Pass);
}
