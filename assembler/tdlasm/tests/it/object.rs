//! Modules are read back unchanged from ELF objects, and link to the same program.

use proptest::prelude::*;

use tdlasm::link::{Layout, link};
use tdlasm::module::{Module, SectionKind};
use tdlasm::object::{ObjectError, read_executable, read_object, write_executable, write_object};
use tdlasm::source::MemoryLoader;
use tdlasm::{Options, assemble};

const LAYOUT: &str = r#"
[[region]]
name = "ram"
start = 0x8000
size = 0x7000
[[place]]
section = ".PROG."
region = "ram"
[[place]]
section = ".DATA."
region = "ram"
[[place]]
section = ".BLNK."
region = "ram"
"#;

const MAIN: &str = "
        .IDENT MAIN
        .ENTRY MAIN
        .EXTERN TABLE
MAIN::  LXI H,TABLE+2
        LXI D,BUFFER
        CALL SUB#
LOOP:   JMP LOOP
        .BLKB 5
        .WORD LOOP,MAIN-3,CONST
CONST == 1234H
        .LOC .DATA.
HERE:   .WORD HERE,OTHER
        .LOC .BLNK.
BUFFER: .BLKB 32
        .LOC 40H
OTHER:  JMP MAIN
        .LOC 66H
        .BYTE 1,2,3
        .END MAIN
";

const SUB: &str = "SUB:: RET\nTABLE:: .WORD SUB\n .INTERN TABLE\n .END\n";

fn module(name: &str, text: &str) -> Module {
    let loader = MemoryLoader::new().with(name, text);
    let assembly = assemble(&loader, &[name.into()], &Options::default());
    assembly.unwrap_or_else(|failure| panic!("{failure}")).modules.remove(0)
}

#[test]
fn modules_come_back_as_they_were() {
    for module in [module("main.asm", MAIN), module("sub.asm", SUB)] {
        // The order of the source is not in ELF objects.
        let module = Module { source_order: None, ..module };
        assert_eq!(read_object(&write_object(&module), "other").expect("our own object"), module);
    }
}

#[test]
fn objects_link_to_the_program_that_the_modules_link_to() {
    let modules = [module("main.asm", MAIN), module("sub.asm", SUB)];
    let layout = Layout::parse(LAYOUT).expect("the layout");
    let direct = link(&modules, &layout).expect("a program");
    let through =
        modules.each_ref().map(|one| read_object(&write_object(one), "").expect("an object"));
    assert_eq!(link(&through, &layout).expect("a program"), direct);
    // By hand: MAIN is 12 bytes of code, 5 reserved, 6 of words; SUB follows at 8017H, TABLE at
    // 8018H.
    assert_eq!((direct.symbol("MAIN"), direct.symbol("TABLE")), (Some(0x8000), Some(0x8018)));
    assert_eq!(direct.image.byte(0x8001), Some(0x1A));
}

#[test]
fn an_executable_has_a_segment_for_each_run() {
    let program = link(
        &[module("main.asm", MAIN), module("sub.asm", SUB)],
        &Layout::parse(LAYOUT).expect("a layout"),
    );
    let program = program.expect("a program");
    let elf = write_executable(&program);
    // ELF32 header: e_machine at 18, e_entry at 24, e_phnum at 44 (System V ABI, chapter 4).
    assert_eq!(
        (&elf[..4], elf[18], elf[24..26].to_vec()),
        (&b"\x7FELF"[..], 220, vec![0x00, 0x80])
    );
    assert_eq!(usize::from(elf[44]), program.image.runs().len());
}

#[test]
fn files_that_are_not_objects_are_refused() {
    assert!(matches!(read_object(b"no object", "x"), Err(ObjectError::Format(_))));
    let mut other = write_object(&module("sub.asm", SUB));
    other[18] = 3;
    assert_eq!(read_object(&other, "x"), Err(ObjectError::Kind));
}

proptest! {
    #[test]
    fn damaged_objects_are_errors_and_never_worse(at in 0usize..2000, value: u8, cut in 0usize..2000) {
        let mut object = write_object(&module("main.asm", MAIN));
        let length = object.len();
        object[at % length] = value;
        let _ = read_object(&object, "x");
        let _ = read_object(&object[..cut % length], "x");
    }
}

/// The place of the notes in an object: its file ends with tables of which the last is `.tdl`'s.
fn notes(object: &[u8]) -> usize {
    // The format, then the check of the names, then the module's name after its length.
    object.windows(5).position(|bytes| bytes == b"\x04MAIN").expect("the notes") - 5
}

#[test]
fn symbols_renamed_by_another_program_are_recognized() {
    let mut object = write_object(&module("main.asm", MAIN));
    let at = object.windows(7).rposition(|bytes| bytes == b"BUFFER\0").expect("a name");
    object[at] = b'C';
    let error = read_object(&object, "x").expect_err("the names are others").to_string();
    assert!(error.contains("another program has changed the symbols"), "{error}");
    assert!(error.contains("objcopy --remove-section .tdl"), "{error}");
}

