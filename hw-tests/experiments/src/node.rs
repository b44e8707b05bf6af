//! A position in a search.

use chess_rules::{Move, Piece, Position, Square};
use cozy_chess::{Board, Rank};

/// A position as `cozy-chess` generates moves from it and as `chess_rules` evaluates exchanges.
#[derive(Debug, Clone)]
pub struct Node {
    /// For legal moves, checks and hash keys.
    pub board: Board,
    /// For exchange values and notation.
    pub position: Position,
    /// The destination of the move that led here.
    pub moved: Option<Square>,
}

impl Node {
    /// Reads a position; `None` if the FEN is malformed or no game could reach it.
    pub fn from_fen(fen: &str) -> Option<Self> {
        Self::new(Position::from_fen(fen).ok()?)
    }

    /// Takes a position; `None` if no game could reach it, which `cozy-chess` refuses.
    pub fn new(position: Position) -> Option<Self> {
        let board = position.to_string().parse().ok()?;
        Some(Self { board, position, moved: None })
    }

    /// Plays a legal move.
    #[must_use]
    pub fn play(&self, m: Move) -> Self {
        let mut board = self.board.clone();
        board.play_unchecked(m);
        Self { board, position: self.position.play(m), moved: Some(m.to) }
    }

    /// Returns `true` if the side to move is in check.
    pub fn is_check(&self) -> bool {
        !self.board.checkers().is_empty()
    }

    /// Returns `true` if a legal move captures or makes a queen.
    pub fn is_tactical(&self, m: Move) -> bool {
        m.promotion == Some(Piece::Queen) || self.position.is_capture(m)
    }

    /// Returns the legal moves; with `tactical_only` those that capture or make a queen.
    pub fn moves(&self, tactical_only: bool) -> Vec<Move> {
        let side = self.board.side_to_move();
        let last = Rank::Eighth.relative_to(side).bitboard();
        let passed = self.position.en_passant().map_or(last, |square| last | square.bitboard());
        let mut moves = Vec::with_capacity(if tactical_only { 8 } else { 48 });
        self.board.generate_moves(|mut group| {
            if tactical_only {
                let extra = if group.piece == Piece::Pawn { passed } else { Default::default() };
                group.to &= self.board.colors(!side) | extra;
            }
            moves.extend(group.into_iter().filter(|m| !tactical_only || self.is_tactical(*m)));
            false
        });
        moves
    }

    /// Counts the sequences of `depth` legal moves.
    pub fn perft(&self, depth: u32) -> u64 {
        match depth {
            0 => 1,
            _ => self.moves(false).into_iter().map(|m| self.play(m).perft(depth - 1)).sum(),
        }
    }
}
