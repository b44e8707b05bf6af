//! The exchange on one square under any mixture of Sargon's rules and those of a modern evaluator.
//! The smallest change of rules that gives the modern result explains a difference.

use super::capture_order::{ArrayOrder, BoardOrder, CaptureOrder, ExchangeRole};
use super::convert;
use super::resolve::{gain, resolve_by_minimax, resolve_by_stop_rule};
use super::rules::{Rule, Rules};
use chess_rules::{BitBoard, Pieces};
use sargon_reference::{AttackersArray, Piece, PieceKind, Pin, Position, Square, attackers};

/// A piece with the attackers and defenders of its square.
pub struct SquareExchange<'a> {
    square: Square,
    piece: Piece,
    pieces: &'a Pieces,
    /// The array with the pins, and without.
    arrays: [AttackersArray; 2],
    pinned_out: BitBoard,
    /// `true` if the array's order or capacity makes a difference by itself.
    filing_matters: bool,
}

impl<'a> SquareExchange<'a> {
    /// Returns the exchange on an occupied `square`; pieces and pins are the `position`'s.
    pub fn new(
        position: &Position,
        pieces: &'a Pieces,
        pins: &[Pin],
        square: Square,
    ) -> Option<Self> {
        let piece = position.on(square)?;
        let arrays = [pins, &[]].map(|pins| attackers(position, square, pins).array);
        let pinned_out = pinned_out(position, pins, square);
        let mut battle = Self { square, piece, pieces, arrays, pinned_out, filing_matters: false };
        let filed = battle.by_array(Rules::SARGON);
        battle.filing_matters = filed != battle.by_board(Rules::SARGON.with(Rule::Filing));
        Some(battle)
    }

    /// Returns `true` if any piece attacks the square.
    pub fn is_attacked(&self) -> bool {
        self.arrays[1].count(self.piece.colour.other()) > 0
    }

    /// Returns the points that the owner of the piece loses under some rules, in Sargon's scale.
    /// `None` if the rules are incompatible: the array has no pieces behind enemy pieces and no
    /// pinned guards.
    pub fn loss(&self, rules: Rules) -> Option<i32> {
        let not_in_array = rules.is_modern(Rule::XRay) || rules.is_modern(Rule::King);
        match (rules.is_modern(Rule::Filing), not_in_array) {
            (true, _) => Some(self.by_board(rules)),
            (false, false) => Some(self.by_array(rules)),
            // The array has only the pieces that Sargon files. Rules with other pieces are
            // evaluated on the board, whose order equals that of the array only if filing did not
            // change it.
            (false, true) => (!self.filing_matters).then(|| self.by_board(rules)),
        }
    }

    /// Returns the smallest sets of modern rules that each give Sargon the modern result.
    pub fn minimal_rule_changes(&self) -> Vec<Vec<Rule>> {
        let wanted = self.by_board(Rules::MODERN);
        let mut smallest: Vec<Vec<Rule>> = Vec::new();
        for rules in Rules::all() {
            let chosen = rules.modern_rules();
            // `Rules::all` yields small sets first. Sets larger than the first that explains the
            // difference would contain unnecessary rules.
            if smallest.first().is_some_and(|first| first.len() < chosen.len()) {
                break;
            }
            if self.loss(rules) == Some(wanted) {
                smallest.push(chosen);
            }
        }
        smallest
    }

    fn by_array(&self, rules: Rules) -> i32 {
        let array = &self.arrays[usize::from(rules.is_modern(Rule::Pin))];
        let last_rank = matches!(self.square.rank(), 0 | 7);
        self.play(rules, ArrayOrder::new(array, self.piece.colour, rules, last_rank))
    }

    fn by_board(&self, rules: Rules) -> i32 {
        self.play(rules, self.board_order(rules))
    }

    fn board_order(&self, rules: Rules) -> BoardOrder<'_> {
        let square = convert::square(self.square);
        let owner = convert::side(self.piece.colour);
        BoardOrder::new(self.pieces, square, owner, rules, self.pinned_out)
    }

    /// Returns the squares of the capturers by modern rules, sides alternating, with the points
    /// that each capture wins at once.
    pub(super) fn modern_gains(&self) -> Vec<(chess_rules::Square, i32)> {
        let mut order = self.board_order(Rules::MODERN);
        let mut stake = i32::from(self.piece.kind.value());
        let mut side = ExchangeRole::Attacker;
        let mut gains = Vec::new();
        while let Some((from, capturer)) = order.next_on_board(side) {
            gains.push((from, gain(stake, capturer)));
            (stake, side) = (capturer.becomes, side.other());
        }
        gains
    }

    fn play(&self, rules: Rules, mut queue: impl CaptureOrder) -> i32 {
        let stake = i32::from(self.piece.kind.value());
        if rules.is_modern(Rule::Stop) {
            resolve_by_minimax(stake, &mut queue)
        } else {
            resolve_by_stop_rule(stake, &mut queue)
        }
    }
}

/// Returns the pieces that cannot capture on a square because of pins: a piece pinned once moves
/// along the pin only, one pinned twice not at all.
fn pinned_out(position: &Position, pins: &[Pin], target: Square) -> BitBoard {
    let mut squares = BitBoard::EMPTY;
    for pin in pins {
        let twice = pins.iter().filter(|other| other.square == pin.square).count() > 1;
        let knight = position.on(pin.square).is_some_and(|piece| piece.kind == PieceKind::Knight);
        if twice || knight || !along(pin, target) {
            squares |= convert::square(pin.square).bitboard();
        }
    }
    squares
}

/// Returns `true` if the target is on the line of a pin.
fn along(pin: &Pin, target: Square) -> bool {
    let files = target.file() as i8 - pin.square.file() as i8;
    let ranks = target.rank() as i8 - pin.square.rank() as i8;
    files * pin.direction.ranks == ranks * pin.direction.files
}
