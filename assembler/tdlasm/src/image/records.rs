//! What Intel HEX and S-records have in common: records on lines, and an end record.
//!
//! Nothing of a file is dropped. GNU objcopy 2.40 ignores what follows the end record and, of
//! records that overlap, all but the last; srec_cat refuses bytes that contradict each other. A
//! program that lacks bytes passes every verification of what was written, so both are errors here.

#![deny(clippy::cast_possible_truncation)]

use std::collections::HashMap;
use std::fmt::Write;

use super::{Image, ImageRun};

/// Error returned by [`parse_intel_hex`](super::parse_intel_hex) and
/// [`parse_s_records`](super::parse_s_records).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct HexError {
    /// The line, from 1.
    pub line: usize,
    /// The cause.
    pub problem: RecordProblem,
}

/// The cause of a [`HexError`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecordProblem {
    /// The line is not a record, or a damaged one.
    #[error("{0}")]
    Invalid(&'static str),
    /// A record follows the end record, which is in this line.
    #[error(
        "a record after the end record in line {0}: convert joined files one by one, or delete \
         the lines that are not of the program"
    )]
    AfterEnd(usize),
    /// The record has another byte for an address than an earlier line.
    #[error(
        "the byte at {address:04X}H is {byte:02X}H, but {earlier:02X}H in line {earlier_line}: two \
         parts of the program overlap"
    )]
    Overlap {
        /// The address.
        address: u16,
        /// The byte of the record.
        byte: u8,
        /// The byte of the earlier record.
        earlier: u8,
        /// The line of the earlier record.
        earlier_line: usize,
    },
    /// A record with the number of data records, and the number of those before it.
    #[error("{stated} data records are stated, but {found} precede: lines are missing")]
    Count {
        /// The number in the record.
        stated: u32,
        /// The number of data records before it.
        found: u32,
    },
}

impl From<&'static str> for RecordProblem {
    fn from(problem: &'static str) -> Self {
        Self::Invalid(problem)
    }
}

/// Returns the lines that are not empty, with their numbers. Tape leaders and CP/M's padding of the
/// last sector are no text.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().map(|line| line.trim_matches(['\x1A', '\0', ' ', '\t', '\r', '\x0C']));
    (1..).zip(lines).filter(|(_, line)| !line.is_empty())
}

/// Splits an image into records of a size, each with its address.
pub(super) fn records(image: &Image, size: usize) -> impl Iterator<Item = (u16, &[u8])> {
    image.runs().iter().flat_map(move |run| {
        let address = move |index: usize| run.address.wrapping_add(low_word(index * size));
        run.bytes.chunks(size).enumerate().map(move |(index, data)| (address(index), data))
    })
}

/// Returns a distance modulo 64 KiB; addresses wrap.
fn low_word(distance: usize) -> u16 {
    let [low, high, ..] = distance.to_le_bytes();
    u16::from_le_bytes([low, high])
}

/// Appends the bytes of a record as digits, and returns their sum.
pub(super) fn digits(text: &mut String, bytes: impl IntoIterator<Item = u8>) -> u8 {
    let mut sum = 0u8;
    for byte in bytes {
        sum = sum.wrapping_add(byte);
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02X}");
    }
    sum
}

/// Returns the bytes of a record that has `more` bytes than its count, whose sum is `sum`, without
/// the checksum.
pub(super) fn checked_bytes(text: &str, more: usize, sum: u8) -> Result<Vec<u8>, &'static str> {
    let pair = |pair: &[u8]| {
        // `from_str_radix` allows a sign.
        let is_digits = pair.len() == 2 && pair.iter().all(u8::is_ascii_hexdigit);
        let text = std::str::from_utf8(pair).ok().filter(|_| is_digits)?;
        u8::from_str_radix(text, 16).ok()
    };
    let bytes: Option<Vec<u8>> = text.as_bytes().chunks(2).map(pair).collect();
    let mut bytes = bytes.ok_or("not hexadecimal digits in pairs")?;
    if bytes.first().is_none_or(|count| usize::from(*count) + more != bytes.len()) {
        return Err("the length of the record does not match its count");
    }
    if bytes.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte)) != sum {
        return Err("the checksum is wrong");
    }
    bytes.pop();
    Ok(bytes)
}

/// Reads the records of a text with `add`, and returns the image and the entry address.
pub(super) fn read(
    text: &str,
    missing_end: &'static str,
    add: impl Fn(&mut Records, usize, &str) -> Result<(), RecordProblem>,
) -> Result<(Image, Option<u16>), HexError> {
    let mut records = Records::default();
    let mut last_line = 0;
    for (line, record) in lines(text) {
        last_line = line;
        let added = records.check_open().and_then(|()| add(&mut records, line, record));
        added.map_err(|problem| HexError { line, problem })?;
    }
    let missing = || HexError { line: last_line + 1, problem: missing_end.into() };
    let (_, entry) = records.end.ok_or_else(missing)?;
    check_overlaps(&records.runs)?;
    Ok((Image::new(records.runs.into_iter().map(|(_, run)| run)), entry))
}

/// The data of the records so far.
#[derive(Default)]
pub(super) struct Records {
    runs: Vec<(usize, ImageRun)>,
    end: Option<(usize, Option<u16>)>,
}

impl Records {
    /// Returns the number of data records.
    pub(super) fn count(&self) -> usize {
        self.runs.len()
    }

    /// Returns an error if the end record precedes this line.
    fn check_open(&self) -> Result<(), RecordProblem> {
        self.end.map_or(Ok(()), |(line, _)| Err(RecordProblem::AfterEnd(line)))
    }

    /// Adds a data record.
    pub(super) fn add(
        &mut self,
        line: usize,
        address: u32,
        data: &[u8],
    ) -> Result<(), RecordProblem> {
        let fits = u64::from(address) + data.len() as u64 <= 0x1_0000;
        let address = u16::try_from(address).ok().filter(|_| fits);
        let address = address.ok_or("data passes address FFFFH")?;
        self.runs.push((line, ImageRun { address, bytes: data.to_vec() }));
        Ok(())
    }

    /// Adds the end record. The entry address 0 means none.
    pub(super) fn end(&mut self, line: usize, entry: u32) {
        self.end = Some((line, u16::try_from(entry).ok().filter(|entry| *entry != 0)));
    }
}

/// Returns an error for the first byte that contradicts an earlier line.
fn check_overlaps(runs: &[(usize, ImageRun)]) -> Result<(), HexError> {
    let mut known: HashMap<u16, (u8, usize)> = HashMap::new();
    for (line, run) in runs {
        for (address, byte) in (run.address..=u16::MAX).zip(&run.bytes) {
            let (earlier, earlier_line) = *known.entry(address).or_insert((*byte, *line));
            if earlier != *byte {
                let problem =
                    RecordProblem::Overlap { address, byte: *byte, earlier, earlier_line };
                return Err(HexError { line: *line, problem });
            }
        }
    }
    Ok(())
}
