//! Seeded fuzzing for parsers of untrusted input: every number reproduces one mutated input.
//!
//! [`fuzz`] mutates the inputs of a [`Corpus`] and passes them to a parser, which may return an
//! error but must not panic, run too long, or use too much memory.
//!
//! ```
//! use seeded_fuzz::{Corpus, fuzz};
//! let corpus = Corpus { seeds: &[b"port = 1\n"], tokens: &[b"=", b"99999999999"] };
//! fuzz(&corpus, 50, |input| {
//!     let _ = std::str::from_utf8(input).map(str::len);
//! });
//! ```

use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::Command;
use std::time::{Duration, Instant};

/// Environment variable with the number of inputs, to override the few of an ordinary test run.
const ITERATIONS_VARIABLE: &str = "FUZZ_ITERATIONS";
/// Environment variable with the seed of a single input to try.
const SEED_VARIABLE: &str = "FUZZ_SEED";
/// Environment variable that is set in the child process of a single test.
const CHILD_VARIABLE: &str = "SEEDED_FUZZ_ALONE";
/// Maximum mutations of an input, and maximum repeats of a chunk by one mutation.
const MAX_MUTATIONS: usize = 12;
const MAX_REPEATS: usize = 300;
/// Maximum length of a chunk that is removed, moved or copied.
const MAX_CHUNK_BYTES: usize = 80;
/// Maximum time for an input, generous enough for a busy computer.
const MAX_TIME_PER_INPUT: Duration = Duration::from_secs(20);
/// Bytes of memory allowed in addition to three times the longest input.
const MEMORY_ALLOWANCE_BYTES: u64 = 100 << 20;
/// Bytes that are special to most parsers.
const SPECIAL_BYTES: &[u8] =
    b"\0\x01\x03\x04\x06\x15\x18\x1b\t\n\r\n \"#$%*+,-./0123456789:=ABDEFX[\\]_{|}\
    \x7f\x80\xc3\xe2\x80\xae\xff";
/// Characters of two to four bytes, which positions in bytes can divide; some of them have another
/// length in capitals. The dictionary of coverage-guided fuzzing has them, too.
const MULTI_BYTE_CHARACTERS: &[&str] =
    &["\u{e9}", "\u{fc}", "\u{df}", "\u{149}", "\u{20ac}", "\u{feff}", "\u{fffd}", "\u{1f600}"];

/// Corpus and what is put into them.
#[derive(Debug, Clone, Copy)]
pub struct Corpus<'a> {
    /// Valid inputs.
    pub seeds: &'a [&'a [u8]],
    /// Tokens of the format, inserted by mutations.
    pub tokens: &'a [&'a [u8]],
}

/// A deterministic random number generator (splitmix64, Steele and others 2014).
#[derive(Debug, Clone)]
pub struct Rng(u64);

impl Rng {
    /// Returns the rng of a number.
    pub fn from_seed(number: u64) -> Self {
        Self(number)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number from 0 to `limit` - 1; 0 if `limit` is 0.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }

    /// Returns a random character boundary of a text, from 0 to its length.
    pub fn char_boundary(&mut self, text: &str) -> usize {
        let at = self.below(text.len() + 1);
        (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
    }

    fn choose<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> Option<&'a T> {
        all.get(self.below(all.len())).copied()
    }
}

impl Corpus<'_> {
    /// Returns the input of a number: one of the seeds with some mutations.
    pub fn mutate(&self, number: u64) -> Vec<u8> {
        let mut rng = Rng::from_seed(number);
        let mut input = rng.choose(self.seeds).unwrap_or_default().to_vec();
        // Inputs with a single mutation are the most likely to be parsed to their end.
        let mutations = if rng.below(2) == 0 { 1 } else { 1 + rng.below(MAX_MUTATIONS) };
        for _ in 0..mutations {
            self.mutate_once(&mut input, &mut rng);
        }
        input
    }

    fn mutate_once(&self, input: &mut Vec<u8>, rng: &mut Rng) {
        let at = rng.below(input.len() + 1);
        let end = (at + 1 + rng.below(MAX_CHUNK_BYTES)).min(input.len());
        match rng.below(12) {
            0 => insert(input, at, &[SPECIAL_BYTES[rng.below(SPECIAL_BYTES.len())]]),
            1 => set(input, at, SPECIAL_BYTES[rng.below(SPECIAL_BYTES.len())]),
            2 => {
                let flipped = input.get(at).map_or(0, |byte| byte ^ (1 << rng.below(8)));
                set(input, at, flipped);
            }
            3 => drop(input.drain(at..end)),
            4 => insert(input, at, rng.choose(self.tokens).unwrap_or_default()),
            5 | 10 => replace_number(input, rng),
            6 => {
                let piece = input[at..end].repeat(1 + rng.below(MAX_REPEATS));
                insert(input, at, &piece);
            }
            7 => {
                let piece = input[at..end].to_vec();
                let to = rng.below(input.len());
                insert(input, to, &piece);
            }
            8 => {
                let other = rng.choose(self.seeds).unwrap_or_default();
                let from = rng.below(other.len());
                let piece = &other[from..(from + rng.below(2 * MAX_CHUNK_BYTES)).min(other.len())];
                insert(input, at, piece);
            }
            9 => {
                let character = rng.choose(MULTI_BYTE_CHARACTERS).unwrap_or_default();
                insert(input, at, character.as_bytes());
            }
            // Truncate only now and then.
            _ if rng.below(4) == 0 => input.truncate(at),
            _ => set(input, at, rng.below(256) as u8),
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

/// Replaces one of the numbers by an edge case.
fn replace_number(input: &mut Vec<u8>, rng: &mut Rng) {
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
    let Some(&first) = places.get(rng.below(places.len())) else { return };
    let count = input[first..].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let number = numbers[rng.below(numbers.len())];
    input.splice(first..first + count, number.iter().copied());
}

/// Passes mutated inputs to a parser: `iterations` of them, or the number in the environment
/// variable
/// `FUZZ_ITERATIONS`.
///
/// # Panics
/// Panics if the parser panics, takes too long or uses too much memory. The message has the seed of
/// the input; `FUZZ_SEED` runs that one alone.
pub fn fuzz(corpus: &Corpus<'_>, iterations: u64, mut parser: impl FnMut(&[u8])) {
    fuzz_seeds(iterations, |seed| {
        let input = corpus.mutate(seed);
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| parser(&input))) {
            eprintln!("the input: {}", escape_input(&input));
            resume_unwind(panic);
        }
        input.len()
    });
}

