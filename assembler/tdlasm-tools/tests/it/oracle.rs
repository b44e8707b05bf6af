//! Formatting and conversion of the programs recorded with the original assembler.

use std::fs;
use std::path::Path;

use tdlasm::module::Section;
use tdlasm::source::MemoryLoader;
use tdlasm::{Options, asm};
use tdlasm_tools::convert::{self, Conversion, Dialect, convert};
use tdlasm_tools::fmt::{self, format};

fn converted(text: &[u8], to: Dialect) -> Conversion {
    let loader = MemoryLoader::new().with("a.asm", text);
    convert(&loader, "a.asm".as_ref(), &convert::Options::new(to)).expect("it can be read")
}

/// The sections of all modules, if the text can be assembled.
fn sections(text: &[u8]) -> Option<Vec<Vec<Section>>> {
    let loader = MemoryLoader::new().with("a.asm", text);
    let options = Options { long_symbols: true, ..Options::default() };
    let outcome = asm::run(&loader, &["a.asm".into()], &options);
    let sections = outcome.modules.iter().map(|module| module.sections.clone()).collect();
    (!outcome.has_errors()).then_some(sections)
}

/// The text without the lines that have no counterpart.
fn without_kept(text: &[u8], notes: &[convert::Note]) -> Vec<u8> {
    let lines = (1u32..).zip(text.split_inclusive(|byte| *byte == b'\n'));
    let stays = |line: &u32| notes.iter().any(|note| note.line == *line);
    lines.filter(|(line, _)| !stays(line)).flat_map(|(_, text)| text.to_vec()).collect()
}

/// The programs of both sets of records, with the names of their files.
fn sources() -> Vec<(String, Vec<u8>)> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tdlasm/tests/data/oracle");
    let mut found = Vec::new();
    for set in ["listings", "rel"] {
        for entry in fs::read_dir(data.join(set)).expect("the records").flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|extension| extension == "asm") {
                let text = fs::read(&path).expect("a program");
                found.push((format!("{set}/{}", entry.file_name().to_string_lossy()), text));
            }
        }
    }
    found.sort();
    assert!(found.len() > 80, "{} programs", found.len());
    found
}

#[test]
fn formatting_changes_no_byte_and_no_message_of_the_originals_programs() {
    for (name, text) in sources() {
        let outcome = |text: &[u8]| {
            let loader = MemoryLoader::new().with("a.asm", text);
            asm::run(&loader, &["a.asm".into()], &Options::default())
        };
        let loader = MemoryLoader::new();
        let options = fmt::Options::default();
        let once = match format(&loader, "a.asm".as_ref(), &text, &options) {
            Ok(once) => once,
            // The bytes depend on blanks, as reported.
            Err(fmt::Error::Blanks(_)) => continue,
            Err(error) => panic!("{name}: {error}"),
        };
        let [before, after] = [&text, &once].map(|text| outcome(text));
        let codes = |outcome: &tdlasm::Assembly| -> Vec<_> {
            outcome.diagnostics.iter().map(|found| found.code).collect()
        };
        assert_eq!(codes(&before), codes(&after), "{name}");
        assert_eq!(before.modules, after.modules, "{name}");
        let twice = format(&loader, "a.asm".as_ref(), &once, &options).expect("laid out text");
        assert_eq!(twice, once, "{name}");
    }
}

#[test]
fn conversion_to_and_fro_gives_the_same_bytes_or_names_the_lines_that_stay() {
    let mut compared = 0;
    for (name, text) in sources() {
        // The unconverted lines are reported; the rest is a program by itself.
        let text = without_kept(&text, &converted(&text, Dialect::Zilog).notes);
        let Some(before) = sections(&text) else { continue };
        let there = converted(&text, Dialect::Zilog);
        if there.kept() > 0 {
            continue;
        }
        let back = converted(&there.text, Dialect::Tdl);
        assert_eq!(back.kept(), 0, "{name}: {:?}", back.notes);
        assert_eq!(sections(&back.text), Some(before), "{name}");
        compared += 1;
    }
    assert!(compared >= 30, "{compared} programs compared");
}
