//! Residue, minimax and swap value side by side, and the reasons of their differences: one position
//! for each.

use chess_rules::see::{PieceValues, pseudo_legal_gain};
use sargon_corpus::analysis::{
    EvaluatorDiff, EvaluatorStats, ExchangeLine, Rule, Rules, SquareExchange, compare_evaluators,
    convert,
};
use sargon_corpus::{CaseInput, builtin_corpus};
use sargon_reference::{Position, Square, evaluate, find_pins, parse_fen};

fn position(fen: &str) -> Position {
    parse_fen(fen).unwrap_or_else(|error| panic!("{error}"))
}

/// Residue, minimax, swap value and reason for a square.
fn verdict(fen: &str, square: &str) -> (i32, i32, i32, String) {
    let square = Square::named(square).expect("a square");
    let compared = compare_evaluators(&position(fen));
    let found = compared.iter().find(|c| c.square == square).expect("an attacked piece");
    let EvaluatorDiff { residue, minimax, swap, .. } = *found;
    (residue, minimax, swap, found.reason())
}

fn positions() -> impl Iterator<Item = (String, Position)> {
    let cases = builtin_corpus().unwrap_or_else(|error| panic!("{error}"));
    cases.into_iter().filter_map(|case| match case.subject {
        CaseInput::Position { fen, position, .. } => Some((fen, position)),
        CaseInput::Array { .. } => None,
    })
}

#[test]
fn the_captures_of_both_exchanges_end_in_the_residue_and_the_swap_value() {
    let mut squares = 0;
    for (fen, position) in positions() {
        let (pieces, pins) = (convert::pieces(&position), find_pins(&position));
        for EvaluatorDiff { square, residue, swap, .. } in compare_evaluators(&position) {
            let exchange = SquareExchange::new(&position, &pieces, &pins, square);
            let modern = ExchangeLine::by_swap(&exchange.expect("a piece"));
            let sargon = ExchangeLine::by_sargon(&position, &pins, square);
            assert_eq!((sargon.loss(), modern.loss()), (residue, swap), "{square} {fen}");
            squares += 1;
        }
    }
    assert!(squares > 6435, "{squares}");
}

#[test]
fn two_rooks_against_a_guarded_knight_are_stopped_one_step_too_early() {
    // Rook takes knight, knight takes rook, rook takes knight: 3 - 5 + 3. XCHNG stops at the
    // knight's guard.
    let (residue, minimax, swap, reason) = verdict("7k/8/1n6/3n4/8/8/3R4/3R3K w - -", "d5");
    assert_eq!((residue, minimax, swap), (0, 1, 1));
    assert_eq!(reason, "stop rule");
}

#[test]
fn two_knights_against_a_knight_that_two_rooks_guard_go_one_step_too_far() {
    // Knight takes knight; the rook is dearer than the knight it would take, which a knight guards,
    // so XCHNG stops. But the rook would be followed by the other: 3 - 3 + 5 - 3.
    let fen = "3r3k/3r4/8/3n4/8/2N1N3/8/7K w - -";
    let (residue, minimax, swap, reason) = verdict(fen, "d5");
    assert_eq!((residue, minimax, swap), (3, 2, 2));
    assert_eq!(reason, "stop rule");
}

#[test]
fn a_pinned_guard_guards_for_the_swap_algorithm_only() {
    // The knight c6 is pinned against the king c8 by the rook c1, and guards d4 no more.
    let (residue, minimax, swap, reason) = verdict("2k5/8/2n5/8/3p4/8/3R4/2R4K w - -", "d4");
    assert_eq!((residue, minimax, swap), (1, 1, 0));
    assert_eq!(reason, "pin");
}

#[test]
fn a_guard_behind_an_enemys_rook_is_seen_by_the_swap_algorithm_only() {
    // After the rook d3 captures on d5, Black's rook d2 behind it recaptures.
    let (residue, minimax, swap, reason) = verdict("7k/8/8/3p4/8/3R4/3r4/7K w - -", "d5");
    assert_eq!((residue, minimax, swap), (1, 1, 0));
    assert_eq!(reason, "x-ray");
}

