//! What Zilog's notation means, where the language manual says so, and its messages.

use tdlasm::diag::render;
use tdlasm::link::{Layout, link};
use tdlasm::module::{Binding, SectionKind, Symbol, SymbolValue};
use tdlasm::source::MemoryLoader;
use tdlasm::{Assembly, Notation, Options, asm};

use crate::generator::random::Random;

fn assembly(text: &str, options: Options) -> Assembly {
    let loader = MemoryLoader::new()
        .with("a.asm", text)
        .with("part.inc", "PART\tEQU 77H\n")
        .with("data.bin", [1, 2, 0x1A, 4]);
    asm::run(&loader, &["a.asm".into()], &options)
}

fn zilog() -> Options {
    Options { notation: Notation::Zilog, ..Options::default() }
}

fn bytes(assembly: &Assembly) -> Vec<u8> {
    let messages = render::short(&assembly.diagnostics, &assembly.sources);
    assert_eq!(messages.trim(), "");
    link(&assembly.modules, &Layout::flat(0)).expect("a program that links").image.flat(0)
}

/// The bytes of lines in Zilog's notation.
fn code(lines: &str) -> Vec<u8> {
    bytes(&assembly(lines, zilog()))
}

#[test]
fn expressions_have_m80s_order_and_16_bits() {
    for (expression, value) in [
        ("1+2*3", 7),
        ("-1+2", 1),
        ("1 SHL 2+1", 5),
        ("1 OR 2 AND 4", 1),
        ("NOT 1 EQ 1", 0),
        ("7 MOD 4*2", 6),
        ("HIGH 1234H+1", 0x13),
        ("LOW(1234H+1)", 0x35),
        ("(-1)/2", 0x7FFF),
        ("1 LT 2", 0xFFFF),
        ("1>2 || 3<>4", 0xFFFF),
        ("!5", 0),
        ("~0", 0xFFFF),
        ("'AB'", 0x4142),
        ("\"A\"", 0x41),
        ("0xffff+2", 1),
        ("(2+3)*(4-1)", 15),
        ("$", 2),
    ] {
        let found = code(&format!("\tORG 2\n\tDW {expression}\n"));
        assert_eq!(found, u16::to_le_bytes(value), "{expression}");
    }
}

#[test]
fn labels_need_no_colon_in_the_first_column_and_points_make_them_local() {
    let text = "\
ONE NOP
.X  DJNZ .X
TWO:
.X: DJNZ .X
    JP ONE.X
three: jp THREE
";
    let expected = [0, 0x10, 0xFE, 0x10, 0xFE, 0xC3, 1, 0, 0xC3, 8, 0];
    assert_eq!(code(&format!("    ORG 0\n{text}")), expected);
    let distinct = "    ORG 0\nA1 NOP\na1 NOP\n    DW A1,a1\n";
    let options = Options { case_sensitive: true, ..zilog() };
    assert_eq!(bytes(&assembly(distinct, options)), [0, 0, 0, 0, 1, 0]);
    let clash = assembly(distinct, zilog());
    assert!(clash.has_errors());
}

#[test]
fn directives_write_what_m80_and_pasmo_write() {
    for (lines, expected) in [
        ("\tDB 'it''s',\"\\n\",5", &b"it's\n\x05"[..]),
        ("\tDC 'AB'", b"A\xC2"),
        ("\tDS 3,7\n\tNOP", b"\x07\x07\x07\0"),
        ("\tNOP\n\tALIGN 4,9\n\tNOP", b"\0\x09\x09\x09\0"),
        ("\tINCLUDE \"part.inc\"\n\tDB PART", b"\x77"),
        ("\tINCBIN \"data.bin\"", b"\x01\x02\x1A\x04"),
        ("X\tDEFL 1\n\tDB X\nX\tDEFL X+1\n\tDB X", b"\x01\x02"),
        ("\tDB X\nX\tEQU Y+1\nY\tEQU 1\n\tDB Y", b"\x02\x01"),
        ("\tDEFC C9 = 9\n\tDB C9", b"\x09"),
        ("N\tSET 4\n\tSET 0,A\n\tDB N", b"\xCB\xC7\x04"),
    ] {
        let both = assembly(&format!("\tORG 0\n{lines}\n"), zilog());
        // One pass more than two would be needed for a symbol of EQU before its symbols.
        if lines.starts_with("\tDB X\n") {
            assert!(both.has_errors());
        } else {
            assert_eq!(bytes(&both), expected, "{lines}");
        }
    }
}

