//! TDL's own object files: records computed by hand, round trips, and all errors in a file.

use std::sync::Arc;

use proptest::prelude::*;

use tdlasm::link::{Layout, link};
use tdlasm::module::*;
use tdlasm::object::{read_modules, read_tdl, tdl_losses, write_tdl};
use tdlasm::source::MemoryLoader;
use tdlasm::{Assembly, Options, assemble};

const LINK: ObjectForm = ObjectForm { binary: false, hex: false, linkage: true, symbols: false };

fn assembly(text: &str) -> Assembly {
    let loader = MemoryLoader::new().with("demo.asm", text);
    let options = Options { long_symbols: text.contains("VERYLONG"), ..Options::default() };
    assemble(&loader, &["demo.asm".into()], &options).unwrap_or_else(|failure| panic!("{failure}"))
}

/// The object in digits, a line for each record, with the source's other options.
fn object(text: &str) -> Vec<String> {
    let assembly = assembly(text);
    let file = write_tdl(&assembly.modules, assembly.object_form).expect("it can be written");
    let file = String::from_utf8(file).expect("text");
    assert!(file.starts_with("\r\n"), "a record begins on a new line");
    file.split("\r\n").skip(1).map(str::to_owned).collect()
}

fn problem(file: impl AsRef<[u8]>) -> String {
    read_tdl(file.as_ref(), "X").expect_err("it is wrong").to_string()
}

fn refusal(text: &str) -> String {
    let assembly = assembly(text);
    write_tdl(&assembly.modules, assembly.object_form).expect_err("no room").to_string()
}

/// The only module, as if it came from an ELF object.
fn without_order(text: &str) -> Module {
    Module { source_order: None, ..assembly(text).modules.remove(0) }
}

const DEMO: &str = "
        .IDENT DEMO
        .ENTRY START
START:  LXI H,TEXT
        CALL SUB#
        RET
TEXT:   .BYTE 1
        .END START
";

/// By hand. Sums of the characters: DEMO and two blanks 165H, START and one 1AEH, .PROG. 194H,
/// .DATA. 176H, .BLNK. 185H, SUB and three 14AH; the original lists empty sections too. The
/// checksum is what each field sum lacks to a multiple of 100H. The bits of the code: 21 0, a word
/// of its own base 10, CD 0, a word of base 4 110, C9 0 fill 4CH; 01 begins the next eight.
const DEMO_RECORDS: [&str; 6] = [
    "!DEMO  9B",
    "@01START 51",
    "\\04.PROG.010008.DATA.020000.BLNK.030000SUB   04000013",
    "#01START 01000050",
    ";0B0000014C210700CD040000C90001E5",
    ";00000001FF",
];

#[test]
fn a_program_becomes_the_records_counted_by_hand() {
    assert_eq!(object(DEMO), DEMO_RECORDS);
}

#[test]
fn plain_bytes_have_the_same_fields_without_line_ends() {
    let assembly = assembly(&format!(" .PBIN\n{DEMO}"));
    let file = write_tdl(&assembly.modules, assembly.object_form).expect("it can be written");
    let code = b";\x0B\0\0\x01\x4C\x21\x07\0\xCD\x04\0\0\xC9\0\x01\xE5;\0\0\0\x01\xFF";
    assert!(
        file.starts_with(b"!DEMO  \x9B@\x01START \x51\\\x04.PROG.\x01\0\x08.DATA."),
        "{file:?}"
    );
    // 1AH and zeros fill the last disk record.
    let end = file.iter().rposition(|byte| *byte == 0x1A).expect("an end");
    assert!(file[..end].ends_with(code) && file.len().is_multiple_of(128), "{file:?}");
    assert!(file[end + 1..].iter().all(|byte| *byte == 0), "{file:?}");
    assert_eq!(read_tdl(&file, "X"), read_tdl(DEMO_RECORDS.concat().as_bytes(), "X"));
}

