//! A correct response has no difference, and every error is reported as such: each field of each
//! response is corrupted in turn.

use firmware_wire::{Pin, PointsReply, PositionEnd, SquareRecord, danger, status};
use sargon_corpus::analysis::{Prizes, exchange_steps};
use sargon_corpus::encode;
use sargon_corpus::{CaseInput, DocumentedResult, builtin_corpus};
use sargon_reference::{
    AttackersArray, Behaviour, Colour, Piece, PieceKind, Position, Square, SquareResult, evaluate,
    parse_fen,
};
use sargon_suite::compare::{
    Criteria, Difference, compare_exchange, compare_points, compare_points_reply, compare_position,
    compare_steps,
};
use sargon_suite::responses::PositionResponse;

/// Pins against king and queen, and residues.
const PINS: &str = "3qr1k1/8/8/b6b/3N4/2N2P2/4B3/R2QK2R w - -";
const CORRECTED: Criteria = Criteria { behaviour: Behaviour::Corrected, status_mask: 0xFF };

fn position() -> Position {
    parse_fen(PINS).expect("a position")
}

fn square(name: &str) -> Square {
    Square::named(name).expect("a square")
}

fn status_of(verdict: &SquareResult) -> u8 {
    let overflow = u8::from(verdict.overflow) * status::OVERFLOW;
    overflow + u8::from(verdict.outcome.short) * status::SHORT
}

/// Returns a response that agrees with the reference.
fn matching_response(position: &Position) -> PositionResponse {
    let (pins, verdicts) = evaluate(position);
    let record = |verdict: &SquareResult| SquareRecord {
        square: encode::square(verdict.square),
        piece: encode::piece(verdict.piece),
        status: status_of(verdict),
        residue: verdict.outcome.residue,
        array: verdict.array.to_bytes(),
    };
    let royals = [
        (Colour::White, PieceKind::King),
        (Colour::Black, PieceKind::King),
        (Colour::White, PieceKind::Queen),
        (Colour::Black, PieceKind::Queen),
    ];
    let royals =
        royals.map(|(colour, kind)| position.royal(colour, kind).map_or(0, encode::square));
    let step = |pin: &sargon_reference::Pin| pin.direction.files + 10 * pin.direction.ranks;
    let pins = pins.iter().map(|pin| Pin { square: encode::square(pin.square), step: step(pin) });
    let end = PositionEnd {
        points: None,
        parts: 1,
        squares: verdicts.len() as u8,
        status: verdicts.iter().map(status_of).fold(0, |all, one| all | one),
        royals,
        pins: pins.collect(),
    };
    PositionResponse { squares: verdicts.iter().map(record).collect(), end, t_states: None }
}

/// Differences as text, without the arrays.
fn difference_lines(found: &[Difference]) -> Vec<String> {
    found.iter().map(|one| Difference { arrays: None, ..one.clone() }.to_string()).collect()
}

fn compared(seen: &PositionResponse) -> Vec<String> {
    difference_lines(&compare_position(&position(), CORRECTED, &[], seen))
}

#[test]
fn right_answers_of_the_whole_corpus_have_no_difference() {
    for case in builtin_corpus().expect("the corpus") {
        if let CaseInput::Position { position, expected, .. } = &case.subject {
            let found =
                compare_position(position, CORRECTED, expected, &matching_response(position));
            assert_eq!(found, [], "{}", case.id);
        }
    }
}

#[test]
fn each_wrong_field_of_a_square_is_reported_with_both_values() {
    let right = matching_response(&position());
    let e2 = right.squares.iter().position(|at| at.square == encode::square(square("e2")));
    let e2 = e2.expect("a bishop");
    let with = |change: fn(&mut SquareRecord)| {
        let mut seen = right.clone();
        change(&mut seen.squares[e2]);
        compared(&seen)
    };
    assert_eq!(with(|at| at.residue += 1), ["e2: residue: board 1, reference 0"]);
    assert_eq!(with(|at| at.status = 3), ["e2: status: board 3, reference 0"]);
    assert_eq!(with(|at| at.piece ^= 0x80), ["e2: piece: board 131, reference 3"]);
    assert_eq!(with(|at| at.square += 1), ["e2: square: board 36, reference 35"]);
    let array = with(|at| at.array[1] += 1);
    assert!(matches!(&array[..], [one] if one.starts_with("e2: array: board ")), "{array:?}");
    // A bishop is worth 3 points: more can't be lost.
    assert_eq!(with(|at| at.residue = 3), ["e2: residue: board 3, reference 0"]);
    let both = ["e2: residue: board 4, reference 0", "e2: most it can lose: board 4, reference 3"];
    assert_eq!(with(|at| at.residue = 4), both);
}

