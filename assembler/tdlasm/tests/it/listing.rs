//! Listings: the original's columns, listing directives, and the same bytes as in the image.

use proptest::prelude::*;

use tdlasm::image::{Image, ImageRun};
use tdlasm::link::{Layout, link};
use tdlasm::listing::{Listing, TdlOptions, render_modern, render_tdl, straight_path};
use tdlasm::source::MemoryLoader;
use tdlasm::{Assembly, Options, assemble};

fn assembled(text: &str) -> Assembly {
    let loader = MemoryLoader::new().with("a.asm", text);
    let options = Options { listing: true, ..Options::default() };
    assemble(&loader, &["a.asm".into()], &options).expect("a correct program")
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Modern,
    Tdl,
}

pub(crate) fn shown(assembly: &Assembly, style: Style) -> String {
    let Assembly { listing, sources, modules, .. } = assembly;
    match style {
        Style::Modern => render_modern(listing, sources),
        Style::Tdl => render_tdl(listing, sources, modules, &TdlOptions::default()),
    }
}

/// Returns the start of the row with `source`, in the original's layout.
fn tdl_row(text: &str, source: &str) -> String {
    let listing = shown(&assembled(text), Style::Tdl);
    let row = listing.lines().find(|row| row.get(24..).is_some_and(|at| at.starts_with(source)));
    row.unwrap_or_else(|| panic!("no row {source} in\n{listing}")).to_owned()
}

#[test]
fn the_originals_columns_hold_address_code_marker_and_source() {
    let row = |statement: &str| {
        let text = format!(" .LOC .PROG.+43H\n{statement}\nT=0102H\nX1: .BYTE 5\n .END\n");
        tdl_row(&text, statement).trim_end().to_owned()
    };
    // The forms of a row observed on the original: opcode bytes together, a word high byte first.
    for (left, statement) in [
        ("   0043'   DD7E03", " MOV A,3(X)"),
        ("   0043'   C3 0102", " JMP T"),
        ("   0043'   DD21 1234", " LXI X,1234H"),
        ("   0043'   21 0046'", " LXI H,X1"),
        ("   0043'   010203040506", " .BYTE 1,2,3,4,5,6,7"),
        ("   0102", "T9=0102H"),
        ("", " ; A COMMENT"),
    ] {
        assert_eq!(row(statement), format!("{left:<24}{statement}"));
    }
}

#[test]
fn error_letters_and_the_question_mark_are_those_of_the_original() {
    let listing = shown(&assembled(" MVI A,300 ;\n .END\n"), Style::Tdl);
    let row = format!("{:<24} MVI A,300 ?;\r\n", "Q  0000'   3E2C");
    assert!(listing.contains(&row), "{listing}");
    assert!(listing.trim_end().ends_with("1 ERRORS WERE DETECTED *****"), "{listing}");
}

const WITH_MACRO: &str =
    ".DEFINE TWO[R]=[\n INR R\n ;NO CODE\n DCR R\n]\n{}\n TWO C\n NOP\n .END\n";

fn macro_listing(directive: &str, style: Style) -> String {
    shown(&assembled(&WITH_MACRO.replace("{}", directive)), style)
}

#[test]
fn macro_text_is_listed_as_the_source_requests() {
    let usual = macro_listing("", Style::Tdl);
    assert!(usual.contains(" TWO C[\r\n   0000'   0C          + INR C\r\n"), "{usual}");
    assert!(usual.contains("+ DCR C\r\n                       +]\r\n"), "{usual}");
    assert!(!usual.contains("+ ;NO CODE"), "{usual}");
    assert!(macro_listing(" .LALL", Style::Tdl).contains("+ ;NO CODE\r\n"));
    for (style, end) in [(Style::Tdl, "\r\n"), (Style::Modern, "\n")] {
        let short = macro_listing(" .SALL", style);
        assert!(short.contains(&format!(" TWO C{end}")) && !short.contains("+ DCR C"), "{short}");
    }
}

#[test]
fn parts_of_a_source_stay_out_of_the_listing() {
    let text = " NOP ;ONE\n .SLIST .XLIST\n NOP ;TWO\n .RLIST\n NOP ;THREE\n .END\n";
    for style in [Style::Tdl, Style::Modern] {
        let listing = shown(&assembled(text), style);
        let found = [";ONE", ";TWO", ";THREE"].map(|word| listing.contains(word));
        assert_eq!(found, [true, false, true], "{listing}");
    }
}

#[test]
fn words_are_shown_low_byte_first_and_long_data_whole_on_request() {
    let text = " .LADDR\n JMP 1234H\n .LIMAGE\n .ASCII 'ABCDEFGHI'\n .END\n";
    let listing = shown(&assembled(text), Style::Tdl);
    assert!(listing.contains("   C33412 "), "{listing}");
    assert!(
        listing.contains(" .ASCII 'ABCDEFG\\\r\n   0009'   474849       \\HI'\r\n"),
        "{listing}"
    );
}