#[test]
fn a_king_may_not_take_what_a_pinned_piece_guards() {
    // The bishop d7 guards c6, though the rook d1 pins it to its king: the king b5 may not take.
    let (residue, minimax, swap, reason) = verdict("3k4/3b4/2p5/1K6/8/8/8/3R4 w - -", "c6");
    assert_eq!((residue, minimax, swap), (1, 1, 0));
    assert_eq!(reason, "pin or king");
}

#[test]
fn a_pawn_that_takes_on_the_last_rank_becomes_a_queen() {
    let (residue, minimax, swap, reason) = verdict("3r3k/2P5/8/8/8/8/8/7K w - -", "d8");
    assert_eq!((residue, minimax, swap), (5, 5, 5 + 9 - 1));
    assert_eq!(reason, "promotion");
}

#[test]
fn more_queens_than_the_array_has_room_for_are_a_reason_too() {
    let fen = "NNNNNNNN/pppppppp/RBQKQBRB/qqqqqqqq/QQQQQQQQ/rbqkqbrb/PPPPPPPP/nnnnnnnn w - -";
    assert_eq!(verdict(fen, "c4").3, "filing");
}

#[test]
fn the_wikis_positions_have_no_difference() {
    // Its values of 1 and -2 for the forced captures are residues of 1 and, since captures are
    // optional, 0.
    let first = verdict("1k1r4/1pp4p/p7/4p3/8/P5P1/1PP4P/2K1R3 w - -", "e5");
    let second = verdict("1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - -", "e5");
    assert_eq!(first, (1, 1, 1, String::new()));
    assert_eq!(second, (0, 0, 0, String::new()));
}

#[test]
fn with_sargons_rules_the_model_agrees_with_the_reference() {
    for (fen, position) in positions() {
        let (pins, verdicts) = evaluate(&position);
        let pieces = convert::pieces(&position);
        for verdict in verdicts {
            let battle =
                SquareExchange::new(&position, &pieces, &pins, verdict.square).expect("occupied");
            let residue = i32::from(verdict.outcome.residue);
            assert_eq!(battle.loss(Rules::SARGON), Some(residue), "{fen} {}", verdict.square);
        }
    }
}

#[test]
fn with_modern_rules_the_model_agrees_with_the_swap_algorithm() {
    for (fen, position) in positions() {
        let pieces = convert::pieces(&position);
        let pins = find_pins(&position);
        for (square, piece) in position.pieces() {
            let battle = SquareExchange::new(&position, &pieces, &pins, square).expect("occupied");
            let attacker = convert::side(piece.colour.other());
            let swap =
                pseudo_legal_gain(&pieces, convert::square(square), attacker, PieceValues::SARGON);
            // Only pawns that capture on a last rank make a difference, and only there.
            if !matches!(square.rank(), 0 | 7) {
                assert_eq!(battle.loss(Rules::MODERN), Some(swap), "{fen} {square}");
            }
        }
    }
}

#[test]
fn every_difference_has_a_reason_and_is_counted_under_it_once() {
    let mut counts = EvaluatorStats::default();
    for (fen, position) in positions() {
        let compared = compare_evaluators(&position);
        for found in &compared {
            assert_eq!(found.residue == found.swap, found.reasons.is_empty(), "{fen} {found:?}");
            let only_stop = found.reasons.contains(&vec![Rule::Stop]);
            assert!(!only_stop || found.minimax != found.residue, "{fen} {found:?}");
        }
        counts.add(&compared);
    }
    let by_reason: usize = counts.reasons.values().map(|tally| tally.sum()).sum();
    assert_eq!(by_reason, counts.swap.sum());
    assert!(counts.equal + counts.swap.sum() <= counts.attacked);
    assert!(by_reason > 100, "{counts:?}");
}