#[test]
fn conditionals_nest_and_skip_what_is_no_instruction() {
    let text = "\
\tIF 0
\tthis is nothing
\tIF 1
\tELSE
\tENDIF
\tELSE
\tDB 1
\tIFDEF NONE
\tDB 2
\tELSE
\tDB 3
\tENDIF
\tENDIF
\tIFB <>
\tDB 4
\tENDIF
\tIFIDN <A>,<A>
\tDB 5
\tENDIF
";
    assert_eq!(code(&format!("\tORG 0\n{text}")), [1, 3, 4, 5]);
}

#[test]
fn macros_and_repetitions_expand_as_in_m80() {
    let text = "\
PUT\tMACRO V,W\t;; a comment that is not kept
\tLOCAL L
\tDB V,'V&W'
L:\tDW L
\tENDM
\tMACRO TWICE,X
\tX
\tIF 1
\tEXITM
\tENDIF
\tHALT
\tENDM
\tPUT 1,B
\tPUT <2,3>,C
\tTWICE <INC A>
\tREPT 2
\tIRP R,<B,C>
\tDEC R
\tENDM
\tENDM
\tIRPC D,12
\tDB D
\tENDM
\tPUT %1+1
";
    let expected = [
        &b"\x01VB\x03\0"[..],
        b"\x02\x03VC\x09\0",
        b"\x3C\x05\x0D\x05\x0D\x01\x02",
        b"\x02V\x14\0",
    ];
    assert_eq!(code(&format!("\tORG 0\n{text}")), expected.concat());
}