#[test]
fn arrays_are_shown_beside_what_differs_but_not_beside_themselves() {
    let mut seen = matching_response(&position());
    (seen.squares[0].residue, seen.squares[1].array[8]) = (9, 1);
    let found = compare_position(&position(), CORRECTED, &[], &seen);
    let [first, .., array] = &found[..] else { panic!("{found:?}") };
    let shown = first.arrays.clone().expect("the arrays");
    assert_eq!(shown[0], shown[1]);
    assert!(first.to_string().ends_with(&format!("array: board {0}, reference {0}", shown[0])));
    assert_eq!((&*array.field, &array.arrays), ("array", &None));
}

#[test]
fn each_wrong_field_of_a_position_is_reported_with_both_values() {
    let right = matching_response(&position());
    let with = |change: fn(&mut PositionResponse)| {
        let mut seen = right.clone();
        change(&mut seen);
        compared(&seen)
    };
    assert_eq!(with(|seen| seen.end.status = 2), ["status of all squares: board 2, reference 0"]);
    assert_eq!(
        with(|seen| seen.end.royals[3] = 0),
        ["royal squares: board e1 g8 d1 -, reference e1 g8 d1 d8"]
    );
    assert_eq!(
        with(|seen| seen.squares.truncate(12)),
        ["occupied squares: board 12, reference 13"]
    );
    let pins = with(|seen| seen.end.pins[0] = Pin { square: 20, step: -9 });
    assert!(matches!(&pins[..], [one] if one.starts_with("pins: board ?20-9 ")), "{pins:?}");
    let pins = with(|seen| seen.end.pins.clear());
    assert!(matches!(&pins[..], [one] if one.starts_with("pins: board none, ")), "{pins:?}");
}

#[test]
fn documented_residues_are_compared_with_the_reference_and_an_empty_square_has_none() {
    let stated = [(square("e2"), 2), (square("a8"), 0), (square("b8"), 1)];
    let found = compare_position(&position(), CORRECTED, &stated, &matching_response(&position()));
    let expected = [
        "e2: residue by the document: board 0, reference 2",
        "b8: residue by the document: board 0, reference 1",
    ];
    assert_eq!(difference_lines(&found), expected);
}

#[test]
fn only_the_status_bits_that_count_are_compared() {
    let criteria = Criteria { status_mask: status::OVERFLOW, ..CORRECTED };
    let mut seen = matching_response(&position());
    (seen.squares[0].status, seen.end.status) = (status::SHORT, status::SHORT);
    assert_eq!(compare_position(&position(), criteria, &[], &seen), []);
    seen.end.status = status::OVERFLOW;
    let found = compare_position(&position(), criteria, &[], &seen);
    assert_eq!(difference_lines(&found), ["status of all squares: board 1, reference 0"]);
}

/// The highest residues of some position.
const PRIZES: Prizes =
    Prizes { lost: 5, first: 9, second: 3, article_danger: true, original_danger: false };

/// A correct reply for [`PRIZES`]: the article's loss in quarters, the program's in halves less
/// one.
const POINTS: PointsReply = PointsReply {
    lost: 5,
    prizes: [9, 3],
    danger: danger::ARTICLE,
    article: [20, 0],
    original: [9, 2],
    status: 0,
};

#[test]
fn each_wrong_field_of_points_is_reported() {
    let found = |seen: PointsReply| difference_lines(&compare_points(&PRIZES, &seen));
    assert_eq!(found(POINTS), [""; 0]);
    let wrong = [
        (PointsReply { lost: 4, ..POINTS }, "highest loss: board 4, reference 5"),
        (PointsReply { prizes: [3, 9], ..POINTS }, "prizes: board 3 9, reference 9 3"),
        (PointsReply { danger: 0, ..POINTS }, "danger of the piece moved: board 0, reference 1"),
        (
            PointsReply { article: [20, 9], ..POINTS },
            "the article's account: board 20 9, reference 20 0",
        ),
        (
            PointsReply { original: [10, 2], ..POINTS },
            "the program's account: board 10 2, reference 9 2",
        ),
    ];
    for (seen, expected) in wrong {
        assert_eq!(found(seen), [expected]);
    }
    let both = Prizes { original_danger: true, ..PRIZES };
    let danger = danger::ARTICLE | danger::ORIGINAL;
    assert_eq!(
        difference_lines(&compare_points(
            &both,
            &PointsReply { danger, original: [9, 0], ..POINTS }
        )),
        [""; 0]
    );
}

