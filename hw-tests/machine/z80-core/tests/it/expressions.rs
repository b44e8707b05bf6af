//! Expressions over registers and memory.

use z80_core::{Expression, Name, Values, parse_address, parse_number};

struct Five;

impl Values for Five {
    fn value(&self, _: &str) -> i64 {
        5
    }
    fn byte(&self, address: u16) -> u8 {
        address as u8
    }
}

fn value(text: &str) -> Option<i64> {
    let name = |name: &str| match name {
        "A" => Some(Name::Variable),
        "LABEL" => Some(Name::Constant(0x1234)),
        _ => None,
    };
    Expression::parse(text, 0xF_FFFF, &name).ok().map(|expression| expression.value(&Five))
}

#[test]
fn operators_bind_as_documented() {
    for (text, expected) in [
        ("2 + A * 3", 17),
        ("65535 * 65535", 65535 * 65535),
        ("0 - A", -5),
        ("A == 5 && A != 4 || 0", 1),
        ("!(A < 5) & !0", 1),
        ("[LABEL]", 0x34),
        ("{0x34}", 0x3534),
        ("7 % 4 | 8 ^ 1", 10),
        ("7 / 0", 0),
        ("1 << 3 + 1", 9),
        ("0x80 >> 4 == 8", 1),
        ("-A + 7", 2),
        ("2 - -3", 5),
        ("~0 & 0xFF", 0xFF),
        ("'A' + 1", 0x42),
        ("LABEL.b", 0x34),
        ("LABEL.w + 1", 0x3535),
        ("(LABEL + 1).B", 0x35),
        ("A << 64", 0),
        ("sb(0FFH)", -1),
        ("SB(LABEL - 0B4H + 1) < 0", 1),
        ("sw(8000H) / 2", -16384),
        ("sw({0x7F}) + 1", -32640),
        ("sw(sb(80H)) >> 1", -64),
    ] {
        assert_eq!(value(text), Some(expected), "{text}");
    }
}

#[test]
fn a_chain_of_operators_may_have_any_length() {
    for (operator, expected) in [("+", 100_000), ("-", -99_998), ("*", 1), ("==", 1), ("||", 1)] {
        let text = vec!["1"; 100_000].join(operator);
        assert_eq!(value(&text), Some(expected), "{operator}");
    }
}

#[test]
fn variables_and_memory_are_listed() {
    let name = |name: &str| matches!(name, "A" | "B").then_some(Name::Variable);
    let parse = |text| Expression::parse(text, 0xFF, &name).expect("it is valid");
    let memory = parse("B == [A] + B");
    assert_eq!(memory.variables(), ["B", "A"]);
    assert_eq!(memory.memory_operands(), [parse("[A]")]);
    assert!(!parse("!A").reads_memory());
}

#[test]
fn what_is_no_expression_is_refused() {
    let deep = format!("{}1", "(".repeat(40));
    let nots = format!("{}1", "!".repeat(100_000));
    let suffixes = [format!("A{}", ".b".repeat(100_000)), format!("(A){}", ".w".repeat(40))];
    for (text, expected) in [
        ("", "missing value at the end"),
        ("A ==", "missing value at the end"),
        ("B", "unknown name 'B'"),
        ("A & & 1", "missing value before '& 1'"),
        ("(A", "missing ) at the end"),
        ("[A) + 1", "missing ] before ') + 1'"),
        ("A 5", "unexpected '5' after the expression"),
        ("1000000H", "1000000H has more than 20 bits"),
        ("99999999999999999999", "99999999999999999999 has more than 20 bits"),
        ("12X", "unknown name '12X'"),
        (&deep, "brackets nested deeper than 32"),
        (&nots, "brackets nested deeper than 32"),
        (&suffixes[0], "brackets nested deeper than 32"),
        (&suffixes[1], "brackets nested deeper than 32"),
    ] {
        let parsed =
            Expression::parse(text, 0xF_FFFF, &|name| (name == "A").then_some(Name::Variable));
        assert_eq!(parsed.map_err(|error| error.to_string()), Err(expected.to_owned()));
    }
}

#[test]
fn names_of_other_tools_may_contain_any_character() {
    for text in ["other@inner", "what?", "n\u{e4}me", "?b0000"] {
        let name = |name: &str| (name == text).then_some(Name::Constant(7));
        let value = |text: &str| Expression::parse(text, 0xFFFF, &name).map(|one| one.value(&Five));
        assert_eq!((value(text), value(&format!("2 * {text}+1"))), (Ok(7), Ok(15)), "{text}");
    }
    // What is an operator here is part of a name only if the name stands alone.
    for text in ["0>again", "outer inner", "a::b"] {
        let name = |name: &str| (name == text).then_some(Name::Constant(7));
        let parsed = Expression::parse(&format!(" {text} "), 0xFFFF, &name);
        assert_eq!(parsed.map(|one| one.value(&Five)), Ok(7), "{text}");
    }
}

#[test]
fn numbers_are_read_as_they_are_printed() {
    for number in 0..=0xFFFF_u16 {
        let (word, byte) = (format!("{number:04X}H"), format!("{:02X}H", number & 0xFF));
        assert_eq!((parse_number(&word), value(&word)), (Some(number), Some(number.into())));
        assert_eq!(parse_number(&byte), Some(number & 0xFF));
        assert_eq!(value(&byte), Some((number & 0xFF).into()));
    }
    assert_eq!(value("C000H + 1"), Some(0xC001));
    assert_eq!((value("C00H"), value("EACH"), value("c000h")), (None, None, None));
    assert_eq!((parse_address("8000H"), parse_address("0x10")), (Ok(0x8000), Ok(0x10)));
    assert!(parse_address("LABEL").is_err());
    // A label may be spelled like a number that begins with a letter.
    let label = |name: &str| (name == "FACEH").then_some(Name::Constant(7));
    let parsed = Expression::parse("FACEH", 0xFFFF, &label);
    assert_eq!(parsed.map(|one| one.value(&Five)), Ok(7));
}
