//! The score of a position without search: material, squares, and Sargon's residues.

use chess_rules::see::PieceValues;
use chess_rules::{Color, Piece};
use cozy_chess::Board;
use sargon_corpus::analysis::{Prizes, convert};
use sargon_reference::evaluate;

use crate::{LeafRule, Node};

/// Weights of the kinds of pieces in the phase of the game, and their sum at its start.
const PHASE: [i32; 6] = [0, 1, 1, 2, 4, 0];
const FULL_PHASE: i32 = 24;
/// Centipawns for each battle that neither the loss nor the second prize counts.
const BATTLE_BONUS: i32 = 25;

/// Scores of a kind on each square seen from its side, for the middle and the end of the game.
static SQUARES: [[[i32; 2]; 64]; 6] = squares();

const fn squares() -> [[[i32; 2]; 64]; 6] {
    let mut table = [[[0; 2]; 64]; 6];
    let mut index = 0;
    while index < 6 * 64 {
        let (kind, square) = (index / 64, index % 64);
        let [middle, end] = on_square(kind, (square / 8) as i32, (square % 8) as i32);
        let value = if kind < 5 { PieceValues::CLASSIC.0[kind] } else { 0 };
        table[kind][square] = [value + middle, value + end];
        index += 1;
    }
    table
}

/// Returns the centipawns of a square: central squares for all but rooks, advanced pawns, a rook on
/// the seventh rank, a king at home in the middle of the game.
const fn on_square(kind: usize, rank: i32, file: i32) -> [i32; 2] {
    let from_edge = if file < 4 { file } else { 7 - file };
    let centre = from_edge + if rank < 4 { rank } else { 7 - rank };
    match kind {
        0 => [if from_edge == 3 { 8 * (rank - 1) } else { 2 * (rank - 1) }, 12 * (rank - 1)],
        1 => [8 * centre - 24, 8 * centre - 24],
        2 => [5 * centre - 12, 5 * centre - 12],
        3 => [if rank == 6 { 25 } else { 2 * from_edge }, if rank == 6 { 15 } else { 0 }],
        4 => [centre, 4 * centre],
        _ => [-12 * rank - 8 * from_edge, 10 * centre],
    }
}

/// Returns material and squares in centipawns, seen from the side to move.
pub fn static_score(board: &Board) -> i32 {
    let mut score = [0; 2];
    let mut phase = 0;
    for (side, flip, sign) in [(Color::White, 0, 1), (Color::Black, 56, -1)] {
        for kind in Piece::ALL {
            let pieces = board.colored_pieces(side, kind);
            phase += PHASE[kind as usize] * pieces.len() as i32;
            for square in pieces {
                let [middle, end] = SQUARES[kind as usize][square as usize ^ flip];
                score = [score[0] + sign * middle, score[1] + sign * end];
            }
        }
    }
    let phase = phase.min(FULL_PHASE);
    let white = (score[0] * phase + score[1] * (FULL_PHASE - phase)) / FULL_PHASE;
    if board.side_to_move() == Color::White { white } else { -white }
}

/// The pieces of a position that Sargon's evaluator counts as losing something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HangingPieces {
    /// What POINTS makes of them.
    pub prizes: Prizes,
    /// The residues of the side that has just moved, the highest first.
    pub mover: Vec<u8>,
    /// The residues of the side to move, the highest first.
    pub other: Vec<u8>,
}

impl HangingPieces {
    /// Evaluates all squares.
    pub fn of(node: &Node) -> Self {
        let position = convert::position(&node.position);
        let mover = position.to_move.other();
        let squares = evaluate(&position).1;
        let residues = squares.iter().map(|one| (one.square, one.piece, one.outcome.residue));
        let moved = node.moved.and_then(convert::reference_square);
        let prizes = Prizes::gather(mover, moved, residues.clone());
        let sorted = |is_mover: bool| {
            let own = residues.clone().filter(|one| (one.1.colour == mover) == is_mover);
            let mut own: Vec<u8> = own.map(|one| one.2).filter(|residue| *residue > 0).collect();
            own.sort_unstable_by(|a, b| b.cmp(a));
            own
        };
        Self { prizes, mover: sorted(true), other: sorted(false) }
    }

    /// Returns the score by a rule in centipawns, seen from the side to move.
    pub fn score(&self, rule: LeafRule) -> i32 {
        let balance = match rule {
            LeafRule::Quiescence | LeafRule::Static => return 0,
            LeafRule::Article | LeafRule::Bonus => self.prizes.article().balance(),
            LeafRule::Original => self.prizes.original().balance(),
        };
        let further = |residues: &[u8], counted| residues.len().saturating_sub(counted) as i32;
        let battles = further(&self.mover, 1) - further(&self.other, 2);
        let bonus = if rule == LeafRule::Bonus { BATTLE_BONUS * battles } else { 0 };
        bonus - (100.0 * balance) as i32
    }
}