#[test]
fn sections_are_relocatable_and_modules_share_symbols() {
    let text = "\
\tPUBLIC START
\tEXTRN OTHER
\tCSEG
START::\tLD HL,VAR
\tCALL OTHER
\tCALL MORE##
\tDSEG
VAR:\tDS 2
";
    let module = &assembly(text, zilog()).modules[0];
    let names = |is_external: bool| {
        let is_shared = |symbol: &&Symbol| {
            symbol.binding == Binding::Global
                && (symbol.value == SymbolValue::Undefined) == is_external
        };
        let shared = module.symbols.iter().filter(is_shared);
        shared.map(|symbol| symbol.name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(names(false), ["START"]);
    assert_eq!(names(true), ["OTHER", "MORE"]);
    let sections: Vec<SectionKind> = module.sections.iter().map(|one| one.kind).collect();
    assert_eq!(sections, [SectionKind::Prog, SectionKind::Data]);
}

#[test]
fn tdl_source_can_have_zilogs_mnemonics_and_directives() {
    let text = "\
\t.LOC 0
\t.ZOP
LAB:\tLD A,(X1)
X1 == 1234H
\tADD A,(IX+'A')
\tJP Z,LAB
\t.EPOP
N\tEQU 0FFH
\tDB N,'it'
\tIF N
\tINC HL
\tENDIF
\t.XEPOP
\t.XZOP
\tMVI A,JP
\t.END
";
    let expected = b"\x3A\x34\x12\xDD\x86\x41\xCA\0\0\xFFit\x23\x3E\xF2";
    assert_eq!(bytes(&assembly(text, Options::default())), expected);
}

/// Parts of which texts are made that may be wrong anywhere.
const PARTS: [&str; 40] = [
    "\n", "\n", "\n\t", "\t", " ", ",", "(", ")", "'", "\"", "<", ">", "&", "##", "%", "$", "-",
    ";;", ":", "::", ".X", "A1", "IX", "(IX+", "5", "0FFH", "LD", "SET", "DB", "DS", "EQU", "=",
    "IF", "ELSE", "ENDIF", "MACRO", "LOCAL", "ENDM", "IRP", "REPT",
];

#[test]
fn no_text_is_read_into_a_panic() {
    for seed in 1..=3000 {
        let mut random = Random::new(seed);
        let count = random.below(60);
        let text: String = (0..count).map(|_| random.pick(&PARTS)).collect();
        // Each is read to its end, with or without messages.
        assert_eq!(assembly(&text, zilog()).modules.len(), 1, "{text}");
        assembly(&format!("\t.ZOP\n\t.EPOP\n{text}"), Options::default());
    }
}

#[test]
fn mistakes_have_messages_that_help() {
    for (line, message) in [
        ("\tMOV A,B", "MOV is not an instruction, directive or macro"),
        ("\tLD B,(DE)", "LD does not take these operands"),
        ("\tRST 5", "RST takes an address"),
        ("\tLD A,0FG", "this is not a number of 16 bits"),
        ("\tLD A,1+", "a number, symbol or parenthesis is missing here"),
        ("\tLD A,(1", "a parenthesis is not closed"),
        ("\tDB 'abc", "the quote is not closed"),
        ("\tIF 1", "this conditional has no ENDIF"),
        ("\tIF 0", "this conditional has no ENDIF"),
        ("\tENDIF", "there is no IF before this"),
        ("M\tMACRO", "this macro or repetition has no ENDM"),
        ("\tENDM", "there is no MACRO, REPT or IRP to end"),
        ("AGAIN\tMACRO\n\tAGAIN\n\tENDM\n\tAGAIN", "macros call each other endlessly"),
        ("\tJR $+130", "a relative jump reaches -126..129"),
        ("X\tEQU 1\nX\tEQU 2", "X is already defined with another value"),
        ("\tINCLUDE 'none.inc'", "cannot find none.inc"),
        ("\tLD A,NONE", "NONE is not defined"),
        ("MAC\tMACRO\n\tENDM\n\tDW MAC", "MAC is a macro and has no value"),
        ("#if 1", "no label or operator begins like this"),
        ("\tERROR 'too long'", "too long"),
    ] {
        let assembly = assembly(&format!("\tORG 0\n{line}\n"), zilog());
        let messages = render::short(&assembly.diagnostics, &assembly.sources);
        assert!(assembly.has_errors() && messages.contains(message), "{line}\n{messages}");
    }
}

#[test]
fn unknown_operators_and_operands_have_a_hint_in_this_notation() {
    for (line, help, fix) in [
        ("\tCALLL 5", "did you mean CALL?", Some("CALL")),
        ("\tdefbb 5", "did you mean DEFB?", Some("DEFB")),
        ("\tMVI A,5", "this notation has LD for MVI", None),
        ("\tNOTHING 5", "a label begins in the first column, or has a colon behind it", None),
        ("\tRLC DE", "its forms are RLC r | RLC (HL) | RLC (IX+d)", None),
        ("\tPUSH SP", "its forms are PUSH BC/DE/HL/AF | PUSH IX/IY", None),
    ] {
        let assembly = assembly(&format!("{line}\n"), zilog());
        let [found] = &assembly.diagnostics[..] else { panic!("{line}") };
        assert_eq!(found.help.as_deref(), Some(help), "{line}");
        assert_eq!(found.fix.as_ref().map(|fix| &*fix.text), fix, "{line}");
        let word = line.trim().split(' ').next().expect("a word").len() as u32;
        assert!(found.fix.as_ref().is_none_or(|fix| fix.span.end - fix.span.start == word));
    }
}
