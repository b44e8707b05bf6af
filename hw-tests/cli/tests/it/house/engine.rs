//! The engine, `hil-harness`, and the debugger, `board-debugger`, know no chess: they use no such
//! crate and have no such word.

use std::path::PathBuf;

use crate::house::{files, read, root};

/// Words of chess and of Sargon's evaluator, anywhere in a word.
const TERMS: [&str; 12] = [
    "sargon",
    "chess",
    "residue",
    "square",
    "piece",
    "evaluator",
    "attack",
    "exchange",
    "knight",
    "bishop",
    "xchng",
    "castling",
];
/// Further ones, as whole words: others contain them.
const WORDS: [&str; 8] = ["fen", "epd", "pawn", "pawns", "rook", "queen", "king", "corpus"];

/// Returns the lines with a term of chess, each with its number.
fn chess_terms(text: &str) -> Vec<(usize, String)> {
    let has_term = |line: &str| {
        let line = line.to_lowercase();
        let mut words = line.split(|c: char| !c.is_alphanumeric());
        TERMS.iter().any(|term| line.contains(term)) || words.any(|word| WORDS.contains(&word))
    };
    let numbered = (1..).zip(text.lines()).filter(|(_, line)| has_term(line));
    numbered.map(|(number, line)| (number, line.to_owned())).collect()
}

/// Asserts that neither the manifest of a crate nor its sources have a term of chess.
fn assert_knows_no_chess(folder: &str) {
    let folder = root().join(folder);
    let mut sources: Vec<PathBuf> = vec![folder.join("Cargo.toml")];
    for ending in [".rs", ".js", ".html", ".css"] {
        files(&folder.join("src"), ending, &mut sources);
    }
    assert!(sources.len() > 20, "{sources:?}");
    let found = sources.iter().flat_map(|path| {
        let lines = chess_terms(&read(path)).into_iter();
        lines.map(move |(number, line)| format!("{}:{number}: {line}", path.display()))
    });
    let found: Vec<_> = found.collect();
    assert!(found.is_empty(), "{} terms of chess:\n{}", found.len(), found.join("\n"));
}

#[test]
fn the_engine_has_no_word_of_chess() {
    assert_knows_no_chess("hw-tests/run/harness");
}

#[test]
fn the_debugger_has_no_word_of_chess() {
    assert_knows_no_chess("hw-tests/debug/debugger");
}

#[test]
fn the_engine_takes_the_firmware_without_the_evaluator() {
    let manifest =
        |path: &str| read(&root().join(path)).parse::<toml::Table>().expect("a manifest");
    let shared = &manifest("Cargo.toml")["workspace"]["dependencies"]["firmware"];
    assert_eq!(shared["default-features"].as_bool(), Some(false));
    let firmware = manifest("firmware/Cargo.toml");
    assert_eq!(firmware["dependencies"]["sargon-src"]["optional"].as_bool(), Some(true));
    for name in ["run/harness", "machine/board-simulator", "debug/debugger"] {
        let manifest = manifest(&format!("hw-tests/{name}/Cargo.toml"));
        assert_eq!(manifest["dependencies"]["firmware"].get("features"), None, "{name}");
    }
}

#[test]
fn terms_are_found_in_names_and_rare_ones_as_words_only() {
    let of = |text| chess_terms(text).len();
    assert_eq!(of("let residues = 1;\n/// The FEN of a case.\nuse sargon_corpus::Case;"), 3);
    assert_eq!(of("fn fence() -> Booking { spawn(making()) }"), 0);
}