#[test]
fn points_are_compared_with_the_residues_of_the_side_that_moved() {
    let (_, verdicts) = evaluate(&position());
    let residue = |colour: Colour| {
        let of = verdicts.iter().filter(|verdict| verdict.piece.colour == colour);
        of.map(|verdict| verdict.outcome.residue).max().unwrap_or(0)
    };
    for mover in [Colour::White, Colour::Black] {
        let prizes = Prizes::gather(
            mover,
            None,
            verdicts.iter().map(|v| (v.square, v.piece, v.outcome.residue)),
        );
        assert_eq!((prizes.lost, prizes.first), (residue(mover), residue(mover.other())));
        let article = prizes.article();
        let original = prizes.original();
        let seen = PointsReply {
            lost: prizes.lost,
            prizes: [prizes.first, prizes.second],
            danger: 0,
            article: [article.lost, article.won],
            original: [original.lost, original.won],
            status: 0,
        };
        assert_eq!(compare_points_reply(&verdicts, CORRECTED, mover, None, &seen), []);
        let lost = PointsReply { lost: 9, ..seen };
        assert_eq!(compare_points_reply(&verdicts, CORRECTED, mover, None, &lost).len(), 1);
        let status = PointsReply { status: status::SHORT, ..seen };
        let found = compare_points_reply(&verdicts, CORRECTED, mover, None, &status);
        assert_eq!(difference_lines(&found), ["status of all squares: board 2, reference 0"]);
        let lenient = Criteria { status_mask: 0, ..CORRECTED };
        assert_eq!(compare_points_reply(&verdicts, lenient, mover, None, &status), []);
    }
}

/// A rook attacked by a pawn and guarded by a king: it is lost for the pawn.
fn exchange() -> (Piece, AttackersArray) {
    let piece = Piece { colour: Colour::White, kind: PieceKind::Rook };
    // White's section: one piece, a king; Black's: one, a pawn.
    let array = [1, 0, 0, 0, 0, 0, 10, 1, 1, 0, 0, 0, 0, 0];
    (piece, AttackersArray::from_bytes(&array))
}

#[test]
fn each_wrong_field_of_an_exchange_is_reported_with_its_array() {
    let (piece, array) = exchange();
    let found = |stated, seen| compare_exchange(piece, &array, CORRECTED, stated, seen);
    assert_eq!(found(None, (4, 0)), [], "5 points for the rook, 1 back for the pawn");
    let residue = found(None, (5, 0));
    assert_eq!(difference_lines(&residue), ["residue: board 5, reference 4"]);
    assert!(residue[0].arrays.is_some());
    assert_eq!(difference_lines(&found(None, (4, 2))), ["status: board 2, reference 0"]);
    let stated = |residue, short| Some(DocumentedResult { residue, short });
    assert_eq!(found(stated(4, false), (4, 0)), []);
    let document = ["residue by the document: board 4, reference 3"];
    assert_eq!(difference_lines(&found(stated(3, false), (4, 0))), document);
    let document = ["shortness by the document: board false, reference true"];
    assert_eq!(difference_lines(&found(stated(4, true), (4, 0))), document);
    let lenient = Criteria { status_mask: 0, ..CORRECTED };
    assert_eq!(compare_exchange(piece, &array, lenient, None, (4, 2)), []);
}

#[test]
fn a_wrong_step_is_reported_together_with_the_outcome() {
    let (piece, array) = exchange();
    let mut steps: Vec<_> = exchange_steps(5, &[1], &[10]).iter().map(encode::step).collect();
    assert_eq!(steps.len(), 2, "the pawn takes, the king takes back");
    assert_eq!(compare_steps(piece, &array, CORRECTED, (4, 0), &steps), []);
    assert_eq!(compare_steps(piece, &array, CORRECTED, (3, 0), &steps).len(), 1);
    steps[1].stake += 1;
    let found = compare_steps(piece, &array, CORRECTED, (4, 0), &steps);
    assert!(matches!(&found[..], [one] if one.field == "steps"), "{found:?}");
}
