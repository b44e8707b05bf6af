//! Compares replies of a board with the reference.

use std::borrow::Cow;
use std::fmt;

use firmware_wire::{PointsReply, StepRecord, danger, status};
use serde::{Deserialize, Serialize};

use crate::residues::square_name;
use crate::responses::PositionResponse;
use sargon_corpus::analysis::{Prizes, ScoreAdjustment, exchange_steps};
use sargon_corpus::{DocumentedResult, encode};
use sargon_reference::{
    AttackersArray, Behaviour, Colour, Evaluation, Piece, PieceKind, Position, Square,
    SquareResult, evaluate_as, exchange_as,
};

/// One field in which board and reference, or reference and document, differ.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// The name of the square; `None` for the whole position.
    pub square: Option<String>,
    /// Name of the field.
    pub field: Cow<'static, str>,
    /// Value on the board.
    pub board: String,
    /// Value in the reference.
    pub reference: String,
    /// The attackers arrays of the square, on the board and in the reference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrays: Option<[String; 2]>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { square, field, board, reference, arrays } = self;
        if let Some(square) = square {
            write!(f, "{square}: ")?;
        }
        write!(f, "{field}: board {board}, reference {reference}")?;
        match arrays {
            Some([board, reference]) => write!(f, "; array: board {board}, reference {reference}"),
            None => Ok(()),
        }
    }
}

/// What the replies of a board are compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Criteria {
    /// The behaviour of the reference.
    pub behaviour: Behaviour,
    /// The status bits that are compared: a user's routine need not set all of them.
    pub status_mask: u8,
}

/// The field of a difference between attackers arrays.
const ARRAY: &str = "array";

#[derive(Default)]
struct Differences(Vec<Difference>);

impl Differences {
    fn compare<T: PartialEq + fmt::Display>(
        &mut self,
        square: Option<Square>,
        field: &'static str,
        board: T,
        reference: T,
    ) {
        if board != reference {
            self.0.push(Difference {
                square: square.map(|square| square.to_string()),
                field: Cow::Borrowed(field),
                board: board.to_string(),
                reference: reference.to_string(),
                arrays: None,
            });
        }
    }

    /// Adds both arrays to the differences from `first` on, except to those of arrays.
    fn add_arrays(&mut self, first: usize, board: &AttackersArray, reference: &AttackersArray) {
        for difference in &mut self.0[first..] {
            if difference.field != ARRAY {
                difference.arrays = Some([board.to_string(), reference.to_string()]);
            }
        }
    }
}

/// Returns the expected reply to POINTS.
pub(crate) fn points_reply(prizes: &Prizes, status: u8) -> PointsReply {
    let account = |account: ScoreAdjustment| [account.lost, account.won];
    PointsReply {
        lost: prizes.lost,
        prizes: [prizes.first, prizes.second],
        danger: u8::from(prizes.article_danger) * danger::ARTICLE
            + u8::from(prizes.original_danger) * danger::ORIGINAL,
        article: account(prizes.article()),
        original: account(prizes.original()),
        status,
    }
}

/// Compares a reply to POINTS, without its status.
pub fn compare_points(expected: &Prizes, seen: &PointsReply) -> Vec<Difference> {
    let mut found = Differences::default();
    let expected = points_reply(expected, 0);
    let both = |[a, b]: [u8; 2]| format!("{a} {b}");
    found.compare(None, "highest loss", seen.lost, expected.lost);
    found.compare(None, "prizes", both(seen.prizes), both(expected.prizes));
    found.compare(None, "danger of the piece moved", seen.danger, expected.danger);
    found.compare(None, "the article's account", both(seen.article), both(expected.article));
    found.compare(None, "the program's account", both(seen.original), both(expected.original));
    found.0
}

/// Compares a reply to POINTS with the results for these squares. `mover` has just moved, to the
/// square `moved` if that is known.
pub fn compare_points_reply(
    verdicts: &[SquareResult],
    criteria: Criteria,
    mover: Colour,
    moved: Option<Square>,
    seen: &PointsReply,
) -> Vec<Difference> {
    let residues = verdicts.iter().map(|v| (v.square, v.piece, v.outcome.residue));
    let mut found = Differences(compare_points(&Prizes::gather(mover, moved, residues), seen));
    let status = all_statuses(verdicts) & criteria.status_mask;
    found.compare(None, "status of all squares", seen.status & criteria.status_mask, status);
    found.0
}

