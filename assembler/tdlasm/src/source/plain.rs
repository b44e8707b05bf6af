//! Files of other editors and systems as plain text.

use std::borrow::Cow;

use memchr::{memchr, memchr2};

/// The CP/M mark of the end of a text.
pub(super) const END: u8 = 0x1A;
const DEL: u8 = 0x7F;
/// CP/M fills the last record of a file, of 128 bytes, with anything.
const RECORD: usize = 128;
const BYTE_ORDER_MARKS: [&[u8]; 3] = [b"\xEF\xBB\xBF", b"\xFF\xFE", b"\xFE\xFF"];

/// Returns a source as plain text, and a description of what was removed: byte order marks, NUL
/// bytes, and bit 7, which WordStar sets on the last character of words. The texts of comments and
/// strings may have any other bytes. More than a record behind the end mark (1AH) is described too,
/// since it is not read.
///
/// ```
/// use tdlasm::source::plain_text;
///
/// assert_eq!(plain_text(b" MV\xC9 A,5\x8D\n").0, &b" MVI A,5\r\n"[..]);
/// assert_eq!(plain_text(b" RET ; caf\xE9\n").1, None);
/// ```
pub fn plain_text(text: &[u8]) -> (Cow<'_, [u8]>, Option<String>) {
    if is_plain(text) {
        return (Cow::Borrowed(text), None);
    }
    let mark = BYTE_ORDER_MARKS.iter().find(|mark| text.starts_with(mark));
    let body = &text[mark.map_or(0, |mark| mark.len())..];
    let read = memchr(END, body).unwrap_or(body.len());
    let mut plain = Cow::Borrowed(body);
    let mut found = Vec::new();
    if mark.is_some() {
        found.push("a byte order mark is removed");
    }
    // A file of NUL bytes alone is no text, but a damaged file.
    if memchr(0, &body[..read]).is_some() && body[..read].iter().any(|&byte| byte != 0) {
        found.push("NUL bytes are removed");
        plain.to_mut().retain(|&byte| byte != 0);
    }
    if is_word_processed(&plain[..memchr(END, &plain).unwrap_or(plain.len())]) {
        found.push("bit 7 of its characters is cleared, as WordStar sets it");
        plain.to_mut().iter_mut().for_each(|byte| *byte &= 0x7F);
    }
    let rest = body.get(read + RECORD..).unwrap_or_default();
    if rest.iter().any(|byte| byte.is_ascii_graphic()) {
        found.push("the text behind the end mark 1AH is not read");
    }
    (plain, (!found.is_empty()).then(|| found.join("; ")))
}

/// Removes the end mark of a text, and what follows it.
pub(crate) fn cut_at_end(text: &mut Vec<u8>) {
    text.truncate(memchr(END, text).unwrap_or(text.len()));
}

/// Returns `true` for a text of ASCII without NUL bytes and end mark, as nearly all are.
pub(crate) fn is_plain(text: &[u8]) -> bool {
    // Without a branch for each byte the compiler compares many bytes at a time.
    let is_special = |byte: u8| byte == 0 || byte == END || byte >= 0x80;
    text.chunks(1 << 14)
        .all(|block| !block.iter().fold(false, |found, byte| found | is_special(*byte)))
}

/// Returns a text as ZASM reads it: bit 7 of each character is cleared, DEL and NUL are skipped.
pub(crate) fn as_read(text: &[u8]) -> Cow<'_, [u8]> {
    if text.iter().all(|byte| *byte < DEL) {
        return text.into();
    }
    text.iter().map(|byte| byte & 0x7F).filter(|byte| !matches!(*byte, 0 | DEL)).collect()
}

/// Returns `true` if the last character of a line or of a label or operator has bit 7 set.
fn is_word_processed(text: &[u8]) -> bool {
    if text.is_ascii() || str::from_utf8(text).is_ok() {
        return false;
    }
    let mut rest = text;
    while !rest.is_empty() {
        let end = memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
        let line = rest[..end].trim_ascii_start();
        let plain = line.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'.');
        let last = line.get(plain.count()..).unwrap_or_default();
        let ends_word = matches!(last, [high, rest @ ..] if is_marked(*high)
            && rest.first().is_none_or(|next| !next.is_ascii_alphanumeric() && next.is_ascii()));
        if ends_word || line.ends_with(b"\x8D") {
            return true;
        }
        rest = &rest[(end + 1).min(rest.len())..];
    }
    false
}

fn is_marked(byte: u8) -> bool {
    byte >= 0x80 && (byte & 0x7F).is_ascii_alphanumeric() || byte == b':' | 0x80
}