#[test]
fn the_records_counted_by_hand_are_the_module() {
    let module = &read_tdl(DEMO_RECORDS.join("\r\n").as_bytes(), "X").expect("an object")[0];
    let target = |base, addend| Target { base, addend };
    let word = |offset, base, addend| Reloc {
        offset,
        kind: RelocKind::Word,
        target: target(base, addend),
    };
    let prog = Base::Section(SectionKind::Prog);
    let section = Section {
        kind: SectionKind::Prog,
        size: 8,
        runs: vec![SectionRun { offset: 0, bytes: vec![0x21, 0, 0, 0xCD, 0, 0, 0xC9, 1] }],
        relocs: vec![word(1, prog, 7), word(4, Base::Symbol(0), 0)],
    };
    assert_eq!((module.name.as_str(), &module.sections[..]), ("DEMO", &[section][..]));
    assert_eq!(module.start, Some(target(prog, 0)));
    let symbols: Vec<_> =
        module.symbols.iter().map(|one| (one.name.as_str(), one.value, one.binding)).collect();
    let start = SymbolValue::InSection(SectionKind::Prog, 0);
    assert_eq!(
        symbols,
        [("SUB", SymbolValue::Undefined, Binding::Global), ("START", start, Binding::Entry)]
    );
}

#[test]
fn a_code_continues_after_the_next_control_byte() {
    // Seven bytes leave one bit: the word's first; its second stands in the next control byte.
    let records = object(" .BYTE 1,2,3,4,5,6,7\n .WORD .\n .END\n");
    assert_eq!(records[2], ";0B0000010101020304050607070000D0");
}

#[test]
fn a_record_is_closed_at_24_bytes_of_which_some_are_control_bytes() {
    // 24 bytes are three control bytes and 21 of code; a word may end one further.
    let records = object(" .LOC 100H\n .ASCII /ABCDEFGHIJKLMNOPQRSTUVWX/\n .END\n");
    assert!(records[2].starts_with(";18010000") && records[3].starts_with(";0401150000"));
    let records = object(" .ASCII /ABCDEFGHIJKLMNOPQRST/\n .WORD .\n .BYTE 0\n .END\n");
    assert!(records[2].starts_with(";19000001") && records[3].starts_with(";02001601"));
}

#[test]
fn words_of_other_bases_carry_the_base() {
    let text = " .LOC 40H\nA1: .WORD B1,C1,.\n .LOC .DATA.\nB1: .BLKB 2\n .LOC .BLNK.\nC1: .BLKB \
    3\n .END\n";
    let records = object(text);
    // At a fixed address: two words of bases 2 and 3, then an absolute one.
    assert_eq!(records[1], "\\03.PROG.010000.DATA.020002.BLNK.03000365");
    assert_eq!(records[2], ";09004000D802000003000040009A");
}

/// `A1` is exported, `B1` is not.
const PAIR: &str = " .IDENT P\nA1:: NOP\nB1 == 1234H\n .END\n";

#[test]
fn psym_adds_all_symbols_behind_the_end_record() {
    let plain = object(PAIR);
    let mut all = object(&format!(" .PSYM\n{PAIR}"));
    // The sections come first, four entries a record. B1 and four blanks are F3H; with value and
    // count 13AH.
    assert_eq!(all.pop().as_deref(), Some("&01B1    001234C6"));
    let first = all.pop().expect("a record");
    assert!(first.starts_with("&04.PROG.010001.DATA.020000.BLNK.030000A1    010000"), "{first}");
    assert_eq!(all, plain);
    assert_eq!(object(&format!(" .PSYM\n .XPSYM\n{PAIR}")), plain);
    let known = |records: &[String]| {
        read_tdl(records.concat().as_bytes(), "X").expect("an object").remove(0).symbols.len()
    };
    assert_eq!(known(&plain), 1);
    assert_eq!(known(&object(&format!(" .PSYM\n{PAIR}"))), 2);
}

