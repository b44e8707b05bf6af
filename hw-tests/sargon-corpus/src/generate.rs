//! Makes positions by legal play from a seed: the same seed gives the same positions.

use std::fmt::Write;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use cozy_chess::{Board, GameStatus, Move, Piece as ChessPiece};

use sargon_reference::{Colour, Position, examine, parse_fen};

/// The seed of the positions that ship.
pub const SEED: u64 = 1978;

/// Plies of the shortest and the longest game.
const PLIES: (u64, u64) = (6, 220);
/// Of so many moves, one is a pawn's if there is one, so that pawns get promoted.
const EAGER: u64 = 4;

/// Plays `count` games of various lengths and takes the position at the end of each.
#[must_use]
pub fn generate(seed: u64, count: usize) -> Vec<Position> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut positions = Vec::with_capacity(count);
    while positions.len() < count {
        let plies = PLIES.0 + random.next_u64() % (PLIES.1 - PLIES.0);
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
    let favoured: Vec<Move> = moves.iter().copied().filter(|m| is_favoured(board, *m)).collect();
    let eager = random.next_u64().is_multiple_of(EAGER);
    let from = if eager && !favoured.is_empty() { &favoured } else { &moves };
    from[(random.next_u64() % from.len() as u64) as usize]
}

fn is_favoured(board: &Board, m: Move) -> bool {
    m.promotion.is_some() || board.piece_on(m.from) == Some(ChessPiece::Pawn)
}

/// The positions as lines of the corpus, with tags computed.
#[must_use]
pub fn to_epd(positions: &[Position]) -> String {
    let mut text = String::new();
    for (index, position) in positions.iter().enumerate() {
        let tags = tags(position).join(" ");
        let _ = writeln!(text, "{} id \"play.{index:04}\"; tags \"{tags}\";", fen(position));
    }
    text
}

/// Pieces and side to move; castling and en passant do not matter to the evaluator.
fn fen(position: &Position) -> String {
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
    let side = if position.to_move == Colour::White { 'w' } else { 'b' };
    format!("{} {side} - -", ranks.join("/"))
}

fn tags(position: &Position) -> Vec<&'static str> {
    let (pins, verdicts) = examine(position);
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

/// Whether a side has more pieces of a kind than it began with.
fn has_promoted(position: &Position) -> bool {
    use sargon_reference::Kind;
    [Colour::White, Colour::Black].into_iter().any(|colour| {
        [(Kind::Knight, 2), (Kind::Bishop, 2), (Kind::Rook, 2), (Kind::Queen, 1)].into_iter().any(
            |(kind, at_first)| {
                let is_it =
                    |piece: sargon_reference::Piece| piece.colour == colour && piece.kind == kind;
                position.pieces().filter(|(_, piece)| is_it(*piece)).count() > at_first
            },
        )
    })
}
