//! Lines with checksums.
//!
//! A line is an object of JSON whose last field, `sum`, is a CRC-32 as zlib's over the line without
//! that field, begun with the sum of the line before it. So the sum of the last line holds for the
//! file.

use crc::{CRC_32_ISO_HDLC, Crc};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The checksum of a line.
const SUM: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);
/// The texts before the sum, and after it.
const BEFORE: &str = ",\"sum\":\"";
const AFTER: &str = "\"}";
/// Hexadecimal digits of a sum.
const DIGITS: usize = 8;
/// Bytes that the field takes.
const FIELD: usize = BEFORE.len() + DIGITS + AFTER.len();

/// A fault of a line.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// It has no sum.
    #[error("it has no checksum")]
    NoSum,
    /// It has another sum than its content, or the lines before it are not those that were.
    #[error("its checksum is {0:08X} and should be {1:08X}: it or a line before it was changed")]
    WrongSum(u32, u32),
    /// It is not what it should be.
    #[error("{0}")]
    Content(#[from] serde_json::Error),
}

/// Returns the line of a value, with its line break, and the line's sum. `before` is the sum of the
/// line before it, 0 for the first.
///
/// # Errors
/// The value is no object of JSON.
pub fn seal(value: &impl Serialize, before: u32) -> Result<(String, u32), serde_json::Error> {
    let body = serde_json::to_string(value)?;
    let sum = sum_of(&body, before);
    let open = body.strip_suffix('}').unwrap_or(&body);
    Ok((format!("{open}{BEFORE}{sum:08X}{AFTER}\n"), sum))
}

/// Returns the value of a line and the line's sum.
///
/// # Errors
/// The line is not one that [`seal`] made after a line with the sum `before`.
pub fn open<T: DeserializeOwned>(line: &str, before: u32) -> Result<(T, u32), LineError> {
    let (body, stated) = split(line).ok_or(LineError::NoSum)?;
    let sum = sum_of(&body, before);
    if stated != sum {
        return Err(LineError::WrongSum(stated, sum));
    }
    Ok((serde_json::from_str(&body)?, sum))
}

/// The line without its sum, and the sum.
fn split(line: &str) -> Option<(String, u32)> {
    let at = line.len().checked_sub(FIELD)?;
    let body = line.get(..at)?;
    let field = line.get(at..)?;
    let digits = field.strip_prefix(BEFORE)?.strip_suffix(AFTER)?;
    let is_digit = |digit: u8| digit.is_ascii_digit() || (b'A'..=b'F').contains(&digit);
    if !digits.bytes().all(is_digit) {
        return None;
    }
    Some((format!("{body}}}"), u32::from_str_radix(digits, 16).ok()?))
}

fn sum_of(body: &str, before: u32) -> u32 {
    let mut sum = SUM.digest();
    sum.update(&before.to_le_bytes());
    sum.update(body.as_bytes());
    sum.finalize()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_line_is_json_and_is_opened_with_the_sum_before_it_only() {
        let value = json!({"case": {"id": "x", "why": "a \"}"}});
        let (line, sum) = seal(&value, 7).expect("an object");
        let text = line.strip_suffix('\n').expect("a line");
        let plain: Value = serde_json::from_str(text).expect("it is JSON");
        assert_eq!((&plain["case"], &plain["sum"]), (&value["case"], &json!(format!("{sum:08X}"))));
        assert_eq!(open::<Value>(text, 7).expect("it is whole"), (value, sum));
        assert!(matches!(open::<Value>(text, 8), Err(LineError::WrongSum(..))));
    }

    #[test]
    fn a_line_with_any_bit_changed_is_found() {
        let (line, _) =
            seal(&json!({"case": {"id": "figure4", "board": 1}}), 0).expect("an object");
        let line = line.trim_end();
        for at in 0..line.len() {
            for bit in 0..8 {
                let mut bytes = line.as_bytes().to_vec();
                bytes[at] ^= 1 << bit;
                let is_found =
                    String::from_utf8(bytes).map_or(true, |line| open::<Value>(&line, 0).is_err());
                assert!(is_found, "byte {at}, bit {bit}");
            }
        }
    }

    #[test]
    fn what_has_no_sum_is_no_line() {
        for line in ["", "{}", "é\",\"sum\":\"00000000\"}", "{\"sum\":\"0000000g\"}"] {
            assert!(open::<Value>(line, 0).is_err(), "{line}");
        }
    }
}
