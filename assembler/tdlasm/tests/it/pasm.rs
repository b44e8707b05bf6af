//! The dialect of PASM 1.02, ZASM's successor: what it made of programs that only it takes, and of
//! those of the oracle.

use tdlasm::link::{Layout, link};
use tdlasm::source::MemoryLoader;
use tdlasm::{Notation, Options, asm};

use crate::oracle::programs_by;

/// Of the programs that PASM assembles without error: at least this many have the same code, of all.
const CLEAN: (usize, usize) = (2353, 2391);

/// Smallest programs and the code that PASM made of them.
const PROGRAMS: [(&str, &[u8]); 6] = [
    (
        " .DEFINE FILL[N]=[\nI=0\nAGAIN>\n .BYTE I\nI=I+2\n .IFL I-N,.GOTO AGAIN\n]\n FILL 6\n \
         FILL 1\n .END\n",
        &[0, 2, 4, 0],
    ),
    (" .DEFINE M[A,B,C]=[ .BYTE &\n]\n M\n M 1\n M 1,2\n M 1,2,3\n .BYTE 7&3\n .END\n", &[3; 5]),
    (" .DEFINE M[X]=[\n .IFB X, .BYTE 1\n .IFNB X, .BYTE 2\n]\n M\n M A\n .END\n", &[1, 2]),
    (" .IFE 0,[.ASCII 'ABC']\n NOP\n .END\n", b"ABC\0"),
    (" .PAGE 80,20\n NOP\n .END\n", &[0]),
    (" .PROGID ABC,1,2\n NOP\n .END\n", &[0]),
];

fn assembled(text: &str, notation: Notation) -> Option<Vec<u8>> {
    let loader = MemoryLoader::new().with("p.asm", text);
    let options = Options { notation, ..Options::default() };
    let assembly = asm::run(&loader, &["p.asm".into()], &options);
    let program = link(&assembly.modules, &Layout::flat(0)).expect("a program that links");
    (!assembly.has_errors()).then(|| program.image.flat(0))
}

#[test]
fn programs_for_pasm_have_its_code_and_are_others_for_zasm() {
    for (text, code) in PROGRAMS {
        assert_eq!(assembled(text, Notation::Pasm).as_deref(), Some(code), "{text}");
        // ZASM ignores the operands of .PAGE.
        let is_same = assembled(text, Notation::Tdl).as_deref() == Some(code);
        assert_eq!(is_same, text.starts_with(" .PAGE"), "{text}");
    }
}

#[test]
fn an_endless_jump_is_an_error() {
    let text = " .DEFINE M=[\nA>\n .GOTO A\n]\n M\n .END\n";
    assert_eq!(assembled(text, Notation::Pasm), None);
    assert_eq!(assembled(" .DEFINE M=[ .GOTO B\n]\n M\n .END\n", Notation::Pasm), None);
}

#[test]
fn most_programs_of_the_oracle_have_the_code_that_pasm_made() {
    let programs = programs_by(Notation::Pasm);
    let clean = programs.iter().filter(|program| program.is_clean());
    let found = (clean.clone().filter(|one| one.has_same_code()).count(), clean.count());
    assert!(found.0 >= CLEAN.0 && found.1 == CLEAN.1, "{found:?}");
}
