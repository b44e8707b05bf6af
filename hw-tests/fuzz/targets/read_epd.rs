//! Any text as positions (EPD, FEN, suites): each line is read or refused, and what is read can be
//! written and its moves told.
#![no_main]

use chess_rules::Position;
use chess_rules::epd::{Line, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for line in read(text) {
        let Line::Position(entry) = line else { continue };
        let again = Position::from_fen(&entry.position.to_string());
        assert_eq!(again.as_ref(), Ok(&entry.position));
        for m in entry.position.legal_captures() {
            let told = entry.position.san(m);
            assert_eq!(entry.position.find_move(&told), Some(m), "{told}");
        }
    }
});