#[test]
fn xlink_leaves_the_code_alone() {
    let text =
        " .XLINK\nA1:: JMP A1\n .LOC 10H\n .WORD A1,B1\n .LOC .DATA.\nB1: .BYTE 1\n .END A1\n";
    // Words of .PROG. at a fixed address need no base: bits 10, then 110 for .DATA.
    let expected = [
        ";0400000140C30000F8".to_owned(),
        ";06001000B0000002000038".to_owned(),
        ";020000020001FB".to_owned(),
        ";00000001FF".to_owned(),
    ];
    assert_eq!(object(text), expected);
    let module = read_tdl(expected.concat().as_bytes(), "NAME").expect("an object").remove(0);
    assert_eq!(module.name, "NAME");
    let bases = |kind| -> Vec<Base> {
        module
            .section(kind)
            .map_or(Vec::new(), |one| one.relocs.iter().map(|reloc| reloc.target.base).collect())
    };
    let prog = Base::Section(SectionKind::Prog);
    let data = Base::Section(SectionKind::Data);
    assert_eq!(bases(SectionKind::Absolute), [prog, data]);
    assert_eq!(bases(SectionKind::Prog), [prog]);
}

#[test]
fn modules_of_one_source_share_the_file() {
    let records = object(" .IDENT ONE\n NOP\n .PRGEND\n .IDENT TWO\n HLT\n .END\n");
    let names = |text: &str| -> Vec<String> {
        let modules = read_tdl(text.as_bytes(), "X").expect("an object");
        modules.into_iter().map(|module| module.name).collect()
    };
    assert_eq!(names(&records.join("\r\n")), ["ONE", "TWO"]);
    let modules = read_tdl(records.concat().as_bytes(), "X").expect("an object");
    assert_eq!((modules[0].start, modules[1].start), (None, None));
    // Without names as well: each end record ends a module.
    let records = object(" .XLINK\n NOP\n .PRGEND\n .XLINK\n HLT\n .END\n");
    assert_eq!(names(&records.join("\n")), ["X", "X"]);
}

#[test]
fn the_form_of_an_object_is_that_of_each_module() {
    // As recorded for program s4854, whose first module alone has no names, and for s4731, whose
    // first module alone is Intel HEX.
    let kinds = |text: &str| -> String {
        object(text).iter().filter_map(|record| record.chars().next()).collect()
    };
    assert_eq!(kinds(" .XLINK\n NOP\n .PRGEND\n HLT\n .END\n"), ";;!\\;;");
    assert_eq!(kinds(" .PABS\n NOP\n .PRGEND\n HLT\n .END\n"), "!\\::!\\;;");
    assert_eq!(kinds(" .PSYM\n NOP\n .PRGEND\n HLT\n .END\n"), "!\\;;&!\\;;");
}

#[test]
fn what_the_format_has_no_room_for_is_refused_by_name() {
    assert_eq!(
        refusal(" .IDENT A\nVERYLONG:: NOP\n .END\n"),
        "module A: VERYLONG (demo.asm:2) is not a name for a TDL object: \
         that has one to six of A-Z, 0-9, $, % and ."
    );
    let mut small = without_order(PAIR);
    Arc::make_mut(&mut small.symbols)[0].name = "a1".into();
    let error = write_tdl(&[small], LINK).expect_err("no room").to_string();
    assert!(error.starts_with("module P: a1 (demo.asm:2) is not a name"), "{error}");
    let names: Vec<String> = (0..253).map(|number| format!(" .WORD E{number}#\n")).collect();
    let many = format!(" .IDENT A\n{} .END\n", names.concat());
    assert_eq!(refusal(&many), "module A has 253 externals; a TDL object has room for 252");
    let full = " .IDENT A\n .LOC .DATA.\n .BLKB 0FFFFH\n .BLKB 1\n .END\n";
    assert!(refusal(full).contains(".DATA. ends with reserved space at FFFFH"));
}

