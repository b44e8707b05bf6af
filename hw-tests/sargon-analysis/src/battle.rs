//! The battle for one square under rules that can be exchanged one by one: Sargon's at one end,
//! those of a modern evaluator at the other. Which of them makes two evaluators differ is found by
//! exchanging them.

use chess_rules::{BitBoard, Pieces};
use serde::Serialize;

use super::boards;
use super::play::{minimax, stop_rule};
use super::queue::{Filed, Placed, Queue};
use sargon_reference::{AttackersArray, Kind, Piece, Pin, Position, Square, attackers};

/// A rule that Sargon and a modern evaluator have differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// XCHNG weighs one attacker against one defender; minimax plays the whole exchange and goes
    /// back.
    Stop,
    /// Sargon leaves pinned pieces out; the swap algorithm does not look for pins.
    Pin,
    /// Sargon sees no piece behind one of the other colour.
    XRay,
    /// Sargon's king captures by its value of 10, whatever a pinned guard or one behind it could
    /// do; a modern one only where nobody guards.
    King,
    /// Sargon's pawn stays one on the last rank; here it becomes a queen when it captures there.
    Promotion,
    /// Sargon captures in the order of the array, which has room for an army without promoted
    /// pieces; a modern evaluator always sends the least valuable piece.
    Filing,
}

impl Rule {
    /// All rules.
    pub const ALL: [Self; 6] =
        [Self::Stop, Self::Pin, Self::XRay, Self::King, Self::Promotion, Self::Filing];

    /// The rule in words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Stop => "stop rule",
            Self::Pin => "pin",
            Self::XRay => "x-ray",
            Self::King => "king",
            Self::Promotion => "promotion",
            Self::Filing => "filing",
        }
    }
}

/// Which rules are taken as a modern evaluator has them; the rest are Sargon's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules(u8);

impl Rules {
    /// All as Sargon has them.
    pub const SARGON: Self = Self(0);
    /// All as a modern evaluator has them.
    pub const MODERN: Self = Self((1 << Rule::ALL.len()) - 1);

    /// Every choice of rules, those with fewer modern ones first.
    pub fn all() -> impl Iterator<Item = Self> {
        let mut all: Vec<_> = (0..=Self::MODERN.0).map(Self).collect();
        all.sort_by_key(|rules| rules.0.count_ones());
        all.into_iter()
    }

    /// The rules taken as a modern evaluator has them.
    #[must_use]
    pub fn modern(self) -> Vec<Rule> {
        Rule::ALL.into_iter().filter(|rule| self.has(*rule)).collect()
    }

    /// Returns these rules with one more taken as modern.
    #[must_use]
    pub fn with(self, rule: Rule) -> Self {
        Self(self.0 | 1 << rule as u8)
    }

    /// Whether a rule is modern.
    #[must_use]
    pub fn has(self, rule: Rule) -> bool {
        self.0 & (1 << rule as u8) != 0
    }
}

/// A piece and who fights for its square.
pub struct Battle<'a> {
    square: Square,
    piece: Piece,
    pieces: &'a Pieces,
    /// The array with the pins, and without.
    arrays: [AttackersArray; 2],
    barred: BitBoard,
    /// Whether the array's order or room makes a difference by itself.
    filing_matters: bool,
}

impl<'a> Battle<'a> {
    /// The battle for `square`; `None` when it is empty. `pieces` and `pins` are those of
    /// `position`.
    #[must_use]
    pub fn new(
        position: &Position,
        pieces: &'a Pieces,
        pins: &[Pin],
        square: Square,
    ) -> Option<Self> {
        let piece = position.on(square)?;
        let arrays = [pins, &[]].map(|pins| attackers(position, square, pins).array);
        let barred = barred(position, pins, square);
        let mut battle = Self { square, piece, pieces, arrays, barred, filing_matters: false };
        let filed = battle.by_array(Rules::SARGON);
        battle.filing_matters = filed != battle.by_board(Rules::SARGON.with(Rule::Filing));
        Some(battle)
    }

    /// Whether anybody attacks the piece.
    #[must_use]
    pub fn is_attacked(&self) -> bool {
        self.arrays[1].count(self.piece.colour.other()) > 0
    }

    /// Returns the points that the owner of the piece loses under some rules, in Sargon's scale.
    /// `None` where the rules don't go together: the array holds nothing of pieces seen through the
    /// enemy's, nor of pinned guards.
    #[must_use]
    pub fn loss(&self, rules: Rules) -> Option<i32> {
        let not_in_array = rules.has(Rule::XRay) || rules.has(Rule::King);
        match (rules.has(Rule::Filing), not_in_array) {
            (true, _) => Some(self.by_board(rules)),
            (false, false) => Some(self.by_array(rules)),
            // The array holds only the pieces that Sargon files. Rules that bring in others are
            // played from the board, whose order is that of the array only if filing did not change
            // it.
            (false, true) => (!self.filing_matters).then(|| self.by_board(rules)),
        }
    }

    /// The smallest choices of modern rules that make Sargon say what a modern evaluator says; more
    /// than one when each would do.
    #[must_use]
    pub fn reasons(&self) -> Vec<Vec<Rule>> {
        let wanted = self.by_board(Rules::MODERN);
        let mut reasons: Vec<Vec<Rule>> = Vec::new();
        for rules in Rules::all() {
            let chosen = rules.modern();
            // `Rules::all` yields small sets first. Larger ones than the first that explains the
            // difference would hold rules that are not needed for it.
            if reasons.first().is_some_and(|first| first.len() < chosen.len()) {
                break;
            }
            if self.loss(rules) == Some(wanted) {
                reasons.push(chosen);
            }
        }
        reasons
    }

    fn by_array(&self, rules: Rules) -> i32 {
        let array = &self.arrays[usize::from(rules.has(Rule::Pin))];
        let last_rank = matches!(self.square.rank(), 0 | 7);
        self.play(rules, Filed::new(array, self.piece.colour, rules, last_rank))
    }

    fn by_board(&self, rules: Rules) -> i32 {
        let square = boards::square(self.square);
        let owner = boards::side(self.piece.colour);
        self.play(rules, Placed::new(self.pieces, square, owner, rules, self.barred))
    }

    fn play(&self, rules: Rules, mut queue: impl Queue) -> i32 {
        let stake = i32::from(self.piece.kind.value());
        if rules.has(Rule::Stop) {
            minimax(stake, &mut queue)
        } else {
            stop_rule(stake, &mut queue)
        }
    }
}

/// The pieces that pins keep from capturing on a square: a piece pinned once moves along the pin
/// only, one pinned twice not at all.
fn barred(position: &Position, pins: &[Pin], target: Square) -> BitBoard {
    let mut squares = BitBoard::EMPTY;
    for pin in pins {
        let twice = pins.iter().filter(|other| other.square == pin.square).count() > 1;
        let knight = position.on(pin.square).is_some_and(|piece| piece.kind == Kind::Knight);
        if twice || knight || !along(pin, target) {
            squares |= boards::square(pin.square).bitboard();
        }
    }
    squares
}

/// Whether the target lies on the line of a pin.
fn along(pin: &Pin, target: Square) -> bool {
    let files = target.file() as i8 - pin.square.file() as i8;
    let ranks = target.rank() as i8 - pin.square.rank() as i8;
    files * pin.direction.ranks == ranks * pin.direction.files
}
