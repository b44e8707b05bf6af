//! Generates and plays legal moves, and explains why a move is illegal.
//!
//! Castling is written as the king taking its own rook, which is unambiguous in Chess960 too.

use cozy_chess::{
    BitBoard, Color, Move, Piece, Rank, Square, get_between_rays, get_bishop_moves, get_king_moves,
    get_knight_moves, get_pawn_attacks, get_rook_moves,
};

use crate::{CastlingSide, Pieces, Position};

/// The pieces that a pawn may become.
const PROMOTIONS: [Piece; 4] = [Piece::Queen, Piece::Rook, Piece::Bishop, Piece::Knight];

/// Reason for which a move that follows its piece's rules is illegal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IllegalReason {
    /// The piece is pinned.
    Pin,
    /// The king moves into an attack.
    King,
    /// The move does not answer a check.
    Check,
    /// A capture en passant opens a line to the king: two pawns leave their squares at once.
    EnPassant,
}

impl Position {
    /// Returns every legal move, in the order of the squares from which they start.
    ///
    /// ```
    /// use chess_rules::Position;
    /// let position = Position::from_fen("8/8/8/8/8/8/8/K6k w - -")?;
    /// assert_eq!(position.legal_moves().len(), 3);
    /// # Ok::<(), chess_rules::FenError>(())
    /// ```
    pub fn legal_moves(&self) -> Vec<Move> {
        let mut moves = self.pseudo_legal_moves(BitBoard::FULL, BitBoard::FULL);
        moves.retain(|m| self.keeps_king_safe(*m));
        moves.extend(self.castling_moves());
        moves
    }

    /// Returns the legal captures, en passant among them; a promotion to each piece is a move.
    pub fn legal_captures(&self) -> Vec<Move> {
        self.captures().0
    }

    /// Returns the captures that follow the rules of their pieces and yet are not legal.
    pub fn illegal_captures(&self) -> Vec<(Move, IllegalReason)> {
        self.captures().1
    }

    /// Returns the legal and the illegal captures.
    pub(crate) fn captures(&self) -> (Vec<Move>, Vec<(Move, IllegalReason)>) {
        let mut legal = self.pseudo_legal_captures(None);
        let mut illegal = Vec::new();
        legal.retain(|m| {
            let reason = self.illegal_reason(*m);
            illegal.extend(reason.map(|reason| (*m, reason)));
            reason.is_none()
        });
        (legal, illegal)
    }

    /// Returns the captures on one square or on all, legal or not.
    pub(crate) fn pseudo_legal_captures(&self, on: Option<Square>) -> Vec<Move> {
        let attackers = |square| self.pieces.attackers(square, self.pieces.occupied());
        let from = on.map_or(BitBoard::FULL, attackers);
        let squares = on.map_or(BitBoard::FULL, Square::bitboard);
        let passed = self.en_passant.map_or(BitBoard::EMPTY, Square::bitboard);
        let takeable = self.pieces.side(!self.to_move) | passed;
        let mut moves = self.pseudo_legal_moves(from, squares & takeable);
        moves.retain(|m| self.is_capture(*m));
        moves
    }

    /// Returns `true` if a side in check has no legal move.
    pub(crate) fn is_mate(&self) -> bool {
        self.is_check()
            && !self
                .pseudo_legal_moves(BitBoard::FULL, BitBoard::FULL)
                .iter()
                .any(|m| self.keeps_king_safe(*m))
    }

    /// Returns `true` if a move takes a piece of the other side.
    pub fn is_capture(&self, m: Move) -> bool {
        self.pieces.side(!self.to_move).has(m.to) || self.is_en_passant(m)
    }

    /// Returns `true` if a move is a capture en passant.
    pub fn is_en_passant(&self, m: Move) -> bool {
        Some(m.to) == self.en_passant
            && self.pieces.kind(Piece::Pawn).has(m.from)
            && m.from.file() != m.to.file()
    }

