//! Lines with checksums.
//!
//! A line is a JSON object whose last field, `sum`, is the CRC-32 (as in zlib) of the previous
//! line's sum and the line without that field. So the sum of the last line covers the whole file.

use crc::{CRC_32_ISO_HDLC, Crc};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The algorithm of the checksum.
const CRC32: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);
/// The text before the sum, and after it.
const SUM_PREFIX: &str = ",\"sum\":\"";
const SUM_SUFFIX: &str = "\"}";
/// Hexadecimal digits of a sum.
const SUM_DIGITS: usize = 8;
/// Length of the field in bytes.
const FIELD_BYTES: usize = SUM_PREFIX.len() + SUM_DIGITS + SUM_SUFFIX.len();

/// Error returned if a line can't be decoded.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// The line has no checksum.
    #[error("it has no checksum")]
    NoSum,
    /// The checksum is wrong: the stated one and the computed one. This line or an earlier one was
    /// changed.
    #[error("its checksum is {0:08X} and should be {1:08X}: it or a line before it was changed")]
    WrongSum(u32, u32),
    /// The line is longer than any that is written.
    #[error("it is longer than {0} bytes")]
    TooLong(usize),
    /// The line is not valid JSON of a record.
    #[error("{0}")]
    Content(#[from] serde_json::Error),
}

/// Encodes a value as a line with its line break, and returns the line and its sum. `previous` is
/// the sum of the previous line, 0 for the first.
///
/// # Errors
/// Returns an error if the value can't be serialized.
pub fn encode_line(
    value: &impl Serialize,
    previous: u32,
) -> Result<(String, u32), serde_json::Error> {
    let body = serde_json::to_string(value)?;
    let sum = checksum(&body, previous);
    let open = body.strip_suffix('}').unwrap_or(&body);
    Ok((format!("{open}{SUM_PREFIX}{sum:08X}{SUM_SUFFIX}\n"), sum))
}

/// Decodes a line without its line break, and returns the value and the line's sum.
///
/// # Errors
/// Returns [`LineError`] unless [`encode_line`] made the line after one with the sum `previous`.
pub fn decode_line<T: DeserializeOwned>(line: &str, previous: u32) -> Result<(T, u32), LineError> {
    let (body, stated) = split(line).ok_or(LineError::NoSum)?;
    let sum = checksum(&body, previous);
    if stated != sum {
        return Err(LineError::WrongSum(stated, sum));
    }
    Ok((serde_json::from_str(&body)?, sum))
}

/// Splits a line into the JSON without its sum, and the sum.
fn split(line: &str) -> Option<(String, u32)> {
    let at = line.len().checked_sub(FIELD_BYTES)?;
    let body = line.get(..at)?;
    let field = line.get(at..)?;
    let digits = field.strip_prefix(SUM_PREFIX)?.strip_suffix(SUM_SUFFIX)?;
    let is_digit = |digit: u8| digit.is_ascii_digit() || (b'A'..=b'F').contains(&digit);
    if !digits.bytes().all(is_digit) {
        return None;
    }
    Some((format!("{body}}}"), u32::from_str_radix(digits, 16).ok()?))
}

fn checksum(body: &str, previous: u32) -> u32 {
    let mut sum = CRC32.digest();
    sum.update(&previous.to_le_bytes());
    sum.update(body.as_bytes());
    sum.finalize()
}

#[cfg(test)]
mod tests;
