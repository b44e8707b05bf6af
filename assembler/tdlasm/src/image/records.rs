//! What Intel HEX and S-records have in common: records on lines, and an end record.
//!
//! Nothing of a file is dropped. GNU objcopy 2.40 ignores what follows the end record and, of
//! records that overlap, all but the last; srec_cat refuses bytes that contradict each other. A
//! program that lacks bytes passes every verification of what was written, so both are errors here.

#![deny(clippy::cast_possible_truncation)]

use std::collections::HashMap;

use super::{Image, ImageRun};

/// Error returned by [`parse_intel_hex`](super::parse_intel_hex) and
/// [`parse_s_records`](super::parse_s_records).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct HexError {
    /// The line, from 1.
    pub line: usize,
    /// The cause, as a sentence.
    pub problem: String,
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

/// Returns the sum of some bytes, modulo 256.
pub(super) fn sum(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0, |sum, byte| sum.wrapping_add(*byte))
}

/// Returns the bytes of a record that has `more` bytes than its count, whose sum is `total`,
/// without the checksum.
pub(super) fn checked_bytes(text: &str, more: usize, total: u8) -> Result<Vec<u8>, String> {
    let mut bytes = hex::decode(text).map_err(|_| "not hexadecimal digits in pairs")?;
    if bytes.first().is_none_or(|count| usize::from(*count) + more != bytes.len()) {
        return Err("the length of the record does not match its count".into());
    }
    let found = bytes.pop().unwrap_or_default();
    let expected = total.wrapping_sub(sum(&bytes));
    if found != expected {
        return Err(format!(
            "its checksum is {found:02X}H, but its bytes give {expected:02X}H; copy the file again"
        ));
    }
    Ok(bytes)
}

/// The bytes of a file of records, whose addresses may have more than 16 bits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordFile {
    /// Address and bytes of each record, in the order of the file.
    pub data: Vec<(u32, Vec<u8>)>,
    /// The start address; 0 in an end record means none.
    pub start: Option<u32>,
}

impl RecordFile {
    /// Returns the image, and the start address if it is within the 64 KiB of a Z80.
    pub(super) fn into_image(self) -> (Image, Option<u16>) {
        let runs = self.data.into_iter().filter_map(|(address, bytes)| {
            Some(ImageRun { address: u16::try_from(address).ok()?, bytes })
        });
        (Image::new(runs), self.start.and_then(|start| u16::try_from(start).ok()))
    }
}

/// The end of the addresses of a Z80, and of those of 32 bits.
pub(super) const Z80_END: u64 = 0x1_0000;
pub(super) const LARGE_END: u64 = 0x1_0000_0000;

/// Reads the records of a text with `add`; data must end at `limit`.
pub(super) fn read(
    text: &str,
    missing_end: &str,
    limit: u64,
    add: impl Fn(&mut Records, usize, &str) -> Result<(), String>,
) -> Result<RecordFile, HexError> {
    let mut records = Records { limit, ..Records::default() };
    let mut last_line = 0;
    for (line, record) in lines(text) {
        last_line = line;
        let added = match records.end_line {
            None => add(&mut records, line, record),
            Some(end) => Err(format!(
                "a record after the end record in line {end}: convert joined files one by one, or \
                 delete the lines that are not of the program"
            )),
        };
        added.map_err(|problem| HexError { line, problem })?;
    }
    if records.end_line.is_none() {
        return Err(HexError { line: last_line + 1, problem: missing_end.into() });
    }
    records.check_counts()?;
    check_overlaps(&records.data)?;
    let data = records.data.into_iter().map(|record| (record.address, record.bytes)).collect();
    Ok(RecordFile { data, start: records.start })
}

/// A data record.
struct DataRecord {
    line: usize,
    address: u32,
    bytes: Vec<u8>,
}

/// The records so far.
#[derive(Default)]
pub(super) struct Records {
    data: Vec<DataRecord>,
    /// What the addresses of later records are relative to.
    pub(super) base: u32,
    /// The end of the addresses that data may have.
    limit: u64,
    counts: Vec<Count>,
    pub(super) start: Option<u32>,
    end_line: Option<usize>,
}

/// A record with a number of data records.
struct Count {
    line: usize,
    stated: u32,
    /// The number of data records before it.
    before: usize,
}

impl Records {
    /// Adds a record with the number of data records.
    pub(super) fn add_count(&mut self, line: usize, stated: u32) {
        self.counts.push(Count { line, stated, before: self.data.len() });
    }

    /// Returns an error for the first count that is neither that of the records before it, as the
    /// manual says, nor that of those up to the next count, as written by asl's p2hex.
    fn check_counts(&self) -> Result<(), HexError> {
        let next = self.counts.iter().skip(1).map(|count| count.before).chain([self.data.len()]);
        for (count, next) in self.counts.iter().zip(next) {
            let (line, stated, found) = (count.line, count.stated as usize, count.before);
            if stated != found && stated != next - found {
                let problem = format!(
                    "{stated} data records are stated, but {found} precede: lines are missing"
                );
                return Err(HexError { line, problem });
            }
        }
        Ok(())
    }

    /// Adds a data record.
    pub(super) fn add(&mut self, line: usize, address: u32, data: &[u8]) -> Result<(), String> {
        let address = u64::from(self.base) + u64::from(address);
        let fits = address + data.len() as u64 <= self.limit;
        let limit_passed = match self.limit {
            Z80_END => "data passes address FFFFH",
            _ => "data passes address FFFFFFFFH",
        };
        let address = u32::try_from(address).ok().filter(|_| fits).ok_or(limit_passed)?;
        self.data.push(DataRecord { line, address, bytes: data.to_vec() });
        Ok(())
    }

    /// Adds the end record. The start address 0 means none.
    pub(super) fn end(&mut self, line: usize, start: u32) {
        self.end_line = Some(line);
        if start != 0 {
            self.start = Some(start);
        }
    }
}

/// Returns an error for the first byte that contradicts an earlier line.
fn check_overlaps(records: &[DataRecord]) -> Result<(), HexError> {
    let mut known: HashMap<u32, (u8, usize)> = HashMap::new();
    for record in records {
        for (address, byte) in (record.address..=u32::MAX).zip(&record.bytes) {
            let (earlier, earlier_line) = *known.entry(address).or_insert((*byte, record.line));
            if earlier != *byte {
                let problem = format!(
                    "the byte at {address:04X}H is {byte:02X}H, but {earlier:02X}H in line \
                     {earlier_line}: two parts of the program overlap"
                );
                return Err(HexError { line: record.line, problem });
            }
        }
    }
    Ok(())
}
