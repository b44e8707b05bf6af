//! The smallest programs for rules that only whole programs show, with the objects and listings
//! that TDL ZASM 2.21 made of them: `data/oracle/corners`.

use std::fs;
use std::path::{Path, PathBuf};

use tdlasm::Assembly;
use tdlasm::Options;
use tdlasm::asm;
use tdlasm::listing::{TdlOptions, render_tdl};
use tdlasm::module::ObjectForm;
use tdlasm::object::write_tdl;
use tdlasm::source::MemoryLoader;

/// The programs with another object: its `#` records hold final values (docs/LINKING.md).
const OBJECTS: [&str; 2] = ["pass1-size", "pass1-value"];
/// The program with another listing: a product with a cancelled base.
const LISTINGS: [&str; 1] = ["reloc-mul"];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/oracle/corners")
}

fn names() -> Vec<String> {
    let entries = fs::read_dir(folder()).expect("the folder of the programs");
    let name = |entry: fs::DirEntry| entry.file_name().into_string().expect("a plain name");
    let mut names: Vec<String> = entries.map(|entry| name(entry.expect("an entry"))).collect();
    names.sort();
    names
}

fn assembled(name: &str) -> Assembly {
    let mut loader = MemoryLoader::new();
    for file in ["p.asm", "q.asm"] {
        if let Ok(text) = fs::read(folder().join(name).join(file)) {
            loader = loader.with(file.to_uppercase(), text);
        }
    }
    let options = Options { listing: true, ..Options::default() };
    asm::run(&loader, &["P.ASM".into()], &options)
}

/// Returns the programs whose output by `made` is not that of the original.
fn differing(file: &str, made: impl Fn(&Assembly) -> Vec<u8>) -> Vec<String> {
    let differs = |name: &String| {
        let original = fs::read(folder().join(name).join(file)).expect("a record");
        made(&assembled(name)).trim_ascii_end() != original.trim_ascii_end()
    };
    names().into_iter().filter(differs).collect()
}

#[test]
fn objects_are_the_originals() {
    let object = |assembly: &Assembly| {
        let form = ObjectForm { binary: false, ..assembly.object_form };
        let object = write_tdl(&assembly.modules, form).expect("an object");
        let end = object.iter().position(|byte| *byte == 0x1A).unwrap_or(object.len());
        object[..end].to_vec()
    };
    assert_eq!(differing("zasm.hex", object), OBJECTS);
}

#[test]
fn listings_are_the_originals() {
    let listing = |assembly: &Assembly| {
        let Assembly { listing, sources, modules, .. } = assembly;
        render_tdl(listing, sources, modules, &TdlOptions::default()).into_bytes()
    };
    assert_eq!(differing("zasm.prn", listing), LISTINGS);
}