    /// Returns the wing to which a move castles; `None` if it is another move.
    pub fn castling(&self, m: Move) -> Option<CastlingSide> {
        let own = self.pieces.side(self.to_move);
        let is_castling = (self.pieces.kind(Piece::King) & own).has(m.from) && own.has(m.to);
        is_castling.then(|| {
            if m.to.file() > m.from.file() { CastlingSide::King } else { CastlingSide::Queen }
        })
    }

    /// Returns the square of the piece that a move takes.
    pub fn taken(&self, m: Move) -> Option<Square> {
        if self.is_en_passant(m) {
            return Some(Square::new(m.to.file(), m.from.rank()));
        }
        self.pieces.side(!self.to_move).has(m.to).then_some(m.to)
    }

    /// Returns the position after a move, which is not checked.
    pub fn play(&self, m: Move) -> Self {
        let mut after = *self;
        let side = self.to_move;
        after.en_passant = None;
        after.halfmove_clock = self.halfmove_clock.saturating_add(1);
        after.move_number = self.move_number.saturating_add(u32::from(side == Color::Black));
        after.to_move = !side;
        match self.castling(m) {
            Some(wing) => after.castle(side, wing, m),
            None => after.transfer(self, m),
        }
        after
    }

    fn castle(&mut self, side: Color, wing: CastlingSide, m: Move) {
        self.pieces.remove(m.from);
        self.pieces.remove(m.to);
        self.pieces.place(Square::new(wing.king_file(), m.from.rank()), side, Piece::King);
        self.pieces.place(Square::new(wing.rook_file(), m.from.rank()), side, Piece::Rook);
        self.rights.remove_all(side);
    }

    /// Plays a move that is not castling; `before` is the position before it.
    fn transfer(&mut self, before: &Self, m: Move) {
        let Some((side, kind)) = before.pieces.on(m.from) else { return };
        if let Some(taken) = before.taken(m) {
            self.pieces.remove(taken);
            self.halfmove_clock = 0;
        }
        self.pieces.remove(m.from);
        self.pieces.place(m.to, side, m.promotion.unwrap_or(kind));
        match kind {
            Piece::Pawn => self.note_pawn_move(side, m),
            Piece::King => self.rights.remove_all(side),
            _ => {}
        }
        // A right ends when its rook leaves or is taken.
        for (owner, at) in [(side, m.from), (!side, m.to)] {
            if at.rank() == Rank::First.relative_to(owner) {
                self.rights.remove(owner, at.file());
            }
        }
    }

    fn note_pawn_move(&mut self, side: Color, m: Move) {
        self.halfmove_clock = 0;
        let doubled = m.from.rank() == Rank::Second.relative_to(side)
            && m.to.rank() == Rank::Fourth.relative_to(side);
        if doubled {
            self.en_passant = Some(Square::new(m.from.file(), Rank::Third.relative_to(side)));
        }
    }

    /// Returns `true` if a move other than castling leaves no king of its side attacked.
    pub(crate) fn keeps_king_safe(&self, m: Move) -> bool {
        let taken = self.taken(m).map_or(BitBoard::EMPTY, Square::bitboard);
        let others = self.pieces.side(!self.to_move) - taken;
        let occupied = (self.pieces.occupied() - m.from.bitboard() - taken) | m.to.bitboard();
        let kings = self.pieces.kind(Piece::King) & self.pieces.side(self.to_move);
        let moved = if kings.has(m.from) { m.to.bitboard() } else { BitBoard::EMPTY };
        let mut kings = ((kings - m.from.bitboard()) | moved).into_iter();
        kings.all(|king| (self.pieces.attackers(king, occupied) & others).is_empty())
    }

    /// Returns the reason why a move that follows the rules of its piece is not legal.
    fn illegal_reason(&self, m: Move) -> Option<IllegalReason> {
        if self.keeps_king_safe(m) {
            return None;
        }
        Some(if self.pieces.kind(Piece::King).has(m.from) {
            IllegalReason::King
        } else if self.is_check() {
            IllegalReason::Check
        } else if self.is_en_passant(m) {
            IllegalReason::EnPassant
        } else {
            IllegalReason::Pin
        })
    }

