//! The exchange on one square as pieces with their squares, and its steps.

use firmware_wire::StepRecord;
use sargon_corpus::analysis::{
    ArrayCapturers, ExchangeSide, ExchangeStep, StepAction, array_capturers, capturer_kinds,
    capturing_pieces, exchange_steps,
};
use sargon_reference::{AttackersArray, Capturer, Colour, Piece, Pin, Position, Square};
use serde::Serialize;

#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CapturerView {
    piece: char,
    value: u8,
    square: Option<String>,
    pinned: bool,
    xray: bool,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StepFacts {
    side: &'static str,
    action: &'static str,
    text: String,
    piece: char,
    from: Option<String>,
    to: String,
    captured: char,
    stake: u8,
    attacker: u8,
    defender: Option<u8>,
    balance: i16,
    board: Option<BoardStep>,
}

#[derive(Debug, Serialize)]
struct BoardStep {
    stake: u8,
    attacker: u8,
    defender: Option<u8>,
    balance: i16,
}

impl From<&StepRecord> for BoardStep {
    fn from(record: &StepRecord) -> Self {
        let StepRecord { stake, attacker, defender, residue, .. } = *record;
        let defender = (defender != 0).then_some(defender);
        Self { stake, attacker, defender, balance: i16::from(residue as i8) }
    }
}

#[cfg(test)]
impl StepFacts {
    /// Whether the board's step is the same.
    pub(crate) fn board_agrees(&self) -> bool {
        let own = (self.stake, self.attacker, self.defender, self.balance);
        let same = |it: &BoardStep| (it.stake, it.attacker, it.defender, it.balance) == own;
        self.board.as_ref().is_some_and(same)
    }
}

/// Both sides of an exchange.
pub(crate) struct Exchange {
    square: Square,
    piece: Piece,
    pub(crate) attackers: Vec<CapturerView>,
    pub(crate) defenders: Vec<CapturerView>,
    pub(crate) barred: Vec<CapturerView>,
    steps: Vec<ExchangeStep>,
}

impl Exchange {
    /// The exchange for the piece on a square by the article's rule, with the pieces of this array.
    pub(crate) fn new(
        position: &Position,
        square: Square,
        piece: Piece,
        array: &AttackersArray,
        pins: &[Pin],
    ) -> Self {
        let found = array_capturers(position, square, pins);
        let [attackers, defenders] =
            [piece.colour.other(), piece.colour].map(|colour| side(array, colour, &found));
        let values = |side: &[CapturerView]| side.iter().map(|it| it.value).collect::<Vec<_>>();
        let steps = exchange_steps(piece.kind.value(), &values(&attackers), &values(&defenders));
        let barred = found.barred.iter().map(CapturerView::from).collect();
        Self { square, piece, attackers, defenders, barred, steps }
    }

    /// The steps, each with the board's own of the same number.
    pub(crate) fn steps(&self, board: &[StepRecord]) -> Vec<StepFacts> {
        let mut stands = self.piece.letter();
        let capturing_pieces = capturing_pieces(&self.steps);
        let mut facts = Vec::new();
        for (number, (step, taker)) in self.steps.iter().zip(capturing_pieces).enumerate() {
            let by_owner = step.party == ExchangeSide::Defenders;
            let side = if by_owner { &self.defenders } else { &self.attackers };
            let Some(capturer) = side.get(taker) else { break };
            let board = board.get(number).map(BoardStep::from);
            facts.push(self.fact(step, capturer, stands, board));
            if matches!(step.action, StepAction::Takes | StepAction::TakesLast) {
                stands = capturer.piece;
            }
        }
        facts
    }

    fn fact(
        &self,
        step: &ExchangeStep,
        capturer: &CapturerView,
        captured: char,
        board: Option<BoardStep>,
    ) -> StepFacts {
        let colour = match step.party {
            ExchangeSide::Attackers => self.piece.colour.other(),
            ExchangeSide::Defenders => self.piece.colour,
        };
        let (action, words) = action(step.action);
        let name = Piece::from_letter(capturer.piece).map_or("piece", kind_name);
        StepFacts {
            side: side_name(colour),
            action,
            text: format!("{}'s {name} {words}", title(colour)),
            piece: capturer.piece,
            from: capturer.square.clone(),
            to: self.square.to_string(),
            captured,
            stake: step.stake,
            attacker: step.attacker,
            defender: step.defender,
            balance: step.residue,
            board,
        }
    }
}

