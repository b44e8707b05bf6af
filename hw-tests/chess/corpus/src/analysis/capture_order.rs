//! The order of capturers on a square: from Sargon's array, or from the board itself.

use chess_rules::see::PieceValues;
use chess_rules::{BitBoard, Color, Piece, Pieces, Rank, Square};

use super::rules::{Rule, Rules};
use sargon_reference::{AttackersArray, Colour};

/// The value of a capturer before and after its capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CapturerPoints {
    /// Points at risk.
    pub(super) cost: i32,
    /// Points on the square after the capture; more than `cost` for a promotion.
    pub(super) becomes: i32,
}

/// The two sides of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExchangeRole {
    Attacker,
    Defender,
}

impl ExchangeRole {
    pub(super) fn other(self) -> Self {
        match self {
            Self::Attacker => Self::Defender,
            Self::Defender => Self::Attacker,
        }
    }
}

/// Yields the capturers of either side in the order in which they capture.
pub(super) trait CaptureOrder {
    /// Removes and returns a side's next capturer; `None` if it has none that may capture.
    fn next(&mut self, side: ExchangeRole) -> Option<CapturerPoints>;
}

/// The order of Sargon's array.
pub(super) struct ArrayOrder {
    sides: [std::vec::IntoIter<u8>; 2],
    promotes: bool,
}

impl ArrayOrder {
    pub(super) fn new(
        array: &AttackersArray,
        owner: Colour,
        rules: Rules,
        last_rank: bool,
    ) -> Self {
        let values = |colour| array.in_order(colour).into_iter();
        Self {
            sides: [values(owner.other()), values(owner)],
            promotes: rules.is_modern(Rule::Promotion) && last_rank,
        }
    }
}

impl CaptureOrder for ArrayOrder {
    fn next(&mut self, side: ExchangeRole) -> Option<CapturerPoints> {
        let value = i32::from(self.sides[side as usize].next()?);
        Some(capturer(value, self.promotes))
    }
}

fn capturer(cost: i32, promotes: bool) -> CapturerPoints {
    let promoted = promotes && cost == PieceValues::SARGON.of(Piece::Pawn);
    let becomes = if promoted { PieceValues::SARGON.of(Piece::Queen) } else { cost };
    CapturerPoints { cost, becomes }
}

/// The order on the board: the least valuable piece first, pieces behind it once it has moved.
pub(super) struct BoardOrder<'a> {
    pieces: &'a Pieces,
    target: Square,
    attacker: Color,
    occupied: BitBoard,
    /// The pieces that may take part.
    eligible: BitBoard,
    /// The pieces that may not take part, but still guard against a king.
    barred: BitBoard,
    kings_by_law: bool,
    promotes: bool,
}

impl<'a> BoardOrder<'a> {
    /// `barred` may not capture on the square by Sargon's pins.
    pub(super) fn new(
        pieces: &'a Pieces,
        target: Square,
        owner: Color,
        rules: Rules,
        barred: BitBoard,
    ) -> Self {
        let listed = listed(pieces, target, Color::White) | listed(pieces, target, Color::Black);
        let barred = if rules.is_modern(Rule::Pin) { BitBoard::EMPTY } else { barred };
        let everyone = if rules.is_modern(Rule::XRay) { pieces.occupied() } else { listed };
        Self {
            pieces,
            target,
            attacker: !owner,
            // Sargon looks through pinned pieces that it leaves out.
            occupied: pieces.occupied() - (barred & listed & transparent(pieces)),
            eligible: everyone - barred,
            barred,
            kings_by_law: rules.is_modern(Rule::King),
            promotes: rules.is_modern(Rule::Promotion)
                && matches!(target.rank(), Rank::First | Rank::Eighth),
        }
    }

    /// Returns `true` if a piece, even pinned or behind the king, bars the king's capture.
    fn forbidden(&self, colour: Color, after: BitBoard) -> bool {
        let guards = self.pieces.attackers(self.target, after | self.barred);
        !(guards & self.pieces.side(!colour)).is_empty()
    }

    /// Removes and returns a side's next capturer, with its square.
    pub(super) fn next_on_board(&mut self, side: ExchangeRole) -> Option<(Square, CapturerPoints)> {
        let colour = if side == ExchangeRole::Attacker { self.attacker } else { !self.attacker };
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
        Some((from, capturer(PieceValues::SARGON.of(kind), self.promotes)))
    }
}

impl CaptureOrder for BoardOrder<'_> {
    fn next(&mut self, side: ExchangeRole) -> Option<CapturerPoints> {
        self.next_on_board(side).map(|(_, capturer)| capturer)
    }
}

/// Returns the pieces of a colour that attack or defend a square, directly or behind others.
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

/// Returns the pieces through which others may attack.
fn transparent(pieces: &Pieces) -> BitBoard {
    let [pawn, _, bishop, rook, queen, _] = Piece::ALL.map(|kind| pieces.kind(kind));
    pawn | bishop | rook | queen
}
