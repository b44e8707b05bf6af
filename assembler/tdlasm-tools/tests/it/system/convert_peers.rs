//! Other assemblers make the same bytes of a converted source as ours of the source.

use proptest::prelude::prop_oneof;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

use tdlasm::isa::{FORMS, Status};
use tdlasm_tools::convert::Dialect;

use super::peer::Peer;
use crate::convert_targets::converted_for;
use crate::converted_programs::{Taste, converted, image, instruction, program, sources};

/// Operands with the same value in all assemblers.
const NUMBERS: &[&str] = &[
    "0", "1", "255", "0FFH", "101B", "17Q", "09", "9.", "'A'", "''''", "'AB'", "^H1F", "0FF80H",
    "K0", "K1", "KD", "B", "JMP", "300", "'\\'",
];
impl Peer {
    /// The operators of TDL with a counterpart in this assembler.
    fn operators(self) -> &'static [&'static str] {
        match self {
            Peer::Gnu => &["+", "-", "*", "/", "@", "&", "!", "^"],
            // No % there.
            Peer::Z80asm => &["+", "-", "*", "/", "&", "!", "^"],
            // No & and ^, and so no mask either.
            Peer::Pasmo => &["+", "-", "*", "!"],
            Peer::Sdasz80 => &["+", "-", "*", "/", "@", "&", "!", "^"],
        }
    }

    /// Returns `true` if a converted source uses a feature that it lacks.
    fn lacks_part_of(self, source: &str) -> bool {
        let lacks: &[&str] = match self {
            Peer::Gnu | Peer::Sdasz80 => &[],
            Peer::Pasmo => &["&", "^"],
            Peer::Z80asm => &["%", "DEFL"],
        };
        let text = String::from_utf8_lossy(&converted(source, Dialect::Zilog).text).into_owned();
        let mut code = text.lines().map(|line| line.split(';').next().unwrap_or_default());
        code.any(|code| lacks.iter().any(|part| code.contains(part)))
    }

    /// Returns `true` if it supports an undocumented instruction.
    fn takes(self, status: Status) -> bool {
        status != Status::Undocumented || self == Peer::Z80asm
    }
}

/// Checks that an assembler produces the same bytes from the converted source as ours from the
/// source.
fn compare(peer: Peer, source: &str, origin: u16) {
    let conversion = match peer {
        Peer::Sdasz80 => converted_for(peer.target(), source),
        _ => converted(source, Dialect::Zilog),
    };
    assert_eq!(conversion.notes, [], "{source}");
    let image = image(source).expect("a right source");
    let (first, _) = image.bounds().expect("bytes");
    let wanted = [vec![0; usize::from(first - origin)], image.flat(0)].concat();
    agree(peer, &conversion.text, &wanted, origin);
}

/// Checks the bytes that an assembler produces from a source in Zilog's mnemonics.
fn agree(peer: Peer, source: &[u8], wanted: &[u8], origin: u16) {
    let found = peer.try_assemble(source, origin).unwrap_or_else(|printed| {
        panic!("{peer:?}: {printed}\n{}", String::from_utf8_lossy(source));
    });
    let different = found.iter().zip(wanted).position(|(found, wanted)| found != wanted);
    assert!(
        different.is_none() && found.len() == wanted.len(),
        "{peer:?} differs {different:?} bytes behind the origin:\n{}",
        String::from_utf8_lossy(source)
    );
}

/// The source without the statements that have no counterpart in the dialect.
fn convertible(source: &str, to: Dialect) -> String {
    let kept: Vec<u32> = converted(source, to).notes.iter().map(|note| note.line).collect();
    let lines = (1u32..).zip(source.lines()).filter(|(number, _)| !kept.contains(number));
    lines.map(|(_, line)| format!("{line}\n")).collect()
}

#[test]
fn other_assemblers_make_the_same_of_every_instruction() {
    for peer in Peer::ALL {
        let mut source = "\t.LOC 4000H\nLAB:\tNOP\n".to_owned();
        for (at, form) in FORMS.iter().enumerate().filter(|(_, form)| peer.takes(form.status)) {
            let choices = if form.arity() == 0 { 1 } else { 60 };
            for bits in 0..choices {
                let displacement = ["3", "-128", "127"][bits as usize % 3];
                source += &instruction(at, bits, "0FEH", "LAB+5", displacement);
                source.push('\n');
            }
        }
        compare(peer, &(source + "\t.END\n"), 0x4000);
    }
}

#[test]
fn other_assemblers_make_the_same_of_programs() {
    for peer in Peer::ALL {
        let shifts = if peer == Peer::Pasmo { &["<"][..] } else { &["<", ">"] };
        let taste = Taste { atoms: NUMBERS, operators: peer.operators(), shifts };
        let mut runner = TestRunner::deterministic();
        let strategy = program(taste, 400);
        for _ in 0..4 {
            let tree = strategy.new_tree(&mut runner).expect("a program");
            let mut source = tree.current();
            if peer == Peer::Z80asm {
                // It has no DEFL.
                source = source.replace("KV = KV+1", "");
            }
            compare(peer, &convertible(&source, Dialect::Zilog), 0x100);
        }
    }
}

