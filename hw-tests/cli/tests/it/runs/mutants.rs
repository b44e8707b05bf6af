//! Mutation testing of the evaluator: mutants are killed, except those in `equivalents.toml` of
//! `hil-testing`.

use std::collections::HashSet;

use hil_testing::mutants::{
    Mutant, MutantOutcome, MutationTester, all_mutants, equivalent_group, equivalent_groups,
};
use sargon_corpus::builtin_corpus;

/// Changes of all kinds in all routines, some with an effect only in POINTS or TRACE.
const CHANGES: [&str; 10] = [
    "tables.asm: .BYTE +9,+11,-11,-9 -> .BYTE +9+1,+11,-11,-9",
    "newlst.asm: LXI H,0 -> LXI H,0+1",
    "attack.asm: CPI KNIGHT -> CPI KNIGHT+1",
    "atksav.asm: ORA M -> ORA A",
    "pnck.asm: NEG -> nothing",
    "pinfnd.asm: MOV M,D -> MOV D,M",
    "xchng.asm: JRC DEARER -> JRNC DEARER",
    "nextad.asm: XCHG -> nothing",
    "points.asm: JRC HIGHER -> JRNC HIGHER",
    "trace.asm: MVI H,S.STOP -> MVI H,S.STOP-1",
];

fn judge(ids: &[&str]) -> MutationTester {
    let mut cases = builtin_corpus().expect("the corpus");
    cases.retain(|case| ids.is_empty() || ids.iter().any(|id| case.id.starts_with(id)));
    MutationTester::new(cases).expect("the programs")
}

fn mutant(name: &str) -> Mutant {
    let found = all_mutants().into_iter().find(|mutant| mutant.to_string() == name);
    found.unwrap_or_else(|| panic!("no mutant is called {name}"))
}

#[test]
fn small_changes_of_any_routine_are_caught() {
    let judge = judge(&[]);
    for name in CHANGES {
        let fate = judge.test_mutant(&mutant(name));
        assert!(matches!(fate, MutantOutcome::Killed { .. }), "{name}: {fate:?}");
    }
}

#[test]
fn a_program_without_end_is_caught_by_the_deadline() {
    let text = firmware::source("points.asm").expect("it ships");
    let judge = judge(&["byte.figure1"]);
    // It sends nothing after the last square.
    let silent = text.replace("        JMP ACCNT", "..STOP: JMPR ..STOP");
    // It sends the same squares without end.
    let talking = text.replace("JRNZ ..RANK", "JMPR ..RANK");
    let ends = [(silent, "no reply while examining a position"), (talking, "examining a position")];
    for (endless, end) in ends {
        assert_ne!(endless, text);
        let fate = judge.test_source("points.asm", &endless);
        let MutantOutcome::Killed { why, .. } = &fate else { panic!("{fate:?}") };
        assert!(why.contains(end), "{why}");
    }
}

#[test]
fn a_change_that_does_nothing_survives() {
    let judge = judge(&["byte", "odd"]);
    let name = "attack.asm: CPI BORDER -> CPI BORDER-1";
    let name = equivalent_groups()
        .iter()
        .flat_map(|group| &group.mutants)
        .next()
        .map_or(name, |first| first);
    assert_eq!(judge.test_mutant(&mutant(name)), MutantOutcome::Survived, "{name}");
    let same = firmware::source("xchng.asm").expect("it ships");
    assert_eq!(judge.test_source("xchng.asm", same), MutantOutcome::IdenticalBinary);
    assert_eq!(judge.test_source("xchng.asm", "        MOV A,Q"), MutantOutcome::BuildFailed);
}

#[test]
fn every_known_survivor_is_a_mutant() {
    let mut known: HashSet<_> =
        equivalent_groups().iter().flat_map(|group| &group.mutants).collect();
    let count: usize = equivalent_groups().iter().map(|group| group.mutants.len()).sum();
    assert_eq!(known.len(), count, "one is named twice");
    for mutant in all_mutants().iter().filter(|mutant| equivalent_group(mutant).is_some()) {
        known.remove(&mutant.to_string());
    }
    assert!(known.is_empty(), "no mutants are called {known:?}");
}

/// What `cargo run --release -p hil-testing --example mutations` counted last: mutants that a run of
/// the corpus kills, that do not assemble, and that make the same program.
const COUNTED: [usize; 3] = [2735, 44, 14];

#[test]
fn all_mutants_have_been_judged() {
    let equivalent: usize = equivalent_groups().iter().map(|group| group.mutants.len()).sum();
    let judged = equivalent + COUNTED.iter().sum::<usize>();
    assert_eq!(all_mutants().len(), judged, "judge them again, sargon-src has changed");
}
