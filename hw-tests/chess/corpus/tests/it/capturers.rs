//! The pieces of attackers arrays in the order in which they capture.

use sargon_corpus::analysis::array_capturers;
use sargon_reference::{Colour, Square, attackers, find_pins, parse_fen};

#[test]
fn the_pieces_have_the_values_of_the_array_in_its_order() {
    // Crowded lines, pins, pieces behind queens, and more knights than a slot has room for.
    for fen in [
        "6k1/4q3/8/3p4/4n3/2N5/3N2B1/6K1 w - -",
        "3rr1k1/1b1qbppp/p1np1n2/1p2p3/3NP3/1BN1BP2/PPPQ2PP/2KRR3 w - -",
        "4r1k1/4r3/4q3/8/1N2pN2/2N3N1/4Q3/4RK2 w - -",
        "3q2k1/3r4/3r4/8/3P4/N1N5/1Q3N2/R1B3K1 w - -",
    ] {
        let position = parse_fen(fen).expect("a position");
        let pins = find_pins(&position);
        for (square, _) in position.pieces() {
            let array = attackers(&position, square, &pins).array;
            let found = array_capturers(&position, square, &pins);
            for colour in [Colour::White, Colour::Black] {
                let values: Vec<u8> =
                    found.in_order(colour).map(|it| it.piece.kind.value()).collect();
                assert_eq!(values, array.in_order(colour), "{fen} {square} {colour:?}");
            }
        }
    }
}

#[test]
fn a_piece_from_a_full_slot_comes_first_in_the_next_slot() {
    // Three knights and a bishop: the third knight goes to the bishops' slot, first.
    let position = parse_fen("6k1/8/8/5N2/3p4/1N6/2N5/B5K1 w - -").expect("a position");
    let d4 = Square::named("d4").expect("a square");
    let found = array_capturers(&position, d4, &[]);
    let squares: Vec<String> =
        found.in_order(Colour::White).map(|it| it.square.to_string()).collect();
    assert_eq!(squares.last().map(String::as_str), Some("a1"), "{squares:?}");
    assert_eq!(squares.len(), 4);
}