#[test]
fn what_the_original_leaves_out_of_an_object_is_named() {
    let losses = |text: &str| {
        let assembly = assembly(text);
        tdl_losses(&assembly.modules, assembly.object_form)
    };
    let external = " .IDENT A\nHERE: NOP\n CALL SUB#\n .END\n";
    assert_eq!(losses(external), Vec::<String>::new());
    let without_names = format!(" .XLINK\n{external}");
    assert!(losses(&without_names)[0].starts_with("module A: .XLINK leaves out the name of SUB"));
    assert_eq!(object(&without_names)[0], ";06000001 3000CD040000F8".replace(' ', ""));
    assert!(problem(object(&without_names).join("\r\n")).contains("base 4 is not declared"));
    let hex = " .PABS\n .IDENT A\n .LOC .DATA.\n .WORD 1\nHERE: .WORD HERE\n .END\n";
    assert!(losses(hex)[0].starts_with("module A: .PABS leaves out what the word at 0002H"));
    assert_eq!(losses(" .PABS\n .LOC 100H\nHERE: JMP HERE\n .END\n"), Vec::<String>::new());
}

#[test]
fn a_byte_that_moves_is_refused_by_name() {
    let mut module = without_order(DEMO);
    module.sections[0].relocs[1].kind = RelocKind::Low;
    let error = write_tdl(&[module], LINK).expect_err("no room").to_string();
    assert!(error.starts_with("module DEMO, at START+4: a byte depends on SUB"), "{error}");
    // Neither do fields that end after the section's bytes or share a byte.
    for offset in [2, 7] {
        let mut module = without_order(DEMO);
        module.sections[0].relocs[1].offset = offset;
        let error = write_tdl(&[module], LINK).expect_err("no room").to_string();
        assert!(error.contains("a relocated word is not within the bytes"), "{error}");
    }
}

#[test]
fn names_that_only_local_symbols_have_are_left_out() {
    assert!(object("VERYLONG: NOP\n .END\n").iter().all(|record| !record.contains("VERY")));
    assert!(refusal(" .PSYM\nVERYLONG: NOP\n .END\n").contains("VERYLONG"));
}

#[test]
fn records_of_pasm_are_read() {
    // Program, version 1.2, date and time; then CALL SUB+1 with a code 111 for its byte operand.
    let name = "!A     1F";
    let program = "+PROG  0102010180      9B";
    let bases = "\\01SUB   040000B1";
    let code = ";05000001703E0401C780";
    let file = [name, program, bases, code, ";0000000000"].join("\r\n");
    let module = read_tdl(file.as_bytes(), "X").expect("an object").remove(0);
    let section = &module.sections[0];
    assert_eq!(section.runs, [SectionRun { offset: 0, bytes: vec![0x3E, 0, 0xC7] }]);
    let target = Target { base: Base::Symbol(0), addend: 1 };
    assert_eq!(section.relocs, [Reloc { offset: 1, kind: RelocKind::Low, target }]);
}

#[test]
fn a_damaged_file_is_an_error_with_its_location() {
    let file = |at: usize, record: &str| {
        let mut records = DEMO_RECORDS.map(str::to_owned);
        records[at] = record.to_owned();
        records.join("\r\n")
    };
    // The records before take 9, 11, 53 and 17 bytes, and each line end two.
    assert_eq!(
        problem(file(4, ";0B0000014C210700CD040000C90002E5")),
        "record 5 (from byte 98 on): its checksum is E5H, but its fields give E4H; copy the file \
         again"
    );
    assert!(problem(file(0, "?DEMO  9B")).contains("'?' does not begin a record"));
    assert!(
        problem(file(1, "@0XSTART 51")).contains("record 2 (from byte 11 on): 'X' is not a hex")
    );
    assert!(problem(file(1, "@01ST*RT 51")).contains("'*' is not valid in a name"));
    assert!(problem(file(1, "@01      3F")).contains("a symbol has no name"));
    assert!(problem(file(5, ";000000")).contains("record 6 (from byte 133 on): the file ends"));
    assert!(
        problem(file(5, "")).contains("record 6 (from byte 133 on): the previous module has no")
    );
    assert!(problem(file(1, "!DEMO  9B")).contains("the previous module has no end record"));
    assert!(problem(file(3, "")).contains("no earlier record gives the entry point START a value"));
    assert!(problem(file(3, "#02START 010000START 010000A0")).contains("START is declared or def"));
    assert!(problem(file(2, "")).contains("relocation base 4 is not declared before"));
    assert!(problem(file(2, "\\01.PROG.00000863")).contains("base 0 cannot be declared here"));
    assert!(problem(file(4, ";0200000180007D")).contains("control bits"));
    assert!(problem(file(4, ";03FFFF01000101FC")).contains("its code goes past FFFFH"));
}

