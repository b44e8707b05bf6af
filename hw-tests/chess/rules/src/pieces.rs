//! The pieces of a position as bitboards, and the attackers of a square.

use cozy_chess::{
    BitBoard, Color, Piece, Square, get_bishop_moves, get_king_moves, get_knight_moves,
    get_pawn_attacks, get_rook_moves,
};

/// The squares of the pieces of both sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Pieces {
    kinds: [BitBoard; 6],
    sides: [BitBoard; 2],
}

impl Pieces {
    /// An empty board.
    pub const EMPTY: Self = Self { kinds: [BitBoard::EMPTY; 6], sides: [BitBoard::EMPTY; 2] };

    /// Sets up pieces; a later piece replaces an earlier one on the same square.
    ///
    /// ```
    /// use chess_rules::{Color, Piece, Pieces, Square};
    /// let pieces = Pieces::new([(Square::E4, Color::White, Piece::Rook)]);
    /// assert_eq!(pieces.on(Square::E4), Some((Color::White, Piece::Rook)));
    /// assert!(pieces.attackers(Square::E8, pieces.occupied()).has(Square::E4));
    /// ```
    pub fn new(placed: impl IntoIterator<Item = (Square, Color, Piece)>) -> Self {
        let mut pieces = Self::EMPTY;
        for (square, side, kind) in placed {
            pieces.place(square, side, kind);
        }
        pieces
    }

    /// Every occupied square.
    pub fn occupied(&self) -> BitBoard {
        self.sides[0] | self.sides[1]
    }

    /// The squares of one side's pieces.
    pub fn side(&self, side: Color) -> BitBoard {
        self.sides[side as usize]
    }

    /// The squares of one kind of piece, of both sides.
    pub fn kind(&self, kind: Piece) -> BitBoard {
        self.kinds[kind as usize]
    }

    /// Returns the piece on a square.
    pub fn on(&self, square: Square) -> Option<(Color, Piece)> {
        let side = if self.side(Color::White).has(square) { Color::White } else { Color::Black };
        Some((side, self.kind_on(square)?))
    }

    pub(crate) fn kind_on(&self, square: Square) -> Option<Piece> {
        if !self.occupied().has(square) {
            return None;
        }
        Piece::ALL.into_iter().find(|&kind| self.kind(kind).has(square))
    }

    /// Returns the pieces of both sides that attack `square` when only the pieces in `occupied` are
    /// on the board. Taking a piece out of `occupied` uncovers what stood behind it, of either side
    /// (x-ray).
    pub fn attackers(&self, square: Square, occupied: BitBoard) -> BitBoard {
        let [pawns, knights, bishops, rooks, queens, kings] = self.kinds;
        // A pawn attacks the square from those that a pawn of the other side on it would attack.
        let pawn = |by: Color| get_pawn_attacks(square, !by) & pawns & self.side(by);
        let found = pawn(Color::White)
            | pawn(Color::Black)
            | get_knight_moves(square) & knights
            | get_bishop_moves(square, occupied) & (bishops | queens)
            | get_rook_moves(square, occupied) & (rooks | queens)
            | get_king_moves(square) & kings;
        found & occupied
    }

    /// Returns `true` if a side attacks `square` with only the pieces in `occupied` there.
    pub fn is_attacked(&self, square: Square, by: Color, occupied: BitBoard) -> bool {
        !(self.attackers(square, occupied) & self.side(by)).is_empty()
    }

    /// Returns `true` if a king of a side is attacked.
    pub fn is_in_check(&self, side: Color) -> bool {
        let kings = self.kind(Piece::King) & self.side(side);
        kings.into_iter().any(|king| self.is_attacked(king, !side, self.occupied()))
    }

    /// Returns the pieces of a side whose removal would uncover an attack on its king.
    pub fn pinned(&self, king: Square, side: Color) -> BitBoard {
        let occupied = self.occupied();
        let attackers = |occupied| self.attackers(king, occupied) & self.side(!side);
        let checks = attackers(occupied);
        let nearest = get_bishop_moves(king, occupied) | get_rook_moves(king, occupied);
        let near = nearest & self.side(side);
        near.into_iter().filter(|piece| attackers(occupied - piece.bitboard()) != checks).collect()
    }

    /// Puts a piece on a square, and removes the one that was there.
    pub fn place(&mut self, square: Square, side: Color, kind: Piece) {
        self.remove(square);
        self.kinds[kind as usize] |= square.bitboard();
        self.sides[side as usize] |= square.bitboard();
    }

    /// Clears a square.
    pub fn remove(&mut self, square: Square) {
        let others = !square.bitboard();
        self.kinds = self.kinds.map(|set| set & others);
        self.sides = self.sides.map(|set| set & others);
    }
}