/// Compares a reply to TRACE: the steps of an exchange, and `outcome`, its residue and status.
pub fn compare_steps(
    piece: Piece,
    array: &AttackersArray,
    criteria: Criteria,
    outcome: (u8, u8),
    steps: &[StepRecord],
) -> Vec<Difference> {
    let order = |colour| array.in_order(colour);
    let expected =
        exchange_steps(piece.kind.value(), &order(piece.colour.other()), &order(piece.colour));
    let expected: Vec<_> = expected.iter().map(encode::step).collect();
    let mut found = Differences(compare_exchange(piece, array, criteria, None, outcome));
    found.compare(None, "steps", format!("{steps:?}"), format!("{expected:?}"));
    found.0
}

/// Compares a reply to POSITION: royal squares, pins, and piece, array, residue and status of every
/// occupied square. `expected` are the residues in a document, for this behaviour.
pub fn compare_position(
    position: &Position,
    Criteria { behaviour, status_mask }: Criteria,
    expected: &[(Square, u8)],
    seen: &PositionResponse,
) -> Vec<Difference> {
    let Evaluation { squares: verdicts, final_pin_list, .. } = evaluate_as(position, behaviour);
    let mut found = Differences::default();
    let pins = seen.end.pins.iter().map(|pin| (pin.square, pin.step));
    found.compare(None, "pins", show_pins(pins), show_pins(final_pin_list.into_iter()));
    found.compare(None, "royal squares", show(&seen.end.royals), show(&royals(position)));
    found.compare(None, "occupied squares", seen.squares.len(), verdicts.len());
    for (record, verdict) in seen.squares.iter().zip(&verdicts) {
        let at = Some(verdict.square);
        let first = found.0.len();
        found.compare(at, "square", record.square, encode::square(verdict.square));
        found.compare(at, "piece", record.piece, encode::piece(verdict.piece));
        let array = AttackersArray::from_bytes(&record.array);
        found.compare(at, ARRAY, array.to_string(), verdict.array.to_string());
        found.compare(at, "residue", record.residue, verdict.outcome.residue);
        found.compare(at, "status", record.status & status_mask, status_of(verdict) & status_mask);
        let max = verdict.piece.kind.value();
        if behaviour == Behaviour::Corrected && record.residue > max {
            found.compare(at, "most it can lose", record.residue, max);
        }
        found.add_arrays(first, &array, &verdict.array);
    }
    let all = all_statuses(&verdicts) & status_mask;
    found.compare(None, "status of all squares", seen.end.status & status_mask, all);
    for (square, points) in expected {
        let stated = verdicts.iter().find(|verdict| verdict.square == *square);
        let residue = stated.map_or(0, |verdict| verdict.outcome.residue);
        found.compare(Some(*square), "residue by the document", residue, *points);
    }
    found.0
}

/// Compares a reply to EXCHANGE: residue and status. `stated` is the result in a document, for this
/// behaviour.
pub fn compare_exchange(
    piece: Piece,
    array: &AttackersArray,
    criteria: Criteria,
    stated: Option<DocumentedResult>,
    (residue, status_bits): (u8, u8),
) -> Vec<Difference> {
    let outcome = exchange_as(piece, array, criteria.behaviour);
    let short = if outcome.short { status::SHORT } else { 0 };
    let mut found = Differences::default();
    found.compare(None, "residue", residue, outcome.residue);
    found.compare(None, "status", status_bits & criteria.status_mask, short & criteria.status_mask);
    if let Some(stated) = stated {
        found.compare(None, "residue by the document", outcome.residue, stated.residue);
        found.compare(None, "shortness by the document", outcome.short, stated.short);
    }
    found.add_arrays(0, array, array);
    found.0
}

pub(crate) fn status_of(verdict: &SquareResult) -> u8 {
    let overflow = if verdict.overflow { status::OVERFLOW } else { 0 };
    overflow | if verdict.outcome.short { status::SHORT } else { 0 }
}

pub(crate) fn all_statuses(verdicts: &[SquareResult]) -> u8 {
    verdicts.iter().map(status_of).fold(0, |all, one| all | one)
}

pub(crate) fn royals(position: &Position) -> [u8; 4] {
    use sargon_reference::Colour::{Black, White};
    let pieces = [
        (White, PieceKind::King),
        (Black, PieceKind::King),
        (White, PieceKind::Queen),
        (Black, PieceKind::Queen),
    ];
    pieces.map(|(colour, kind)| position.royal(colour, kind).map_or(0, encode::square))
}

fn show_pins(pins: impl Iterator<Item = (u8, i8)>) -> String {
    let pins: Vec<_> =
        pins.map(|(square, step)| format!("{}{step:+}", square_name(square))).collect();
    if pins.is_empty() { "none".to_owned() } else { pins.join(" ") }
}

fn show(squares: &[u8; 4]) -> String {
    let name = |number: &u8| if *number == 0 { "-".to_owned() } else { square_name(*number) };
    squares.iter().map(name).collect::<Vec<_>>().join(" ")
}
