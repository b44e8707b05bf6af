//! The board's word against the reference's.

use std::borrow::Cow;
use std::fmt;

use firmware_wire::{PointsReply, StepRecord, danger, status};
use serde::{Deserialize, Serialize};

use crate::answers::Observation;
use sargon_analysis::{Account, Prizes, trace};
use sargon_corpus::Stated;
use sargon_corpus::encode;
use sargon_reference::{
    AttackersArray, Behaviour, Colour, Examination, Kind, Piece, Position, Square, Verdict,
    examine_as, exchange_as,
};

/// Something in which board and reference, or reference and document, differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// The square; `None` for the whole position.
    #[serde(with = "square_name")]
    pub square: Option<Square>,
    /// The event.
    pub what: Cow<'static, str>,
    /// The first side's word.
    pub board: String,
    /// The other's.
    pub reference: String,
    /// The attackers arrays of the square, the board's and the reference's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrays: Option<[String; 2]>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { square, what, board, reference, arrays } = self;
        if let Some(square) = square {
            write!(f, "{square}: ")?;
        }
        write!(f, "{what}: board {board}, reference {reference}")?;
        match arrays {
            Some([there, here]) => write!(f, "; array: board {there}, reference {here}"),
            None => Ok(()),
        }
    }
}

/// Squares as their names, for serde.
pub(crate) mod square_name {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    use sargon_reference::Square;

    pub(crate) fn serialize<S: Serializer>(at: &Option<Square>, to: S) -> Result<S::Ok, S::Error> {
        at.map(|square| square.to_string()).serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Square>, D::Error> {
        let Some(name) = Option::<String>::deserialize(from)? else { return Ok(None) };
        Square::named(&name)
            .map(Some)
            .ok_or_else(|| D::Error::custom(format!("'{name}' is no square")))
    }
}

/// The standard that the board's replies are held against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standard {
    /// Behaviour of the reference.
    pub behaviour: Behaviour,
    /// The status bits that count: a routine of the user's own need not set those of ours.
    pub status: u8,
}

/// The name of the difference in an attackers array.
const ARRAY: &str = "array";

/// Collects differences.
#[derive(Default)]
struct Differences(Vec<Difference>);

impl Differences {
    fn check<T: PartialEq + fmt::Display>(
        &mut self,
        square: Option<Square>,
        what: &'static str,
        board: T,
        reference: T,
    ) {
        if board != reference {
            let board = board.to_string();
            let reference = reference.to_string();
            let what = Cow::Borrowed(what);
            self.0.push(Difference { square, what, board, reference, arrays: None });
        }
    }

    /// Shows both arrays beside the differences found since there were `before`, but those of the
    /// arrays themselves.
    fn show_arrays(&mut self, before: usize, board: &AttackersArray, reference: &AttackersArray) {
        for difference in &mut self.0[before..] {
            if difference.what != ARRAY {
                difference.arrays = Some([board.to_string(), reference.to_string()]);
            }
        }
    }
}

/// Compares what was made of a position's residues.
#[must_use]
pub fn compare_points(expected: &Prizes, seen: &PointsReply) -> Vec<Difference> {
    let mut found = Differences::default();
    let both = |[a, b]: [u8; 2]| format!("{a} {b}");
    let account = |account: Account| [account.lost, account.won];
    let danger = u8::from(expected.article_danger) * danger::ARTICLE
        + u8::from(expected.book_danger) * danger::BOOK;
    found.check(None, "highest loss", seen.lost, expected.lost);
    found.check(None, "prizes", both(seen.prizes), both([expected.first, expected.second]));
    found.check(None, "danger of the piece moved", seen.danger, danger);
    let article = both(account(expected.article()));
    found.check(None, "the article's account", both(seen.article), article);
    found.check(None, "the program's account", both(seen.book), both(account(expected.book())));
    found.0
}

/// Compares what was made of the residues of these squares, statuses included; `mover` has just
/// moved, to the square `moved` if that is known.
#[must_use]
pub fn compare_verdicts(
    verdicts: &[Verdict],
    standard: Standard,
    mover: Colour,
    moved: Option<Square>,
    seen: &PointsReply,
) -> Vec<Difference> {
    let residues = verdicts.iter().map(|v| (v.square, v.piece, v.outcome.residue));
    let mut found = Differences(compare_points(&Prizes::gather(mover, moved, residues), seen));
    let status = all_statuses(verdicts) & standard.status;
    found.check(None, "status of all squares", seen.status & standard.status, status);
    found.0
}

