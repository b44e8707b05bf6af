//! The pieces of a position as bitboards, what they are worth, and who attacks a square.

use cozy_chess::{
    BitBoard, Color, Piece, Square, get_bishop_moves, get_king_moves, get_knight_moves,
    get_pawn_attacks, get_rook_moves,
};

use crate::reference::{self, Colour, Position};

/// What each kind of piece is worth, in the order pawn, knight, bishop, rook, queen, king.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Values(pub [i32; 6]);

impl Values {
    /// The centipawns of the wiki's worked examples; the king outweighs everything together.
    pub const CENTIPAWNS: Self = Self([100, 325, 325, 500, 1000, 20_000]);
    /// The tutorial's centipawns, gathered from its examples; the king outweighs everything together.
    pub const TUTORIAL: Self = Self([100, 300, 325, 500, 900, 20_000]);
    /// Sargon's points (Spracklen, BYTE, September 1978, listing 1: the array PVALUE).
    pub const SARGON: Self = Self([1, 3, 3, 5, 9, 10]);

    /// The worth of one piece.
    #[must_use]
    pub fn of(self, piece: Piece) -> i32 {
        self.0[piece as usize]
    }
}

/// Why a text names no values.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' is neither wiki, tutorial nor sargon, nor six whole numbers up to {MOST} for pawn, knight, \
     bishop, rook, queen and king, with commas between"
)]
pub struct ValuesError(String);

/// The most that a piece may be given to be worth; sums of all pieces stay far from overflowing.
const MOST: u16 = 30_000;

impl std::str::FromStr for Values {
    type Err = ValuesError;

    fn from_str(text: &str) -> Result<Self, ValuesError> {
        match text {
            "wiki" => return Ok(Self::CENTIPAWNS),
            "tutorial" => return Ok(Self::TUTORIAL),
            "sargon" => return Ok(Self::SARGON),
            _ => {}
        }
        let numbers = text.split(',').map(|number| number.trim().parse::<u16>().ok());
        let numbers: Option<Vec<i32>> =
            numbers.map(|number| number.filter(|n| *n <= MOST).map(i32::from)).collect();
        let six = numbers.and_then(|numbers| numbers.try_into().ok());
        six.map(Self).ok_or_else(|| ValuesError(text.to_owned()))
    }
}

/// Where the pieces of both sides stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pieces {
    kinds: [BitBoard; 6],
    sides: [BitBoard; 2],
}

/// The bitboards' number of a square of the reference: both count a1, b1 and so on.
#[must_use]
pub fn square(square: reference::Square) -> Square {
    Square::index(usize::from(square.rank()) * 8 + usize::from(square.file()))
}

/// The bitboards' side of a colour of the reference.
#[must_use]
pub fn side(colour: Colour) -> Color {
    match colour {
        Colour::White => Color::White,
        Colour::Black => Color::Black,
    }
}

impl From<&Position> for Pieces {
    fn from(position: &Position) -> Self {
        let placed = position.pieces();
        Self::new(
            placed.map(|(at, piece)| {
                (square(at), side(piece.colour), Piece::ALL[piece.kind as usize])
            }),
        )
    }
}

impl Pieces {
    /// Sets up pieces; of two on one square the later stays.
    pub fn new(placed: impl IntoIterator<Item = (Square, Color, Piece)>) -> Self {
        let mut pieces = Self { kinds: [BitBoard::EMPTY; 6], sides: [BitBoard::EMPTY; 2] };
        for (square, colour, kind) in placed {
            pieces.place(square, colour, kind);
        }
        pieces
    }

    /// Every occupied square.
    #[must_use]
    pub fn occupied(&self) -> BitBoard {
        self.sides[0] | self.sides[1]
    }

    /// The squares of one side's pieces.
    #[must_use]
    pub fn side(&self, colour: Color) -> BitBoard {
        self.sides[colour as usize]
    }

    /// The squares of one kind of piece, of both sides.
    #[must_use]
    pub fn kind(&self, kind: Piece) -> BitBoard {
        self.kinds[kind as usize]
    }

    /// What stands on a square.
    #[must_use]
    pub fn on(&self, square: Square) -> Option<(Color, Piece)> {
        let kind = Piece::ALL.into_iter().find(|&kind| self.kinds[kind as usize].has(square))?;
        let colour = if self.side(Color::White).has(square) { Color::White } else { Color::Black };
        Some((colour, kind))
    }

    /// The pieces of both sides that attack `square` when only `occupied` stands on the board. Taking
    /// a piece out of `occupied` uncovers what stood behind it, of either side (x-ray).
    #[must_use]
    pub fn attackers(&self, square: Square, occupied: BitBoard) -> BitBoard {
        let [pawns, knights, bishops, rooks, queens, kings] = self.kinds;
        let pawn = |by: Color| get_pawn_attacks(square, !by) & pawns & self.side(by);
        let found = pawn(Color::White)
            | pawn(Color::Black)
            | get_knight_moves(square) & knights
            | get_bishop_moves(square, occupied) & (bishops | queens)
            | get_rook_moves(square, occupied) & (rooks | queens)
            | get_king_moves(square) & kings;
        found & occupied
    }

    /// The least valuable attacker of `square` of one side, pawns first. A king is offered only when the
    /// other side has no attacker left, since it may not move into an attack.
    #[must_use]
    pub fn least_valuable(
        &self,
        square: Square,
        by: Color,
        occupied: BitBoard,
    ) -> Option<(Square, Piece)> {
        let attackers = self.attackers(square, occupied);
        let (from, kind) = Piece::ALL.into_iter().find_map(|kind| {
            (attackers & self.side(by) & self.kinds[kind as usize])
                .next_square()
                .map(|from| (from, kind))
        })?;
        let legal = kind != Piece::King || !self.is_guarded(square, by, occupied, from);
        legal.then_some((from, kind))
    }

    /// Whether the other side would attack `square` once the piece on `from` has left for it.
    pub(super) fn is_guarded(
        &self,
        square: Square,
        by: Color,
        occupied: BitBoard,
        from: Square,
    ) -> bool {
        let after = occupied - from.bitboard();
        !(self.attackers(square, after) & self.side(!by)).is_empty()
    }

    /// Plays a capture on the board itself: `from` empties, its piece stands on `to`.
    pub(super) fn play(&mut self, from: Square, to: Square) {
        if let Some((colour, kind)) = self.on(from) {
            self.remove(from);
            self.place(to, colour, kind);
        }
    }

    fn place(&mut self, square: Square, colour: Color, kind: Piece) {
        self.remove(square);
        self.kinds[kind as usize] |= square.bitboard();
        self.sides[colour as usize] |= square.bitboard();
    }

    fn remove(&mut self, square: Square) {
        for set in self.kinds.iter_mut().chain(&mut self.sides) {
            *set -= square.bitboard();
        }
    }
}
