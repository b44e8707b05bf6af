//! Contracts in the comments above Z80 routines.
//!
//! ```text
//! ; MUL - multiplies two bytes.
//! ;   Entry:    A, E = factors
//! ;   Exit:     HL = product
//! ;   Clobbers: AF, DE
//! ;   Stack:    2 bytes
//! ;   Cycles:   300..400
//! ```
//!
//! Clobbers, Stack and Cycles are checked for every call. Registers that Exit names may change. A
//! time that is no number or range, such as `98, 64 a byte`, is not checked.

use std::collections::BTreeSet;
use std::path::Path;

use board_simulator::routines::Entry;
use tdlasm::source::DiskLoader;
use z80_core::{canonical_register_name, register_halves};

use crate::machine::Measure;
use crate::matcher::{Matcher, Operator};
use crate::model::{Step, TestFile};

/// The contract of a routine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Contract {
    /// The label.
    pub name: String,
    /// The source as named by the test file, and the line, from 1.
    pub location: (String, usize),
    /// The registers that may change: those of Clobbers and Exit. `None` if there is no Clobbers.
    pub(crate) may_change: Option<BTreeSet<&'static str>>,
    /// The most bytes of stack, the least and most T-states.
    pub(crate) limits: Vec<(Measure, Matcher)>,
}

impl TestFile {
    /// Returns the contracts in one of the program's sources; `None` if the path is none of them. Of a
    /// program without source lines, any file is a source that has a contract for one of its labels.
    ///
    /// # Errors
    /// Returns a message if the source can't be read.
    pub fn contracts(&self, path: &Path) -> Result<Option<Vec<Contract>>, String> {
        let Ok(real) = path.canonicalize() else { return Ok(None) };
        let map = &self.program.map;
        let files = map.files();
        let is_it = |file: &&str| Path::new(file).canonicalize().is_ok_and(|file| file == real);
        let source = match files.iter().copied().find(is_it) {
            Some(source) => Path::new(source),
            None if files.is_empty() => path,
            None => return Ok(None),
        };
        let text = crate::program::read(&DiskLoader, source)?;
        let found = contracts(&source.to_string_lossy(), &String::from_utf8_lossy(&text));
        let is_known = !files.is_empty() || found.iter().any(|one| map.symbol(&one.name).is_some());
        Ok(Some(found).filter(|_| is_known))
    }

    /// Returns `true` if a case or property calls the routine of a contract.
    pub fn calls(&self, contract: &Contract) -> bool {
        self.steps().any(|step| contract.is_called(self, step))
    }
}

impl Contract {
    /// Returns `true` if a step calls the routine to its return.
    pub(crate) fn is_called(&self, file: &TestFile, step: &Step) -> bool {
        let is_whole = !matches!(step.call.entry, Entry::Until(_));
        is_whole && file.program.map.symbol(&self.name) == Some(step.call.address)
    }
}

/// Returns the contracts in a source.
fn contracts(file: &str, text: &str) -> Vec<Contract> {
    let lines: Vec<&str> = text.lines().collect();
    let starts = lines.iter().enumerate().filter_map(|(at, line)| Some((at, routine(line)?)));
    let all = starts.map(|(at, name)| {
        let comment = lines[at + 1..].iter().map_while(|line| line.strip_prefix(';'));
        contract(name, (file.to_owned(), at + 1), &fields(comment))
    });
    all.filter(|one| one.may_change.is_some() || !one.limits.is_empty()).collect()
}

/// Returns the name in the first line of a contract: `; NAME - does something.`
fn routine(line: &str) -> Option<&str> {
    let (name, _) = line.strip_prefix("; ")?.split_once(" - ")?;
    (!name.is_empty() && !name.contains(char::is_whitespace)).then_some(name)
}

/// Returns the fields of a comment; lines that are indented further continue a field.
fn fields<'t>(comment: impl Iterator<Item = &'t str>) -> Vec<(String, String)> {
    let mut fields: Vec<(String, String)> = Vec::new();
    for line in comment {
        let head = line.strip_prefix("   ").and_then(|line| line.split_once(':'));
        match head {
            Some((name, text)) if name.chars().all(char::is_alphabetic) && !name.is_empty() => {
                fields.push((name.to_owned(), text.trim().to_owned()));
            }
            _ => {
                if let Some((_, text)) = fields.last_mut().filter(|_| line.starts_with("    ")) {
                    *text += " ";
                    *text += line.trim();
                }
            }
        }
    }
    fields
}

