//! The exchange on a square, by host and board, and the values of pieces for it.

use firmware_wire::StepRecord;
use sargon_reference::{AttackersArray, Piece, PieceKind, Pin, Position, Square};

use super::follow::ObservedCalls;

/// The value of each kind of piece, in numbers that fit the attackers array.
#[derive(Clone, Copy)]
pub(super) struct PointValues([u8; 6]);

impl std::str::FromStr for PointValues {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers: Option<Vec<u8>> = (text.split(','))
            .map(|number| number.trim().parse::<u8>().ok().filter(|value| (1..=15).contains(value)))
            .collect();
        let six = numbers.and_then(|numbers| numbers.try_into().ok());
        six.map(Self).ok_or_else(|| {
            format!(
                "invalid values '{text}': expected six numbers from 1 to 15, as in 1,3,3,5,9,10"
            )
        })
    }
}

impl PointValues {
    pub(super) fn of(self, kind: PieceKind) -> u8 {
        self.0[kind as usize]
    }
}

/// The exchange on a square, by host and board.
pub(super) struct Explanation {
    pub(super) position: Position,
    pub(super) square: Square,
    pub(super) piece: Piece,
    pub(super) values: PointValues,
    pub(super) pins: Vec<Pin>,
    pub(super) host: ExchangeSteps,
    pub(super) board: ExchangeSteps,
    /// XCHNG's own residue on the board, for the same values.
    pub(super) xchng: u8,
    /// Calls of NEXTAD by XCHNG, if the board can be observed.
    pub(super) followed: Option<ObservedCalls>,
}

/// The array and the steps of the exchange, by host or board.
pub(super) struct ExchangeSteps {
    /// The attackers array, with Sargon's values.
    pub(super) array: AttackersArray,
    pub(super) steps: Vec<StepRecord>,
}

impl ExchangeSteps {
    pub(super) fn residue(&self) -> u8 {
        self.steps.last().map_or(0, |step| step.residue)
    }
}
