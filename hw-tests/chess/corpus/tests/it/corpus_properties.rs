//! The corpus itself, and invariants of the reference on each of its positions.

use std::collections::HashSet;

use sargon_corpus::{CORPUS_SEED, Case, CaseInput, builtin_corpus, generate, to_epd};
use sargon_reference::{Colour, Piece, PieceKind, Position, Square, SquareResult, evaluate};

fn corpus() -> Vec<Case> {
    builtin_corpus().unwrap_or_else(|error| panic!("{error}"))
}

fn positions() -> impl Iterator<Item = (String, Position)> {
    corpus().into_iter().filter_map(|case| match case.subject {
        CaseInput::Position { position, .. } => Some((case.id, position)),
        CaseInput::Array { .. } => None,
    })
}

#[test]
fn the_generated_positions_come_from_their_seed() {
    let text = include_str!("../../corpus/generated.epd");
    let count = text.lines().count();
    assert!(count >= 1000);
    assert_eq!(to_epd(&generate(CORPUS_SEED, count)), text);
}

#[test]
fn the_corpus_has_what_it_promises() {
    let cases = corpus();
    let ids: HashSet<_> = cases.iter().map(|case| &case.id).collect();
    assert_eq!(ids.len(), cases.len(), "no two cases share a name");
    let tagged = |tag: &str| cases.iter().filter(|c| c.tags.iter().any(|t| t == tag)).count();
    for (tag, least) in [
        ("document", 6),
        ("odd", 10),
        ("array", 7),
        ("pin", 100),
        ("battery", 100),
        ("promoted", 100),
    ] {
        assert!(tagged(tag) >= least, "{tag}: {}", tagged(tag));
    }
    let to_move = |colour| positions().filter(|(_, p)| p.to_move == colour).count();
    assert!(to_move(Colour::White) > 300 && to_move(Colour::Black) > 300);
    let eleven = positions().find(|(id, _)| id == "odd.elevenpins").expect("it is there").1;
    assert!(evaluate(&eleven).0.len() > 10);
}

#[test]
fn a_residue_lies_between_nothing_and_the_piece() {
    for (id, position) in positions() {
        for verdict in evaluate(&position).1 {
            assert!(
                verdict.outcome.residue <= verdict.piece.kind.value(),
                "{id} {}",
                verdict.square
            );
        }
    }
}

/// Returns `true` if the results do not depend on the order of scanning, so that mirroring must not
/// change them: with two queens of a colour a different one is checked for pins, and the piece
/// without room in the array depends on the order.
fn is_symmetric(position: &Position) -> bool {
    let count = |colour, kind| {
        position.pieces().filter(|(_, p)| p.colour == colour && p.kind == kind).count()
    };
    let single = [Colour::White, Colour::Black]
        .into_iter()
        .all(|colour| count(colour, PieceKind::King) <= 1 && count(colour, PieceKind::Queen) <= 1);
    single && evaluate(position).1.iter().all(|verdict| !verdict.overflow)
}

/// The reference's result for each square: file, rank, residue, White's and Black's section of the
/// array.
type ReferenceResult = (u8, u8, u8, [u8; 7], [u8; 7]);

/// Returns the reference's results of a position, each mapped by `back`, which undoes a mirroring.
fn results(
    position: &Position,
    back: fn(ReferenceResult) -> ReferenceResult,
) -> Vec<ReferenceResult> {
    let of = |verdict: &SquareResult| {
        let sections: [[u8; 7]; 2] = [0, 7].map(|start| {
            let bytes = verdict.array.to_bytes();
            std::array::from_fn(|index| bytes[start + index])
        });
        let file = verdict.square.file();
        let rank = verdict.square.rank();
        back((file, rank, verdict.outcome.residue, sections[0], sections[1]))
    };
    let mut all: Vec<_> = evaluate(position).1.iter().map(of).collect();
    all.sort_unstable();
    all
}

/// Returns the position with ranks reversed and colours exchanged.
fn colours_swapped(position: &Position) -> Position {
    let mut swapped = Position::empty(position.to_move.other());
    for (square, Piece { colour, kind }) in position.pieces() {
        let piece = Piece { colour: colour.other(), kind };
        let opposite = Square::new(square.file(), 7 - square.rank()).expect("on the board");
        swapped.set(opposite, Some(piece));
    }
    swapped
}

#[test]
fn mirrors_change_nothing() {
    let mut compared = 0;
    for (id, position) in positions().filter(|(_, position)| is_symmetric(position)) {
        let plain = results(&position, |all| all);
        let back = results(&position.files_reversed(), |(file, rank, residue, white, black)| {
            (7 - file, rank, residue, white, black)
        });
        assert_eq!(back, plain, "{id}: files reversed");
        let back = results(&colours_swapped(&position), |(file, rank, residue, white, black)| {
            (file, 7 - rank, residue, black, white)
        });
        assert_eq!(back, plain, "{id}: colours swapped");
        compared += 1;
    }
    assert!(compared > 900, "{compared}");
}
