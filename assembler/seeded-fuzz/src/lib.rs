//! Inputs that are spoilt by a number, for tests of what reads bytes from outside.
//!
//! [`each`] takes whole inputs as seeds, changes them in some places, and hands them to a reader.
//! The same number is the same input each time, so that a finding is replayed by its number. A
//! reader may refuse what it gets, but it must not panic, take long, or take much memory.
//!
//! ```
//! use seeded_fuzz::{Seeds, each};
//! let seeds = Seeds { inputs: &[b"port = 1\n"], words: &[b"=", b"99999999999"] };
//! each(&seeds, 50, |input| {
//!     let _ = std::str::from_utf8(input).map(str::len);
//! });
//! ```

use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::Command;
use std::time::{Duration, Instant};

/// Variable with the number of inputs, in place of the few of an ordinary test run.
const TIMES: &str = "SPOILT_INPUTS";
/// Variable with the number of the one input that is tried.
const ONLY: &str = "SPOILT_INPUT";
/// Variable that is set in a process that runs one test alone.
const ALONE: &str = "SEEDED_FUZZ_ALONE";
/// Most changes of an input, and most copies that a change makes of a piece.
const CHANGES: usize = 12;
const COPIES: usize = 300;
/// The longest piece that is removed, moved or copied.
const PIECE: usize = 80;
/// The longest time for an input, on a computer that does other work too.
const LONGEST: Duration = Duration::from_secs(20);
/// Bytes that a process may take besides three times the longest input.
const SPARE: u64 = 100 << 20;
/// Bytes that mean something to most readers, or to none.
const BYTES: &[u8] =
    b"\0\x01\x03\x04\x06\x15\x18\x1b\t\n\r\n \"#$%*+,-./0123456789:=ABDEFX[\\]_{|}\
    \x7f\x80\xc3\xe2\x80\xae\xff";

/// Seeds and what is put into them.
#[derive(Debug, Clone, Copy)]
pub struct Seeds<'a> {
    /// Whole inputs, as a reader takes them.
    pub inputs: &'a [&'a [u8]],
    /// Words that mean something to it.
    pub words: &'a [&'a [u8]],
}

/// Numbers that follow from a number (splitmix64, Steele and others 2014).
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    /// Returns the dice of a number.
    #[must_use]
    pub fn of(number: u64) -> Self {
        Self(number)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number from 0 to `limit` - 1; 0 if there is none.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }

    /// Returns an offset of a text, from 0 to its length, that is not within a character.
    pub fn place(&mut self, text: &str) -> usize {
        let at = self.below(text.len() + 1);
        (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
    }

    fn one_of<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> Option<&'a T> {
        all.get(self.below(all.len())).copied()
    }
}

impl Seeds<'_> {
    /// Returns the input of a number: one of the seeds with some changes.
    #[must_use]
    pub fn spoilt(&self, number: u64) -> Vec<u8> {
        let mut dice = Dice::of(number);
        let mut input = dice.one_of(self.inputs).unwrap_or_default().to_vec();
        // A single change is what most often leaves an input that is read to its end.
        let changes = if dice.below(2) == 0 { 1 } else { 1 + dice.below(CHANGES) };
        for _ in 0..changes {
            self.change(&mut input, &mut dice);
        }
        input
    }

    fn change(&self, input: &mut Vec<u8>, dice: &mut Dice) {
        let at = dice.below(input.len() + 1);
        let end = (at + 1 + dice.below(PIECE)).min(input.len());
        match dice.below(11) {
            0 => insert(input, at, &[BYTES[dice.below(BYTES.len())]]),
            1 => set(input, at, BYTES[dice.below(BYTES.len())]),
            2 => {
                let flipped = input.get(at).map_or(0, |byte| byte ^ (1 << dice.below(8)));
                set(input, at, flipped);
            }
            3 => drop(input.drain(at..end)),
            4 => insert(input, at, dice.one_of(self.words).unwrap_or_default()),
            5 | 10 => number_instead(input, dice),
            6 => {
                let piece = input[at..end].repeat(1 + dice.below(COPIES));
                insert(input, at, &piece);
            }
            7 => {
                let piece = input[at..end].to_vec();
                let to = dice.below(input.len());
                insert(input, to, &piece);
            }
            8 => {
                let other = dice.one_of(self.inputs).unwrap_or_default();
                let from = dice.below(other.len());
                let piece = &other[from..(from + dice.below(2 * PIECE)).min(other.len())];
                insert(input, at, piece);
            }
            // Once in a while the end is missing.
            _ if dice.below(4) == 0 => input.truncate(at),
            _ => set(input, at, dice.below(256) as u8),
        }
    }
}

fn insert(input: &mut Vec<u8>, at: usize, piece: &[u8]) {
    let at = at.min(input.len());
    input.splice(at..at, piece.iter().copied());
}

fn set(input: &mut [u8], at: usize, byte: u8) {
    if let Some(place) = input.get_mut(at) {
        *place = byte;
    }
}

