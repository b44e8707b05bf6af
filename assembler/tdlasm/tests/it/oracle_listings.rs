//! Listings byte for byte as TDL ZASM 2.21 printed them: 40 programs in `data/oracle/listings`, and
//! 60 with tabs and comments like those of the period in `data/oracle/listings2`.

use std::fs;
use std::path::{Path, PathBuf};

use tdlasm::listing::{TdlOptions, render_tdl};
use tdlasm::source::MemoryLoader;
use tdlasm::{ConsoleReply, Options, asm};

const FOLDERS: [(&str, usize); 2] = [("listings", 40), ("listings2", 60)];

fn path_of(folder: &str, name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/oracle").join(folder).join(name)
}

/// A row of `index.tsv`: number, switches, and the console input.
struct Entry {
    folder: &'static str,
    number: String,
    switches: String,
    answers: Vec<String>,
}

fn index(folder: &'static str) -> Vec<Entry> {
    let text = fs::read_to_string(path_of(folder, "index.tsv")).expect("the index");
    let row = |line: &str| {
        let fields: Vec<&str> = line.split('\t').collect();
        // D and H select the destination of the listing and the form of the object.
        let switches = fields[2].chars().filter(|letter| !"DH".contains(*letter)).collect();
        let answers = fields[3].split_whitespace().map(str::to_owned).collect();
        Entry { folder, number: fields[0].to_owned(), switches, answers }
    };
    text.lines().skip(1).map(row).collect()
}

fn listed(entry: &Entry) -> Vec<u8> {
    let read = |folder, name: &str| fs::read(path_of(folder, name)).expect("a file of the records");
    let loader = MemoryLoader::new()
        .with("p.asm", read(entry.folder, &format!("{}.asm", entry.number)))
        .with("PART.ASM", read("listings", "part.asm"));
    let reply = |keys: &String| ConsoleReply { name: None, keys: keys.clone() };
    let answers = entry.answers.iter().map(reply).collect();
    let options = Options { listing: true, console_replies: answers, ..Options::default() };
    let found = asm::run(&loader, &["p.asm".into()], &options);
    let tdl_options = TdlOptions::default().switches(&entry.switches).expect("known switches");
    let asm::Assembly { listing, sources, modules, .. } = &found;
    render_tdl(listing, sources, modules, &tdl_options).into_bytes()
}

#[test]
fn listings_are_the_originals_byte_for_byte() {
    for (folder, count) in FOLDERS {
        let entries = index(folder);
        assert_eq!(entries.len(), count);
        let differs = |entry: &&Entry| {
            let expected = path_of(folder, &format!("{}.prn", entry.number));
            listed(entry) != fs::read(expected).expect("a record")
        };
        let different: Vec<&str> =
            entries.iter().filter(differs).map(|entry| &*entry.number).collect();
        assert_eq!(different, [""; 0], "{folder}");
    }
}

#[test]
fn the_heading_is_an_option() {
    let source = fs::read(path_of("listings", "01.asm")).expect("a program");
    let loader = MemoryLoader::new().with("p.asm", source);
    let options = Options { listing: true, ..Options::default() };
    let found = asm::run(&loader, &["p.asm".into()], &options);
    let tdl_options = TdlOptions::default().program("MY ASSEMBLER");
    let asm::Assembly { listing, sources, modules, .. } = &found;
    let text = render_tdl(listing, sources, modules, &tdl_options);
    assert_eq!(text.lines().nth(3), Some(&*format!("{:<64}PAGE 1", "MY ASSEMBLER")));
    assert!(TdlOptions::default().switches("SQ").is_err());
}