#[test]
fn later_code_takes_the_place_of_earlier_code_and_its_fields() {
    // A word of .PROG. at 0, then a byte on its second half.
    let text = "!A     1F\r\n;0300000180050077\r\n;020001010007F5\r\n;0000000000";
    let module = read_tdl(text.as_bytes(), "X").expect("an object").remove(0);
    assert_eq!(module.sections[0].runs, [SectionRun { offset: 0, bytes: vec![0, 7] }]);
    assert_eq!(module.sections[0].relocs, []);
}

#[test]
fn padding_of_the_last_sector_is_ignored_and_lower_case_is_upper_case() {
    let modules = read_tdl(DEMO_RECORDS.concat().as_bytes(), "X");
    let text = format!("{}\r\n\x1A{}\x1A\x1Ajunk", DEMO_RECORDS.join("\r\n"), "\0".repeat(9));
    assert_eq!(read_tdl(text.as_bytes(), "X"), modules);
    let small = text.replace("4C210700CD040000C9", "4c210700cd040000c9");
    assert_eq!(read_tdl(small.as_bytes(), "X"), modules);
    let mut file =
        write_tdl(modules.as_ref().expect("an object"), ObjectForm { binary: true, ..LINK })
            .expect("it can be written");
    file.resize(file.len().next_multiple_of(128), 0x1A);
    assert_eq!(read_tdl(&file, "X"), modules);
    let tape = [&[0; 99][..], DEMO_RECORDS.join("\r\n").as_bytes(), &[0; 99]].concat();
    assert_eq!(read_modules(&tape, "X").ok(), modules.ok());
    // DEMO in small letters sums up to 80H more.
    assert_eq!(read_tdl(b"!demo  1B\n;0000000000", "X").expect("an object")[0].name, "DEMO");
}

#[test]
fn names_of_modules_are_cut_or_that_of_the_original() {
    let first = |name: &str| {
        let module = Module { name: name.into(), ..Module::default() };
        let file = write_tdl(&[module], LINK).expect("it can be written");
        String::from_utf8_lossy(&file[2..9]).into_owned()
    };
    assert_eq!(first("longer_name"), "!.MAIN.");
    assert_eq!((first("Tables.1"), first("")), ("!TABLES".into(), "!.MAIN.".into()));
}

#[test]
fn words_of_symbols_defined_here_move_with_their_sections() {
    let mut module = without_order(DEMO);
    let place = |name: &str| module.symbols.iter().position(|one| one.name == name);
    let text = place("TEXT").expect("TEXT");
    let five = module.symbols.len();
    let number = symbol("FIVE", SymbolValue::Absolute(5), Binding::Local);
    Arc::make_mut(&mut module.symbols).push(number);
    for (reloc, symbol) in module.sections[0].relocs.iter_mut().zip([text, five]) {
        reloc.target = Target { base: Base::Symbol(symbol), addend: 1 };
    }
    let file = write_tdl(&[module], LINK).expect("it can be written");
    let section = read_tdl(&file, "X").expect("an object")[0].sections[0].clone();
    // TEXT is at 7: 8 in .PROG.; five and one are six, which is absolute.
    assert_eq!(section.runs[0].bytes, [0x21, 0, 0, 0xCD, 6, 0, 0xC9, 1]);
    let target = Target { base: Base::Section(SectionKind::Prog), addend: 8 };
    assert_eq!(section.relocs, [Reloc { offset: 1, kind: RelocKind::Word, target }]);
}

#[test]
fn what_a_module_cannot_hold_is_an_error() {
    let pool = "\\01POOL  0400047D";
    let end = ";0000000000";
    let file = |record: &str| [pool, record, end].join("\n");
    assert!(problem(file(";020000040001F9")).contains("it has code for the shared area POOL"));
    assert!(problem(file("#01A1    04000108")).contains("A1 is a place in a shared area"));
    assert!(problem("").contains("the file contains no module"));
    // The symbols of a module come behind its end record, before the next one begins.
    let symbols = "&01A1    0000000D";
    assert!(read_tdl([end, symbols].concat().as_bytes(), "X").is_ok());
    assert!(problem([end, "!A     1F", symbols, end].concat()).contains("record 3"));
}

