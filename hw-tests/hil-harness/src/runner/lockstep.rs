//! Two boards side by side: the first thing in which they differ, and what the reference says of
//! it.

use std::fmt;

use super::result::CaseResult;
use crate::residues::SquareEntry;

/// The name of the difference when a board does not answer.
pub const NO_ANSWER: &str = "answer";

/// Something in which two boards differ, or both differ from the reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Divergence {
    /// The place: a square, or nothing for the whole case.
    pub place: Option<String>,
    /// The event.
    pub what: &'static str,
    /// Each board's word.
    pub boards: [String; 2],
    /// The reference's, where it has one.
    pub reference: Option<String>,
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, what, boards: [a, b], reference } = self;
        if let Some(place) = place {
            write!(f, "{place}: ")?;
        }
        write!(f, "{what}: A {a}, B {b}")?;
        reference.as_ref().map_or(Ok(()), |word| write!(f, ", reference {word}"))
    }
}

/// The first thing in which two results of the same case differ, square by square: what stands
/// there, residue, status, array, and T-states where both boards count them; then all else that the
/// reference is asked for. `None` if both are alike and right.
#[must_use]
pub fn first_divergence(a: &CaseResult, b: &CaseResult) -> Option<Divergence> {
    if !a.is_answered() || !b.is_answered() {
        let told = |result: &CaseResult| {
            let why = result.why.as_deref().map_or(String::new(), |why| format!(" ({why})"));
            format!("{}{why}", result.verdict)
        };
        return Some(of_both(NO_ANSWER, [told(a), told(b)]));
    }
    let squares = a.squares.iter().zip(&b.squares);
    let found = squares.into_iter().find_map(|(a, b)| of_squares(a, b)).or_else(|| {
        let counts = [a.squares.len(), b.squares.len()];
        (counts[0] != counts[1]).then(|| of_both("squares", counts.map(|count| count.to_string())))
    });
    found.or_else(|| {
        let told = [a, b].map(|result| {
            let all: Vec<_> = result.differences.iter().map(ToString::to_string).collect();
            if all.is_empty() { "agrees".to_owned() } else { all.join("; ") }
        });
        let is_right = a.differences.is_empty() && b.differences.is_empty();
        (!is_right).then(|| of_both("against the reference", told))
    })
}

fn of_both(what: &'static str, boards: [String; 2]) -> Divergence {
    Divergence { place: None, what, boards, reference: None }
}

fn of_squares(a: &SquareEntry, b: &SquareEntry) -> Option<Divergence> {
    let differ = |what, boards: [String; 2], reference| {
        let place = Some(a.square.clone());
        (boards[0] != boards[1]).then_some(Divergence { place, what, boards, reference })
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
    use crate::runner::Verdict;

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
        CaseResult { verdict, squares: vec![square], ..empty }
    }

    fn told(a: &CaseResult, b: &CaseResult) -> Option<String> {
        first_divergence(a, b).map(|found| found.to_string())
    }

    #[test]
    fn boards_that_agree_are_alike_and_times_count_only_where_both_have_them() {
        let timed = result(Verdict::Pass, 3, Some(1000));
        assert_eq!(told(&timed, &timed), None);
        assert_eq!(told(&timed, &result(Verdict::Pass, 3, None)), None);
        let slow = result(Verdict::Pass, 3, Some(1001));
        assert_eq!(told(&timed, &slow).as_deref(), Some("e4: T-states: A 1000, B 1001"));
    }

    #[test]
    fn a_residue_goes_before_its_time_and_the_reference_stands_beside_it() {
        let right = result(Verdict::Pass, 3, Some(1000));
        let wrong = result(Verdict::Fail, 4, Some(1001));
        assert_eq!(told(&right, &wrong).as_deref(), Some("e4: residue: A 3, B 4, reference 3"));
    }

    #[test]
    fn what_only_the_reference_shows_to_be_wrong_is_a_divergence_of_whoever_said_it() {
        let right = result(Verdict::Pass, 3, None);
        let difference = r#"{"square":null,"what":"prizes","board":"1 0","reference":"2 0"}"#;
        let differences = vec![serde_json::from_str(difference).expect("a difference")];
        let wrong = CaseResult { differences, ..result(Verdict::Fail, 3, None) };
        let word = "prizes: board 1 0, reference 2 0";
        let said = format!("against the reference: A agrees, B {word}");
        assert_eq!(told(&right, &wrong), Some(said));
        let said = format!("against the reference: A {word}, B {word}");
        assert_eq!(told(&wrong, &wrong), Some(said));
    }

    #[test]
    fn silence_and_missing_squares_are_divergences() {
        let right = result(Verdict::Pass, 3, None);
        let silent = result(Verdict::Timeout, 3, None);
        assert_eq!(told(&right, &silent).as_deref(), Some("answer: A pass, B timeout"));
        let fewer = CaseResult { squares: Vec::new(), ..right.clone() };
        assert_eq!(told(&right, &fewer).as_deref(), Some("squares: A 1, B 0"));
    }
}
