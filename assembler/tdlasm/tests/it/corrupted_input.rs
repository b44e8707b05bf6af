//! Valid inputs of a parser, corrupted: for tests of several crates, which include this file.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{RngSeed, TestRunner};

/// Maximum length of a part that is replaced, in bytes.
const MAX_REPLACED_BYTES: usize = 80;
/// Maximum number of changes of an input.
const MAX_CHANGES: usize = 8;
/// Numbers at and beyond the limits of common types.
static NUMBERS: [&str; 9] = [
    "-1",
    "0",
    "0x10000",
    "65535",
    "65536",
    "4294967296",
    "18446744073709551615",
    "99999999999999999999",
    "1e999",
];

#[derive(Debug, Clone)]
enum Change {
    /// Other bytes in place of some.
    Bytes { at: Index, length: usize, replacement: Vec<u8> },
    /// Another number in place of the first one after a place.
    Number { at: Index, replacement: &'static str },
}

fn changes(words: &'static [&'static [u8]]) -> impl Strategy<Value = Vec<Change>> {
    let replacement = prop_oneof![select(words).prop_map(<[u8]>::to_vec), vec(any::<u8>(), 0..2)];
    let length = prop_oneof![0..2_usize, 0..MAX_REPLACED_BYTES];
    let bytes = (any::<Index>(), length, replacement)
        .prop_map(|(at, length, replacement)| Change::Bytes { at, length, replacement });
    let number = (any::<Index>(), select(&NUMBERS))
        .prop_map(|(at, replacement)| Change::Number { at, replacement });
    let change = prop_oneof![2 => bytes, 1 => number].boxed();
    // Inputs with a single change are the most likely to be parsed to their end.
    prop_oneof![vec(change.clone(), 1), vec(change, 1..MAX_CHANGES)]
}

fn apply(input: &mut Vec<u8>, change: Change) {
    match change {
        Change::Bytes { at, length, replacement } => {
            let start = at.index(input.len() + 1);
            let end = (start + length).min(input.len());
            input.splice(start..end, replacement);
        }
        Change::Number { at, replacement } => {
            let from = at.index(input.len() + 1);
            let digits = input[from..].iter().skip_while(|byte| !byte.is_ascii_digit());
            let start = input.len() - digits.clone().count();
            let length = digits.take_while(|byte| byte.is_ascii_alphanumeric()).count();
            input.splice(start..start + length, replacement.bytes());
        }
    }
}

/// Calls the test with corrupted inputs: each is one of `inputs` in which some parts are replaced by
/// `words`, random bytes or other numbers.
///
/// # Panics
/// Panics if the test panics, with the simplest input that was found to cause it.
pub(crate) fn for_each_corrupted<T: AsRef<[u8]>>(
    inputs: &[T],
    words: &'static [&'static [u8]],
    cases: u32,
    test: impl Fn(&[u8]),
) {
    let inputs: Vec<Vec<u8>> = inputs.iter().map(|input| input.as_ref().to_vec()).collect();
    let corrupted = (select(inputs), changes(words)).prop_map(|(mut input, changes)| {
        changes.into_iter().for_each(|change| apply(&mut input, change));
        input
    });
    let config = ProptestConfig {
        rng_seed: RngSeed::Fixed(1978),
        failure_persistence: None,
        ..ProptestConfig::with_cases(cases)
    };
    let tested = TestRunner::new(config).run(&corrupted, |input| {
        test(&input);
        Ok(())
    });
    tested.unwrap_or_else(|failure| panic!("{failure}"));
}
