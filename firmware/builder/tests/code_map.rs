//! Source files of a board's programs: each is known by its path.

use std::path::Path;

use firmware::ProgramKind;
use firmware::build::build;
use firmware::code_map::{CodeMap, FileError, MappedProgram};
use firmware::profile::BoardProfile;
use tdlasm::link::{Layout, link};
use tdlasm::source::DiskLoader;
use tdlasm::{Options, assemble};

const PROGRAM: &str = "START:\tNOP\n\tJMP START\n\t.END START\n";

/// A program that was assembled from these files, which are written first.
fn program(files: &[&Path]) -> MappedProgram {
    let options = Options { lines: true, ..Options::default() };
    let mut modules = Vec::new();
    for file in files {
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        std::fs::write(file, PROGRAM).expect("a file");
        let assembly = assemble(&DiskLoader, &[file.to_path_buf()], &options);
        modules.extend(assembly.unwrap_or_else(|error| panic!("{error}")).modules);
    }
    let program = link(&modules, &Layout::flat(0x8000)).unwrap_or_else(|error| panic!("{error}"));
    MappedProgram::from(&program)
}

/// A program with these files, and the monitor.
fn with_monitor(files: &[&Path]) -> CodeMap {
    let profile = BoardProfile::named("rc2014-classic").expect("it ships");
    let monitor = build(&profile, ProgramKind::Monitor).unwrap_or_else(|error| panic!("{error}"));
    CodeMap::from_programs([program(files), MappedProgram::from(&monitor.program)])
}

#[test]
fn a_users_file_and_the_firmwares_file_of_the_same_name_are_two() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("crc16.asm");
    let own = path.display().to_string();
    let code = with_monitor(&[&path]);
    assert_eq!(code.text(&own), PROGRAM.lines().collect::<Vec<_>>());
    let built_in = firmware::source("crc16.asm").expect("it ships");
    assert_eq!(code.text("firmware:/crc16.asm"), built_in.lines().collect::<Vec<_>>());
    assert_eq!((code.path("firmware:/crc16.asm"), code.text("crc16.asm").len()), (None, 0));
    // A name is that of the user's file.
    for (wanted, found) in [
        ("crc16.asm", &*own),
        ("CRC16.ASM", &own),
        (&own, &own),
        ("firmware:/crc16.asm", "firmware:/crc16.asm"),
        ("frame.asm", "firmware:/frame.asm"),
    ] {
        assert_eq!(code.find_file(wanted), Ok(found), "{wanted}");
    }
    assert_eq!(code.breakpoint_line(&own, 1), Some((1, vec![0x8000])));
    let at = code.symbol("C16INI").expect("a label of the firmware");
    assert!(code.describe_address(at).contains("(firmware:/crc16.asm:"), "the whole path");
    assert_eq!(code.short_name("firmware:/frame.asm"), "frame.asm");
}

#[test]
fn another_file_of_the_same_name_is_none_of_the_program() {
    let folder = tempfile::tempdir().expect("a folder");
    let code = with_monitor(&[&folder.path().join("crc16.asm")]);
    let other = folder.path().join("other");
    std::fs::create_dir(&other).expect("a folder");
    std::fs::write(other.join("crc16.asm"), PROGRAM).expect("a file");
    std::fs::write(other.join("frame.asm"), PROGRAM).expect("a file");
    for name in ["other/crc16.asm", "other/frame.asm", "missing/crc16.asm"] {
        let wanted = folder.path().join(name).display().to_string();
        let found = code.find_file(&wanted);
        assert!(matches!(found, Err(FileError::Unknown(..))), "{name}: {found:?}");
    }
    let text = firmware::source("frame.asm").expect("it ships");
    std::fs::write(other.join("frame.asm"), text).expect("a copy of the firmware's file");
    let copy = other.join("frame.asm").display().to_string();
    assert_eq!(code.find_file(&copy), Ok("firmware:/frame.asm"));
}

#[test]
fn a_name_of_two_files_is_ambiguous_and_their_paths_are_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let paths = ["a/util.asm", "b/util.asm"].map(|name| folder.path().join(name));
    let names = paths.each_ref().map(|path| path.display().to_string());
    let code = with_monitor(&paths.each_ref().map(|path| path.as_path()));
    let found = code.find_file("util.asm");
    assert_eq!(found, Err(FileError::Ambiguous("util.asm".to_owned(), names.to_vec())));
    for (name, address) in names.iter().zip([0x8000, 0x8004]) {
        assert_eq!(code.find_file(name), Ok(&**name));
        assert_eq!(code.breakpoint_line(name, 1), Some((1, vec![address])));
        assert_eq!(code.short_name(name), name);
    }
}

#[test]
fn a_source_that_was_moved_is_found_by_its_last_folders() {
    let folder = tempfile::tempdir().expect("a folder");
    let paths = ["x/a/util.asm", "x/b/util.asm"].map(|name| folder.path().join(name));
    let names = paths.each_ref().map(|path| path.display().to_string());
    let program = program(&paths.each_ref().map(|path| path.as_path()));
    std::fs::remove_dir_all(folder.path().join("x")).expect("they are moved");
    let code = CodeMap::from_programs([program]);
    let found = |wanted: &str| code.find_file(wanted);
    assert_eq!(found("/home/y/b/util.asm"), Ok(&*names[1]));
    assert!(matches!(found("/home/y/c/util.asm"), Err(FileError::Ambiguous(..))));
    assert!(matches!(found("/home/y/b/main.asm"), Err(FileError::Unknown(..))));
}
