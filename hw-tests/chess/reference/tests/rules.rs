//! The host reference against the documents, and against a second, simpler model.

use proptest::prelude::*;
use sargon_reference::{
    AttackersArray, Colour, Piece, PieceKind, Square, SquareResult, evaluate, exchange, parse_fen,
};

const BLACK_KNIGHT: Piece = Piece { colour: Colour::Black, kind: PieceKind::Knight };

/// The array of the article's Figure 4 in the form of Table 1: White two knights and a bishop,
/// Black a pawn and a queen.
const FIGURE_4: [u8; 14] = [3, 0, 0x33, 0x03, 0, 0, 0, 2, 0x01, 0, 0, 0, 0x09, 0];

fn verdict(fen: &str, square: &str) -> SquareResult {
    let position = parse_fen(fen).unwrap_or_else(|error| panic!("{error}"));
    let square = Square::named(square).expect("a square");
    let (_, verdicts) = evaluate(&position);
    verdicts.into_iter().find(|verdict| verdict.square == square).expect("it is occupied")
}

/// The array with these values in order, attackers and defenders of a Black piece: one per slot, so
/// that any order is possible.
fn array(white: &[u8], black: &[u8]) -> AttackersArray {
    let mut bytes = [0; 14];
    for (section, values) in bytes.chunks_mut(7).zip([white, black]) {
        section[0] = values.len() as u8;
        for (index, value) in values.iter().enumerate() {
            section[1 + index / 2] |= value << (4 * (index % 2));
        }
    }
    AttackersArray::from_bytes(&bytes)
}

#[test]
fn figure_4_books_3_0_1() {
    let outcome = exchange(BLACK_KNIGHT, &AttackersArray::from_bytes(&FIGURE_4));
    let rows: Vec<_> =
        (outcome.bookings.iter()).map(|b| (b.stake, b.attacker, b.defender, b.residue)).collect();
    // Points at stake, attacker, defender, residue. In the third row the printed listing fetches
    // one more attacker and no defender after it, so the queen is not answered there.
    assert_eq!(rows[..2], [(3, 3, 1, 3), (3, 1, 3, 0)]);
    assert_eq!((rows[2].0, rows[2].3), (1, 1));
    assert_eq!((outcome.residue, rows.len()), (1, 3));
}

#[test]
fn swap_algorithm_positions_leave_1_and_0_on_e5() {
    let first = verdict("1k1r4/1pp4p/p7/4p3/8/P5P1/1PP4P/2K1R3 w - -", "e5");
    let second = verdict("1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - -", "e5");
    assert_eq!((first.outcome.residue, second.outcome.residue), (1, 0));
}

#[test]
fn shortest_differences_from_minimax_come_out_as_the_program_has_them() {
    // A knight attacked by two rooks and guarded by a knight: 0. By two knights, guarded by two
    // rooks: 3.
    assert_eq!(exchange(BLACK_KNIGHT, &array(&[5, 5], &[3])).residue, 0);
    assert_eq!(exchange(BLACK_KNIGHT, &array(&[3, 3], &[5, 5])).residue, 3);
}

#[test]
fn a_pin_elsewhere_does_not_change_the_order_of_captures() {
    // The position in which the original program gives 0, since h2 is pinned.
    let fen = "r3q2r/2p1k1p1/p5p1/1p2Nb2/1P2nB2/P7/2PNQbPP/R2R3K w - -";
    assert_eq!(verdict(fen, "e4").outcome.residue, 3);
}

#[test]
fn a_rook_pinned_on_a_file_may_move_along_it_only() {
    // White's rook e4 is pinned by the rook e8 against the king e1: it attacks e8 and does not
    // guard h4.
    let fen = "k3r3/8/8/8/4R2N/8/8/4K3 w - -";
    assert_eq!(verdict(fen, "e8").array.count(Colour::White), 1);
    assert_eq!(verdict(fen, "h4").array.count(Colour::White), 0);
}

