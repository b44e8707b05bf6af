//! Numbers in the text of D. and K. Spracklen, "An Exchange Evaluator for Computer Chess" (BYTE,
//! September 1978), that no other test computes: the examples of its overview, Figure 1, Table 1
//! and the cost of an inefficiency. Figure 4 is in `trace.rs`, two rooks behind the queen are in
//! `rules.rs` of `sargon-reference`, Figure 5, the boxed example and Table 4 in `prizes.rs`, the
//! bounds of the residue in `corpus_properties.rs`.

use sargon_corpus::analysis::exchange_steps;
use sargon_reference::{Colour, Square, SquareResult, evaluate, parse_fen};
use tdlasm::isa::decode;

fn verdict(fen: &str, square: &str) -> SquareResult {
    let position = parse_fen(fen).unwrap_or_else(|error| panic!("{error}"));
    let square = Square::named(square).expect("a square");
    let (_, verdicts) = evaluate(&position);
    verdicts.into_iter().find(|verdict| verdict.square == square).expect("it is occupied")
}

fn residue(fen: &str, square: &str) -> u8 {
    verdict(fen, square).outcome.residue
}

#[test]
fn figure_1_has_three_attackers_and_two_usable_defenders_and_loses_nothing() {
    // Reconstructed from the text: king, queen and a bishop behind her against queen, rook and a
    // pinned knight.
    let pawn = verdict("2kr4/6q1/8/5n2/2Kp4/3N3B/5Q2/6B1 w - -", "d4");
    assert_eq!((pawn.array.count(Colour::White), pawn.array.count(Colour::Black)), (3, 2));
    // Table 1: byte 6 is White's queen byte, with the bishop in its high half; byte 7 holds the
    // king.
    let byte = |number: usize| pawn.array.to_bytes()[number - 1];
    assert_eq!((byte(1), byte(6), byte(7)), (3, 0x39, 0x0A));
    // Black's section is bytes 8 to 14: a rook in byte 12, the queen in byte 13, no knight
    // in byte 10.
    assert_eq!((byte(8), byte(12), byte(13), byte(10)), (2, 0x05, 0x09, 0));
    // The queen must be the first taker and the king the last.
    assert_eq!(pawn.array.in_order(Colour::White), [9, 3, 10]);
    assert_eq!(pawn.outcome.residue, 0);
}

#[test]
fn a_bishop_that_takes_a_rook_wins_five_points_and_keeps_two_when_it_is_retaken() {
    let bishop = 3;
    let rook = 5;
    let pawn = 1;
    let residues: Vec<_> =
        exchange_steps(rook, &[bishop], &[pawn]).iter().map(|s| s.residue).collect();
    assert_eq!(residues, [5, 2]);
    assert_eq!(residue("7k/2p5/3r4/8/1B6/8/8/7K w - -", "d6"), 2);
    assert_eq!(residue("7k/8/3r4/8/1B6/8/8/7K w - -", "d6"), 5);
}

#[test]
fn a_queen_takes_a_pawn_when_it_is_free_or_a_bishop_behind_her_makes_a_queens_recapture_dear() {
    assert_eq!(residue("7k/8/8/3p4/8/8/8/3Q3K w - -", "d5"), 1);
    assert_eq!(residue("q6k/8/8/3p4/4Q3/5B2/8/7K w - -", "d5"), 1);
    assert_eq!(residue("q6k/8/8/3p4/4Q3/8/8/7K w - -", "d5"), 0);
    assert_eq!(residue("7k/8/4p3/3p4/8/8/8/3Q3K w - -", "d5"), 0);
}

#[test]
fn an_attacker_as_dear_as_the_piece_loses_nothing_and_may_win_it() {
    assert_eq!(residue("7k/8/8/3r4/8/8/8/3R3K w - -", "d5"), 5);
    assert_eq!(residue("3r3k/8/8/3r4/8/8/8/3R3K w - -", "d5"), 0);
}

#[test]
fn saving_and_restoring_four_registers_would_cost_about_three_seconds_a_move() {
    let clocks = |opcode: u8| decode(&[opcode]).map(|decoded| u64::from(decoded.form.clocks.taken));
    let push_and_pop = [(0xC5, 0xC1), (0xD5, 0xD1), (0xE5, 0xE1), (0xF5, 0xF1)];
    let cost: u64 =
        push_and_pop.iter().filter_map(|&(push, pop)| Some(clocks(push)? + clocks(pop)?)).sum();
    // Five pieces attacked in each of up to 12,000 positions, and a clock of 2 MHz.
    let executions = 5 * 12_000;
    assert_eq!(executions, 60_000);
    let seconds = (cost * executions) as f64 / 2e6;
    assert_eq!(seconds.round(), 3.0, "{seconds} s");
}
