//! The linker: placement by layout, symbols across modules, fields, and all errors.

use tdlasm::link::{Layout, LayoutError, LinkErrors, Program, link};
use tdlasm::module::*;

const LAYOUT: &str = r#"
    [[region]]
    name = "rom"
    start = 0x1000
    size = 0x40
    [[region]]
    name = "ram"
    start = 0x8000
    size = 0x200
    [[place]]
    section = ".PROG."
    region = "rom"
    [[place]]
    section = ".data"
    module = "TABLES"
    region = "ram"
    align = 256
    [[place]]
    section = ".DATA."
    region = "ram"
    [[place]]
    section = ".BLNK."
    region = "ram"
    [symbols]
    STACK = 0xF000
"#;

fn section(kind: SectionKind, bytes: &[u8], relocs: Vec<Reloc>) -> Section {
    let runs = vec![SectionRun { offset: 0, bytes: bytes.to_vec() }];
    Section { kind, size: bytes.len() as u32, runs, relocs }
}

fn symbol(name: &str, value: SymbolValue, binding: Binding) -> Symbol {
    let place = Some(Place { file: "a.asm".into(), line: 7 });
    Symbol { name: name.into(), value, binding, place }
}

fn module(name: &str, sections: Vec<Section>, symbols: Vec<Symbol>) -> Module {
    Module {
        name: name.into(),
        sections,
        symbols: symbols.into(),
        start: None,
        lines: Lines::default(),
        source_order: None,
    }
}

fn field(offset: u16, kind: RelocKind, base: Base, addend: i32) -> Reloc {
    Reloc { offset, kind, target: Target { base, addend } }
}

fn linked(modules: &[Module]) -> Result<Program, LinkErrors> {
    link(modules, &Layout::parse(LAYOUT).expect("the layout is right"))
}

fn message(modules: &[Module]) -> String {
    linked(modules).expect_err("it is wrong").to_string()
}

#[test]
fn sections_follow_in_link_order_and_rules_for_one_module_come_first() {
    let data = |name| module(name, vec![section(SectionKind::Data, &[1, 2, 3], vec![])], vec![]);
    let program = linked(&[data("A"), data("B"), data("TABLES")]).expect("it fits");
    let places: Vec<_> = program.sections.iter().map(|s| (s.module.as_str(), s.address)).collect();
    assert_eq!(places, [("TABLES", 0x8000), ("A", 0x8003), ("B", 0x8006)]);
}

#[test]
fn fields_hold_the_final_values() {
    let relocs = vec![
        field(0, RelocKind::Word, Base::Symbol(0), 1),
        field(2, RelocKind::Low, Base::Section(SectionKind::Prog), 0x234),
        field(3, RelocKind::High, Base::Section(SectionKind::Prog), 0x234),
        field(4, RelocKind::Rel8, Base::Section(SectionKind::Prog), 0),
        field(5, RelocKind::Disp8, Base::Absolute, -3),
        field(6, RelocKind::Word, Base::Symbol(1), 0),
    ];
    let undefined = |name| symbol(name, SymbolValue::Undefined, Binding::Global);
    let user = module(
        "USER",
        vec![section(SectionKind::Prog, &[0; 8], relocs)],
        vec![undefined("OTHER"), undefined("STACK")],
    );
    let other = module(
        "OTHERS",
        vec![section(SectionKind::Prog, &[9, 9], vec![])],
        vec![symbol("OTHER", SymbolValue::InSection(SectionKind::Prog, 1), Binding::Global)],
    );
    let program = linked(&[user, other]).expect("all is defined");
    // USER is at 1000H, OTHERS at 1008H, OTHER at 1009H; the jump at 1004H goes back to 1000H.
    let bytes = program.image.flat(0);
    assert_eq!(bytes, [0x0A, 0x10, 0x34, 0x12, 0xFB, 0xFD, 0x00, 0xF0, 9, 9]);
    assert_eq!((program.symbol("OTHER"), program.symbol("STACK")), (Some(0x1009), Some(0xF000)));
}

#[test]
fn reserved_space_is_not_in_the_image() {
    let mut blank = section(SectionKind::Blank, &[], vec![]);
    blank.size = 0x20;
    let program = linked(&[module("A", vec![blank], vec![])]).expect("it fits");
    assert!(program.image.runs().is_empty());
    assert_eq!(program.sections[0].size, 0x20);
}

