//! Changes the Z80 source of the evaluator in every small way, and tells which changes a run of the
//! corpus does not notice: `cargo run --release -p hil-harness --example mutations [-- TEXT ...]`.
//! Only mutants with one of the texts in their name or line are judged. The exit code is 1 when one
//! survives that is not in `equivalents.toml`, or one is caught that is.

use std::collections::BTreeMap;
use std::process::ExitCode;

use cli_support::exit::{BUG, NOTHING, WRONG};
use hil_harness::mutants::{Fate, Judge, Kind, Mutant, all, group_of, judge_all};
use sargon_corpus::shipped;

/// Counts of the mutants of a kind by their fates.
#[derive(Default)]
struct Counts {
    caught: usize,
    explained: usize,
    survived: usize,
}

fn main() -> ExitCode {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let mut mutants = all();
    mutants.retain(|mutant| {
        let name = format!("{}:{} {mutant}", mutant.file, mutant.line);
        wanted.is_empty() || wanted.iter().any(|text| name.contains(text))
    });
    if mutants.is_empty() {
        eprintln!("no mutant has this in its name");
        return ExitCode::from(NOTHING);
    }
    let judge = match shipped().map_err(Into::into).and_then(Judge::new) {
        Ok(judge) => judge,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(BUG);
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let fates = judge_all(&judge, &mutants, threads, |done| {
        if done % 100 == 0 {
            eprintln!("{done} of {}", mutants.len());
        }
    });
    if report(&mutants, &fates) { ExitCode::SUCCESS } else { ExitCode::from(WRONG) }
}

/// Prints every mutant, then the counts; whether the fates are those that are known.
fn report(mutants: &[Mutant], fates: &[Fate]) -> bool {
    let mut counts: BTreeMap<Kind, Counts> = BTreeMap::new();
    let mut no_program = 0;
    let mut same = 0;
    let mut surprises = 0;
    for (mutant, fate) in mutants.iter().zip(fates) {
        let counts = counts.entry(mutant.kind).or_default();
        let is_known = group_of(mutant).is_some();
        let place = format!("{}:{}: {} -> {}", mutant.file, mutant.line, mutant.from, to(mutant));
        match fate {
            Fate::Caught { behaviour, case, why } => {
                counts.caught += 1;
                let why = why.split(';').next().unwrap_or_default(); // not what passed over the line
                println!("caught      {place}  [{behaviour}, {case}: {why}]");
            }
            Fate::Survived if is_known => {
                counts.explained += 1;
                println!("equivalent  {place}");
            }
            Fate::Survived => {
                counts.survived += 1;
                println!("SURVIVED    {place}  (`{mutant}`)");
            }
            Fate::NoProgram => no_program += 1,
            Fate::SameProgram => same += 1,
        }
        let is_surprise = is_known != (*fate == Fate::Survived);
        if is_surprise && is_known {
            println!("            which equivalents.toml says changes nothing");
        }
        surprises += usize::from(is_surprise);
    }
    summary(&counts, no_program, same);
    surprises == 0
}

fn to(mutant: &Mutant) -> &str {
    if mutant.to.is_empty() { "nothing" } else { &mutant.to }
}

fn summary(counts: &BTreeMap<Kind, Counts>, no_program: usize, same: usize) {
    println!("\n| change | mutants | caught | equivalent | survived |\n|---|---|---|---|---|");
    let row = |name: &str, of: &[&Counts]| {
        let sum = |part: fn(&Counts) -> usize| of.iter().map(|counts| part(counts)).sum::<usize>();
        let caught = sum(|c| c.caught);
        let explained = sum(|c| c.explained);
        let survived = sum(|c| c.survived);
        let mutants = caught + explained + survived;
        println!("| {name} | {mutants} | {caught} | {explained} | {survived} |");
    };
    for (kind, counts) in counts {
        row(&kind.to_string(), &[counts]);
    }
    row("all", &counts.values().collect::<Vec<_>>());
    println!("\nnot counted: {no_program} that do not assemble, {same} that make the same program");
}