/// Puts a number that is hard to take in the place of one of the numbers.
fn number_instead(input: &mut Vec<u8>, dice: &mut Dice) {
    let numbers: [&[u8]; 10] = [
        b"-1",
        b"0",
        b"0x10000",
        b"65535",
        b"65536",
        b"4294967295",
        b"4294967296",
        b"18446744073709551615",
        b"99999999999999999999999",
        b"1e999",
    ];
    let begins = |at: &usize| {
        let before = at.checked_sub(1).map(|before| input[before]);
        input[*at].is_ascii_digit() && !before.is_some_and(|byte| byte.is_ascii_alphanumeric())
    };
    let places: Vec<usize> = (0..input.len()).filter(begins).collect();
    let Some(&first) = places.get(dice.below(places.len())) else { return };
    let count = input[first..].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let number = numbers[dice.below(numbers.len())];
    input.splice(first..first + count, number.iter().copied());
}

/// Hands spoilt inputs to a reader, `times` of them or as many as the variable `SPOILT_INPUTS`
/// says.
///
/// # Panics
/// If the reader panics, takes too long for an input or too much memory; the number of the input is
/// printed, with which `SPOILT_INPUT` tries it alone.
pub fn each(seeds: &Seeds<'_>, times: u64, mut reader: impl FnMut(&[u8])) {
    each_number(times, |number| {
        let input = seeds.spoilt(number);
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| reader(&input))) {
            eprintln!("the input: {}", shown(&input));
            resume_unwind(panic);
        }
        input.len()
    });
}

/// Does the same with numbers alone, by which a test spoils something itself; it returns the bytes
/// of its input.
///
/// # Panics
/// As [`each`].
pub fn each_number(times: u64, mut test: impl FnMut(u64) -> usize) {
    let number_of = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let numbers = match number_of(ONLY) {
        Some(number) => number..number + 1,
        None => 0..number_of(TIMES).unwrap_or(times),
    };
    let is_shared = run_alone(std::thread::current().name());
    let before = if is_shared { None } else { most_memory() };
    let mut longest = 0;
    for number in numbers {
        let began = Instant::now();
        match catch_unwind(AssertUnwindSafe(|| test(number))) {
            Ok(length) => longest = longest.max(length as u64),
            Err(panic) => {
                eprintln!("{ONLY}={number}");
                resume_unwind(panic);
            }
        }
        let took = began.elapsed();
        assert!(took < LONGEST, "{ONLY}={number} took {took:?}");
    }
    if let (Some(before), Some(after)) = (before, most_memory()) {
        let taken = after.saturating_sub(before);
        assert!(taken < SPARE + 3 * longest, "{taken} bytes for inputs of {longest} at the most");
    }
}

/// Runs the current test in a process of its own, which measures its memory, since tests of one
/// program share theirs; returns `false` in that process, or if the thread isn't named after a
/// test.
fn run_alone(test: Option<&str>) -> bool {
    let Some(test) = test.filter(|name| *name != "main") else { return false };
    if std::env::var_os(ALONE).is_some() {
        return false;
    }
    let program = std::env::current_exe().expect("this program has a path");
    let mut command = Command::new(program);
    command.args([test, "--exact", "--nocapture"]).env(ALONE, "1");
    let output = command.output().expect("this program starts");
    let text = String::from_utf8_lossy(&output.stdout);
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{text}");
    assert!(text.contains("1 passed"), "no test is called {test}: {text}");
    true
}

fn shown(input: &[u8]) -> String {
    let mut text = String::new();
    for byte in input.iter().take(600) {
        let _ = write!(text, "{}", std::ascii::escape_default(*byte)); // a String takes all
    }
    text
}

/// Returns the most memory that this process has had, in bytes, where the system tells it.
fn most_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEEDS: Seeds<'_> = Seeds { inputs: &[b"one = 1\n", b"two = 22\n"], words: &[b"WORD"] };

    #[test]
    fn a_number_is_the_same_input_each_time_and_others_are_others() {
        let inputs: Vec<_> = (0..200).map(|number| SEEDS.spoilt(number)).collect();
        assert_eq!(inputs, (0..200).map(|number| SEEDS.spoilt(number)).collect::<Vec<_>>());
        let mut different = inputs.clone();
        different.sort();
        different.dedup();
        assert!(different.len() > 150, "{}", different.len());
        let all = inputs.concat();
        for word in [&b"WORD"[..], b"65536", b"18446744073709551615"] {
            assert!(all.windows(word.len()).any(|at| at == word), "{word:?}");
        }
    }

    #[test]
    fn a_reader_that_panics_fails() {
        // A thread without a name runs the reader in this process.
        let test = || each(&SEEDS, 100, |input| assert!(input.len() < 100));
        assert!(std::thread::spawn(test).join().is_err());
    }

    #[test]
    fn a_reader_that_takes_much_memory_fails() {
        let test = || {
            let mut taken = Vec::new();
            each(&SEEDS, 30, |_| taken.push(vec![1u8; 8 << 20]));
        };
        assert!(std::thread::spawn(test).join().is_err() || most_memory().is_none());
    }

    #[test]
    fn nothing_to_spoil_is_no_trouble() {
        each(&Seeds { inputs: &[], words: &[] }, 100, |_| {});
    }
}