/// A file of the evaluator as a separate program, with the symbols of other modules as constants.
fn alone(definitions: &str, text: &str) -> String {
    const LINKAGE: [&str; 8] =
        [".IDENT", ".INTERN", ".EXTERN", ".INSERT", ".IFN", ".LOC", ".END", "ZOFA"];
    let externals = text.lines().filter_map(|line| line.trim().strip_prefix(".EXTERN "));
    let constants = (0x1000..).zip(externals.flat_map(|names| names.split(',')));
    let constants: String = constants.map(|(value, name)| format!("{name}=={value}\n")).collect();
    let lines = text.lines();
    let lines = lines.filter(|line| !LINKAGE.iter().any(|word| line.trim().starts_with(word)));
    let text: String = lines.map(|line| format!("{line}\n")).collect();
    format!("\t.LOC 100H\nORIGINAL==0\nOWNNXT==0\n{definitions}{constants}{text}\tRET\n\t.END\n")
}

#[test]
fn other_assemblers_make_the_same_of_the_evaluator() {
    let files = sources("sargon-src");
    let definitions = &files.iter().find(|(name, _)| name == "sargon.asm").expect("the file").1;
    // The macro for the Z180 is empty here, and its conditional has several lines.
    let definitions = definitions.split("; ZOFA").next().unwrap_or_default();
    let files = files.iter().filter(|(name, _)| name != "sargon.asm");
    // Without the lines of conditionals both branches are assembled, which some files do not allow.
    let programs = files.map(|(_, text)| convertible(&alone(definitions, text), Dialect::Zilog));
    let programs: Vec<String> = programs.filter(|text| image(text.as_str()).is_some()).collect();
    assert!(programs.len() > 4, "{} programs", programs.len());
    for peer in Peer::ALL {
        let known = programs.iter().filter(|program| !peer.lacks_part_of(program));
        known.for_each(|program| compare(peer, program, 0x100));
    }
}

/// Expressions in Zilog's syntax, portable and ambiguous ones.
fn zilog_expression(
    operators: &'static [&'static str],
    signs: &'static [&'static str],
) -> impl Strategy<Value = String> {
    const ATOMS: &[&str] = &[
        "0", "1", "255", "0FFH", "0ffh", "101B", "17O", "10", "'A'", "K0", "K1", "KD", "$1F",
        "0x2B", "%101", "LAB", "0FFFFH",
    ];
    let atom = proptest::sample::select(ATOMS).prop_map(str::to_owned);
    atom.prop_recursive(3, 12, 2, move |inner| {
        let operator = proptest::sample::select(operators);
        let list = (inner.clone(), operator.clone(), inner.clone(), operator, inner.clone());
        prop_oneof![
            2 => list.clone().prop_map(|(a, op, b, _, _)| format!("{a}{op}{b}")),
            2 => list.prop_map(|(a, op, b, other, c)| format!("{a} {op} {b} {other} {c}")),
            2 => inner.clone().prop_map(|inner| format!("({inner})")),
            2 => (proptest::sample::select(signs), inner)
                .prop_map(|(sign, inner)| sign.replace('x', &inner)),
        ]
    })
}

#[test]
fn what_is_read_of_the_other_sides_expressions_has_the_value_that_others_give_it() {
    for peer in Peer::COMMON {
        let operators: &[&str] = match peer {
            Peer::Gnu => &["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"],
            Peer::Z80asm => &["+", "-", "*", "/", "&", "|", "^", "<<", ">>"],
            Peer::Pasmo => &["+", "-", "*", "/", "|", "<<", ">>"],
            Peer::Sdasz80 => unreachable!("it has a syntax of its own"),
        };
        // Pasmo requires parentheses around signs after an operator.
        let signs: &[&str] =
            if peer == Peer::Pasmo { &["(-x)", "(~x)"] } else { &["-x", "~x", "(-x)", "(~x)"] };
        let mut runner = TestRunner::deterministic();
        let strategy = proptest::collection::vec(zilog_expression(operators, signs), 1000);
        let lines = strategy.new_tree(&mut runner).expect("expressions").current();
        let lines: String = lines.iter().map(|line| format!("\tDW {line}\n")).collect();
        let start = "\tORG 100H\nK0: EQU 3\nK1: EQU -2\nKD: EQU 7\nLAB: NOP\n";
        // GNU's relocations support only a sum with one label.
        let lines = if peer == Peer::Gnu { lines.replace("LAB", "K0") } else { lines };
        let source = convertible(&format!("{start}{lines}\tEND\n"), Dialect::Tdl);
        assert!(source.lines().count() > 300, "{}", source.lines().count());
        let conversion = converted(source.as_str(), Dialect::Tdl);
        assert_eq!(conversion.notes, []);
        let wanted = image(conversion.text).expect("a right source").flat(0);
        agree(peer, source.as_bytes(), &wanted, 0x100);
    }
}

/// Operators and forms that assemblers spell differently, or would silently misread.
const PARTICULAR: &str = "\
        .LOC 100H
HIGH    = LOW+1
SUM     = HIGH*3
MASK    = 0F0H
START:  MVI A,SUM@7
        ANI MASK&3CH
        XRI MASK^0FFH
        LXI H,(TABLE-START)@5
        LXI D,-300/7
        MOV A,-5(X)
        MVI 0FFH(Y),LOW
        SET 3,LOW-9(X)
        JMPR START
TABLE:  .WORD SUM,MASK!1,START,HIGH
        .ASCII /IT'S/[0]
LOW     == 4
        .END
";

#[test]
fn a_program_converted_for_an_assembler_has_the_same_bytes_there() {
    let wanted = image(PARTICULAR).expect("a right source").flat(0);
    for peer in Peer::ALL {
        let conversion = converted_for(peer.target(), PARTICULAR);
        assert_eq!(conversion.kept(), 0, "{peer:?}: {:?}", conversion.notes);
        agree(peer, &conversion.text, &wanted, 0x100);
    }
}
