//! The value of every legal move of thousands of positions, by each definition and in each form,
//! compared with a file from two other implementations.

use std::io::Read;

use chess_rules::see::{
    ExchangeStart, MAX_LEGAL_STATES, PieceValues, SeeDefinition, move_values, order_captures, soma,
    soma_of,
};
use chess_rules::{Move, Position};
use flate2::read::GzDecoder;
use serde_json::Value;

use crate::see::forms::Exchange;

fn truth() -> Vec<Value> {
    let packed: &[u8] = include_bytes!("../../data/truth.jsonl.gz");
    let mut text = String::new();
    GzDecoder::new(packed).read_to_string(&mut text).expect("it is whole");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// Calls `check` with each move and its values by the three definitions.
fn each_move(mut check: impl FnMut(&Value, &Position, Move, [i64; 3])) -> usize {
    let mut moves = 0;
    for entry in truth() {
        let position = Position::from_fen(entry["fen"].as_str().expect("a FEN")).expect("a FEN");
        for (uci, value) in entry["see"].as_object().expect("values") {
            let m = position.find_move(uci).unwrap_or_else(|| panic!("{} {uci}", entry["id"]));
            let one = |value: &Value| value.as_i64().expect("a number");
            let values = match value.as_array() {
                Some(three) => [one(&three[0]), one(&three[1]), one(&three[2])],
                None => [one(value); 3],
            };
            check(&entry, &position, m, values);
            moves += 1;
        }
    }
    moves
}

#[test]
fn every_move_has_its_value_by_every_definition() {
    let moves = each_move(|entry, position, m, expected| {
        let found = move_values(position, m, PieceValues::UNITS);
        let three = [SeeDefinition::Swap, SeeDefinition::SwapPromo, SeeDefinition::Legal];
        let found = three.map(|definition| i64::from(found.by(definition)));
        assert_eq!(found, expected, "{} {m}: {position}", entry["id"]);
        // The legal value itself, not its replacement.
        assert!(move_values(position, m, PieceValues::UNITS).legal.is_some(), "{}", entry["id"]);
    });
    assert_eq!(moves, 103_751);
}

#[test]
fn the_line_of_exchanges_is_the_same_with_the_values_of_its_first_captures() {
    for entry in truth() {
        let position = Position::from_fen(entry["fen"].as_str().expect("a FEN")).expect("a FEN");
        for by in SeeDefinition::ALL {
            let ordered = order_captures(&position, PieceValues::UNITS, by);
            let line = soma_of(&position, &ordered, PieceValues::UNITS);
            assert_eq!(line, soma(&position, PieceValues::UNITS), "{by} {position}");
            assert_eq!(ordered.illegal, position.illegal_captures(), "{position}");
        }
    }
}

#[test]
fn pinned_pieces_capture_only_on_the_line_of_their_pin() {
    for (fen, played, swap, swap_pins) in [
        // The knight is pinned by the bishop, so that the pawn is not taken back.
        ("3k4/8/5n2/3p4/4P2B/8/8/4K3 w - -", "exd5", 0, 1),
        // The rook is pinned on the file of the exchange, and takes the queen.
        ("4k3/4r3/8/4p3/8/8/8/K3Q3 w - -", "Qxe5", -8, -8),
        // The rook of the moving side is pinned, and does not guard the knight.
        ("4r1k1/8/5b2/8/8/3N4/1p2R3/4K3 w - -", "Nxb2", 1, -2),
    ] {
        let position = Position::from_fen(fen).expect("a FEN");
        let m = position.find_move(played).expect("a legal move");
        let found = move_values(&position, m, PieceValues::UNITS);
        assert_eq!((found.swap, found.swap_pins), (swap, swap_pins), "{fen} {played}");
    }
}

#[test]
fn every_form_agrees_on_every_move() {
    let moves = each_move(|entry, position, m, expected| {
        let exchange = Exchange::after_move(position, m, PieceValues::UNITS);
        let opening = exchange.start;
        for (promotes, expected) in [(false, expected[0] as i32), (true, expected[1] as i32)] {
            let place = format!("{} {m}: {position}", entry["id"]);
            assert_eq!(opening.list(promotes, false).value(), expected, "list, {place}");
            assert_eq!(opening.swap_value(promotes), expected, "the value alone, {place}");
            let by_recursion = exchange.value_by_recursion(promotes);
            assert_eq!(by_recursion, expected, "recursion, {place}");
            let by_bounds = exchange.value_by_bounds(promotes);
            assert_eq!(by_bounds, expected, "bounds, {place}");
            for threshold in -10..=12 {
                let reached = opening.see_ge(threshold, promotes);
                assert_eq!(reached, expected >= threshold, "{threshold}, {place}");
            }
            // The wiki's pruning keeps the sign of the result.
            let pruned = opening.list(promotes, true).value();
            assert_eq!(pruned > 0, expected > 0, "pruned, {place}");
        }
    });
    assert_eq!(moves, 103_751);
}

#[test]
fn values_in_hundreds_are_a_hundred_times_those_in_pawns() {
    each_move(|entry, position, m, expected| {
        let found = move_values(position, m, PieceValues::CLASSIC);
        assert_eq!(i64::from(found.swap), 100 * expected[0], "{} {m}", entry["id"]);
    });
}

#[test]
fn an_exchange_of_more_states_than_the_limit_ends_all_the_same() {
    // White on the ranks and files of d4, Black on its diagonals, both a knight's leap away.
    let fen = "3Q3b/3R2q1/b1nRNb2/1qNQn3/QRRqQRRQ/1bNQb3/b1nRNq2/3Q2b1 w - -";
    let position = Position::from_fen(fen).expect("a FEN");
    let limited = |limit: usize| {
        let opening = |m| {
            ExchangeStart::after_move(&position, m, PieceValues::UNITS)
                .legal_minimax_with_limit(limit)
        };
        position.legal_captures().into_iter().map(opening).collect::<Vec<_>>()
    };
    assert!(limited(2).contains(&None));
    assert!(
        limited(2)
            .iter()
            .zip(limited(MAX_LEGAL_STATES))
            .all(|(few, all)| few.is_none() || *few == all)
    );
    for m in position.legal_captures() {
        assert!(move_values(&position, m, PieceValues::UNITS).legal.is_some(), "{m}");
    }
}
