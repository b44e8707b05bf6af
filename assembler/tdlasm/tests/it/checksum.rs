//! Checksums in the image, compared with published check values and sums computed by hand.

use tdlasm::image::Image;
use tdlasm::link::{Layout, LayoutError, Program, link};
use tdlasm::module::*;

/// One region, its code from 1000H on, and a checksum.
fn layout(checksum: &str) -> Result<Layout, LayoutError> {
    Layout::parse(&format!(
        "[[region]]\nname = 'rom'\nstart = 0x1000\nsize = 0x100\n\
         [[place]]\nsection = '.PROG.'\nregion = 'rom'\n\
         {checksum}"
    ))
}

fn checksum_rule(kind: &str, from: u16, to: u16, at: u16) -> String {
    format!("[[checksum]]\nkind = '{kind}'\nfrom = {from}\nto = {to}\nat = {at}\n")
}

fn module(bytes: &[u8]) -> Module {
    let runs = vec![SectionRun { offset: 0, bytes: bytes.to_vec() }];
    let kind = SectionKind::Prog;
    let size = bytes.len() as u32;
    let sections = vec![Section { kind, size, runs, relocs: vec![] }];
    let name = "LABEL".into();
    let binding = Binding::Local;
    let value = SymbolValue::InSection(kind, 2);
    let symbols = vec![Symbol { name, value, binding, place: None }];
    Module {
        name: "A".into(),
        sections,
        symbols: symbols.into(),
        start: None,
        lines: Lines::default(),
        source_order: None,
    }
}

fn program(bytes: &[u8], checksums: &str) -> Program {
    link(&[module(bytes)], &layout(checksums).expect("the layout")).expect("it fits")
}

fn bytes(image: &Image, at: u16, count: u16) -> Vec<Option<u8>> {
    (at..at + count).map(|at| image.byte(at)).collect()
}

/// The check values of the CRCs are those of Greg Cook's catalogue; 31H to 39H add up to 1DDH.
#[test]
fn the_digits_one_to_nine_have_their_published_checksums() {
    for (kind, expected) in [
        ("sum8", &[0xDD][..]),
        ("sum16", &[0xDD, 0x01]),
        ("crc16-ibm3740", &[0xB1, 0x29]),
        ("crc-32", &[0x26, 0x39, 0xF4, 0xCB]),
    ] {
        let program = program(b"123456789", &checksum_rule(kind, 0x1000, 0x1008, 0x1010));
        let mut expected: Vec<_> = expected.iter().copied().map(Some).collect();
        expected.push(None);
        assert_eq!(bytes(&program.image, 0x1010, expected.len() as u16), expected, "{kind}");
        assert_eq!(program.image.flat(0)[..9], *b"123456789");
    }
}

#[test]
fn gaps_count_as_the_fill_and_reserved_space_may_hold_the_checksum() {
    // Two bytes of program, two of the fill FFH: 01 + 02 + FF + FF = 201H.
    let program = program(&[1, 2], &checksum_rule("sum16", 0x1000, 0x1003, 0x1004));
    assert_eq!(program.image.flat(0xFF), [1, 2, 0xFF, 0xFF, 0x01, 0x02]);
    let mut reserved = module(&[1, 2]);
    reserved.sections[0].size = 6;
    let layout = layout(&checksum_rule("sum16", 0x1000, 0x1001, 0x1004)).expect("the layout");
    let program = link(&[reserved], &layout).expect("it fits");
    assert_eq!(program.image.flat(0), [1, 2, 0, 0, 3, 0]);
}

#[test]
fn a_later_checksum_covers_an_earlier_one() {
    let two = [
        checksum_rule("sum8", 0x1000, 0x1001, 0x1002),
        checksum_rule("sum8", 0x1000, 0x1002, 0x1003),
    ]
    .concat();
    assert_eq!(program(&[1, 2], &two).image.flat(0), [1, 2, 3, 6]);
}

#[test]
fn the_map_shows_the_checksums() {
    let map = program(b"123456789", &checksum_rule("crc16-ibm3740", 0x1000, 0x1008, 0x1010)).map();
    assert!(map.contains("\ncrc16-ibm3740 of 1000H-1008H at 1010H: 29B1H\n"), "{map}");
}

#[test]
fn a_checksum_on_bytes_of_the_program_is_an_error_that_names_them() {
    let layout = layout(&checksum_rule("crc-32", 0x1000, 0x1001, 0x1002)).expect("the layout");
    let error = link(&[module(&[0; 5])], &layout).expect_err("no place").to_string();
    assert_eq!(
        error,
        "error[L007]: the crc-32 checksum at 1002H has no place: \
         the program has a byte at 1002H, after LABEL"
    );
    // The last of its four bytes collides as well.
    let layout =
        self::layout(&checksum_rule("crc-32", 0x1010, 0x1011, 0x1001)).expect("the layout");
    assert!(link(&[module(&[0])], &layout).is_ok());
    assert!(link(&[module(&[0, 0])], &layout).is_err());
}

#[test]
fn a_checksum_that_cannot_be_is_refused_with_the_layout() {
    let refused = |text: &str| match layout(text) {
        Err(LayoutError::Checksum(at, why)) => (at, why),
        other => panic!("{text}: {other:?}"),
    };
    assert!(refused(&checksum_rule("sum8", 0x1001, 0x1000, 0x1004)).1.contains("below"));
    assert!(refused(&checksum_rule("crc-32", 0x1004, 0x1008, 0x1001)).1.contains("its own bytes"));
    assert!(layout(&checksum_rule("crc-32", 0x1005, 0x1008, 0x1001)).is_ok());
    assert_eq!(
        refused(&checksum_rule("crc-32", 0x1000, 0x1001, 0x10FD)),
        (0x10FD, "is not within a region")
    );
    assert!(layout(&checksum_rule("crc-32", 0x1000, 0x1001, 0x10FC)).is_ok());
    assert_eq!(refused(&checksum_rule("sum8", 0, 1, 0x0FFF)).1, "is not within a region");
    let both = [checksum_rule("sum16", 0, 1, 0x1010), checksum_rule("sum8", 0, 1, 0x1011)].concat();
    assert_eq!(refused(&both), (0x1011, "shares its place with another"));
    assert!(matches!(layout(&checksum_rule("md5", 0, 1, 0x1010)), Err(LayoutError::Syntax(_))));
}
