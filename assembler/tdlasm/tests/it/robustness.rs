//! Invalid and hostile sources: each ends soon, with messages of bounded length or with success.

use proptest::prelude::*;

use tdlasm::Options;
use tdlasm::asm::{Assembly, run};
use tdlasm::diag::render;
use tdlasm::source::MemoryLoader;

use crate::listing::{Style, shown};

fn outcome(text: impl Into<Vec<u8>>) -> Assembly {
    let loader = MemoryLoader::new().with("bad.asm", text);
    let outcome = run(&loader, &["bad.asm".into()], &Options::default());
    let shown = render::human(&outcome.diagnostics, &outcome.sources, false);
    assert!(shown.len() < 64 * 1024, "{} bytes of messages", shown.len());
    outcome
}

fn codes(text: impl Into<Vec<u8>>) -> Vec<&'static str> {
    outcome(text).diagnostics.iter().map(|one| one.code.id()).collect()
}

#[test]
fn what_is_opened_and_never_closed_is_reported_where_it_opens() {
    for text in
        [" .ASCII 'abc\n .END\n", " .IFE 1,[\n NOP\n .END\n", " .DEFINE M[A=[\n NOP\n .END\n"]
    {
        assert!(codes(text).contains(&"A04"), "{text}");
    }
}

#[test]
fn definitions_that_depend_on_each_other_have_the_values_of_the_passes() {
    let found = outcome("S1=S1+1\n .WORD S1\n .END\n");
    assert_eq!(found.modules[0].sections[0].runs[0].bytes, [2, 0]);
    assert_eq!(codes("A1=B1\nB1=C1+1\nC1=A1\n .WORD A1\n .END\n"), ["W14"]);
}

#[test]
fn a_long_chain_of_forward_definitions_has_the_value_of_two_passes() {
    let lines: String = (0..50_000).map(|at| format!("S{at:05}=S{:05}+1\n", at + 1)).collect();
    let outcome = outcome(lines + "S50000=1\n .WORD S00000\n .END\n");
    assert!(!outcome.has_errors());
    // The first pass defines S50000 only after all others.
    assert_eq!(outcome.modules[0].sections[0].runs[0].bytes, 2u16.to_le_bytes());
    assert!(outcome.diagnostics.iter().any(|one| one.code.id() == "W14"));
}

#[test]
fn endless_macros_end() {
    for text in [
        " .DEFINE R=[\n R\n]\n R\n .END\n",
        " .DEFINE R[N]=[\n R \\N+1\n R \\N+2\n]\n R 1\n .END\n",
        " .DEFINE V=[V+1]\n .WORD V\n .END\n",
        " .DEFINE G[A]=[\n G A'A'A'A\n]\n G XXXXXXXXXXXXX\n .END\n",
    ] {
        assert!(codes(text).contains(&"B02"), "{text}");
    }
}

#[test]
fn files_that_insert_themselves_are_refused() {
    let loader = MemoryLoader::new()
        .with("a.asm", " .INSERT b.asm\n .END\n")
        .with("b.asm", " .INSERT a.asm\n")
        .with("c.asm", " .INSERT nowhere\n .END\n");
    for file in ["a.asm", "c.asm", "nothing.asm"] {
        let outcome = run(&loader, &[file.into()], &Options::default());
        assert!(outcome.diagnostics.iter().any(|one| one.code.id() == "F01"), "{file}");
    }
}

#[test]
fn invalid_utf8_assembles_in_comments_and_strings() {
    let outcome = outcome(*b" .ASCII '\xFF\xFE' ; caf\xE9\r\n NOP\r HLT\n .END");
    assert!(outcome.diagnostics.iter().all(|one| one.code.id() == "W32"));
    // FFH is DEL with bit 7, FEH the tilde.
    assert_eq!(outcome.modules[0].sections[0].runs[0].bytes, [b'~', 0, 0x76]);
}

#[test]
fn garbage_is_reported_and_nothing_more() {
    // A linear congruential generator: the same bytes each time.
    let mut state = 1u32;
    let garbage: Vec<u8> = (0..200_000)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        })
        .filter(|byte| *byte != 0x1A)
        .collect();
    assert!(outcome(garbage).has_errors());
    assert!(outcome(vec![0; 100_000]).has_errors());
}

#[test]
fn huge_lines_assemble_in_linear_time() {
    assert!(outcome(vec![b'A'; 10_000_000]).has_errors());
    assert!(
        !outcome(format!(" .WORD {}1{}\n .END\n", "(".repeat(100_000), ")".repeat(100_000)))
            .has_errors()
    );
    assert!(!outcome(format!(" .WORD {}1\n .END\n", "1+".repeat(1_000_000))).has_errors());
}

#[test]
fn an_empty_source_is_a_program_without_end() {
    assert_eq!(codes(""), ["W02"]);
    let wraps = codes(" .BLKB 0FFFFH\n".repeat(1000) + " .END\n");
    assert!(wraps.len() <= 101 && wraps.iter().all(|code| *code == "Q09"), "{wraps:?}");
}

