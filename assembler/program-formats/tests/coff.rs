//! COFF executables, as made from `main.s` and `extra.s` by GNU as and ld 2.40 for `z80-unknown-coff`:
//! `as -gstabs`, `ld -Ttext 0x8000 -Tbss 0x9000 -e start`, and `objcopy -O ihex` and `nm -n` of it.

use std::fs;
use std::path::Path;

use program_formats::{
    ProgramError, ProgramFormat, SymbolTable, line_table, read_debug_info, read_program,
};

fn file(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/coff");
    fs::read(folder.join(name)).expect("a file")
}

#[test]
fn bytes_and_start_are_those_of_objcopy() {
    let coff = read_program(&file("main.out"), "main.out", None).expect("an executable");
    let hex = read_program(&file("main.hex"), "main.hex", None).expect("records");
    assert_eq!((coff.format, hex.format), (ProgramFormat::Coff, ProgramFormat::IntelHex));
    assert_eq!(coff.image, hex.image);
    assert_eq!((coff.start, hex.start), (Some(0x8000), Some(0x8000)));
}

#[test]
fn symbols_are_those_of_nm() {
    let coff = read_debug_info(&file("main.out"), "main.out").expect("an executable");
    let nm = read_debug_info(&file("main.nm"), "main.nm").expect("symbols");
    let mut known = SymbolTable::default();
    known.add_all(&coff.symbols);
    let named: Vec<_> = nm.symbols.iter().filter(|one| !one.name.starts_with('.')).collect();
    assert!(named.len() > 10, "{named:?}");
    for symbol in named {
        assert_eq!(known.find(&symbol.name), Ok(u16::try_from(symbol.value).ok()), "{symbol:?}");
        let found = coff.symbols.iter().find(|one| one.name == symbol.name).expect("it is there");
        assert_eq!((found.kind, found.exported), (symbol.kind, symbol.exported), "{symbol:?}");
    }
}

#[test]
fn lines_and_memory_are_those_of_the_sources() {
    let coff = read_program(&file("main.out"), "main.out", None).expect("an executable");
    let lines = line_table(&coff.debug.lines, &coff.image);
    let lines: Vec<_> =
        lines.iter().map(|line| (line.address, &*line.place.file, line.place.line)).collect();
    let main = [(0x8000, 3), (0x8002, 4), (0x8005, 5), (0x8008, 6), (0x800A, 7), (0x800D, 8)];
    let mut expected: Vec<_> =
        main.iter().map(|(address, line)| (*address, "main.s", *line)).collect();
    expected.push((0x8013, "extra.s", 2));
    assert_eq!(lines, expected);
    let areas: Vec<_> = coff.debug.areas.iter().map(|one| (&*one.name, &one.addresses)).collect();
    assert_eq!(areas, [(".bss", &(0x9000..0x9004)), (".data", &(0x8014..0x8015))]);
    assert!(coff.debug.areas.iter().all(|area| area.is_writable));
}

/// `alone.s` uses no other module; ld had `-Ttext 0x8000 -Tdata 0x8015 -Tbss 0x8018`, so that the
/// sections follow each other as the linker here places them.
#[test]
fn an_object_is_linked_at_its_origin_as_by_ld() {
    let object = read_program(&file("alone.o"), "alone.o", Some(0x8000)).expect("an object");
    let hex = read_program(&file("alone.hex"), "alone.hex", None).expect("records");
    assert_eq!((object.format, object.image), (ProgramFormat::Object, hex.image));
    let mut symbols = SymbolTable::default();
    symbols.add_all(&object.debug.symbols);
    assert_eq!(symbols.find("table"), Ok(Some(0x800F)));
    assert_eq!(symbols.find("buf"), Ok(Some(0x8018)));
    let unlinked = read_program(&file("alone.o"), "alone.o", None);
    assert_eq!(unlinked.expect_err("no origin"), ProgramError::Unlinked);
}

#[test]
fn damaged_files_are_refused_where_they_end() {
    let whole = file("main.out");
    for length in 61..whole.len() {
        match read_program(&whole[..length], "main.out", None) {
            // Without its strings all is known.
            Ok(program) => assert!(program.image.bounds().is_some()),
            Err(error) => assert!(matches!(error, ProgramError::Coff(..)), "{length}: {error}"),
        }
    }
}
