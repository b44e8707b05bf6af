//! Generates positions by random legal play; the same seed gives the same positions.

use std::fmt::Write;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use cozy_chess::{Board, GameStatus, Move, Piece as ChessPiece};
use sargon_reference::{Colour, Position, evaluate, parse_fen};

/// The seed of the built-in positions.
pub const CORPUS_SEED: u64 = 1978;

/// Plies of the shortest and the longest game.
const GAME_PLIES: (u64, u64) = (6, 220);
/// One in this many moves is a pawn move if possible, so that pawns are promoted.
const PAWN_MOVE_ODDS: u64 = 4;

/// Plays `count` games of various lengths and returns the final position of each.
pub fn generate(seed: u64, count: usize) -> Vec<Position> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut positions = Vec::with_capacity(count);
    while positions.len() < count {
        let plies = GAME_PLIES.0 + random.next_u64() % (GAME_PLIES.1 - GAME_PLIES.0);
        let board = play(&mut random, plies);
        if let Ok(position) = parse_fen(&board.to_string())
            && !positions.contains(&position)
        {
            positions.push(position);
        }
    }
    positions
}

fn play(random: &mut ChaCha8Rng, plies: u64) -> Board {
    let mut board = Board::default();
    for _ in 0..plies {
        if board.status() != GameStatus::Ongoing {
            break;
        }
        let chosen = choose(random, &board);
        board.play_unchecked(chosen);
    }
    board
}

fn choose(random: &mut ChaCha8Rng, board: &Board) -> Move {
    let mut moves = Vec::new();
    board.generate_moves(|some| {
        moves.extend(some);
        false
    });
    let pawn_moves: Vec<Move> = moves.iter().copied().filter(|m| is_pawn_move(board, *m)).collect();
    let prefers_pawns = random.next_u64().is_multiple_of(PAWN_MOVE_ODDS);
    let from = if prefers_pawns && !pawn_moves.is_empty() { &pawn_moves } else { &moves };
    from[(random.next_u64() % from.len() as u64) as usize]
}

fn is_pawn_move(board: &Board, m: Move) -> bool {
    m.promotion.is_some() || board.piece_on(m.from) == Some(ChessPiece::Pawn)
}

/// Formats the positions as lines of the corpus, with computed tags.
pub fn to_epd(positions: &[Position]) -> String {
    let mut text = String::new();
    for (index, position) in positions.iter().enumerate() {
        let tags = tags(position).join(" ");
        let _ = writeln!(text, "{} id \"play.{index:04}\"; tags \"{tags}\";", fen(position));
    }
    text
}

/// Pieces and side to move; the evaluator ignores castling and en passant.
fn fen(position: &Position) -> String {
    let side = if position.to_move == Colour::White { 'w' } else { 'b' };
    format!("{} {side} - -", placement(position))
}

/// Formats the first field of a position's FEN: the pieces.
pub fn placement(position: &Position) -> String {
    use sargon_reference::Square;
    let mut ranks = Vec::new();
    for rank in (0..8).rev() {
        let mut text = String::new();
        let mut empty = 0;
        for square in (0..8).filter_map(|file| Square::new(file, rank)) {
            match position.on(square) {
                Some(piece) => {
                    if empty > 0 {
                        let _ = write!(text, "{empty}");
                    }
                    empty = 0;
                    text.push(piece.letter());
                }
                None => empty += 1,
            }
        }
        if empty > 0 {
            let _ = write!(text, "{empty}");
        }
        ranks.push(text);
    }
    ranks.join("/")
}

fn tags(position: &Position) -> Vec<&'static str> {
    let (pins, verdicts) = evaluate(position);
    let battery = verdicts.iter().any(|verdict| {
        let bytes = verdict.array.to_bytes();
        bytes[5] >> 4 != 0 || bytes[12] >> 4 != 0
    });
    let mut tags = vec!["play"];
    tags.extend((!pins.is_empty()).then_some("pin"));
    tags.extend(battery.then_some("battery"));
    tags.extend(has_promoted(position).then_some("promoted"));
    tags.extend(verdicts.iter().any(|verdict| verdict.overflow).then_some("overflow"));
    tags
}

/// Returns `true` if a side has more pieces of a kind than at the start of a game.
fn has_promoted(position: &Position) -> bool {
    use sargon_reference::PieceKind;
    [Colour::White, Colour::Black].into_iter().any(|colour| {
        [
            (PieceKind::Knight, 2),
            (PieceKind::Bishop, 2),
            (PieceKind::Rook, 2),
            (PieceKind::Queen, 1),
        ]
        .into_iter()
        .any(|(kind, at_first)| {
            let is_it =
                |piece: sargon_reference::Piece| piece.colour == colour && piece.kind == kind;
            position.pieces().filter(|(_, piece)| is_it(*piece)).count() > at_first
        })
    })
}