/// The parts of a section, one after the other.
#[derive(Debug, Clone)]
enum Piece {
    Bytes(Vec<u8>),
    Reserved(u16),
    Word(Base, u16),
}

/// The externals of the modules made here; the first is a shared area.
const EXTERNALS: [&str; 3] = ["POOL", "X.1", "$%"];

fn piece() -> impl Strategy<Value = Piece> {
    let section = prop_oneof![
        Just(Base::Section(SectionKind::Prog)),
        Just(Base::Section(SectionKind::Data)),
        Just(Base::Section(SectionKind::Blank)),
        (0..EXTERNALS.len()).prop_map(Base::Symbol),
    ];
    prop_oneof![
        proptest::collection::vec(any::<u8>(), 1..40).prop_map(Piece::Bytes),
        (1u16..300).prop_map(Piece::Reserved),
        (section, any::<u16>()).prop_map(|(base, addend)| Piece::Word(base, addend)),
    ]
}

fn section(kind: SectionKind) -> impl Strategy<Value = Option<Section>> {
    let pieces = proptest::collection::vec(piece(), 0..20);
    (pieces, 0u16..0x8000).prop_map(move |(pieces, start)| build(kind, &pieces, start))
}

fn build(kind: SectionKind, pieces: &[Piece], start: u16) -> Option<Section> {
    let mut section = Section { kind, size: 0, runs: Vec::new(), relocs: Vec::new() };
    let mut at = start;
    let mut open = false;
    for piece in pieces {
        let bytes = match piece {
            Piece::Bytes(bytes) => bytes.clone(),
            Piece::Word(..) => vec![0, 0],
            Piece::Reserved(count) => {
                (at, open) = (at + count, false);
                continue;
            }
        };
        if let Piece::Word(base, addend) = piece {
            let target = Target { base: *base, addend: (*addend).into() };
            section.relocs.push(Reloc { offset: at, kind: RelocKind::Word, target });
        }
        if !std::mem::replace(&mut open, true) {
            section.runs.push(SectionRun { offset: at, bytes: Vec::new() });
        }
        at += bytes.len() as u16;
        section.runs.last_mut()?.bytes.extend(bytes);
    }
    let last = section.runs.last();
    let end = last.map_or(0, |run| u32::from(run.offset) + run.bytes.len() as u32);
    // Space at fixed addresses leaves no trace in the file.
    section.size = if kind == SectionKind::Absolute { end } else { at.into() };
    (section.size > 0).then_some(section)
}

prop_compose! {
    /// A module as the reader creates it: externals first, then exports, then local symbols,
    /// without places.
    fn module()(
        sections in (
            section(SectionKind::Absolute),
            section(SectionKind::Prog),
            section(SectionKind::Data),
            section(SectionKind::Blank),
        ),
        names in proptest::collection::btree_set("[A-Z][A-Z0-9.$%]{4,5}", 0..12),
        values in proptest::collection::vec((any::<u16>(), 0..4u8), 12),
        exported in 0..12usize,
        pool in 1..900u16,
        start in 1..900i32,
    ) -> Module {
        let mut symbols: Vec<Symbol> = EXTERNALS.map(|name| {
            symbol(name, SymbolValue::Undefined, Binding::Global)
        }).into();
        symbols[0].value = SymbolValue::Common { size: pool };
        for (at, (name, (value, base))) in names.iter().zip(values).enumerate() {
            let value = match base {
                0 => SymbolValue::Absolute(value),
                1 => SymbolValue::InSection(SectionKind::Prog, value),
                2 => SymbolValue::InSection(SectionKind::Data, value),
                _ => SymbolValue::InSection(SectionKind::Blank, value),
            };
            let kinds = [Binding::Global, Binding::Entry];
            let binding = if at < exported { kinds[at % 2] } else { Binding::Local };
            symbols.push(symbol(name, value, binding));
        }
        let sections = [sections.0, sections.1, sections.2, sections.3];
        Module {
            name: "NAME".into(),
            sections: sections.into_iter().flatten().collect(),
            symbols: symbols.into(),
            start: Some(Target { base: Base::Section(SectionKind::Data), addend: start }),
            lines: Lines::default(),
            source_order: None,
        }
    }
}