#[test]
fn notes_of_another_format_are_refused() {
    let mut object = write_object(&module("main.asm", MAIN));
    let at = notes(&object);
    object[at] = 9;
    let error = read_object(&object, "x").expect_err("another format").to_string();
    assert_eq!(error, "section .tdl is damaged: its format is 9, and 4 is known here");
}

#[test]
fn a_large_object_takes_few_bytes_beside_what_elf_prescribes() {
    // Half of the lines make code. ELF takes 16 bytes for a symbol, and its name.
    let lines: usize = 2000;
    let text: String = (0..lines).map(|at| format!("L{at:04}: MVI A,1\n; a comment\n")).collect();
    let object = write_object(&module("large.asm", &format!("{text} .END\n")));
    let prescribed = lines * (2 + 16 + 6);
    assert!(object.len() < prescribed + lines * 9, "{}", object.len());
}

#[test]
fn a_section_whose_bytes_would_be_lost_is_refused() {
    let module = module("data.asm", " .LOC .DATA.\n .BYTE 1,2\n .END\n");
    let mut file = write_object(&module);
    // The same file with a section of another name, as other assemblers make them.
    let at = file.windows(6).position(|bytes| bytes == b".data\0").expect("the section's name");
    file[at..at + 5].copy_from_slice(b".rodt");
    let error = read_object(&file, "A").expect_err("it has no place for that").to_string();
    assert_eq!(error, "section .rodt is not .text, .data or .bss; its 2 bytes would be lost");
}

#[test]
fn an_executable_is_read_back_with_the_labels_of_its_bytes() {
    let module = module("a.asm", " .LOC 100H\nFIVE == 5\nBEGIN: MVI A,FIVE\n RET\n .END BEGIN\n");
    let program = link(&[module], &Layout::default()).expect("a program");
    let found = read_executable(&write_executable(&program)).expect("our own executable");
    assert_eq!(found.image, program.image);
    assert_eq!((found.symbols, found.entry), (vec![(0x100, "BEGIN".into())], Some(0x100)));
    assert_eq!(
        read_executable(&write_object(&self::module("b.asm", SUB))),
        Err(ObjectError::NotExecutable)
    );
}

/// Sets a field of a program header: 1 is its offset, 2 and 3 are the virtual and the physical
/// address, 4 and 5 the sizes in the file and in memory (System V ABI, chapter 5).
fn set_header_field(file: &mut [u8], header: usize, field: usize, value: u32) {
    let table = u32::from_le_bytes([file[28], file[29], file[30], file[31]]) as usize;
    let at = table + 32 * header + 4 * field;
    file[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

#[test]
fn the_header_of_the_file_in_a_segment_of_gnu_ld_is_no_part_of_the_program() {
    let module = module("a.asm", " .LOC 8000H\n MVI A,5\n RET\n .END\n");
    let program = link(&[module], &Layout::default()).expect("a program");
    let mut file = write_executable(&program);
    let code = file.windows(3).position(|bytes| bytes == [0x3E, 5, 0xC9]).expect("the code");
    let code = u32::try_from(code).expect("a short file");
    // As GNU ld 2.40 does by default: the segment is the file from its first byte on.
    let fields = [(1, 0), (2, 0x8000 - code), (3, 0x8000 - code), (4, code + 3), (5, code + 3)];
    for (field, value) in fields {
        set_header_field(&mut file, 0, field, value);
    }
    assert_eq!(read_executable(&file).expect("an executable").image, program.image);
}

#[test]
fn parts_of_an_executable_that_overlap_are_an_error() {
    let source = " .LOC 100H\n .WORD 1\n .LOC 200H\n .WORD 2\n .END\n";
    let program = link(&[module("a.asm", source)], &Layout::default()).expect("a program");
    let mut file = write_executable(&program);
    set_header_field(&mut file, 1, 3, 0x101);
    assert_eq!(read_executable(&file), Err(ObjectError::Overlap(0x101)));
}

#[test]
fn a_label_in_a_section_of_no_bytes_moves_with_that_section() {
    let filled = module("one.asm", " .LOC .DATA.\n .BYTE 1,2\n .END\n");
    let empty = module("two.asm", " LXI D,TOP\n .LOC .DATA.\nTOP: .END\n");
    let modules =
        [filled, empty].map(|one| read_object(&write_object(&one), "").expect("an object"));
    let layout = Layout::parse(LAYOUT).expect("a layout");
    let program = link(&modules, &layout).expect("a program");
    let data = program.sections.iter().find(|one| one.kind == SectionKind::Data).expect("data");
    assert_eq!(program.symbol("TOP"), Some(data.address + 2));
    assert_eq!(program.image.byte(0x8001), Some((data.address + 2).to_le_bytes()[0]));
}

#[test]
fn a_copy_of_a_later_symbol_is_in_the_line_that_names_it() {
    let module = module("copy.asm", " NOP\n .SYSYN LATER,COPY\nLATER = 5\n .END\n");
    let copy = module.symbols.iter().find(|symbol| symbol.name == "COPY").expect("the copy");
    assert_eq!(copy.place.as_ref().map(|place| place.line), Some(2));
}
