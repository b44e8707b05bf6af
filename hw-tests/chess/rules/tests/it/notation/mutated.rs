//! Randomly mutated lines: each is parsed or gives an error, without a panic.

use chess_rules::epd::{EpdLine, read};
use seeded_fuzz::{Corpus, fuzz};

const SEED: &[u8] = include_bytes!("../../data/epd-samples.epd");
/// The number of texts; each is the samples with some changes.
const TEXTS: u64 = 400;
/// Words with a meaning for the parser, and some invalid ones.
const WORDS: &[&[u8]] =
    &[b" w KQkq", b" b - e3", b"; bm ", b"x", b"=Q+", b"acd 99999999999;", b"9/", b"\xef\xbb\xbf"];

#[test]
fn corrupted_lines_are_read_or_refused_with_a_column() {
    let mut positions = 0;
    let mut refused = 0;
    fuzz(&Corpus { seeds: &[SEED], tokens: WORDS }, TEXTS, |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let longest = text.lines().map(|line| line.chars().count()).max();
        for line in read(&text) {
            match line {
                EpdLine::Position(_) => positions += 1,
                EpdLine::Invalid(error) => {
                    refused += 1;
                    assert!(error.column.is_none_or(|at| at <= longest.unwrap_or(0) + 1));
                }
                EpdLine::Blank => {}
            }
        }
    });
    assert!(positions > 1000 && refused > 1000, "{positions} {refused}");
}
