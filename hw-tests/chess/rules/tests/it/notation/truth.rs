//! Legal moves, captures and their notation on thousands of positions, compared with a file from
//! two other implementations.

use std::collections::{BTreeMap, BTreeSet};

use crate::notation::file::truth;
use chess_rules::{IllegalReason, Position};

#[test]
fn the_legal_moves_and_captures_are_exactly_those_of_the_file() {
    let mut moves_seen = 0;
    let mut captures_seen = 0;
    for entry in truth() {
        let position = Position::from_fen(&entry.fen).expect("a FEN");
        let uci = |m| position.uci_as(m, entry.chess960);
        let moves: BTreeSet<_> = position.legal_moves().into_iter().map(uci).collect();
        let expected: BTreeSet<_> = entry.see.keys().cloned().collect();
        assert_eq!(moves, expected, "{}: {}", entry.id, entry.fen);
        let captures = position.legal_captures().into_iter();
        let captures: BTreeMap<_, _> = captures.map(|m| (uci(m), position.san(m))).collect();
        assert_eq!(captures, entry.captures, "{}: {}", entry.id, entry.fen);
        moves_seen += moves.len();
        captures_seen += captures.len();
    }
    assert_eq!(moves_seen, 103_751);
    assert_eq!(captures_seen, 15_286);
}

#[test]
fn captures_that_are_not_legal_are_named_with_the_reason() {
    for entry in truth() {
        let position = Position::from_fen(&entry.fen).expect("a FEN");
        let name = |reason| match reason {
            IllegalReason::Pin => "pin",
            IllegalReason::King => "king",
            IllegalReason::Check => "check",
            IllegalReason::EnPassant => "ep",
        };
        let illegal = position.illegal_captures().into_iter();
        let illegal: BTreeMap<_, _> =
            illegal.map(|(m, reason)| (position.uci(m), name(reason).to_owned())).collect();
        assert_eq!(illegal, entry.illegal, "{}: {}", entry.id, entry.fen);
    }
}

#[test]
fn every_move_is_found_again_by_its_notations() {
    for entry in truth().iter().step_by(7) {
        let position = Position::from_fen(&entry.fen).expect("a FEN");
        for m in position.legal_moves() {
            let texts =
                [position.san(m), position.uci_as(m, true), format!("{}!?", position.san(m))];
            for text in texts {
                assert_eq!(position.find_move(&text), Some(m), "{}: {text}", entry.fen);
            }
        }
    }
}

#[test]
fn both_forms_of_castling_rights_mean_the_same() {
    for entry in truth() {
        let Some(shredder) = &entry.shredder else { continue };
        let usual = Position::from_fen(&entry.fen).expect("a FEN");
        let by_files = Position::from_fen(shredder).expect("a FEN");
        assert_eq!(by_files.rights(), usual.rights(), "{}", entry.id);
        assert_eq!(usual.to_string(), entry.fen, "{}", entry.id);
    }
}
