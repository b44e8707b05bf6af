//! Squares, pieces and positions.

use std::fmt;

/// A side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub enum Colour {
    White,
    Black,
}

impl Colour {
    /// The other side.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::White => Self::Black,
            Self::Black => Self::White,
        }
    }
}

/// A kind of piece, in the order of value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "the names are self-explanatory")]
pub enum PieceKind {
    Pawn,
    Knight,
    Bishop,
    Rook,
    Queen,
    King,
}

impl PieceKind {
    /// All kinds, in the order of value.
    pub const ALL: [Self; 6] =
        [Self::Pawn, Self::Knight, Self::Bishop, Self::Rook, Self::Queen, Self::King];

    /// Points (the scale under the article's Figure 4; the king's from the authors' program).
    #[must_use]
    pub fn value(self) -> u8 {
        match self {
            Self::Pawn => 1,
            Self::Knight | Self::Bishop => 3,
            Self::Rook => 5,
            Self::Queen => 9,
            Self::King => 10,
        }
    }
}

/// A piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Piece {
    /// Its colour.
    pub colour: Colour,
    /// Its kind.
    pub kind: PieceKind,
}

impl Piece {
    /// The piece of a letter of FEN: capitals are White's.
    pub fn from_letter(letter: char) -> Option<Self> {
        let kind = match letter.to_ascii_lowercase() {
            'p' => PieceKind::Pawn,
            'n' => PieceKind::Knight,
            'b' => PieceKind::Bishop,
            'r' => PieceKind::Rook,
            'q' => PieceKind::Queen,
            'k' => PieceKind::King,
            _ => return None,
        };
        let colour = if letter.is_ascii_uppercase() { Colour::White } else { Colour::Black };
        Some(Self { colour, kind })
    }

    /// The letter of FEN.
    #[must_use]
    pub fn letter(self) -> char {
        let letter = ['p', 'n', 'b', 'r', 'q', 'k'][self.kind as usize];
        if self.colour == Colour::White { letter.to_ascii_uppercase() } else { letter }
    }
}

/// A square: file and rank, each 0 to 7.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Square {
    rank: u8,
    file: u8,
}

impl Square {
    /// All squares: a1 to h1, then a2 and so on.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..64).map(|index| Self { rank: index / 8, file: index % 8 })
    }

    /// The square of a file and rank, each 0 to 7.
    pub fn new(file: u8, rank: u8) -> Option<Self> {
        (file < 8 && rank < 8).then_some(Self { rank, file })
    }

    /// The square of a name such as `e4`.
    ///
    /// # Examples
    /// ```
    /// use sargon_reference::Square;
    ///
    /// assert_eq!(Square::named("e4"), Square::new(4, 3));
    /// assert_eq!(Square::named("i1"), None);
    /// ```
    pub fn named(name: &str) -> Option<Self> {
        let &[file, rank] = name.as_bytes() else { return None };
        Self::new(file.wrapping_sub(b'a'), rank.wrapping_sub(b'1'))
    }

    /// The file, 0 for a.
    #[must_use]
    pub fn file(self) -> u8 {
        self.file
    }

    /// The rank, 0 for the first.
    #[must_use]
    pub fn rank(self) -> u8 {
        self.rank
    }

    /// The square one step away; `None` beyond the edge.
    #[must_use]
    pub fn step(self, direction: Direction) -> Option<Self> {
        let file = self.file.checked_add_signed(direction.files)?;
        let rank = self.rank.checked_add_signed(direction.ranks)?;
        Self::new(file, rank)
    }

    /// Returns the index of a square in [`Self::all`].
    pub fn index(self) -> usize {
        usize::from(self.rank) * 8 + usize::from(self.file)
    }
}

impl fmt::Display for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", char::from(b'a' + self.file), self.rank + 1)
    }
}

/// A step across the board.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Direction {
    /// Towards the h file.
    pub files: i8,
    /// Towards the eighth rank.
    pub ranks: i8,
}

impl Direction {
    const fn new(files: i8, ranks: i8) -> Self {
        Self { files, ranks }
    }

    /// The diagonals, in the order in which the program looks along them.
    pub const DIAGONAL: [Self; 4] =
        [Self::new(-1, 1), Self::new(1, 1), Self::new(-1, -1), Self::new(1, -1)];
    /// Ranks and files, likewise.
    pub const STRAIGHT: [Self; 4] =
        [Self::new(0, 1), Self::new(0, -1), Self::new(1, 0), Self::new(-1, 0)];
    /// A knight's leaps, likewise.
    pub const LEAPS: [Self; 8] = [
        Self::new(-1, -2),
        Self::new(-2, -1),
        Self::new(-2, 1),
        Self::new(-1, 2),
        Self::new(1, 2),
        Self::new(2, 1),
        Self::new(2, -1),
        Self::new(1, -2),
    ];

    /// Returns the same step backwards.
    #[must_use]
    pub fn reversed(self) -> Self {
        Self::new(-self.files, -self.ranks)
    }
}

/// The placement of the pieces and the side to move.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Position {
    squares: [Option<Piece>; 64],
    /// The side that moves next.
    pub to_move: Colour,
}

impl Position {
    /// An empty board.
    pub fn empty(to_move: Colour) -> Self {
        Self { squares: [None; 64], to_move }
    }

    /// Returns the piece on a square.
    pub fn on(&self, square: Square) -> Option<Piece> {
        self.squares[square.index()]
    }

    /// Puts a piece on a square, or clears it.
    pub fn set(&mut self, square: Square, piece: Option<Piece>) {
        self.squares[square.index()] = piece;
    }

    /// All pieces: a1 to h1, then a2 and so on.
    pub fn pieces(&self) -> impl Iterator<Item = (Square, Piece)> + '_ {
        Square::all().filter_map(|square| Some((square, self.on(square)?)))
    }

    /// Returns the square of the last king or queen of a colour in the order of [`Self::pieces`]:
    /// the one that the program watches for pins.
    pub fn royal(&self, colour: Colour, kind: PieceKind) -> Option<Square> {
        let wanted = Piece { colour, kind };
        self.pieces().filter(|(_, piece)| *piece == wanted).last().map(|(square, _)| square)
    }

    /// Returns the position with files reversed, as in a mirror.
    pub fn files_reversed(&self) -> Self {
        let mut reversed = Self::empty(self.to_move);
        for (Square { rank, file }, piece) in self.pieces() {
            reversed.set(Square { rank, file: 7 - file }, Some(piece));
        }
        reversed
    }
}
