//! Object files byte for byte as TDL ZASM 2.21 wrote them: 40 programs in `data/oracle/rel`.

use std::fs;
use std::path::{Path, PathBuf};

use tdlasm::module::ObjectForm;
use tdlasm::object::{read_tdl, write_tdl};
use tdlasm::source::MemoryLoader;
use tdlasm::{Options, asm};

/// Programs assembled with switch D alone, which writes plain bytes; the others had D and H.
const BINARY: [&str; 4] = ["08", "17", "28", "37"];

/// Programs for which the original writes an object despite an error.
const WITH_ERRORS: [&str; 1] = ["07"];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/oracle/rel")
}

fn numbers() -> impl Iterator<Item = String> {
    (1..=40).map(|number| format!("{number:02}"))
}

fn record_of(number: &str) -> Vec<u8> {
    fs::read(folder().join(format!("{number}.rel"))).expect("the record")
}

fn assembled(number: &str) -> asm::Assembly {
    let source = fs::read(folder().join(format!("{number}.asm"))).expect("the program");
    let loader = MemoryLoader::new().with("p.asm", source);
    asm::run(&loader, &["p.asm".into()], &Options::default())
}

/// Removes the padding of the last disk record, which the original wrote after the end of the text.
fn without_filling(number: &str, file: &[u8]) -> Vec<u8> {
    let in_digits = !BINARY.contains(&number);
    let end = file.iter().position(|byte| in_digits && *byte == 0x1A).unwrap_or(file.len());
    file[..end].to_vec()
}

#[test]
fn objects_are_the_originals_byte_for_byte() {
    let mut different = Vec::new();
    for number in numbers() {
        let outcome = assembled(&number);
        assert_eq!(
            outcome.has_errors(),
            WITH_ERRORS.contains(&&*number),
            "{number}: {:?}",
            outcome.diagnostics
        );
        // With switch H the original writes digits even after .PBIN.
        let form = ObjectForm { binary: BINARY.contains(&&*number), ..outcome.object_form };
        let file = write_tdl(&outcome.modules, form).expect("it can be written");
        if file != without_filling(&number, &record_of(&number)) {
            different.push(number);
        }
    }
    assert_eq!(different, Vec::<String>::new());
}

#[test]
fn the_originals_objects_can_be_read() {
    for number in numbers() {
        let modules = read_tdl(&record_of(&number), "P");
        let fills_an_area = ["16", "36"].contains(&&*number);
        let lacks_names = ["18", "38"].contains(&&*number);
        let is_hex = ["11", "12", "19", "31", "32", "39"].contains(&&*number);
        let refused = fills_an_area || lacks_names || is_hex;
        assert_eq!(modules.is_err(), refused, "{number}: {modules:?}");
    }
}
