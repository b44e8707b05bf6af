//! The captures on a square in the order in which they are played, by Sargon's rules and by modern
//! ones.

use sargon_reference::{Pin, Position, Square};

use super::capturers::array_capturers;
use super::convert;
use super::exchange_rules::SquareExchange;
use super::trace::{ExchangeSide, StepAction, capturing_pieces, exchange_steps};

/// The captures of an exchange.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExchangeLine {
    /// The squares from which pieces capture, each with the points that the owner of the square has
    /// lost after it.
    pub captures: Vec<(Square, i32)>,
    /// The square of the piece that could capture next and does not.
    pub declined: Option<Square>,
    /// The squares of pieces that Sargon leaves out: pinned, or without room in the array.
    pub left_out: Vec<Square>,
}

impl ExchangeLine {
    /// Returns the points that the owner of the square loses.
    pub fn loss(&self) -> i32 {
        self.captures.last().map_or(0, |(_, lost)| *lost)
    }

    /// Returns the exchange for the piece on a square as XCHNG plays it; empty on an empty square.
    pub fn by_sargon(position: &Position, pins: &[Pin], square: Square) -> Self {
        let Some(piece) = position.on(square) else { return Self::default() };
        let found = array_capturers(position, square, pins);
        let [attackers, defenders] = [piece.colour.other(), piece.colour]
            .map(|colour| found.in_order(colour).copied().collect::<Vec<_>>());
        let [attack, defence] = [&attackers, &defenders]
            .map(|side| side.iter().map(|one| one.piece.kind.value()).collect::<Vec<_>>());
        let steps = exchange_steps(piece.kind.value(), &attack, &defence);
        let left_out = found.barred.iter().chain(&found.left_out).map(|one| one.square).collect();
        let mut line = Self { left_out, ..Self::default() };
        for (step, index) in steps.iter().zip(capturing_pieces(&steps)) {
            let side = if step.party == ExchangeSide::Attackers { &attackers } else { &defenders };
            let Some(capturer) = side.get(index) else { break };
            match step.action {
                StepAction::Takes | StepAction::TakesLast => {
                    line.captures.push((capturer.square, step.residue.into()));
                }
                StepAction::NeedsHelp => {}
                StepAction::HasNoHelp | StepAction::Stops => line.declined = Some(capturer.square),
            }
        }
        line
    }

    /// Returns the exchange as the swap algorithm has it: the least valuable piece captures as long
    /// as that is better than stopping.
    pub fn by_swap(exchange: &SquareExchange<'_>) -> Self {
        let gains = exchange.modern_gains();
        // What each capture is worth if both sides then play on in the best way.
        let mut worth = vec![0; gains.len() + 1];
        for (at, (_, gain)) in gains.iter().enumerate().rev() {
            worth[at] = (gain - worth[at + 1]).max(0);
        }
        let mut line = Self::default();
        for (at, (from, gain)) in gains.iter().enumerate() {
            let from = convert::reference_square(*from);
            if worth[at] == 0 {
                line.declined = from;
                break;
            }
            let lost = line.loss() + if at % 2 == 0 { *gain } else { -gain };
            line.captures.extend(from.map(|from| (from, lost)));
        }
        line
    }
}