fn symbol(name: &str, value: SymbolValue, binding: Binding) -> Symbol {
    Symbol { name: name.into(), value, binding, place: None }
}

fn is_external(symbol: &Symbol) -> bool {
    matches!(symbol.value, SymbolValue::Undefined | SymbolValue::Common { .. })
}

proptest! {
    #[test]
    fn modules_come_back_as_they_were(
        modules in proptest::collection::vec(module(), 1..3),
        binary: bool,
    ) {
        let form = ObjectForm { binary, hex: false, linkage: true, symbols: true };
        let file = write_tdl(&modules, form).expect("it can be written");
        // Entry points are listed before other exports.
        let mut modules = modules;
        for module in &mut modules {
            let order = |one: &Symbol| match (one.binding, is_external(one)) {
                (_, true) => 0,
                (Binding::Entry, _) => 1,
                (Binding::Global, _) => 2,
                (Binding::Local, _) => 3,
            };
            Arc::make_mut(&mut module.symbols).sort_by_key(order);
        }
        prop_assert_eq!(read_tdl(&file, "X"), Ok(modules));
    }

    #[test]
    fn damaged_files_are_errors_and_never_worse(at: usize, value: u8, cut: usize, binary: bool) {
        let modules = assembly(DEMO).modules;
        let file = write_tdl(&modules, ObjectForm { binary, ..LINK }).expect("it can be written");
        // No checksum covers the mark of the end and the padding of the last disk record.
        let text = file.iter().rposition(|byte| *byte == 0x1A).unwrap_or(file.len());
        let mut damaged = file.clone();
        damaged[at % text] ^= value;
        let read = read_tdl(&damaged, "X");
        // The checksums detect one wrong field; line ends between the records may change.
        let harmless = read.is_err() || read.as_ref() == read_tdl(&file, "X").as_ref();
        prop_assert!(harmless, "{:?}", read);
        // The padding of the last disk record may be missing.
        prop_assert!(read_tdl(&file[..cut % text], "X").is_err());
    }
}

#[test]
fn a_section_may_end_at_the_last_address() {
    let text = " .IDENT A\n .LOC .DATA.\n .BLKB 0FFFFH\n .BYTE 5\n .END\n";
    let modules = assembly(text).modules;
    let file = write_tdl(&modules, LINK).expect("it can be written");
    assert_eq!(read_tdl(&file, "X").expect("an object")[0].sections, modules[0].sections);
}

#[test]
fn objects_link_to_the_program_that_the_modules_link_to() {
    let sub = "SUB:: LXI D,POOL\n RET\n .EXTERN POOL\n .LOC POOL\n .BLKB 9\n .END\n";
    let mut modules = assembly(DEMO).modules;
    modules.extend(assembly(sub).modules);
    let layout = Layout::parse(
        "[[region]]\nname = 'ram'\nstart = 0x8000\nsize = 0x100\n\
         [[place]]\nsection = '.PROG.'\nregion = 'ram'\n\
         [[place]]\nsection = '.BLNK.'\nregion = 'ram'\n",
    );
    let layout = layout.expect("the layout");
    let direct = link(&modules, &layout).expect("a program");
    // DEMO is 8 bytes, SUB 4, so that the shared area begins at 800CH.
    assert_eq!((direct.symbol("SUB"), direct.symbol("POOL")), (Some(0x8008), Some(0x800C)));
    for binary in [false, true] {
        let file = write_tdl(&modules, ObjectForm { binary, ..LINK }).expect("an object");
        let read = read_tdl(&file, "X").expect("an object");
        let through = link(&read, &layout).expect("a program");
        assert_eq!((through.image, through.entry), (direct.image.clone(), direct.entry));
    }
}
