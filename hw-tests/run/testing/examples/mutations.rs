//! Mutation testing of the evaluator: lists the mutants that survive a run of the corpus.
//!
//! `cargo run --release -p hil-testing --example mutations [-- TEXT ...]` tests the mutants with
//! one of the texts in their name or line. The exit code is 1 if a mutant survives that is not in
//! `equivalents.toml`, or if one in it is killed.

use std::collections::BTreeMap;
use std::process::ExitCode;

use cli_support::exit::{BUG, FAILED, NOTHING_SELECTED};
use hil_testing::mutants::{
    Mutant, MutantOutcome, MutationOperator, MutationTester, all_mutants, equivalent_group,
    test_mutants,
};
use sargon_corpus::builtin_corpus;

/// The mutants of an operator, by outcome.
#[derive(Default)]
struct Counts {
    killed: usize,
    equivalent: usize,
    survived: usize,
}

fn main() -> ExitCode {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let mut mutants = all_mutants();
    mutants.retain(|mutant| {
        let name = format!("{}:{} {mutant}", mutant.file, mutant.line);
        wanted.is_empty() || wanted.iter().any(|text| name.contains(text))
    });
    if mutants.is_empty() {
        eprintln!("no mutant contains one of these texts");
        return ExitCode::from(NOTHING_SELECTED);
    }
    let tester = match builtin_corpus().map_err(Into::into).and_then(MutationTester::new) {
        Ok(tester) => tester,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(BUG);
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let outcomes = test_mutants(&tester, &mutants, threads, |done| {
        if done % 100 == 0 {
            eprintln!("{done} of {}", mutants.len());
        }
    });
    if report(&mutants, &outcomes) { ExitCode::SUCCESS } else { ExitCode::from(FAILED) }
}

/// Prints every mutant, then the counts. Returns `true` if all outcomes are expected.
fn report(mutants: &[Mutant], outcomes: &[MutantOutcome]) -> bool {
    let mut counts: BTreeMap<MutationOperator, Counts> = BTreeMap::new();
    let mut build_failed = 0;
    let mut identical = 0;
    let mut unexpected = 0;
    for (mutant, outcome) in mutants.iter().zip(outcomes) {
        let counts = counts.entry(mutant.kind).or_default();
        let is_known = equivalent_group(mutant).is_some();
        let place =
            format!("{}:{}: {} -> {}", mutant.file, mutant.line, mutant.original, to(mutant));
        match outcome {
            MutantOutcome::Killed { behaviour, case, why } => {
                counts.killed += 1;
                // Without the bytes on the line, which follow.
                let why = why.split(';').next().unwrap_or_default();
                println!("killed      {place}  [{behaviour}, {case}: {why}]");
            }
            MutantOutcome::Survived if is_known => {
                counts.equivalent += 1;
                println!("equivalent  {place}");
            }
            MutantOutcome::Survived => {
                counts.survived += 1;
                println!("SURVIVED    {place}  (`{mutant}`)");
            }
            MutantOutcome::BuildFailed => build_failed += 1,
            MutantOutcome::IdenticalBinary => identical += 1,
        }
        let is_unexpected = is_known != (*outcome == MutantOutcome::Survived);
        if is_unexpected && is_known {
            println!("            although equivalents.toml lists it");
        }
        unexpected += usize::from(is_unexpected);
    }
    summary(&counts, build_failed, identical);
    unexpected == 0
}

fn to(mutant: &Mutant) -> &str {
    if mutant.replacement.is_empty() { "nothing" } else { &mutant.replacement }
}

fn summary(counts: &BTreeMap<MutationOperator, Counts>, build_failed: usize, identical: usize) {
    println!("\n| change | mutants | killed | equivalent | survived |\n|---|---|---|---|---|");
    let row = |name: &str, of: &[&Counts]| {
        let sum = |part: fn(&Counts) -> usize| of.iter().map(|counts| part(counts)).sum::<usize>();
        let killed = sum(|c| c.killed);
        let equivalent = sum(|c| c.equivalent);
        let survived = sum(|c| c.survived);
        let mutants = killed + equivalent + survived;
        println!("| {name} | {mutants} | {killed} | {equivalent} | {survived} |");
    };
    for (kind, counts) in counts {
        row(&kind.to_string(), &[counts]);
    }
    row("all", &counts.values().collect::<Vec<_>>());
    println!(
        "\nnot counted: {build_failed} that do not build, {identical} with an identical binary"
    );
}