#[test]
fn shared_areas_take_the_largest_size_after_the_blank_section() {
    let common = |size| symbol("POOL", SymbolValue::Common { size }, Binding::Global);
    let after = symbol("TOP", SymbolValue::Common { size: 1 }, Binding::Global);
    let program = linked(&[
        module("A", vec![], vec![common(4)]),
        module("B", vec![], vec![common(16), after]),
    ]);
    let program = program.expect("it fits");
    assert_eq!((program.symbol("POOL"), program.symbol("TOP")), (Some(0x8000), Some(0x8010)));
}

#[test]
fn an_absolute_program_needs_no_layout() {
    let mut absolute = section(SectionKind::Absolute, &[0xC9], vec![]);
    absolute.runs[0].offset = 0x4000;
    absolute.size = 0x4001;
    let program = link(&[module("A", vec![absolute], vec![])], &Layout::default());
    assert_eq!(program.expect("it stands").image.bounds(), Some((0x4000, 0x4000)));
}

#[test]
fn undefined_symbols_are_all_named_with_their_users() {
    let relocs = vec![
        field(2, RelocKind::Word, Base::Symbol(1), 0),
        field(4, RelocKind::Word, Base::Symbol(2), 0),
    ];
    let user = module(
        "USER",
        vec![section(SectionKind::Prog, &[0; 6], relocs)],
        vec![
            symbol("HERE", SymbolValue::InSection(SectionKind::Prog, 1), Binding::Local),
            symbol("NONE", SymbolValue::Undefined, Binding::Global),
            symbol("NEVER", SymbolValue::Undefined, Binding::Global),
        ],
    );
    let text = message(&[user]);
    assert!(
        text.contains(
            "error[L001]: no module defines NONE; it is used in module USER, at HERE+1 (1002H)"
        ),
        "{text}"
    );
    assert!(text.contains("no module defines NEVER"), "{text}");
}

#[test]
fn a_second_definition_names_both_places() {
    let exporting =
        |name| module(name, vec![], vec![symbol("X", SymbolValue::Absolute(1), Binding::Global)]);
    let text = message(&[exporting("A"), exporting("B")]);
    assert!(
        text.contains("X is defined twice: a.asm:7 (module A) and a.asm:7 (module B)"),
        "{text}"
    );
}

#[test]
fn a_section_too_long_names_the_last_label_that_fits() {
    let labels = [("FIRST", 0), ("LAST", 0x3F), ("OUTSIDE", 0x48)];
    let labels = labels.map(|(name, at)| {
        symbol(name, SymbolValue::InSection(SectionKind::Prog, at), Binding::Local)
    });
    let long = module("A", vec![section(SectionKind::Prog, &[0; 0x50], vec![])], labels.into());
    let text = message(&[long]);
    assert!(text.contains(".PROG. of module A is 16 bytes too long for region 'rom'"), "{text}");
    assert!(text.contains("after LAST"), "{text}");
}

#[test]
fn overlapping_code_names_both_modules_and_their_labels() {
    let at = |name: &str, offset| {
        let mut absolute = section(SectionKind::Absolute, &[0; 4], vec![]);
        absolute.runs[0].offset = offset;
        absolute.size = u32::from(offset) + 4;
        let label = SymbolValue::InSection(SectionKind::Absolute, offset);
        let label = symbol(&format!("TOP{name}"), label, Binding::Local);
        module(name, vec![absolute], vec![label])
    };
    let text = message(&[at("A", 0x102), at("B", 0x100)]);
    let places = "module B, at TOPB+2 (0102H) and module A, at TOPA (0102H) both fill 2 bytes";
    assert!(text.contains(places), "{text}");
}

#[test]
fn values_that_do_not_fit_their_field_are_refused() {
    for (kind, value, held) in [
        (RelocKind::Rel8, 0x1081, "a relative jump"),
        (RelocKind::Disp8, 128, "an index displacement"),
        (RelocKind::Abs8, 256, "8 bits"),
    ] {
        let relocs = vec![field(0, kind, Base::Absolute, value)];
        let text = message(&[module("A", vec![section(SectionKind::Prog, &[0], relocs)], vec![])]);
        assert!(text.contains(held), "{text}");
    }
    // 1080H is 127 bytes after 1001H, the end of the jump.
    let fits = vec![field(0, RelocKind::Rel8, Base::Absolute, 0x1080)];
    let jump = module("A", vec![section(SectionKind::Prog, &[0], fits)], vec![]);
    assert_eq!(linked(&[jump]).expect("it fits").image.byte(0x1000), Some(127));
}

