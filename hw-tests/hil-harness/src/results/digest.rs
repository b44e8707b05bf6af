//! A digest of cases: it depends on their names, tags and contents.

use std::cmp::Ordering;

use crc::{CRC_64_XZ, Crc};

use crate::suite::Suite;

const DIGEST: Crc<u64> = Crc::<u64>::new(&CRC_64_XZ);

/// Returns the digest of cases as 16 hexadecimal digits. Their order does not matter.
#[must_use]
pub fn cases_digest<S: Suite>(cases: &[S::Case]) -> String {
    let mut sorted: Vec<_> = cases.iter().collect();
    sorted.sort_unstable_by(|one, other| compare_texts::<S>(one, other));
    let mut digest = DIGEST.digest();
    sorted.into_iter().for_each(|case| digest.update(text::<S>(case).as_bytes()));
    format!("{:016X}", digest.finalize())
}

/// Compares the texts of two cases, which begin with the name and a tab. Only cases whose names do
/// not decide are formatted, so that a million texts are not in memory at a time.
fn compare_texts<S: Suite>(one: &S::Case, other: &S::Case) -> Ordering {
    let start = |case| S::id(case).to_owned() + "\t";
    let (first, second) = (start(one), start(other));
    if first.starts_with(&second) || second.starts_with(&first) {
        return text::<S>(one).cmp(&text::<S>(other));
    }
    first.cmp(&second)
}

/// Returns a case as text. Values are separated by characters that they don't contain.
fn text<S: Suite>(case: &S::Case) -> String {
    format!("{}\t{}\t{}\n", S::id(case), S::tags(case).join(" "), S::content(case))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_suite::{TestCase, TestSuite, case};

    fn digest(cases: &[TestCase]) -> String {
        cases_digest::<TestSuite>(cases)
    }

    #[test]
    fn the_order_does_not_matter_and_everything_else_does() {
        let all = digest(&[case("a"), case("b")]);
        assert_eq!((digest(&[case("b"), case("a")]), all.len()), (all.clone(), 16));
        assert_ne!(digest(&[case("a")]), all);
        assert_ne!(digest(&[case("a"), case("c")]), all);
        let other = TestCase { content: "HL=1".to_owned(), ..case("b") };
        assert_ne!(digest(&[case("a"), other]), all);
        let other = TestCase { tags: vec!["x".to_owned()], ..case("b") };
        assert_ne!(digest(&[case("a"), other]), all);
    }

    #[test]
    fn cases_are_sorted_by_their_texts_even_if_a_name_is_the_start_of_another() {
        let cases = ["a", "a\tb", "a\u{1}", "a b", "ab", "", "a\t", "b"].map(case);
        for (one, other) in cases.iter().flat_map(|one| cases.iter().map(move |other| (one, other)))
        {
            let expected = text::<TestSuite>(one).cmp(&text::<TestSuite>(other));
            let found = compare_texts::<TestSuite>(one, other);
            assert_eq!(found, expected, "{:?}, {:?}", one.id, other.id);
        }
    }
}
