//! Idioms of programs of the time; the expected bytes are computed by hand.

use tdlasm::link::{Layout, link};
use tdlasm::module::{Base, Module, SectionKind, SymbolValue, Target};
use tdlasm::source::MemoryLoader;
use tdlasm::{Options, assemble};

fn module(text: &str) -> Module {
    let loader = MemoryLoader::new().with("idiom.asm", text).with("EQUS.ASM", "FROM$F==7\n");
    let assembly = assemble(&loader, &["idiom.asm".into()], &Options::default());
    assembly.unwrap_or_else(|failure| panic!("{failure}")).modules.remove(0)
}

/// The bytes of the only run of `.PROG.`.
fn bytes(text: &str) -> Vec<u8> {
    let module = module(&format!("{text}\n .END\n"));
    let sections: Vec<_> = module.sections.iter().filter(|one| !one.runs.is_empty()).collect();
    assert!(sections.len() == 1 && sections[0].runs.len() == 1, "{sections:?}");
    sections[0].runs[0].bytes.clone()
}

#[test]
fn switches_are_complements() {
    assert_eq!(
        bytes(
            "FALSE=0\nTRUE=#FALSE\nCUSTOM==TRUE\n .IFE #CUSTOM,[\n .BYTE 1\n ]\n; between\n\n [\n .BYTE 2\n ]"
        ),
        [1]
    );
}

#[test]
fn conditionals_nest_and_stand_on_one_line() {
    let text =
        "A1==3\n .IFN A1,[ .IFG A1-5,[ .BYTE 1 ][ .IFL A1-5,.BYTE 2\n ] .BYTE 9\n ][ .BYTE 3 ]";
    // The text after the bracket of the inner conditional is a separate statement, since it follows
    // one that is assembled on the last line of several.
    assert_eq!(bytes(text), [2, 9]);
}

#[test]
fn counters_run_through_tables() {
    assert_eq!(bytes("J=1\n .BYTE J,J+1\nJ=J+3\n .BYTE J"), [1, 2, 4]);
}

#[test]
fn macros_test_the_kinds_of_their_arguments() {
    let text = " .DEFINE PUT[KIND,VALUE]=[\n .IFIDN [KIND][WORD], [\n .WORD VALUE\n][\n .BYTE VALUE\n]\n]\n PUT WORD,5\n PUT BYTE,6";
    assert_eq!(bytes(text), [5, 0, 6]);
}

#[test]
fn recursive_macros_split_numbers() {
    let text = " .DEFINE BITS[NUM]=[\n .BYTE NUM&1\n .IFG NUM/2,[\n BITS \\(NUM/2)\n ]\n]\n BITS 6";
    assert_eq!(bytes(text), [0, 1, 1]);
}

#[test]
fn locals_are_found_below_labels_that_are_exported_above() {
    let loops = |way: &str| {
        format!(" {way} ONE,TWO\nONE: DCR A\n..X: JRNZ ..X\nTWO: INR A\n..X: JRNZ ..X\nEND: RET")
    };
    for way in [".INTERN", ".ENTRY"] {
        assert_eq!(bytes(&loops(way)), [0x3D, 0x20, 0xFE, 0x3C, 0x20, 0xFE, 0xC9], "{way}");
    }
}

#[test]
fn locals_are_found_below_externals_that_operands_declare() {
    let module = module("ONE: CALL GSUB#\n..X: DCR A\n JRNZ ..X\n LXI B,GTAB#\n RET\n .END\n");
    let bytes: Vec<_> = module.sections.iter().flat_map(|one| &one.runs).collect();
    assert_eq!(bytes[0].bytes[3..6], [0x3D, 0x20, 0xFD]);
}

#[test]
fn names_hold_dots_and_dollars() {
    assert_eq!(bytes("O.O: .BYTE 1\n$X%2: .BYTE $X%2-O.O"), [1, 1]);
}

#[test]
fn other_names_stand_for_directives() {
    let text = " .OPSYN .IFN,IF\n .OPSYN .IFE,IFNOT\n .OPSYN .BYTE,DB\n .OPSYN .BLKB,DS\n IF 1,[\n DB 'A'\n]\n IFNOT 1,[\n DB 2\n]";
    assert_eq!(bytes(text), [0x41]);
}

#[test]
fn inserted_definitions_are_found_without_extension_and_in_either_case() {
    assert_eq!(bytes(" .INSERT EQUS\n .BYTE FROM$F"), [7]);
    assert_eq!(bytes(" .INSERT equs\n .BYTE FROM$F"), [7]);
}

#[test]
fn listing_directives_change_nothing() {
    let text = " .TITLE \"<a; title>\"\n .SBTTL /other/\n .SLIST .XLIST\n .PAGE\n NOP\n .RLIST\n .REMARK \"two\nlines\"\n .PABS\n .PHEX\n .XLINK\n HLT";
    assert_eq!(bytes(text), [0, 0x76]);
}