#[test]
fn two_rooks_behind_the_queen_fill_her_slot_and_push_the_king_up() {
    // On the e file Q, R, R attack e5 from below; the king on d4 attacks it as well.
    let fen = "7k/8/8/4p3/3K4/4Q3/4R3/4R3 w - -";
    assert_eq!(verdict(fen, "e5").array.to_bytes()[..7], [4, 0, 0, 0, 0, 0x59, 0xA5]);
}

#[test]
fn a_count_that_exceeds_its_section_ends_the_exchange_and_is_reported() {
    let mut bytes = array(&[3], &[]).to_bytes();
    bytes[0] = 5;
    bytes[7] = 2;
    let outcome = exchange(BLACK_KNIGHT, &AttackersArray::from_bytes(&bytes));
    assert_eq!((outcome.residue, outcome.short), (3, true));
}

#[test]
fn a_fen_is_refused_with_the_field_the_column_and_the_reason() {
    let cases = [
        ("8/8/8/8 w - -", "pieces", 8, "ends on rank 5"),
        ("8/8/8/8/8/8/8/8/8 w - -", "pieces", 16, "more than 8 ranks"),
        ("8/8/8/9/8/8/8/8 w - -", "pieces", 7, "'9' is not a piece"),
        ("8/8/8/7/8/8/8/8 w - -", "pieces", 8, "rank 5 has 7 squares"),
        ("8/8/8/8p/8/8/8/8 w - -", "pieces", 8, "rank 5 has more than 8 squares"),
        ("8/8/8/8/8/8/8/8 x - -", "side to move", 17, "'x' is neither w nor b"),
        ("8/8/8/8/8/8/8/8 w QK -", "castling", 20, "'QK'"),
        ("8/8/8/8/8/8/8/8 w - e4", "en passant", 21, "'e4'"),
        ("8/8/8/8/8/8/8/8 w - - 0 x", "move number", 25, "'x' is not a number"),
        ("8/8/8/8/8/8/8/8 w - - 0", "move number", 24, "a FEN has 4 or 6 fields, this has 5"),
        ("", "pieces", 1, "this has 0"),
    ];
    for (fen, field, column, problem) in cases {
        let error = parse_fen(fen).expect_err(fen);
        assert_eq!((error.field, error.column), (field, column), "{fen}: {error}");
        assert!(error.problem.contains(problem), "{fen}: {error}");
    }
}

/// An independent implementation of the rule, over two lists: the points that the owner of a piece
/// worth `stake` loses.
fn simple(stake: i32, attackers: &[u8], defenders: &[u8]) -> i32 {
    let Some((&first, others)) = attackers.split_first() else { return 0 };
    let mut attacker = i32::from(first);
    let mut attackers = others;
    let mut defenders = defenders;
    if stake < attacker {
        while let Some((&guard, left)) = defenders.split_first() {
            defenders = left;
            match attackers.split_first() {
                Some((&next, left)) if i32::from(guard) >= attacker => {
                    (attacker, attackers) = (i32::from(next), left);
                    if defenders.is_empty() {
                        return stake;
                    }
                }
                _ => return 0,
            }
        }
        return stake;
    }
    match defenders {
        [] => stake,
        _ => stake - simple(attacker, defenders, attackers),
    }
}

/// Up to five pieces of a side, the cheapest first.
fn section() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(prop::sample::select(vec![1u8, 3, 3, 5, 9, 10]), 0..6).prop_map(
        |mut v| {
            v.sort_unstable();
            v
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100_000))]
    #[test]
    fn a_second_model_agrees(kind in 0usize..6, white in section(), black in section()) {
        let piece = Piece { colour: Colour::Black, kind: PieceKind::ALL[kind] };
        let residue = exchange(piece, &array(&white, &black)).residue;
        prop_assert_eq!(i32::from(residue), simple(i32::from(piece.kind.value()), &white, &black));
    }
}
