//! The original assembler's results for 5,500 programs: the same code, the same letters on the same
//! lines, or a place in the table of differences, `tests/data/oracle/differences.tsv`.
//!
//! `TDLASM_BLESS=1 cargo test -p tdlasm --test it oracle` rewrites the table. The test fails when a
//! program differs that the table has not, and when one is listed that no longer differs.

pub(crate) mod cells;
mod program;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use program::{Program, programs};

pub(crate) use program::programs_by;

/// The reasons for which a program may be in the table. For each, the user gets a message.
const REASONS: [&str; 4] = ["end", "faulty-code", "hex-externals", "letters"];
/// The number of programs that the original assembles without error: at least this many are the
/// same here, of all.
const CLEAN: (usize, usize) = (2453, 2461);
/// The number of programs with errors: at least this many have the same letters on the same lines
/// and the same code, of all.
const FAULTY: (usize, usize) = (2785, 2813);

fn table() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/oracle/differences.tsv")
}

/// The programs that differ, by their names, with the reason.
fn differences(programs: &[Program]) -> BTreeMap<String, &'static str> {
    let differs = |one: &Program| Some((one.id.clone(), one.difference()?));
    programs.iter().filter_map(differs).collect()
}

#[test]
fn every_program_is_as_on_the_original_or_in_the_table_of_differences() {
    let found = differences(&programs());
    let lines = found.iter().map(|(id, reason)| format!("{reason}\t{id}\n"));
    let mut lines: Vec<String> = lines.collect();
    lines.sort();
    if std::env::var_os("TDLASM_BLESS").is_some() {
        std::fs::write(table(), lines.concat()).expect("the table can be written");
    }
    let listed = std::fs::read_to_string(table()).expect("the table of differences");
    let listed: Vec<&str> = listed.lines().collect();
    let found_lines: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
    let new: Vec<_> = found_lines.iter().filter(|line| !listed.contains(line)).collect();
    let removed: Vec<_> = listed.iter().filter(|line| !found_lines.contains(line)).collect();
    assert!(new.is_empty(), "programs that differ and are not listed: {new:?}");
    assert!(removed.is_empty(), "programs that are listed and do not differ: {removed:?}");
}

#[test]
fn the_table_has_few_reasons_and_most_programs_are_the_same() {
    let programs = programs();
    let found = differences(&programs);
    let unknown: Vec<_> = found.iter().filter(|(_, one)| !REASONS.contains(one)).collect();
    assert!(unknown.is_empty(), "reasons that LANGUAGE.md does not have: {unknown:?}");
    let same = |clean: bool| {
        let kind = programs.iter().filter(|one| one.fatal.is_none() && one.is_clean() == clean);
        let all = kind.clone().count();
        (kind.filter(|one| !found.contains_key(&one.id)).count(), all)
    };
    for (least, (count, all)) in [(CLEAN, same(true)), (FAULTY, same(false))] {
        assert_eq!(all, least.1);
        assert!(count >= least.0, "{count} of {all} are the same, at least {} were", least.0);
    }
}

#[test]
fn the_language_manual_explains_each_reason_and_counts_its_programs() {
    let manual = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/LANGUAGE.md");
    let manual = std::fs::read_to_string(manual).expect("the manual");
    let listed = std::fs::read_to_string(table()).expect("the table of differences");
    for reason in REASONS {
        let row = manual.lines().find(|line| line.starts_with(&format!("| `{reason}` |")));
        let count = listed.lines().filter(|line| line.starts_with(&format!("{reason}\t"))).count();
        assert!(row.is_some_and(|row| row.ends_with(&format!("| {count} |"))), "{reason}: {count}");
    }
}
