//! Any text as positions (EPD, FEN, suites): each line is read or refused, and what is read can be
//! formatted and its moves generated.
#![no_main]

use chess_rules::Position;
use chess_rules::epd::{EpdLine, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let longest_line = text.lines().map(|line| line.chars().count()).max().unwrap_or(0);
    for line in read(text) {
        let entry = match line {
            EpdLine::Position(entry) => entry,
            EpdLine::Invalid(error) => {
                assert!(error.column.is_none_or(|column| column <= longest_line + 1), "{error}");
                continue;
            }
            EpdLine::Blank => continue,
        };
        let again = Position::from_fen(&entry.position.to_string());
        assert_eq!(again.as_ref(), Ok(&entry.position));
        for m in entry.position.legal_captures() {
            let san = entry.position.san(m);
            assert_eq!(entry.position.find_move(&san), Some(m), "{san}");
        }
    }
});
