//! Any text as positions (EPD, FEN, suites): each line is read or refused, and what is read can be
//! formatted and its moves generated.
#![no_main]

use chess_rules::Position;
use chess_rules::epd::{EpdLine, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for line in read(text) {
        let EpdLine::Position(entry) = line else { continue };
        let again = Position::from_fen(&entry.position.to_string());
        assert_eq!(again.as_ref(), Ok(&entry.position));
        for m in entry.position.legal_captures() {
            let san = entry.position.san(m);
            assert_eq!(entry.position.find_move(&san), Some(m), "{san}");
        }
    }
});