fn contract(name: &str, location: (String, usize), fields: &[(String, String)]) -> Contract {
    let field = |name: &str| {
        let found = fields.iter().find(|(known, _)| known == name);
        found.map(|(_, text)| text.as_str())
    };
    let results = field("Exit").map(results).unwrap_or_default();
    let stack = field("Stack").and_then(leading);
    let stack = stack.map(|(most, _)| Matcher::new([(Operator::LE, most)]));
    let cycles = field("Cycles").and_then(cycles);
    let cycles =
        cycles.map(|(least, most)| Matcher::new([(Operator::GE, least), (Operator::LE, most)]));
    let limits = [(Measure::Stack, stack), (Measure::Cycles, cycles)];
    Contract {
        name: name.to_owned(),
        location,
        may_change: field("Clobbers").map(|text| &clobbers(text) | &results),
        limits: limits.into_iter().filter_map(|(of, limit)| Some((of, limit?))).collect(),
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '\'';
    text.split(move |c| !is_letter(c)).filter(|word| !word.is_empty())
}

/// Returns the registers that a word names; names are in capitals, as `a` is an article.
fn registers(word: &str) -> Vec<&'static str> {
    match canonical_register_name(word) {
        Some(name) if word == name || word == "PSW" => register_halves(name).collect(),
        _ => Vec::new(),
    }
}

fn clobbers(text: &str) -> BTreeSet<&'static str> {
    let mut all: BTreeSet<_> = words(text).flat_map(registers).collect();
    if text.contains("of both sets") {
        let second = all.iter().filter(|name| !matches!(**name, "A" | "F"));
        let second: Vec<_> = second.flat_map(|name| registers(&format!("{name}'"))).collect();
        all.extend(second);
    }
    all
}

/// Returns the registers that an exit names, and F if it names a flag.
fn results(text: &str) -> BTreeSet<&'static str> {
    let mut all: BTreeSet<_> = words(text).flat_map(registers).collect();
    let is_flag = |word| matches!(word, "Z" | "NZ" | "C" | "NC" | "M" | "P" | "carry" | "flags");
    if words(text).any(is_flag) {
        all.insert("F");
    }
    all
}

/// Returns the number at the start of a text, and the rest.
fn leading(text: &str) -> Option<(u32, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

fn cycles(text: &str) -> Option<(u32, u32)> {
    let (least, rest) = leading(text)?;
    let (most, rest) = match rest.strip_prefix("..") {
        Some(rest) => leading(rest)?,
        None => (least, rest),
    };
    (rest.is_empty() || rest.starts_with([':', ';'])).then_some((least, most))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "\
; A file.

; MUL - multiplies - quickly.
;   A paragraph: of words.
;   Entry:    A = factor
;   Exit:     HL = product; Z if it is 0
;   Errors:   none
;   Clobbers: A, BC, DE of both sets,
;             IX
;   Stack:    2 bytes
;   Cycles:   300..400: a range
MUL:    RET
; LOOSE - has no checkable field.
;   Cycles:   98, 64 a byte
";

    #[test]
    fn fields_are_read_with_their_continuations() {
        let [mul] = <[_; 1]>::try_from(contracts("mul.asm", SOURCE)).expect("one contract");
        assert_eq!((mul.name.as_str(), mul.location), ("MUL", ("mul.asm".to_owned(), 3)));
        let limits = [
            (Measure::Stack, Matcher::new([(Operator::LE, 2)])),
            (Measure::Cycles, Matcher::new([(Operator::GE, 300), (Operator::LE, 400)])),
        ];
        assert_eq!(mul.limits, limits);
        let expected =
            ["A", "B", "B'", "C", "C'", "D", "D'", "E", "E'", "F", "H", "IXH", "IXL", "L"];
        assert_eq!(mul.may_change.expect("a list").into_iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn only_numbers_and_ranges_are_times() {
        for (text, expected) in [
            ("37391", Some((37391, 37391))),
            ("31..78", Some((31, 78))),
            ("213..30813: 93 and 120 a byte", Some((213, 30813))),
            ("98, 64 a byte, and 35 for each 256 begun", None),
            ("300 a character if the ring has room", None),
            ("does not end", None),
        ] {
            assert_eq!(cycles(text), expected, "{text}");
        }
    }
}
