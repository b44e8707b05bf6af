//! Listings: several routines in one file, made of the built-in ones in various orders, right and
//! with mistakes.

use firmware::build::{BuildError, BuiltImage, build_with};
use firmware::evaluator::{Behaviour, Evaluator};
use firmware::profile::BoardProfile;
use firmware::{ProgramKind, source};

const FILES: [&str; 8] = [
    "atksav.asm",
    "attack.asm",
    "newlst.asm",
    "nextad.asm",
    "pinfnd.asm",
    "pnck.asm",
    "points.asm",
    "xchng.asm",
];
/// In the order of the builder.
const ROUTINES: [&str; 8] =
    ["XCHNG", "NEXTAD", "ATTACK", "ATKSAV", "PINFND", "PNCK", "POINTS", "NEWLST"];

/// What a listing has besides routines: equates, tables and variables at addresses of its own.
const LAYOUT: &str = "
        .TITLE /A LISTING/
        .LOC 1000H
TBASE   = 1000H
PAWN    = 1
KING    = 6
DARK    = 80H
PVALUE  = .-TBASE-1
        .BYTE 1,3
M1:     .WORD TBASE
NPINS:  .BLKW 1
P1:     .BLKB 1
        ORG 2000H
";

/// Returns the text of built-in files, without what depends on the fast evaluator.
fn listing(files: &[&str]) -> String {
    let text: String = files.iter().map(|file| source(file).expect("a built-in file")).collect();
    let text = text.replace(".IFE FAST,[.EXTERN ATTACK,NEWLST][.EXTERN RAYWIS,SPREAD]", "");
    text.replace(".IFE FAST,[.INTERN ATTACK\nATTACK:][.INTERN ATKRAY\nATKRAY:]", "\nATTACK:\n")
}

fn build(text: &str) -> Result<BuiltImage, BuildError> {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let file = folder.path().join("book.lst");
    std::fs::write(&file, text).expect("a file");
    let profile = BoardProfile::named("rc2014-classic").expect("it ships");
    let evaluator = Evaluator { behaviour: Behaviour::Original, own: Some(file) };
    build_with(&profile, ProgramKind::Application, &evaluator)
}

/// Returns the messages about a listing that is wrong.
fn failure(text: &str) -> String {
    build(text).map(|image| image.overridden).expect_err("it is wrong").to_string()
}

/// Returns the number of the first line that contains a text.
fn line_of(text: &str, part: &str) -> usize {
    1 + text.lines().position(|line| line.contains(part)).expect("it is there")
}

#[test]
fn routines_are_taken_in_any_order_with_and_without_a_layout() {
    for turn in 0..FILES.len() {
        let mut files = FILES;
        files.rotate_left(turn);
        if turn % 2 == 1 {
            files.reverse();
        }
        let text = listing(&files);
        for text in [format!("{LAYOUT}{text}"), text] {
            let image = build(&text).unwrap_or_else(|error| panic!("{files:?}: {error}"));
            assert_eq!(image.overridden, ROUTINES, "{files:?}");
        }
    }
}

#[test]
fn the_rest_is_built_in() {
    let image = build(&listing(&["xchng.asm", "nextad.asm"])).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(image.overridden, ["XCHNG", "NEXTAD"]);
    assert!(image.program.symbol("ATTACK").is_some());
    let nextad = build(&listing(&["nextad.asm"])).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(nextad.overridden, ["NEXTAD"]);
}

#[test]
fn mistakes_are_located_in_the_listing() {
    let right = listing(&FILES);
    let missing = right.replace("\nWINBAK:", "\nWINBAC:");
    let shown = failure(&missing);
    let at = format!("book.lst:{}:", line_of(&missing, "JRNZ WINBAK"));
    assert!(shown.contains(&at) && shown.contains("WINBAK"), "{shown}");
    assert!(shown.contains("hint: the names of the data page come from names.asm"), "{shown}");

    let twice = format!("{right}\nPNCK:   RET\n");
    let shown = failure(&twice);
    let at = format!("book.lst:{}:", twice.lines().count());
    assert!(shown.contains(&at) && shown.contains("PNCK"), "{shown}");

    let other = format!("{}{right}", LAYOUT.replace("KING    = 6", "KING    = 7"));
    let shown = failure(&other);
    let at = format!("book.lst:{}:", line_of(&other, "KING    = 7"));
    assert!(shown.contains(&at) && shown.contains("KING must be 6, as in sargon.asm"), "{shown}");
}

#[test]
fn a_listing_without_routines_is_none() {
    let shown = failure("XCHNG  RET\nOTHER: RET\n");
    assert!(shown.contains("book.lst has a label for none of XCHNG, NEXTAD"), "{shown}");
    assert!(shown.contains("labels end with a colon"), "{shown}");
}

#[test]
fn a_label_in_a_part_that_is_not_used_is_named() {
    let text = "POINTS: NOP\nCHEAP: RET\nNEXTAD: JMP CHEAP\n";
    let shown = failure(text);
    assert!(shown.contains("book.lst:3:"), "{shown}");
    let hint = "in POINTS, which is not used: it does not define MOVER, MOVED, PTSL, ALLST";
    assert!(shown.contains("hint: CHEAP is in line 2") && shown.contains(hint), "{shown}");
}