#[test]
fn pages_have_66_lines_and_carry_the_titles() {
    let body = " NOP\n".repeat(100);
    let text =
        format!(" .TITLE 'MONITOR'\n .SBTTL 'PART'\n .IDENT MON\n{body} .PAGE\n NOP\n .END\n");
    let listing = shown(&assembled(&text), Style::Tdl);
    let lines: Vec<&str> = listing.lines().collect();
    assert_eq!(lines.len(), 4 * 66);
    // 55 rows a page, and the table of symbols on one of its own.
    for (page, head) in lines.chunks(66).take(3).enumerate() {
        assert_eq!(&head[..3], ["", "", ""]);
        assert_eq!(head[3].get(64..), Some(format!("PAGE {}", page + 1).as_str()));
        assert_eq!(&head[4..6], ["MON    - MONITOR", "PART"]);
    }
}

#[test]
fn the_table_of_symbols_is_in_the_order_of_the_40_character_set() {
    let text = "A.: B9: A%: .EXTERN XT\n A$ == 5\nEN::\n CALL XT\n .ENTRY A.\n .END\n";
    let listing = shown(&assembled(text), Style::Tdl);
    let table = listing.split("+++++ SYMBOL TABLE +++++").nth(1).expect("a table");
    let words: Vec<&str> = table.split_whitespace().collect();
    // Digits, letters, $, %, . in this order; E entry, I internal, X external.
    let expected = "A$ 0005 A% 0000' A. 0000' E B9 0000' EN 0000' I XT 0000:04 X \
        .BLNK. 0000:03 X .DATA. 0000* X .PROG. 0003' X";
    assert_eq!(words.join(" "), expected);
    let without = shown(&assembled(&format!(" .XSYM\n{text}")), Style::Tdl);
    assert!(!without.contains("SYMBOL TABLE"));
}

#[test]
fn a_straight_path_is_summed_to_the_instruction_that_leaves() {
    let text = "R1: MVI B,8\nL1: DJNZ L1\n PUSH H\n RZ\n LDIR\n RET\n NOP\nD1: .BYTE 1\n .END\n";
    let Assembly { listing, modules, .. } = assembled(text);
    // Zilog, Z80 CPU User Manual: 7, 8 (13 taken), 11, 5 (11), 16 (21), 10.
    let path = straight_path(&listing, &modules, "r1").expect("it is there");
    assert_eq!((path.clocks, path.instructions, path.conditional), (57, 6, 3));
    assert_eq!(path.range, (0, 8));
    let error = |label| straight_path(&listing, &modules, label).expect_err("no path").to_string();
    assert_eq!(error("NONE"), "no label NONE is in the program");
    assert_eq!(error("D1"), "no instruction begins at D1");
}

/// The bytes that the modern listing's statements have, at their addresses.
fn listed_image(listing: &Listing) -> Image {
    Image::new(
        listing
            .lines()
            .map(|line| ImageRun { address: line.address.number, bytes: line.bytes.to_vec() }),
    )
}

const STATEMENTS: &[&str] = &[
    " MVI A,5",
    " LXI H,END1",
    " JRZ .+4",
    " MOV 3(Y),A",
    " .BYTE 1,2,3,4,5,6,7,8",
    " .WORD END1,.,17",
    " .ASCIZ 'TEXT OF A LINE'",
    " .BLKB 7",
    " TWICE",
    " .IFN 1,[ NOP\n NOP ]",
    " LDIR",
    " .ASCII 'TWO\nLINES'",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_bytes_in_a_listing_are_those_of_the_image(
        picks in prop::collection::vec(0..STATEMENTS.len(), 1..60),
        hole in 0u16..0x4000,
    ) {
        let body: Vec<&str> = picks.iter().map(|pick| STATEMENTS[*pick]).collect();
        let (first, last) = body.split_at(body.len() / 2);
        let text = format!(
            ".DEFINE TWICE=[\n INX D\n INX D\n]\n .LOC 8000H\n{}\n .LOC {hole}\n{}\nEND1: .END\n",
            first.join("\n"), last.join("\n"));
        let assembly = assembled(&text);
        let program = link(&assembly.modules, &Layout::default()).expect("absolute code");
        prop_assert_eq!(listed_image(&assembly.listing), program.image);
        // The text of the modern listing has them all as digits, in the order of the source.
        let digits: String = assembly.listing.lines().flat_map(|line| &line.bytes)
            .map(|byte| format!("{byte:02X}")).collect();
        let columns: String = shown(&assembly, Style::Modern).lines()
            .map(|row| row.chars().skip(6).take(12).collect::<String>().trim().to_owned()).collect();
        prop_assert_eq!(columns, digits);
    }
}
