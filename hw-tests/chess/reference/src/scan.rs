//! The rays and knight leaps by which pieces reach a square, in the order of the program.

use super::position::{Direction, Piece, PieceKind, Position, Square};

/// An attacker or defender found by a scan.
pub(super) struct ScanHit {
    pub(super) square: Square,
    pub(super) piece: Piece,
    /// The direction from the scanned square towards it.
    pub(super) direction: Direction,
    /// It is a queen, or a queen is before it on its line.
    pub(super) behind_queen: bool,
}

/// Finds all attackers and defenders of a square, pinned or not, in the program's order.
pub(super) fn scan(position: &Position, target: Square, found: &mut impl FnMut(ScanHit)) {
    for (slider, directions) in
        [(PieceKind::Bishop, Direction::DIAGONAL), (PieceKind::Rook, Direction::STRAIGHT)]
    {
        for direction in directions {
            scan_line(position, target, slider, direction, found);
        }
    }
    for direction in Direction::LEAPS {
        let there = target.step(direction).and_then(|at| Some((at, position.on(at)?)));
        if let Some((square, piece)) = there
            && piece.kind == PieceKind::Knight
        {
            found(ScanHit { square, piece, direction, behind_queen: false });
        }
    }
}

fn scan_line(
    position: &Position,
    target: Square,
    slider: PieceKind,
    direction: Direction,
    found: &mut impl FnMut(ScanHit),
) {
    let squares = std::iter::successors(target.step(direction), |square| square.step(direction));
    let pieces = squares
        .enumerate()
        .filter_map(|(distance, square)| Some((distance == 0, square, position.on(square)?)));
    let mut side = None;
    let mut behind_queen = false;
    for (adjacent, square, piece) in pieces {
        let colour = *side.get_or_insert(piece.colour);
        if piece.colour != colour || !attacks_along(piece, slider, direction, adjacent) {
            return;
        }
        behind_queen |= piece.kind == PieceKind::Queen;
        found(ScanHit { square, piece, direction, behind_queen });
        if piece.kind == PieceKind::King {
            return;
        }
    }
}

/// Returns `true` if a piece found along `direction` attacks; White's pawns are found downwards.
fn attacks_along(piece: Piece, slider: PieceKind, direction: Direction, adjacent: bool) -> bool {
    use super::position::Colour::{Black, White};
    match piece.kind {
        PieceKind::Queen => true,
        PieceKind::King => adjacent,
        PieceKind::Pawn => {
            let attacker = if direction.ranks < 0 { White } else { Black };
            adjacent && slider == PieceKind::Bishop && piece.colour == attacker
        }
        kind => kind == slider,
    }
}
