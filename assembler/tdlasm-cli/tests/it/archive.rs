//! Libraries: the layout of archives, and the selection of linked members.

#[cfg(feature = "system-tests")]
mod system;

use std::fs;
use std::path::Path;
use std::process::Command;

use assert_cmd::cargo::CommandCargoExt;
use tdlasm::archive::pull;
use tdlasm::archive::{LibraryError, Member, is_archive, read_library};
use tdlasm::link::Layout;
use tdlasm::module::{Module, ObjectForm};
use tdlasm::object::{write_object, write_tdl};
use tdlasm::source::MemoryLoader;
use tdlasm::{Options, assemble};

fn modules(text: &str) -> Vec<Module> {
    let loader = MemoryLoader::new().with("a.asm", text);
    let assembly = assemble(&loader, &["a.asm".into()], &Options::default());
    assembly.unwrap_or_else(|failure| panic!("{failure}")).modules
}

fn elf(text: &str) -> Vec<u8> {
    write_object(&modules(text)[0])
}

fn tdl(text: &str) -> Vec<u8> {
    write_tdl(&modules(text), ObjectForm::default()).expect("it can be written")
}

/// An archive in the layout of BSD's ar(5) and the GNU manual: a header of 60 bytes for
/// each member, in which the name has 16 and the size 10, and content on even offsets.
fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut file = b"!<arch>\n".to_vec();
    for (name, content) in members {
        let length = content.len();
        file.extend(format!("{name:<16}0           0     0     100644  {length:<10}`\n").bytes());
        file.extend_from_slice(content);
        file.resize(file.len().next_multiple_of(2), b'\n');
    }
    file
}

fn library(file: &[u8]) -> Vec<Member> {
    read_library(file, "LIB").expect("a library")
}

/// Returns the names of the linked modules.
fn linked(main: &str, libraries: &[Vec<Member>]) -> Vec<String> {
    let layout = Layout::parse("[symbols]\nSTACK = 0xF000\n").expect("a layout");
    pull(modules(main), &libraries.concat(), &layout)
        .into_iter()
        .map(|module| module.name)
        .collect()
}

/// A module of this name that exports a symbol and needs others.
fn source(name: &str, export: &str, needs: &[&str]) -> String {
    let needs: String = needs.iter().map(|need| format!(" .WORD {need}#\n")).collect();
    format!(" .IDENT {name}\n{export}:: NOP\n{needs} .END\n")
}

const MAIN: &str = " .IDENT MAIN\n CALL ONE#\n LXI SP,STACK#\n .END\n";

#[test]
fn a_member_is_linked_if_it_defines_what_is_undefined() {
    let one = elf(&source("M1", "ONE", &["TWO"]));
    let two = elf(&source("M2", "TWO", &["ONE"]));
    let three = elf(&source("M3", "THREE", &[]));
    let stack = elf(&source("M4", "STACK", &[]));
    // ONE needs TWO, which is before it; no module needs THREE, and the layout defines STACK.
    let file = archive(&[("3.o/", &three), ("2.o/", &two), ("1.o/", &one), ("4.o/", &stack)]);
    assert_eq!(linked(MAIN, &[library(&file)]), ["MAIN", "M1", "M2"]);
    assert_eq!(linked(" .IDENT MAIN\n .END\n", &[library(&file)]), ["MAIN"]);
}

#[test]
fn the_first_of_several_definitions_counts() {
    let first = elf(&source("M1", "ONE", &[]));
    let second = elf(&source("M2", "ONE", &[]));
    let library_of = |content: &[u8]| library(&archive(&[("m.o/", content)]));
    assert_eq!(linked(MAIN, &[library_of(&first), library_of(&second)]), ["MAIN", "M1"]);
    assert_eq!(linked(MAIN, &[library_of(&second), library_of(&first)]), ["MAIN", "M2"]);
    // Once a member is linked for one symbol, no other is for the rest of its symbols.
    let both = elf(" .IDENT M3\nTWO:: NOP\nONE:: NOP\n .END\n");
    let file = archive(&[("1.o/", &both), ("2.o/", &first)]);
    assert_eq!(
        linked(" .WORD TWO#,ONE#\n .IDENT MAIN\n .END\n", &[library(&file)]),
        ["MAIN", "M3"]
    );
}

#[test]
fn a_local_symbol_pulls_nothing() {
    let local = elf(" .IDENT M1\nONE: NOP\n .END\n");
    assert_eq!(linked(MAIN, &[library(&archive(&[("1.o/", &local)]))]), ["MAIN"]);
}

#[test]
fn long_names_and_symbol_tables_of_gnu_and_bsd_are_understood() {
    let object = elf("ONE:: NOP\n .END\n");
    let table = b"\0\0\0\x01\0\0\0\x58ONE\0";
    let gnu = archive(&[("/", table), ("//", b"name_of_many_letters.o/\n"), ("/0", &object)]);
    let mut named = b"name_of_many_letters.o\0\0".to_vec();
    named.extend_from_slice(&object);
    let bsd = archive(&[("#1/24", &named)]);
    for file in [gnu, bsd] {
        assert_eq!(linked(MAIN, &[library(&file)]).len(), 2, "{file:?}");
    }
}

