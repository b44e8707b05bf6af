//! A position with all properties that FEN has.

use cozy_chess::{Color, Piece, Rank, Square};

use crate::{CastlingRights, Pieces};

/// Pieces, side to move, castling rights, en passant square and clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    pub(crate) pieces: Pieces,
    pub(crate) to_move: Color,
    pub(crate) rights: CastlingRights,
    pub(crate) en_passant: Option<Square>,
    pub(crate) halfmove_clock: u32,
    pub(crate) move_number: u32,
    pub(crate) chess960: bool,
}

impl Position {
    /// A position of pieces alone: no castling, no en passant.
    pub fn new(pieces: Pieces, to_move: Color) -> Self {
        let rights = CastlingRights::default();
        Self {
            pieces,
            to_move,
            rights,
            en_passant: None,
            halfmove_clock: 0,
            move_number: 1,
            chess960: false,
        }
    }

    /// The pieces.
    pub fn pieces(&self) -> &Pieces {
        &self.pieces
    }

    /// The side to move.
    pub fn to_move(&self) -> Color {
        self.to_move
    }

    /// The castling rights.
    pub fn rights(&self) -> &CastlingRights {
        &self.rights
    }

    /// The square that a pawn has just passed over by a double step.
    pub fn en_passant(&self) -> Option<Square> {
        self.en_passant
    }

    /// Returns `true` if the side to move is in check.
    pub fn is_check(&self) -> bool {
        self.pieces.is_in_check(self.to_move)
    }

    /// Returns the king of a side; of several the one on the highest square.
    pub fn king(&self, side: Color) -> Option<Square> {
        (self.pieces.kind(Piece::King) & self.pieces.side(side)).into_iter().last()
    }

    /// Returns why no game reaches the position; empty if none of the reasons examined holds.
    ///
    /// ```
    /// use chess_rules::Position;
    /// let reasons = |fen| Position::from_fen(fen).map(|position| position.impossible());
    /// assert_eq!(reasons("4k3/8/8/8/8/8/8/4K3 w - -")?, [""; 0]);
    /// assert_eq!(reasons("8/8/8/8/8/8/8/4K3 w - -")?, ["Black has no king"]);
    /// # Ok::<(), chess_rules::FenError>(())
    /// ```
    pub fn impossible(&self) -> Vec<String> {
        let mut reasons = Vec::new();
        for (side, name) in [(Color::White, "White"), (Color::Black, "Black")] {
            let count = |kind| (self.pieces.kind(kind) & self.pieces.side(side)).len();
            match count(Piece::King) {
                0 => reasons.push(format!("{name} has no king")),
                1 => {}
                kings => reasons.push(format!("{name} has {kings} kings")),
            }
            match count(Piece::Pawn) {
                ..=8 => {}
                pawns => reasons.push(format!("{name} has {pawns} pawns")),
            }
            match self.pieces.side(side).len() {
                ..=16 => {}
                pieces => reasons.push(format!("{name} has {pieces} pieces")),
            }
        }
        let last_ranks = Rank::First.bitboard() | Rank::Eighth.bitboard();
        for square in self.pieces.kind(Piece::Pawn) & last_ranks {
            reasons.push(format!("a pawn is on {square}"));
        }
        if self.pieces.is_in_check(!self.to_move) {
            reasons.push("the side that is not to move is in check".to_owned());
        }
        reasons
    }

    /// Returns the position as one of Chess960, whatever its castling rights are.
    ///
    /// ```
    /// use chess_rules::Position;
    /// let position = Position::from_fen("4k2r/8/8/8/8/8/8/4K3 b k -")?.as_chess960();
    /// let castling = position.find_move("O-O").expect("it is legal");
    /// assert_eq!(position.uci(castling), "e8h8");
    /// # Ok::<(), chess_rules::FenError>(())
    /// ```
    #[must_use]
    pub fn as_chess960(self) -> Self {
        Self { chess960: true, ..self }
    }

    /// Returns `true` if the position is [one of Chess960](Self::as_chess960), or some castling
    /// right is not that of a king on the e file with a rook on the a or h file. Castling then has
    /// to be written as the king taking its own rook.
    pub fn is_chess960(&self) -> bool {
        self.chess960
            || self.rights.iter().any(|(side, wing, file)| {
                let usual_king = self.king(side).is_some_and(|at| at.file() == cozy_chess::File::E);
                file != wing.usual_file() || !usual_king
            })
    }
}
