//! Mutation testing of the evaluator: small changes are caught, and docs/MUTATIONS.md names those
//! that can't be.

use std::collections::HashSet;

use hil_harness::mutants::{Fate, Judge, Mutant, all, group_of, groups, table};
use sargon_corpus::shipped;

/// Changes of all sorts in all routines, and in what only POINTS or TRACE shows.
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

fn judge(ids: &[&str]) -> Judge {
    let mut cases = shipped().expect("the corpus");
    cases.retain(|case| ids.is_empty() || ids.iter().any(|id| case.id.starts_with(id)));
    Judge::new(cases).expect("the programs")
}

fn mutant(name: &str) -> Mutant {
    let found = all().into_iter().find(|mutant| mutant.to_string() == name);
    found.unwrap_or_else(|| panic!("no mutant is called {name}"))
}

#[test]
fn small_changes_of_any_routine_are_caught() {
    let judge = judge(&[]);
    for name in CHANGES {
        let fate = judge.judge(&mutant(name));
        assert!(matches!(fate, Fate::Caught { .. }), "{name}: {fate:?}");
    }
}

#[test]
fn a_program_without_end_is_caught_by_the_deadline() {
    let text = firmware::source("points.asm").expect("it ships");
    let judge = judge(&["byte.figure1"]);
    // It is silent once all squares are told.
    let silent = text.replace("        JMP ACCNT", "..STOP: JMPR ..STOP");
    // It tells the same squares again and again.
    let talking = text.replace("JRNZ ..RANK", "JMPR ..RANK");
    let ends = [(silent, "no reply while examining a position"), (talking, "examining a position")];
    for (endless, end) in ends {
        assert_ne!(endless, text);
        let fate = judge.judge_text("points.asm", &endless);
        let Fate::Caught { why, .. } = &fate else { panic!("{fate:?}") };
        assert!(why.contains(end), "{why}");
    }
}

#[test]
fn a_change_that_does_nothing_survives() {
    let judge = judge(&["byte", "odd"]);
    let name = "attack.asm: CPI BORDER -> CPI BORDER-1";
    let name = groups().iter().flat_map(|group| &group.mutants).next().map_or(name, |first| first);
    assert_eq!(judge.judge(&mutant(name)), Fate::Survived, "{name}");
    let same = firmware::source("xchng.asm").expect("it ships");
    assert_eq!(judge.judge_text("xchng.asm", same), Fate::SameProgram);
    assert_eq!(judge.judge_text("xchng.asm", "        MOV A,Q"), Fate::NoProgram);
}

#[test]
fn the_page_explains_each_known_survivor() {
    let mut known: HashSet<_> = groups().iter().flat_map(|group| &group.mutants).collect();
    let count: usize = groups().iter().map(|group| group.mutants.len()).sum();
    assert_eq!(known.len(), count, "one is named twice");
    for mutant in all().iter().filter(|mutant| group_of(mutant).is_some()) {
        known.remove(&mutant.to_string());
    }
    assert!(known.is_empty(), "no mutants are called {known:?}");
    let page = include_str!("../../../../../docs/MUTATIONS.md");
    assert!(page.contains(&table()), "the table should be\n{}", table());
}

#[test]
fn the_figures_of_the_page_add_up() {
    let page = include_str!("../../../../../docs/MUTATIONS.md");
    let row = page.lines().find_map(|line| line.strip_prefix("| all |")).expect("the sum");
    let numbers: Vec<usize> = row.split('|').filter_map(|cell| cell.trim().parse().ok()).collect();
    let known = groups().iter().map(|group| group.mutants.len()).sum();
    assert_eq!(numbers, [numbers[1] + known, numbers[1], known, 0]);
    // Those that do not assemble, and those that make the same program.
    let words = page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("44 more do not assemble, and 6 make the same program"));
    assert_eq!(all().len(), numbers[0] + 44 + 6, "judge them anew, sargon-src has changed");
}
