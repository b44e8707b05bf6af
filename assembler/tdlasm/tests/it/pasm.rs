//! The dialect of PASM 1.02, ZASM's successor: what it made of programs that only it takes, and of
//! those of the oracle.

use std::fs;
use std::path::Path;

use tdlasm::link::{Layout, link};
use tdlasm::module::{Base, ObjectForm};
use tdlasm::object::write_tdl;
use tdlasm::source::MemoryLoader;
use tdlasm::{Assembly, Notation, Options, asm};

use crate::oracle::programs_by;

/// Of the programs that PASM assembles without error: at least this many have the same code, of all.
const CLEAN: (usize, usize) = (2367, 2391);

/// Smallest programs and the code that PASM made of them.
const PROGRAMS: [(&str, &[u8]); 9] = [
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
    (" .IFIDN [[A]] [[A]],[NOP]\n .END\n", &[0]),
    (" .TITLE\n NOP\n .END\n", &[0]),
    (" .DEFINE M[A,B]=[ .BYTE B\n]\n M 1, \\2+3\n .END\n", &[5]),
];

fn assembly(text: &str, options: &Options) -> Assembly {
    asm::run(&MemoryLoader::new().with("p.asm", text), &["p.asm".into()], options)
}

fn assembled(text: &str, notation: Notation) -> Option<Vec<u8>> {
    let assembly = assembly(text, &Options { notation, ..Options::default() });
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

/// Smallest programs in `data/oracle/pasm`, with PASM's objects.
#[test]
fn objects_are_those_of_pasm() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/oracle/pasm");
    let mut count = 0;
    for entry in fs::read_dir(folder).expect("the folder of the programs") {
        let folder = entry.expect("an entry").path();
        let read = |file| fs::read(folder.join(file)).expect("a record");
        let loader = MemoryLoader::new().with("P.ASM", read("p.asm"));
        let options = Options { notation: Notation::Pasm, ..Options::default() };
        let assembly = asm::run(&loader, &["P.ASM".into()], &options);
        let form = ObjectForm { binary: false, ..assembly.object_form };
        let object = write_tdl(&assembly.modules, form).expect("an object");
        let text = |object: &[u8]| String::from_utf8_lossy(object).trim().to_owned();
        assert_eq!(text(&object), text(&read("pasm.hex")), "{}", folder.display());
        count += 1;
    }
    assert_eq!(count, 9);
}

/// The second displacement replaces the first, and so does its relocation.
#[test]
fn of_two_external_displacements_the_second_is_relocated() {
    let options = Options { notation: Notation::Pasm, ..Options::default() };
    let module = &assembly(" .EXTERN ONE,TWO\n MOV ONE(X),TWO(Y)\n .END\n", &options).modules[0];
    let [reloc] = module.sections[0].relocs[..] else { panic!("{:?}", module.sections) };
    let Base::Symbol(symbol) = reloc.target.base else { panic!("{reloc:?}") };
    assert_eq!((reloc.offset, module.symbols[symbol].name.as_str()), (2, "TWO"));
}

#[test]
fn a_temporary_is_new_in_each_call_and_others_are_errors() {
    let text = " .DEFINE T[N]=[\n .TEMPS 2\nI=1\n![I]=N\n ![I-1]: .BYTE ![1]\n .WORD ![0]\n]\n \
                .TEMPS 1\n*[0]=7\n T 5\n T *[0]\n .END\n";
    assert_eq!(assembled(text, Notation::Pasm).as_deref(), Some(&[5, 0, 0, 7, 3, 0][..]));
    assert_eq!(assembled(text, Notation::Tdl), None);
    assert_eq!(assembled(" .TEMPS 1\n .BYTE *[1]\n .END\n", Notation::Pasm), None);
}

#[test]
fn an_endless_jump_is_an_error() {
    let text = " .DEFINE M=[\nA>\n .GOTO A\n]\n M\n .END\n";
    assert_eq!(assembled(text, Notation::Pasm), None);
    assert_eq!(assembled(" .DEFINE M=[ .GOTO B\n]\n M\n .END\n", Notation::Pasm), None);
}

#[test]
fn names_of_pasm_2_are_read_as_far_as_they_are_known() {
    // What follows a jump by `$` is no unreachable code.
    let text = " .LOC 5\n .CREF\n .COMMENT *a ] here\n NOP\n and there*\n .LIF\n .WORD $,$-1\n \
                .XIF\n LXI H,$\n JMPR $+3\n NOP\n .END\n";
    let expected = [5, 0, 4, 0, 0x21, 9, 0, 0x18, 1, 0];
    assert_eq!(assembled(text, Notation::Pasm).as_deref(), Some(&expected[..]));
    let options = Options { notation: Notation::Pasm, ..Options::default() };
    assert!(assembly(text, &options).diagnostics.is_empty());
    assert_eq!(assembled(text, Notation::Tdl), None);
    // In PASM 1.02 and ZASM it can be a symbol.
    for notation in [Notation::Pasm, Notation::Tdl] {
        let symbol = "$=7\n .BYTE $\n .END\n";
        assert_eq!(assembled(symbol, notation).as_deref(), Some(&[7][..]));
    }
}

#[test]
fn directives_of_pasm_2_whose_effect_is_unknown_are_refused() {
    let options = Options { notation: Notation::Pasm, ..Options::default() };
    for name in [".LIBREF", ".LIBREL"] {
        let assembly = assembly(&format!(" {name} MATH\n .END\n"), &options);
        let messages: Vec<&str> = assembly.diagnostics.iter().map(|one| &*one.message).collect();
        assert_eq!(messages, ["what this directive does in PASM 2.00 is not known"]);
    }
}

#[test]
fn long_symbols_leave_pasms_directives_their_names() {
    let options = Options { notation: Notation::Pasm, long_symbols: true, ..Options::default() };
    let text = " .PROGID ABC,1,2\n .COMMENT /x/\n NOP\n .END\n";
    assert!(assembly(text, &options).diagnostics.is_empty());
}

#[test]
fn most_programs_of_the_oracle_have_the_code_that_pasm_made() {
    let programs = programs_by(Notation::Pasm);
    let clean = programs.iter().filter(|program| program.is_clean());
    let found = (clean.clone().filter(|one| one.has_same_code()).count(), clean.count());
    assert!(found.0 >= CLEAN.0 && found.1 == CLEAN.1, "{found:?}");
}
