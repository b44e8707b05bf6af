//! Conversion for a certain assembler: statements that it lacks are left unchanged, with a note.

use std::path::Path;

use tdlasm::image::{Image, parse_intel_hex};
use tdlasm::source::MemoryLoader;
use tdlasm_tools::convert::{Conversion, Dialect, Options, Target, convert};

use crate::converted_programs::{converted, image};

pub(crate) fn converted_for(target: Target, source: &str) -> Conversion {
    let loader = MemoryLoader::new().with("a.asm", source);
    let options = Options { target: Some(target), ..Options::new(Dialect::Zilog) };
    convert(&loader, "a.asm".as_ref(), &options).expect("it can be read")
}

#[test]
fn programs_written_for_another_assembler_become_the_bytes_that_it_made() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    for name in ["monitor", "compare"] {
        let read = |kind: &str| std::fs::read_to_string(folder.join(format!("{name}.{kind}")));
        let source = read("z80").expect("the source");
        let (wanted, _) = parse_intel_hex(&read("hex").expect("the bytes")).expect("Intel HEX");
        let conversion = converted(source, Dialect::Tdl);
        assert_eq!(conversion.kept(), 0, "{:?}", conversion.notes);
        let found = image(conversion.text).expect("a right source");
        // Reserved space is zero in the other assembler's output.
        for address in 0..=u16::MAX {
            let byte = |image: &Image| image.byte(address).unwrap_or(0);
            assert_eq!(byte(&found), byte(&wanted), "{name} at {address:04X}H");
        }
    }
}

#[test]
fn statements_that_an_assembler_lacks_are_left_with_their_place() {
    let notes = |target, source: &str| {
        let notes = converted_for(target, source).notes;
        notes.into_iter().map(|note| (note.line, note.message)).collect::<Vec<_>>()
    };
    let variable = "V=1\n .BYTE V\nV=V+1\n .BYTE V\n .END\n";
    let several = "stays as it is: z80asm has no symbol with several values".to_owned();
    assert_eq!(notes(Target::Z80asm, variable), [(1, several.clone()), (3, several)]);
    assert_eq!(notes(Target::Pasmo, variable), []);
    let ahead = "A1 == TABLE+1\n .WORD A1\nTABLE: NOP\n .END\n";
    let [(1, message)] = &notes(Target::Z80asm, ahead)[..] else { panic!("one note") };
    assert!(message.contains("define them above"), "{message}");
    let external = " .EXTERN SUB\n CALL SUB\n .END\n";
    assert_eq!(notes(Target::Gas, external), []);
    assert_eq!(notes(Target::Sdasz80, external), []);
    assert_eq!(
        notes(Target::Zasm, external),
        [(1, "stays as it is: zasm does not link modules".to_owned())]
    );
    let [(1, message)] = &notes(Target::Gas, " INP M\n .END\n")[..] else { panic!("one note") };
    assert!(message.contains("undocumented"), "{message}");
}

#[test]
fn sdcc_has_a_syntax_of_its_own() {
    // As the documentation of ASxxxx has it: sigils of immediates and radix, offsets before the
    // register, and directives.
    let source = " .LOC 100H\nSTART: LXI H,TABLE\n MVI A,17Q\n MOV B,-5(X)\n JMP START+1\n \
                  LDA TABLE\n RST 7\nTABLE: .BYTE 0FFH,101B\n .ASCII /I'S/\n .WORD .-START\n \
                  .BLKB 2\nVAL=1\n .END START\n";
    let expected = "\t.area\tABS (ABS)\n .ORG 0x100\nSTART: LD HL,#TABLE\n LD A,#0o17\n \
                    LD B,-5(IX)\n JP START+1\n LD A,(TABLE)\n RST 0x38\nTABLE: .DB 0x0FF,0b101\n \
                    .DB 'I',0x27,'S'\n .DW .-START\n .DS 2\nVAL = 1\n ; END START\n";
    let text = converted_for(Target::Sdasz80, source).text;
    assert_eq!(String::from_utf8_lossy(&text), expected);
    let linked = converted_for(Target::Sdasz80, " .EXTERN OUTER\n CALL OUTER\n .END\n").text;
    assert_eq!(String::from_utf8_lossy(&linked), " .GLOBL OUTER\n CALL OUTER\n ; END\n");
}

#[test]
fn an_inserted_file_is_found_in_the_spelling_in_which_the_assembler_finds_it() {
    let source = " .INSERT MACROS\n TWICE\n .END\n";
    let loader = MemoryLoader::new().with("a.asm", source);
    let loader = loader.with("macros.asm", " .DEFINE TWICE=[\n NOP\n NOP\n]\n");
    let assembled = tdlasm::assemble(&loader, &["a.asm".into()], &tdlasm::Options::default());
    assert!(assembled.is_ok(), "{}", assembled.expect_err("an error"));
    let conversion = convert(&loader, "a.asm".as_ref(), &Options::new(Dialect::Zilog));
    let conversion = conversion.expect("it can be read");
    assert_eq!(conversion.included, [Path::new("macros.asm")]);
    let text = String::from_utf8_lossy(&conversion.text);
    assert!(text.contains("INCLUDE \"macros.asm\""), "{text}");
}