#[test]
fn errors_in_a_layout_are_located() {
    let wrong = |from: &str, to: &str| Layout::parse(&LAYOUT.replace(from, to)).expect_err("wrong");
    assert!(
        matches!(wrong("align", "aligned"), LayoutError::Syntax(text) if text.contains("aligned"))
    );
    assert!(
        matches!(wrong(".BLNK.", ".STACK."), LayoutError::Syntax(text) if text.contains(".STACK."))
    );
    assert_eq!(wrong("align = 256", "align = 3"), LayoutError::Alignment(3));
    for size in ["size = 0x8001", "size = 0xFFFFFFFF"] {
        assert_eq!(wrong("size = 0x200", size), LayoutError::RegionSize("ram".into()));
    }
    assert!(matches!(wrong("start = 0x8000", "start = 0x103F"), LayoutError::RegionsOverlap(..)));
    assert!(matches!(wrong("region = \"rom\"", "region = \"r\""), LayoutError::UnknownRegion(..)));
}

#[test]
fn a_section_without_a_rule_is_named() {
    let prog = module("A", vec![section(SectionKind::Prog, &[0], vec![])], vec![]);
    let errors = link(&[prog], &Layout::default()).expect_err("nothing places it");
    assert!(errors.to_string().contains("no rule of the layout places .PROG. of module A"));
}

#[test]
fn the_map_shows_sections_gaps_and_symbols() {
    let labelled = |name: &str, size: usize, at| {
        let label = symbol(at, SymbolValue::InSection(SectionKind::Data, 0), Binding::Global);
        module(name, vec![section(SectionKind::Data, &vec![0; size], vec![])], vec![label])
    };
    let program = linked(&[labelled("TABLES", 3, "PAGE"), labelled("A", 2, "VARS")]);
    let map = program.expect("it fits").map();
    let expected = "\
address      size  section        module
8000H-8002H     3H  .DATA.         TABLES
8003H-8004H     2H  .DATA.         A

value  symbol  module
8000H  PAGE    TABLES
8003H  VARS    A
F000=  STACK   (layout)
";
    assert_eq!(map, expected);
}

#[test]
fn the_symbol_file_has_the_addresses_in_order() {
    let labels = [("LAST", 2), ("FIRST", 0)].map(|(name, at)| {
        symbol(name, SymbolValue::InSection(SectionKind::Prog, at), Binding::Local)
    });
    let code = module("A", vec![section(SectionKind::Prog, &[0; 4], vec![])], labels.into());
    assert_eq!(linked(&[code]).expect("it fits").symbol_file(), "1000 FIRST\n1002 LAST\n");
}

#[test]
fn a_shared_area_that_does_not_fit_is_named() {
    let pool = symbol("POOL", SymbolValue::Common { size: 0x201 }, Binding::Global);
    let text = message(&[module("A", vec![], vec![pool])]);
    assert!(
        text.contains("the shared area of module A is 1 bytes too long for region 'ram'"),
        "{text}"
    );
    assert!(text.contains("POOL"), "{text}");
}

#[test]
fn a_program_with_thousands_of_errors_describes_a_hundred_and_counts_the_rest() {
    let names: Vec<String> = (0..1000).map(|at| format!("E{at}")).collect();
    let symbol = |name: &String| symbol(name, SymbolValue::Undefined, Binding::Global);
    let fields = (0..1000).map(|at| field(0, RelocKind::Low, Base::Symbol(at), 0)).collect();
    let module = module(
        "A",
        vec![section(SectionKind::Prog, &[0], fields)],
        names.iter().map(symbol).collect(),
    );
    let shown = message(&[module]);
    assert_eq!(shown.lines().count(), 101);
    assert!(shown.ends_with("900 more errors of this program are left out"), "{shown}");
}

#[test]
fn an_error_that_main_returns_is_shown_as_its_messages() {
    let undefined = symbol("NONE", SymbolValue::Undefined, Binding::Global);
    let words =
        section(SectionKind::Prog, &[0; 2], vec![field(0, RelocKind::Word, Base::Symbol(0), 0)]);
    let errors = linked(&[module("A", vec![words], vec![undefined])]).expect_err("it is wrong");
    assert!(format!("{errors:?}").starts_with("error["), "{errors:?}");
    assert_eq!(format!("{errors:?}"), errors.to_string());
}