/// Runs a test for consecutive seeds. The test makes its own input from the seed and returns its
/// length in bytes.
///
/// # Panics
/// Panics as [`fuzz`] does.
pub fn fuzz_seeds(iterations: u64, mut test: impl FnMut(u64) -> usize) {
    let number_of = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let numbers = match number_of(SEED_VARIABLE) {
        Some(number) => number..number + 1,
        None => 0..number_of(ITERATIONS_VARIABLE).unwrap_or(iterations),
    };
    let is_shared = run_in_child_process(std::thread::current().name());
    let before = if is_shared { None } else { peak_memory_bytes() };
    let mut longest = 0;
    for number in numbers {
        let began = Instant::now();
        match catch_unwind(AssertUnwindSafe(|| test(number))) {
            Ok(length) => longest = longest.max(length as u64),
            Err(panic) => {
                eprintln!("{SEED_VARIABLE}={number}");
                resume_unwind(panic);
            }
        }
        let took = began.elapsed();
        assert!(took < MAX_TIME_PER_INPUT, "{SEED_VARIABLE}={number} took {took:?}");
    }
    if let (Some(before), Some(after)) = (before, peak_memory_bytes()) {
        let taken = after.saturating_sub(before);
        assert!(
            taken < MEMORY_ALLOWANCE_BYTES + 3 * longest,
            "{taken} bytes for inputs of {longest} at the most"
        );
    }
}

/// Runs the current test in a child process, to measure its memory alone: tests of one binary share
/// a process. Returns `false` in the child, or if the thread isn't named after a test.
fn run_in_child_process(test: Option<&str>) -> bool {
    let Some(test) = test.filter(|name| *name != "main") else { return false };
    if std::env::var_os(CHILD_VARIABLE).is_some() {
        return false;
    }
    let program = std::env::current_exe().expect("this program has a path");
    let mut command = Command::new(program);
    command.args([test, "--exact", "--nocapture"]).env(CHILD_VARIABLE, "1");
    let output = command.output().expect("this program starts");
    let text = String::from_utf8_lossy(&output.stdout);
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{text}");
    assert!(text.contains("1 passed"), "no test is called {test}: {text}");
    true
}

fn escape_input(input: &[u8]) -> String {
    let mut text = String::new();
    for byte in input.iter().take(600) {
        let _ = write!(text, "{}", std::ascii::escape_default(*byte)); // a String never fails
    }
    text
}

/// Returns the peak memory of this process in bytes, on systems that report it.
fn peak_memory_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEEDS: Corpus<'_> = Corpus { seeds: &[b"one = 1\n", b"two = 22\n"], tokens: &[b"WORD"] };

    #[test]
    fn a_seed_always_gives_the_same_input() {
        let inputs: Vec<_> = (0..200).map(|number| SEEDS.mutate(number)).collect();
        assert_eq!(inputs, (0..200).map(|number| SEEDS.mutate(number)).collect::<Vec<_>>());
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
    fn a_parser_that_panics_fails() {
        // A thread without a name runs the parser in this process.
        let test = || fuzz(&SEEDS, 100, |input| assert!(input.len() < 100));
        assert!(std::thread::spawn(test).join().is_err());
    }

    #[test]
    fn a_parser_that_uses_much_memory_fails() {
        let test = || {
            let mut taken = Vec::new();
            fuzz(&SEEDS, 30, |_| taken.push(vec![1u8; 8 << 20]));
        };
        assert!(std::thread::spawn(test).join().is_err() || peak_memory_bytes().is_none());
    }

    #[test]
    fn an_empty_corpus_is_accepted() {
        fuzz(&Corpus { seeds: &[], tokens: &[] }, 100, |_| {});
    }
}