/// Compares an exchange step by step, as the board's TRACE plays it, and the residue and status of
/// XCHNG that come with it.
#[must_use]
pub fn compare_steps(
    piece: Piece,
    array: &AttackersArray,
    standard: Standard,
    outcome: (u8, u8),
    steps: &[StepRecord],
) -> Vec<Difference> {
    let order = |colour| array.in_order(colour);
    let expected = trace(piece.kind.value(), &order(piece.colour.other()), &order(piece.colour));
    let expected: Vec<_> = expected.iter().map(encode::step).collect();
    let mut found = Differences(compare_exchange(piece, array, standard, None, outcome));
    found.check(None, "steps", format!("{steps:?}"), format!("{expected:?}"));
    found.0
}

/// Compares a whole position: royal squares, pins, and for every occupied square piece, array,
/// residue and status. `expected` are the residues that a document gives for this behaviour.
#[must_use]
pub fn compare_position(
    position: &Position,
    Standard { behaviour, status }: Standard,
    expected: &[(Square, u8)],
    seen: &Observation,
) -> Vec<Difference> {
    let Examination { verdicts, pins_left, .. } = examine_as(position, behaviour);
    let mut found = Differences::default();
    let pins: Vec<_> = seen.end.pins.iter().map(|pin| (pin.square, pin.step)).collect();
    found.check(None, "pins", show_pins(&pins), show_pins(&pins_left));
    found.check(None, "royal squares", show(&seen.end.royals), show(&royals(position)));
    found.check(None, "occupied squares", seen.squares.len(), verdicts.len());
    for (record, verdict) in seen.squares.iter().zip(&verdicts) {
        let at = Some(verdict.square);
        let before = found.0.len();
        found.check(at, "square", record.square, encode::square(verdict.square));
        found.check(at, "piece", record.piece, encode::piece(verdict.piece));
        let array = AttackersArray::from_bytes(&record.array);
        found.check(at, ARRAY, array.to_string(), verdict.array.to_string());
        found.check(at, "residue", record.residue, verdict.outcome.residue);
        found.check(at, "status", record.status & status, status_of(verdict) & status);
        let most = verdict.piece.kind.value();
        if behaviour == Behaviour::Mended && record.residue > most {
            found.check(at, "most it can lose", record.residue, most);
        }
        found.show_arrays(before, &array, &verdict.array);
    }
    let all = all_statuses(&verdicts) & status;
    found.check(None, "status of all squares", seen.end.status & status, all);
    for (square, points) in expected {
        let stated = verdicts.iter().find(|verdict| verdict.square == *square);
        let residue = stated.map_or(0, |verdict| verdict.outcome.residue);
        found.check(Some(*square), "residue by the document", residue, *points);
    }
    found.0
}

/// Compares one exchange. `stated` is what a document says of it for this behaviour.
#[must_use]
pub fn compare_exchange(
    piece: Piece,
    array: &AttackersArray,
    standard: Standard,
    stated: Option<Stated>,
    (residue, status_bits): (u8, u8),
) -> Vec<Difference> {
    let outcome = exchange_as(piece, array, standard.behaviour);
    let short = if outcome.short { status::SHORT } else { 0 };
    let mut found = Differences::default();
    found.check(None, "residue", residue, outcome.residue);
    found.check(None, "status", status_bits & standard.status, short & standard.status);
    if let Some(stated) = stated {
        found.check(None, "residue by the document", outcome.residue, stated.residue);
        found.check(None, "shortness by the document", outcome.short, stated.short);
    }
    found.show_arrays(0, array, array);
    found.0
}

pub(crate) fn status_of(verdict: &Verdict) -> u8 {
    let overflow = if verdict.overflow { status::OVERFLOW } else { 0 };
    overflow | if verdict.outcome.short { status::SHORT } else { 0 }
}

pub(crate) fn all_statuses(verdicts: &[Verdict]) -> u8 {
    verdicts.iter().map(status_of).fold(0, |all, one| all | one)
}

pub(crate) fn royals(position: &Position) -> [u8; 4] {
    use sargon_reference::Colour::{Black, White};
    let pieces =
        [(White, Kind::King), (Black, Kind::King), (White, Kind::Queen), (Black, Kind::Queen)];
    pieces.map(|(colour, kind)| position.royal(colour, kind).map_or(0, encode::square))
}

fn show_pins(pins: &[(u8, i8)]) -> String {
    let one = |&(number, step): &(u8, i8)| {
        let square = encode::decode_square(number);
        let square = square.map_or_else(|| format!("?{number}"), |at| at.to_string());
        format!("{square}{step:+}")
    };
    if pins.is_empty() {
        "none".to_owned()
    } else {
        pins.iter().map(one).collect::<Vec<_>>().join(" ")
    }
}

fn show(numbers: &[u8; 4]) -> String {
    let name = |number: &u8| match (*number, encode::decode_square(*number)) {
        (_, Some(at)) => at.to_string(),
        (0, None) => "-".to_owned(),
        (other, None) => format!("?{other}"),
    };
    numbers.iter().map(name).collect::<Vec<_>>().join(" ")
}
