//! Exchanges step by step: the article's Figure 4, the host's steps against the reference's
//! bookings, and the board's against the host's.

use crate::board;

use board::Board;
use firmware_wire::{Reply, Request};
use sargon_corpus::analysis::{
    ExchangeSide, ExchangeStep, StepAction, capturer_kinds, exchange_steps, with_values,
};
use sargon_corpus::encode;
use sargon_corpus::{CaseInput, builtin_corpus};
use sargon_reference::{AttackersArray, Colour, Piece, PieceKind, evaluate, exchange};

/// The array of Figure 4: White two knights and a bishop, Black a pawn and a queen.
const FIGURE_4: [u8; 14] = [3, 0, 0x33, 0x03, 0, 0, 0, 2, 0x01, 0, 0, 0, 0x09, 0];

/// The pieces of the corpus with their arrays.
fn battles() -> impl Iterator<Item = (Piece, AttackersArray)> {
    let cases = builtin_corpus().unwrap_or_else(|error| panic!("{error}"));
    cases.into_iter().flat_map(|case| match case.subject {
        CaseInput::Position { position, .. } => {
            evaluate(&position).1.into_iter().map(|v| (v.piece, v.array)).collect()
        }
        CaseInput::Array { piece, array, .. } => vec![(piece, array)],
    })
}

fn steps(piece: Piece, array: &AttackersArray) -> Vec<ExchangeStep> {
    let order = |colour| array.in_order(colour);
    exchange_steps(piece.kind.value(), &order(piece.colour.other()), &order(piece.colour))
}

#[test]
fn figure_4s_chart_comes_out_row_by_row() {
    let knight = Piece { colour: Colour::Black, kind: PieceKind::Knight };
    let array = AttackersArray::from_bytes(&FIGURE_4);
    let steps = steps(knight, &array);
    let row =
        |step: &ExchangeStep| (step.stake, step.attacker, step.defender.unwrap_or(0), step.residue);
    // Points at stake, attacker's value, defender's value, exchange residue, and who captures.
    assert_eq!((row(&steps[0]), steps[0].party), ((3, 3, 1, 3), ExchangeSide::Attackers));
    assert_eq!((row(&steps[1]), steps[1].party), ((3, 1, 3, 0), ExchangeSide::Defenders));
    // The third row takes two steps: the knight is dearer than the pawn that the queen guards, so
    // the bishop is called; then the pawn is taken, and the queen has been counted as its guard
    // already.
    assert_eq!((steps[2].stake, steps[2].attacker, steps[2].defender), (1, 3, Some(9)));
    assert_eq!(steps[2].action, StepAction::NeedsHelp);
    assert_eq!((row(&steps[3]), steps[3].party), ((1, 3, 0, 1), ExchangeSide::Attackers));
    assert_eq!((steps[3].action, steps.len()), (StepAction::TakesLast, 4));
    // By name: pawn and queen against two knights and a bishop.
    assert_eq!(
        capturer_kinds(&array, Colour::White),
        [PieceKind::Knight, PieceKind::Knight, PieceKind::Bishop]
    );
    assert_eq!(capturer_kinds(&array, Colour::Black), [PieceKind::Pawn, PieceKind::Queen]);
}

#[test]
fn the_steps_that_take_are_the_references_bookings() {
    for (piece, array) in battles() {
        let outcome = exchange(piece, &array);
        let steps = steps(piece, &array);
        let taken: Vec<_> = (steps.iter())
            .filter(|step| matches!(step.action, StepAction::Takes | StepAction::TakesLast))
            .map(|s| (i16::from(s.stake), s.attacker, s.defender.unwrap_or(0), s.residue))
            .collect();
        let booked: Vec<_> = (outcome.bookings.iter())
            .map(|b| (b.stake, b.attacker, b.defender, b.residue))
            .collect();
        assert_eq!(taken, booked, "{piece:?} {array}");
    }
}

#[test]
fn kinds_read_back_have_the_values_and_the_order_of_the_array() {
    for (_, array) in battles() {
        for colour in [Colour::White, Colour::Black] {
            let values: Vec<_> =
                capturer_kinds(&array, colour).iter().map(|kind| kind.value()).collect();
            assert_eq!(values, array.in_order(colour), "{array}");
        }
        assert_eq!(with_values(&array, PieceKind::value), array);
    }
}

#[test]
fn other_values_give_another_end() {
    // A queen worth less than a knight guards the pawn of the third row, and the knight does not
    // capture it.
    let array = with_values(&AttackersArray::from_bytes(&FIGURE_4), |kind| match kind {
        PieceKind::Queen => 2,
        other => other.value(),
    });
    let steps = steps(Piece { colour: Colour::Black, kind: PieceKind::Knight }, &array);
    let last = steps.last().expect("there is an attacker");
    assert_eq!((last.action, last.residue), (StepAction::Stops, 0));
}

/// Values that pieces may have, Sargon's among others.
const VALUES: [[u8; 6]; 4] =
    [[1, 3, 3, 5, 9, 10], [1, 3, 4, 5, 9, 15], [15, 9, 7, 5, 3, 1], [4, 4, 4, 4, 4, 4]];

#[test]
fn the_board_takes_the_steps_that_the_host_takes_and_its_xchng_ends_where_they_end() {
    let mut board = Board::application();
    for (turn, (piece, array)) in battles().step_by(7).enumerate() {
        let worth = |kind: PieceKind| VALUES[turn % VALUES.len()][kind as usize];
        let stake = worth(piece.kind);
        let array = with_values(&array, worth);
        let order = |colour| array.in_order(colour);
        let expected = exchange_steps(stake, &order(piece.colour.other()), &order(piece.colour));
        let records: Vec<_> = expected.iter().map(encode::step).collect();
        let request =
            Request::Trace { piece: encode::piece(piece), stake, array: array.to_bytes() };
        let Reply::Trace { residue, steps, .. } = board.request(&request) else { panic!() };
        assert_eq!(steps, records, "{piece:?} {array}");
        let end = expected.last().map_or(0, |step| step.residue);
        assert_eq!(i16::from(residue as i8), end, "{piece:?} {array}");
    }
}