#[test]
fn errors_of_one_run_are_many_but_bounded() {
    let lines: String = (0..20_000).map(|at| format!(" JMP Q{at:05}\n")).collect();
    let codes = codes(lines + " .END\n");
    assert_eq!((codes.len(), codes.last()), (101, Some(&"W10")));
}

/// Words of programs, and fragments of them.
const WORDS: &[&str] = &[
    "A",
    "M",
    "X",
    "(X)",
    "5(Y)",
    "SP",
    "PSW",
    ".",
    "..L",
    "N1",
    "N2#",
    "N3::",
    "N4:",
    "N5=",
    "N6==",
    "N1",
    "0FFH",
    "1",
    "70000",
    "'A'",
    "\"",
    "'",
    "+",
    "-",
    "*",
    "/",
    "@",
    "<",
    ">",
    "&",
    "!",
    "^",
    "^H",
    "#",
    "(",
    ")",
    ",",
    ",",
    "[",
    "]",
    "[",
    "]",
    ";",
    "\\",
    "=",
    "\n",
    "\n",
    "\n",
    " ",
    " ",
    "\r",
    "\t",
    "MOV ",
    "MVI ",
    "JMPR ",
    "BIT ",
    "RST ",
    "LXI ",
    "PUSH ",
    "NOP",
    ".BYTE ",
    ".WORD ",
    ".ASCII ",
    ".ASCIS ",
    ".RAD40 ",
    ".BLKB ",
    ".BLKW ",
    ".LOC ",
    ".LOC .DATA.",
    ".RELOC",
    ".RADIX ",
    ".EXTERN ",
    ".INTERN ",
    ".ENTRY ",
    ".DEFINE N7[N1,%N2]=[",
    ".DEFINE N8=[",
    "N7 ",
    "N8",
    ".EXIT",
    ".IFE ",
    ".IFN ",
    ".IF1 ,[",
    ".IF2 ,[",
    ".IFDEF N1,[",
    ".IFNDEF N9,[",
    ".IFB [",
    ".IFIDN [a][b],[",
    ".SYN ",
    ".OPSYN ",
    ".MASYN ",
    ".SYSYN ",
    ".END ",
    ".PRGEND\n",
    ".INSERT bad.asm\n",
    ".IDENT ",
    ".ERROR ",
    ".SLIST .XLIST\n",
    ".RLIST\n",
    ".LALL\n",
    ".SALL\n",
    ".LIMAGE\n",
    ".LADDR\n",
    ".PAGE\n",
    ".TITLE ",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_order_of_words_ends_in_a_module_or_in_errors(
        words in prop::collection::vec(prop::sample::select(WORDS), 0..200),
        listing: bool,
        long_symbols: bool,
    ) {
        let loader = MemoryLoader::new().with("bad.asm", words.concat());
        let options = Options { listing, long_symbols, ..Options::default() };
        let outcome = run(&loader, &["bad.asm".into()], &options);
        let sources = &outcome.sources;
        let messages = [
            render::human(&outcome.diagnostics, sources, false),
            render::short(&outcome.diagnostics, sources),
        ];
        prop_assert!(messages.iter().all(|text| text.len() < 1 << 20));
        // Macros that call each other endlessly have 2 MiB of open text at most.
        let listings = [Style::Modern, Style::Tdl].map(|style| shown(&outcome, style));
        prop_assert!(listings.iter().all(|text| text.len() < 1 << 23));
        for module in &outcome.modules {
            let back = tdlasm::object::read_object(&tdlasm::object::write_object(module), "x");
            prop_assert!(back.is_ok());
        }
    }
}

#[test]
fn every_use_of_a_doubly_defined_symbol_is_marked() {
    let text = " JMP L1\nL1: NOP\n NOP\nL1: NOP\n LXI H,L1\nL2: .END\n";
    assert_eq!(codes(text), ["D01", "M01", "D01"]);
    assert_eq!(
        codes(" JMP L1\nL1: NOP\nL1 == 1\n .PRGEND\nL1: JMP L1\n .END\n"),
        ["D01", "M01", "Q06"]
    );
}

#[test]
fn a_macro_of_fifty_thousand_arguments_is_cut_in_time() {
    let names: Vec<String> = (0..50_000).map(|at| format!("A{at}")).collect();
    let text = format!(".DEFINE M[{}]=[\n .BYTE {}\n]\n .END\n", names.join(","), names.join("+"));
    assert_eq!(codes(text), Vec::<&str>::new());
}

#[test]
fn calls_in_a_macro_that_ends_its_module_are_listed() {
    // The file's text is closed at `.PRGEND`, and the calls that started in it continue.
    for rest in
        [" ]\n .PRGEND\n .LOC 5\n]\n REC 4\n .END\n", " ] .EXTERN EX5\n .PRGEND S0\n]\n REC 4"]
    {
        let text = format!(" .DEFINE REC[N]=[\n .IFG N,[\n REC \\N-1\n{rest}");
        let loader = MemoryLoader::new().with("bad.asm", text);
        let options = Options { listing: true, ..Options::default() };
        let listing = shown(&run(&loader, &["bad.asm".into()], &options), Style::Tdl);
        assert!(listing.contains("REC 4"), "{listing}");
    }
}
