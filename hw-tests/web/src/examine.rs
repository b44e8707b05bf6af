//! A position by the Z80 code, which runs on the simulated board, and by the host's evaluators.

use firmware::evaluator::Behaviour;
use firmware_wire::{SquareRecord, StepRecord, status};
use rcflash_link::LinkError;
use sargon_corpus::analysis::{EvaluatorDiff, compare_evaluators};
use sargon_corpus::encode;
use sargon_reference::{
    AttackersArray, Colour, Direction, Evaluation, Piece, Pin, Position, Square, SquareResult,
    evaluate_as, parse_fen,
};
use sargon_suite::SargonBoard;
use serde::Serialize;

use crate::board::{Boards, EvaluatorSources};
use crate::error::PageError;
use crate::exchange::{CapturerView, Exchange, StepFacts};
use crate::fault::Fault;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExamineReply {
    fen: String,
    behaviour: String,
    pins: Vec<PinFacts>,
    squares: Vec<SquareFacts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    board_error: Option<String>,
    t_states: u64,
}

#[derive(Debug, Serialize)]
struct PinFacts {
    square: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
    direction: &'static str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct SquareFacts {
    square: String,
    piece: char,
    value: u8,
    attackers: Vec<CapturerView>,
    defenders: Vec<CapturerView>,
    barred: Vec<CapturerView>,
    array: Arrays,
    residue: Residues,
    agrees: bool,
    overflow: bool,
    short: bool,
    steps: Vec<StepFacts>,
    reason: String,
    fault: Option<Fault>,
    t_states: Option<u64>,
}

#[derive(Debug, Serialize)]
struct Arrays {
    board: Option<[u8; 14]>,
    reference: [u8; 14],
}

/// Points that the owner loses, by each evaluator.
#[derive(Debug, Serialize)]
struct Residues {
    board: Option<u8>,
    reference: u8,
    minimax: Option<i32>,
    swap: Option<i32>,
}

/// A question about a position.
pub(crate) struct ExamineRequest<'a> {
    pub(crate) fen: &'a str,
    pub(crate) evaluator: &'a EvaluatorSources,
    pub(crate) square: Option<&'a str>,
}

/// The findings of the board on a position.
#[derive(Default)]
struct BoardObservation {
    squares: Vec<(SquareRecord, Option<u64>)>,
    /// The steps of exchanges by square.
    steps: Vec<(u8, Vec<StepRecord>)>,
    error: Option<String>,
}

pub(crate) fn examine(
    boards: &mut Boards,
    question: &ExamineRequest<'_>,
) -> Result<ExamineReply, PageError> {
    let full = chess_rules::Position::from_fen(question.fen.trim())?;
    let position = parse_fen(question.fen.trim()).map_err(|error| PageError {
        column: u32::try_from(error.column).ok(),
        ..PageError::new(&error)
    })?;
    let wanted = question.square.map(|name| square(&position, name)).transpose()?;
    let evaluator = question.evaluator;
    let found = evaluate_as(&position, encode::behaviour(evaluator.behaviour));
    let live = boards.with(evaluator)?;
    let seen = BoardObservation::by(live, &position, wanted);
    if seen.error.is_some() {
        boards.forget(evaluator);
    }
    let compared = compare_evaluators(&position);
    let is_wanted = |verdict: &&SquareResult| wanted.is_none_or(|square| square == verdict.square);
    let verdicts = found.squares.iter().filter(is_wanted);
    let facts = verdicts
        .map(|verdict| facts(&position, &found, verdict, &seen, &compared, evaluator.behaviour));
    let squares: Vec<SquareFacts> = facts.collect();
    Ok(ExamineReply {
        fen: full.to_string(),
        behaviour: evaluator.behaviour.to_string(),
        pins: found.pins.iter().map(|pin| pin_facts(&position, pin)).collect(),
        t_states: seen.squares.iter().filter_map(|(_, t_states)| *t_states).sum(),
        squares,
        board_error: seen.error,
    })
}

/// The occupied square of a name.
pub(crate) fn square(position: &Position, name: &str) -> Result<Square, PageError> {
    let square = Square::named(name)
        .ok_or_else(|| PageError::new(format!("invalid square '{name}': expected a1 to h8")))?;
    match position.on(square) {
        Some(_) => Ok(square),
        None => Err(PageError::new(format!("{square} is empty: nothing can be lost there"))),
    }
}

impl BoardObservation {
    /// Requests the position and the steps of each exchange from the board.
    fn by(live: &mut SargonBoard, position: &Position, wanted: Option<Square>) -> Self {
        let mut seen = Self::default();
        if let Err(error) = seen.observe(live, position, wanted) {
            seen.error = Some(format!("{error}; {}", live.live.describe_program_counter()));
        }
        seen
    }

    fn observe(
        &mut self,
        live: &mut SargonBoard,
        position: &Position,
        wanted: Option<Square>,
    ) -> Result<(), LinkError> {
        let observation = live.request_position(position)?;
        let mut times = observation.t_states.into_iter().flatten();
        let records = observation.squares.into_iter();
        self.squares = records.map(|record| (record, times.next())).collect();
        for (record, _) in &self.squares {
            let square = encode::decode_square(record.square);
            let is_wanted = wanted.is_none() || wanted == square;
            let piece = encode::decode_piece(record.piece).filter(|_| is_wanted);
            let array = AttackersArray::from_bytes(&record.array);
            if let Some(piece) = piece.filter(|piece| may_be_played(piece, &array)) {
                let (_, _, steps) = live.request_trace(piece, piece.kind.value(), &array)?;
                self.steps.push((record.square, steps));
            }
        }
        Ok(())
    }

