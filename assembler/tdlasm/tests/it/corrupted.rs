//! Randomly corrupted files: layouts, objects, archives, images and sources are read or refused
//! with a message.

use std::cell::Cell;

use tdlasm::archive::{pull, read_library};
use tdlasm::image::{Image, ImageRun, intel_hex, parse_intel_hex, s_records, tdl_hex};
use tdlasm::link::{Layout, LayoutError, link};
use tdlasm::module::{Module, ObjectForm};
use tdlasm::object::{read_executable, read_modules, write_object, write_tdl};
use tdlasm::source::MemoryLoader;
use tdlasm::{Options, assemble};

use crate::corrupted_input::for_each_corrupted;

const LAYOUTS: &[&[u8]] = &[
    include_bytes!("../../../../firmware/layouts/ram-app.toml"),
    br#"[[region]]
name = "rom"
start = 0x1000
size = 0x40
fill = 0
[[region]]
name = "ram"
start = 0x8000
size = 32768
[[place]]
section = ".PROG."
region = "rom"
module = "A"
align = 256
[[place]]
section = ".data"
region = "ram"
[[place]]
section = ".BLNK."
region = "ram"
[[checksum]]
kind = "crc-32"
from = 0x1000
to = 4122
at = 0x103C
[symbols]
STACK = 0xF000
"#,
];
const WORDS: &[&[u8]] = &[
    b"[[region]]\n",
    b"[[place]]\nsection = \".PROG.\"\nregion = \"rom\"\n",
    b"[[checksum]]\nkind = \"sum8\"\n",
    b"align = 32768\n",
    b"\"ram\"",
    b"size = 4294967295\n",
    b"[symbols]\n",
    b"\"\"\"",
    b"0xFFFF",
];
const SOURCE: &str = "        .ENTRY ALPHA
        .EXTERN GAMMA
        .LOC .PROG.
ALPHA:  LXI H,GAMMA+1
        CALL BETA
..LOOP: JMPR ..LOOP
        .LOC .DATA.
BETA:   .WORD ALPHA,BETA-3,GAMMA
        .ASCII 'text'
        .BLKB 9
        .END ALPHA
";

/// The modules of a small program, which lacks a symbol.
fn modules() -> Vec<Module> {
    let loader = MemoryLoader::new().with("a.asm", SOURCE);
    let assembly = assemble(&loader, &["a.asm".into()], &Options::default());
    assembly.unwrap_or_else(|error| panic!("{error}")).modules
}

#[test]
fn layouts_are_read_or_refused_and_what_is_linked_is_within_their_regions() {
    let modules = modules();
    for layout in LAYOUTS {
        Layout::parse(&String::from_utf8_lossy(layout)).unwrap_or_else(|e| panic!("{e}"));
    }
    let linked = Cell::new(0);
    for_each_corrupted(LAYOUTS, WORDS, 2000, |bytes| {
        let text = String::from_utf8_lossy(bytes);
        match Layout::parse(&text) {
            Err(LayoutError::Syntax(message)) => assert!(message.contains("line "), "{message}"),
            Err(error) => assert!(!error.to_string().is_empty()),
            Ok(layout) => {
                let ends = layout.regions.iter().map(|at| u64::from(at.start) + u64::from(at.size));
                assert!(ends.max().is_none_or(|end| end <= 0x1_0000), "{:?}", layout.regions);
                let _ = link(&modules, &layout); // it fails, since at least `C` is missing
                linked.set(linked.get() + 1);
            }
        }
    });
    assert!(linked.get() > 0);
}

/// The modules as files: ELF, TDL's records as text and as bytes, and a library of each.
fn objects() -> Vec<Vec<u8>> {
    let modules = modules();
    let mut files: Vec<_> = modules.iter().map(write_object).collect();
    for binary in [false, true] {
        let form = ObjectForm { binary, hex: false, linkage: true, symbols: true };
        files.push(write_tdl(&modules, form).unwrap_or_else(|error| panic!("{error}")));
    }
    let libraries: Vec<_> = files.iter().map(|file| library(file)).collect();
    files.extend(libraries);
    files
}

/// A library (`ar`) of one member.
fn library(member: &[u8]) -> Vec<u8> {
    let head =
        format!("{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", "a.rel/", 0, 0, 0, 644, member.len());
    // Members begin at even offsets.
    let gap = if member.len().is_multiple_of(2) { &b""[..] } else { b"\n" };
    [b"!<arch>\n", head.as_bytes(), member, gap].concat()
}

#[test]
fn objects_and_libraries_are_read_or_refused_and_what_is_read_is_linked_or_refused() {
    let files = objects();
    for (number, file) in files.iter().enumerate() {
        let read = read_modules(file, "a").map_err(|error| error.to_string());
        let library = read_library(file, "a").map_err(|error| error.to_string());
        assert!(read.is_ok() || library.is_ok(), "file {number}: {read:?}, {library:?}");
    }
    let words: &'static [&'static [u8]] =
        &[b"\x7fELF\x01\x01\x01", b"!<arch>\n", b"`\n", b"\xff\xff\xff\xff"];
    for_each_corrupted(&files, words, 1500, |bytes| {
        let layout = Layout::default();
        if let Ok(modules) = read_modules(bytes, "a") {
            let _ = link(&modules, &layout);
        }
        let _ = read_executable(bytes);
        if let Ok(library) = read_library(bytes, "a") {
            let first = library.first().map_or(Vec::new(), |first| first.modules.clone());
            let _ = link(&pull(first, &library, &layout), &layout);
        }
    });
}

#[test]
fn images_in_text_are_read_or_refused() {
    let run = |address, count: u8| ImageRun { address, bytes: (0..count).collect() };
    let image = Image::new([run(0x8000, 60), run(0xFFF0, 16)]);
    let files =
        [intel_hex(&image, Some(0x8000)), tdl_hex(&image, None), s_records(&image, "a", None)];
    let words: &'static [&'static [u8]] =
        &[b":00000001FF\n", b":02000004FFFFFC\n", b":0200000200F00C\n", b":FF"];
    for_each_corrupted(&files, words, 1500, |bytes| {
        let text = String::from_utf8_lossy(bytes);
        match parse_intel_hex(&text) {
            Ok((image, entry)) => {
                // Only a record of type 03 or 05 has the start address 0.
                let written = entry.filter(|entry| *entry != 0);
                assert_eq!(parse_intel_hex(&intel_hex(&image, entry)), Ok((image, written)));
            }
            Err(error) => assert!(error.to_string().contains("line "), "{error}"),
        }
    });
}

#[test]
fn sources_assemble_or_are_refused_with_messages_of_bounded_length() {
    let words: &'static [&'static [u8]] =
        &[b" .DEFINE M[A]=[\n", b"]", b"[", b" M ", b" .IFE ", b"'", b" .BLKB "];
    for_each_corrupted(&[SOURCE], words, 1000, |bytes| {
        let loader = MemoryLoader::new().with("a.asm", bytes.to_vec());
        let found = tdlasm::asm::run(&loader, &["a.asm".into()], &Options::default());
        let shown = tdlasm::diag::render::human(&found.diagnostics, &found.sources, false);
        assert!(shown.len() < 64 * 1024 + 4 * bytes.len(), "{} bytes of messages", shown.len());
        if !found.has_errors() {
            let _ = link(&found.modules, &Layout::default());
        }
    });
}
