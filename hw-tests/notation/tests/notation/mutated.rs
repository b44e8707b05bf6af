//! Lines that are spoilt at random: each is read or refused, and none ends the program.

use chess_notation::epd::{Line, read};

const SEED: &[u8] = include_bytes!("../data/epd-samples.epd");
/// Texts that are tried; each is the samples with some changes.
const TEXTS: u32 = 400;
/// Changes to a text.
const CHANGES: u32 = 60;
/// Bytes that mean something to the reader, and some that should not be there.
const BYTES: &[u8] = b" /;\"-0189KQkqabhwPx=+#\t\r\n\0\x1b\x7f\xef\xbb\xbf\xff";

/// Numbers that are the same each time (xorshift, Marsaglia 2003).
struct Dice(u32);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0 as usize % limit.max(1)
    }
}

fn spoilt(dice: &mut Dice) -> Vec<u8> {
    let mut text = SEED.to_vec();
    for _ in 0..CHANGES {
        let at = dice.below(text.len());
        match dice.below(4) {
            0 => text[at] = BYTES[dice.below(BYTES.len())],
            1 => text.insert(at, BYTES[dice.below(BYTES.len())]),
            2 => drop(text.drain(at..(at + dice.below(9)).min(text.len()))),
            _ => {
                let part = text[at..(at + dice.below(40)).min(text.len())].to_vec();
                let to = dice.below(text.len());
                text.splice(to..to, part);
            }
        }
    }
    text
}

#[test]
fn spoilt_lines_are_read_or_refused_with_a_column_in_them() {
    let mut dice = Dice(20);
    let mut positions = 0;
    let mut refused = 0;
    for _ in 0..TEXTS {
        let bytes = spoilt(&mut dice);
        let text = String::from_utf8_lossy(&bytes);
        for line in read(&text) {
            match line {
                Line::Position(_) => positions += 1,
                Line::Refused(error) => {
                    refused += 1;
                    let longest = text.lines().map(|line| line.chars().count()).max();
                    assert!(error.column.is_none_or(|at| at <= longest.unwrap_or(0) + 1));
                }
                Line::Nothing => {}
            }
        }
    }
    assert!(positions > 1000 && refused > 1000, "{positions} {refused}");
}