impl From<&Capturer> for CapturerView {
    fn from(capturer: &Capturer) -> Self {
        Self {
            piece: capturer.piece.letter(),
            value: capturer.piece.kind.value(),
            square: Some(capturer.square.to_string()),
            pinned: capturer.is_pinned,
            xray: capturer.is_behind,
        }
    }
}

/// A side's entries of an array. In the original it may hold other pieces than the rules put there,
/// in another order: an entry then stands for the first piece of its kind that is left.
fn side(array: &AttackersArray, colour: Colour, found: &ArrayCapturers) -> Vec<CapturerView> {
    let mut left: Vec<&Capturer> = found.in_order(colour).collect();
    let others = found.barred.iter().chain(&found.left_out);
    left.extend(others.filter(|capturer| capturer.piece.colour == colour));
    let values = array.in_order(colour);
    let is_ordered = values.len() <= left.len()
        && values.iter().zip(&left).all(|(value, it)| *value == it.piece.kind.value());
    if is_ordered {
        return left[..values.len()].iter().map(|capturer| CapturerView::from(*capturer)).collect();
    }
    let entries = capturer_kinds(array, colour).into_iter().map(|kind| {
        let piece = Piece { colour, kind };
        match left.iter().position(|capturer| capturer.piece == piece) {
            Some(at) => CapturerView::from(left.remove(at)),
            None => CapturerView {
                piece: piece.letter(),
                value: kind.value(),
                square: None,
                pinned: false,
                xray: false,
            },
        }
    });
    entries.collect()
}

fn action(action: StepAction) -> (&'static str, &'static str) {
    match action {
        StepAction::Takes => ("takes", "takes"),
        StepAction::TakesLast => ("takes-last", "takes, no recapture"),
        StepAction::NeedsHelp => ("needs-help", "calls for help"),
        StepAction::HasNoHelp => ("has-no-help", "has no help: stops"),
        StepAction::Stops => ("stops", "stops: cheaper guard"),
    }
}

fn side_name(colour: Colour) -> &'static str {
    if colour == Colour::White { "white" } else { "black" }
}

fn title(colour: Colour) -> &'static str {
    if colour == Colour::White { "White" } else { "Black" }
}

fn kind_name(piece: Piece) -> &'static str {
    ["pawn", "knight", "bishop", "rook", "queen", "king"][piece.kind as usize]
}

#[cfg(test)]
mod tests {
    use sargon_reference::{attackers, find_pins, parse_fen};

    use super::*;

    fn exchange(fen: &str, square: &str) -> Exchange {
        let position = parse_fen(fen).expect("a position");
        let square = Square::named(square).expect("a square");
        let pins = find_pins(&position);
        let piece = position.on(square).expect("a piece");
        let array = attackers(&position, square, &pins).array;
        Exchange::new(&position, square, piece, &array, &pins)
    }

    #[test]
    fn the_steps_of_figure_4_have_their_squares() {
        // The article's example: Black loses a point on e4.
        let found = exchange("6k1/4q3/8/3p4/4n3/2N5/3N2B1/6K1 w - -", "e4");
        let steps = found.steps(&[]);
        let told: Vec<_> = steps
            .iter()
            .map(|it| (it.action, it.from.as_deref().unwrap_or("?"), it.captured, it.balance))
            .collect();
        let (first, second) = (told[0].1, told[2].1);
        assert_eq!(
            [told[0].0, told[1].0, told[2].0, told[3].0],
            ["takes", "takes", "needs-help", "takes-last"]
        );
        assert_eq!((told[0].2, told[0].3), ('n', 3));
        assert_eq!((told[1].1, told[1].2, told[1].3), ("d5", 'N', 0));
        assert!(["c3", "d2"].contains(&first) && ["c3", "d2"].contains(&second) && first != second);
        assert_eq!((told[3].1, told[3].2, told[3].3), ("g2", 'p', 1));
    }

    #[test]
    fn pinned_pieces_stand_apart_and_those_behind_others_are_marked() {
        let found = exchange("3rk3/8/8/3p4/8/8/3R4/3RK3 w - -", "d5");
        let told: Vec<_> =
            found.attackers.iter().map(|it| (it.square.clone().expect("known"), it.xray)).collect();
        assert_eq!(told, [("d2".to_owned(), false), ("d1".to_owned(), true)]);
        let held = exchange("4r1k1/8/8/8/5p2/8/4N3/4K3 w - -", "f4");
        assert!(held.attackers.is_empty());
        let barred: Vec<_> = held.barred.iter().map(|it| it.square.as_deref()).collect();
        assert_eq!(barred, [Some("e2")]);
    }
}
