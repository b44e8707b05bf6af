//! The order of capturers on a square: from Sargon's array, or from the board itself.

use chess_rules::see::Values;
use chess_rules::{BitBoard, Color, Piece, Pieces, Rank, Square};

use super::battle::{Rule, Rules};
use sargon_reference::{AttackersArray, Colour};

/// One who may capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Capturer {
    /// Points risked with it.
    pub(super) cost: i32,
    /// Points that stand on the square once it has captured.
    pub(super) becomes: i32,
}

/// The two sides of a battle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Attacker,
    Defender,
}

impl Side {
    pub(super) fn other(self) -> Self {
        match self {
            Self::Attacker => Self::Defender,
            Self::Defender => Self::Attacker,
        }
    }
}

/// Yields the capturers of either side in the order in which they capture.
pub(super) trait Queue {
    /// Takes the next of a side out; `None` when it has none that may.
    fn next(&mut self, side: Side) -> Option<Capturer>;
}

/// Sargon's array.
pub(super) struct Filed {
    sides: [std::vec::IntoIter<u8>; 2],
    promotes: bool,
}

impl Filed {
    pub(super) fn new(
        array: &AttackersArray,
        owner: Colour,
        rules: Rules,
        last_rank: bool,
    ) -> Self {
        let values = |colour| array.in_order(colour).into_iter();
        Self {
            sides: [values(owner.other()), values(owner)],
            promotes: rules.has(Rule::Promotion) && last_rank,
        }
    }
}

impl Queue for Filed {
    fn next(&mut self, side: Side) -> Option<Capturer> {
        let value = i32::from(self.sides[side as usize].next()?);
        Some(capturer(value, self.promotes))
    }
}

fn capturer(cost: i32, promotes: bool) -> Capturer {
    let promoted = promotes && cost == Values::SARGON.of(Piece::Pawn);
    let becomes = if promoted { Values::SARGON.of(Piece::Queen) } else { cost };
    Capturer { cost, becomes }
}

/// The board itself: the least valuable piece first, those behind it when it has left.
pub(super) struct Placed<'a> {
    pieces: &'a Pieces,
    target: Square,
    attacker: Color,
    occupied: BitBoard,
    /// The pieces that may take part at all.
    eligible: BitBoard,
    /// The pieces that may not take part, but still guard against a king.
    barred: BitBoard,
    kings_by_law: bool,
    promotes: bool,
}

impl<'a> Placed<'a> {
    /// `barred` may not capture on the square by Sargon's pins.
    pub(super) fn new(
        pieces: &'a Pieces,
        target: Square,
        owner: Color,
        rules: Rules,
        barred: BitBoard,
    ) -> Self {
        let listed = listed(pieces, target, Color::White) | listed(pieces, target, Color::Black);
        let barred = if rules.has(Rule::Pin) { BitBoard::EMPTY } else { barred };
        let everyone = if rules.has(Rule::XRay) { pieces.occupied() } else { listed };
        Self {
            pieces,
            target,
            attacker: !owner,
            // Sargon looks through the pieces that it bars.
            occupied: pieces.occupied() - (barred & listed & transparent(pieces)),
            eligible: everyone - barred,
            barred,
            kings_by_law: rules.has(Rule::King),
            promotes: rules.has(Rule::Promotion)
                && matches!(target.rank(), Rank::First | Rank::Eighth),
        }
    }

    /// Whether the law forbids the king of a colour to capture: somebody guards, pinned or behind
    /// the king.
    fn forbidden(&self, colour: Color, after: BitBoard) -> bool {
        let guards = self.pieces.attackers(self.target, after | self.barred);
        !(guards & self.pieces.side(!colour)).is_empty()
    }
}

impl Queue for Placed<'_> {
    fn next(&mut self, side: Side) -> Option<Capturer> {
        let colour = if side == Side::Attacker { self.attacker } else { !self.attacker };
        let attackers = self.pieces.attackers(self.target, self.occupied);
        let candidates = attackers & self.pieces.side(colour) & self.eligible;
        let (kind, from) = Piece::ALL
            .into_iter()
            .find_map(|kind| Some((kind, (candidates & self.pieces.kind(kind)).next_square()?)))?;
        let after = self.occupied - from.bitboard();
        if self.kings_by_law && kind == Piece::King && self.forbidden(colour, after) {
            return None;
        }
        self.occupied = after;
        Some(capturer(Values::SARGON.of(kind), self.promotes))
    }
}

/// Returns the pieces of a colour that bear on a square, directly or through others of their
/// colour.
fn listed(pieces: &Pieces, target: Square, colour: Color) -> BitBoard {
    let mut found = BitBoard::EMPTY;
    let mut occupied = pieces.occupied();
    loop {
        let more = (pieces.attackers(target, occupied) & pieces.side(colour)) - found;
        if more.is_empty() {
            return found;
        }
        found |= more;
        occupied -= more & transparent(pieces);
    }
}

/// The pieces that others may attack through.
fn transparent(pieces: &Pieces) -> BitBoard {
    let [pawn, _, bishop, rook, queen, _] = Piece::ALL.map(|kind| pieces.kind(kind));
    pawn | bishop | rook | queen
}
