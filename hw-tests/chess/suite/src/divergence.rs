//! Finds the first difference between two boards' results for a case.

use std::fmt;

use crate::CaseResult;
use crate::residues::SquareEntry;

/// The field of a [`Divergence`] if a board did not reply.
pub const NO_REPLY: &str = "reply";

/// A field in which two boards differ, or in which both differ from the reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Divergence {
    /// The square; `None` for the whole case.
    pub square: Option<String>,
    /// The field that differs.
    pub field: &'static str,
    /// The value on each board.
    pub boards: [String; 2],
    /// The reference's value, if it has one.
    pub reference: Option<String>,
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { square, field, boards: [a, b], reference } = self;
        if let Some(square) = square {
            write!(f, "{square}: ")?;
        }
        write!(f, "{field}: A {a}, B {b}")?;
        reference.as_ref().map_or(Ok(()), |value| write!(f, ", reference {value}"))
    }
}

/// Returns the first difference between two results of the same case, square by square: piece,
/// array, residue, status, and T-states if both boards count them; then the differences from the
/// reference. Returns `None` if both results agree and are right.
pub fn first_divergence(a: &CaseResult, b: &CaseResult) -> Option<Divergence> {
    if !a.is_answered() || !b.is_answered() {
        let outcome = |result: &CaseResult| {
            let why = result.reason.as_deref().map_or(String::new(), |why| format!(" ({why})"));
            format!("{}{why}", result.verdict)
        };
        return Some(for_case(NO_REPLY, [outcome(a), outcome(b)]));
    }
    let squares = a.details.squares.iter().zip(&b.details.squares);
    let found = squares.into_iter().find_map(|(a, b)| between_squares(a, b)).or_else(|| {
        let counts = [a.details.squares.len(), b.details.squares.len()];
        (counts[0] != counts[1]).then(|| for_case("squares", counts.map(|count| count.to_string())))
    });
    found.or_else(|| {
        let outcomes = [a, b].map(|result| {
            let all: Vec<_> = result.differences.iter().map(ToString::to_string).collect();
            if all.is_empty() { "agrees".to_owned() } else { all.join("; ") }
        });
        let is_right = a.differences.is_empty() && b.differences.is_empty();
        (!is_right).then(|| for_case("against the reference", outcomes))
    })
}

fn for_case(field: &'static str, boards: [String; 2]) -> Divergence {
    Divergence { square: None, field, boards, reference: None }
}

fn between_squares(a: &SquareEntry, b: &SquareEntry) -> Option<Divergence> {
    let differ = |field, boards: [String; 2], reference| {
        let square = Some(a.square.clone());
        (boards[0] != boards[1]).then_some(Divergence { square, field, boards, reference })
    };
    let array = |square: &SquareEntry| format!("{:?}", square.array);
    let right = a.reference_array.or(b.reference_array).map(|array| format!("{array:?}"));
    let times = a.t_states.zip(b.t_states);
    differ("square", [a, b].map(|at| format!("{}{}", at.piece, at.square)), None)
        .or_else(|| differ("array", [a, b].map(array), right))
        .or_else(|| {
            let right = a.reference.map(|residue| residue.to_string());
            differ("residue", [a.board, b.board].map(|residue| residue.to_string()), right)
        })
        .or_else(|| differ("status", [a.status, b.status].map(|bits| bits.to_string()), None))
        .or_else(|| {
            let (a, b) = times?;
            differ("T-states", [a, b].map(|time| time.to_string()), None)
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PositionDetails;
    use hil_harness::runner::Verdict;

    fn result(verdict: Verdict, residue: u8, t_states: Option<u64>) -> CaseResult {
        let square = SquareEntry {
            square: "e4".to_owned(),
            piece: 'P',
            array: [0; 14],
            reference_array: None,
            board: residue,
            reference: Some(3),
            status: 0,
            t_states,
        };
        let json = r#"{"id":"x","tags":[],"verdict":"pass","attempts":1,"took_us":1,
            "repeats":{"silence":0,"damaged_there":0,"overrun":0,"missing":0}}"#;
        let empty: CaseResult = serde_json::from_str(json).expect("a result");
        let details = PositionDetails { fen: None, squares: vec![square] };
        CaseResult { verdict, details, ..empty }
    }

    fn divergence(a: &CaseResult, b: &CaseResult) -> Option<String> {
        first_divergence(a, b).map(|found| found.to_string())
    }

    #[test]
    fn times_are_compared_only_if_both_boards_have_them() {
        let timed = result(Verdict::Pass, 3, Some(1000));
        assert_eq!(divergence(&timed, &timed), None);
        assert_eq!(divergence(&timed, &result(Verdict::Pass, 3, None)), None);
        let slow = result(Verdict::Pass, 3, Some(1001));
        assert_eq!(divergence(&timed, &slow).as_deref(), Some("e4: T-states: A 1000, B 1001"));
    }

    #[test]
    fn a_residue_is_compared_before_its_time_and_shown_with_the_reference() {
        let right = result(Verdict::Pass, 3, Some(1000));
        let wrong = result(Verdict::Fail, 4, Some(1001));
        assert_eq!(
            divergence(&right, &wrong).as_deref(),
            Some("e4: residue: A 3, B 4, reference 3")
        );
    }

    #[test]
    fn a_difference_from_the_reference_is_a_divergence_even_if_both_boards_have_it() {
        let right = result(Verdict::Pass, 3, None);
        let difference = r#"{"square":null,"what":"prizes","board":"1 0","reference":"2 0"}"#;
        let differences = vec![serde_json::from_str(difference).expect("a difference")];
        let wrong = CaseResult { differences, ..result(Verdict::Fail, 3, None) };
        let difference = "prizes: board 1 0, reference 2 0";
        let expected = format!("against the reference: A agrees, B {difference}");
        assert_eq!(divergence(&right, &wrong), Some(expected));
        let expected = format!("against the reference: A {difference}, B {difference}");
        assert_eq!(divergence(&wrong, &wrong), Some(expected));
    }

    #[test]
    fn missing_replies_and_missing_squares_are_divergences() {
        let right = result(Verdict::Pass, 3, None);
        let timeout = result(Verdict::Timeout, 3, None);
        assert_eq!(divergence(&right, &timeout).as_deref(), Some("reply: A pass, B timeout"));
        let fewer = CaseResult { details: PositionDetails::default(), ..right.clone() };
        assert_eq!(divergence(&right, &fewer).as_deref(), Some("squares: A 1, B 0"));
    }
}