    fn record(&self, square: Square) -> Option<&(SquareRecord, Option<u64>)> {
        self.squares.iter().find(|(record, _)| record.square == encode::square(square))
    }

    fn steps(&self, square: Square) -> &[StepRecord] {
        let number = encode::square(square);
        let steps = self.steps.iter().find(|(at, _)| *at == number);
        steps.map_or(&[], |(_, steps)| steps)
    }
}

/// Returns `true` if there is an attacker and the counts of the array are those of its
/// pieces. In the original it may promise more, and the exchange runs on into other memory then.
fn may_be_played(piece: &Piece, array: &AttackersArray) -> bool {
    let holds = |colour| array.in_order(colour).len() >= usize::from(array.count(colour));
    array.count(piece.colour.other()) > 0 && holds(Colour::White) && holds(Colour::Black)
}

fn facts(
    position: &Position,
    found: &Evaluation,
    verdict: &SquareResult,
    seen: &BoardObservation,
    compared: &[EvaluatorDiff],
    behaviour: Behaviour,
) -> SquareFacts {
    let SquareResult { square, piece, array, overflow, outcome, .. } = verdict;
    let record = seen.record(*square);
    let there = record.map(|(record, _)| *record);
    let exchange = Exchange::new(position, *square, *piece, array, &found.pins);
    let steps =
        if may_be_played(piece, array) { exchange.steps(seen.steps(*square)) } else { Vec::new() };
    let comparison = compared.iter().find(|one| one.square == *square);
    let status = there.map(|record| record.status);
    let has = |bit: u8| status.map(|status| status & bit != 0);
    SquareFacts {
        square: square.to_string(),
        piece: piece.letter(),
        value: piece.kind.value(),
        array: Arrays { board: there.map(|record| record.array), reference: array.to_bytes() },
        residue: Residues {
            board: there.map(|record| record.residue),
            reference: outcome.residue,
            minimax: comparison.map(|one| one.minimax),
            swap: comparison.map(|one| one.swap),
        },
        agrees: there.is_some_and(|record| {
            record.array == array.to_bytes() && record.residue == outcome.residue
        }),
        overflow: has(status::OVERFLOW).unwrap_or(*overflow),
        short: has(status::SHORT).unwrap_or(outcome.short),
        steps,
        reason: comparison.map(EvaluatorDiff::reason).unwrap_or_default(),
        fault: Fault::of(verdict, behaviour),
        t_states: record.and_then(|(_, t_states)| *t_states),
        attackers: exchange.attackers,
        defenders: exchange.defenders,
        barred: exchange.barred,
    }
}

fn pin_facts(position: &Position, pin: &Pin) -> PinFacts {
    let mut squares =
        std::iter::successors(pin.square.step(pin.direction), |square| square.step(pin.direction));
    let by = squares.find(|square| position.on(*square).is_some());
    PinFacts {
        square: pin.square.to_string(),
        by: by.map(|square| square.to_string()),
        direction: compass(pin.direction),
    }
}

/// A direction as on a map with White below.
fn compass(direction: Direction) -> &'static str {
    match (direction.files.signum(), direction.ranks.signum()) {
        (0, 1) => "n",
        (1, 1) => "ne",
        (1, 0) => "e",
        (1, -1) => "se",
        (0, -1) => "s",
        (-1, -1) => "sw",
        (-1, 0) => "w",
        (-1, 1) => "nw",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(fen: &str, behaviour: Behaviour) -> ExamineReply {
        let evaluator = EvaluatorSources { behaviour, files: Vec::new() };
        let question = ExamineRequest { fen, evaluator: &evaluator, square: None };
        examine(&mut Boards::default(), &question).expect("a board answers")
    }

    #[test]
    fn board_and_reference_agree_on_the_article_s_example_in_every_behaviour() {
        for behaviour in Behaviour::ALL {
            let found = findings("6k1/4q3/8/3p4/4n3/2N5/3N2B1/6K1 w - -", behaviour);
            assert_eq!(found.board_error, None);
            assert!(found.squares.iter().all(|square| square.agrees), "{behaviour}");
            let e4 = found.squares.iter().find(|square| square.square == "e4").expect("occupied");
            assert_eq!(e4.residue.board, Some(1));
            assert!(e4.t_states.is_some_and(|t_states| t_states > 1000));
            assert_eq!(e4.steps.len(), 4);
            assert!(e4.steps.iter().all(StepFacts::board_agrees), "{:?}", e4.steps);
        }
    }

    #[test]
    fn a_pin_names_the_pinning_piece() {
        let found = findings("4r1k1/8/8/8/5p2/8/4N3/4K3 w - -", Behaviour::Corrected);
        let pin = &found.pins[0];
        assert_eq!(
            (pin.square.as_str(), pin.by.as_deref(), pin.direction),
            ("e2", Some("e8"), "n")
        );
    }

    #[test]
    fn an_unknown_request_is_refused() {
        let evaluator = EvaluatorSources { behaviour: Behaviour::Corrected, files: Vec::new() };
        let mut boards = Boards::default();
        for (fen, square) in
            [("4k3/8/8/8/8/8/8/4K3 w - -", "e4"), ("4k3/8/8/8/8/8/8/4K3 w - -", "z9"), ("x", "e1")]
        {
            let question = ExamineRequest { fen, evaluator: &evaluator, square: Some(square) };
            assert!(examine(&mut boards, &question).is_err(), "{fen} {square}");
        }
    }
}