    /// Returns the pseudo-legal moves from and to some squares without castling: by the rules of
    /// each piece, even if they leave the king in check. Kings are never captured.
    fn pseudo_legal_moves(&self, from: BitBoard, squares: BitBoard) -> Vec<Move> {
        let mut moves = Vec::new();
        let allowed = squares - self.pieces.side(self.to_move) - self.pieces.kind(Piece::King);
        for from in self.pieces.side(self.to_move) & from {
            let Some(kind) = self.pieces.kind_on(from) else { continue };
            let is_pawn = kind == Piece::Pawn;
            let targets =
                if is_pawn { self.pawn_targets(from) } else { reach(kind, from, &self.pieces) };
            for to in targets & allowed {
                let last = to.rank() == Rank::Eighth.relative_to(self.to_move);
                if is_pawn && last {
                    let promoted = PROMOTIONS.map(Some);
                    moves.extend(promoted.map(|promotion| Move { from, to, promotion }));
                } else {
                    moves.push(Move { from, to, promotion: None });
                }
            }
        }
        moves
    }

    fn pawn_targets(&self, from: Square) -> BitBoard {
        let side = self.to_move;
        let occupied = self.pieces.occupied();
        let passed = self.en_passant.map_or(BitBoard::EMPTY, Square::bitboard);
        let takes = get_pawn_attacks(from, side) & (self.pieces.side(!side) | passed);
        let up = if side == Color::White { 1 } else { -1 };
        let Some(one) = from.try_offset(0, up).filter(|at| !occupied.has(*at)) else {
            return takes;
        };
        let two = (from.rank() == Rank::Second.relative_to(side))
            .then(|| one.try_offset(0, up).filter(|at| !occupied.has(*at)))
            .flatten();
        takes | one.bitboard() | two.map_or(BitBoard::EMPTY, Square::bitboard)
    }

    fn castling_moves(&self) -> impl Iterator<Item = Move> + '_ {
        let side = self.to_move;
        let first = Rank::First.relative_to(side);
        let moves = CastlingSide::ALL.into_iter().filter_map(move |wing| {
            let from = self.king(side)?;
            let to = Square::new(self.rights.rook(side, wing)?, first);
            Some((wing, Move { from, to, promotion: None }))
        });
        moves.filter(|(wing, m)| self.may_castle(*wing, *m)).map(|(_, m)| m)
    }

    fn may_castle(&self, wing: CastlingSide, m: Move) -> bool {
        let rank = m.from.rank();
        let king_to = Square::new(wing.king_file(), rank);
        let rook_to = Square::new(wing.rook_file(), rank);
        let others = self.pieces.occupied() - m.from.bitboard() - m.to.bitboard();
        let king_path = get_between_rays(m.from, king_to) | king_to.bitboard();
        let rook_path = get_between_rays(m.to, rook_to) | rook_to.bitboard();
        let is_free = ((king_path | rook_path) & others).is_empty();
        // Without the king, so that it does not shield the squares behind it from an attacker.
        let occupied = self.pieces.occupied() - m.from.bitboard();
        let mut way = (king_path | m.from.bitboard()).into_iter();
        is_free
            && way.all(|at| !self.pieces.is_attacked(at, !self.to_move, occupied))
            && !self.play(m).pieces.is_in_check(self.to_move)
    }
}

/// The squares that a piece other than a pawn reaches.
fn reach(kind: Piece, from: Square, pieces: &Pieces) -> BitBoard {
    let occupied = pieces.occupied();
    match kind {
        Piece::Knight => get_knight_moves(from),
        Piece::Bishop => get_bishop_moves(from, occupied),
        Piece::Rook => get_rook_moves(from, occupied),
        Piece::Queen => get_bishop_moves(from, occupied) | get_rook_moves(from, occupied),
        Piece::King => get_king_moves(from),
        Piece::Pawn => BitBoard::EMPTY,
    }
}
