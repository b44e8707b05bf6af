//! Programs for which a single pass suffices, with errors or without, have the same result with two
//! passes.

use std::cell::Cell;
use std::io::Read;

use tdlasm::Options;
use tdlasm::asm::{Assembly, run};
use tdlasm::diag::{DiagnosticCode, render};
use tdlasm::source::MemoryLoader;

use crate::corrupted_input::for_each_corrupted;

const PROGRAMS: &[u8] = include_bytes!("../data/oracle/programs.jsonl.gz");
/// The minimum number of programs that need a single pass only.
const READ_ONCE: usize = 2_000;
/// The minimum number of corrupted programs that have an error and need a single pass.
const MIN_SINGLE_PASS_ERRORS: usize = 90;
const CORRUPTED_PROGRAMS: u32 = 400;
/// Fragments with errors, and some whose meaning differs between one and two passes.
static WORDS: [&[u8]; 22] = [
    b"\n MVI \n",
    b"\n LXI H,NONE\n",
    b"\n .WORD NONE,NONE,..NO\n",
    b"\n JRNZ LAB\n",
    b"\n .BYTE FWD,-500,9*LAB\n",
    b"\nFWD: NOP\n",
    b"\nNONE\n",
    b"\n .IF1,[ NOP ]\n",
    b"\n .IFDEF NONE,[ NOP ]\n",
    b"\n .IFNDEF FWD,[ NONE ]\n",
    b"\n .DEFINE NONE[Q]=[ MVI A,Q\n ]\n",
    b"\n NONE LAB,\n",
    b"\n .OPSYN .BYTE,NONE\n",
    b"\n .SYN FWD,LAB\n",
    b"\n .INTERN NONE\n",
    b"\n .LOC 0FFFEH\n",
    b"\n .RADIX 16\n",
    b"\n .PRGEND\n",
    b"\n .BLKB NONE\n",
    b"\n .ASCII 'A'[FWD",
    b"\n .WORD SUB,B,.PROG.\n",
    b"\nSUB: NOP\nB==5\n",
];

fn sources() -> Vec<String> {
    let mut text = String::new();
    flate2::read::GzDecoder::new(PROGRAMS).read_to_string(&mut text).expect("a text");
    let source = |line: &str| {
        let record: serde_json::Value = serde_json::from_str(line).expect("JSON");
        record["source"].as_str().expect("a program").to_owned()
    };
    text.lines().map(source).collect()
}

fn assembled(source: &str, two_passes: bool, references: bool) -> Assembly {
    let loader = MemoryLoader::new().with("p.asm", source);
    let single_pass_diagnostics = true;
    let options = Options {
        force_two_passes: two_passes,
        single_pass_diagnostics,
        references,
        ..Options::default()
    };
    run(&loader, &["p.asm".into()], &options)
}

/// Each reference in a text: the place, the kind of the name, and its role there.
fn mentions(found: &Assembly) -> Vec<String> {
    let names = &found.references.names;
    let shown = found.references.entries.iter().map(|one| {
        let text = found.sources.source_at(one.span.start);
        let at = one.span.start - text.base;
        format!("{} {at} {:?} {:?}", text.name, names[one.name as usize], one.role)
    });
    let mut shown: Vec<String> = shown.collect();
    // Two passes record some places once that a single pass records twice.
    shown.sort();
    shown.dedup();
    shown
}

fn shown(found: &Assembly) -> String {
    render::human(&found.diagnostics, &found.sources, false)
}

/// Assembles a program with a single pass, and compares the result with that of two passes.
fn compare(source: &str) -> Option<Assembly> {
    let once = assembled(source, false, true);
    let without_names = assembled(source, false, false);
    assert_eq!(once.used_two_passes, without_names.used_two_passes, "{source}");
    assert_eq!(shown(&once), shown(&without_names), "{source}");
    if once.used_two_passes {
        return None;
    }
    let twice = assembled(source, true, true);
    assert!(twice.used_two_passes);
    assert_eq!(shown(&once), shown(&twice), "{source}");
    assert_eq!(once.zasm_error_count, twice.zasm_error_count, "{source}");
    assert_eq!(once.modules, twice.modules, "{source}");
    assert_eq!(once.messages, twice.messages, "{source}");
    assert_eq!(mentions(&once), mentions(&twice), "{source}");
    Some(once)
}

#[test]
fn a_needless_second_pass_changes_nothing() {
    let count = sources().iter().filter(|source| compare(source).is_some()).count();
    assert!(count >= READ_ONCE, "{count}");
}

#[test]
fn corrupted_programs_are_the_same_in_one_pass_and_two() {
    let count = Cell::new(0);
    for_each_corrupted(&sources(), &WORDS, CORRUPTED_PROGRAMS, |bytes| {
        let source = String::from_utf8_lossy(bytes);
        let once = compare(&source);
        count.set(count.get() + usize::from(once.is_some_and(|once| once.has_errors())));
    });
    assert!(count.get() >= MIN_SINGLE_PASS_ERRORS, "{count:?}");
}

#[test]
fn a_symbol_named_like_an_instruction_needs_two_passes_above_its_definition() {
    assert!(compare("\t.WORD SUB\nSUB:\tNOP\n\t.END\n").is_none());
    assert!(compare("\t.WORD SUB\n\t.EXTERN SUB\n\t.END\n").is_none());
    assert!(compare("\t.WORD SUB\n\tNOP\n\t.END\n").is_some());
}

#[test]
fn a_second_pass_hides_no_message() {
    let empty = "\t.ASCII\n\t.END\n";
    let count = |text: &str| {
        let found = assembled(text, false, false).diagnostics;
        found.iter().filter(|one| one.code == DiagnosticCode::Empty).count()
    };
    for before in ["", "A1=5\n\t.SYN A1,.\n", "A1=5\nA1==5\n"] {
        assert_eq!(count(&format!("{before}{empty}")), 1, "{before}");
    }
}