#[test]
fn tdl_modules_of_a_library_are_linked_for_their_entry_points() {
    let entry = " .IDENT M1\n .ENTRY ONE\nONE: JMP TWO#\n .PRGEND\n";
    let intern = " .IDENT M2\nTWO:: NOP\n .PRGEND\n .IDENT M3\n .ENTRY TWO\nTWO: NOP\n .END\n";
    let file = tdl(&format!("{entry}{intern}"));
    assert_eq!(linked(MAIN, &[library(&file)]), ["MAIN", "M1", "M3"]);
    // A member of an archive is linked as a whole, and for each of its exports.
    let member = tdl(&source("M4", "ONE", &[]));
    assert_eq!(linked(MAIN, &[library(&archive(&[("4.rel/", &member)]))]), ["MAIN", "M4"]);
    let whole = archive(&[("lib.rel/", &file)]);
    assert_eq!(linked(MAIN, &[library(&whole)]), ["MAIN", "M1", "M2", "M3"]);
}

#[test]
fn an_object_is_a_library_of_one_member() {
    assert_eq!(linked(MAIN, &[library(&elf(&source("M1", "ONE", &[])))]), ["MAIN", "M1"]);
}

#[test]
fn an_invalid_library_is_an_error_that_names_the_member() {
    let text = archive(&[("readme.txt/", b"no object")]);
    let error = read_library(&text, "X").expect_err("no object").to_string();
    assert!(error.starts_with("member readme.txt: not a readable ELF object"), "{error}");
    let mut cut = archive(&[("1.o/", &elf("ONE:: NOP\n .END\n"))]);
    cut.truncate(100);
    assert!(matches!(read_library(&cut, "X"), Err(LibraryError::Archive(_))));
    assert_eq!(read_library(b"!<thin>\n", "X"), Err(LibraryError::Thin));
    assert!(is_archive(b"!<thin>\n") && is_archive(&cut) && !is_archive(b"!DEMO  9B"));
    assert!(matches!(read_library(b"nothing", "X"), Err(LibraryError::Object(_))));
}

/// Runs the command in a folder; returns exit code and standard error.
fn run(folder: &Path, arguments: &[&str]) -> (i32, String) {
    let mut command = Command::cargo_bin("tdlasm").expect("the command");
    let output = command.current_dir(folder).args(arguments).output().expect("to run");
    let printed = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code().expect("an exit code"), printed)
}

#[test]
fn the_command_writes_tdl_objects_and_links_them_and_libraries() {
    let folder = tempfile::TempDir::new().expect("a temporary folder");
    let put = |name: &str, content: &[u8]| fs::write(folder.path().join(name), content);
    let get = |name: &str| fs::read(folder.path().join(name)).expect("the output");
    let run = |arguments: &[&str]| run(folder.path(), arguments);
    put("main.asm", b" .PBIN\n CALL ONE#\n .END\n").expect("a file");
    put("lib.asm", b" .ENTRY TWO\nTWO: HLT\n .PRGEND\n .ENTRY ONE\nONE: RET\n .END\n")
        .expect("a file");
    put("one.a", &archive(&[("one.o/", &elf("ONE:: DI\n .END\n"))])).expect("a file");
    for (source, output) in [("main.asm", "main.rel"), ("lib.asm", "lib.rel")] {
        assert_eq!(run(&["asm", source, "-o", output]), (0, String::new()));
    }
    assert_eq!((&get("main.rel")[..2], &get("lib.rel")[..4]), (&b"!."[..], &b"\r\n!."[..]));
    let (code, _) = run(&["asm", "lib.asm", "-o", "lib.bin", "--format", "pbin"]);
    assert_eq!((code, &get("lib.bin")[..2]), (0, &b"!."[..]));
    // As an object with all its modules, as a library with those needed; archives are libraries
    // without an option.
    for (arguments, program) in [
        (&["main.rel", "lib.rel"][..], &[0xCD, 4, 0, 0x76, 0xC9][..]),
        (&["main.rel", "--library", "lib.rel"], &[0xCD, 3, 0, 0xC9]),
        (&["one.a", "main.rel", "--library", "lib.rel"], &[0xCD, 3, 0, 0xF3]),
    ] {
        assert_eq!(run(&[&["link", "-o", "out.bin"], arguments].concat()), (0, String::new()));
        assert_eq!(get("out.bin"), program);
    }
    let (code, printed) = run(&["link", "one.a", "-o", "out.bin"]);
    assert!(code == 2 && printed.contains("all inputs are libraries"), "{printed}");
    put("bad.rel", b"!BAD   00").expect("a file");
    let (code, printed) = run(&["link", "bad.rel", "-o", "out.bin"]);
    assert!(
        code == 1 && printed.contains("bad.rel: record 1 (from byte 0 on): its checksum is 00H"),
        "{printed}"
    );
    put("long.asm", b"LONGNAME:: NOP\n .END\n").expect("a file");
    let (code, printed) = run(&["asm", "--long-symbols", "long.asm", "-o", "long.rel"]);
    assert!(code == 1 && printed.contains("LONGNAME (long.asm:1) is not a name"), "{printed}");
    assert!(!folder.path().join("long.rel").exists());
}
