//! A digest of cases: it depends on their names, tags and contents.

use crc::{CRC_64_XZ, Crc};

use crate::suite::Suite;

const DIGEST: Crc<u64> = Crc::<u64>::new(&CRC_64_XZ);

/// Returns the digest of cases as 16 hexadecimal digits: the sum of the CRC-64 of each, so that
/// their order does not matter.
#[must_use]
pub fn cases_digest<S: Suite>(cases: &[S::Case]) -> String {
    let digests = cases.iter().map(|case| DIGEST.checksum(text::<S>(case).as_bytes()));
    format!("{:016X}", digests.fold(0, u64::wrapping_add))
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
        assert_ne!(digest(&[case("a"), case("b"), case("b"), case("b")]), all);
        assert_ne!(digest(&[case("a"), case("c")]), all);
        let other = TestCase { content: "HL=1".to_owned(), ..case("b") };
        assert_ne!(digest(&[case("a"), other]), all);
        let other = TestCase { tags: vec!["x".to_owned()], ..case("b") };
        assert_ne!(digest(&[case("a"), other]), all);
    }
}
