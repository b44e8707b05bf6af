//! Listings byte for byte as TDL ZASM 2.21 printed them: 40 programs in `data/oracle/listings`.

use std::fs;
use std::path::{Path, PathBuf};

use tdlasm::listing::{TdlOptions, render_tdl};
use tdlasm::source::MemoryLoader;
use tdlasm::{ConsoleReply, Options, asm};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/oracle/listings")
}

/// A row of `index.tsv`: number, switches, and the console input.
struct Entry {
    number: String,
    switches: String,
    answers: Vec<String>,
}

fn index() -> Vec<Entry> {
    let text = fs::read_to_string(folder().join("index.tsv")).expect("the index");
    let row = |line: &str| {
        let fields: Vec<&str> = line.split('\t').collect();
        // D and H select the destination of the listing and the form of the object.
        let switches = fields[2].chars().filter(|letter| !"DH".contains(*letter)).collect();
        let answers = fields[3].split_whitespace().map(str::to_owned).collect();
        Entry { number: fields[0].to_owned(), switches, answers }
    };
    text.lines().skip(1).map(row).collect()
}

fn listed(entry: &Entry) -> Vec<u8> {
    let read = |name: &str| fs::read(folder().join(name)).expect("a file of the records");
    let loader = MemoryLoader::new()
        .with("p.asm", read(&format!("{}.asm", entry.number)))
        .with("PART.ASM", read("part.asm"));
    let reply = |keys: &String| ConsoleReply { name: None, keys: keys.clone() };
    let answers = entry.answers.iter().map(reply).collect();
    let options = Options { listing: true, console_replies: answers, ..Options::default() };
    let found = asm::run(&loader, &["p.asm".into()], &options);
    let tdl_options = TdlOptions::default().switches(&entry.switches).expect("known switches");
    let asm::Assembly { listing, sources, diagnostics, modules, .. } = &found;
    render_tdl(listing, sources, diagnostics, modules, &tdl_options).into_bytes()
}

#[test]
fn listings_are_the_originals_byte_for_byte() {
    let mut different = Vec::new();
    for entry in index() {
        let expected = fs::read(folder().join(format!("{}.prn", entry.number))).expect("a record");
        if listed(&entry) != expected {
            different.push(entry.number);
        }
    }
    assert_eq!(different, Vec::<String>::new());
}

#[test]
fn the_heading_is_an_option() {
    let [first, ..] = &index()[..] else { panic!("an index") };
    let source = fs::read(folder().join(format!("{}.asm", first.number))).expect("a program");
    let loader = MemoryLoader::new().with("p.asm", source);
    let options = Options { listing: true, ..Options::default() };
    let found = asm::run(&loader, &["p.asm".into()], &options);
    let tdl_options = TdlOptions::default().program("MY ASSEMBLER");
    let asm::Assembly { listing, sources, diagnostics, modules, .. } = &found;
    let text = render_tdl(listing, sources, diagnostics, modules, &tdl_options);
    assert_eq!(text.lines().nth(3), Some(&*format!("{:<64}PAGE 1", "MY ASSEMBLER")));
    assert!(TdlOptions::default().switches("SQ").is_err());
}
