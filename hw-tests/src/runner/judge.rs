//! From the board's word to a verdict.

use rcflash::link::LinkError;

use super::result::{CaseResult, Flagged, Verdict};
use crate::compare::{Standard, compare_exchange, compare_position};
use crate::corpus::{Case, Subject};
use crate::encode;
use crate::reference::Behaviour;
use crate::rig::{Observation, Said};

/// Holds what the board says of a case against the reference.
pub(super) fn judge(case: &Case, standard: Standard, said: &Said) -> CaseResult {
    let is_mended = standard.behaviour == Behaviour::Mended;
    let mut result = CaseResult::new(case, Verdict::Pass);
    match (&case.subject, said) {
        (Subject::Position { position, expected, printed, .. }, Said::Position(seen)) => {
            let stated = if is_mended { expected } else { printed };
            result.differences = compare_position(position, standard, stated, seen);
            result.squares = seen.squares.len();
            result.flagged = flagged(seen);
            result.t_states = seen.t_states.clone().unwrap_or_default();
        }
        (Subject::Array { piece, array, expected, printed }, &Said::Exchange(residue, status)) => {
            let stated = if is_mended { Some(*expected) } else { *printed };
            let seen = (residue, status);
            result.differences = compare_exchange(*piece, array, standard, stated, seen);
            result.squares = 1;
            result.flagged.extend((status != 0).then_some(Flagged { square: None, status }));
        }
        _ => return CaseResult::because(case, Verdict::Error, "the answer is to something else"),
    }
    if !result.differences.is_empty() {
        result.verdict = Verdict::Fail;
    }
    result
}

/// The verdict on a case that has no answer.
pub(super) fn unanswered(case: &Case, error: &LinkError) -> CaseResult {
    let verdict = match error {
        LinkError::Timeout { .. } => Verdict::Timeout,
        _ => Verdict::Error,
    };
    CaseResult::because(case, verdict, error.to_string())
}

/// The verdict on a case that was put several times. One that passes only sometimes is flaky, whatever else it does.
pub(super) fn combine(first: CaseResult, again: CaseResult) -> CaseResult {
    let repeats = first.repeats + again.repeats;
    if first.verdict == again.verdict || first.verdict == Verdict::Flaky {
        return CaseResult { repeats, ..first };
    }
    let verdicts = [first.verdict, again.verdict];
    let has = |verdict| verdicts.contains(&verdict);
    let bad = if first.verdict == Verdict::Pass { again } else { first };
    if has(Verdict::Pass) || has(Verdict::Flaky) {
        let told = bad.why.as_deref().map_or(String::new(), |why| format!(": {why}"));
        let why = Some(format!("sometimes {}, sometimes {}{told}", verdicts[0], verdicts[1]));
        return CaseResult { verdict: Verdict::Flaky, why, repeats, ..bad };
    }
    let verdict = if has(Verdict::Fail) { Verdict::Fail } else { Verdict::Error };
    CaseResult { verdict, repeats, ..bad }
}

/// The squares of a position that have a status.
fn flagged(seen: &Observation) -> Vec<Flagged> {
    let told = seen.squares.iter().filter(|record| record.status != 0);
    told.map(|record| Flagged {
        square: encode::decode_square(record.square),
        status: record.status,
    })
    .collect()
}
