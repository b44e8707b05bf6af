//! A digest of cases: it depends on positions, arrays and the results that documents state.

use std::cmp::Ordering;
use std::fmt::Write;

use crc::{CRC_64_XZ, Crc};

use sargon_corpus::{Case, CaseInput, DocumentedResult};
use sargon_reference::Square;

const DIGEST: Crc<u64> = Crc::<u64>::new(&CRC_64_XZ);

/// Returns the digest of cases as 16 hexadecimal digits. Their order does not matter.
#[must_use]
pub fn cases_digest(cases: &[Case]) -> String {
    let mut sorted: Vec<_> = cases.iter().collect();
    sorted.sort_unstable_by(|one, other| compare_texts(one, other));
    let mut digest = DIGEST.digest();
    sorted.into_iter().for_each(|case| digest.update(text(case).as_bytes()));
    format!("{:016X}", digest.finalize())
}

/// Compares the texts of two cases, which begin with the name and a tab. Only cases whose names do
/// not decide are formatted, so that a million texts are not in memory at a time.
fn compare_texts(one: &Case, other: &Case) -> Ordering {
    let start = |case: &Case| case.id.clone() + "\t";
    let (first, second) = (start(one), start(other));
    if first.starts_with(&second) || second.starts_with(&first) {
        return text(one).cmp(&text(other));
    }
    first.cmp(&second)
}

/// Returns the content of a case. Values are separated by characters that they don't contain.
fn text(case: &Case) -> String {
    let mut text = format!("{}\t{}\t", case.id, case.tags.join(" "));
    // Writing to a string can't fail.
    let _ = match &case.subject {
        CaseInput::Position { fen, expected, printed, .. } => {
            write!(text, "{fen}\t{}\t{}", residues(expected), residues(printed))
        }
        CaseInput::Array { piece, array, expected, printed } => {
            let now = stated(*expected);
            let then = printed.map(stated).unwrap_or_default();
            write!(text, "{}\t{:02X?}\t{now}\t{then}", piece.letter(), array.to_bytes())
        }
    };
    text + "\n"
}

fn residues(stated: &[(Square, u8)]) -> String {
    stated.iter().map(|(square, points)| format!("{square}={points} ")).collect()
}

fn stated(DocumentedResult { residue, short }: DocumentedResult) -> String {
    format!("{residue} {short}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use sargon_corpus::{builtin_corpus, parse_positions};

    #[test]
    fn the_order_does_not_matter_and_everything_else_does() {
        let mut cases = builtin_corpus().expect("the corpus");
        let all = cases_digest(&cases);
        cases.reverse();
        assert_eq!(cases_digest(&cases), all);
        assert_ne!(cases_digest(&cases[1..]), all);
        let array = cases.iter_mut().find_map(|case| match &mut case.subject {
            CaseInput::Array { expected, .. } => Some(expected),
            CaseInput::Position { .. } => None,
        });
        array.expect("an array").residue += 1;
        assert_ne!(cases_digest(&cases), all);
    }

    #[test]
    fn cases_are_sorted_by_their_texts_even_if_a_name_is_the_start_of_another() {
        let case = builtin_corpus().expect("the corpus").remove(0);
        let ids = ["a", "a\tb", "a\u{1}", "a b", "ab", "", "a\t", "b"];
        let cases: Vec<_> =
            ids.iter().map(|id| Case { id: (*id).to_owned(), ..case.clone() }).collect();
        for (one, other) in cases.iter().flat_map(|one| cases.iter().map(move |other| (one, other)))
        {
            let expected = text(one).cmp(&text(other));
            assert_eq!(compare_texts(one, other), expected, "{:?}, {:?}", one.id, other.id);
        }
    }

    #[test]
    fn the_same_name_with_another_position_is_another_case() {
        let of = |line: &str| cases_digest(&parse_positions("test", line).expect("a position"));
        let first = of("r3k3/2N5/8/8/2q5/8/8/4K3 b - - id \"one\";");
        assert_eq!(first.len(), 16);
        assert_ne!(first, of("r3k3/2N5/8/8/3q4/8/8/4K3 b - - id \"one\";"));
        assert_ne!(first, of("r3k3/2N5/8/8/2q5/8/8/4K3 b - - id \"two\";"));
        assert_ne!(first, of("r3k3/2N5/8/8/2q5/8/8/4K3 b - - id \"one\"; tags \"x\";"));
        assert_ne!(first, of("r3k3/2N5/8/8/2q5/8/8/4K3 b - - id \"one\"; residue \"a8=5\";"));
    }
}
