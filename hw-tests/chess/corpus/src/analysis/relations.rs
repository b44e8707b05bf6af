//! Second-order attacks: the eight relations of the article's Table 4, which the exchange evaluator
//! ignores.
//!
//! Three pieces are on a line with nothing between them, and the first slides along it. Its effect
//! on the third is blocked by the second: *discovered* if the second has to move away first,
//! *transparent* if the second itself attacks or defends the third along the line, so that the
//! first acts through it.

use std::fmt;

use sargon_reference::{Colour, Direction, Piece, PieceKind, Position, Square};

/// One of the two groups of Table 4.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RelationGroup {
    /// The second piece has to move away.
    Discovered,
    /// The first acts through the second.
    Transparent,
}

/// A relation between three pieces on a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Relation {
    /// The group.
    pub group: RelationGroup,
    /// The piece that acts, W1 in Table 4, of either colour.
    pub first: (Square, Piece),
    /// The piece that blocks it.
    pub second: (Square, Piece),
    /// The piece that it acts on.
    pub third: (Square, Piece),
}

impl Relation {
    /// Returns Table 4's name of the type: W is the side of the first piece, B the other.
    pub fn kind(&self) -> &'static str {
        match (self.is_own(self.second), self.is_own(self.third)) {
            (false, true) => "W1 -> B1 -> W2",
            (true, true) => "W1 -> W2 -> W3",
            (false, false) => "W1 -> B1 -> B2",
            (true, false) => "W1 -> W2 -> B1",
        }
    }

    /// Returns `true` if it is one of the two that Table 4 marks as a pin.
    pub fn is_pin(&self) -> bool {
        !self.is_own(self.second) && !self.is_own(self.third)
    }

    fn is_own(&self, (_, piece): (Square, Piece)) -> bool {
        piece.colour == self.first.1.colour
    }
}

impl fmt::Display for Relation {
    /// Table 4's description with the pieces in place of W1, B1 and so on.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |(square, piece): (Square, Piece)| format!("{}{square}", piece.letter());
        let verb = |own| if own { "defends" } else { "attacks" };
        let [first, second, third] = [self.first, self.second, self.third].map(name);
        let on_second = verb(self.is_own(self.second));
        let on_third = verb(self.is_own(self.third));
        write!(f, "{first} {on_second} {second}. ")?;
        match self.group {
            RelationGroup::Discovered => {
                write!(f, "If {second} moves, {first} {on_third} {third}.")?
            }
            RelationGroup::Transparent => {
                let between = verb(self.second.1.colour == self.third.1.colour);
                write!(f, "{second} {between} {third}. ")?;
                write!(f, "{first} {on_third} {third} through {second}.")?;
            }
        }
        if self.is_pin() { write!(f, " (pin)") } else { Ok(()) }
    }
}

/// Returns all relations of a position, in the order of the first pieces' squares, a1 first.
///
/// # Examples
/// ```
/// use sargon_corpus::analysis::relations;
/// use sargon_reference::parse_fen;
///
/// // If the knight moves, the rook attacks the king.
/// let position = parse_fen("4r1k1/8/8/8/8/8/4N3/4K3 w - -")?;
/// let relations = relations(&position);
/// assert_eq!(relations.len(), 1);
/// assert!(relations[0].is_pin());
/// # Ok::<(), sargon_reference::FenError>(())
/// ```
pub fn relations(position: &Position) -> Vec<Relation> {
    let from = |first: (Square, Piece)| {
        let directions = Direction::DIAGONAL.into_iter().chain(Direction::STRAIGHT);
        directions.filter_map(move |direction| along(position, first, direction))
    };
    position.pieces().flat_map(from).collect()
}

fn along(position: &Position, first: (Square, Piece), direction: Direction) -> Option<Relation> {
    if !slides(first.1.kind, direction) {
        return None;
    }
    let second = next(position, first.0, direction)?;
    let third = next(position, second.0, direction)?;
    let group = if bears_on(second, third.0, direction) {
        RelationGroup::Transparent
    } else {
        RelationGroup::Discovered
    };
    Some(Relation { group, first, second, third })
}

/// Returns the first piece on a line beyond a square.
fn next(position: &Position, from: Square, direction: Direction) -> Option<(Square, Piece)> {
    std::iter::successors(from.step(direction), |square| square.step(direction))
        .find_map(|square| Some((square, position.on(square)?)))
}

fn slides(kind: PieceKind, direction: Direction) -> bool {
    match kind {
        PieceKind::Queen => true,
        PieceKind::Bishop => Direction::DIAGONAL.contains(&direction),
        PieceKind::Rook => Direction::STRAIGHT.contains(&direction),
        PieceKind::Pawn | PieceKind::Knight | PieceKind::King => false,
    }
}

/// Returns `true` if a piece attacks or defends the next one in a direction.
fn bears_on((square, piece): (Square, Piece), target: Square, direction: Direction) -> bool {
    let adjacent = square.step(direction) == Some(target);
    let forward = if piece.colour == Colour::White { 1 } else { -1 };
    match piece.kind {
        PieceKind::King => adjacent,
        PieceKind::Pawn => adjacent && direction.files != 0 && direction.ranks == forward,
        kind => slides(kind, direction),
    }
}