#[test]
fn addresses_of_high_bytes_and_differences_are_constants() {
    let text = "T1: .BLKB 3\nT2: ORI 0E000H > 8\n LXI B,T2-T1\n CPI 'Z'-'A'+1\n JRZ .-3\n DJNZ .+4";
    assert_eq!(bytes(text), [0xF6, 0xE0, 1, 3, 0, 0xFE, 26, 0x28, 0xFB, 0x10, 2]);
}

#[test]
fn passes_can_be_distinguished_and_defaults_defined() {
    let text = " .IF1 ,[FIRST==5]\n .IF2 ,[ .BYTE FIRST]\n .IFNDEF SIZE,[SIZE==3]\n .BYTE SIZE\n .IFDEF LATER,[ .BYTE 9]\nLATER: NOP";
    // LATER counts as defined in the second pass, but the label then moves, so the program defines
    // it otherwise.
    let text = text.replace(" .IFDEF LATER,[ .BYTE 9]\nLATER: NOP", "");
    assert_eq!(bytes(&text), [5, 3]);
}

#[test]
fn sections_continue_at_their_last_address() {
    let module = module(
        " NOP\n .LOC .DATA.\n .BYTE 1\n .LOC .PROG.\n HLT\n .LOC .DATA.\n .BYTE 2\n .RELOC\n RET\n .END\n",
    );
    let found: Vec<_> =
        module.sections.iter().map(|one| (one.kind, one.runs[0].bytes.clone())).collect();
    assert_eq!(found, [(SectionKind::Prog, vec![0, 0x76, 0xC9]), (SectionKind::Data, vec![1, 2])]);
}

#[test]
fn areas_may_be_filled_out_of_order() {
    let text = "START: .LOC START+80H\nTBASE=START+100H\nBOARD=.-TBASE\n MOV A,BOARD(X)\n .LOC START\n NOP\n .END\n";
    let module = module(text);
    let runs: Vec<_> =
        module.sections[0].runs.iter().map(|run| (run.offset, run.bytes.clone())).collect();
    assert_eq!(runs, [(0, vec![0]), (0x80, vec![0xDD, 0x7E, 0x80])]);
}

#[test]
fn modules_of_one_file_have_their_own_symbols() {
    let loader = MemoryLoader::new()
        .with("two.asm", " .IDENT ONE\nA1: NOP\n .PRGEND\n .IDENT TWO\nA1: HLT\n .END\n");
    let assembly =
        assemble(&loader, &["two.asm".into()], &Options::default()).expect("two modules");
    let names: Vec<_> =
        assembly.modules.iter().map(|one| (one.name.as_str(), one.symbols.len())).collect();
    assert_eq!(names, [("ONE", 1), ("TWO", 1)]);
}

#[test]
fn a_program_may_be_split_over_several_files() {
    let loader = MemoryLoader::new()
        .with("1.asm", "A1: NOP\n .END\n junk")
        .with("2.asm", " JMP A1\n .END A1\n");
    let assembly = assemble(&loader, &["1.asm".into(), "2.asm".into()], &Options::default())
        .expect("a program");
    assert_eq!(assembly.modules[0].sections[0].runs[0].bytes, [0, 0xC3, 0, 0]);
}

#[test]
fn passes_are_those_of_each_module() {
    let text = " .IFNDEF A1,[A1==1]\n .BYTE A1\nB1: NOP\n .PRGEND\n .IFNDEF A1,[A1==2]\n .BYTE A1\n .END\n";
    let loader = MemoryLoader::new().with("two.asm", text);
    let assembly = assemble(&loader, &["two.asm".into()], &Options::default());
    let modules = assembly.unwrap_or_else(|failure| panic!("{failure}")).modules;
    let bytes: Vec<_> = modules.iter().map(|one| one.sections[0].runs[0].bytes.clone()).collect();
    assert_eq!(bytes[0], [1, 0]);
    assert_eq!(bytes[1][0], 2);
}

#[test]
fn an_external_area_can_be_reserved_but_not_linked_if_it_is_filled_or_exported() {
    let area =
        |text: &str| format!(" .EXTERN POOL\n LXI H,SPOT\n .LOC POOL\n .BLKB 3\n{text}\n .END\n");
    let reserved = module(&area("SPOT: .BLKB 1"));
    assert_eq!(reserved.check_areas(), Ok(()));
    let names: Vec<_> = reserved.symbols.iter().map(|one| (one.name.as_str(), one.value)).collect();
    assert_eq!(names, [("POOL", SymbolValue::Common { size: 4 })]);
    let target = Target { base: Base::Symbol(0), addend: 3 };
    assert_eq!(reserved.sections[0].relocs[0].target, target);
    for (text, expected) in [
        ("SPOT: .BYTE 1", "puts bytes into the area of POOL (idiom.asm:1), which is external"),
        ("SPOT:: .BLKB 1", "exports SPOT, which moves with an external"),
    ] {
        let module = module(&area(text));
        let message = link(&[module], &Layout::default()).expect_err("an error").to_string();
        assert!(message.starts_with("error[L008]") && message.contains(expected), "{message}");
    }
}
